"""The schema of records, and what is wrong with a record by it: a judge as fast as a million lines need."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from wattlock.definitions.constants import contract
from wattlock.errors import StoreError

if TYPE_CHECKING:
    import polars as pl

SCHEMA = 2
"""The version of records that this wattlock reads and writes; `SCHEMA` of the probe."""


def check_version(run: str, version: object) -> None:
    """Raises StoreError where records of `version` can't be read; `run` is named in it."""
    if type(version) is not int or version != SCHEMA:  # 2.0 would pass for a number
        hint = "the wattlock that wrote it, or a newer one, reads it"
        raise StoreError(f"run {run}: its records have schema {version!r}, this wattlock reads {SCHEMA}", hint=hint)


@cache
def batch_columns() -> dict[str, type[pl.DataType]]:
    """The columns of a batch record with their types, in the order of the schema."""
    return {name: _column(spec) for name, spec in _batch()["properties"].items()}


@cache
def required_columns() -> tuple[str, ...]:
    """The columns of a batch record that are never null."""
    properties = _batch()["properties"]
    return tuple(name for name in _batch()["required"] if "null" not in _kinds(properties[name]))


@cache
def least_values() -> dict[str, int]:
    """The least value of each whole number of a batch record."""
    return {name: spec["minimum"] for name, spec in _batch()["properties"].items() if "minimum" in spec}


@cache
def causes() -> tuple[str, ...]:
    """The causes for which a batch does not count."""
    return tuple(one["const"] for one in record_schema()["$defs"]["Cause"]["oneOf"])


@cache
def record_schema() -> dict[str, Any]:
    """The schema of one record line."""
    record: dict[str, Any] = contract()["record"]
    return record


def _batch() -> dict[str, Any]:
    batch: dict[str, Any] = record_schema()["$defs"]["BatchRecord"]
    return batch


def _column(spec: Mapping[str, Any]) -> type[pl.DataType]:
    import polars as pl

    (kind,) = set(_kinds(spec)) - {"null"}
    # All integers are signed and 64 bits wide: differences of unsigned columns would wrap.
    return {"integer": pl.Int64, "number": pl.Float64, "boolean": pl.Boolean, "string": pl.String}[kind]


def _kinds(spec: Mapping[str, Any]) -> Iterator[str]:
    """The JSON types that a schema allows, references and alternatives followed."""
    if "$ref" in spec:
        yield from _kinds(record_schema()["$defs"][spec["$ref"].rsplit("/", 1)[-1]])
    for alternative in (*spec.get("anyOf", ()), *spec.get("oneOf", ())):
        yield from _kinds(alternative)
    kind = spec.get("type", [])
    yield from [kind] if isinstance(kind, str) else kind


Check = Callable[[Any], str | None]
"""Gives what is wrong with a value, behind its place within it (`.cases[3].calls is 0, ...`); null where nothing is."""
Fill = Callable[[Any], None]
"""Puts nulls into a value, in place."""

_SILENT = {"description", "title", "default", "writeOnly", "readOnly", "$schema", "$defs"}
_MOST = {"uint8": 2**8 - 1, "uint32": 2**32 - 1, "uint64": 2**64 - 1, "int64": 2**63 - 1, "double": math.inf}

_PROCESS = {"type": "integer", "format": "uint32", "minimum": 0}
_OWN: Mapping[str, Mapping[str, Any]] = {
    "session": {
        "type": "object",
        "required": ["wall_s", "next_process"],
        "properties": {"wall_s": {"type": "number", "minimum": 0}, "next_process": _PROCESS},
    },
    "left_out": {
        "type": "object",
        "required": ["process", "why"],
        "properties": {"process": _PROCESS, "why": {"type": "string"}},
    },
}
"""The records that wattlock itself puts beside those of the probe, and counts on."""


def fault(record: Mapping[str, Any]) -> str | None:
    """What is wrong with a record by the schema of its kind: the place and the rule; null where nothing is.

    A record of a kind that the schema does not have is not judged.
    """
    check = _checks().get(record["kind"])
    return _placed(check(record)) if check else None


def fault_by(value: object, schema: Mapping[str, Any]) -> str | None:
    """What is wrong with a value by a schema of the instrument's; null where nothing is."""
    check = _made({name: rule for name, rule in schema.items() if name != "$defs"}, schema.get("$defs", {}))
    return _placed(check(value))


def _placed(found: str | None) -> str | None:
    return f"it{found}" if found is not None and found.startswith(" ") else found and found.removeprefix(".")


def filled(record: dict[str, Any]) -> dict[str, Any]:
    """The record, with null for each of its fields that may be null and is absent: in place, as deep as it goes."""
    fill = _fills().get(record.get("kind", ""))
    if fill is not None:
        fill(record)
    return record


@cache
def _fills() -> Mapping[str, Fill | None]:
    types = record_schema()["$defs"]
    return {kind: _fill({"$ref": f"#/$defs/{name}"}, types) for kind, name in _names().items()}


def _fill(spec: Mapping[str, Any], types: Mapping[str, Any]) -> Fill | None:
    """What puts the nulls into a value of this type; null where there are none to put."""
    # A part that may be null is an alternative of it and null.
    spec = next((one for one in spec.get("anyOf", ()) if "$ref" in one), spec)
    if "$ref" in spec:
        spec = types[spec["$ref"].rsplit("/", 1)[-1]]
    fields = spec.get("properties", {})
    nulls = [name for name, part in fields.items() if _may_be_null(part)]
    parts = {name: inner for name, part in fields.items() if (inner := _fill(part, types)) is not None}
    item = _fill(spec["items"], types) if "items" in spec else None

    def fill(value: Any) -> None:
        if isinstance(value, dict):
            for name, put in parts.items():
                if name in value:
                    put(value[name])
            for name in nulls:
                value.setdefault(name)
        elif isinstance(value, list) and item is not None:
            for one in value:
                item(one)

    return fill if nulls or parts or item is not None else None


def _may_be_null(part: Mapping[str, Any]) -> bool:
    return "null" in part.get("type", ()) or any(one.get("type") == "null" for one in part.get("anyOf", ()))


def kinds() -> frozenset[str]:
    """The kinds of records that a probe writes."""
    return frozenset(_names())


@cache
def _checks() -> Mapping[str, Check]:
    schema = record_schema()
    made = {kind: _made({"$ref": f"#/$defs/{name}"}, schema["$defs"]) for kind, name in _names().items()}
    return made | {kind: _made(own, {}) for kind, own in _OWN.items()}


@cache
def _names() -> Mapping[str, str]:
    """The type of each kind."""
    choices = record_schema()["oneOf"]
    return {one["properties"]["kind"]["const"]: one["$ref"].rsplit("/", 1)[-1] for one in choices}


def _made(spec: Mapping[str, Any], types: Mapping[str, Any]) -> Check:
    checks = list(_parts(spec, types))

    def check(value: Any) -> str | None:
        for one in checks:
            if (found := one(value)) is not None:
                return found
        return None

    return checks[0] if len(checks) == 1 else check


def _parts(spec: Mapping[str, Any], types: Mapping[str, Any]) -> Iterator[Check]:
    made = partial(_made, types=types)
    makers: Mapping[str, Callable[[Any], Check]] = {
        "type": lambda rule: _of_type([rule] if isinstance(rule, str) else rule),
        "$ref": lambda rule: made(types[rule.rsplit("/", 1)[-1]]),
        "const": lambda rule: _one_of([rule]),
        "oneOf": lambda rule: _any_of(rule, types),
        "anyOf": lambda rule: _any_of(rule, types),
        "minimum": lambda rule: _bounded(rule, math.inf),
        "maximum": lambda rule: _bounded(-math.inf, rule),
        "format": lambda rule: _bounded(-math.inf, _MOST[rule]),
        "required": _with_all,
        "properties": lambda rule: _with_parts({name: made(one) for name, one in rule.items()}),
        "additionalProperties": lambda rule: _with_values(made(rule)),
        "items": lambda rule: _with_items(made(rule), _by_field(rule, types)),
        "pattern": _matching,
        "maxLength": _short,
        "minItems": lambda rule: _as_long(rule, math.inf),
        "maxItems": lambda rule: _as_long(0, rule),
    }
    words = sorted(spec.keys() - _SILENT, key=lambda word: (word != "type", word))  # the type is told before a bound
    yield from (makers[word](spec[word]) for word in words)


_PYTHON: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}


def _of_type(names: Sequence[str]) -> Check:
    types = frozenset(one for name in names for one in _PYTHON[name])

    def check(value: Any) -> str | None:
        # What JSON gives is of these very types: a truth value is no number here.
        kind = type(value)
        if kind in types and (kind is not float or math.isfinite(value)):
            return None
        return f" is {_shown(value)}, not {' or '.join(names)}"

    return check


def _one_of(values: Sequence[object]) -> Check:
    def check(value: Any) -> str | None:
        return None if value in values else f" is {_shown(value)}, not one of {', '.join(map(str, values))}"

    return check


def _any_of(specs: Sequence[Mapping[str, Any]], types: Mapping[str, Any]) -> Check:
    if all("const" in one for one in specs):
        return _one_of([one["const"] for one in specs])
    checks = [_made(one, types) for one in specs]

    def check(value: Any) -> str | None:
        first = None
        for one in checks:
            if (found := one(value)) is None:
                return None
            first = first or found
        return first

    return check


def _bounded(least: float, most: float) -> Check:
    def check(value: Any) -> str | None:
        if not isinstance(value, int | float) or least <= value <= most:
            return None
        bound = f"at least {least}" if value < least else f"at most {most}"
        return f" is {_shown(value)}, and is to be {bound}"

    return check


def _with_all(names: Sequence[str]) -> Check:
    wanted = frozenset(names)

    def check(value: Any) -> str | None:
        if not isinstance(value, dict) or wanted <= value.keys():
            return None
        return f" has no {next(name for name in names if name not in value)}"

    return check


def _with_parts(parts: Mapping[str, Check]) -> Check:
    def check(value: Any) -> str | None:
        if isinstance(value, dict):
            for name, one in parts.items():
                if name in value and (found := one(value[name])) is not None:
                    return f".{name}{found}"
        return None

    return check


def _with_values(part: Check) -> Check:
    def check(value: Any) -> str | None:
        if isinstance(value, dict):
            for name, one in value.items():
                if (found := part(one)) is not None:
                    return f".{name}{found}"
        return None

    return check


def _with_items(part: Check, are_sound: Callable[[Sequence[Any]], bool]) -> Check:
    def check(value: Any) -> str | None:
        if isinstance(value, list) and not are_sound(value):
            for at, one in enumerate(value):
                if (found := part(one)) is not None:
                    return f"[{at}]{found}"
        return None

    return check


def _by_field(spec: Mapping[str, Any], types: Mapping[str, Any]) -> Callable[[Sequence[Any]], bool]:
    """Whether entries are sound, field by field: of 300 cases most fields have a few values, each is judged once.

    False leaves it to a check of each entry: where one is wrong, or no object of numbers and words.
    """
    spec = types[spec["$ref"].rsplit("/", 1)[-1]] if "$ref" in spec else spec
    if not spec.keys() - _SILENT <= {"type", "required", "properties"} or spec.get("type") != "object":
        return lambda _entries: False
    required = frozenset(spec.get("required", ()))
    fields = {name: _made(rule, types) for name, rule in spec.get("properties", {}).items()}

    def are_sound(entries: Sequence[Any]) -> bool:
        try:
            return all(required <= entry.keys() for entry in entries) and all(
                check(value) is None
                for name, check in fields.items()
                for value in _distinct([entry[name] for entry in entries if name in entry])
            )
        except (TypeError, AttributeError):
            return False

    return are_sound


def _distinct(values: list[Any]) -> Iterable[Any]:
    """Each value once; a truth value is another value than the number that it equals, and a float than a whole one."""
    if len(set(map(type, values)) & {bool, int, float}) < 2:
        return set(values)
    return [value for _, value in {(type(value), value) for value in values}]


def _matching(pattern: str) -> Check:
    matches = re.compile(pattern).fullmatch

    def check(value: Any) -> str | None:
        return None if not isinstance(value, str) or matches(value) else f" is {_shown(value)}, and is to be {pattern}"

    return check


def _short(most: int) -> Check:
    def check(value: Any) -> str | None:
        return (
            f" has {len(value)} letters, the limit is {most}" if isinstance(value, str) and len(value) > most else None
        )

    return check


def _as_long(least: float, most: float) -> Check:
    def check(value: Any) -> str | None:
        if not isinstance(value, list) or least <= len(value) <= most:
            return None
        return f" has {len(value)} entries, and is to have {least if len(value) < least else most}"

    return check


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
