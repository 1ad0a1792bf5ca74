"""Result files of others (SUPERCOP, NIST's LWC, pqm4) as a set of published figures, or refused by line."""

import csv
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import quantiles
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError

from wattlock.definitions.toml import Table, Text
from wattlock.errors import InputError
from wattlock.study.cases import sha256

LARGEST_SET_B = 2**26

Count = Annotated[int, Field(ge=0)]
Number = Annotated[float, Field(gt=0)]


class ImportedFigure(Table):
    """One published figure: what one call took, in the unit of its set.

    * `cipher`, `implementation`, `operation`: as their authors call them; `build`: compiler or flags, where told.
    * `low`, `high`: quartiles beside a median, the least and the greatest beside a mean. `count`: of measurements.
    """

    cipher: Text
    implementation: Text
    operation: Text
    build: str | None = None
    payload_B: Count | None = None
    aad_B: Count | None = None
    value: Number
    low: Number | None = None
    high: Number | None = None
    count: Count | None = None


class PublishedSet(Table):
    """The figures of one file, with where they come from.

    * `source`: where the file was published; `file`, `sha256`: its name and sum; `machine`: what it was measured on.
    * `statistic`: what `value` is; `unit`: cycles, or microseconds.
    """

    format: Literal["supercop", "lwc", "pqm4"]
    source: Text
    machine: Text
    file: Text
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    unit: Literal["cycles", "us"]
    statistic: Literal["median", "mean", "one measurement"]
    evidence: Literal["published"] = "published"
    figures: Annotated[list[ImportedFigure], Field(min_length=1)]

    @classmethod
    def read(cls, path: Path) -> Self:
        """A set that `write` wrote. Raises InputError where the file is none."""
        try:
            with path.open("rb") as file:
                content = file.read(LARGEST_SET_B + 1)
            if len(content) > LARGEST_SET_B:
                raise InputError(
                    f"{path}: has more than {LARGEST_SET_B >> 20} MiB", hint="import fewer figures into it"
                )
            return cls.model_validate_json(content)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "the file"
            hint = "`wattlock import FILE --out SET.json` writes one"
            raise InputError(f"{path}: no set of published figures: {where}: {first['msg']}", hint=hint) from None

    def keeping(self, ciphers: Sequence[str], lengths_B: Sequence[int]) -> Self:
        """The figures of ciphers that a pattern names, at these lengths; all of them for none.

        Raises InputError where nothing is left.
        """
        kept = [
            figure
            for figure in self.figures
            if (not ciphers or any(fnmatchcase(figure.cipher, cipher) for cipher in ciphers))
            and (not lengths_B or figure.payload_B in lengths_B)
        ]
        if not kept:
            hint = "`wattlock import FILE` without --only and --payload-B prints all of them"
            raise InputError(f"{self.file}: none of its {len(self.figures)} figures is kept", hint=hint)
        return self.model_copy(update={"figures": kept})

    def write(self) -> bytes:
        """The set as JSON, the same bytes for the same figures."""
        return self.model_dump_json(indent=1, exclude_none=True).encode() + b"\n"


def number(text: str, where: str) -> float:
    """A printed number, thousands apart by commas or not. Raises InputError naming where it stands."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        value = -1.0
    if not 0 < value < 1e18:
        raise InputError(f"{where}: {text[:40]!r} is no number of cycles or microseconds", hint="is the file whole?")
    return value


FIRST_LWC = "submission,variant,"
OPERATIONS = {"enc": "encrypt", "dec": "decrypt", "h": "hash"}
COLUMN = re.compile(r"(?:(enc|dec)\((\d{1,9}):(\d{1,9})\)|(h)\((\d{1,9})\))")


def read_lwc(lines: Sequence[str], name: str) -> Iterator[ImportedFigure]:
    """The figures of a file; `name`: what errors call it. Raises InputError naming the line."""
    try:
        yield from _figures(csv.DictReader(lines, strict=True), name)
    except csv.Error as error:
        raise InputError(f"{name}: no table: {error}", hint="is the file whole?") from None


def _figures(rows: "csv.DictReader[str]", name: str) -> Iterator[ImportedFigure]:
    heads = [head for head in rows.fieldnames or () if COLUMN.fullmatch(head)]
    for needed in ("variant", "implementation"):
        if needed not in (rows.fieldnames or ()):
            raise InputError(f"{name}: has no column {needed}", hint="a file of benchmarks/ of that repository has it")
    for row in rows:
        where = f"{name}, line {rows.line_num}"
        if None in row or None in row.values():
            raise InputError(f"{where}: another number of columns than the head", hint="is the file whole?")
        build = row.get("config") or row.get("flag")
        for head in heads:
            if row[head].strip() not in {"-", ""}:
                yield _figure(head, row, build, where)


def _figure(head: str, row: dict[str, str], build: str | None, where: str) -> ImportedFigure:
    kind, aad_B, payload_B, hashed, hashed_B = COLUMN.fullmatch(head).groups()  # type: ignore[union-attr]
    return ImportedFigure(
        cipher=row["variant"] or "-",
        implementation=row["implementation"] or "-",
        operation=OPERATIONS[kind or hashed],
        build=build,
        payload_B=int(payload_B or hashed_B),
        aad_B=int(aad_B) if aad_B else None,
        value=number(row[head], f"{where}, {head}"),
    )


FIRST_PQM4 = ("Speed Evaluation,", "# Speed Evaluation")
SCHEME = re.compile(r"(.+?)(?: \((\d{1,9}) executions\))?")
OF_THREE = re.compile(r"AVG: ([\d,]+) <br ?/> ?MIN: ([\d,]+) <br ?/> ?MAX: ([\d,]+)")
HEAD = re.compile(r"(.+?) \[cycles\](?: \(mean\))?")


def read_pqm4(lines: Sequence[str], name: str) -> Iterator[ImportedFigure]:
    """The speeds of a file; `name`: what errors call it. Raises InputError naming the line."""
    operations: list[str] = []
    for place, line in enumerate(lines, 1):
        is_table = line.startswith("|")
        fields = [field.strip() for field in (line.strip().strip("|").split("|") if is_table else line.split(","))]
        if place > 1 and re.match(r"(?:# )?\w+ Evaluation\b", line):
            return
        if fields[0].lower() == "scheme":
            operations = [head[1].lower() for field in fields[2:] if (head := HEAD.fullmatch(field))]
        elif operations and any(fields[1:]) and not set(line) <= set("|- "):
            yield from _row(fields, operations, f"{name}, line {place}")


def _row(fields: list[str], operations: list[str], where: str) -> Iterator[ImportedFigure]:
    scheme = SCHEME.fullmatch(fields[0])
    printed = [found for field in fields[2:] if (found := OF_THREE.fullmatch(field))]
    triples = [found.groups() for found in printed] or [tuple(fields[at : at + 3]) for at in range(2, len(fields), 3)]
    if scheme is None or not fields[1] or [len(triple) for triple in triples] != [3] * len(operations):
        raise InputError(f"{where}: another number of columns than the head", hint="is the file whole?")
    for operation, (mean, least, most) in zip(operations, triples, strict=True):
        yield ImportedFigure(
            cipher=scheme[1],
            implementation=fields[1],
            operation=operation,
            value=number(mean, where),
            low=number(least, where),
            high=number(most, where),
            count=int(scheme[2]) if scheme[2] else None,
        )


FIRST_SUPERCOP = re.compile(r"2\d{7} \S+ \S+ \d+ crypto_\w+ \S+ \S+")
WORDS = 6
MEASURED = re.compile(r"-?\d{1,18}")
DIFFERENCES = re.compile(r"(?:[+-]\d{1,18})+")
AEAD, AAD_UNIT = "crypto_aead", 1_000_000

Case = tuple[str, str, str, str, str, int | None]
"""Operation, primitive, implementation, what was measured, version with ABI and compiler, and bytes."""


def read_supercop(lines: Sequence[str], name: str) -> Iterator[ImportedFigure]:
    """The median and the quartiles of every case of a file; `name`: what errors call it.

    Raises InputError naming the line.
    """
    values: dict[Case, list[float]] = {}
    implementations: dict[tuple[str, ...], str] = {}
    compilers: dict[tuple[str, ...], str] = {}
    hosts: set[str] = set()
    for place, line in enumerate(lines, 1):
        words = line.split()
        if len(words) < WORDS + 2 or not FIRST_SUPERCOP.match(line):
            continue
        build_flags, context = words[WORDS], tuple(words[:WORDS])
        if build_flags == "implementation":
            implementations[context] = words[WORDS + 1].rpartition("/")[2]
        elif build_flags == "compiler":
            compilers[context] = words[WORDS + 1].replace("_", " ")
        elif build_flags == "cycles" or build_flags.endswith("_cycles"):
            where = f"{name}, line {place}"
            hosts.add(words[1])
            build = f"{words[0]} {words[2]} {compilers.get(context, '')}".rstrip()
            case = (words[4], words[5], implementations.get(context, "-"), build_flags, build)
            values.setdefault((*case, _bytes(words, where)), []).extend(_measurements(words, where))
    if len(hosts) > 1:
        what = f"{name}: has measurements of {len(hosts)} machines, {', '.join(sorted(hosts)[:3])}"
        raise InputError(what, hint="keep the lines of one: `grep ' HOST '`, the second word of a line")
    for (kind, primitive, implementation, build_flags, build, length_B), found in values.items():
        low, median, high = quantiles(found, n=4, method="inclusive") if len(found) > 1 else found * 3
        if min(low, median) <= 0:
            continue  # a counter that stood still, or ran backwards: no cost
        is_aead = kind == AEAD and length_B is not None
        yield ImportedFigure(
            cipher=primitive,
            implementation=implementation,
            operation=f"{kind.removeprefix('crypto_')} {build_flags.removesuffix('cycles').rstrip('_')}".rstrip(),
            build=build,
            payload_B=length_B % AAD_UNIT if is_aead and length_B is not None else length_B,
            aad_B=length_B // AAD_UNIT if is_aead and length_B is not None else None,
            value=median,
            low=low,
            high=high,
            count=len(found),
        )


def _bytes(words: Sequence[str], where: str) -> int | None:
    length = words[WORDS + 1]
    if length == "-":
        return None
    if not length.isdecimal() or len(length) > 12:
        raise InputError(f"{where}: {length[:40]!r} is no number of bytes", hint="is the file whole?")
    return int(length)


def _measurements(words: Sequence[str], where: str) -> list[float]:
    """What each measurement took; the number alone where no differences are told."""
    if len(words) < WORDS + 3 or not MEASURED.fullmatch(words[WORDS + 2]):
        raise InputError(f"{where}: has no number of cycles", hint="is the file whole?")
    middle = int(words[WORDS + 2])
    digits = "".join(words[WORDS + 3 :])
    if digits and not DIFFERENCES.fullmatch(digits):
        raise InputError(f"{where}: {digits[:40]!r} are no differences of measurements", hint="is the file whole?")
    return [middle + int(number) for number in re.findall(r"[+-]\d+", digits)] or [middle]


READERS = {"supercop": read_supercop, "lwc": read_lwc, "pqm4": read_pqm4}
STATISTICS = {"supercop": "median", "lwc": "one measurement", "pqm4": "mean"}
LARGEST_B = 2**27
LOOKED_AT = 1000
"""Lines by which the format of a file is told."""


def detected(lines: Sequence[str]) -> str | None:
    """The format that a file has; null where it is none of the known ones."""
    first = lines[0] if lines else ""
    if first.startswith(FIRST_LWC):
        return "lwc"
    if first.startswith(FIRST_PQM4):
        return "pqm4"
    return "supercop" if any(FIRST_SUPERCOP.match(line) for line in lines[:LOOKED_AT]) else None


def read(path: Path, *, form: str | None, source: str, machine: str, unit: str | None) -> PublishedSet:
    """The figures of a file as a set.

    * `form`: of `READERS`, null to detect it; `unit`: `cycles` or `us`, needed where the format doesn't say it.

    Raises InputError where the file has no known format, no figure, or isn't whole.
    """
    if not path.is_file():
        raise InputError(f"{path}: is no regular file", hint="write what it gives into one: it is read twice")
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
