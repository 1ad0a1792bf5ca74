"""What to measure next for a question of advice, in a process of bounded memory and time: `-m wattlock.lab.planning`.

It reads a `Planning` as JSON and prints one JSON object: the plan, or `error`, `hint` and `kind`.
"""

from __future__ import annotations

import dataclasses
import json
import math
import resource
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from wattlock.advise.planner import Station
from wattlock.errors import EvidenceError, InputError, WattlockError
from wattlock.lab.advising import ROOM_B, AdviceRequest, CPU_s, WALL_s, question_of
from wattlock.lab.child import ask


class KeptPlan(NamedTuple):
    """A plan as it is kept and shown.

    * `within_percent`: the half-width of the days' interval now. `steps`: as `planner.Step.row` has them.
    * `ends`: why no step follows the last. `cannot`: what targets can't measure it, and why.
    """

    within_percent: float
    steps: list[dict[str, Any]]
    ends: str
    cannot: list[str]


def plan(
    request: AdviceRequest, stations: Sequence[Station], machine: str | None, within_percent: float, runs: Path
) -> KeptPlan:
    """What narrows the answer most by the minute.

    * `machine`: that whose runs the question names, null where it names none. `runs`: as of `advising.answer`.

    Raises InputError and EvidenceError as `wattlock advise` does.
    """
    given = {
        "request": dataclasses.asdict(request),
        "stations": [station._asdict() for station in stations],
        "machine": machine,
        "within": within_percent / 100,
    }
    answer = ask(["wattlock.lab.planning"], WALL_s, sent=json.dumps(given), cwd=runs)
    if answer is None:
        hint = "carry it out by `wattlock advise --plan` on a machine of your own"
        raise InputError("the question can't be answered within the lab's limits of memory and time", hint=hint)
    if "error" in answer:
        kind = EvidenceError if answer["kind"] == "EvidenceError" else InputError
        raise kind(answer["error"], hint=answer["hint"])
    return KeptPlan(**answer)


def main(given: dict[str, Any]) -> dict[str, Any]:
    """The plan as JSON can hold it, or why there is none."""
    try:
        return _planned(**given)
    except WattlockError as error:
        kind = "EvidenceError" if isinstance(error, EvidenceError) else "InputError"
        return {"error": error.message, "hint": error.hint, "kind": kind}


def _planned(
    request: dict[str, Any], stations: list[dict[str, Any]], machine: str | None, within: float
) -> dict[str, Any]:
    from wattlock.advise import planner
    from wattlock.advise.answer import advise

    question = question_of(AdviceRequest(**request))
    advice = advise(question, allow_assumed=request["allow_assumed"])
    offers, cannot = planner.offers(advice, [Station(**station) for station in stations], machine=machine)
    run = question.device.run
    runs = len(run) if isinstance(run, list) else 1
    found = planner.plan(advice, [offer._replace(runs=runs) for offer in offers], within)
    return {
        "within_percent": 100 * math.expm1(found.now),
        "steps": [step.row() for step in found.steps],
        "ends": found.ends,
        "cannot": cannot,
    }


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (ROOM_B, ROOM_B))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_s, CPU_s))
    sys.stdout.write(json.dumps(main(json.load(sys.stdin))))
