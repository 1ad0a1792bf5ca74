"""What the papers' page says of the runs that it is drawn from, and the commands that make it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wattlock.papers.counted_claims import CoreJudged
    from wattlock.papers.material import Gathered, MaterialOptions
    from wattlock.report.papers_page import PapersFacts
    from wattlock.run.result import Result

LENGTHS = {"papers-quick": "quick", "papers-full": "full", "papers-battery": "battery"}
"""The lengths of `wattlock papers` by their studies."""


def _command(
    names: Sequence[str], results: Sequence[Result], beside: MaterialOptions, cores: Sequence[CoreJudged]
) -> list[str]:
    """The commands that measure again, then the one that judges these runs again.

    A run holds its card: to measure again the card must be named, and allowed where nobody verified it.
    """
    from wattlock.energy.device_cards import card_of

    device, allow_assumed = beside.device, beside.allow_assumed
    given = {"--radio": beside.radio, "--battery": beside.battery}
    given["--capture"] = beside.capture.name if beside.capture else None
    given["--machine"] = beside.machine if beside.machine != "computer" else None
    options = "".join(f" {option} {value}" for option, value in given.items() if value is not None)
    options += "".join(f" --transfers {_without_folder(name)}" for name in beside.transfers)
    measure = []
    for one in results:
        card = card_of(one, device)
        valued = f" --device {device or card.name}" if card is not None else ""
        if allow_assumed or (card is not None and card.card.evidence == "assumed"):
            valued += " --allow-assumed"
        study = str(one.plan["study"]["id"])
        if study in LENGTHS:
            # Of one run this judges too, as it was judged here.
            measure.append(f"wattlock papers --length {LENGTHS[study]}{valued}{options if len(results) == 1 else ''}")
        else:
            measure.append(f"wattlock run {study}{valued}")
    measure += [f"wattlock run {core.study} --on qemu:{core.core}" for core in cores]
    runs = "".join(f" --run {_findable(name)}" for name in names) or " --length none"
    runs += "".join(f" --counted {_findable(core.name)}" for core in cores)
    named = (f" --device {device}" if device else "") + options + (" --allow-assumed" if allow_assumed else "")
    return [*dict.fromkeys(measure), f"wattlock papers{runs}{named}"]


def _without_folder(name: str) -> str:
    """A file of transfers as a page may name it."""
    import shlex

    from wattlock.papers.transfer_times import path_of

    kind, path = path_of(name)
    return shlex.quote(f"{kind}={path.name}" if kind else path.name)


def _findable(name: str) -> str:
    """A run as it is found again: by its id where it lies on the shelf, also if it was called the last one."""
    import shlex

    from wattlock.store import find
    from wattlock.store.run_plan import ROOT

    folder = find(name)
    return shlex.quote(folder.name if folder.parent.resolve() == ROOT.resolve() else name)


def papers_facts(
    names: Sequence[str], found: Gathered, beside: MaterialOptions, cores: Sequence[CoreJudged] = ()
) -> PapersFacts:
    """What the page says of the runs themselves; `names`: as they were asked for. `cores`: the runs that counted."""
    from wattlock.cli.facts import host
    from wattlock.report.papers_page import PapersFacts

    results = found.results
    several = len(results) > 1
    reasons = [f"run {run.plan['id']}: {line}" if several else line for run in results for line in run.explained]
    kinds = found.estimates["energy_evidence"].drop_nulls().unique().sort().to_list()
    joules = (
        f"Joules here are {' and '.join(kinds)}."
        if kinds
        else "There are no joules: no meter was read and no device card named. Claims on energy are judged by time."
    )
    warnings = [f"run {one.plan['id']}: {line}" for one in results for line in one.notices[len(one.explained) :]]
    return PapersFacts(
        studies=list(dict.fromkeys(str(one.plan["study"]["id"]) for one in results)),
        runs=[str(one.plan["id"]) for one in results],
        created=max((str(result.plan["created"]) for result in results), default=""),
        duration_s=sum(one.wall_s for one in results),
        host=list(host(results[0])) if results else [],
        command=_command(names, results, beside, cores),
        joules=joules,
        reasons=reasons,
        warnings=[*warnings, *found.notes, *(f"run {one.run}: {line}" for one in cores for line in one.warnings)],
    )
