"""Boards: memory, UART, clock and start of each, as an image for it is built, and how the image gets onto it.

`crates/probe` reads the same files. `board:BOARD@PORT` and `board:BOARD@rtt` name one as a target.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from wattlock.definitions.shelf import Shelf
from wattlock.definitions.table import Table, Text
from wattlock.targets.parts import PARTS, Core

Size = Annotated[int, Field(gt=0)]
Register = Annotated[int, Field(ge=0, lt=2**32)]
Bits = Annotated[int, Field(ge=0, lt=2**32)]
OF_RISCV = ("sifive-e31", "esp32-c3")


class Memory(Table):
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


class Step(Table):
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
    memory: Memory
    uart: Uart
    start: list[Step] = Field(default=[])

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
