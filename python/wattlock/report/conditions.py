"""Whether a run is to be believed, under which conditions it was made, and how: what the page and its print say."""

from collections.abc import Mapping

import polars as pl

from wattlock.report import formats
from wattlock.report.facts import MeterFacts, RunFacts

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


def checked(run: RunFacts) -> str:
    """What came of the self-checks: passed, not resolved or failed."""
    judged = [check for check in run.self_checks if check.truth is not None]
    if not judged:
        return "No self-checks ran among the cases."
    if all(check.verdict == "passed" for check in judged):
        return "Self-checks passed."
    return f"Self-checks: {formats.listing([f'{check.name} {check.verdict}' for check in judged])}."


def verdict(run: RunFacts, estimates: pl.DataFrame) -> str:
    """What came of the self-checks, and how many cases are resolved."""
    lost = lost_states(estimates)
    share = f"{run.resolved:,} of {run.cases:,} cases ({formats.percent(run.resolved / max(run.cases, 1))})"
    if not run.valid:
        return f"No. {checked(run)} {share} were precise enough, but the self-check failed."
    return f"{checked(run)} {share} are resolved{', ' + formats.listing(lost) if lost else ''}."


def conditions(run: RunFacts) -> list[tuple[str, str]]:
    """What the run was measured under: label and value."""
    clock = "not known on this core, so there are no cycles"
    if run.canary_GHz:
        middle, low, high = (formats.number(value) for value in run.canary_GHz)
        clock = f"{middle} GHz at the median, {low} to {high} GHz from the 5th to the 95th percentile"
    return [
        *_device(dict(run.host)),
        ("Clean batches", f"{formats.percent(run.clean_share)} of {run.batches:,}; the others met {CAUSES}"),
        (f"Core clock{f', {run.core_classes.names[0]}' if run.core_classes else ''}", clock),
        ("Effort", f"{run.processes} fresh processes, {formats.duration(run.duration_s)}"),
    ]


def _device(host: Mapping[str, str]) -> list[tuple[str, str]]:
    """What was measured on, where it was not this machine: processor, class of core, and the way to it."""
    way = host.get("Reached by", "local")
    if way == "local":
        return []
    known = [part for part in (host.get("Processor"), host.get("Core class")) if part]
    return [("Device", ", ".join([*known, f"reached by {way}"]))]


def joules_notes(run: RunFacts) -> list[str]:
    """Where the joules come from; nothing where the run has neither meter nor card."""
    if run.meter is not None:
        return _meter_notes(run.meter)
    if run.device is None:
        return []
    narrower = [f"What would narrow the interval: {run.device.narrowed_by}."] if run.device.narrowed_by else []
    valued = f"Valued by the card {run.device.name}; these joules are {run.device.evidence}."
    return [valued, *run.device.notes, *narrower]


def _meter_notes(meter: MeterFacts) -> list[str]:
    read = (
        ""
        if meter.read_us is None
        else f" One read takes {formats.number(meter.read_us)} µs; none falls inside a block."
    )
    overlaps = f" {formats.listing(list(meter.overlaps))} count some of the same joules." if meter.overlaps else ""
    without = f" {meter.without:,} cases have none: the table of cases says why." if meter.without else ""
    return [
        f"Measured by the meter {meter.name}: {meter.scope}. A call’s joules are net of the baseline "
        f"({meter.baseline}): what the machine draws else is subtracted.{without}",
        f"The interval holds the meter’s gain, ±{formats.number(1.96 * meter.gain_percent, 2)} % "
        f"({meter.gain_source}). It is the same in all cases, so that it cancels in the ratio of two.{read}{overlaps}",
    ]
