"""The page of several runs that counted: each cipher on every core, how alike these order, what versions take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from wattlock.report import chip, formats
from wattlock.report.compare_facts import LONGEST_NAME, CompareFacts
from wattlock.report.counted_answer import Group, answering, groups_of, key_of, like, shared_of, unit_words, usual
from wattlock.report.counted_table import heads, taken, whole
from wattlock.report.counted_words import cycles_of, within_of
from wattlock.report.markup import bullets, cell, commands, folded, paragraphs, table, text, unbroken
from wattlock.report.order_matrix import Cell, picture
from wattlock.report.page import asset, opening
from wattlock.report.ratio_strips import picture as strips
from wattlock.report.ratios import COST, RatioFigure, case_words, cipher_title, figures

SECTIONS = {
    "answer": "The answer",
    "ciphers": "Each cipher in every run",
    "orders": "How alike the orders are",
    "ratios": "Case by case",
    "runs": "What differs between the runs",
    "method": "How to read it",
}
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
SCRIPTS = ("sort", "folds")
ORDERS = "orders"
"""What the files of the matrix are called."""
TAU = "Kendall’s tau-b: 1 is the same order. Its range within the errors of the rules stands below it, or in the table."
JOULES = (
    "Joules are part or board cycles valued by the card of that very part, with their interval and the card’s "
    "uncertainty; that of the flash’s model is not known, and not in them."
)


@dataclass(frozen=True, slots=True)
class CountedSide:
    """One of the runs: its letter, what it is called, its id, its cases as of `analysis.counts`, and their ranking."""

    letter: str
    name: str
    run: str
    estimates: pl.DataFrame
    ranking: pl.DataFrame

    @property
    def brief(self) -> str:
        """Where it stands often: with its name where that is short, else the letter alone."""
        return f"{self.letter} {self.name}" if len(self.name) <= LONGEST_NAME else self.letter


@dataclass(frozen=True, slots=True)
class CountedCompareFacts:
    """A comparison of runs that counted.

    * `sides`: two at least; `where`: the core of all behind "on", empty where there are several. `agreement`: as of
      `run.compare_counts`, null where all are of one core; `ratios`: of one core, the cases beside those of the first.
    * `command`: draws it again.
    """

    sides: Sequence[CountedSide]
    where: str
    agreement: pl.DataFrame | None
    ratios: CompareFacts | None
    warnings: Sequence[str]
    command: str

    @property
    def kinds(self) -> list[str]:
        """The kinds of evidence, one each."""
        found = (kind for side in self.sides for kind in side.estimates["evidence"].drop_nulls())
        return list(dict.fromkeys(found))

    @property
    def groups(self) -> list[list[Group]]:
        """Those of each side."""
        return [groups_of(side.estimates, side.ranking) for side in self.sides]

    @property
    def answer(self) -> Group | None:
        """The group that answers, of the ciphers that every run has; null where no two of them can be compared."""
        return answering(shared_of(self.groups)[0])

    @property
    def ratio_figures(self) -> list[RatioFigure]:
        """Of one core: the first of all cases; none where no case has a ratio."""
        return figures(self.ratios, COST) if self.ratios else []

    @property
    def files_of(self) -> str:
        """What the files of its figures begin with."""
        first, *others = (side.run for side in self.sides)
        return f"{first}-and-{others[0] if len(others) == 1 else f'{len(others)}-others'}"


def counted_compare_page(facts: CountedCompareFacts) -> str:
    """The page as HTML; nothing in it is fetched from elsewhere."""
    bodies = _bodies(facts)
    links = "".join(f'<li><a href="#{name}">{text(SECTIONS[name])}</a></li>' for name in bodies)
    kicker = '<p class="kicker">wattlock <span>counts compared</span></p>'
    scripts = "".join(f"<script>{asset(f'{name}.js')}</script>" for name in SCRIPTS)
    runs = formats.listing(list(dict.fromkeys(side.run for side in facts.sides)))
    return (
        f'{opening(title(facts), "compare")}<a class="skip" href="#answer">Skip to the answer</a><header>'
        f'{kicker}<h1>{text(title(facts))}</h1><p class="question">{text(letters(facts))}</p>'
        f'<nav aria-label="On this page"><ul>{links}</ul></nav></header><main>{_joined(bodies)}</main>'
        f"<footer><p>Made by wattlock from {text(runs)}. It can be redrawn from their records.</p></footer>"
        f"{scripts}</body></html>"
    )


def title(facts: CountedCompareFacts) -> str:
    """What is compared with what."""
    names = [side.name for side in facts.sides]
    return f"{names[1]} compared with {names[0]}" if len(names) == 2 else f"{len(names)} runs that counted"


def letters(facts: CountedCompareFacts) -> str:
    """Which letter is which run."""
    sides = formats.listing([f"{side.letter} is {side.name}" for side in facts.sides])
    return sides + (f", all on {facts.where}" if facts.where else "")


def sections(facts: CountedCompareFacts) -> str:
    """All that the page says below its head, as HTML."""
    return _joined(_bodies(facts))


def _joined(bodies: Mapping[str, str]) -> str:
    return "".join(
        f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{text(SECTIONS[name])}</h2>'
        f"{body}</section>"
        for name, body in bodies.items()
    )


def _bodies(facts: CountedCompareFacts) -> dict[str, str]:
    sides, groups = facts.sides, facts.groups
    answer, drawn = facts.answer, facts.ratio_figures
    by_order = (
        {"orders": _orders(sides, facts.agreement)} if facts.ratios is None else {"ratios": _ratios(drawn, facts.kinds)}
    )
    return {
        "answer": _answer(facts, answer) if facts.ratios is None else _versions(facts.ratios, drawn, facts.kinds),
        "ciphers": _joules_are(sides) + "".join(_group(sides, groups, one, answer) for one in groups[0]),
        **by_order,
        "runs": bullets(list(facts.warnings)) or "<p>Nothing that was recorded differs.</p>",
        "method": f"{paragraphs(OF_VERSIONS if facts.ratios else OF_CORES)}<h3>How to draw it again</h3>"
        f"{commands([facts.command])}",
    }


def _answer(facts: CountedCompareFacts, answer: Group | None) -> str:
    """Which cipher is the cheapest in each run, of those that every run has."""
    shared = shared_of(facts.groups)
    if answer is None:
        return _answered(" ".join(_of_one_cipher(facts.sides, shared)), "", facts.kinds)
    cheapest: dict[str, list[str]] = {}
    for side, own in zip(facts.sides, shared, strict=True):
        cheapest.setdefault(_first(like(own, answer) or answer), []).append(side.name)
    lead = "; ".join(f"{ciphers} on {formats.listing(names)}" for ciphers, names in cheapest.items())
    counts = {len(found.ordered) for own in facts.groups if (found := like(own, answer)) is not None}
    of = "" if counts == {len(answer.rows)} else f" of the {len(answer.rows)} cases that every run has"
    return _answered(f"Cheapest{of} to {answer.does}: {lead}.", _order_figure(facts, answer), facts.kinds)


def _of_one_cipher(sides: Sequence[CountedSide], shared: Sequence[Sequence[Group]]) -> Iterator[str]:
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


def _order_figure(facts: CountedCompareFacts, answer: Group) -> str:
    """The matrix of tau in the group that answers; nothing where no two orders are compared."""
    cells = cells_of(facts.agreement, answer)
    if not cells:
        return ""
    names = [side.name for side in facts.sides]
    pictures = [picture(names, cells, width) for width in (WIDE_PX, NARROW_PX)]
    return _drawn(ORDERS, order_title(answer), (TAU, facts.kinds), *pictures)


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


def _versions(ratios: CompareFacts, drawn: Sequence[RatioFigure], kinds: Sequence[str]) -> str:
    """Of one core: in how many cases the others take more than the first, and where most."""
    said = " ".join(_said(ratios.first.spoken, other.side.spoken, other.rows, kinds) for other in ratios.others)
    if not drawn:
        return _answered(said, "", kinds)
    first = drawn[0]
    pictures = [strips(first.rows, first.axis, first.axis_title, width) for width in (STRIPS_PX, NARROW_PX)]
    return _answered(said, _drawn(first.name, first.title, (first.note, kinds), *pictures), kinds)


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


def _joules_are(sides: Sequence[CountedSide]) -> str:
    """What the joules rest on; nothing where no card was named."""
    kinds = {
        kind
        for side in sides
        if "energy_evidence" in side.estimates.columns
        for kind in side.estimates["energy_evidence"].drop_nulls()
    }
    return f"<p>{unbroken(JOULES)} {chip.chips(sorted(kinds))}</p>" if kinds else ""


def _group(sides: Sequence[CountedSide], groups: Sequence[list[Group]], group: Group, answer: Group | None) -> str:
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


def _orders(sides: Sequence[CountedSide], agreement: pl.DataFrame | None) -> str:
    if agreement is None or agreement.is_empty():
        return "<p>There are no three comparable ciphers on two cores.</p>"
    head = ["Cores", "Does", "#Payload, B", "#Ciphers", "#Tau", "#From", "#To", "#Pairs undecided", "Ordered by"]
    return table(
        "How alike each two cores order the ciphers", head, [f"<tbody>{''.join(_taus(sides, agreement))}</tbody>"]
    )


def _taus(sides: Sequence[CountedSide], agreement: pl.DataFrame) -> Iterator[str]:
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
