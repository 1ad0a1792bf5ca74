"""TOML that somebody else wrote, within limits: the strict model, and all that is wrong with a file at once."""

import json
import re
import tomllib
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from wattlock.errors import InputError, WattlockError

MOST_B = 4 * 2**20
MOST_VALUES = 100_000
"""Lines and commas together, so that reading takes a second at most."""

MOST_PARTS = 100
"""Parts of one key: reading it takes the square of them."""

_BETWEEN = re.compile(r"[=,{}\[\]\n]")


class OverLimits(tomllib.TOMLDecodeError):
    """TOML beyond the limits, as an error of TOML."""


def loads(text: str) -> dict[str, Any]:
    """The tables of a text.

    Raises tomllib.TOMLDecodeError where it is no TOML, nested too deep, or too much.
    """
    if len(text) > MOST_B:
        raise OverLimits(f"{len(text):,} letters are more than {MOST_B:,}")
    if text.count("\n") + text.count(",") > MOST_VALUES:
        raise OverLimits(f"more than {MOST_VALUES:,} lines and values")
    if max(part.count(".") for part in _BETWEEN.split(text)) >= MOST_PARTS:
        raise OverLimits(f"a key of more than {MOST_PARTS} parts")
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))  # a mark that editors of Windows put before UTF-8
    except RecursionError:
        raise OverLimits("nested too deep") from None


def tables_of(text: str | bytes, label: str, error_class: type[WattlockError] = InputError) -> dict[str, Any]:
    """The tables of a text.

    * `label`: what the text is called in errors.

    Raises `error_class` where it is no TOML, or beyond the limits.
    """
    try:
        return loads(text if isinstance(text, str) else text.decode())
    except ValueError as error:
        hint = "it has lines as `key = value` below `[tables]`, in UTF-8: https://toml.io"
        raise error_class(f"{label}: not TOML: {error}", hint=hint) from error


Text = Annotated[str, Field(min_length=1)]


class Table(BaseModel):
    """A table of a definition: no unknown key, no value of a wrong type made to fit."""

    # Made when first used: most tables are parts of others, which hold what they need of them.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)


BARE = re.compile(r"[\w-]+")
BESIDE_LETTERS = re.compile(r"[\W_]")
SHOWN_LETTERS = 60
MOST_SHOWN = 20
"""Mistakes of one file that are shown; a long list of a wrong type has thousands."""

# Pydantic's kinds of error in our words; `{}` is the bound that was missed.
MUST_BE = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "list_type": "a list",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "dict_type": "a table",
    "greater_than": "more than {}",
    "greater_than_equal": "at least {}",
    "less_than": "less than {}",
    "less_than_equal": "at most {}",
    "string_too_short": "at least {} letter long",
    "string_too_long": "at most {} letters long",
    "string_pattern_mismatch": "lower-case letters, digits and single hyphens",
}


MISSING = "is missing"


class Problem(NamedTuple):
    """One thing that is wrong: `path` as in `grid[0].cipher[3]`, empty for the file as a whole."""

    path: str
    what: str
    hint: str = ""


Wording = Callable[[ErrorDetails], Problem | None]
"""What a kind of definition says itself of one of Pydantic's errors; None leaves it to the usual words."""


def refusal(label: str, problems: Sequence[Problem], error_class: type[WattlockError] = InputError) -> WattlockError:
    """The error that names all of `problems`: the first with its hint, each of the others in a line below it.

    A hint that is the first one's is told once.

    * `label`: the kind and the file as the user knows it, as `study mine.toml`.
    """
    first, *others = problems
    lines = [f"{label}: {_placed(first)}"]
    for other in others[: MOST_SHOWN - 1]:
        own_hint = f"; {other.hint}" if other.hint not in {"", first.hint} else ""
        lines.append(f"  also {_placed(other)}{own_hint}")
    if len(problems) > MOST_SHOWN:
        lines.append(f"  also {len(problems) - MOST_SHOWN} more mistakes")
    return error_class("\n".join(lines), hint=first.hint)


def _placed(problem: Problem) -> str:
    return f"{problem.path}: {problem.what}" if problem.path else problem.what


def nearest(word: str, among: Iterable[str]) -> str | None:
    """The entry of `among` that looks most like `word`, whatever its case and hyphens; None where none is like it."""
    by_letters: dict[str, str] = {}
    for name in among:
        by_letters.setdefault(_letters(name), name)
    close = get_close_matches(_letters(word), by_letters, n=1)
    return by_letters[close[0]] if close else None


def _letters(name: str) -> str:
    """What people remember of a name."""
    return BESIDE_LETTERS.sub("", name.casefold())


def suggestion(word: str, among: Sequence[str], otherwise: str) -> str:
    """A hint: the nearest entry of `among`, or else all of them behind the words `otherwise`."""
    close = nearest(word, among)
    return f'did you mean "{close}"?' if close else f"{otherwise}: {', '.join(among)}"


def shown(value: object) -> str:
    """A value of a study as the user wrote it, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN_LETTERS else text[: SHOWN_LETTERS - 1] + "…"


def path_of(location: Iterable[str | int]) -> str:
    """`("grid", 0, "cipher")` as `grid[0].cipher`; a key that needs quotation marks in TOML has them."""
    keys = (part if isinstance(part, int) or BARE.fullmatch(part) else shown(part) for part in location)
    parts = (f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)
    return "".join(parts).removeprefix(".")


def problems_of(error: ValidationError, model: type[BaseModel], wording: Wording | None = None) -> list[Problem]:
    """All mistakes that Pydantic found in a table, in our words.

    * `model`: of the whole table.

    An unknown key comes first, and the key that was meant isn't told as missing beside it. Of a value that may be of
    several kinds only what is wrong by the kind that was meant is told.
    """
    located = [_Located.of(model, detail) for detail in error.errors(include_url=False)]
    branches: dict[tuple[int | str, ...], _Located] = {}
    for entry in located:
        best = branches.setdefault(entry.union, entry)
        if entry.rank < best.rank:
            branches[entry.union] = entry
    meant = [problem for problem in located if not problem.union or problem.branch == branches[problem.union].branch]
    meant.sort(key=lambda located_error: located_error.error["type"] != "extra_forbidden")
    found: list[Problem] = []
    missed: set[str] = set()
    for entry in meant:
        problem = (wording and wording(entry.error)) or translated(entry.error, entry.keys)
        if entry.error["type"] == "extra_forbidden":
            key = str(entry.error["loc"][-1])
            close = nearest(key, entry.keys)
            missed.add(path_of((*entry.error["loc"][:-1], close or "")))
            tables = [] if close else list(_tables_with(key, model))
            if tables:
                problem = problem._replace(hint=f"it is a key of {' and of '.join(tables)}: is that line behind a #?")
        if entry.error["type"] != "missing" or problem.path not in missed:
            found.append(problem)
    return found


def _tables_with(key: str, model: type[BaseModel]) -> Iterator[str]:
    """The tables of a definition that have a key, as their head lines stand in a file."""
    for name, field in model.model_fields.items():
        for kind in _kinds(field.annotation):
            head, item = (f"[[{name}]]", get_args(kind)[-1]) if get_origin(kind) is list else (f"[{name}]", kind)
            tables = (kind for kind in _kinds(item) if isinstance(kind, type) and issubclass(kind, BaseModel))
            if any(key in table.model_fields for table in tables):
                yield head


class _Located(NamedTuple):
    """One of Pydantic's errors with its place in the file.

    * `error`: its location without what Pydantic adds for a value that may be of several kinds.
    * `keys`: those that the table allows in which it lies.
    * `union`: the place of the value of several kinds, empty where there is none; `branch`: by which kind it is wrong.
    """

    error: ErrorDetails
    keys: list[str]
    union: tuple[int | str, ...]
    branch: str

    @property
    def rank(self) -> tuple[bool, bool, int]:
        # Of several kinds the one that was meant is the table where there is one, and the deeper one.
        no_table = self.error["type"] in {"float_type", "string_type"} and isinstance(self.error["input"], dict)
        return no_table, self.error["type"] != "extra_forbidden", -len(self.error["loc"])

    @classmethod
    def of(cls, model: type[BaseModel], error: ErrorDetails) -> "_Located":
        here: list[Any] = [model]
        table = model
        path: list[int | str] = []
        union: tuple[int | str, ...] = ()
        branch = ""
        for number, part in enumerate(error["loc"]):
            tables = [kind for kind in here if isinstance(kind, type) and issubclass(kind, BaseModel)]
            holder = next((kind for kind in tables if part in kind.model_fields), None)
            inside = [item for kind in here for item in _items(kind, part)]
            if holder is not None:
                table, here = holder, _kinds(holder.model_fields[str(part)].annotation)
            elif inside:
                here = [kind for item in inside for kind in _kinds(item)]
            elif error["type"] == "extra_forbidden" and number == len(error["loc"]) - 1:
                table = tables[0] if tables else table
            else:
                union, branch = tuple(path), str(part)
                here = [kind for kind in tables if _is_called(kind, branch)]
                table = here[0] if here else table
                continue
            path.append(part)
        if error["type"].startswith("union_tag"):
            key = str(error["ctx"]["discriminator"]).strip("'")
            path.append(key)
            tags = [tag for kind in here for tag in _tags(getattr(kind, "model_fields", {}).get(key))]
            error = {**error, "ctx": {**error["ctx"], "expected_tags": ", ".join(tags)}}
        return cls({**error, "loc": tuple(path)}, list(table.model_fields), union, branch)


def _kinds(annotation: Any) -> list[Any]:
    """The kinds of value that an annotation allows."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _kinds(get_args(annotation)[0])
    if origin in {Union, types.UnionType}:
        return [kind for part in get_args(annotation) for kind in _kinds(part)]
    return [annotation]


def _items(kind: Any, part: int | str) -> Iterator[Any]:
    """What is inside a list or a mapping, at a number or under a key."""
    origin = get_origin(kind)
    if (origin is list and isinstance(part, int)) or (origin is dict and isinstance(part, str)):
        yield get_args(kind)[-1]


def _is_called(kind: type[BaseModel], name: str) -> bool:
    """Whether Pydantic means a model by `name`: its class, alone or as `function-after[f(), Class]`, or its tag."""
    tags = (tag for field in kind.model_fields.values() for tag in _tags(field))
    return kind.__name__ in re.findall(r"\w+", name) or name in tags


def _tags(field: FieldInfo | None) -> tuple[Any, ...]:
    return get_args(field.annotation) if field and get_origin(field.annotation) is Literal else ()


def translated(error: ErrorDetails | Mapping[str, Any], keys: Sequence[str]) -> Problem:
    """One of Pydantic's errors in our words.

    * `keys`: the keys that the table allows in which the error lies.
    """
    kind, value, location = error["type"], error["input"], error["loc"]
    path, context = path_of(location), error.get("ctx", {})
    if kind in {"union_tag_invalid", "literal_error"}:
        tagged = kind == "union_tag_invalid"
        choices = context["expected_tags" if tagged else "expected"]
        return _unknown_choice(location, path, context["tag"] if tagged else value, choices)
    if kind in MUST_BE:
        bound = next((v for k, v in context.items() if k != "pattern"), "")
        bound = f"{bound:g}" if isinstance(bound, float) else bound
        hint = _type_hint(kind, location, value)
        return Problem(path, f"must be {MUST_BE[kind].format(bound)}, is {shown(value)}", hint)
    wordings = {
        "missing": (MISSING, ""),
        "union_tag_not_found": (MISSING, f"there are: {context.get('expected_tags')}"),
        "extra_forbidden": ("unknown key", _key_hint(str(location[-1]), keys) if location else ""),
        "too_short": ("is empty", ""),
        "value_error": _by_a_rule(context.get("error"), error["msg"]),
    }
    return Problem(path, *wordings.get(kind, (f"{error['msg']}, is {shown(value)}", "")))


NOUNS = {"approved": "authority", "encrypt": "unit of encryption", "counted": "way of counting", "compared": "language"}
"""What keys name that are no nouns themselves."""


def _by_a_rule(error: object, message: str) -> tuple[str, str]:
    """What a rule of a model says: `ValueError(what)`, or `ValueError(what, hint)`."""
    if isinstance(error, ValueError) and len(error.args) == len(("what", "hint")):
        what, hint = error.args
        return str(what), str(hint)
    return message.removeprefix("Value error, "), ""


def _key_hint(word: str, keys: Sequence[str]) -> str:
    hint = suggestion(word, keys, "the keys are")
    return f"{hint} sizes are in bytes" if hint.endswith('_B"?') else hint


def _unknown_choice(location: Sequence[str | int], path: str, value: object, expected: str) -> Problem:
    choices = expected.replace(" or ", ", ").replace("'", "").split(", ")
    name = next((part for part in reversed(location) if isinstance(part, str)), "value")
    return Problem(path, f"no {NOUNS.get(name, name)} {shown(value)}", suggestion(str(value), choices, "there are"))


def _type_hint(kind: str, location: Sequence[str | int], value: object) -> str:
    if kind == "list_type":
        return f"write [[{location[-1]}]] in two brackets" if isinstance(value, dict) else f"write [{shown(value)}]"
    sizes = any(str(part).endswith("_B") for part in location)
    return "sizes are whole bytes, without a unit: 16_384" if kind == "int_type" and sizes else ""
