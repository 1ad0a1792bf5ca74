"""A board that hangs on this machine: `board:BOARD@PORT` on a serial port, `board:BOARD@rtt` on a debug probe.

This machine's probe builds each image for the board, brings it there by the board's own command, and reads the board's
counter of cycles.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import as_file
from pathlib import Path

from wattlock.errors import InputError, WayError
from wattlock.targets import local
from wattlock.targets.boards import BOARDS, Board
from wattlock.targets.facts import CountedCore, Facts
from wattlock.targets.on_core import OnCore

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


def find(where: str) -> OnBoard:
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
