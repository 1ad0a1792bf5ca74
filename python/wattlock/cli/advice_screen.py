"""What `wattlock advise` prints for eyes: the answer on one screen, and by `--explain` all that it rests on."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from wattlock.cli.echo import echo
from wattlock.cli.table import show_filled

if TYPE_CHECKING:
    from wattlock.advise.advice import Advice
    from wattlock.advise.decision import Option

COLUMNS, ROWS = 80, 6
"""Of the screen that the answer fits, and of its table at most."""
NAME_COLUMNS = 24
TITLES = {
    "experiments": "ways to spend less, from the usual choice",
    "energy_first": "a message's budget: the least that a sound one needs, and what framings take more",
    "pareto": "strength, days and latency: the front, in shares of the draws",
    "sensitivity": "where the answer changes",
}
More = dict[str, list[dict[str, Any]]]


def one_screen(of: Advice, more: More, top: int | None) -> None:
    """The decision, six rows, three lines of reasons, what to measure next, and the tables that were asked for."""
    from wattlock.advise import decision, prose, why

    _say(prose.title(of.question), decision.sentence(of), "")
    shown = decision.first_options(of, top or ROWS)
    for line in _options(of, shown):
        echo(line)
    _say("", *decision.reasons(of), *filter(None, [why.tag(of)]))
    _say(*decision.by_code(of))
    _say(*(f"{peak[0].upper()}{peak[1:]}." for peak in prose.peaks(of)))
    measure = decision.next_measurement(of)
    if measure:
        _say(f"Measure next: {measure}.")
    _say(_left_out(of, len(decision.options(of)) - len(shown)))
    _tables(of, more)


def why_not(of: Advice, sentences: list[str]) -> None:
    """The decision, and where the cipher that was asked after stands."""
    from wattlock.advise import decision, prose

    _say(prose.title(of.question), decision.sentence(of), "", *sentences)


def _say(*sentences: str) -> None:
    for sentence in sentences:
        # A percentage stays on one line.
        lines = wrap(sentence.replace(" %", "\u00a0%"), COLUMNS, break_on_hyphens=False)
        echo("\n".join(lines).replace("\u00a0", " "))


def _options(of: Advice, shown: list[Option]) -> list[str]:
    from wattlock.advise import prose

    in_hours = prose.short_lived(of.best)
    unit = prose.span(of.best, in_hours=in_hours).unit
    rows: list[tuple[str, ...]] = [("  rank", "cipher", unit, "95 %", "tag", "way")]
    for one in shown:
        life = prose.span(one.place, in_hours=in_hours)
        mark = "> " if one.decided else "  "
        choice = of.choices[one.place.number]
        tag = str(choice.tag_bits) if choice.tag_bits else "none"
        name = _cut(one.name, NAME_COLUMNS)
        rows.append((f"{mark}{one.rank}", name, life.middle, life.interval, tag, choice.beside_tag))
    # The decision's sentence says the way: the column is for those that differ.
    if len(rows) > 2 and len({row[-1] for row in rows[1:]}) == 1:
        rows = [row[:-1] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        _cut("  ".join(part.ljust(width) for part, width in zip(row, widths, strict=True)).rstrip(), COLUMNS)
        for row in rows
    ]


def _cut(text: str, columns: int) -> str:
    return text if len(text) <= columns else f"{text[: columns - 3]}..."


def _left_out(of: Advice, rows: int) -> str:
    from wattlock.advise import prose

    counts = [
        (rows, "more row" if rows == 1 else "more rows"),
        (len(of.excluded), "excluded"),
        (len(of.inputs.assumed), "assumed"),
        (len(prose.notes(of)), "notes"),
    ]
    left = ", ".join(f"{count} {what}" for count, what in counts if count)
    return f"Evidence: {of.evidence['answer']}. --explain: {left}; --why CIPHER."


def explained(of: Advice, more: More, top: int | None) -> None:
    """All of it: every choice, what was excluded, legacy ciphers, costs with their sources, assumptions, what-ifs."""
    from wattlock.advise import decision, prose

    echo(f"{prose.title(of.question)}\n")
    echo("\n".join([decision.sentence(of), *prose.lead(of)]))
    _ranked(of, top or len(of.places))
    echo("\nwhat the decision obliges to")
    for label, text in decision.consequences(of):
        echo(f"{label.lower()}: {text}")
    _costs(of)
    if of.excluded:
        show_filled(of.excluded_frame.select("cipher", "choices", "rule", "because", "source").to_dicts(), "excluded")
    _tables(of, more)
    if of.history:
        echo("\nlegacy ciphers, for reference: what the papers' advice would save, and why it is not followed")
        echo("\n".join(prose.history(of.history)))
    _rests(of)


def _tables(of: Advice, more: More) -> None:
    from wattlock.advise import prose
    from wattlock.advise.what_if import usual

    for key, found in more.items():
        start = f": {prose.named(usual(of))}" if key == "experiments" else ""
        show_filled(prose.described(key, found), f"{TITLES[key]}{start}")
        if key == "experiments" and prose.without_gain(of):
            _say(prose.without_gain(of))
        if key == "energy_first" and found:
            echo(prose.BUDGET)


def _ranked(of: Advice, top: int) -> None:
    from wattlock.advise import prose

    show_filled(prose.rows(of, top), "ways to protect it, longest life first; one rank: tied, choose on security")
    if len(of.places) > top:
        echo(f"{len(of.places) - top} more choices pass; --top {len(of.places)} shows them all")
    for name, title in prose.framing(of):
        echo(f"{name}: {title}")


def _costs(of: Advice) -> None:
    from wattlock.advise import sourcing

    found = sourcing.rows(of.inputs.priced, of.question)
    if found:
        show_filled(sourcing.by_code_rows(of.inputs.priced, of.question), sourcing.BY_CODE.lower())
        shown = [{key: value for key, value in row.items() if key != "url"} for row in found]
        show_filled(shown, "where the ciphers' costs come from")


def _rests(of: Advice) -> None:
    from wattlock.advise import prose

    echo("\nwhat the answer rests on")
    if of.information and of.information[0].narrower > 0:
        echo(f"measure first: {prose.narrower(of.information[0])}")
    echo(f"evidence: {', '.join(f'{what} {kind}' for what, kind in of.evidence.items())}")
    for sentence in of.inputs.assumed:
        echo(f"assumed: {sentence}")
    for sentence in prose.notes(of):
        echo(f"note: {sentence}")
