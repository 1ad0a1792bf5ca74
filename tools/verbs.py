"""Write a page for each verb of `wattlock` anew, from what `--help` says of it.

Call: `.venv/bin/python tools/verbs.py`. A test compares what is committed.
"""

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

from wattlock.cli import VERBS, load
from wattlock.cli.help import with_values

PAGES = Path(__file__).parents[1] / "docs" / "reference" / "verbs"
MARK = "<!-- tools/verbs.py writes this page from the verb's help. -->\n"


def written() -> dict[Path, str]:
    """All pages by path, as they should be."""
    return {PAGES / f"{verb}.md": "".join(_page(verb)) for verb in VERBS}


def _page(verb: str) -> Iterator[str]:
    command = load(verb)
    prose, _, examples = command.help.partition("\n\nExample")
    yield f"# `wattlock {verb}`\n\n{MARK}\n{prose}\n\n## Examples\n\n```\n{examples.partition(':')[2].strip()}\n```\n"
    parameters = with_values(list(command.params))
    for kind in ("argument", "option"):
        rows = [_row(param) for param in parameters if param.param_type_name == kind]
        if rows:
            yield f"\n## {kind.capitalize()}s\n\n| {kind} | default | means |\n|---|---|---|\n{''.join(rows)}"


def _row(parameter: Any) -> str:
    default = "required" if parameter.required else _default(parameter.default)
    listed = ", ".join(f"`{_plain(choice)}`" for choice in parameter.type_descriptor.choices or [])
    means = " ".join(
        part
        for part in (
            parameter.help or "",
            f"One of {listed}." if listed else "",
            "May be given several times." if parameter.multiple else "",
        )
        if part
    )
    return f"| {_called(parameter)} | {default} | {means.replace('|', chr(92) + '|')} |\n"


def _called(parameter: Any) -> str:
    """The name with what stands behind it, in the word that help has."""
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar}`"
    value = "WORD" if parameter.type_descriptor.choices else parameter.metavar or ""
    return ", ".join(f"`{f'{name} {value}'.strip()}`" for name in (*parameter.opts, *parameter.secondary_opts))


def _default(value: Any) -> str:
    """A default as it would be typed; `-` where there is none."""
    plain = _plain(value)
    return "-" if plain is None or plain is False or plain in ([], ()) else f"`{plain}`"


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


if __name__ == "__main__":
    PAGES.mkdir(parents=True, exist_ok=True)
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
