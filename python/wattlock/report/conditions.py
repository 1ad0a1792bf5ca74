"""Whether a run is to be believed, under which conditions it was made, and how: what the page and its print say."""

from collections.abc import Iterator, Mapping

import polars as pl

from wattlock.energy.device_cards import Device
from wattlock.report import formats
from wattlock.report.described import host
from wattlock.run.result import Result

CAUSES = "a switch, a migration, a change of the clock, a neighbour on the core or wide vectors held back"
STEPS = (
    "Every case is timed in batches of many calls, in random order, round after round, in fresh processes: one "
    "process’s memory layout alone moves a result by percents, so processes are what is repeated.",
    "Beside each batch runs a short chain of multiplications whose cycles are known. Batch time over its time "
    "gives core cycles, which hold still where the clock wanders.",
    "A batch is dropped for a cause (a context switch, a migration, a changed clock, a neighbour on the core, wide "
    "vectors that the core held back), "
    "never for its value. Every batch is kept in the run’s records.",
    "A case is done when its 95 % interval is narrow enough; one that never gets there is called unresolved.",
)
"""How every run is measured, in brief."""


def lost_states(estimates: pl.DataFrame) -> list[str]:
    """How many cases are in each state that is not resolved: `4 unresolved`."""
    counts = dict(estimates.group_by("state").len().iter_rows())
    return [f"{counts[state]} {state}" for state in ("unresolved", "failed", "invalid") if counts.get(state)]


def checked(run: Result) -> str:
    """What came of the self-checks: passed, not resolved or failed."""
    if not run.verdicts:
        return "No self-checks ran among the cases."
    if all(check.state == "passed" for check in run.verdicts):
        return "Self-checks passed."
    return f"Self-checks: {formats.listing([f'{check.named} {check.state}' for check in run.verdicts])}."


def verdict(run: Result, estimates: pl.DataFrame) -> str:
    """What came of the self-checks, and how many cases are resolved."""
    lost = lost_states(estimates)
    cases, resolved = run.estimates.height, run.estimates.filter(pl.col("state") == "resolved").height
    share = f"{resolved:,} of {cases:,} cases ({formats.percent(resolved / max(cases, 1))})"
    if run.reasons:
        return f"No. {checked(run)} {share} were precise enough, but the self-check failed."
    return f"{checked(run)} {share} are resolved{', ' + formats.listing(lost) if lost else ''}."


def conditions(run: Result) -> list[tuple[str, str]]:
    """What the run was measured under: label and value."""
    clock = "not known on this core, so there are no cycles"
    known = [GHz for GHz in (run.clock.GHz, run.clock.low_GHz, run.clock.high_GHz) if GHz is not None]
    if len(known) == 3:
        middle, low, high = map(formats.number, known)
        clock = f"{middle} GHz at the median, {low} to {high} GHz from the 5th to the 95th percentile"
    return [
        *_device(dict(host(run))),
        ("Clean batches", f"{formats.percent(run.clean_share)} of {run.batches:,}; the others met {CAUSES}"),
        (f"Core clock{f', {run.core_classes[0]}' if len(run.core_classes) > 1 else ''}", clock),
        ("Effort", f"{run.processes} fresh processes, {formats.duration(run.wall_s)}"),
    ]


def _device(known: Mapping[str, str]) -> list[tuple[str, str]]:
    """What was measured on, where it was not this machine: processor, class of core, and the way to it."""
    way = known.get("Reached by", "local")
    if way == "local":
        return []
    named = [part for part in (known.get("Processor"), known.get("Core class")) if part]
    return [("Device", ", ".join([*named, f"reached by {way}"]))]


def joules_notes(run: Result, card: Device | None) -> list[str]:
    """Where the joules come from: the card, else the run's meter; nothing where there is neither."""
    if card is not None:
        shown = card_shown(run, card)
        narrower = shown.card.narrowed_by
        return [
            f"Valued by the card {shown.name}; these joules are {shown.card.evidence}.",
            *card_notes(shown),
            *([f"What would narrow the interval: {narrower}."] if narrower else []),
        ]
    return list(_meter_notes(run))


def card_shown(run: Result, card: Device) -> Device:
    """The card for a kind of core whose numbers nobody verified, where the run has such a kind."""
    return next((shown for kind in run.core_classes if (shown := card.on(kind)).card.evidence == "assumed"), card)


def card_notes(card: Device) -> list[str]:
    """What there is to know of a card."""
    return [note for note in (card.card.title, card.card.note) if note]


def _meter_notes(run: Result) -> Iterator[str]:
    meter = run.meter
    if meter is None or run.energies is None:
        return
    reading = formats.number(meter["read_ns"] / 1e3) if meter["read_ns"] is not None else None
    read = "" if reading is None else f" One read takes {reading} µs; none falls inside a block."
    overlaps = (
        f" {formats.listing(list(meter['overlaps']))} count some of the same joules." if meter["overlaps"] else ""
    )
    lacking = run.energies["energy_uJ"].null_count()
    without = f" {lacking:,} cases have none: the table of cases says why." if lacking else ""
    gain_percent = 100 * meter["gain_relative_uncertainty"]
    yield (
        f"Measured by the meter {meter['name']}: {meter['scope']}. A call’s joules are net of the baseline "
        f"({meter['baseline']}): what the machine draws else is subtracted.{without}"
    )
    yield (
        f"The interval holds the meter’s gain, ±{formats.number(1.96 * gain_percent, 2)} % "
        f"({meter['gain_source']}). It is the same in all cases, so that it cancels in the ratio of two."
        f"{read}{overlaps}"
    )
