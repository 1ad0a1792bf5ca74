"""What an invalid or a noisy run says of itself: what was measured, what disturbed the machine, and what helps.

The sentences are made here alone; `run`, `show`, `papers`, `report`, the lab and `compare` print them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean
from typing import Any

from wattlock.analysis import self_checks

INVALID_RUN = "invalid run"
"""The state of a case that has a number, in a run whose self-check failed."""

NOISY_SHARE = 0.2
"""A run in which more than this share of the timing loops was disturbed is worth a warning."""

STOLEN_PERCENT = 1.0
"""From this share of the processors' time on a hypervisor's other guests are named."""

WAITED_PERCENT = 10.0
"""From this share of the time on programs that wait for a processor are named."""

NAMES = {
    "neighbour": "by another program on the same core",
    "switch": "by context switches",
    "clock": "by clock changes",
    "migration": "by moves to another processor",
}
"""Causes of the records, as people call them."""

TRY_MIN = 30
"""Minutes that the hint names."""


@dataclass(frozen=True)
class Conditions:
    """What the machine was like while a run was measured; null and empty where it can't be seen.

    * `causes`: timing loops (batches) that were disturbed, by cause; `batches`: all of them.
    * `load`: the load average of a minute, `waited_percent`: the share of the time in which a program waited for a
      processor, both as the mean over processes; `processors`: those on line.
    * `stolen_percent`: of the processors' time what a hypervisor gave to other guests.
    * `is_browser`: whether a page measured.
    """

    causes: Mapping[str, int] = field(default_factory=dict)
    batches: int = 0
    load: float | None = None
    processors: int | None = None
    waited_percent: float | None = None
    stolen_percent: float | None = None
    is_browser: bool = False

    @property
    def disturbed_share(self) -> float:
        """The share of timing loops that do not count."""
        return sum(self.causes.values()) / max(1, self.batches)

    @property
    def is_noisy(self) -> bool:
        """Whether more were disturbed than on a machine that is fit for measuring."""
        return self.disturbed_share > NOISY_SHARE

    @property
    def is_stolen_from(self) -> bool:
        """Whether other virtual machines took a share that matters."""
        return self.stolen_percent is not None and self.stolen_percent >= STOLEN_PERCENT

    @property
    def is_loaded(self) -> bool:
        """Whether more wanted to run than wattlock alone."""
        busy = self.load is not None and self.load >= max(2, self.processors or 0)
        return busy or (self.waited_percent is not None and self.waited_percent >= WAITED_PERCENT)


def conditions(headers: Sequence[Mapping[str, Any]], causes: Mapping[str, int], batches: int) -> Conditions:
    """What is known of the machine from the headers of a run's processes, in their order, and from its batches."""
    loads = [header["fingerprint"].get("load") or {} for header in headers]
    averages = [load["averages"][0] for load in loads if load.get("averages")]
    waited = [load["pressure_10s_percent"] for load in loads if load.get("pressure_10s_percent") is not None]
    last = headers[-1]["fingerprint"] if headers else {}
    return Conditions(
        causes=causes,
        batches=batches,
        load=fmean(averages) if averages else None,
        processors=last.get("hardware", {}).get("processors"),
        waited_percent=fmean(waited) if waited else None,
        stolen_percent=_stolen_percent(loads),
        is_browser=last.get("browser") is not None,
    )


def _stolen_percent(loads: Sequence[Mapping[str, Any]]) -> float | None:
    """Between processes of a session: after a new start of the machine the counters begin again."""
    known = [load for load in loads if load.get("steal_ms") is not None and load.get("total_ms") is not None]
    stolen = total = 0
    for before, after in pairwise(known):
        if after["total_ms"] > before["total_ms"] and after["steal_ms"] >= before["steal_ms"]:
            stolen += after["steal_ms"] - before["steal_ms"]
            total += after["total_ms"] - before["total_ms"]
    return 100 * stolen / total if total else None


def overall(verdicts: Sequence[self_checks.Verdict]) -> str:
    """The self-checks of a run in a word: failed, not resolved, passed, or none where there are too few processes."""
    states = {verdict.state for verdict in verdicts}
    return next((state for state in ("failed", "not resolved", "passed") if state in states), "none")


def explained(verdicts: Sequence[self_checks.Verdict], machine: Conditions) -> list[str]:
    """Why a run is invalid, in words: what was measured and should have been, what disturbed it, what helps.

    Empty where no self-check failed.
    """
    failed = self_checks.reasons_against(verdicts)
    if not failed:
        return []
    which = "a run whose self-check failed" if len(failed) == 1 else "a run whose self-checks failed"
    first = f"these numbers are from {which}: {'; '.join(failed)}; they are not ranked or judged"
    return [first, *cautions(verdicts, machine)]


def cautions(verdicts: Sequence[self_checks.Verdict], machine: Conditions) -> list[str]:
    """What disturbed the machine and what helps, where the run is noisy or a self-check failed; else empty."""
    has_failed = bool(self_checks.reasons_against(verdicts))
    if not (has_failed or machine.is_noisy):
        return []
    return [disturbed(machine), helps(machine)]


def noticed(verdicts: Sequence[self_checks.Verdict], machine: Conditions, least_s: float, most_s: float) -> list[str]:
    """What a person is told while a run measures: how long the rest takes; what speaks against the run, and what helps.

    * `least_s`: until the next look of all cases that are open; `most_s`: until the last.
    """
    soon, late = _time(least_s), _time(most_s)
    rest = soon if soon == late else f"{soon} if each case is sure at its next look, {late} at most"
    lines = [f"the rest takes {rest}"]
    failed = self_checks.reasons_against(verdicts)
    lines += [f"a self-check fails so far: {message}" for message in failed]
    return [*lines, *cautions(verdicts, machine)]


def _time(seconds: float) -> str:
    return f"{max(1, round(seconds))} s" if seconds < 90 else f"{round(seconds / 60)} min"


def disturbed(machine: Conditions) -> str:
    """What was seen of other work on the machine."""
    seen = list(_seen(machine))
    if seen:
        return f"the machine was busy: {'; '.join(seen)}"
    share = f"{100 * (1 - machine.disturbed_share):.0f} %"
    return (
        f"nothing was seen that explains it: {share} of the timing loops were undisturbed; what can't be seen from "
        "here, such as other guests of the same host, may have changed while it measured"
    )


def _seen(machine: Conditions) -> Iterator[str]:
    if machine.is_noisy:
        order = sorted(machine.causes.items(), key=lambda item: -item[1])
        named = ", ".join(f"{count:,} {NAMES.get(cause, f'by {cause}')}" for cause, count in order if count)
        share = f"{100 * machine.disturbed_share:.0f} % of {machine.batches:,} timing loops"
        yield f"{share} were disturbed and do not count ({named})"
    if machine.is_loaded:
        if machine.load is not None:
            among = f" on {machine.processors} processors" if machine.processors else ""
            yield f"its load was {machine.load:.1f}{among}, about 1 of it wattlock itself"
        if machine.waited_percent is not None and machine.waited_percent >= WAITED_PERCENT:
            yield f"programs waited for a processor {machine.waited_percent:.0f} % of the time"
    if machine.is_stolen_from:
        yield f"other virtual machines of the host took {machine.stolen_percent:.1f} % of the processors’ time"


def helps(machine: Conditions) -> str:
    """What a person can do about it, the likeliest first."""
    if machine.is_browser:
        return "what helps: close other tabs and programs, keep the page in front, plug the device in, measure again"
    first = ["close other programs, or leave a processor free of them"] if list(_seen(machine)) else []
    clock = machine.causes.get("clock", 0)
    if clock and 2 * clock >= sum(machine.causes.values()):
        first = ["plug the machine in and let it cool: its clock changed", *first]
    if machine.is_stolen_from:
        first = ["measure when the host is quieter, or on a machine that is not shared", *first]
    tries = f"measure again at another time, or with `--keep-trying {TRY_MIN}`, which goes on until it is quiet enough"
    return f"what helps: {'; '.join([*first, tries])}; `wattlock doctor` says what else disturbs this machine"
