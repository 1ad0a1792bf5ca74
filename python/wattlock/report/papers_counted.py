"""What emulated cores say of the papers' claims: a column a core beside the host's verdict, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from wattlock.papers.judge import Judgement
from wattlock.papers.literature import Claim
from wattlock.papers.verdicts import ANSWERS, NO_CYCLES, NOT_COUNTABLE, Answer, CoreAnswer, CoreJudged
from wattlock.report import chip, formats
from wattlock.report.markup import bullets, folded, table, unbroken
from wattlock.report.verdict_table import amounts, by_names, marked, worded

MARKS: Mapping[Answer, str] = {"supported": "●", "contradicted": "✕", "undecided": "◐"}
MEANINGS: Mapping[Answer, str] = {
    "supported": "the whole interval lies within what counts as the claim",
    "contradicted": "it lies wholly outside",
    "undecided": "it holds both, or nothing was counted that decides",
}


def counts(core: CoreJudged) -> dict[Answer, int]:
    """How many claims have each answer."""
    return {answer: sum(one.answer == answer for one in core.answers) for answer in ANSWERS}


def counted_line(core: CoreJudged) -> str:
    """What a core says of the claims, in a line."""
    if not core.has_cycles:
        return f"counted on {core.core}: {NO_CYCLES}"
    described = ", ".join(f"{number} {answer}" for answer, number in counts(core).items() if number)
    return f"counted on {core.core} (rules within {core.error_percent:g} %): {len(core.answers)} claims: {described}"


def counted_section(judgements: Sequence[Judgement], claims: Mapping[str, Claim], cores: Sequence[CoreJudged]) -> str:
    """The section as HTML: the cores in a line each, the table, each core's reasons, and what can't be counted."""
    deciding = [core for core in cores if core.has_cycles]
    lines = bullets([f"{line[0].upper()}{line[1:]}." for line in map(counted_line, cores)])
    legend = "; ".join(f"{mark} {answer}: {MEANINGS[answer]}" for answer, mark in MARKS.items())
    lead = (
        f"<p>Cycles of software of the papers’ era on emulated cores, by random bytes. {chip.chip('emulated')} "
        "Cycles stand for energy, at one power. The error of a core’s rules counts whole on both sides of a ratio. "
        f"{legend}.</p>"
    )
    drawn, why = "", ""
    if deciding:
        by_claim = {one.claim: one for one in judgements}
        rows = "".join(
            _row(by_claim[one.claim], claims[one.claim], deciding)
            for one in deciding[0].answers
            if one.claim in by_claim
        )
        head = ["Claim", "This machine", *(core.core for core in deciding)]
        drawn = table("Claims by counted cycles", head, [f"<tbody>{rows}</tbody>"], kind="verdicts")
        why = "".join(folded(f"Why, on {core.core}", _reasons(core, claims)) for core in deciding)
    never = [f"{len(names)} claims: {why_not}." for why_not, names in NOT_COUNTABLE.items() if len(names) > 1]
    never += [f"{by_names(claims[names[0]].says)}: {w}." for w, names in NOT_COUNTABLE.items() if len(names) == 1]
    return f"{lead}{lines}{drawn}{why}<h3>Not countable</h3>{bullets(never)}"


def _row(here: Judgement, claim: Claim, cores: Sequence[CoreJudged]) -> str:
    answers = "".join(_cell(core.of(here.claim)) for core in cores)
    return (
        f'<tr><th scope="row"><a href="#claim-{here.claim}">{worded(claim.says)}</a></th>'
        f'<td class="verdict">{marked(here.verdict)}</td>{answers}</tr>'
    )


def _cell(found: CoreAnswer | None) -> str:
    if found is None:
        return f"<td>{formats.MISSING}</td>"
    value, interval = amounts(found.effect)
    between = "" if interval == formats.MISSING else f" ({unbroken(interval)})"
    what = f' <span class="quiet">{worded(found.effect.what.strip(" ,"))}</span>' if found.effect else ""
    figure = f"<br>{unbroken(value)}{between}{what}" if found.effect else ""
    return f'<td class="says"><strong>{MARKS[found.answer]}\u00a0{found.answer}</strong>{figure}</td>'


def _reasons(core: CoreJudged, claims: Mapping[str, Claim]) -> str:
    return bullets(list(_reasoned(core, claims)))


def _reasoned(core: CoreJudged, claims: Mapping[str, Claim]) -> Iterator[str]:
    for one in core.answers:
        yield by_names(f"{one.answer}: {claims[one.claim].says}: {one.sentence.replace('uJ', 'µJ')}.")
