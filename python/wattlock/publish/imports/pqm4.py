"""Results of pqm4: cycles of key encapsulation and signatures on a Cortex-M4.

# Source
mupq/pqm4, `benchmarks.csv` and `benchmarks.md`: sections "Speed Evaluation", "Memory Evaluation" and others; of the
first one a row a scheme and implementation with mean, least and greatest cycles of each operation.
"""

import re
from collections.abc import Iterator, Sequence

from wattlock.errors import InputError
from wattlock.publish.imports.figures import Figure, number

FIRST = ("Speed Evaluation,", "# Speed Evaluation")
SCHEME = re.compile(r"(.+?)(?: \((\d{1,9}) executions\))?")
OF_THREE = re.compile(r"AVG: ([\d,]+) <br ?/> ?MIN: ([\d,]+) <br ?/> ?MAX: ([\d,]+)")
HEAD = re.compile(r"(.+?) \[cycles\](?: \(mean\))?")


def read(lines: Sequence[str], name: str) -> Iterator[Figure]:
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


def _row(fields: list[str], operations: list[str], where: str) -> Iterator[Figure]:
    scheme = SCHEME.fullmatch(fields[0])
    printed = [found for field in fields[2:] if (found := OF_THREE.fullmatch(field))]
    triples = [found.groups() for found in printed] or [tuple(fields[at : at + 3]) for at in range(2, len(fields), 3)]
    if scheme is None or not fields[1] or [len(one) for one in triples] != [3] * len(operations):
        raise InputError(f"{where}: another number of columns than the head", hint="is the file whole?")
    for operation, (mean, least, most) in zip(operations, triples, strict=True):
        yield Figure(
            cipher=scheme[1],
            implementation=fields[1],
            operation=operation,
            value=number(mean, where),
            low=number(least, where),
            high=number(most, where),
            count=int(scheme[2]) if scheme[2] else None,
        )
