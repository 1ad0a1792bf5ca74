"""How much the files of a run may hold, so that none of them takes more memory and time than a reader has.

What is judged here is the size of files and lines, before anything of them is parsed.
"""

import re
import stat
from itertools import accumulate
from pathlib import Path

from wattlock.errors import StoreError

SMALLER = "measure fewer cases, or in fewer processes, in a run of their own"
LONGEST_LINE_B = 4 * 2**20
"""A header of 300 cases has 0.1 MB."""
MOST_VALUES = 5_000_000
"""Signs of JSON that begin a value, in all lines of a file that are no batches. Parsed each takes up to 67 octets, and
a header of 300 cases has 15,000 of them."""
DEEPEST = 64
"""Objects and lists within one another; a record has five."""
_VALUES = (b",", b":", b"[", b"{")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_OPEN, _ALIKE = ord("["), bytes.maketrans(b"{}", b"[]")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')


class NotARecord(ValueError):
    """A whole line that is no record; `index` counts the slice's lines from 0."""

    def __init__(self, index: int, why: str) -> None:
        super().__init__(why)
        self.index = index


def read(path: Path, most_B: int) -> bytes:
    """A file of a run. Raises StoreError where it is larger or no regular file, OSError where it can't be read."""
    refuse_large(path, most_B)
    with path.open("rb") as file:
        return file.read(most_B)


def refuse_large(path: Path, most_B: int) -> None:
    """Raises StoreError where a file is larger or no regular one, OSError where it can't be seen."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise StoreError(f"run {path.parent}: {path.name} is no regular file", hint="take it from a copy")
    if status.st_size > most_B:
        what = f"run {path.parent}: {path.name} has {status.st_size} B, the limit is {most_B} B"
        raise StoreError(what, hint=SMALLER)


def weigh(lines: bytes, spent: int = 0, light: bytes = b"\n") -> int:
    """How many values the lines before and these hold; lines that begin with `light` are not counted.

    Raises NotARecord where a line is too long, its objects and lists are too deep, or there are too many values.
    """
    may_be_deep = _is_left(lines)
    for index, line in enumerate(lines.split(b"\n")):
        if len(line) > LONGEST_LINE_B:
            raise NotARecord(index, f"has {len(line)} B, the limit is {LONGEST_LINE_B} B")
        if may_be_deep and _depth(line) > DEEPEST:
            raise NotARecord(index, f"has objects and lists within one another, the limit is {DEEPEST}")
        if not line.startswith(light):
            spent += sum(map(line.count, _VALUES))
        if spent > MOST_VALUES:
            raise NotARecord(index, f"goes beyond the limit of {MOST_VALUES} values in a file")
    return spent


def _is_left(text: bytes) -> bool:
    """Whether brackets are left that have many around them, or no other half, as within a text."""
    brackets = text.translate(_ALIKE, _NO_BRACKETS)
    for _ in range(DEEPEST):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)


def _depth(line: bytes) -> int:
    """How many objects and lists are within one another."""
    brackets = _STRING.sub(b"", line).translate(_ALIKE, _NO_BRACKETS)
    return max(accumulate(1 if bracket == _OPEN else -1 for bracket in brackets), default=0)
