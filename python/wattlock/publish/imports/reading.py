"""Reads a file of others, whichever of the known formats it has."""

from collections.abc import Sequence
from pathlib import Path

from wattlock.errors import InputError
from wattlock.publish.imports import lwc, pqm4, supercop
from wattlock.publish.imports.figures import PublishedSet
from wattlock.study.inputs import sha256

READERS = {"supercop": supercop.read, "lwc": lwc.read, "pqm4": pqm4.read}
STATISTICS = {"supercop": "median", "lwc": "one measurement", "pqm4": "mean"}
LARGEST_B = 2**28
LOOKED_AT = 1000
"""Lines by which the format of a file is told."""


def detected(lines: Sequence[str]) -> str | None:
    """The format that a file has; null where it is none of the known ones."""
    first = lines[0] if lines else ""
    if first.startswith(lwc.FIRST):
        return "lwc"
    if first.startswith(pqm4.FIRST):
        return "pqm4"
    return "supercop" if any(supercop.FIRST.match(line) for line in lines[:LOOKED_AT]) else None


def read(path: Path, *, form: str | None, source: str, machine: str, unit: str | None) -> PublishedSet:
    """The figures of a file as a set.

    * `form`: of `READERS`, null to detect it; `unit`: `cycles` or `us`, needed where the format doesn't say it.

    Raises InputError where the file has no known format, no figure, or isn't whole.
    """
    if path.stat().st_size > LARGEST_B:
        raise InputError(f"{path}: has more than {LARGEST_B >> 20} MiB", hint="keep the lines that you need of it")
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    form = form or detected(lines)
    if form is None:
        hint = "it reads SUPERCOP's data, NIST's LWC benchmarks and pqm4's benchmarks.csv or .md; --format names one"
        raise InputError(f"{path}: has none of the known formats", hint=hint)
    if unit is None and form == "lwc":
        hint = "name it: --unit us for the AVR boards (uno, nano_every), --unit cycles for the others"
        raise InputError(f"{path}: the file doesn't say whether it has cycles or microseconds", hint=hint)
    if unit == "us" and form != "lwc":
        raise InputError(f"--unit us: files of {form} have cycles", hint="leave it out")
    figures = list(READERS[form](lines, str(path)))
    if not figures:
        raise InputError(f"{path}: has no figure", hint="is it the whole file?")
    return PublishedSet.model_validate(
        {
            "format": form,
            "source": source,
            "machine": machine,
            "file": path.name,
            "sha256": sha256(path),
            "unit": unit or "cycles",
            "statistic": STATISTICS[form],
            "figures": figures,
        }
    )
