"""The JSON Schema of a kind of definition, for editors and for programs that write them; generated, and committed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wattlock.definitions.table import Table
from wattlock.definitions.template import Entry

DRAFT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]


def schema_text(made: Schema) -> str:
    """A JSON Schema as text."""
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def schema(title: str, model: type[Table], described: Sequence[Entry]) -> Schema:
    """The JSON Schema of a kind of file.

    * `described`: the keys of its template, whose words become descriptions. A key without words of its own has those
      of the first that is called the same, as the numbers of a card have.
    """
    made: Schema = {"$schema": DRAFT, **_plain(model.model_json_schema()), "title": title}
    same: dict[str, str] = {}
    for entry in described:
        if entry.about:
            same.setdefault(entry.path.rpartition(".")[2], entry.about)
            for held in _at(made, entry.path.split(".")):
                held.setdefault("description", entry.about)
    for table in (made, *made.get("$defs", {}).values()):
        for key, held in table.get("properties", {}).items():
            if key in same:
                held.setdefault("description", same[key])
    _references_apart(made)
    return made


def keys(made: Mapping[str, Any]) -> Iterator[tuple[str, str, Schema, bool]]:
    """All keys of a schema: the name of the table in which each lies, its path, what it may hold, whether it must."""
    yield from _keys(made, made, "", "")


def _keys(
    made: Mapping[str, Any], table: Mapping[str, Any], name: str, before: str
) -> Iterator[tuple[str, str, Schema, bool]]:
    for key, held in table.get("properties", {}).items():
        path = f"{before}{key}"
        yield name, path, held, key in table.get("required", [])
        for inside_name, inside in _tables(made, held):
            yield from _keys(made, inside, inside_name, f"{path}.")


def _at(made: Schema, path: Sequence[str]) -> list[Schema]:
    """What a path's key may hold, in each of the tables that have it."""
    *outer, last = path
    tables: list[Mapping[str, Any]] = [made]
    for key in outer:
        held = [table["properties"][key] for table in tables if key in table["properties"]]
        tables = [inside for one in held for _, inside in _tables(made, one)]
    return [table["properties"][last] for table in tables if last in table["properties"]]


def _tables(made: Mapping[str, Any], held: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """The tables that a value may be, by name, through references, lists and kinds."""
    if "$ref" in held:
        name = held["$ref"].rpartition("/")[2]
        return [(name, made["$defs"][name])]
    kinds = [*held.get("anyOf", []), *held.get("oneOf", []), *held.get("allOf", [])]
    if "items" in held:
        kinds.append(held["items"])
    return [table for kind in kinds for table in _tables(made, kind)]


def _plain(part: Any) -> Any:
    """A schema of Pydantic's without the names and docstrings of classes, and without null, which TOML has not."""
    if isinstance(part, list):
        return [_plain(one) for one in part if one != {"type": "null"}]
    if not isinstance(part, dict):
        return part
    made = {
        key: {name: _plain(one) for name, one in value.items()} if key in {"properties", "$defs"} else _plain(value)
        for key, value in part.items()
        if key not in {"title", "description", "discriminator"}
    }
    if len(made.get("anyOf", [])) == 1:
        made |= made.pop("anyOf")[0]
    # The defaults of a whole table are those of its keys; that of a quantity is a number, and written with its unit.
    default = made.get("default", ...)
    if default is None or isinstance(default, dict) or (made.get("type") == "string" and not isinstance(default, str)):
        made.pop("default", None)
    return made


def _references_apart(part: Any) -> None:
    """Put each reference that has something beside it into an `allOf`: editors pass over what stands beside one."""
    if isinstance(part, list):
        for one in part:
            _references_apart(one)
    elif isinstance(part, dict):
        if "$ref" in part and len(part) > 1:
            part["allOf"] = [{"$ref": part.pop("$ref")}]
        for one in part.values():
            _references_apart(one)
