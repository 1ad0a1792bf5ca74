"""The policy of a discharge: one case after the other is repeated until the battery is empty, its level is logged.

A machine that dies in it has kept every line: the run goes on from the last one, after a reboot as well.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wattlock.errors import EvidenceError, StudyError
from wattlock.run import process
from wattlock.run.process import GO_ON, Bench, Order, carry_out, inquire, records_in
from wattlock.study import Case
from wattlock.targets import Target

LOG_EVERY_S = 10


@dataclass(frozen=True)
class DischargePlan:
    """How a battery is discharged by each case.

    * `battery`: its name, empty where there is one; `until_percent`, `repeats`: where it ends, at least one of them;
      `from_percent`: a case begins at this level or above, null anywhere; `sys_root`: what stands for `/sys`.
    """

    battery: str
    until_percent: int | None = None
    repeats: int | None = None
    from_percent: int | None = None
    log_every_s: int = LOG_EVERY_S
    sys_root: Path | None = None

    def __post_init__(self) -> None:
        if self.until_percent is None and self.repeats is None:
            raise StudyError("a battery run has no end", hint="--until-percent 5, --repeats 6000, or both")

    def plan(self, case: int, done: int, repeats: int | None) -> dict[str, Any]:
        """The plan's `battery`."""
        given = {"until_percent": self.until_percent, "repeats": repeats, "name": self.battery or None}
        root = {"sys_root": str(self.sys_root)} if self.sys_root else {}
        return {"case": case, "done": done, "log_every_s": self.log_every_s, **given, **root}

    def kept(self) -> dict[str, Any]:
        """As the run's plan keeps it: without a path."""
        known = {"until_percent": self.until_percent, "repeats": self.repeats, "from_percent": self.from_percent}
        return {"name": self.battery, **known, "log_every_s": self.log_every_s}


def look(target: Target, discharge: DischargePlan) -> None:
    """Asks for the battery before anything is measured: it is there, and feeds the machine alone.

    Raises ProbeError or EvidenceError.
    """
    order = Order(0, 0, process.self_checks(first=0)[:1], None, policy={"battery": discharge.plan(0, 0, 0)})
    levels = records_in(inquire(target, order), b'"battery_level"')
    if levels and levels[-1]["error"]:
        raise EvidenceError(
            f"{discharge.battery or 'the battery'}: {levels[-1]['error']}", hint="then start the run again"
        )


@dataclass
class Discharge:
    """One session of it.

    * `report`: receives the case's cipher, its calls so far, the level, and the share
      of them that is done where that is known.
    """

    bench: Bench
    cases: Sequence[Case]
    seed: int
    discharge: DischargePlan
    cpus: Mapping[str | None, int | None]
    report: Callable[[str, int, int | None, float | None], None] = lambda _cipher, _calls, _level, _share: None

    def measure(self) -> None:
        """Discharges the battery by each case that is not done.

        Raises EvidenceError where it is being charged, or stands too low to begin; what was measured is kept.
        """
        for case in self.cases:
            last = self._last(case)
            if last is not None and self._is_over(last):
                continue
            done = 0 if last is None else int(last["repeats_done"])
            if (line := self._pass(case, done, looks=True)) is not None:
                self._refuse_low(case, line["level_percent"], begun=last is not None)
                self._pass(case, done)

    def _last(self, case: Case) -> dict[str, Any] | None:
        lines = [line for line in self.bench.folder.records("battery_level") if line["case"] == case.case]
        whole = [line for line in lines if not line["error"]]
        return max(whole, key=lambda line: line["repeats_done"], default=None)

    def _is_over(self, line: Mapping[str, Any]) -> bool:
        until, repeats = self.discharge.until_percent, self.discharge.repeats
        # The level that a fall starts at does not end it: nothing was carried out.
        is_empty = until is not None and line["level_percent"] is not None and line["level_percent"] <= until
        return bool(line["repeats_done"]) and (is_empty or (repeats is not None and line["repeats_done"] >= repeats))

    def _refuse_low(self, case: Case, level: int | None, *, begun: bool) -> None:
        least = None if begun else self.discharge.from_percent
        until = self.discharge.until_percent
        if level is None or ((least is None or level >= least) and (until is None or level > until)):
            return
        wanted = f"at least {least} %" if least is not None else f"more than {until} %"
        hint = f"charge it, pull the cable, then `{self.bench.folder.resuming}` goes on"
        raise EvidenceError(f"the battery is at {level} %, and {case.cipher} begins at {wanted}", hint=hint)

    def _pass(self, case: Case, done: int, *, looks: bool = False) -> dict[str, Any] | None:
        """One process on the battery, its lines kept as they come; gives the last one, null where the case failed.

        One that only `looks` makes no call, and its line is not kept.
        """
        order = Order(
            self.bench.folder.recover().next_process,
            self.seed,
            [case],
            self.cpus.get(case.core_class),
            policy={"battery": self.discharge.plan(case.case, done, 0 if looks else self.discharge.repeats)},
            kept=not looks,
        )
        lines: list[dict[str, Any]] = []

        def heed(data: bytes) -> None:
            lines.extend(records_in(data, b'"battery_level"'))
            if lines:
                calls, repeats = lines[-1]["repeats_done"], self.discharge.repeats
                self.report(case.cipher, calls, lines[-1]["level_percent"], calls / repeats if repeats else None)

        failures = carry_out(self.bench, order, heed=heed).failures
        if failures:
            if looks:
                self.bench.folder.append(b"".join(json.dumps(failure).encode() + b"\n" for failure in failures))
            return None
        if not lines:
            raise EvidenceError(f"{case.cipher}: the battery was not read", hint=GO_ON)
        if lines[-1]["error"]:
            hint = f"what was measured is kept; mend it, then `{self.bench.folder.resuming}` goes on"
            raise EvidenceError(f"{self.discharge.battery or 'the battery'}: {lines[-1]['error']}", hint=hint)
        return lines[-1]
