"""What the engine's entry adds to a call: a provider's small message beside a bare loop over the same library.

`make bench-calls`, or `python benchmarks/direct.py [--only TEXT]`.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import engine_process
from engine_process import Machine, Timed

from wattlock.analysis import within
from wattlock.targets import local, probe

SOURCE = Path(__file__).with_name("direct_loop.c")
MESSAGES_B = (14, 64)
ROUNDS = 7
AIM_SHARE, AIM_NS = 0.10, 1.0
CIPHERS = ("aes128-cbc", "aes128-ctr", "des-cbc", "rc4-128", "chacha20")
"""Those that the loop knows."""
LIBRARIES = ("openssl", "libgcrypt", "nettle", "botan", "libtomcrypt", "libmcrypt", "libsodium", "wolfssl")
"""Providers, by the names that the catalogue has for them."""


def main() -> None:
    """Prints a line a library, cipher and size: nanoseconds of a call by engine and loop, the fastest of the rounds."""
    parser = argparse.ArgumentParser(description="A small call by the engine beside a bare loop in C.")
    parser.add_argument("--only", default="", metavar="TEXT", help="libraries and ciphers whose name contains it")
    only = parser.parse_args().only
    compiler = shutil.which("cc")
    if compiler is None:
        sys.exit("error: there is no program cc on PATH")
    rows = probe.ask(local.find(), "catalogue", "--format", "json", "--cipher", *CIPHERS)
    files = {(row["id"], row["provider"]): row["file"] for row in rows if row.get("available")}
    machine = Machine()
    print("ns a call, beside a loop in C over the library (aim: within 10 % or 1 ns)")
    with tempfile.TemporaryDirectory(prefix="wattlock-direct-") as folder:
        program = Path(folder) / "direct_loop"
        subprocess.run([compiler, "-O2", "-o", program, SOURCE, "-ldl"], check=True)
        for name, cipher in product(LIBRARIES, CIPHERS):
            if (cipher, name) not in files or (only not in name and only not in cipher):
                continue
            for message_B in MESSAGES_B:
                _compare(program, files[cipher, name], Timed(cipher, name, "encrypt", message_B), machine)


def _compare(program: Path, file: str, timed: Timed, machine: Machine) -> None:
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(ROUNDS):
        for turn in random.sample(["ours", "theirs"], 2):
            if turn == "ours":
                ours.extend(_engine(timed, machine))
            else:
                theirs.extend(_loop(program, file, timed))
    if not ours or not theirs:
        print(f"{timed.provider:12}{timed.cipher:12}{timed.payload_B:4}  no figure")
        return
    here, loop = min(ours), min(theirs)
    fine = here - loop <= max(AIM_NS, AIM_SHARE * loop)
    word = "" if fine else "  missed"
    name = f"{timed.provider:12}{timed.cipher:12}{timed.payload_B:4}"
    print(f"{name}{here:9.2f}{loop:9.2f}  {here - loop:+6.2f} ns {here / loop:6.3f}{word}", flush=True)


def _engine(timed: Timed, machine: Machine) -> list[float]:
    header, batches = engine_process.measure([timed], machine)
    if batches.is_empty():
        return []
    return list(within.summarise(batches, header, machine.quiet_ppm)["wall_ns"])


def _loop(program: Path, file: str, timed: Timed) -> list[float]:
    words = [str(program), timed.provider, file, timed.cipher, str(timed.payload_B)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return [float(done.stdout)] if done.returncode == 0 else []


if __name__ == "__main__":
    main()
