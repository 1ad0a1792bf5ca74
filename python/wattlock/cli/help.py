"""How a verb's help is laid out, in which group it stands, and what a shell completes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from enum import EnumType
from functools import partial, wraps
from importlib.resources import files
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, TypeGuard, get_type_hints

import typer
from typer.core import TyperCommand

EXAMPLES = re.compile(r"\s*Examples?: ")
VALUES = {int: "N", float: "N", str: "TEXT"}
NEXT_EXAMPLE = re.compile(r"[;\s]+(?=wattlock )")


def laid_out(text: str) -> str:
    """A docstring as help: each paragraph flows by itself, and the examples at its end stand a line each."""
    prose, *examples = EXAMPLES.split(text, maxsplit=1)
    paragraphs = [" ".join(paragraph.split()) for paragraph in prose.split("\n\n")]
    if examples:
        lines = [" ".join(example.split()) for example in NEXT_EXAMPLE.split(examples[0].strip())]
        paragraphs.append("\n".join(["Examples:" if len(lines) > 1 else "Example:", *lines]))
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


class Verb(TyperCommand):
    """A verb whose help shows no type for a flag, and N for a number."""

    def __init__(self, *given: Any, help: str | None = None, **named: Any) -> None:
        super().__init__(*given, help=laid_out(help or ""), **named)

        for param in self.params:
            if complete := completer(param):
                setattr(param, "shell_complete", complete)  # noqa: B010 - in one place for all verbs
            setattr(param, "process_value", partial(_processed, param, param.process_value))  # noqa: B010 - so does this

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; an option without its value is told with those that there are."""
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            option = getattr(error, "option_name", None)
            choices = next((choices_of(param) for param in self.params if option in param.opts), [])
            if choices:
                setattr(error, "message", f"{option} needs one of {', '.join(choices)}")  # noqa: B010 - Typer types none
            raise

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, `--help` with them."""
        return with_values(super().get_params(ctx))


def _processed(param: Any, usual: Callable[[Any, Any], Any], ctx: Any, value: Any) -> Any:
    """The value of a parameter: as it is where it is of its type already, so that nothing is loaded to make it that."""
    kind = param.type_descriptor.annotation
    is_made = type(value) is kind and (kind is not str or value.isascii())
    is_left_out = value is None and not param.required
    if (is_made or is_left_out) and param.nargs == 1 and not param.multiple and param.callback is None:
        return value
    return usual(ctx, value)


def choices_of(param: Any) -> list[str]:
    """The values that an option may have, where these are few; empty where it may be anything."""
    annotation = param.type_descriptor.annotation
    return list(map(str, annotation)) if isinstance(annotation, EnumType) else []


def with_values(params: list[Any]) -> list[Any]:
    """Parameters of which each option says what stands behind it; Typer lists choices by itself."""
    for param in params:
        if param.param_type_name == "option" and param.metavar is None:
            param.metavar = "" if param.is_flag else VALUES.get(param.type_descriptor.annotation)
    return params


def spread(verb: Callable[..., None]) -> Callable[..., None]:
    """A verb as Typer can read it: in place of each parameter that is a dataclass stand its fields.

    The fields' annotations and defaults are those of options, and their names are the options' own.
    """
    hints = get_type_hints(verb, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if _is_group(kind)}

    @wraps(verb)
    def called(**values: Any) -> None:
        for name, kind in groups.items():
            values[name] = kind(**{field.name: values.pop(field.name) for field in fields(kind)})
        verb(**values)

    parameters = [part for parameter in signature(verb).parameters.values() for part in _spread(parameter, hints)]
    called.__signature__ = signature(verb).replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called


def _spread(parameter: Parameter, hints: dict[str, Any]) -> Iterator[Parameter]:
    kind = hints[parameter.name]
    if not _is_group(kind):
        yield parameter.replace(annotation=kind, kind=Parameter.KEYWORD_ONLY)
        return
    of_fields = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        default = Parameter.empty if field.default is MISSING else field.default
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=of_fields[field.name])


def _is_group(kind: Any) -> TypeGuard[type[Any]]:
    return isinstance(kind, type) and is_dataclass(kind)


SHIPPED = {
    "device": "devices",
    "radio": "radios",
    "battery": "batteries",
    "study": "studies",
    "scenario": "links",
    "profile": "profiles",
}
"""Parameters that name an entry, and its folder of `data`."""
RUNS = {"RUN", "RUN..."}


def completer(parameter: Any) -> Callable[[Any, str], list[Any]] | None:
    """What completes a parameter's value; None where Typer does, or nothing can."""
    if parameter.metavar in RUNS:
        return _runs
    folder = SHIPPED.get(parameter.name)
    return (lambda _, begun: _items(_shipped(folder), begun)) if folder else None


def _items(names: list[str], begun: str) -> list[Any]:
    from typer.core import CompletionItem  # type: ignore[attr-defined] # no public name has it

    known = [CompletionItem(name) for name in names if name.startswith(begun)]
    return known or [CompletionItem(begun, type="file")]


def _shipped(folder: str) -> list[str]:
    root = Path(str(files("wattlock") / "data" / folder))
    return sorted(file.relative_to(root).with_suffix("").as_posix() for file in root.rglob("*.toml"))


def _runs(_: Any, begun: str) -> list[Any]:
    from wattlock.store.run_plan import LAST, runs

    return _items([LAST, *(run.name for run in reversed(runs()))], begun)
