"""What the engine's entry adds to a call: a provider's small message beside a bare loop over the same library."""

from __future__ import annotations

import random
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import engine_process
from engine_process import Machine, Timed

from wattlock.analysis import within

SOURCE = Path(__file__).with_name("direct_loop.c")
MESSAGE_B = 14
ROUNDS = 7
AIM_SHARE, AIM_NS = 0.10, 1.0
OTHERS = {"libsodium": "chacha20"}
"""The cipher of a library that has no AES-128 in CBC."""
LIBRARIES = ("openssl", "libgcrypt", "nettle", "botan", "libtomcrypt", "libmcrypt", "libsodium", "wolfssl")
"""Providers, by the names that the catalogue has for them."""


def show(rows: Sequence[dict[str, Any]], machine: Machine) -> None:
    """Prints a line a library: nanoseconds of a call by the engine and by the loop, the fastest of the rounds."""
    compiler = shutil.which("cc")
    if compiler is None:
        print("\nno comparison with a direct loop: there is no program cc on PATH")
        return
    print(f"\n{MESSAGE_B} B, ns a call, beside a loop in C over the library (aim: within 10 % or 1 ns)")
    with tempfile.TemporaryDirectory(prefix="wattlock-direct-") as folder:
        program = Path(folder) / "direct_loop"
        subprocess.run([compiler, "-O2", "-o", program, SOURCE, "-ldl"], check=True)
        for name in LIBRARIES:
            cipher = OTHERS.get(name, "aes128-cbc")
            file = next((row["file"] for row in rows if (row["id"], row.get("provider")) == (cipher, name)), None)
            if file:
                _compare(program, name, cipher, file, machine)
            else:
                print(f"{name:12}{cipher:12}is not on this machine")


def _compare(program: Path, name: str, cipher: str, file: str, machine: Machine) -> None:
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(ROUNDS):
        for turn in random.sample(["ours", "theirs"], 2):
            if turn == "ours":
                ours.extend(_engine(name, cipher, machine))
            else:
                theirs.extend(_loop(program, name, file))
    if not ours or not theirs:
        print(f"{name:12}no figure")
        return
    here, loop = min(ours), min(theirs)
    fine = here - loop <= max(AIM_NS, AIM_SHARE * loop)
    word = "" if fine else "  missed"
    print(f"{name:12}{cipher:12}{here:9.2f}{loop:9.2f}  {here - loop:+6.2f} ns {here / loop:6.3f}{word}")


def _engine(name: str, cipher: str, machine: Machine) -> list[float]:
    header, batches = engine_process.measure([Timed(cipher, name, "encrypt", MESSAGE_B)], machine)
    if batches.is_empty():
        return []
    return list(within.summarise(batches, header, machine.quiet_ppm)["wall_ns"])


def _loop(program: Path, name: str, file: str) -> list[float]:
    done = subprocess.run([program, name, file, str(MESSAGE_B)], capture_output=True, text=True, check=False)
    return [float(done.stdout)] if done.returncode == 0 else []
