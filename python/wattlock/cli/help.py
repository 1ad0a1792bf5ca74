"""How a verb's help is laid out, in which group it stands, and what a shell completes."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from enum import EnumType
from functools import partial, wraps
from importlib.resources import files
from inspect import Parameter, signature
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any, TypeGuard, get_type_hints

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


HELP = {"help_option_names": ["-h", "--help"]}
"""What asks for help."""
ALL = "--help-all"
OPTIONS = "Options"
SELDOM = "Seldom needed"
"""The group of options that --help names alone."""
WIDEST = 100
"""Letters of a line of help."""
NAMES = 26
"""Letters in which the names stand; a longer one moves its own text."""


class PlainHelp:
    """How a command writes its help: headings, and a line or two an option, as wide as the terminal."""

    verbs_word: Sequence[str] = ()
    """What stands for the arguments of a group of verbs."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write all of it, without the options that are seldom needed unless all are asked for."""
        formatter.write("\n".join(self.sections(ctx, min(get_terminal_size().columns or WIDEST, WIDEST))) + "\n")

    def sections(self: Any, ctx: Any, width: int) -> Iterator[str]:
        """The lines: usage, what it does, the arguments and options in their groups, examples."""
        prose, _, examples = (self.help or "").partition("\n\nExample")
        taken = [param for param in self.params if param.param_type_name == "argument"]
        words = [named(param) if param.required else f"[{named(param)}]" for param in taken] or self.verbs_word
        yield " ".join(["Usage:", ctx.command_path, "[OPTIONS]", *words]) + "\n"
        yield "\n\n".join(textwrap.fill(paragraph, width) for paragraph in prose.split("\n\n"))
        groups: dict[str, list[tuple[str, str]]] = {}
        seldom = []
        for param in self.get_params(ctx):
            if param.rich_help_panel == SELDOM and not ctx.meta.get(ALL):
                seldom += [param.opts[-1], *param.secondary_opts]
                continue
            usual = "Arguments" if param.param_type_name == "argument" else OPTIONS
            groups.setdefault(param.rich_help_panel or usual, []).append((named(param), _means(param)))
        # The options of no group last: among them is --help.
        names = names_width([row for rows in groups.values() for row in rows])
        for title in sorted(groups, key=lambda title: title == OPTIONS):
            yield from listed(title, groups[title], width, names)
        if seldom:
            yield "\n" + textwrap.fill(f"More, described by {ALL}: {', '.join(seldom)}", width, break_on_hyphens=False)
        if examples:
            heading, *lines = f"Example{examples}".splitlines()
            yield "\n".join([f"\n{_bold(heading)}", *(f"  {line}" for line in lines)])


def names_width(rows: Sequence[tuple[str, str]]) -> int:
    """The letters in which their names stand."""
    return min(NAMES, max(len(name) for name, _ in rows) + 4)


def listed(title: str, rows: Sequence[tuple[str, str]], width: int, names: int) -> Iterator[str]:
    """A heading, and names with what they mean."""
    yield f"\n{_bold(title)}"
    for name, means in rows:
        begin = f"  {name}  ".ljust(names)
        yield (
            textwrap.fill(means, width, initial_indent=begin, subsequent_indent=" " * names)
            if means
            else begin.rstrip()
        )


def _bold(title: str) -> str:
    return typer.style(title, bold=True)


def named(param: Any) -> str:
    """What is typed: the names of an option and its value, or the argument."""
    if param.param_type_name == "argument":
        return str(param.metavar or param.human_readable_name)
    value = param.metavar or "|".join(choices_of(param))
    return f"{', '.join([*param.opts, *param.secondary_opts])} {value}".rstrip()


def _means(param: Any) -> str:
    """What it does, and its value where none is given."""
    default = getattr(param.default, "value", param.default)
    shown = default is not None and default is not False and default not in ("", [], ())
    more = [f"(usually {default})"] if shown and not callable(default) and not param.is_eager else []
    return " ".join([param.help or "", *more, *(["(repeatable)"] if param.multiple else [])])


class Verb(PlainHelp, TyperCommand):
    """A verb whose help shows no type for a flag, and N for a number."""

    def __init__(self, *given: Any, help: str | None = None, **named: Any) -> None:
        super().__init__(*given, help=laid_out(help or ""), **named)

        for param in self.params:
            if complete := completer(param):
                setattr(param, "shell_complete", complete)  # noqa: B010 - in one place for all verbs
            setattr(param, "process_value", partial(_processed, param, param.process_value))  # noqa: B010 - so does this

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; an option without its value is told with those that there are."""
        if ALL in args and any(getattr(param, "rich_help_panel", None) == SELDOM for param in self.params):
            ctx.meta[ALL], args = True, ["--help"]
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
    title = re.split(r"[.,;:]", kind.__doc__ or "")[0]
    for field in fields(kind):
        default = Parameter.empty if field.default is MISSING else field.default
        annotation = _grouped(of_fields[field.name], title)
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _grouped(annotation: Any, title: str) -> Any:
    """The annotation of an option, which stands in this group of the help."""
    option = copy(annotation.__metadata__[0])
    option.rich_help_panel = option.rich_help_panel or title
    return Annotated[annotation.__origin__, option]


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
