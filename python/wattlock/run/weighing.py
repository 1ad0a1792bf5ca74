"""The second part of a run with a meter: fresh processes measure blocks of energy, a few cells each.

How many there will be is settled before the first one: energies are looked at once, at the end, so that their intervals
need no allowance for looks.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wattlock.analysis import weighing
from wattlock.errors import EvidenceError, ProbeError
from wattlock.run import probe as probes
from wattlock.run import shards
from wattlock.run.contract import GO_ON, left_out_where_broken
from wattlock.store import RunFolder
from wattlock.store.records import record_of
from wattlock.study import Cell

PROCESSES = 8
"""Processes that weigh a cell; two blocks in each, sixteen in all."""

CELLS = 20
"""Cells of one process: a superblock of them lasts two seconds, in which a drift is about steady."""

LEAST_BLOCK_NS = 41_000_000
BLOCK_PERCENT = 1.0
"""What edges and quantum of one block may leave unsure of `LEAST_POWER_W`, percent."""

LEAST_POWER_W = 5.0
"""About what a laptop draws while it idles. Of less a battery's steps leave more than `BLOCK_PERCENT`; other meters
step so finely that their edges alone count."""


@dataclass(frozen=True)
class Choice:
    """What a run is weighed with.

    * `meter`: a name of `wattlock-probe meters`; `baseline`: idle, spin or memcpy; `sys_root`, `stream`: where the
      meter's files or bytes are, null for the machine's own; `cpu`: the processor that the meter is asked for.
    """

    meter: str
    baseline: str = "idle"
    sys_root: Path | None = None
    stream: Path | None = None
    cpu: int | None = None

    def processor(self, among: Sequence[int]) -> int | None:
        """The first that the meter counts as it counts `cpu`: of one package and die."""

        def place(cpu: int) -> list[str | None]:
            folder = (self.sys_root or Path("/sys")) / "devices" / "system" / "cpu" / f"cpu{cpu}" / "topology"
            files = (folder / name for name in ("physical_package_id", "die_id"))
            return [file.read_text() if file.is_file() else None for file in files]

        if self.cpu is None:
            return among[0] if among else None
        return next((one for one in among if place(one) == place(self.cpu)), self.cpu)

    def plan(self, block_ns: int, superblocks: int) -> dict[str, Any]:
        """The plan's `energy`."""
        places = {"sys_root": self.sys_root, "stream": self.stream}
        return {
            "meter": self.meter,
            "baseline": self.baseline,
            "block_ns": block_ns,
            "superblocks": superblocks,
            **{name: str(path) for name, path in places.items() if path is not None},
        }


def describe(probe: Path, choice: Choice) -> dict[str, Any]:
    """What the meter is, by a process that opens it, waits until its counter moves, and measures nothing.

    Raises ProbeError where it can't be read, stands still, or counts another package than that of the choice's
    processor, with what would mend that.
    """
    written: list[bytes] = []
    head = next(shards.probe_plan([], [], {}, {}, process=0, seed=0, cpu=choice.cpu, quiet_ppm=None, measured=False))
    head["energy"] = choice.plan(LEAST_BLOCK_NS, 0)
    probes.measure(probe, [head], 0, written.append)
    meter: dict[str, Any] = record_of(b"".join(written).split(b"\n", 1)[0])["meter"]
    return meter


def block_length_ns(meter: Mapping[str, Any]) -> int:
    """How long a block of this meter is: `meter` as `describe` gives it."""
    period_ns, quantum_nJ = meter["update_period_ns"], meter["quantum_nJ"]
    return weighing.block_length_ns(period_ns, quantum_nJ, LEAST_POWER_W, LEAST_BLOCK_NS, BLOCK_PERCENT)


def least_s(meter: Mapping[str, Any], cells: int) -> float:
    """The time that weighing so many cells takes at least: blocks alone, without the searches for their edges."""
    return PROCESSES * (2 * cells + 3 * math.ceil(cells / CELLS)) * block_length_ns(meter) / 1e9


@dataclass
class Weighing:
    """One sitting of it. What earlier sittings measured is in the run's folder and is not measured again.

    * `files`: by the label of the data; `tell`: receives the processes done and all of them; `libraries`: the user's
      own, by name.
    """

    folder: RunFolder
    cells: Sequence[Cell]
    files: Mapping[str, Path]
    probe: Path
    seed: int
    choice: Choice
    meter: Mapping[str, Any]
    cpu: int | None
    tell: Callable[[int, int], None] = lambda _done, _all: None
    libraries: Mapping[str, Path] = field(default_factory=dict)

    def measure(self) -> None:
        """Measures what is missing of `PROCESSES` processes for each cell.

        Raises EvidenceError where the meter fails for good; what was measured is kept.
        """
        process = self.folder.recover().next_process
        due = list(self._due())
        for done, planned in enumerate(due):
            self.tell(done, len(due))
            group = planned
            while group := self._sound(group):
                process += 1
                if self._weigh(group, process - 1):
                    break
        self.tell(len(due), len(due))

    def _sound(self, group: Sequence[Cell]) -> list[Cell]:
        """The cells that have not failed meanwhile."""
        failed = {failure["cell"] for failure in self.folder.failures()}
        return [cell for cell in group if cell.cell not in failed]

    def _due(self) -> Iterator[list[Cell]]:
        complete = self.folder.complete()
        weighed = [one for one in self.folder.headers() if one.get("meter") and one["process"] in complete]
        counts = Counter(cell["cell"] for header in weighed for cell in header["cells"])
        failed = {failure["cell"] for failure in self.folder.failures()}
        for turn in range(PROCESSES):
            cells = [cell for cell in self.cells if counts[cell.cell] <= turn and cell.cell not in failed]
            order = random.Random(f"{self.seed} weigh {turn}").sample(cells, len(cells))  # noqa: S311 - an order
            for own in (None, *self.libraries):
                kind = [cell for cell in order if (cell.provider if cell.provider in self.libraries else None) == own]
                yield from (kind[first : first + CELLS] for first in range(0, len(kind), CELLS))

    def _weigh(self, group: Sequence[Cell], process: int) -> bool:
        """Gives whether the process came to its end: a user's library may have ended it before."""
        visits = dict.fromkeys((cell.cell for cell in group), 1)
        seed = random.Random(f"{self.seed} weigh process {process}").getrandbits(63)  # noqa: S311 - order and buffers
        plan = shards.probe_plan(
            group,
            [],
            visits,
            self.files,
            process=process,
            seed=seed,
            cpu=self.cpu,
            quiet_ppm=None,
            libraries=self.libraries,
            cuts=shards.cuts(self.folder.headers()),
        )
        block_ns = block_length_ns(self.meter)
        head = {**next(plan), "energy": self.choice.plan(block_ns, 1)}
        ended: list[str] = []

        def take(data: bytes) -> None:
            self.folder.append(data)
            records = (record_of(line) for line in data.splitlines() if b'"follows":"end_run"' in line)
            ended.extend(record["error"] for record in records if record["kind"] == "energy_block")

        with left_out_where_broken(self.folder, process):
            probes.measure(self.probe, [head, *plan], process, take)
        if ended:
            hint = f"what was measured is kept; mend it, then `wattlock run --resume {self.folder.path}` goes on"
            raise EvidenceError(f"meter {self.choice.meter}: {ended[0]}", hint=hint)
        if process in self.folder.complete():
            return True
        if shards.ended_by(self.folder.failures(), process) is None:
            raise ProbeError(f"the probe ended process {process} without all of its records", hint=GO_ON)
        return False
