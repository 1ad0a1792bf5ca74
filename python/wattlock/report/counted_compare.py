"""The page of several runs that counted: each cipher on every core, and how alike the cores order the ciphers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from wattlock.report import chip, formats
from wattlock.report.counted_answer import Group, answering, groups_of, unit_words
from wattlock.report.markup import bullets, cell, commands, folded, paragraphs, table, text, unbroken
from wattlock.report.order_matrix import Cell, picture
from wattlock.report.page import asset, opening

SECTIONS = {"answer": "The answer", "ciphers": "Each cipher on every core", "orders": "How alike the orders are"}
SECTIONS |= {"runs": "What differs between the runs", "method": "How to read it"}
WIDE_PX, NARROW_PX = 600, 358
STEPS = (
    "Cycles of each core are its own: a cipher is compared with the others on the same core.",
    "Kendall’s tau-b is 1 for the same order and −1 for the opposite one. Ciphers whose intervals touch on a core are "
    "ties there; the range beside it holds every order that the errors of the rules allow.",
)


@dataclass(frozen=True, slots=True)
class CountedSide:
    """One of the runs: its core in words, its cases as of `analysis.counts`, and their ranking."""

    target: str
    estimates: pl.DataFrame
    ranking: pl.DataFrame


def counted_compare_page(
    sides: Sequence[CountedSide], agreement: pl.DataFrame | None, warnings: Sequence[str], command: str
) -> str:
    """The page as HTML; nothing in it is fetched from elsewhere.

    * `agreement`: as of `run.compare_counts`, null where all runs are of one core.
    """
    groups = [groups_of(side.estimates, side.ranking) for side in sides]
    answer = answering(groups[0])
    bodies = {
        "answer": _answer(sides, groups, agreement, answer),
        "ciphers": "".join(_group(sides, groups, group, group is answer) for group in groups[0]),
        "orders": _orders(sides, agreement),
        "runs": bullets(list(warnings)) or "<p>Nothing that was recorded differs.</p>",
        "method": f"{paragraphs(STEPS)}<h3>How to draw it again</h3>{commands([command])}",
    }
    sections = "".join(
        f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{text(SECTIONS[name])}</h2>'
        f"{body}</section>"
        for name, body in bodies.items()
    )
    links = "".join(f'<li><a href="#{name}">{text(heading)}</a></li>' for name, heading in SECTIONS.items())
    title = f"{len(sides)} runs that counted"
    scripts = "".join(f"<script>{asset(f'{name}.js')}</script>" for name in ("sort", "folds"))
    names = formats.listing([f"{chr(ord('A') + place)} is {side.target}" for place, side in enumerate(sides)])
    return (
        f'{opening(title)}<a class="skip" href="#answer">Skip to the answer</a><header><p class="kicker">wattlock</p>'
        f'<h1>{text(title)}</h1><p class="question">{text(names)}</p><nav aria-label="On this page"><ul>{links}</ul>'
        f"</nav></header><main>{sections}</main><footer><p>Made by wattlock. It can be redrawn from the records of the "
        f"runs.</p></footer>{scripts}</body></html>"
    )


def _like(groups: Sequence[Group], group: Group) -> Group | None:
    """The group of another run with the same in common."""
    return next((other for other in groups if other.named == group.named), None)


def _answer(
    sides: Sequence[CountedSide], groups: Sequence[list[Group]], agreement: pl.DataFrame | None, answer: Group | None
) -> str:
    if answer is None:
        return "<p>No two cases of the first run can be compared.</p>"
    cheapest: dict[str, list[str]] = {}
    for side, own in zip(sides, groups, strict=True):
        if (found := _like(own, answer)) is not None:
            cheapest.setdefault(_first(found), []).append(side.target)
    lead = "; ".join(f"{ciphers} on {formats.listing(targets)}" for ciphers, targets in cheapest.items())
    said = f"Cheapest to {answer.does}: {lead}."
    return (
        f'<p class="lead">{unbroken(said)} {chip.chip("emulated")}</p>'
        f"<p>Cycles that were counted are no time and no energy: no board was measured.</p>"
        f"{_figure(sides, agreement, answer)}"
    )


def _first(group: Group) -> str:
    """Which take the fewest, and of what; those within the error of the rules are alike."""
    alike = [row for row in group.rows if row["tie_group"] == 1] or group.rows[:1]
    names = sorted({formats.cipher_name(row["cipher"], row["mode"]) for row in alike})
    return f"{formats.listing(names)}{' alike' if len(names) > 1 else ''} by {unit_words(group)}"


def _figure(sides: Sequence[CountedSide], agreement: pl.DataFrame | None, answer: Group) -> str:
    """The matrix of tau in the group that answers; nothing where no two orders are compared."""
    cells = {} if agreement is None else _cells(agreement, answer)
    if not cells:
        return ""
    title = f"How alike two cores order the ciphers to {answer.does}"
    names = [side.target for side in sides]
    shown = "".join(
        f'<div class="{kind}">{picture(names, cells, width)}</div>'
        for kind, width in (("wide", WIDE_PX), ("narrow", NARROW_PX))
    )
    return (
        f'<figure data-name="orders" class="main-figure"><figcaption><strong>{text(title)} '
        f'{chip.chip("emulated")}</strong></figcaption>{shown}<p class="quiet">Kendall’s tau-b: 1 is the same order. '
        "Its range within the errors of the rules stands below it, or in the table.</p></figure>"
    )


def _cells(agreement: pl.DataFrame, answer: Group) -> Mapping[tuple[int, int], Cell]:
    common = [name for name in answer.named if name in agreement.columns]
    wanted = tuple(answer.named[name] or (0 if name == "aad_B" else answer.named[name]) for name in common)
    return {
        (row["a"], row["b"]): Cell(row["tau"], row["tau_low"], row["tau_high"])
        for row in agreement.iter_rows(named=True)
        if tuple(row[name] for name in common) == wanted
    }


def _group(sides: Sequence[CountedSide], groups: Sequence[list[Group]], group: Group, is_open: bool) -> str:
    head = ["Cipher", "Core", "#Place", "#Core cycles", "#Within", "#Cycles per byte", "#Instructions"]
    head += ["#Flash, B", "#RAM, B", "#Stack, B"]
    found = [(side, _like(own, group)) for side, own in zip(sides, groups, strict=True)]
    order = list(dict.fromkeys((row["cipher"], row["provider"]) for _, own in found if own for row in own.rows))
    by_name = [(side.target, {(row["cipher"], row["provider"]): row for row in own.rows}) for side, own in found if own]
    rows = (_row(name, target, members[name]) for name in order for target, members in by_name if name in members)
    does = f"{group.does[:1].upper()}{group.does[1:]}"
    shown = table(f"To {group.does}", head, [f"<tbody>{''.join(rows)}</tbody>"], kind="sortable")
    return folded(does, shown, is_open)


def _row(name: tuple[str, str], target: str, row: Mapping[str, Any]) -> str:
    numbers = ("instructions", "flash_B", "ram_B", "stack_B")
    place = formats.MISSING if row["tie_group"] is None else str(row["tie_group"])
    return (
        f'<tr><th scope="row">{text(formats.cipher_name(name[0], row["mode"]))}</th>{cell(target)}{cell(place, True)}'
        f"{cell(_whole(row['cycles']), True)}"
        f"{cell(formats.interval(row['cycles'], row['cycles_low'], row['cycles_high']), True)}"
        f"{cell(formats.number(row['cycles_per_byte']), True)}"
        f"{''.join(cell(_whole(row[number]), True) for number in numbers)}</tr>"
    )


def _whole(value: int | None) -> str:
    return formats.MISSING if value is None else f"{value:,}"


def _orders(sides: Sequence[CountedSide], agreement: pl.DataFrame | None) -> str:
    if agreement is None or agreement.is_empty():
        return "<p>There are no three comparable ciphers on two cores.</p>"
    head = ["Cores", "Does", "#Payload, B", "#Ciphers", "#Tau", "#From", "#To", "#Pairs undecided", "Ordered by"]
    return table(
        "How alike each two cores order the ciphers", head, [f"<tbody>{''.join(_taus(sides, agreement))}</tbody>"]
    )


def _taus(sides: Sequence[CountedSide], agreement: pl.DataFrame) -> Iterator[str]:
    for row in agreement.iter_rows(named=True):
        does = formats.OPERATION_NAMES.get(row["operation"], str(row["operation"]))
        taus = (formats.MISSING if row[name] is None else f"{row[name]:.2f}" for name in ("tau", "tau_low", "tau_high"))
        does = f"{does}, {row['mode']}"
        undecided = f"{row['undecided']} of {row['pairs']}"
        yield (
            f'<tr><th scope="row">{text(sides[row["a"]].target)} and {text(sides[row["b"]].target)}</th>'
            f"{cell(does)}{cell(_whole(row['payload_B'] or None), True)}"
            f"{cell(str(row['ciphers']), True)}{''.join(cell(value, True) for value in taus)}"
            f"{cell(undecided, True)}{cell(row['ordered_by'])}</tr>"
        )
