"""The schema of the records, generated from the Rust types that write them, as columns of a frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from wattlock.definitions.constants import contract
from wattlock.errors import StoreError

if TYPE_CHECKING:
    import polars as pl

SCHEMA = 2
"""The version of records that this wattlock writes; `SCHEMA` of the probe."""

KNOWN = (1, 2)
"""The versions that it reads."""


def check_version(run: str, version: object) -> None:
    """Raises StoreError where records of `version` can't be read; `run` is named in it."""
    if type(version) is not int or version not in KNOWN:  # 2.0 and true would pass for numbers
        known = ", ".join(map(str, KNOWN))
        hint = "the wattlock that wrote it, or a newer one, reads it"
        raise StoreError(f"run {run}: its records have schema {version!r}, this wattlock reads {known}", hint=hint)


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
