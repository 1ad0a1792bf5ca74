"""Annotated templates of definitions: what a key means stands once, in the comment above it in `data/templates/`.

In a template `# words` describe the key or the table below them, and `#key = value` is a key that is left out: its
value is the default, or an example where it has none. Schemas and the reference's tables take their words from here.
"""

import re
from typing import NamedTuple

from wattlock.definitions.shipped import shipped_text

TABLE = re.compile(r"(?P<out>#?)\[\[?(?P<path>[\w.]+)\]\]?\s*")
KEY = re.compile(r"(?P<out>#?)(?P<key>\w+) = (?P<value>.+)")


class Entry(NamedTuple):
    """A key or a table of a template.

    * `path`: without places in lists, as `grid.cipher`. `value`: as TOML writes it, empty of a table.
    * `about`: what it means. `left_out`: whether it is commented out.
    """

    path: str
    value: str
    about: str
    left_out: bool


def template(name: str, **blanks: str) -> str:
    """The text of a template.

    * `blanks`: what stands in place of `{key}`, for those that are printed for a certain thing.
    """
    text = shipped_text(f"templates/{name}.toml")
    for blank, value in blanks.items():
        text = text.replace(f"{{{blank}}}", value)
    return text


def entries(text: str) -> list[Entry]:
    """The keys and tables of a template, in its order."""
    found: list[Entry] = []
    about: list[str] = []
    table = ""
    for line in text.splitlines():
        if line.startswith("# "):
            about.append(line.removeprefix("# "))
            continue
        if head := TABLE.fullmatch(line):
            table = head["path"]
            found.append(Entry(table, "", " ".join(about), bool(head["out"])))
        elif key := KEY.fullmatch(line):
            path = f"{table}.{key['key']}".removeprefix(".")
            found.append(Entry(path, key["value"], " ".join(about), bool(key["out"])))
        about = []
    return found


def filled_in(text: str) -> str:
    """A template with all that is commented out put in."""
    return re.sub(r"^#(?=\[|\w+ = )", "", text, flags=re.MULTILINE)
