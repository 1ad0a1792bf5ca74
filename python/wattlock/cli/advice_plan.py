"""`wattlock advise --plan`: what to measure next on the user's targets, and how narrow the answer should get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wattlock.cli.echo import echo
from wattlock.cli.table import show_filled

if TYPE_CHECKING:
    from wattlock.advise.advice import Advice
    from wattlock.advise.planner import Station


def planned(of: Advice, within: float) -> dict[str, Any]:
    """The measurements in their order, with what each is expected to bring, as a record.

    * `within`: the half-width asked for, as a share of the days.
    """
    import math

    from wattlock.advise import planner

    stations, machine = _fleet(of)
    offers, cannot = planner.offers(of, stations, machine=machine)
    plan = planner.plan(of, offers, within)
    return {
        "asked_within_percent": 100 * within,
        "within_percent": 100 * math.expm1(plan.now),
        "expected_within_percent": 100 * math.expm1(plan.then),
        "steps": [step.row() for step in plan.steps],
        "ends": plan.ends,
        "cannot": cannot,
    }


def _fleet(of: Advice) -> tuple[list[Station], str | None]:
    """The user's targets and this machine, and where the costs were measured; None where they are published."""
    from wattlock.advise.planner import CASE_s, Station
    from wattlock.targets import named

    run = of.question.device.run
    machine, case_s = None, CASE_s
    if run is not None:
        from wattlock.run.result import open_one_kind

        result = open_one_kind(run if isinstance(run, str) else run[0])
        machine = str(result.plan.get("way") or "local")
        case_s = result.wall_s / result.processes / len(result.cases)
    ways = {name: (one.way, one.device) for name, one in named.described().items()}
    ways.setdefault("local", ("local", None))
    stations = [
        Station(name, card, way, case_s, counts=way.startswith("qemu:")) for name, (way, card) in sorted(ways.items())
    ]
    return stations, machine


def show(plan: dict[str, Any]) -> None:
    """Print the plan for eyes."""
    now, asked = plan["within_percent"], plan["asked_within_percent"]
    title = (
        f"what to measure next: the days are within {now:{'.2g' if now < 10 else '.0f'}} %, {asked:g} % is asked for"
    )
    if plan["steps"]:
        show_filled(plan["steps"], title)
    else:
        echo(f"\n{title}")
    echo(f"{plan['ends'][0].upper()}{plan['ends'][1:]}.")
    for reason in plan["cannot"]:
        echo(f"no use: {reason}")
