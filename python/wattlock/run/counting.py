"""The policy of counting: a process of the probe for a few cases of an image family, several at a time.

A count repeats bit for bit (the probe's tests hold that), so there are no repeats, no looks and no self-checks. On a
board the probe itself repeats each case, and one process at a time has the board. What a process counted is kept when
it has ended; a run that was cut off counts what it has not.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wattlock.errors import InputError, StudyError, WattlockError
from wattlock.run.process import Contract, Order, measure
from wattlock.run.timing import Progress
from wattlock.store import RunFolder
from wattlock.store.records import Other
from wattlock.study import Case, CatalogueRow
from wattlock.targets import Target, probe
from wattlock.targets.target import CountedCore, Limits

SEED = 1
"""Of keys and packets in every run: what operands decide is no difference between two versions of a cipher."""

SHARE_CASES = 16
"""Of a family that one process counts: a second's work with its image built, which is what a killed run loses."""

BUILD_S = 900.0
"""An image is built in some seconds, and waits for those that are built beside it; a board is flashed in as many."""

CASE_S = 120.0
"""A case takes less than a second in the emulator, some on a board; the probe itself ends an image that is silent for a
minute."""

COUNT_LINE_B = 2**13
"""A count's line: its numbers, and one a class of instructions."""


class CountContract(Contract):
    """One process that counts: its plan, and how much of that it wrote; `stopped`: says that it is to end."""

    clocks = ()

    def __init__(
        self, plan: Sequence[Mapping[str, Any]], counted: CountedCore, stopped: Callable[[], bool] | None = None
    ) -> None:
        super().__init__(plan)
        self._core, self._stopped = counted, stopped
        self._counted: set[int] = set()

    @property
    def limits(self) -> Limits:
        """How long the process may take, and how many bytes it may write: it says nothing before its end."""
        most_s = BUILD_S + CASE_S * len(self.cases)
        most_B = 2 * self.longest_line_B + COUNT_LINE_B * self.most_lines
        return Limits(most_s, most_s, most_s, most_B, self._stopped)

    @property
    def most_lines(self) -> float:
        """A header, an end, and a count or a failure a case."""
        return 2 + len(self.cases)

    def _judge_count(self, record: Mapping[str, Any]) -> None:
        self._judge_case(record, among=set(self._segments) - self._counted)
        self._counted.add(record["case"])
        known = _core_of(record, self._core)
        if known != self._core:
            raise self._broken(f"counted case {record['case']} on {known.place}, not on {self._core.place}")

    def _judge_end(self, other: Other) -> None:
        if silent := self._segments.keys() - self._counted:
            raise self._broken(f"named case {min(silent)} and did not count it")
        super()._judge_end(other)


def _core_of(record: Mapping[str, Any], counted: CountedCore) -> CountedCore:
    """The core that a record names; a board's record doesn't name its part."""
    if record["kind"] == "board":
        return CountedCore(record["core"], counted.part, record["clock_Hz"], record["board"])
    return CountedCore(record["core"], record["part"], record["part_clock_Hz"])


@dataclass
class Counting:
    """One session of a run that counts.

    * `report`: receives how far it is; `process`: the number of the next process; `libraries`: code of the user's own,
      by name.
    """

    folder: RunFolder
    target: Target
    cases: Sequence[Case]
    report: Callable[[Progress], None] = lambda _: None
    process: int = 0
    libraries: Mapping[str, Path] = field(default_factory=dict)

    def count(self) -> None:
        """Counts every case that has neither a count nor a failure.

        Raises the first error of a process that did not come to its end, when all others have; and whatever ends the
        session. What was counted is kept.
        """
        start = time.monotonic()
        self.process = self.folder.recover().next_process
        try:
            self._count(self._due())
        finally:
            session = {"kind": "session", "wall_s": round(time.monotonic() - start, 3), "next_process": self.process}
            self.folder.append(json.dumps(session).encode() + b"\n")

    def _due(self) -> list[list[Case]]:
        """The cases that lack a count, in shares of one image family each, the most work first."""
        complete = self.folder.complete()
        done = {
            record["case"]
            for kind in ("count", "board", "failure")
            for record in self.folder.records(kind)
            if record["process"] in complete
        }
        due = [case for case in self.cases if case.case not in done]
        rows = probe.first_rows(self.target, list(dict.fromkeys(case.cipher for case in due)))
        families: dict[str, list[Case]] = {}
        for case in due:
            families.setdefault(rows[case.cipher]["family"], []).append(case)
        shares = [
            group[start : start + SHARE_CASES]
            for group in families.values()
            for start in range(0, len(group), SHARE_CASES)
        ]
        return sorted(shares, key=lambda share: -sum(64 + case.payload_B for case in share))

    def _count(self, groups: Sequence[Sequence[Case]]) -> None:
        pending = sum(len(group) for group in groups)
        stopped = threading.Event()
        faults: list[WattlockError] = []
        orders = [
            Order(process, SEED, group, None, visits=dict.fromkeys((case.case for case in group), 1))
            for process, group in enumerate(groups, self.process)
        ]
        self.process += len(orders)
        with ThreadPoolExecutor(max_workers=self.target.facts().at_a_time) as pool:
            running = {pool.submit(_carry_out, self.target, order, stopped, self.libraries): order for order in orders}
            try:
                for done, future in enumerate(as_completed(running), 1):
                    pending -= len(running[future].cases)
                    faults += self._keep(running[future], future)
                    settled = len(self.cases) - pending
                    self.report(Progress(done, len(orders), settled, len(self.cases)))
            except BaseException:
                stopped.set()
                for future in running:
                    future.cancel()
                raise
        if faults:
            raise faults[0]

    def _keep(self, order: Order, future: Future[bytes]) -> list[WattlockError]:
        """Keeps what a process wrote; gives the error of one that did not come to its end."""
        try:
            data = future.result()
        except WattlockError as error:
            self.folder.leave_out(order.process, error.message)
            return [error]
        self.folder.append(data)
        return []


def counted_on(target: Target) -> CountedCore:
    """The core of a target on which cycles are counted."""
    counted = target.facts().counted
    assert counted is not None  # noqa: S101 - the session has looked
    return counted


def _carry_out(target: Target, order: Order, stopped: threading.Event, libraries: Mapping[str, Path]) -> bytes:
    """What one process writes, judged."""
    written: list[bytes] = []
    plan = list(order.plan({}, libraries, push=target.push))
    contract = CountContract(plan, counted_on(target), stopped.is_set)
    measure(target, plan, order.process, written.append, contract=contract)
    return b"".join(written)


def held_by_images(rows: Mapping[str, Sequence[CatalogueRow]]) -> dict[str, list[CatalogueRow]]:
    """The catalogue's rows of this machine, those that no image holds as not available, with the reason."""
    return {cipher: [_held(row) for row in several] for cipher, several in rows.items()}


def _held(row: CatalogueRow) -> CatalogueRow:
    if row["file"] is None and row["available"]:
        return row
    return {**row, "available": False, "reason": "an image holds what is built in, and no library of this machine"}


def refuse_nothing(study: str, absent: Mapping[tuple[str, str], str], cases: Sequence[Case]) -> None:
    """Raises StudyError where no image holds any of the cases; `absent`: why, by cipher and provider."""
    if absent and all((case.cipher, case.provider) in absent for case in cases):
        reasons = dict.fromkeys(f"{provider}: {reason}" for (_, provider), reason in absent.items())
        what = f"study {study}: no image holds any of its {len(cases)} cases: {'; '.join(reasons)}"
        raise StudyError(what, hint="a grid without `provider` takes the catalogue's own code; `mcu` has what fits")


def refuse_what_needs_a_device(counted: CountedCore, **named: object) -> None:
    """Raises StudyError naming what was requested that a microcontroller has not.

    * `named`: by the option's words, what was given.
    """
    given = [option for option, value in named.items() if value]
    if given:
        options = ", ".join(f"--{option.replace('_', '-')}" for option in given)
        what = f"{options}: on {counted.place} cycles are counted, and nothing else is there"
        raise StudyError(what, hint="leave it out: an image holds the catalogue's ciphers and packets of random bytes")


def refuse_another_core(folder: RunFolder, counted: CountedCore | None) -> None:
    """Raises InputError where a run goes on by another core or part than it was begun on."""
    kept = folder.plan()[0].get("counted")
    was = CountedCore(**kept) if kept else None
    if was == counted:
        return
    names = ["this machine's time" if core is None else core.place for core in (was, counted)]
    what = f"run {folder.path}: was begun on {names[0]}, this is {names[1]}"
    raise InputError(what, hint="name by --on what it was begun on, or start a new run")
