"""Groups of options: a verb takes a dataclass, the command line its fields, each as an option of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeGuard, get_type_hints


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

    parameters = [part for one in signature(verb).parameters.values() for part in _spread(one, hints)]
    called.__signature__ = signature(verb).replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in parameters}
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
