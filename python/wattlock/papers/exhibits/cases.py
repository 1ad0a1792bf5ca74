"""The cases of a run as exhibits draw them: chosen by factors, named, in the papers' units."""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl

from wattlock.papers.exhibits.shown import Row, frame
from wattlock.papers.judges.implementations import ERA, KEY_BITS, SHORT, kind_of, library, place_of

NAMES = {"aes": "AES", "des": "DES", "3des": "3DES", "rc2": "RC2", "rc4": "RC4", "rc6": "RC6", "blowfish": "Blowfish"}
NAMES |= {"cast": "CAST", "idea": "IDEA", "none": "plaintext", "xor": "XOR", "rijndael": "Rijndael"}
SIX = ("aes", "des", "3des", "rc2", "blowfish", "rc6")
"""The ciphers of the rankings."""
PLAIN = {"keying": "ready", "encoding": "raw", "placement": "hot", "pattern": "independent", "readiness": "steady"}
DRAWN = ("resolved", "unresolved")


class Quantity(NamedTuple):
    """A quantity of the papers: its title with the unit, and in SI where that is another one."""

    unit: str
    words: str
    more_is_better: bool = False
    evidence: str = "time_evidence"


QUANTITIES = {
    "time_ms": Quantity("time, ms (10⁻³ s)", "time"),
    "cpu_time_ms": Quantity("CPU time, ms (10⁻³ s)", "CPU time"),
    "throughput_MB_s": Quantity("throughput, MB/s (10⁶ B/s)", "throughput", more_is_better=True),
    "throughput_KB_s": Quantity("throughput, KB/s (10³ B/s)", "throughput", more_is_better=True),
    "energy_uJ_per_byte": Quantity("energy, µJ/byte (10⁻⁶ J/B)", "energy", evidence="energy_evidence"),
    "energy_uJ": Quantity("energy, µJ (10⁻⁶ J)", "energy", evidence="energy_evidence"),
}


def chosen(estimates: pl.DataFrame, **factors: Any) -> pl.DataFrame:
    """The cases with a number and these factors; the plain level of each that is not given."""
    wanted = {**PLAIN, **factors}
    parts = [
        pl.col(name).is_in(value) if isinstance(value, list | tuple) else pl.col(name) == value
        for name, value in wanted.items()
    ]
    rows = estimates.filter(pl.col("state").is_in(DRAWN), pl.col("time_ns").is_not_null(), *parts)
    return rows.filter(pl.col("mode").is_in(["cbc", "stream"])) if "mode" not in factors else rows


def of_the_rankings(rows: pl.DataFrame) -> pl.DataFrame:
    """Of each family the key that the papers have."""
    return rows.filter(pl.col("key_bits") == pl.col("family").replace_strict(KEY_BITS, default=-1))


def variant(row: Row) -> str:
    """Whose code a case is: its library, and of which kind where that is not software of the papers' era."""
    kind = kind_of(row)
    name = library(str(row["provider"]))
    return name if kind == ERA else f"{name}, {SHORT[kind]}"


def one_library(rows: pl.DataFrame) -> pl.DataFrame:
    """Software of the papers' era of the library that has most of the ciphers, a row a cipher, size and data.

    Of libraries that have as many what is built in comes first; `library` is its name.
    """
    best: dict[str, dict[tuple[Any, ...], Row]] = {}
    for row in sorted(rows.iter_rows(named=True), key=place_of):
        if kind_of(row) == ERA:
            name = library(str(row["provider"]))
            key = tuple(row[one] for one in ("cipher", "payload_B", "data", "encoding"))
            best.setdefault(name, {}).setdefault(key, row | {"library": name})
    own = max(best.values(), key=lambda cases: len({cipher for cipher, *_ in cases}), default={})
    return pl.DataFrame(list(own.values()), schema=rows.schema | {"library": pl.String})


def amount(row: Row, quantity: str) -> dict[str, Any]:
    """`value, low, high, evidence` of a case in one quantity; nulls where it has none."""
    time = tuple(row[f"time{side}_ns"] for side in ("", "_low", "_high"))
    size = row["payload_B"]
    if quantity == "time_ms":
        found = tuple(one / 1e6 for one in time)
    elif quantity == "cpu_time_ms":
        found = (row["cpu_ns"] / 1e6, None, None)
    elif quantity.startswith("throughput"):
        per = 1e3 if quantity.endswith("MB_s") else 1e6
        found = (per * size / time[0], per * size / time[2], per * size / time[1])
    else:
        stem = "_per_byte" if quantity.endswith("per_byte") else ""
        found = tuple(row[f"energy{side}_uJ{stem}"] for side in ("", "_low", "_high"))
    evidence = row[QUANTITIES[quantity].evidence]
    return {**dict(zip(("value", "low", "high"), found, strict=True)), "evidence": evidence}


def drawn(rows: pl.DataFrame, quantity: str, x: str | None = None) -> pl.DataFrame:
    """The cases as rows of a panel, by cipher family and library; those without the quantity left out.

    Of two codes of one library and kind the one that decides is drawn, as the judges have it.
    """
    made: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in sorted(rows.iter_rows(named=True), key=place_of):
        name, whose = NAMES.get(row["family"], row["family"].upper()), variant(row)
        found = {"name": name, "variant": whose, "x": float(row[x]) if x else None, **amount(row, quantity)}
        key = tuple(row[one] for one in ("cipher", "payload_B", "data", "encoding"))
        if found["value"] is not None:
            made.setdefault((*key, whose), found)
    return frame(list(made.values()))


def lacking(rows: pl.DataFrame, families: tuple[str, ...], what: str) -> tuple[str, ...]:
    """Which families have no case."""
    without = [NAMES.get(one, one) for one in families if one not in rows["family"].to_list()]
    return (f"{', '.join(without)}: {what}",) if without else ()


def number(value: float) -> str:
    """Three significant digits, for a sentence."""
    if value == 0:
        return "0"
    return f"{float(f'{value:.3g}'):,.{max(0, 2 - _exponent(value))}f}"


def _exponent(value: float) -> int:
    return int(f"{value:e}".partition("e")[2])


def sentence(words: str) -> str:
    """Words with a capital at their start."""
    return words[:1].upper() + words[1:]
