"""Every claim in one table, grouped by theme: its verdict, its figure and a strip; and what narrows it down."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from wattlock.papers.judge import Effect, Judgement, Verdict
from wattlock.papers.literature import THEMES, Claim
from wattlock.report import formats
from wattlock.report.markup import table, text, unbroken
from wattlock.report.strips import Row, axis_of, picture

MARKS: dict[Verdict, str] = {
    "reproduced": "●",
    "not reproduced": "✕",
    "depends on the implementation": "◩",
    "explained": "◆",
    "not explained": "◇",
    "inconclusive": "◐",
    "not tested": "○",
}
MEANINGS: dict[Verdict, str] = {
    "reproduced": "the whole interval lies within what counts as the claim",
    "not reproduced": "it lies wholly outside",
    "depends on the implementation": "libraries of the papers’ kind of implementation do not agree",
    "explained": "a model comes to the claim",
    "not explained": "a model does not, which refutes nothing",
    "inconclusive": "measured or computed, and the interval holds both",
    "not tested": "nothing at hand speaks of it",
}
SHORT = {
    "elminaam-wlan": "Elminaam (WLAN)",
    "elminaam-perf": "Elminaam (speed)",
    "singh": "Singh",
    "prasithsangaree": "Prasithsangaree",
    "toldinas": "Toldinas",
}
SOURCE_ID = re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(SHORT, key=len, reverse=True))})(?![\w-])")
HEADS = ["Claim", "Verdict", "#Effect", "Claimed and found", "Paper", "Evidence"]
STRIP_PX = 220
EVEN = {"1": 1.0, "%": 0.0}
"""Where nothing differs, by the unit."""
SMALL = 1e-4
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def verdict_table(judgements: Sequence[Judgement], claims: Mapping[str, Claim]) -> str:
    """The filter and the table; without JavaScript all claims stand and there is no filter."""
    groups = ""
    for theme in THEMES:
        own = [one for one in judgements if claims[one.claim].theme == theme]
        rows = "".join(_row(one, claims[one.claim]) for one in own)
        heading = f'<th scope="rowgroup" colspan="{len(HEADS)}">{text(theme.capitalize())}</th>'
        groups += f'<tbody><tr class="theme">{heading}</tr>{rows}</tbody>'
    legend = "; ".join(f"{mark} {verdict}: {MEANINGS[verdict]}" for verdict, mark in MARKS.items())
    drawn = table("Verdicts on every claim", HEADS, [groups], "verdict-table", "sortable verdicts")
    lead = "A head sorts each theme by its column. The claim leads to its reasons."
    return f"<p>{lead} {legend}.</p>{_filter(judgements)}{drawn}"


def _filter(judgements: Sequence[Judgement]) -> str:
    present = {one.verdict for one in judgements}
    verdicts = {verdict: f"{mark} {verdict}" for verdict, mark in MARKS.items() if verdict in present}
    boxes = "".join(
        f"<fieldset><legend>{legend}</legend>{''.join(_box(name, value, says) for value, says in values.items())}"
        "</fieldset>"
        for legend, name, values in (("Verdict", "verdict", verdicts), ("Paper", "paper", SHORT))
    )
    total = f'<output aria-live="polite">{len(judgements)} claims</output>'
    return f'<form class="claims-filter" hidden>{boxes}<p>{total} <button type="reset">Show all</button></p></form>'


def _box(name: str, value: str, says: str) -> str:
    return f'<label><input type="checkbox" name="{name}" value="{text(value)}" checked> {text(says)}</label> '


def _row(one: Judgement, claim: Claim) -> str:
    papers = ", ".join(SHORT.get(source, source) for source in claim.source)
    value, interval = amounts(one.effect)
    key = f' data-v="{one.effect.value:.6g}"' if one.effect else ""
    what = ""
    if one.effect:
        between = "" if interval == formats.MISSING else f" ({unbroken(interval)})"
        what = f'{between} <span class="quiet">{worded(one.effect.what.strip(" ,"))}</span>'
    return (
        f'<tr data-verdict="{text(one.verdict)}" data-papers="{text(" ".join(claim.source))}">'
        f'<th scope="row"><a href="#claim-{one.claim}">{worded(claim.says)}</a></th>'
        f'<td class="verdict">{marked(one.verdict)}</td>'
        f'<td class="n"{key}>{unbroken(value)}{what}</td><td>{strip(one)}</td>'
        f'<td class="says">{text(papers)}</td><td class="says">{text(one.evidence.partition(", ")[0])}</td></tr>'
    )


def by_names(words: str) -> str:
    """A sentence with papers and ciphers by their names and not by their ids."""
    return formats.named(SOURCE_ID.sub(lambda found: SHORT[found[0]], words))


def worded(words: str) -> str:
    """The same as HTML text."""
    return unbroken(by_names(words))


def strip(one: Judgement) -> str:
    """What decides on one small axis: found, its interval, what counts as the claim, and the claimed figure."""
    if one.effect is None:
        return ""
    bounds = one.compared[0].bounds if one.compared and one.compared[0].effect == one.effect else None
    own = bounds if bounds is not None and not bounds.of else None
    row = Row(
        "",
        *one.effect[2:],
        bounds=(own.low, own.high) if own else None,
        claimed=own.claimed if own else None,
    )
    is_ratio = one.effect.unit == "1" and " over " in one.effect.what
    line = EVEN.get(one.effect.unit) if is_ratio or one.effect.unit == "%" else None
    title = "ratio" if is_ratio else one.effect.unit.replace("uJ", "µJ").replace("1", "")
    return picture([row], axis_of([row], log=is_ratio, line=line), title, line=line, width_px=STRIP_PX)


def marked(verdict: Verdict) -> str:
    """A verdict with its mark, kept on one line with it."""
    return f"{MARKS[verdict]}\u00a0{verdict}"


def amounts(effect: Effect | None) -> tuple[str, str]:
    """A figure with its unit, and its interval."""
    if effect is None:
        return formats.MISSING, formats.MISSING
    unit = "" if effect.unit == "1" else f" {effect.unit.replace('uJ', 'µJ')}"
    if effect.beyond:
        return f"{effect.beyond} {_amount(effect.value)}{unit}", formats.MISSING
    interval = f"{_amount(effect.low)} to {_amount(effect.high)}" if effect.low != effect.high else formats.MISSING
    return f"{_amount(effect.value)}{unit}", interval


def _amount(value: float) -> str:
    """A figure with three digits; with a power of ten where the zeros would hide them."""
    if math.isinf(value):
        return "no end"
    if value == 0 or abs(value) >= SMALL:
        return formats.number(value)
    digits, _, power = f"{value:.2e}".partition("e")
    return f"{digits} · 10{str(int(power)).translate(RAISED)}"
