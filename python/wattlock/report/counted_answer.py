"""The answer of a run that counted: comparable cases, the cheapest first, and what is said of them in words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from wattlock.analysis.ranking import GROUP
from wattlock.report import formats
from wattlock.report.counted_words import WORDS

USUAL_B = 64
"""The payload that the answer speaks of, or the one next to it."""

MODES = {"aead": "AEADs", "stream": "stream ciphers"}
FIRST = (
    *("seal", "encrypt", "open", "decrypt", "key_setup", "open_forged"),
    *("agree", "encapsulate", "decapsulate", "sign", "verify", "generate"),
)

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Group:
    """Comparable cases, the cheapest first; `unit`: what orders them, cycles, or instructions where there are none."""

    named: Row
    unit: str
    rows: Sequence[Row]

    @property
    def ordered(self) -> list[Row]:
        """Those that have what orders them."""
        return [row for row in self.rows if row[self.unit] is not None]

    @property
    def has_providers(self) -> bool:
        """Whether its cases are of more than one provider."""
        return len({row["provider"] for row in self.rows}) > 1

    @property
    def evidence(self) -> str:
        """What its numbers rest on."""
        return next((row["evidence"] for row in self.rows if row["evidence"]), "emulated")

    @property
    def within(self) -> str:
        """What makes the intervals, in words."""
        return WORDS[self.evidence].within

    @property
    def does(self) -> str:
        """What its cases do, in words."""
        operation = formats.OPERATION_NAMES.get(self.named["operation"], str(self.named["operation"]))
        size = f" {formats.size(self.named['payload_B'])}" if self.named["payload_B"] else ""
        aad = f" and {formats.size(self.named['aad_B'])} of associated data" if self.named["aad_B"] else ""
        mode = str(self.named["mode"])
        # Key set-ups are grouped by mode too, and would all be called alike.
        is_told = self.named["operation"] == "key_setup" or mode not in {"aead", "stream", "establish", "frame", "link"}
        return f"{operation}{size}{aad}" + (f", {MODES.get(mode, mode.upper())}" if is_told else "")


def groups_of(estimates: pl.DataFrame, ranking: pl.DataFrame) -> list[Group]:
    """The cases that were counted by what they have in common, those that answer first."""
    # On a board whose clock is not its core's a case has neither.
    has_number = pl.any_horizontal(pl.col(name).is_not_null() for name in ("cycles", "instructions"))
    counted = estimates.filter(pl.col("state") == "counted", has_number)
    places = ranking.select("case", "tie_group", "ratio_to_best")
    unit = "cycles" if counted["cycles"].count() else "instructions"
    rows = counted.join(places, on="case", how="left").sort(unit, "cipher", nulls_last=True)
    found = [
        Group(dict(zip(GROUP, key, strict=True)), unit, members.to_dicts())
        for key, members in rows.group_by(GROUP, maintain_order=True)
    ]
    return sorted(found, key=_order)


def _order(group: Group) -> tuple[Any, ...]:
    operation, payload_B = group.named["operation"], group.named["payload_B"]
    place = FIRST.index(operation) if operation in FIRST else len(FIRST)
    return group.named["mode"] != "aead", place, group.named["mode"], payload_B, group.named["aad_B"] or 0


def like(groups: Sequence[Group], group: Group) -> Group | None:
    """The group of another run with the same in common."""
    return next((other for other in groups if other.named == group.named), None)


def shared_of(groups: Sequence[Sequence[Group]]) -> list[list[Group]]:
    """The groups of each run, of the cases alone that every run has: without its rivals any cipher is the cheapest."""
    first, *others = groups
    found: list[list[Group]] = [[] for _ in groups]
    for group in first:
        alike = [group, *filter(None, (like(own, group) for own in others))]
        common = set.intersection(*({key_of(row) for row in one.ordered} for one in alike))
        if len(alike) == len(groups) and common:
            for own, one in zip(found, alike, strict=True):
                own.append(replace(one, rows=[row for row in one.ordered if key_of(row) in common]))
    return found


def key_of(row: Row) -> tuple[str, str]:
    """What tells a case from the others of its group."""
    return row["cipher"], row["provider"]


def answering(groups: Sequence[Group]) -> Group | None:
    """The group that answers: of AEADs where there are any, at the usual payload; null where nothing is compared."""
    return usual([group for group in groups if len(group.ordered) > 1])


def usual(groups: Sequence[Group]) -> Group | None:
    """The group that is spoken of: of AEADs where there are any, at the usual payload."""
    sized = [group for group in groups if group.named["payload_B"]]
    return min(sized, key=lambda one: (_order(one)[:3], abs(one.named["payload_B"] - USUAL_B)), default=None)


SPOKEN = 3
"""Cases that are told one by one."""


def said(target: str, groups: Sequence[Group]) -> list[str]:
    """What is said of a run: of the group that answers, else of its first cases; nothing where none was counted.

    * `target`: the core and part in words.
    """
    group = answering(groups)
    if group is not None:
        return _compared(target, group)
    cases = [
        f"{_name(row, one)} takes {formats.number(row[one.unit], 4)} {unit_words(one)} ({one.does})"
        for one in groups
        for row in one.ordered
    ]
    return [f"On {target}, {formats.listing(cases[:SPOKEN])}.", "No two cases can be compared."] if cases else []


def _compared(target: str, group: Group) -> list[str]:
    """Which cipher takes the fewest and the most, and which are alike."""
    rows = group.ordered
    best, worst = rows[0], rows[-1]
    alike = [row for row in rows if row["tie_group"] == 1]
    lead = (
        f"On {target}, {_name(best, group)} takes the fewest {unit_words(group)} of {len(rows)} to {group.does}: "
        f"{_amount(best, group)}; {_name(worst, group)} takes the most: {_amount(worst, group)}."
    )
    names = [_name(row, group) for row in alike]
    tied = [f"Within {group.within} {formats.listing(names)} are alike."] if len(alike) > 1 else []
    return [lead, *tied]


def unit_words(group: Group) -> str:
    """What orders a group, in words."""
    return WORDS[group.evidence].cycles if group.unit == "cycles" else "instructions"


def _name(row: Row, group: Group) -> str:
    """A cipher as it is written, with whose code it is where the group has several."""
    name = formats.cipher_name(row["cipher"], row["mode"])
    return f"{name} of {row['provider']}" if group.has_providers else name


def _amount(row: Row, group: Group) -> str:
    value = formats.number(row[group.unit], 4)
    return f"{value}, {formats.number(row[group.unit] / group.named['payload_B'])} a byte"
