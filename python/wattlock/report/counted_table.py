"""What a case takes on a core, as the columns of a table: cycles, joules by a card, instructions and memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wattlock.report import formats
from wattlock.report.cases import Column
from wattlock.report.counted_answer import Row
from wattlock.report.counted_words import cycles_of


def whole(value: int | None) -> str:
    """A count with its thousands apart."""
    return formats.MISSING if value is None else f"{value:,}"


def number(head: str, name: str) -> Column:
    """A column of whole numbers."""
    return Column(head, lambda row: whole(row[name]), name)


def _joules(row: Row) -> str:
    if row["energy_uJ"] is None:
        return formats.MISSING
    ends = row["energy_uJ"], row["energy_low_uJ"], row["energy_high_uJ"]
    return f"{formats.estimate(*ends)} ({formats.interval(*ends)})"


TAKEN = (
    number("Cycles", "cycles"),
    Column("Within", lambda row: formats.interval(row["cycles"], row["cycles_low"], row["cycles_high"]), "cycles_low"),
    Column("Cycles per byte", lambda row: formats.number(row["cycles_per_byte"]), "cycles_per_byte"),
    number("Part cycles", "part_cycles"),
    Column("µJ by the card", _joules, "energy_uJ"),
    Column("× best", lambda row: formats.number(row["ratio_to_best"]), "ratio_to_best"),
    number("Instructions", "instructions"),
    number("Flash, B", "flash_B"),
    number("RAM, B", "ram_B"),
    number("Stack, B", "stack_B"),
)
"""Of a case that was counted, behind its place."""


def taken(rows: Sequence[Row], groups: Sequence[Sequence[Row]] = ()) -> list[Column]:
    """The place and the columns of `TAKEN`, those in which any of these rows has something.

    * `groups`: of several runs the rows of each, among which a case has its place.
    """
    place = Column("Place", lambda row: _place(next(one for one in groups or [rows] if row in one), row), "tie_group")
    columns = [one for one in (place, *TAKEN) if any(row.get(one.number) is not None for row in rows)]
    return cycles_head(columns, [row["evidence"] for row in rows])


def cycles_head(columns: Sequence[Column], kinds: Sequence[str | None]) -> list[Column]:
    """The columns, that of the cycles called as cycles of this evidence are."""
    head = formats.capital(cycles_of(kinds))
    return [replace(one, head=head) if one.number == "cycles" else one for one in columns]


def heads(columns: Sequence[Column]) -> list[str]:
    """Their titles as `markup.table` takes them."""
    return [f"#{column.head}" if column.number else column.head for column in columns]


def _place(group: Sequence[Row], row: Row) -> str:
    """A case's place in its group; = where others share it."""
    mine = row["tie_group"]
    sharing = sum(other["tie_group"] == mine for other in group)
    return formats.MISSING if mine is None else f"{'= ' if sharing > 1 else ''}{mine}"
