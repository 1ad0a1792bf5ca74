"""How a verb's help is laid out: paragraphs that flow, an example a line, and no type where a name says it."""

from __future__ import annotations

import re
from typing import Any

from typer.core import TyperCommand

EXAMPLES = re.compile(r"\s*Examples?: ")
VALUES = {int: "N", float: "N", str: "TEXT"}
NEXT_EXAMPLE = re.compile(r"[;\s]+(?=wattlock )")


def laid_out(text: str) -> str:
    """A docstring as help: each paragraph flows by itself, and the examples at its end stand a line each."""
    prose, *examples = EXAMPLES.split(text, maxsplit=1)
    paragraphs = [" ".join(paragraph.split()) for paragraph in prose.split("\n\n")]
    if examples:
        lines = [" ".join(one.split()) for one in NEXT_EXAMPLE.split(examples[0].strip())]
        paragraphs.append("\n".join(["Examples:" if len(lines) > 1 else "Example:", *lines]))
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


class Verb(TyperCommand):
    """A verb whose help shows no type for a flag, and N for a number."""

    def __init__(self, *given: Any, help: str | None = None, **named: Any) -> None:
        super().__init__(*given, help=laid_out(help or ""), **named)

        from wattlock.cli.completion import completer

        for param in self.params:
            if own := completer(param):
                setattr(param, "shell_complete", own)  # noqa: B010 - in one place for all verbs

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, `--help` with them."""
        return with_values(super().get_params(ctx))


def with_values(params: list[Any]) -> list[Any]:
    """Parameters of which each option says what stands behind it; Typer lists choices by itself."""
    for param in params:
        if param.param_type_name == "option" and param.metavar is None:
            param.metavar = "" if param.is_flag else VALUES.get(param.type_descriptor.annotation)
    return params
