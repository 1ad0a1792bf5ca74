"""The schema of records: a line as a record that keeps to it, what is wrong with one, and a batch's columns."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic_core import SchemaValidator, ValidationError, core_schema

from wattlock.definitions.constants import contract
from wattlock.definitions.toml import path_of
from wattlock.errors import StoreError

if TYPE_CHECKING:
    import polars as pl
    from pydantic_core import CoreSchema, ErrorDetails

SCHEMA = 2
"""The version of records that this wattlock reads and writes; `SCHEMA` of the probe."""


def check_version(run: str, version: object) -> None:
    """Raises StoreError where records of `version` can't be read; `run` is named in it."""
    if not is_known(version):
        hint = "the wattlock that wrote it, or a newer one, reads it"
        raise StoreError(f"run {run}: its records have schema {version!r}, this wattlock reads {SCHEMA}", hint=hint)


def is_known(version: object) -> bool:
    """Whether this wattlock reads records of that version."""
    return type(version) is int and version == SCHEMA  # 2.0 would pass for a number


class UnfitRecordError(ValueError):
    """A line that is no record, and why: behind the words "the line"."""


def record_of(line: bytes) -> dict[str, Any]:
    """A line that is no batch as a record: null for each field that may be null and is absent, unknown fields kept.

    A record of a kind that the schema does not have is not judged, nor a header of another version. Raises
    UnfitRecordError where the line is no record, or not as the schema has its kind.
    """
    try:
        record: dict[str, Any] = _records().validate_json(line)
    except ValidationError as error:
        return _unjudged(line, error.errors(include_url=False)[0])
    return record


def _unjudged(line: bytes, error: ErrorDetails) -> dict[str, Any]:
    """The record of a line that its schema does not judge; raises UnfitRecordError where it is none."""
    record: Any = error["input"] if error["type"] == "union_tag_invalid" else None
    match error["type"]:
        case "json_invalid":
            raise UnfitRecordError("is not JSON")
        case "union_tag_invalid" if isinstance(record["kind"], str):
            return dict(record)
        case _ if not error["loc"]:
            raise UnfitRecordError("has no kind")
    kind, *location = error["loc"]
    if kind == "header":
        record = _any_object().validate_json(line)
        if not is_known(record.get("schema")):
            return dict(record)
    raise UnfitRecordError(f"is a {kind} not as the schema has it: {_words({**error, 'loc': tuple(location)})}")


def judge_of(schema: Mapping[str, Any]) -> Callable[[object], str | None]:
    """What tells what is wrong with a value by a JSON Schema: the place and the rule; null where nothing is."""
    validator = SchemaValidator(_core(schema, schema.get("$defs", {})))

    def judge(value: object) -> str | None:
        try:
            validator.validate_python(value)
        except ValidationError as error:
            return _words(error.errors(include_url=False)[0])
        return None

    return judge


def _words(error: ErrorDetails) -> str:
    *holder, name = error["loc"] or ("",)
    if error["type"] == "missing":
        return f"{path_of(holder) or 'it'} has no {name}"
    rule = error["msg"]
    return f"{path_of(error['loc']) or 'it'} is {reprlib.repr(error['input'])}: {rule[:1].lower()}{rule[1:]}"


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


@cache
def _records() -> SchemaValidator:
    """Of all kinds but batches, which are judged as a frame."""
    types = record_schema()["$defs"]
    schemas = {**{kind: types[name] for kind, name in _names().items() if kind != "batch"}, **_OWN}
    choices: dict[Any, CoreSchema] = {kind: _core(_with_kind(kind, spec), types) for kind, spec in schemas.items()}
    return SchemaValidator(core_schema.tagged_union_schema(choices, "kind"))


def _with_kind(kind: str, spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """The kind stands first, as the probe writes it."""
    return {**spec, "properties": {"kind": {"const": kind}, **spec["properties"]}}


@cache
def _any_object() -> SchemaValidator:
    return SchemaValidator(core_schema.dict_schema())


_MOST = {"uint8": 2**8 - 1, "uint32": 2**32 - 1, "uint64": 2**64 - 1, "int64": 2**63 - 1, "double": None}
_SILENT = {"description", "title", "default", "writeOnly", "$schema", "$defs"}
_JUDGED = {"$ref", "additionalProperties", "anyOf", "const", "format", "items", "maxItems", "maxLength", "maximum"}
_JUDGED |= {"minItems", "minimum", "oneOf", "pattern", "properties", "required", "type"}


def _core(spec: Mapping[str, Any], types: Mapping[str, Any]) -> CoreSchema:
    """A JSON Schema in Pydantic's terms: strict, so that a truth value or 1.0 is no whole number.

    The first wrong entry of a list ends it: a list of a million would make a million errors.
    """
    if unknown := spec.keys() - _SILENT - _JUDGED:
        raise ValueError(f"a schema with {unknown}")
    if "$ref" in spec:
        return _core(types[spec["$ref"].rsplit("/", 1)[-1]], types)
    if "anyOf" in spec:
        part, _null = spec["anyOf"]
        return core_schema.nullable_schema(_core(part, types))
    if "oneOf" in spec or "const" in spec:
        return core_schema.literal_schema([choice["const"] for choice in spec.get("oneOf", [spec])])
    kinds = list(_kinds(spec))
    (kind,) = set(kinds) - {"null"}
    made = _MAKERS[kind](spec, types)
    return core_schema.nullable_schema(made) if "null" in kinds else made


def _integer(spec: Mapping[str, Any], _types: Mapping[str, Any]) -> CoreSchema:
    most = spec.get("maximum", _MOST[spec.get("format", "double")])
    return core_schema.int_schema(strict=True, ge=spec.get("minimum"), le=most)


def _number(spec: Mapping[str, Any], _types: Mapping[str, Any]) -> CoreSchema:
    least, most = spec.get("minimum"), spec.get("maximum")
    return core_schema.float_schema(strict=True, allow_inf_nan=False, ge=least, le=most)


def _string(spec: Mapping[str, Any], _types: Mapping[str, Any]) -> CoreSchema:
    pattern = f"^(?:{spec['pattern']})$" if "pattern" in spec else None
    return core_schema.str_schema(strict=True, pattern=pattern, max_length=spec.get("maxLength"))


def _list(spec: Mapping[str, Any], types: Mapping[str, Any]) -> CoreSchema:
    least, most = spec.get("minItems"), spec.get("maxItems")
    entry = _core(spec["items"], types)
    return core_schema.list_schema(entry, strict=True, fail_fast=True, min_length=least, max_length=most)


def _object(spec: Mapping[str, Any], types: Mapping[str, Any]) -> CoreSchema:
    if "properties" not in spec:
        values = _core(spec["additionalProperties"], types) if "additionalProperties" in spec else None
        return core_schema.dict_schema(values_schema=values, strict=True, fail_fast=True)
    fields, required = {}, spec.get("required", ())
    for name, part in spec["properties"].items():
        made = _core(part, types)
        if made["type"] == "nullable" and name not in required:
            made = core_schema.with_default_schema(made, default=None)
        fields[name] = core_schema.typed_dict_field(made, required=name in required)
    return core_schema.typed_dict_schema(fields, strict=True, extra_behavior="allow")


_MAKERS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], CoreSchema]] = {
    "array": _list,
    "boolean": lambda _spec, _types: core_schema.bool_schema(strict=True),
    "integer": _integer,
    "number": _number,
    "object": _object,
    "string": _string,
}


def kinds() -> frozenset[str]:
    """The kinds of records that a probe writes."""
    return frozenset(_names())


@cache
def _names() -> Mapping[str, str]:
    """The type of each kind."""
    choices = record_schema()["oneOf"]
    return {choice["properties"]["kind"]["const"]: choice["$ref"].rsplit("/", 1)[-1] for choice in choices}


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
    return tuple(cause["const"] for cause in record_schema()["$defs"]["Cause"]["oneOf"])


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
