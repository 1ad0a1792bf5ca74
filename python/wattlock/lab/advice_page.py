"""The page of advice: the question as a form, and its answer, the decision record."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from urllib.parse import urlencode

from wattlock.errors import WattlockError
from wattlock.lab.advice_form import FIELDS, ON, Field
from wattlock.lab.advising import Answer
from wattlock.lab.layout import choice, page, section, told
from wattlock.report.markup import folded, paragraphs, text

HERE = "/advise"
NONE = {"profile": "none: the message below", "device": "the profile’s", "run": "published figures"}
LINE = "Which cipher to take, and how many days of battery each choice leaves."
ABOUT = (
    "A profile has all that a question needs, and what you fill in stands in its place; without one fill in a "
    "message, how often it is sent, and a device or a run. What is left empty is the profile’s, or assumed, and the "
    "record says so.",
)
Values = Mapping[str, Mapping[str, str]]


def form_page(filled: Mapping[str, str], choices: Values, refused: WattlockError | None = None) -> str:
    """The form alone, with what was filled in and why it was refused."""
    alert = told(refused.message, refused.hint) if refused else ""
    ready = "".join(
        f'<li><a href="{_address(name)}">{text(title.partition(": ")[2])}</a></li>'
        for name, title in choices["profile"].items()
    )
    examples = section("profiles", "Questions that come with wattlock", f"<ul>{ready}</ul>")
    return page("Advice", LINE, paragraphs(ABOUT) + alert + _form(filled, choices) + examples, here=HERE)


def _address(profile: str) -> str:
    return text(f"{HERE}?{urlencode({'profile': profile, 'allow-assumed': ON})}")


def answer_page(filled: Mapping[str, str], choices: Values, answer: Answer) -> str:
    """The decision record below the form that asked for it."""
    asked = text(urlencode(filled))
    links = (
        f'<p class="links"><a href="{HERE}.json?{asked}">JSON</a> <a href="{HERE}.csv?{asked}">CSV of the choices</a> '
        f'<a href="{HERE}.html?{asked}" download="decision.html">The record as one file</a> '
        f'<a href="{HERE}.md?{asked}" download="decision.md">As Markdown</a> '
        f'<a href="/plan?{asked}">What to measure next</a></p>'
    )
    form = folded("The question", _form(filled, choices))
    body = f'{form}{links}<div class="record">{answer.inside}</div>'
    return page(answer.title, "", body, here=HERE, styles=("decision",))


def _form(filled: Mapping[str, str], choices: Values) -> str:
    groups = ""
    for name, fields in groupby(FIELDS, key=lambda field: field.group):
        inside = "".join(_field(field, filled.get(field.name, ""), choices) for field in fields)
        groups += f'<fieldset class="filter"><legend>{text(name)}</legend>{inside}</fieldset>'
    return f'<form class="question" action="{HERE}">{groups}<p><button>Answer</button></p></form>'


def _field(field: Field, value: str, choices: Values) -> str:
    if field.name in choices:
        none = NONE.get(field.name, "the profile’s" if field.name != "approved" else "anybody")
        return choice(field.name, field.label, choices[field.name], value, none=none)
    if field.is_box:
        checked = " checked" if value else ""
        return f'<label><input type="checkbox" name="{field.name}" value="{ON}"{checked}> {text(field.label)}</label>'
    return (
        f'<label>{text(field.label)} <input name="{field.name}" value="{text(value)}" size="9" maxlength="64" '
        f'placeholder="{text(field.example)}"></label>'
    )
