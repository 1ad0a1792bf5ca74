"""Write the JSON Schemas of definitions and the tables and templates on their pages anew, from models and templates.

Call: `.venv/bin/python tools/definitions.py`. A test compares what is committed.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from wattlock.advise import cipher_costs, question
from wattlock.definitions import DefinitionForm
from wattlock.definitions.schema import keys
from wattlock.energy import battery_cards, device_cards, radio_cards
from wattlock.link import scenario
from wattlock.study import study
from wattlock.sweep import plan

TREE = Path(__file__).parents[1]
SCHEMAS = TREE / "python" / "wattlock" / "data" / "schemas"
PAGES = TREE / "docs" / "reference" / "definitions"
MARK = "<!-- From here on tools/definitions.py writes this page. -->\n"

FORMS: dict[str, list[DefinitionForm]] = {
    "study": [study.FORM],
    "profile": [question.FORM],
    "scenario": list(scenario.FORMS.values()),
    "sweep": [plan.FORM],
    "device": [device_cards.FORM],
    "radio": [radio_cards.FORM],
    "battery": [battery_cards.FORM],
    "costs": [cipher_costs.FORM],
}
"""The forms by page."""

BOUNDS = {"exclusiveMinimum": "more than", "minimum": "at least", "exclusiveMaximum": "less than", "maximum": "at most"}
WORDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "object": "table"}


def written() -> dict[Path, str]:
    """All files by path, as they should be."""
    found = {SCHEMAS / f"{form.name}.schema.json": form.schema_text() for forms in FORMS.values() for form in forms}
    return found | {PAGES / f"{page}.md": _page(page, forms) for page, forms in FORMS.items()}


def _page(page: str, forms: list[DefinitionForm]) -> str:
    path = PAGES / f"{page}.md"
    head = path.read_text(encoding="utf-8").partition(MARK)[0]
    return head + MARK + "".join(part for form in forms for part in _form(form, several=len(forms) > 1))


def _form(form: DefinitionForm, *, several: bool) -> Iterator[str]:
    named = f" of `{form.name}`" if several else ""
    yield f"\n## Keys{named}\n\n| key | holds | default | means |\n|---|---|---|---|\n"
    made = form.schema()
    held = {path: (one, needed) for _, path, one, needed in keys(made)}
    for entry in form.entries():
        if entry.about:
            one, needed = held[entry.path]
            default = "required" if needed else f"`{entry.value}`" if "default" in one else "-"
            yield f"| `{entry.path}` | {_holds(made, one)} | {default} | {entry.about.replace('|', chr(92) + '|')} |\n"
    yield f"\n## Template{named}\n\n```toml\n{form.template()}```\n"


def _holds(made: Mapping[str, Any], held: Mapping[str, Any]) -> str:
    """What a key may hold, in words."""
    if "anyOf" in held:
        return " or ".join(dict.fromkeys(_holds(made, one) for one in held["anyOf"]))
    if "allOf" in held or "$ref" in held or "oneOf" in held:
        return "table"
    if "items" not in held and (listed := words(held)):
        return ", ".join(f"`{word}`" for word in listed)
    if held.get("type") == "array":
        inside = _holds(made, held["items"])
        return "tables" if inside == "table" else f"list: {inside}"
    if "format" in held:
        return str(held["format"])
    bounds = ", ".join(f"{word} {held[key]:,}" for key, word in BOUNDS.items() if key in held)
    return WORDS[held["type"]] + (f", {bounds}" if bounds else "")


def words(held: Mapping[str, Any]) -> list[str]:
    """The words that a key may hold, where it holds words; those of its items where it is a list."""
    if "items" in held:
        return words(held["items"])
    return [str(word) for word in held.get("enum", [held["const"]] if "const" in held else [])]


if __name__ == "__main__":
    for path, text in written().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
