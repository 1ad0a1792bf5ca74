"""The probes that are pushed to devices: one static program an instruction set, built by `make probes`."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from pathlib import Path

from wattlock.errors import InputError, ProbeError
from wattlock.targets import local

TARGETS = {
    "x86_64": "x86_64-unknown-linux-musl",
    "aarch64": "aarch64-unknown-linux-musl",
    "armv7l": "armv7-unknown-linux-gnueabihf",
    "armv8l": "armv7-unknown-linux-gnueabihf",
    "riscv64": "riscv64gc-unknown-linux-gnu",
}
"""What a probe is built for, by what the device's system calls its machine."""

VARIABLE = "WATTLOCK_PROBES"
BUILT = Path("build") / "probes"


def fitting(machine: str) -> Iterator[Path]:
    """The probes that may run on a machine, the best first.

    This machine's own one is the best where the other one is of its kind: it opens the device's libraries, which a
    static probe can't. Where the other system is too old for it the static one follows.

    * `machine`: as `uname -m` tells.

    Raises InputError where there is none.
    """
    found = False
    if machine == platform.machine():
        try:
            yield local.find().program
            found = True
        except ProbeError:
            pass  # the static one is left
    for folder in _folders():
        program = folder / TARGETS.get(machine, machine) / local.NAME
        if program.is_file():
            yield program
            return
    if not found:
        places = " and ".join(str(folder) for folder in _folders())
        hint = f"`make probes` builds those of {', '.join(dict.fromkeys(TARGETS))}; {VARIABLE} names another folder"
        raise InputError(f"no probe for {machine[:80]} in {places}", hint=hint)


def _folders() -> list[Path]:
    named = os.environ.get(VARIABLE)
    package = Path(__file__).parents[1]
    return [Path(named)] if named else [package / "data" / "probes", package.parents[1] / BUILT, BUILT.absolute()]
