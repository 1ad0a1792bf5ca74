"""A microcontroller's core as a target: this machine's probe counts there, in QEMU or on a board by its serial port."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import as_file
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from wattlock.definitions.shelf import Shelf
from wattlock.definitions.toml import Table, Text
from wattlock.errors import InputError, ProbeError, WayError
from wattlock.store.record_schema import SCHEMA
from wattlock.targets import local
from wattlock.targets.parts import PARTS, Core, short_title
from wattlock.targets.target import (
    CoreClass,
    CountedCore,
    Facts,
    Limits,
    NotInstalled,
    complaint_in,
    hear,
    hint_in,
    read,
)

TRIAL = Limits(start_s=120.0, silence_s=120.0, most_s=120.0, most_B=2**20)
"""It reads the sources and compiles the emulator's plugin once."""

WRONG_USAGE, UNKNOWN, MISSING = 2, 3, 10
"""Exit codes of the probe's verb `board`: of an older probe that has none too; what nobody knows; what is missing."""

EMPTY_PLAN = {"kind": "plan", "schema": SCHEMA, "process": 0, "seed": 0, "cpu": None, "rounds": 0, "batch_ns": 1}


class OnCore(ABC):
    """A core of a microcontroller; `program`: this machine's probe; `counted`: the core, and what it is part of."""

    program: Path
    counted: CountedCore

    @property
    @abstractmethod
    def name(self) -> str:
        """As `--on` takes it."""

    @abstractmethod
    def _words(self, *, trial: bool) -> AbstractContextManager[list[str | Path]]:
        """The options of the verb `board`; of a `trial` nothing is carried out."""

    def facts(self) -> Facts:
        """What is true of the core.

        Raises WayError where the emulator, the board, a compiler or a target is missing, InputError where nobody knows
        the core, ProbeError where the probe can't count.
        """
        return self._facts

    @cached_property
    def _facts(self) -> Facts:
        written: list[bytes] = []
        who = f"{self.name} facts"
        text = json.dumps(EMPTY_PLAN).encode() + b"\n"
        with self._words(trial=True) as words:
            code, complaints = hear([self.program, "board", *words], text, TRIAL, written.append, who=who)
        if code:
            raise self._unfit(code, complaints)
        header = read(written, lambda lines: json.loads(lines.splitlines()[0]), code, complaints, who)
        print_of = header["fingerprint"]
        answer = {
            "model_name": print_of["hardware"]["model_name"],
            "kernel": print_of["kernel"],
            "clocks": {"counter": None},
            "sources_sha256": print_of["build"].get("sources_sha256"),
        }
        return Facts(
            probe_sha256=print_of["build"]["executable_sha256"],
            isa=print_of["build"]["isa"],
            processors=(0,),
            core_classes=(CoreClass(None, None, (0,)),),
            emulator=print_of["virtualisation"]["emulator"],
            answer=answer,
            counted=self.counted,
        )

    def push(self, file: Path) -> str:
        """The file's own path: the probe reads it there."""
        return str(file)

    def fetch(self, place: str) -> bytes:
        """Raises InputError: a core has no files."""
        raise InputError(f"{self.name}: a microcontroller has no file {place}", hint="read it on this machine")

    def start(
        self, words: Sequence[str], text: bytes, limits: Limits, take: Callable[[bytes], None], *, who: str
    ) -> tuple[int, bytes]:
        """Runs this machine's probe, as `Target.start` says: what is to be measured is carried out on the core.

        Raises InputError where it is asked for something that a core has not.
        """
        if words[0] == "catalogue":
            # Ciphers are known by the same names; what no image holds fails by its case.
            return hear([self.program, *words], text, limits, take, who=who)
        if words[0] != "measure":
            hint = "an image proves itself by its vectors before it is counted: `wattlock run mcu-quick --on ...`"
            raise InputError(f"{self.name}: a microcontroller carries out `wattlock run` alone", hint=hint)
        with self._words(trial=False) as board:
            return hear([self.program, "board", *board], text, limits, take, who=who)

    def _unfit(self, code: int, complaints: bytes) -> InputError | ProbeError | WayError:
        """The error of a probe that ended with a code, in its words."""
        why, hint = complaint_in(complaints).removeprefix("error: "), hint_in(complaints)
        if code == UNKNOWN:
            return InputError(f"{self.name}: {why}", hint=hint)
        if code == MISSING:
            return WayError(f"{self.name}: {why}", hint=hint)
        if code == WRONG_USAGE:
            why = f"this probe can't count: {why}"
        return ProbeError(f"{self.name}: {why}", hint="`make setup` builds it anew")


OLDEST_QEMU = 6
"""The first with semihosting on RISC-V (QEMU 6.0, April 2021), by which an image says what it does."""

VERSION = re.compile(r"version (\d+)\.")
CLOCK = re.compile(r"(\d+(?:\.\d+)?)\s*([kM]?)Hz")
HZ = {"": 1, "k": 10**3, "M": 10**6}


@dataclass(frozen=True)
class Emulated(OnCore):
    """One core; `program`: this machine's probe; `counted`: the core, and the part where one is named."""

    program: Path
    counted: CountedCore

    way = "qemu"

    @property
    def name(self) -> str:
        """As `--on` takes it."""
        core, part, clock_Hz, _ = self.counted
        return f"qemu:{core}" + (f"/{part}@{clock_Hz}Hz" if part else "")

    def facts(self) -> Facts:
        """As of `OnCore.facts`. Raises NotInstalled where the emulator is older than what the images need, too."""
        found = super().facts()
        major = VERSION.search(found.emulator or "")
        if major is not None and int(major[1]) < OLDEST_QEMU:
            what = f"{self.name}: {found.emulator} is too old: images need QEMU {OLDEST_QEMU}.0 or newer"
            raise NotInstalled(
                what, hint="Debian 12 has 7.2, Ubuntu 22.04 has 6.2; qemu.org says how to build a newer one"
            )
        return found._replace(at_a_time=processors())

    def _unfit(self, code: int, complaints: bytes) -> InputError | ProbeError | WayError:
        core, part, _, _ = self.counted
        if code != UNKNOWN or part is None:
            error = super()._unfit(code, complaints)
            return NotInstalled(error.message, hint=error.hint) if code == MISSING else error
        what = f"{self.name}: no part cycles of {short_title(part)}: {complaint_in(complaints).rpartition(': ')[2]}"
        return InputError(what, hint=f"--on qemu:{core} counts core cycles, which need no part")

    @contextmanager
    def _words(self, *, trial: bool) -> Iterator[list[str | Path]]:
        del trial
        core, part, clock_Hz, _ = self.counted
        if part is None:
            yield ["--qemu", core]
            return
        with as_file(PARTS.find(part).source) as file:
            yield ["--qemu", core, "--part", file, "--clock", str(clock_Hz)]


def processors() -> int:
    """How many of this machine's processors this program may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def find_emulated(where: str) -> Emulated:
    """The core of `CORE`, `CORE/PART` or `CORE/PART@CLOCK` with this machine's probe.

    Raises InputError for a part that there is not, that has another core or not this clock, ProbeError without a probe.
    """
    core, slash, place = where.partition("/")
    part, at, clock = place.partition("@")
    if "@" in core or (slash and not part):
        names = ", ".join(PARTS.names())
        hint = f"a part has a clock, as in --on qemu:{core.partition('@')[0]}/PART@16MHz; the parts are {names}"
        raise InputError(f"--on qemu:{where[:80]}: names no part", hint=hint)
    if not slash:
        return Emulated(local.find().program, CountedCore(core))
    name, found = PARTS.load(part)
    if found.core != core:
        hint = f"--on qemu:{found.core}/{name}"
        raise InputError(f"--on qemu:{where[:80]}: {short_title(name)} has the core {found.core}", hint=hint)
    clock_Hz = found.greatest_Hz
    if at:
        described = CLOCK.fullmatch(clock)
        clock_Hz = round(float(described[1]) * HZ[described[2]]) if described else 0
        if not 0 < clock_Hz <= found.greatest_Hz:
            hint = f"a clock of it is {found.greatest_Hz / 1e6:g}MHz, its greatest, or less: {name}@16MHz"
            raise InputError(f'--on qemu:{where[:80]}: "{clock}" is no clock of {short_title(name)}', hint=hint)
    return Emulated(local.find().program, CountedCore(core, name, clock_Hz))


PROBE_RS = "probe-rs"
RTT = "rtt"
BRINGS = {PROBE_RS: "install it with `cargo install probe-rs-tools --locked` (https://probe.rs)"}


@dataclass(frozen=True)
class OnBoard(OnCore):
    """One board; `program`: this machine's probe; `file`: its name or file; `port`: its serial port, or `rtt`."""

    program: Path
    counted: CountedCore
    file: str
    port: str

    way = "board"

    @property
    def name(self) -> str:
        """As `--on` takes it."""
        return f"board:{self.file}@{self.port}"

    def facts(self) -> Facts:
        """As of `OnCore.facts`. Raises WayError too where the program that flashes the board is missing."""
        facts = super().facts()
        program = _flasher(self._board)
        # On a debug probe the trial has tried it.
        if self.port != RTT and shutil.which(program) is None:
            raise WayError(f"{self.name}: {program}, which flashes it, is not installed", hint=_brings(program))
        return facts

    @property
    def _board(self) -> Board:
        return BOARDS.load(self.file)[1]

    @contextmanager
    def _words(self, *, trial: bool) -> Iterator[list[str | Path]]:
        board = self._board
        with as_file(BOARDS.find(self.file).source) as file:
            if self.port == RTT:
                yield ["--rtt", str(board.chip), "--board", file]
                return
            # A trial opens the port, and flashes nothing.
            flashed = [] if trial else ["--flash", board.flash_command]
            yield ["--serial", self.port, "--board", file, *flashed]


def missing(board: Board) -> str | None:
    """What this machine lacks to flash a board, with the command that brings it; null where nothing."""
    program = _flasher(board)
    return None if shutil.which(program) else f"{program}, which flashes it; {_brings(program)}"


def _flasher(board: Board) -> str:
    return shlex.split(board.flash_command)[0]


def _brings(program: str) -> str:
    return BRINGS.get(program, "install it, or write another flash_command into a copy of the board's file")


def find_board(where: str) -> OnBoard:
    """The board of `BOARD@PORT` or `BOARD@rtt` with this machine's probe; BOARD is a name or a file.

    Raises InputError for a board that there is not, one without a port, or without a chip for RTT; ProbeError without a
    probe.
    """
    named, _, port = where.rpartition("@")
    if not named or not port:
        example = f"board:{where[:80].strip('@') or 'nrf52840-dk'}@/dev/ttyACM0"
        hint = f"say where it hangs: --on {example}, or @{RTT} on a debug probe"
        raise InputError(f"--on board:{where[:80]}: names no board and port", hint=hint)
    name, board = BOARDS.load(named)
    if port == RTT and board.chip is None:
        hint = 'write chip = "..." into its file; `probe-rs chip list` has the names'
        raise InputError(f"--on board:{where[:80]}: {board.title} names no chip of probe-rs", hint=hint)
    return OnBoard(local.find().program, CountedCore(board.core, board.part, board.clock_Hz, name), named, port)


Size = Annotated[int, Field(gt=0)]
Register = Annotated[int, Field(ge=0, lt=2**32)]
Bits = Annotated[int, Field(ge=0, lt=2**32)]
OF_RISCV = ("sifive-e31", "esp32-c3")


class BoardMemory(Table):
    """Where flash and RAM begin and how large they are; `stack_B` of the RAM is the stack."""

    flash: Register
    flash_B: Size
    ram: Register
    ram_B: Size
    stack_B: Size

    @model_validator(mode="after")
    def _has_room(self) -> Self:
        if self.stack_B >= self.ram_B:
            raise ValueError(f"a stack of {self.stack_B} B leaves nothing of {self.ram_B} B of RAM")
        return self


class Flag(Table):
    """A flag of a register: it is up where the masked bits have the value."""

    address: Register
    mask: Bits
    value: Bits


class Uart(Table):
    """The registers of the UART, polled.

    * `has_events`: its flags are events, lowered by writing zero. `is_of_bytes`: its registers are bytes.
    """

    can_send: Flag
    send: Register
    has_byte: Flag
    receive: Register
    has_events: bool = False
    is_of_bytes: bool = False


class RegisterWrite(Table):
    """A register at the start: bits cleared, then set, then waited for until all of `wait` are set."""

    address: Register
    clear: Bits = 0
    set: Bits = 0
    wait: Bits = 0


class Board(Table):
    """A board.

    * `part`: its microcontroller, as `data/parts` and device cards name it. `chip`: the same, as probe-rs names it.
    * `emulated`: a machine of QEMU that tries a driver: its clock is no core's. `tried`: when and by whom, or not.
    * `clock_Hz`: of the core, behind the `start`. `clock`: what counts its cycles.
    * `payload_B`: the longest that fits into the RAM. `boot`: what the part wants in front of the image.
    * `flash_command`: in the words of a shell; `{elf}` is the image.
    """

    title: Text
    core: Core
    part: Text | None = None
    chip: Text | None = None
    emulated: bool
    tried: Text
    clock_Hz: Size
    clock: Literal["dwt", "systick", "mcycle"]
    baud: Size
    payload_B: Size
    boot: Literal["rp2040-w25q080"] | None = None
    flash_command: Text
    source: Text
    memory: BoardMemory
    uart: Uart
    start: list[RegisterWrite] = Field(default=[])

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.clock == "mcycle") != (self.core in OF_RISCV):
            raise ValueError(f"{self.core} has no clock {self.clock}")
        if self.clock == "dwt" and self.core in {"cortex-m0", "cortex-m0plus"}:
            raise ValueError(f"{self.core} has no DWT counter of cycles: systick")
        if "{elf}" not in self.flash_command:
            raise ValueError("flash_command does not name the image, {elf}")
        if self.part is not None and PARTS.load(self.part)[1].core != self.core:
            raise ValueError(f"{self.part} has no {self.core}")
        return self


BOARDS = Shelf("board", "boards", "boards", Board)
