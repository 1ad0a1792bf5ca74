"""How long a study would take, from its cases prepared once and not measured."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wattlock.run import shards
from wattlock.run.process import inquire
from wattlock.run.shards import Order
from wattlock.run.timing import HALVES
from wattlock.store.records import record_of
from wattlock.study import Case
from wattlock.targets import Target

BATCH_S = shards.BATCH_NS / 1e9
EDGES_S = 30e-6
"""Canary and burst on both sides of a batch."""
WARM_S = 25e-6


@dataclass(frozen=True)
class Forecast:
    """Seconds until the first look, and until the last one if no case is sure before."""

    least_s: float
    most_s: float


def forecast(
    cases: Sequence[Case],
    files: Mapping[str, Path],
    target: Target,
    looks: Sequence[int],
    libraries: Mapping[str, Path] | None = None,
) -> Forecast:
    """Prepares each case once, which tells how often its input is cut, and adds up the batches."""
    start, visits = time.monotonic(), {case.case: shards.first_visits(case) for case in cases}
    a_process = 0.0
    for number, group in enumerate(shards.split(cases, seed=0, own=libraries or ())):
        order = Order(number, number, group, None, visits=visits)
        header = record_of(inquire(target, order, files, libraries).split(b"\n", 1)[0])
        for case in header["cases"]:
            segments, count = case["segments"], visits[case["case"]]
            a_process += count * (WARM_S + segments * (BATCH_S + EDGES_S))
            a_process += HALVES * (WARM_S + BATCH_S / 2 + EDGES_S) if segments == 1 else 0
    prepared = time.monotonic() - start
    return Forecast((a_process + prepared) * looks[0], (a_process + prepared) * looks[-1])
