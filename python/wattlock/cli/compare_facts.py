"""Joins a comparison to what its page needs: the runs' names, their conditions, and the command that draws it again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from wattlock.cli.facts import host
from wattlock.errors import InputError
from wattlock.report.compare_facts import MOST_SIDES, Against, CompareFacts, Side

if TYPE_CHECKING:
    from wattlock.run.compare import Comparison, Pair
    from wattlock.run.result import Result

NOISE = re.compile(r"\((?:R|TM|tm)\)|\bCPU\b|\bProcessor\b|@.*$|\b\d+-Core\b")
"""What a processor's name says beside its name."""


def compare_facts(
    names: Sequence[str],
    results: Sequence[Result],
    found: Comparison,
    providers: tuple[str, str] | None,
    folders: Sequence[str] | None = None,
) -> CompareFacts:
    """A comparison in the words of its page; `names`: the runs as they were asked for.

    * `folders`: what the runs' folders are called, where `names` are no way to them.

    Raises InputError where there are more runs than fit a page.
    """
    if len(results) > MOST_SIDES:
        hint = "`--format csv` compares any number"
        raise InputError(f"a page holds {MOST_SIDES} runs, these are {len(results)}", hint=hint)
    others = list(results[1:]) or [results[0]]
    measured = [results[0], *others]
    labels = _labels(folders or folder_names(names), results, providers)
    sides = [
        Side(chr(ord("A") + place), labels[place], str(result.plan["id"]), list(conditions(result)), result.explained)
        for place, result in enumerate(measured)
    ]
    has_joules = any(pair.compared["energy_ratio"].null_count() < pair.compared.height for pair in found.pairs)
    frames = [result.estimates for result in measured]
    time_evidence = next((kind for frame in frames for kind in frame["time_evidence"].drop_nulls()), "measured")
    chosen = f" --providers {' '.join(map(shlex.quote, providers))}" if providers else ""
    return CompareFacts(
        first=sides[0],
        others=[_against(side, pair) for side, pair in zip(sides[1:], found.pairs, strict=True)],
        families={
            cipher: family for frame in frames for cipher, family in frame.select("cipher", "family").iter_rows()
        },
        time_evidence=time_evidence,
        energy_evidence="measured" if has_joules else None,
        warnings=list(_warnings(sides, measured)),
        command=f"wattlock compare {' '.join(map(shlex.quote, names))}{chosen} --html compare.html",
    )


def folder_names(names: Sequence[str]) -> list[str]:
    """What the folders of runs are called."""
    from wattlock.store import find

    return [find(name).name for name in names]


def _labels(folders: Sequence[str], results: Sequence[Result], providers: tuple[str, str] | None) -> list[str]:
    """What stands beside each other: runs, implementations of one run, or those of several."""
    if providers is None:
        return side_names(folders, results)
    if len(results) == 1:
        return list(providers)
    called = side_names(folders, results)
    return [f"{name}, {providers[min(place, 1)]}" for place, name in enumerate(called)]


def _warnings(sides: Sequence[Side], measured: Sequence[Result]) -> Iterator[str]:
    """What the table of conditions doesn't say."""
    from wattlock.run.compare import meters_are_alike

    for side, result in zip(sides, measured, strict=True):
        yield from (f"{side.spoken}: {line}" for line in result.warnings)
        if measured[0].meter and result.meter and not meters_are_alike(measured[0], result):
            what = "the meters don’t include the same, so that joules are not compared"
            yield f"{sides[0].spoken} and {side.spoken}: {what}"


def _against(side: Side, pair: Pair) -> Against:
    rules = pair.rules
    return Against(
        side, pair.compared, pair.lost.height, pair.added.height, pair.unclaimed, rules.smallest, rules.has_equivalence
    )


def side_names(folders: Sequence[str], results: Sequence[Result]) -> list[str]:
    """What the runs are called: by their folders where people named them, else by processor, by when, by id."""
    ids = [str(result.plan["id"]) for result in results]
    if all(folder != run for folder, run in zip(folders, ids, strict=True)) and _differ(folders):
        return list(folders)
    processors = [_processor(result) for result in results]
    if _differ(processors):
        return processors
    times = [f"Run of {_begun(result):%-d %b %H:%M}" for result in results]
    if _differ(times):
        return times
    return ids if _differ(ids) else list(folders)


def _begun(result: Result) -> datetime:
    return datetime.fromisoformat(str(result.plan["created"]))


def _differ(names: Sequence[str]) -> bool:
    return all(names) and len(set(names)) == len(names)


def _processor(result: Result) -> str:
    name = str(result.header["fingerprint"]["hardware"]["model_name"] or "")
    return " ".join(NOISE.sub(" ", name).split())


def conditions(result: Result) -> Iterator[tuple[str, str | None]]:
    """What a run was measured under, a label and a value each; the same labels for every run."""
    known = dict(host(result))
    clock, study = result.clock, result.plan["study"]
    wandered = None
    if clock.low_GHz is not None and clock.GHz is not None and clock.high_GHz is not None:
        wandered = f"{clock.GHz:.2f} GHz ({clock.low_GHz:.2f} to {clock.high_GHz:.2f})"
    with_number = result.estimates.filter(result.estimates["state"].is_in(["resolved", "unresolved"])).height
    kinds = sorted(result.estimates["time_evidence"].drop_nulls().unique())
    yield "Machine", known.get("Processor")
    yield "Clock, median (5 % to 95 %)", wandered
    yield "Instrument", _instrument(result)
    yield "Study", str(study["id"])
    yield "Evidence of times", ", ".join(kinds) or None
    yield "Cases with a number", f"{with_number:,} of {result.estimates.height:,}"
    yield "Processes", f"{result.processes}"
    yield "Clean batches", f"{100 * result.clean_share:.0f} %"
    yield "Begun", f"{_begun(result):%-d %b %Y %H:%M}"
    yield "Run", str(result.plan["id"])
    shown = (
        "Virtual machine",
        "System",
        "Clock source",
        "Governor",
        "Compiler",
        "Commit",
        "Probe, SHA-256",
        "wattlock",
    )
    yield from ((label, known.get(label)) for label in shown)


def _instrument(result: Result) -> str:
    if result.meter is None:
        card = result.plan["device"]
        return f"no meter; valued by the card {card}" if card else "no meter"
    return f"{result.meter['name']}: {result.meter['scope']}"
