"""How much the files of a run may hold, Parquet by the headers of its pages, before a reader takes any of it.

What is judged here is the size of files and lines, before anything of them is parsed.
"""

import re
import stat
import struct
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

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


MAGIC, TAIL_B = b"PAR1", 8
MOST_ROWS = 2_000_000
"""Batches of a run. A run of 304 cases in five processes has 34,000, the largest of the project has a million."""
MOST_ROWS_OF_A_GROUP, MOST_UNPACKED_B = 2**19, 2**26
"""Of what is read at a time: of a group, which a run has of 2^16 rows and 8 MB."""
LARGEST_FOOTER_B, MOST_COLUMNS, MOST_PAGES = 2**22, 32, 20_000
"""A run has 15 columns, and a few pages of each in a group."""
CODECS = {0, 6}
"""Not packed, Zstandard. Of the encodings those whose values are there, or a place in a dictionary, each by itself:
plain, dictionary, run lengths and bits."""
ENCODINGS = {0, 2, 3, 4, 8}
OTHER = "no wattlock writes that: take the run from a copy, or measure again"
_DEEPEST, _HEADER_B = 12, 2**16


class Page(NamedTuple):
    """A page: its values and its octets, packed and not; none of a dictionary's values count."""

    values: int
    packed_B: int
    unpacked_B: int
    encoding: int


def refuse_large_parquet(path: Path) -> int:
    """Raises StoreError where a file's rows, columns, pages or octets are beyond the limits, or it is none of a run's.

    Gives its rows.
    """
    named = f"run {path.parent}: {path.name}"
    try:
        with path.open("rb") as file:
            return _File(named, file).rows()
    except (IndexError, KeyError, TypeError, ValueError, struct.error):
        raise StoreError(f"{named} is no Parquet file", hint=OTHER) from None


class _File:
    def __init__(self, named: str, file: Any) -> None:
        self._named, self._file, self._pages = named, file, 0
        self._size_B = file.seek(0, 2)
        footer_B = int.from_bytes(self._at(self._size_B - TAIL_B, TAIL_B)[:4], "little")
        if self._at(self._size_B - 4, 4) != MAGIC:
            raise ValueError
        self._refuse(footer_B, LARGEST_FOOTER_B, "B of a footer")
        self._footer = _Thrift(self._at(self._size_B - TAIL_B - footer_B, footer_B)).struct()

    def rows(self) -> int:
        """Judges the file, and gives its rows."""
        root, *columns = self._footer[2]
        self._refuse(len(columns), MOST_COLUMNS, "columns")
        if root[5] != len(columns) or any(column.get(5) or column.get(3) == 2 for column in columns):
            raise self._other("has nested columns")
        rows, groups = self._footer[3], self._footer.get(4, [])
        self._refuse(rows, MOST_ROWS, "batches")
        if rows != sum(group[3] for group in groups):
            raise self._other("has other rows than its groups")
        for group in groups:
            self._judge(group, len(columns))
        return int(rows)

    def _judge(self, group: dict[int, Any], columns: int) -> None:
        rows, unpacked_B = group[3], 0
        self._refuse(rows, MOST_ROWS_OF_A_GROUP, "batches of a group")
        if len(group[1]) != columns:
            raise self._other("has a group without all columns")
        for chunk in group[1]:
            about, values = chunk[3], 0
            if chunk.get(1) or about[4] not in CODECS:
                raise self._other("has data elsewhere, or packed otherwise")
            for page in self._pages_of(about.get(11, about[9]), about[7]):
                values += page.values
                unpacked_B += page.unpacked_B
                self._refuse(unpacked_B, MOST_UNPACKED_B, "B of a group")
                if page.encoding not in ENCODINGS:
                    raise self._other("is encoded otherwise")
            if not values == about[5] == rows:
                raise self._other("has other values than rows")

    def _pages_of(self, start: int, size_B: int) -> Iterator[Page]:
        end = start + size_B
        while start < end:
            self._pages += 1
            self._refuse(self._pages, MOST_PAGES, "pages")
            read = _Thrift(self._at(start, min(_HEADER_B, end - start)))
            head = read.struct()
            data = head.get(5) or head.get(8)
            page = Page(data[1] if data else 0, head[3], head[2], _encoding(head))
            if min(page) < 0:
                raise ValueError
            start += read.place + page.packed_B
            yield page
        if start != end:
            raise ValueError

    def _at(self, place: int, size_B: int) -> bytes:
        if not 0 <= place <= place + size_B <= self._size_B:
            raise ValueError
        self._file.seek(place)
        return bytes(self._file.read(size_B))

    def _refuse(self, number: int, most: int, of_what: str) -> None:
        if number < 0:
            raise ValueError
        if number > most:
            raise StoreError(f"{self._named}: {number} {of_what}, the limit is {most}", hint=SMALLER)

    def _other(self, what: str) -> StoreError:
        return StoreError(f"{self._named} {what}", hint=OTHER)


def _encoding(head: dict[int, Any]) -> int:
    """That of a page's values; of version 2 it stands behind the nulls and the rows, of the others behind the count."""
    if 8 in head:
        return int(head[8][4])
    return int((head.get(5) or head[7])[2])


class _Thrift:
    """Reads structures by their fields' numbers."""

    def __init__(self, data: bytes) -> None:
        self._data, self.place = data, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The fields of a structure."""
        if depth > _DEEPEST:
            raise ValueError
        fields: dict[int, Any] = {}
        number = 0
        while head := self._octet():
            number = number + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            fields[number] = kind == 1 if kind <= 2 else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        match kind:
            case 1 | 2 | 3:
                return self._octet()
            case 4 | 5 | 6:
                return self._signed()
            case 7:
                return struct.unpack("<d", self._take(8))[0]
            case 8:
                return self._take(self._unsigned())
            case 9 | 10:
                return self._list(depth + 1)
            case 12:
                return self.struct(depth + 1)
        raise ValueError

    def _list(self, depth: int) -> list[Any]:
        head = self._octet()
        size = head >> 4 if head >> 4 != 15 else self._unsigned()
        if depth > _DEEPEST or size > len(self._data) - self.place:
            raise ValueError
        return [self._value(head & 15, depth) for _ in range(size)]

    def _octet(self) -> int:
        octet = self._data[self.place]
        self.place += 1
        return octet

    def _take(self, size: int) -> bytes:
        if size > len(self._data) - self.place:
            raise ValueError
        self.place += size
        return self._data[self.place - size : self.place]

    def _unsigned(self) -> int:
        found = shift = 0
        while True:
            octet = self._octet()
            found |= (octet & 127) << shift
            shift += 7
            if octet < 128:
                return found
            if shift > 63:
                raise ValueError

    def _signed(self) -> int:
        found = self._unsigned()
        return (found >> 1) ^ -(found & 1)
