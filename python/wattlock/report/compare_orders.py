"""What the page of a comparison says of counts: each cipher in every run, how alike cores order, what versions take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from wattlock.report import chip, formats
from wattlock.report.compared import LetteredRun, RunComparison
from wattlock.report.cycles import (
    Group,
    cycles_of,
    heads,
    key_of,
    like,
    shared_of,
    taken,
    unit_words,
    usual,
    whole,
    within_of,
)
from wattlock.report.markup import cell, folded, paragraphs, table, text, unbroken
from wattlock.report.order_matrix import Cell, picture
from wattlock.report.ratio_strips import picture as strips
from wattlock.report.ratios import COST, RatioFigure, case_words, cipher_title, figures

WIDE_PX, STRIPS_PX, NARROW_PX = 600, 480, 358
OF_CORES = (
    "Cycles of each core are its own: a cipher is compared with the others on the same core.",
    "Kendall’s tau-b is 1 for the same order and −1 for the opposite one. Ciphers whose intervals touch on a core are "
    "ties there; the range beside it holds every order that the errors of the rules allow.",
)
OF_VERSIONS = (
    "Each case is set beside its like in the first run. A ratio above 1 says that the other one takes more.",
    "More and less need an interval that excludes 1: it holds the error of the core’s rules as far as the instructions "
    "of the two differ, or the range of a board’s repetitions on both sides. Equivalent are the same counts. Counts "
    "repeat, so that a difference that is undecided by the rules is one of the code all the same.",
)
ORDERS = "orders"
"""What the files of the matrix are called."""
TAU = "Kendall’s tau-b: 1 is the same order. Its range within the errors of the rules stands below it, or in the table."
JOULES = (
    "Joules are part or board cycles valued by the card of that very part, with their interval and the card’s "
    "uncertainty; that of the flash’s model is not known, and not in them."
)


def count_sections(compared: RunComparison) -> dict[str, str]:
    """The sections on counts, as HTML by their names: cores by their orders, versions on one core by their ratios."""
    sides, groups, answer = compared.sides, compared.groups, compared.answer
    ciphers = _joules_are(sides) + "".join(_group(sides, groups, group, answer) for group in groups[0])
    if not compared.has_ratios:
        orders = _orders(sides, compared.found.agreement)
        return {"answer": _answer(compared, answer), "ciphers": ciphers, "orders": orders}
    drawn = figures(compared, COST)
    return {"answer": _versions(compared, drawn), "ciphers": ciphers, "ratios": _ratios(drawn, compared.kinds)}


def count_letters(compared: RunComparison) -> str:
    """Which letter is which run, and the core of all where it is one and does not name them."""
    core = compared.first.result.core
    sides = formats.listing([f"{side.letter} is {side.name}" for side in compared.sides])
    return sides + (f", all on {core.place}" if compared.has_ratios and compared.first.name != core.title else "")


def count_method(compared: RunComparison) -> str:
    """How to read it."""
    return paragraphs(OF_VERSIONS if compared.has_ratios else OF_CORES)


def _answer(compared: RunComparison, answer: Group | None) -> str:
    """Which cipher is the cheapest in each run, of those that every run has."""
    shared = shared_of(compared.groups)
    if answer is None:
        return _answered(" ".join(_of_one_cipher(compared.sides, shared)), "", compared.kinds)
    cheapest: dict[str, list[str]] = {}
    for side, own in zip(compared.sides, shared, strict=True):
        cheapest.setdefault(_first(like(own, answer) or answer), []).append(side.name)
    lead = "; ".join(f"{ciphers} on {formats.listing(names)}" for ciphers, names in cheapest.items())
    counts = {len(found.ordered) for own in compared.groups if (found := like(own, answer)) is not None}
    of = "" if counts == {len(answer.rows)} else f" of the {len(answer.rows)} cases that every run has"
    return _answered(f"Cheapest{of} to {answer.does}: {lead}.", _order_figure(compared, answer), compared.kinds)


def _of_one_cipher(sides: Sequence[LetteredRun], shared: Sequence[Sequence[Group]]) -> Iterator[str]:
    """What can be said where the runs have no two ciphers in common that can be compared."""
    yield "No two ciphers that can be compared are in every run, so none is called the cheapest."
    group = usual(shared[0])
    if group is not None:
        rows = [(like(own, group) or group).rows[0] for own in shared]
        taken = [f"{formats.number(row[group.unit], 4)} on {side.name}" for side, row in zip(sides, rows, strict=True)]
        cipher = formats.cipher_name(rows[0]["cipher"], rows[0]["mode"])
        yield f"To {group.does}, {cipher} takes {formats.listing(taken)} ({unit_words(group)})."


def _answered(said: str, figure: str, kinds: Sequence[str]) -> str:
    no_board = "." if "measured" in kinds else ": no board was measured."
    return (
        f'<div class="answered"><p class="lead">{unbroken(said)} {chip.chips(kinds)}</p>{figure}'
        f"<p>Cycles that were counted are no time and no energy{no_board}</p></div>"
    )


def _first(group: Group) -> str:
    """Which take the fewest, and of what; those within the error of the rules are alike."""
    best = group.ordered[0]
    alike = [row for row in group.ordered if row["tie_group"] == best["tie_group"]] if best["tie_group"] else [best]
    names = sorted({formats.cipher_name(row["cipher"], row["mode"]) for row in alike})
    return f"{formats.listing(names)}{' alike' if len(names) > 1 else ''} by {unit_words(group)}"


def _order_figure(compared: RunComparison, answer: Group) -> str:
    """The matrix of tau in the group that answers; nothing where no two orders are compared."""
    cells = cells_of(compared.found.agreement, answer)
    if not cells:
        return ""
    names = [side.name for side in compared.sides]
    pictures = [picture(names, cells, width) for width in (WIDE_PX, NARROW_PX)]
    return _drawn(ORDERS, order_title(answer), (TAU, compared.kinds), *pictures)


def _drawn(name: str, title: str, noted: tuple[str, Sequence[str]], wide: str, narrow: str) -> str:
    note, kinds = noted
    return (
        f'<figure data-name="{name}" class="main-figure"><figcaption><strong>{text(title)} {chip.chips(kinds)}'
        f'</strong></figcaption><div class="wide">{wide}</div><div class="narrow">{narrow}</div>'
        f'<p class="quiet">{text(note)}</p></figure>'
    )


def order_title(answer: Group) -> str:
    """What the matrix of tau is called."""
    return f"How alike two cores order the ciphers to {answer.does}"


def orders_of(agreement: pl.DataFrame | None, answer: Group) -> pl.DataFrame:
    """The rows of `agreement` that are of the group that answers."""
    if agreement is None:
        return pl.DataFrame()
    common = [name for name in answer.named if name in agreement.columns]
    wanted = {name: 0 if name == "aad_B" and answer.named[name] is None else answer.named[name] for name in common}
    return agreement.filter(pl.col(name).eq_missing(pl.lit(value)) for name, value in wanted.items())


def cells_of(agreement: pl.DataFrame | None, answer: Group) -> Mapping[tuple[int, int], Cell]:
    """What the matrix holds, by the places of two runs."""
    return {
        (row["a"], row["b"]): Cell(row["tau"], row["tau_low"], row["tau_high"])
        for row in orders_of(agreement, answer).iter_rows(named=True)
    }


def _versions(compared: RunComparison, drawn: Sequence[RatioFigure]) -> str:
    """Of one core: in how many cases the others take more than the first, and where most."""
    first, kinds = compared.first.spoken, compared.kinds
    said = " ".join(_said(first, other.side.spoken, other.rows, kinds) for other in compared.others)
    if not drawn:
        return _answered(said, "", kinds)
    figure = drawn[0]
    pictures = [strips(figure.rows, figure.axis, figure.axis_title, width) for width in (STRIPS_PX, NARROW_PX)]
    return _answered(said, _drawn(figure.name, figure.title, (figure.note, kinds), *pictures), kinds)


def _said(first: str, other: str, rows: pl.DataFrame, kinds: Sequence[str]) -> str:
    counted = rows.drop_nulls("ratio")
    if counted.is_empty():
        return f"No case of {other} has its like in {first}."
    more, less = counted.filter(pl.col("ratio") > 1).height, counted.filter(pl.col("ratio") < 1).height
    of = cycles_of(kinds) if counted["quantity"][0] == "cycles" else "instructions"
    if not more + less:
        return f"{other} takes as many {of} as {first} in all {counted.height} cases."
    apart = counted.with_columns(apart=pl.col("ratio").log().abs()).sort("apart", descending=True).row(0, named=True)
    most = f"{formats.percent(abs(apart['ratio'] - 1))} {'more' if apart['ratio'] > 1 else 'fewer'}"
    where = f"{cipher_title(apart['cipher'])}, {case_words(apart)}"
    undecided = counted.filter((pl.col("verdict") == "undecided") & (pl.col("ratio") != 1)).height
    if counted.height == 1:
        within = f" That lies within {within_of(kinds)}." if undecided else ""
        return f"In the case that both have ({where}) {other} takes {most} {of} than {first}.{within}"
    alike = counted.height - more - less
    found = {f"more {of} than {first}": more, f"fewer {of} than {first}": less, f"as many {of} as {first}": alike}
    told = formats.listing([f"{words} in {count}" for words, count in found.items() if count])
    if counted.height in (more, less):
        told = f"{next(words for words, count in found.items() if count)} in each"
    within = f" Within {within_of(kinds)} lie {undecided} of the differences." if undecided else ""
    return f"Of {counted.height} cases {other} takes {told}; the greatest difference is {most} ({where}).{within}"


def _ratios(drawn: Sequence[RatioFigure], kinds: Sequence[str]) -> str:
    if len(drawn) < 2:
        return "<p>No case has a ratio to draw.</p>"
    shown = "".join(
        f'<figure data-name="{figure.name}"><figcaption><strong>{text(figure.title)} {chip.chips(kinds)}</strong>'
        f"</figcaption>{strips(figure.rows, figure.axis, figure.axis_title)}</figure>"
        for figure in drawn[1:]
    )
    return (
        "<p>A mark is a case’s ratio to the first run, the bar through it what the intervals allow. The "
        f'figures share an axis.</p><div class="strips">{shown}</div>'
    )


def _joules_are(sides: Sequence[LetteredRun]) -> str:
    """What the joules rest on; nothing where no card was named."""
    kinds = {
        kind
        for side in sides
        if "energy_evidence" in side.result.estimates.columns
        for kind in side.result.estimates["energy_evidence"].drop_nulls()
    }
    return f"<p>{unbroken(JOULES)} {chip.chips(sorted(kinds))}</p>" if kinds else ""


def _group(sides: Sequence[LetteredRun], groups: Sequence[list[Group]], group: Group, answer: Group | None) -> str:
    beside = [(side.brief, like(of_side, group)) for side, of_side in zip(sides, groups, strict=True)]
    found = [(name, own) for name, own in beside if own is not None]
    several = any(own.has_providers for _, own in found)
    columns = taken([row for _, own in found for row in own.rows], [own.rows for _, own in found])
    head = ["Cipher", *(["Provider"] if several else []), "Run", *heads(columns)]
    by_name = [(name, {key_of(row): row for row in own.rows}) for name, own in found]
    order = dict.fromkeys(key_of(row) for _, own in found for row in own.rows)
    body = "".join(
        f'<tr><th scope="row">{text(formats.cipher_name(row["cipher"], row["mode"]))}</th>'
        f"{cell(row['provider']) if several else ''}{cell(name)}"
        f"{''.join(column.cell(row) for column in columns)}</tr>"
        for key in order
        for name, members in by_name
        if (row := members.get(key)) is not None
    )
    shown = table(f"To {group.does}", head, [f"<tbody>{body}</tbody>"], kind="sortable")
    return folded(formats.capital(group.does), shown, answer is not None and group.named == answer.named)


def _orders(sides: Sequence[LetteredRun], agreement: pl.DataFrame | None) -> str:
    if agreement is None or agreement.is_empty():
        return "<p>There are no three comparable ciphers on two cores.</p>"
    head = ["Cores", "Does", "#Payload, B", "#Ciphers", "#Tau", "#From", "#To", "#Pairs undecided", "Ordered by"]
    return table(
        "How alike each two cores order the ciphers", head, [f"<tbody>{''.join(_taus(sides, agreement))}</tbody>"]
    )


def _taus(sides: Sequence[LetteredRun], agreement: pl.DataFrame) -> Iterator[str]:
    for row in agreement.iter_rows(named=True):
        does = f"{formats.OPERATION_NAMES.get(row['operation'], str(row['operation']))}, {row['mode']}"
        taus = (formats.MISSING if row[name] is None else f"{row[name]:.2f}" for name in ("tau", "tau_low", "tau_high"))
        undecided = f"{row['undecided']} of {row['pairs']}"
        yield (
            f'<tr><th scope="row">{text(sides[row["a"]].brief)} and {text(sides[row["b"]].brief)}</th>'
            f"{cell(does)}{cell(whole(row['payload_B'] or None), True)}"
            f"{cell(str(row['ciphers']), True)}{''.join(cell(value, True) for value in taus)}"
            f"{cell(undecided, True)}{cell(row['ordered_by'])}</tr>"
        )
