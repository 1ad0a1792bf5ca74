"""Rows of sealed runs: the interval of each case once more, by drawing its processes again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import Field

from wattlock.analysis import resampling
from wattlock.analysis.estimate import UNSEEN_ERROR, level_of_a_look, t_half_width
from wattlock.definitions import Table, validated
from wattlock.definitions.changes import changed
from wattlock.errors import InputError
from wattlock.run.result import read
from wattlock.store import RunFolder, derived, find

KEY = "case"
SHOWN = ("cipher", "provider", "operation", "payload_B", "processes", "time_ns", "time_low_ns", "time_high_ns")


class Drawing(Table):
    """How the processes of a case are drawn again.

    * `case`: its number in the run. `draws`: samples; the same ones for all cases of as many processes with one `seed`.
    """

    case: int = Field(ge=0)
    draws: int = Field(default=10_000, ge=1_000, le=1_000_000)
    seed: int = Field(default=1, ge=0)


class Case(NamedTuple):
    """A case as its run says it: `values`, the log of its time in each process; `level`: of its printed interval."""

    shown: Mapping[str, Any]
    evidence: str
    values: list[float]
    level: float
    drawing: Drawing


def tables(name: str) -> dict[str, Any]:
    """What a sealed run says of its cases, by their numbers.

    Raises StoreError where there is no such run or it is not sealed, EvidenceError where it counted, InputError where
    it is invalid.
    """
    folder = RunFolder.open(find(name))
    sha256, result = derived.sums_sha256(folder), read(folder)
    if result.reasons:
        raise InputError(f"run {name}: is invalid: {result.reasons[0]}", hint="measure again: it shows no intervals")
    values = dict(result.summaries.group_by("case").agg("log_canaries").iter_rows())
    cases = {
        str(row["case"]): {
            **{key: row[key] for key in SHOWN},
            "evidence": row["time_evidence"],
            "values": values.get(row["case"], []) if row["time_ns"] is not None else [],
        }
        for row in result.estimates.iter_rows(named=True)
    }
    return {"hash": sha256, "level": level_of_a_look(result.plan["study"]["looks"]), "cases": cases}


def numbers(sources: list[tuple[str, dict[str, Any]]]) -> list[int]:
    """The numbers of all cases of these runs."""
    return sorted({int(number) for _, run in sources for number in run["cases"]})


def checked(name: str, run: Mapping[str, Any], changes: Mapping[str, Any]) -> Case:
    """A case and how it is drawn, from the values of a row.

    Raises InputError naming every key that is wrong, and where the run has no such case.
    """
    label = f"run {name}"
    drawing = validated(Drawing, changed(label, {}, changes), label)
    case = run["cases"].get(str(drawing.case))
    if case is None:
        raise InputError(f"{label}: has no case {drawing.case}", hint=f"it has {len(run['cases'])}, the first is 0")
    return Case({key: case[key] for key in SHOWN}, case["evidence"], case["values"], run["level"], drawing)


def figures(case: Case) -> dict[str, Any]:
    """The case's time with its printed interval, and the interval by drawing its processes again.

    Both are of one level, and what no process can tell of is joined to both: only the t distribution is left out.

    Raises InputError where the case has no estimate, or too few processes to draw from.
    """
    shown, values, drawing = case.shown, case.values, case.drawing
    if len(values) < 2:
        raise InputError("the case has no interval", hint="`wattlock show` says why")
    unseen = t_half_width(0.0, len(values), case.level, UNSEEN_ERROR)
    below, above = (math.hypot(end, unseen) for end in resampling.ends(values, case.level, drawing.draws, drawing.seed))
    if math.isinf(below + above):
        what = f"{len(values)} processes are too few to draw from at a level of {100 * (1 - case.level):.4g} %"
        raise InputError(what, hint="a study with more in `looks`, 5 and up, has enough")
    time_ns = shown["time_ns"]
    return {
        **shown,
        "drawn_low_ns": time_ns * math.exp(-below),
        "drawn_high_ns": time_ns * math.exp(above),
        "drawn_wider": (below + above) / math.log(shown["time_high_ns"] / shown["time_low_ns"]),
        "level_percent": 100 * (1 - case.level),
        "evidence": case.evidence,
    }
