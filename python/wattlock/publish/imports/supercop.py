"""Results of SUPERCOP: the lines of its `data` files, which eBACS publishes a machine each.

# Source
SUPERCOP, `data-run` and `measure-anything.c`: a line has version, host, ABI, date, operation and primitive (of newer
versions followed by `/constbranchindex` or `/timingleaks`), then a word, bytes or `-`, a number of cycles, and what
each measurement lay above or below it, as `+12-3+0`. `crypto_aead/measure.c`: bytes are 1,000,000 a byte of
associated data and one a byte of message. A line with the word `implementation` names the one that follows.
"""

import re
from collections.abc import Iterator, Sequence
from statistics import quantiles

from wattlock.errors import InputError
from wattlock.publish.imports.figures import Figure

FIRST = re.compile(r"2\d{7} \S+ \S+ \d+ crypto_\w+ \S+ \S+")
WORDS = 6
MEASURED = re.compile(r"-?\d{1,18}")
DIFFERENCES = re.compile(r"(?:[+-]\d{1,18})+")
AEAD, AAD_UNIT = "crypto_aead", 1_000_000

Case = tuple[str, str, str, str, str, int | None]
"""Operation, primitive, implementation, what was measured, version with ABI and compiler, and bytes."""


def read(lines: Sequence[str], name: str) -> Iterator[Figure]:
    """The median and the quartiles of every case of a file; `name`: what errors call it.

    Raises InputError naming the line.
    """
    values: dict[Case, list[float]] = {}
    implementations: dict[tuple[str, ...], str] = {}
    compilers: dict[tuple[str, ...], str] = {}
    hosts: set[str] = set()
    for place, line in enumerate(lines, 1):
        words = line.split()
        if len(words) < WORDS + 2 or not FIRST.match(line):
            continue
        told, context = words[WORDS], tuple(words[:WORDS])
        if told == "implementation":
            implementations[context] = words[WORDS + 1].rpartition("/")[2]
        elif told == "compiler":
            compilers[context] = words[WORDS + 1].replace("_", " ")
        elif told == "cycles" or told.endswith("_cycles"):
            where = f"{name}, line {place}"
            hosts.add(words[1])
            build = f"{words[0]} {words[2]} {compilers.get(context, '')}".rstrip()
            case = (words[4], words[5], implementations.get(context, "-"), told, build)
            values.setdefault((*case, _bytes(words, where)), []).extend(_measurements(words, where))
    if len(hosts) > 1:
        what = f"{name}: has measurements of {len(hosts)} machines, {', '.join(sorted(hosts)[:3])}"
        raise InputError(what, hint="keep the lines of one: `grep ' HOST '`, the second word of a line")
    for (kind, primitive, implementation, told, build, length_B), found in values.items():
        low, median, high = quantiles(found, n=4, method="inclusive") if len(found) > 1 else found * 3
        if min(low, median) <= 0:
            continue  # a counter that stood still, or ran backwards: no cost
        is_aead = kind == AEAD and length_B is not None
        yield Figure(
            cipher=primitive,
            implementation=implementation,
            operation=f"{kind.removeprefix('crypto_')} {told.removesuffix('cycles').rstrip('_')}".rstrip(),
            build=build,
            payload_B=length_B % AAD_UNIT if is_aead and length_B is not None else length_B,
            aad_B=length_B // AAD_UNIT if is_aead and length_B is not None else None,
            value=median,
            low=low,
            high=high,
            count=len(found),
        )


def _bytes(words: Sequence[str], where: str) -> int | None:
    told = words[WORDS + 1]
    if told == "-":
        return None
    if not told.isdecimal() or len(told) > 12:
        raise InputError(f"{where}: {told[:40]!r} is no number of bytes", hint="is the file whole?")
    return int(told)


def _measurements(words: Sequence[str], where: str) -> list[float]:
    """What each measurement took; the number alone where no differences are told."""
    if len(words) < WORDS + 3 or not MEASURED.fullmatch(words[WORDS + 2]):
        raise InputError(f"{where}: has no number of cycles", hint="is the file whole?")
    middle = int(words[WORDS + 2])
    told = "".join(words[WORDS + 3 :])
    if told and not DIFFERENCES.fullmatch(told):
        raise InputError(f"{where}: {told[:40]!r} are no differences of measurements", hint="is the file whole?")
    return [middle + int(one) for one in re.findall(r"[+-]\d+", told)] or [middle]
