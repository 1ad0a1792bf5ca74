"""Every implementation of the catalogue beside the libraries' own benchmarks: `python benchmarks/ciphers.py`.

All contenders take turns in one run, in an order that is shuffled for each round; README.md beside this file says what
is compared and how to read it. Nothing is asserted: ratios stand beside aims.
"""

from __future__ import annotations

import argparse
import html
import math
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import engine_process
from engine_process import Machine

from wattlock.analysis import within
from wattlock.errors import WattlockError
from wattlock.targets import local, probe

SIZES_B = (16 * 1024, 64)
CASES_A_PROCESS = 60
SPEED_S, BOTAN_MS, CRYPTOPP_S = 1, 300, 0.1
"""What a peer's own tool may take for one figure."""
CRYPTOPP_B = 2048
"""The message of Crypto++'s benchmark."""
AIM = 1.02
AIM_CRYPTOPP = 1.25


@dataclass(frozen=True)
class Row:
    """One operation of one cipher, and what the peers' tools call it; empty where they have none."""

    cipher: str
    operation: str = "encrypt"
    openssl: str = ""
    botan: str = ""
    cryptopp: str = ""

    def __str__(self) -> str:
        return f"{self.cipher} {self.operation}"


LEGACY = ("des-cbc", "rc2-cbc", "bf-cbc", "cast5-cbc", "rc4")
ROWS = (
    Row("aes128-cbc", "encrypt", "aes-128-cbc", "AES-128/CBC/NoPadding", "AES/CBC (128-bit key)"),
    Row("aes128-cbc", "decrypt", "aes-128-cbc", "AES-128/CBC/NoPadding"),
    Row("aes128-ctr", "encrypt", "aes-128-ctr", "AES-128/CTR-BE", "AES/CTR (128-bit key)"),
    Row("aes256-cbc", "encrypt", "aes-256-cbc", "AES-256/CBC/NoPadding", "AES/CBC (256-bit key)"),
    Row("des-cbc", "encrypt", "des-cbc", "DES/CBC/NoPadding"),
    Row("des-cbc", "decrypt", "des-cbc", "DES/CBC/NoPadding"),
    Row("des-ctr", "encrypt", "", "DES/CTR-BE", "DES/CTR (64-bit key)"),
    Row("3des-cbc", "encrypt", "des-ede3-cbc", "TripleDES/CBC/NoPadding"),
    Row("3des-ctr", "encrypt", "", "TripleDES/CTR-BE", "DES-EDE3/CTR (192-bit key)"),
    Row("rc2-128-cbc", "encrypt", "rc2-cbc"),
    Row("rc2-128-ctr"),
    Row("rc4-128", "encrypt", "rc4", "RC4"),
    Row("rc5-32-12-128-cbc"),
    Row("rc5-32-12-128-cbc", "decrypt"),
    Row("rc5-32-12-128-ctr"),
    Row("rc5-32-16-128-ctr", "encrypt", "", "", "RC5 (r=16)"),
    Row("rc6-20-128-cbc"),
    Row("rc6-20-128-cbc", "decrypt"),
    Row("rc6-20-128-ctr", "encrypt", "", "", "RC6/CTR (128-bit key)"),
    Row("blowfish128-cbc", "encrypt", "bf-cbc", "Blowfish/CBC/NoPadding"),
    Row("blowfish128-ctr", "encrypt", "", "Blowfish/CTR-BE", "Blowfish/CTR (128-bit key)"),
    Row("cast128-cbc", "encrypt", "cast5-cbc", "CAST-128/CBC/NoPadding"),
    Row("cast128-ctr", "encrypt", "", "CAST-128/CTR-BE", "CAST-128/CTR (128-bit key)"),
    Row("idea-cbc", "encrypt", "", "IDEA/CBC/NoPadding"),
    Row("idea-ctr", "encrypt", "", "IDEA/CTR-BE", "IDEA/CTR (128-bit key)"),
    Row("camellia128-ctr", "encrypt", "camellia-128-ctr", "Camellia-128/CTR-BE", "Camellia/CTR (128-bit key)"),
    Row("twofish256-ctr", "encrypt", "", "Twofish/CTR-BE"),
    Row("serpent256-ctr", "encrypt", "", "Serpent/CTR-BE"),
    Row("sm4-ctr", "encrypt", "sm4-ctr", "SM4/CTR-BE", "SM4/CTR (128-bit key)"),
    Row("speck128-256-ctr", "encrypt", "", "", "SPECK-128(256)/CTR (256-bit key)"),
    Row("xtea-ctr", "encrypt", "", "XTEA/CTR-BE", "XTEA/CTR (128-bit key)"),
    Row("chacha20", "encrypt", "chacha20", "ChaCha(20)"),
    Row("salsa20", "encrypt", "", "Salsa20"),
    Row("rijndael256-256-cbc"),
    Row("rijndael256-256-cbc", "decrypt"),
    Row("rijndael256-256-ecb"),
    Row("aes128-gcm", "seal", "aes-128-gcm", "AES-128/GCM", "AES/GCM"),
    Row("aes128-ccm8", "seal", "", "AES-128/CCM(8)"),
    Row("aes128-ccm", "seal", "aes-128-ccm", "AES-128/CCM", "AES/CCM (128-bit key)"),
    Row("aes128-ocb3", "seal", "aes-128-ocb", "AES-128/OCB"),
    Row("aes128-eax", "seal", "", "AES-128/EAX", "AES/EAX (128-bit key)"),
    Row("aes128-gcm-siv", "seal"),
    Row("chacha20-poly1305", "seal", "chacha20-poly1305", "ChaCha20Poly1305", "ChaCha20/Poly1305 (256-bit key)"),
    Row("xchacha20-poly1305", "seal", "", "", "XChaCha20/Poly1305 (256-bit key)"),
    Row("ascon-aead128", "seal"),
)


@dataclass(frozen=True)
class Aim:
    """What one way of the code is to reach, cycles a byte of 16 KiB."""

    row: Row
    path: str
    most: float


AIMS = (
    Aim(Row("rijndael256-256-cbc"), "vaes", 4.0),
    Aim(Row("rijndael256-256-cbc"), "aesni", 5.6),
    Aim(Row("rijndael256-256-cbc", "decrypt"), "vaes", 0.35),
    Aim(Row("rijndael256-256-ecb"), "vaes", 0.35),
    Aim(Row("rc5-32-12-128-ctr"), "avx512", 0.6),
    Aim(Row("rc6-20-128-ctr"), "avx512", 1.1),
    Aim(Row("rc2-128-ctr"), "avx512", 1.2),
)

Figures = dict[tuple[str, str, int], list[float]]
"""Cycles a byte of all rounds, by contender, row and size."""


@dataclass(frozen=True)
class Contender:
    """Something that gives figures, once a round."""

    name: str
    measure: Callable[[Machine, Figures], None]


def plan_of(chunk: Sequence[tuple[Row, str, int]]) -> list[engine_process.Timed]:
    """The cases of some rows of some providers."""
    return [engine_process.Timed(row.cipher, provider, row.operation, size_B) for row, provider, size_B in chunk]


def engine(chunk: Sequence[tuple[Row, str, int]]) -> Contender:
    """One process of the engine over some rows of some providers."""

    def measure(machine: Machine, figures: Figures) -> None:
        header, batches = engine_process.measure(plan_of(chunk), machine)
        if batches.is_empty():
            return
        found = within.summarise(batches, header, machine.quiet_ppm)
        for described in found.iter_rows(named=True):
            row, provider, size_B = chunk[described["case"]]
            cycles = math.exp(described["log_canaries"]) * header["canary_cycles"]
            figures.setdefault((f"wattlock: {provider}", str(row), size_B), []).append(cycles / size_B)

    return Contender("engine", measure)


def _said(words: Sequence[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def openssl_speed(row: Row, size_B: int) -> Contender:
    """`openssl speed` of one cipher; user time, as it is by default."""
    legacy = ["-provider", "legacy", "-provider", "default"] if row.openssl in LEGACY else []
    ways = ["-decrypt"] if row.operation == "decrypt" else []
    words = ["openssl", "speed", "-mr", "-seconds", str(SPEED_S), "-bytes", str(size_B), *ways, *legacy]

    def measure(machine: Machine, figures: Figures) -> None:
        for line in _said([*words, "-evp", row.openssl]).splitlines():
            if line.startswith("+F:") and (speed := float(line.rsplit(":", 1)[1])) > 0:
                figures.setdefault(("openssl speed", str(row), size_B), []).append(machine.hertz / speed)

    return Contender("openssl speed", measure)


def botan_speed(row: Row, size_B: int) -> Contender:
    """`botan speed` of one cipher."""
    way = "decrypt" if row.operation == "decrypt" else "encrypt"

    def measure(machine: Machine, figures: Figures) -> None:
        said = _said(["botan", "speed", f"--msec={BOTAN_MS}", f"--buf-size={size_B}", row.botan])
        found = re.search(rf" {way} buffer size {size_B} bytes: ([0-9.]+) MiB/sec", said)
        # A key stream encrypts only.
        found = found or re.search(rf" (?:encrypt|bytes)? ?buffer size {size_B} bytes: ([0-9.]+) MiB/sec", said)
        if found:
            speed = float(found[1]) * 2**20
            figures.setdefault(("botan speed", str(row), size_B), []).append(machine.hertz / speed)

    return Contender("botan speed", measure)


def cryptopp_bench(all_rows: Sequence[Row]) -> Contender:
    """Crypto++'s benchmark of all its ciphers with a shared key: messages of 2 KiB, beside ours of 16 KiB."""
    rows = {row.cryptopp: row for row in all_rows if row.cryptopp}

    def measure(machine: Machine, figures: Figures) -> None:
        for line in _said(["cryptest", "b2", str(CRYPTOPP_S), "1.0"]).splitlines():
            cases = html.unescape(line.removeprefix("<TR><TD>")).split("<TD>")
            if len(cases) > 2 and cases[0] in rows and cases[2].isdigit() and int(cases[2]) > 0:
                figure = machine.hertz / (float(cases[2]) * 2**20)
                figures.setdefault(("cryptest", str(rows[cases[0]]), SIZES_B[0]), []).append(figure)

    return Contender("cryptest", measure)


def contenders(rows: Sequence[Row], providers: dict[str, list[str]]) -> Iterator[Contender]:
    """All that take turns in a round."""
    cases = [(row, name, size_B) for row in rows for name in providers.get(row.cipher, []) for size_B in SIZES_B]
    random.shuffle(cases)
    for first in range(0, len(cases), CASES_A_PROCESS):
        yield engine(cases[first : first + CASES_A_PROCESS])
    for row in rows:
        for size_B in SIZES_B:
            if row.openssl and shutil.which("openssl"):
                yield openssl_speed(row, size_B)
            if row.botan and shutil.which("botan"):
                yield botan_speed(row, size_B)
    if shutil.which("cryptest"):
        yield cryptopp_bench(rows)


def best(figures: Figures, row: Row, size_B: int, ours: bool) -> tuple[float, str] | None:
    """The least of the contenders' fastest rounds, and whose it is."""
    mine = [
        (min(values), name.removeprefix("wattlock: "))
        for (name, label, size), values in figures.items()
        if label == str(row) and size == size_B and name.startswith("wattlock: ") == ours and name != "cryptest"
    ]
    return min(mine, default=None)


def without_fixed_cost(figures: Figures) -> Figures:
    """The peers' figures as they are; ours of the large message as the cost of one more byte.

    A peer's tool sets no IV and ends no message, or does so for 16 KiB at most once.
    """
    large_B, small_B = SIZES_B
    slopes = Figures()
    for (name, label, size_B), values in figures.items():
        small = figures.get((name, label, small_B))
        if name.startswith("wattlock: ") and size_B == large_B and small:
            more = min(values) * large_B - min(small) * small_B
            slopes[(name, label, size_B)] = [more / (large_B - small_B)]
        else:
            slopes[(name, label, size_B)] = values
    return slopes


def show(rows: Sequence[Row], messages: Figures, machine: Machine) -> None:
    """Prints the rows, then the aims."""
    figures = without_fixed_cost(messages)
    for size_B in SIZES_B:
        what = "one byte more in a message" if size_B == SIZES_B[0] else "whole messages"
        print(f"\n{size_B} B, cycles a byte, {what}: the fastest of the rounds")
        print(
            f"{'':30}{'best here':>10}  {'of':16}{'peer tool':>10}  {'of':14}{'ratio':>7}{'Crypto++':>10}{'ratio':>7}"
        )
        for row in rows:
            here, peer = best(figures, row, size_B, ours=True), best(figures, row, size_B, ours=False)
            if here is None:
                print(f"{row!s:30}{'none':>10}")
                continue
            line = f"{row!s:30}{here[0]:10.3f}  {here[1]:16}"
            line += f"{peer[0]:10.3f}  {peer[1]:14}{here[0] / peer[0]:7.2f}" if peer else " " * 33
            plus = figures.get(("cryptest", str(row), size_B))
            print(line + (f"{min(plus):10.3f}{here[0] / min(plus):7.2f}" if plus else ""))
    print(f"\naims: a ratio of at most {AIM} to a peer with a C interface, {AIM_CRYPTOPP} to Crypto++ in DES and CAST")
    for aim in AIMS:
        ways = {name: way for (cipher, name), way in machine.paths.items() if cipher == aim.row.cipher}
        for name, way in ways.items():
            values = messages.get((f"wattlock: {name}", str(aim.row), SIZES_B[0]))
            if way.startswith(aim.path) and values:
                print(f"{aim.row!s:30}{min(values):10.3f}  {name} {way}, aim {aim.most}")
    slow = figures.get(("wattlock: libmcrypt", "rijndael256-256-cbc encrypt", SIZES_B[0]))
    fast = best(figures, Row("rijndael256-256-cbc"), SIZES_B[0], ours=True)
    if slow and fast:
        print(f"rijndael256-256-cbc encrypt: libmcrypt takes {min(slow) / fast[0]:.1f} times as long, aim 4")
    for what, error in machine.refused.items():
        print(f"not measured: {what}: {error}", file=sys.stderr)


def main() -> int:
    """Measures all contenders so many rounds."""
    parser = argparse.ArgumentParser(description="Every implementation of the catalogue beside the peers' own tools.")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="of all contenders (3)")
    parser.add_argument("--only", default="", metavar="TEXT", help="ciphers whose id contains it")
    requested = parser.parse_args()
    rows = [row for row in ROWS if requested.only in row.cipher]
    wanted = {row.cipher for row in rows}
    catalogue = probe.ask(local.find(), "catalogue", "--format", "json", "--cipher", *wanted)
    providers: dict[str, list[str]] = {}
    for described in catalogue:
        if described.get("available"):
            providers.setdefault(described["id"], []).append(described["provider"])
    machine, figures = Machine(), Figures()
    engine_process.measure(
        plan_of([(Row("aes128-cbc"), "rustcrypto", 64)]), machine
    )  # the clock, before anybody needs it
    for number in range(requested.rounds):
        turns = list(contenders(rows, providers))
        random.shuffle(turns)
        for turn, contender in enumerate(turns):
            if sys.stderr.isatty():
                print(f"\rround {number + 1} of {requested.rounds}: {turn} of {len(turns)}  ", end="", file=sys.stderr)
            contender.measure(machine, figures)
    print(f"{machine.model}, {machine.hertz / 1e9:.2f} GHz, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC")
    show(rows, figures, machine)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except WattlockError as error:
        sys.exit(f"error: {error}\nhint: {error.hint}")
