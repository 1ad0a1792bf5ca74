"""Runs that counted, as the probe wrote them on Debian's QEMU, and a target that says again what stands in one."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.counting_probe import records
from support.tree import PROBE, TESTS
from wattlock.lab.collection import FOLDER
from wattlock.store import RunFolder
from wattlock.targets.local import Local
from wattlock.targets.target import CoreClass, CountedCore, Facts, Limits

RUNS = TESTS / "run" / "counted_runs"
M4, M0PLUS = (FOLDER / name for name in ("m4", "m0plus"))
M4_PART, M4_L476, C3 = (RUNS / name for name in ("m4-stm32f407", "m4-stm32l476", "esp32-c3"))

STUDY = """
id = "counted"
title = "Four ciphers, counted"
question = "Which of four ciphers takes the fewest cycles on this core?"
looks = [5]

[[grid]]
cipher = ["ascon-aead128", "chacha20-poly1305", "aes128-ccm"]
operation = ["seal", "open"]
payload_B = [16, 64]

[[grid]]
cipher = ["rc4-128"]
operation = ["encrypt"]
payload_B = [64]

[[grid]]
cipher = ["ascon-aead128", "chacha20-poly1305", "aes128-ccm", "rc4-128"]
operation = ["key_setup"]
"""
"""The study of these runs."""

CASES = 17


@dataclass(unsafe_hash=True)
class Replayed:
    """An emulated Cortex-M4 whose probe says again what it said in a run.

    * `changed`: makes of the lines of a process those that it writes, for a process that doesn't keep to its plan.
    * `codes`: exit code of the process that holds a cipher.
    * `asked`: the plans that it was given; `processes`: how many it has at a time.
    """

    run: Path = M4
    changed: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = field(default=list, hash=False, compare=False)
    codes: dict[str, int] = field(default_factory=dict, hash=False, compare=False)
    asked: list[list[dict[str, Any]]] = field(default_factory=list, hash=False, compare=False)
    processes: int = 2

    way = "qemu"
    name = "qemu:cortex-m4"

    def facts(self) -> Facts:
        header = RunFolder.open(self.run).headers()[0]["fingerprint"]
        told = {"model_name": header["hardware"]["model_name"], "kernel": header["kernel"], "clocks": {"counter": None}}
        build, emulator = header["build"], header["virtualisation"]["emulator"]
        counted = CountedCore(**RunFolder.open(self.run).plan()[0]["counted"])
        sha256, isa = build["executable_sha256"], build["isa"]
        return Facts(sha256, isa, (0,), (CoreClass(None, None, (0,)),), emulator, told, 0.0, counted, self.processes)

    def push(self, file: Path) -> str:
        raise AssertionError(file)

    def fetch(self, place: str) -> bytes:
        raise AssertionError(place)

    def start(
        self, words: Sequence[str], text: bytes, limits: Limits, take: Callable[[bytes], None], *, who: str
    ) -> tuple[int, bytes]:
        if words[0] != "measure":
            return Local(PROBE).start(words, text, limits, take, who=who)
        plan = [json.loads(line) for line in text.splitlines()]
        self.asked.append(plan)
        ciphers = {line["cipher"] for line in plan if line["kind"] == "case"}
        code = next((self.codes[cipher] for cipher in ciphers if cipher in self.codes), 0)
        if code:
            return code, b"error: the image of it can't be run\n"
        take(b"".join(json.dumps(line).encode() + b"\n" for line in self.changed(self._records(plan))))
        return 0, b""

    def _records(self, plan: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What the probe says to a plan."""
        return records(plan, recorded(self.run))


def recorded(run: Path) -> dict[str, Any]:
    """Header, cases and counts of a run, as `counting_probe.records` takes them."""
    folder = RunFolder.open(run)
    cases = [case for header in folder.headers() for case in header["cases"]]
    return {"header": folder.headers()[0], "cases": cases, "counts": list(folder.records("count"))}


ON_BOARD = CountedCore("cortex-m4", "nrf52840", 64_000_000, "nrf52840-dk")
REPETITIONS = (20, 0, 0, 0, 7)
"""What each repetition of a case takes beyond the least: the first fills caches."""


@dataclass(unsafe_hash=True)
class Board(Replayed):
    """An nRF52840-DK that takes a quarter more than the emulated core, and the first time some cycles beyond.

    * `board`: the board that its records name. `clock_is_its_own`: else no repetition has cycles.
    """

    board: str = "nrf52840-dk"
    clock_is_its_own: bool = True
    at_a_time: list[int] = field(default_factory=lambda: [0, 0], hash=False, compare=False)

    way = "board"
    name = "board:nrf52840-dk@/dev/ttyACM0"

    def facts(self) -> Facts:
        return super().facts()._replace(emulator=None, counted=ON_BOARD, at_a_time=1)

    def start(self, words: Sequence[str], *rest: Any, **named: Any) -> tuple[int, bytes]:
        self.at_a_time[0] += words[0] == "measure"
        self.at_a_time[1] = max(self.at_a_time)
        code = super().start(words, *rest, **named)
        self.at_a_time[0] -= words[0] == "measure"
        return code

    def _records(self, plan: list[dict[str, Any]]) -> list[dict[str, Any]]:
        header, *others = super()._records(plan)
        noticed = None if self.clock_is_its_own else "a loop's round of two instructions takes 0.02 cycles"
        place = {"product": self.board, "emulator": noticed}
        fingerprint = header["fingerprint"]
        fingerprint = fingerprint | {"virtualisation": fingerprint["virtualisation"] | place}
        return [header | {"fingerprint": fingerprint}, *(self._on_board(record) for record in others)]

    def _on_board(self, record: dict[str, Any]) -> dict[str, Any]:
        if record["kind"] != "count":
            return record
        kept = ("case", "process", "core", "image_sha256", "flash_B", "ram_B", "stack_B", "image_flash_B")
        least = record["core_cycles"] * 5 // 4
        cycles = [least + more for more in REPETITIONS] if self.clock_is_its_own else []
        of_board = {"kind": "board", "board": self.board, "clock_Hz": ON_BOARD.part_clock_Hz, "board_cycles": cycles}
        return of_board | {name: record[name] for name in kept}
