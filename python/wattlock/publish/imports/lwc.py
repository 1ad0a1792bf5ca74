"""Results of NIST's benchmarking of the lightweight finalists on microcontrollers.

# Source
usnistgov/Lightweight-Cryptography-Benchmarking, `benchmarks/README.md`: one row a variant, implementation and
optimisation, columns `enc(x:y)` and `dec(x:y)` for x bytes of associated data and y of message, `h(x)` for a hash;
`-` where nothing was measured. The unit is not in the file.
"""

import csv
import re
from collections.abc import Iterator, Sequence

from wattlock.errors import InputError
from wattlock.publish.imports.figures import Figure, number

FIRST = "submission,variant,"
OPERATIONS = {"enc": "encrypt", "dec": "decrypt", "h": "hash"}
COLUMN = re.compile(r"(?:(enc|dec)\((\d{1,9}):(\d{1,9})\)|(h)\((\d{1,9})\))")


def read(lines: Sequence[str], name: str) -> Iterator[Figure]:
    """The figures of a file; `name`: what errors call it. Raises InputError naming the line."""
    try:
        yield from _figures(csv.DictReader(lines, strict=True), name)
    except csv.Error as error:
        raise InputError(f"{name}: no table: {error}", hint="is the file whole?") from None


def _figures(rows: "csv.DictReader[str]", name: str) -> Iterator[Figure]:
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


def _figure(head: str, row: dict[str, str], build: str | None, where: str) -> Figure:
    kind, aad_B, payload_B, hashed, hashed_B = COLUMN.fullmatch(head).groups()  # type: ignore[union-attr]
    return Figure(
        cipher=row["variant"] or "-",
        implementation=row["implementation"] or "-",
        operation=OPERATIONS[kind or hashed],
        build=build,
        payload_B=int(payload_B or hashed_B),
        aad_B=int(aad_B) if aad_B else None,
        value=number(row[head], f"{where}, {head}"),
    )
