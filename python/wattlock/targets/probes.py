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

COMPILERS = {
    "armv7-unknown-linux-gnueabihf": "gcc-arm-linux-gnueabihf",
    "riscv64gc-unknown-linux-gnu": "gcc-riscv64-linux-gnu",
}
"""Debian's package of the cross compiler that links a probe; the others are linked by what Rust brings."""

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
        raise InputError(f"no probe for {machine[:80]} in {places}", hint=_how_to_build(machine))


def _how_to_build(machine: str) -> str:
    """The command that builds a machine's probe, or for which machines there is one."""
    target = TARGETS.get(machine)
    if target is None:
        return f"there are probes for {', '.join(TARGETS)}; {VARIABLE} names the folder of another, in {machine[:80]}/"
    needs = [
        f"`rustup target add {target}`",
        *(f"Debian's {package}" for package in [COMPILERS.get(target)] if package),
    ]
    build = (
        f"in wattlock's source `make probes PROBES={target}` builds it into {BUILT} (it needs {' and '.join(needs)})"
    )
    return f"{build}; {VARIABLE} names that folder elsewhere"


def _folders() -> list[Path]:
    named = os.environ.get(VARIABLE)
    package = Path(__file__).parents[1]
    usual = package / "data" / "probes", package.parents[1] / BUILT, BUILT.absolute()
    return [Path(named)] if named else list(dict.fromkeys(usual))
