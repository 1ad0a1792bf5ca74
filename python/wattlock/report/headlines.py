"""The papers page's first screen: nine questions with their answers, each with a small picture and its evidence."""

from __future__ import annotations

from collections.abc import Sequence

from wattlock.papers.nine_questions import Headline, HeadlineAnswer
from wattlock.report.markup import text, unbroken
from wattlock.report.strips import Axis, Row, axis_of, picture

KEY = (
    '<p class="key"><span class="dot">●</span> measured or computed, with its 95 % interval; '
    '<span class="diamond">◇</span> the papers’ figure; <span class="band"></span> what counts as the claim</p>'
)


def cards(headlines: Sequence[Headline]) -> str:
    """All questions as cards; those with the same axis have the same scale."""
    axes: dict[tuple[str, float | None], Axis] = {}
    for key in {(one.answer.axis, one.answer.line) for one in headlines if one.answer}:
        alike = [one.answer for one in headlines if one.answer and (one.answer.axis, one.answer.line) == key]
        rows = [row for answer in alike for row in rows_of(answer)]
        axes[key] = axis_of(rows, log=not key[0].endswith("%"), line=key[1])
    drawn = "".join(_card(place, one, axes) for place, one in enumerate(headlines, 1))
    return f'{KEY}<div class="headlines">{drawn}</div>'


def rows_of(answer: HeadlineAnswer) -> list[Row]:
    """The marks of an answer as rows of its picture."""
    return [
        Row(
            mark.label,
            *mark.effect[2:],
            bounds=(mark.bounds.low, mark.bounds.high)
            if mark.bounds and mark.has_band and not mark.bounds.of
            else None,
            claimed=mark.bounds.claimed if mark.bounds else None,
        )
        for mark in answer.marks
    ]


def _card(place: int, headline: Headline, axes: dict[tuple[str, float | None], Axis]) -> str:
    answer = headline.answer
    links = ", ".join(f'<a href="#claim-{claim}">{claim}</a>' for claim in headline.claims)
    if answer is None:
        inside = (
            f'<p class="says"><strong>Not measured.</strong> It needs {unbroken(headline.needs)}.</p>'
            f"<p><code>{text(headline.command)}</code></p>"
        )
    else:
        inside = (
            f'<p class="says"><strong>{text(answer.word)}.</strong> {unbroken(answer.sentence)} '
            f'<span class="quiet">({text(answer.kind)})</span></p>'
            f"{picture(rows_of(answer), axes[answer.axis, answer.line], answer.axis, line=answer.line)}"
        )
    return (
        f'<article class="headline" id="headline-{place}" aria-labelledby="headline-{place}-title">'
        f'<h3 id="headline-{place}-title">{text(headline.question)}</h3>{inside}'
        f'<p class="evidence">Evidence: {links}</p></article>'
    )
