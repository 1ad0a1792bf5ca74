"""Counted cycles in words, groups, columns and figures: comparable cases of a core, the cheapest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from wattlock.analysis.comparison import GROUP
from wattlock.energy.device_cards import Device
from wattlock.report import formats, main_figure
from wattlock.report.described import host
from wattlock.report.evidence import departures, state_words
from wattlock.report.html import (
    Column,
    bullets,
    cell,
    chip,
    chips,
    commands,
    facts,
    filter_form,
    folded,
    paragraphs,
    table,
    text,
    unbroken,
)
from wattlock.report.main_figure import ANSWER, MainFigure, drawn_figure
from wattlock.run.result import Result

Row = dict[str, Any]

MEMORY = (
    "What is counted is one call of the operation. Flash is what the key schedule and the operation can reach, "
    "functions and constants; RAM what a key takes between two messages, with the variables that the operation can "
    "reach; stack is what lies below the call at its deepest."
)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one kind of evidence.

    * `cycles`: what its cycles are called; `within`: what makes their interval. `no_board`: ends what they are not.
    * `lead`: what the numbers are; `steps`: how they were counted.
    * `of_a_part`: the cycles that a card values; `not_in_joules`: what these lack, behind a semicolon.
    """

    cycles: str
    within: str
    no_board: str
    lead: str
    steps: tuple[str, ...]
    of_a_part: str
    not_in_joules: str = ""


WORDS: Mapping[str, Words] = {
    "emulated": Words(
        cycles="core cycles",
        within="the error of the core’s rules",
        no_board=": no board was measured.",
        lead="Core cycles are counted with every memory answering at once; part cycles have the part’s flash in them.",
        steps=(
            "An image of each cipher family is compiled for the core and carries out its cases in QEMU, after it "
            "proved itself by the vectors of its ciphers. A plugin writes which instructions ran, in order; cycles "
            "come from these by the rules of the core’s pipeline, each with its source. The same image gives the same "
            "count in every run, so nothing is repeated.",
            MEMORY,
        ),
        of_a_part="part cycles",
        not_in_joules="; that of the flash’s model is not known, and not in them",
    ),
    "measured": Words(
        cycles="board cycles",
        within="the range of its repetitions",
        no_board=".",
        lead="Board cycles are those of the board’s own counter, with its flash, caches and clock as they are: the "
        "median of the repetitions of a case, without what reading the counter takes.",
        steps=(
            "An image of each cipher family is compiled for the board’s memory and registers, brought onto it, and "
            "carries out its cases there, after it proved itself by the vectors of its ciphers. A loop of known length "
            "shows first that the counter is the core’s; then each case is repeated, and the counter read before and "
            "after the call.",
            MEMORY,
        ),
        of_a_part="board cycles",
    ),
}
"""By the kind of evidence."""


def cycles_of(kinds: Iterable[str | None]) -> str:
    """What cycles of one or of several kinds of evidence are called."""
    words = _only(kinds)
    return words.cycles if words else "cycles"


def within_of(kinds: Iterable[str | None]) -> str:
    """What makes the intervals of one or of several kinds of evidence."""
    words = _only(kinds)
    return words.within if words else "their intervals"


def _only(kinds: Iterable[str | None]) -> Words | None:
    known = {kind for kind in kinds if kind is not None}
    return WORDS[known.pop()] if len(known) == 1 else None


USUAL_B = 64
"""The payload that the answer speaks of, or the one next to it."""

MODES = {"aead": "AEADs", "stream": "stream ciphers"}
FIRST = (
    *("seal", "encrypt", "open", "decrypt", "key_setup", "open_forged"),
    *("agree", "encapsulate", "decapsulate", "sign", "verify", "generate"),
)


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
        alike = [group, *filter(None, (like(own_groups, group) for own_groups in others))]
        common = set.intersection(*({key_of(row) for row in group.ordered} for group in alike))
        if len(alike) == len(groups) and common:
            for own_groups, group_here in zip(found, alike, strict=True):
                own_groups.append(
                    replace(group_here, rows=[row for row in group_here.ordered if key_of(row) in common])
                )
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
    return min(sized, key=lambda group: (_order(group)[:3], abs(group.named["payload_B"] - USUAL_B)), default=None)


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
        f"{_name(row, group)} takes {formats.number(row[group.unit], 4)} {unit_words(group)} ({group.does})"
        for group in groups
        for row in group.ordered
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
    place = Column(
        "Place",
        lambda row: _place(next(tied_rows for tied_rows in groups or [rows] if row in tied_rows), row),
        "tie_group",
    )
    columns = [column for column in (place, *TAKEN) if any(row.get(column.number) is not None for row in rows)]
    return cycles_head(columns, [row["evidence"] for row in rows])


def cycles_head(columns: Sequence[Column], kinds: Sequence[str | None]) -> list[Column]:
    """The columns, that of the cycles called as cycles of this evidence are."""
    head = formats.capital(cycles_of(kinds))
    return [replace(column, head=head) if column.number == "cycles" else column for column in columns]


def heads(columns: Sequence[Column]) -> list[str]:
    """Their titles as `markup.table` takes them."""
    return [f"#{column.head}" if column.number else column.head for column in columns]


def _place(group: Sequence[Row], row: Row) -> str:
    """A case's place in its group; = where others share it."""
    mine = row["tie_group"]
    sharing = sum(other["tie_group"] == mine for other in group)
    return formats.MISSING if mine is None else f"{'= ' if sharing > 1 else ''}{mine}"


ENERGY = "energy"
"""What the files of the figure by a card are called."""


def counted_figures(groups: Sequence[Group]) -> Iterator[tuple[str, MainFigure]]:
    """The figures of the page, each with the name of its files: none where nothing is compared."""
    group = answering(groups)
    if group is None:
        return
    unit = unit_words(group)
    drawn = tuple(
        _mark(row, (group.unit, f"{group.unit}_low", f"{group.unit}_high"), 4, group) for row in group.ordered
    )
    lines = f"Lines: {group.within}." if any(mark.low is not None for mark in drawn) else ""
    yield (
        ANSWER,
        MainFigure(f"{formats.capital(unit)} to {group.does}", f"{unit} a message", group.evidence, drawn, "", lines),
    )
    valued = sorted(
        (row for row in group.rows if row.get("energy_uJ") is not None), key=lambda row: float(row["energy_uJ"])
    )
    if len(valued) > 1:
        drawn = tuple(_mark(row, ("energy_uJ", "energy_low_uJ", "energy_high_uJ"), 3, group) for row in valued)
        lines = f"Lines: {group.within}, and the card’s uncertainty, which is common to all."
        yield (
            ENERGY,
            MainFigure(f"Energy to {group.does}", "µJ a message", valued[0]["energy_evidence"], drawn, "", lines),
        )


def _mark(row: Row, names: tuple[str, str, str], digits: int, group: Group) -> main_figure.Dot:
    value, low, high = (row.get(name) for name in names)
    words = formats.interval(value, low, high) if low is not None else ""
    provider = row["provider"] if group.has_providers else ""
    name, shown = formats.cipher_name(row["cipher"], row["mode"]), formats.number(value, digits)
    return main_figure.Dot(
        name, provider, float(value or 0), low, high, shown, words, main_figure.role_of(row["family"])
    )


def sections(run: Result, estimates: pl.DataFrame, card: Device | None) -> dict[str, str]:
    """What the page of a run says of its counted cycles, as HTML by its sections."""
    groups = groups_of(estimates, run.ranking)
    figures = dict(counted_figures(groups))
    return {
        "answer": _answer(run, groups, figures, _what_it_is(run, estimates, card)),
        "trust": _trust(run, estimates),
        "ranking": _joules_are(run, estimates, card, figures) + _tables(run, groups),
        "cases": _cases(run, estimates),
        "method": _method(run, card),
    }


def _answer(run: Result, groups: Sequence[Group], figures: Mapping[str, MainFigure], about: str) -> str:
    lead, *tied = said(run.core.place, groups) or ["There is none."]
    drawn = drawn_figure(figures[ANSWER]) if figures else ""
    return (
        f'<div class="answered"><p class="lead">{unbroken(lead)} {chip(run.evidence) if groups else ""}</p>'
        f"{drawn}<div>{paragraphs(tied)}{about}</div></div>"
    )


def _what_it_is(run: Result, estimates: pl.DataFrame, card: Device | None) -> str:
    counted = "Cycles" if has_cycles(estimates) else "Instructions"
    what = f"{counted} that were counted are no time{'' if card else ' and no energy'}{WORDS[run.evidence].no_board}"
    lacking = estimates.filter(pl.col("state") != "counted").height
    lost = f"{lacking} of {estimates.height} cases have no count; the table of every case says why."
    return paragraphs([what, *([lost] if lacking else []), *map(_sentence, run.warnings)])


def _sentence(warning: str) -> str:
    return f"{formats.capital(warning)}."


def has_cycles(estimates: pl.DataFrame) -> bool:
    """Whether any case has cycles, and not instructions alone."""
    return estimates["cycles"].count() > 0


def _trust(run: Result, estimates: pl.DataFrame) -> str:
    lead = WORDS[run.evidence].lead
    if run.evidence == "measured":
        error = "The intervals are the least and the most of the repetitions."
    elif not has_cycles(estimates):
        lead = "Instructions are counted as they ran in the emulator."
        error = "There are no rules of this core that make cycles of them."
    elif run.error_percent is None:
        error = "The rules of this core were compared with no published figure, so no interval is given."
    else:
        described = run.core.described
        figures = described.error.figures if described and described.error else None
        error = (
            f"Cycles by the rules of this core were compared with {figures} figures that others published: 95 % of "
            f"them lie within {formats.number(run.error_percent, 2)} %. The intervals say that."
        )
    return (
        f"{paragraphs([lead, error])}<h3>Not in these numbers</h3>{bullets(run.core.not_modelled)}"
        f"<h3>What counted</h3>{facts(host(run))}{_adapters(run)}"
    )


def _adapters(run: Result) -> str:
    """Whose the code is that is not the catalogue's, and how it was compiled."""
    if not run.adapters:
        return ""
    body = "".join(
        f'<tr><th scope="row">{text(provider)}</th>'
        + "".join(cell(adapter.get(name, "")) for name in ADAPTED)
        + "</tr>"
        for provider, adapter in run.adapters.items()
    )
    shown = table("Code of others", ["Provider", *ADAPTED.values()], [f"<tbody>{body}</tbody>"])
    return f"<h3>Code of others</h3>{shown}"


def _tables(run: Result, groups: Sequence[Group]) -> str:
    if not groups:
        return "<p>No case was counted.</p>"
    first = answering(groups)
    shown = "".join(folded(formats.capital(group.does), _group_table(group), group is first) for group in groups)
    shared = f" Ciphers that share a place (=) can’t be told apart within {WORDS[run.evidence].within}."
    has_places = any(row["tie_group"] is not None for group in groups for row in group.rows)
    return f"<p>Within each group the cheapest stands first.{shared if has_places else ''}</p>{shown}"


def _joules_are(run: Result, estimates: pl.DataFrame, card: Device | None, figures: Mapping[str, MainFigure]) -> str:
    """What the joules rest on, and their figure; nothing without a card."""
    if card is None:
        return ""
    kinds, words = estimates["energy_evidence"].drop_nulls().unique().sort(), WORDS[run.evidence]
    lead = (
        f"Joules are {words.of_a_part} valued by the card {card.name}, with {words.within} and the card’s "
        f"uncertainty{words.not_in_joules}."
    )
    drawn = drawn_figure(figures[ENERGY], ENERGY) if ENERGY in figures else ""
    return f"<p>{unbroken(lead)} {chips(kinds)}</p>{drawn}"


def _group_table(group: Group) -> str:
    several = group.has_providers
    columns = taken(group.rows)
    head = ["Cipher", *(["Provider"] if several else []), *heads(columns)]
    body = "".join(
        f'<tr><th scope="row">{text(formats.cipher_name(row["cipher"], row["mode"]))}</th>'
        + (cell(row["provider"]) if several else "")
        + "".join(column.cell(row) for column in columns)
        + "</tr>"
        for row in group.rows
    )
    return table(f"To {group.does}", head, [f"<tbody>{body}</tbody>"])


ADAPTED = {"title": "Is", "licence": "Licence", "compiler": "Compiler", "flags": "Flags", "language": "Language"}
ADAPTED |= {"source": "Source"}
"""What is told of code of others: the record's field, and its column."""

COLUMNS = (
    Column("Does", lambda row: formats.OPERATION_NAMES.get(row["operation"], str(row["operation"]))),
    Column("Payload, B", lambda row: whole(row["payload_B"] or None), "payload_B"),
    Column("State", state_words, kind="state"),
    number("Cycles", "cycles"),
    Column("Cycles per byte", lambda row: formats.number(row["cycles_per_byte"]), "cycles_per_byte"),
    number("Part cycles", "part_cycles"),
    number("Instructions", "instructions"),
    number("Flash, B", "flash_B"),
    number("RAM, B", "ram_B"),
    number("Stack, B", "stack_B"),
    Column(
        "Implementation", lambda row: " ".join(str(row[key]) for key in ("provider", "path", "version") if row[key])
    ),
    Column("Setting", lambda row: ", ".join(departures(row)) or "plain"),
    Column("Case", lambda row: str(row["case"]), "case"),
    Column("Reason", lambda row: row["reason"] or "", kind="reason"),
)


def _cases(run: Result, estimates: pl.DataFrame) -> str:
    columns = cycles_head(
        [column for column in COLUMNS if not column.number or estimates[column.number].count()], [run.evidence]
    )
    body = "".join(
        f'<tr data-state="{text(row["state"])}"><th scope="row">{text(row["cipher"])}</th>'
        f"{''.join(column.cell(row) for column in columns)}</tr>"
        for row in estimates.iter_rows(named=True)
    )
    head = ["Cipher", *heads(columns)]
    shown = table("Every case of the study", head, [f"<tbody>{body}</tbody>"], "case-table", "sortable")
    states = estimates["state"].unique().sort()
    return filter_form("State", states, estimates.height, "aes-128 seal 64 B") + shown


def _method(run: Result, card: Device | None) -> str:
    is_assumed = card is not None and card.card.evidence == "assumed"
    joules = f" --device {card.name}{' --allow-assumed' if is_assumed else ''}" if card else ""
    library_options = "".join(f" --library {provider}=FOLDER" for provider in run.adapters)
    repeat = commands(
        [f"wattlock run {run.study['id']} --on {run.core.way}{library_options}", f"wattlock report {run.id}{joules}"]
    )
    return f"{paragraphs(WORDS[run.evidence].steps)}<h3>How to repeat it</h3>{repeat}"
