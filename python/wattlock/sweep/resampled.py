"""Rows of sealed runs: the interval of each case once more, by drawing its processes again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import Field

from wattlock.analysis import resampling
from wattlock.analysis.estimate import UNSEEN_ERROR, t_half_width
from wattlock.analysis.looks import level_of_a_look
from wattlock.definitions import Table, validated
from wattlock.definitions.changes import changed
from wattlock.errors import InputError
from wattlock.run.result import read
from wattlock.store import RunFolder, derived, find

KEY = "case"
SHOWN = ("cipher", "provider", "operation", "payload_B")
TIMED = ("processes", "time_ns", "time_low_ns", "time_high_ns", "state")


class Drawing(Table):
    """How the processes of a case are drawn again.

    * `case`: its number in the run. `draws`: samples; the same ones for all cases of as many processes with one `seed`.
    """

    case: int = Field(ge=0)
    draws: int = Field(default=10_000, ge=1_000, le=1_000_000)
    seed: int = Field(default=1, ge=0)


class Case(NamedTuple):
    """A case as its run says it.

    * `run`: the hash that names it. `told`: columns of its estimate. `values`: the log of its time in each process.
    * `level`: of its printed interval.
    """

    run: str
    told: Mapping[str, Any]
    values: list[float]
    level: float
    drawing: Drawing


def source(name: str) -> tuple[str, dict[str, Any]]:
    """A sealed run by its folder's name, and what it says of its cases, by their numbers.

    Raises StoreError where there is no such run or it is not sealed, EvidenceError where it counted, InputError where
    it is invalid.
    """
    folder = RunFolder.open(find(name))
    sha256, result = derived.sums_sha256(folder), read(folder)
    if result.reasons:
        raise InputError(f"run {name}: is invalid: {result.reasons[0]}", hint="measure again: it shows no intervals")
    values = dict(result.summaries.group_by("case", maintain_order=True).agg("log_canaries").iter_rows())
    cases = {
        str(row["case"]): {
            **{key: row[key] for key in (*SHOWN, *TIMED, "reason", "time_evidence")},
            "values": values.get(row["case"], []),
        }
        for row in result.estimates.iter_rows(named=True)
    }
    level = level_of_a_look(result.plan["study"]["looks"])
    return folder.path.resolve().name, {"hash": sha256, "level": level, "cases": cases}


def numbers(run: Mapping[str, Any]) -> list[int]:
    """The numbers of all cases of a run."""
    return sorted(int(number) for number in run["cases"])


def checked(name: str, run: Mapping[str, Any], changes: Mapping[str, Any]) -> Case:
    """A case and how it is drawn, from the values of a row.

    Raises InputError naming every key that is wrong, and where the run has no such case, or the draws are too few.
    """
    label = f"run {name}"
    drawing = validated(Drawing, changed(label, {}, changes), label)
    case = run["cases"].get(str(drawing.case))
    if case is None:
        raise InputError(f"{label}: has no case {drawing.case}", hint=f"it has {len(run['cases'])}, the first is 0")
    if drawing.draws < (least := resampling.least_draws(run["level"])):
        level = f"{100 * (1 - run['level']):.4g} %"
        raise InputError(f"{label}: draws: are too few for a level of {level}", hint=f"it takes {least:,} and more")
    return Case(run["hash"], case, case["values"], run["level"], drawing)


def figures(case: Case) -> dict[str, Any]:
    """The case's time with its printed interval, and the interval by drawing its processes again.

    Both are of one level, and the error that no process can tell of is joined to both alike. `drawn_wider` is the ratio
    of their widths, `usual_low` and `usual_high` what it is for 95 of a hundred samples of a normal distribution.

    Raises InputError where the case has no estimate or an invalid one, or too few processes to draw from.
    """
    told, values, level = case.told, case.values, case.level
    if told["state"] in {"invalid", "failed"} or told["time_ns"] is None or len(values) < 2:
        raise InputError(f"the case is {told['state']}: {told['reason']}", hint="it has no interval to be used")
    unseen = t_half_width(0.0, len(values), level, UNSEEN_ERROR)
    ends = resampling.ends(values, level, case.drawing.draws, case.drawing.seed)
    below, above = (math.hypot(end, unseen) for end in ends)
    if math.isinf(below + above):
        what = f"{len(values)} processes that hardly differ, or so few, have no interval at a level of"
        raise InputError(f"{what} {100 * (1 - level):.4g} %", hint="a study with more in `looks`, 8 and up, has one")
    low, high = resampling.usual_widths(len(values), level, case.drawing.draws)
    return {
        "run": case.run,
        **{f"case_{key}": told[key] for key in SHOWN},
        **{key: told[key] for key in TIMED},
        "drawn_low_ns": told["time_ns"] * math.exp(-below),
        "drawn_high_ns": told["time_ns"] * math.exp(above),
        "drawn_wider": (below + above) / math.log(told["time_high_ns"] / told["time_low_ns"]),
        "usual_low": low,
        "usual_high": high,
        "level_percent": 100 * (1 - level),
        "evidence": told["time_evidence"],
    }
