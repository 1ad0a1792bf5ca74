"""The JSON Schema of a kind of definition, its annotated template, and both as one form."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from wattlock.definitions.shelf import shipped_text
from wattlock.definitions.toml import Table

DRAFT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]


def schema_text(made: Schema) -> str:
    """A JSON Schema as text."""
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


class TemplateEntry(NamedTuple):
    """A key or a table of a template.

    * `path`: without places in lists, as `grid.cipher`. `value`: as TOML writes it, empty of a table.
    * `about`: what it means. `left_out`: whether it is commented out.
    """

    path: str
    value: str
    about: str
    left_out: bool


def schema(title: str, model: type[Table], described: Sequence[TemplateEntry]) -> Schema:
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
        tables = [inside for part_at in held for _, inside in _tables(made, part_at)]
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
        return [_plain(item) for item in part if item != {"type": "null"}]
    if not isinstance(part, dict):
        return part
    made = {
        key: {name: _plain(item) for name, item in value.items()} if key in {"properties", "$defs"} else _plain(value)
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
        for item in part:
            _references_apart(item)
    elif isinstance(part, dict):
        if "$ref" in part and len(part) > 1:
            part["allOf"] = [{"$ref": part.pop("$ref")}]
        for item in part.values():
            _references_apart(item)


@dataclass(frozen=True)
class DefinitionForm:
    """The form of a kind.

    * `name`: of its files, as `study` in `study.schema.json`. `title`: what it is, in words.
    * `parts`: its templates in `data/templates/`, one after the other. `blanks`: what stands in place of `{key}` there.
    """

    name: str
    title: str
    model: type[Table]
    parts: tuple[str, ...]
    blanks: Mapping[str, str] = field(default_factory=dict)

    def template(self, **blanks: str) -> str:
        """An annotated file that is valid as it stands.

        * `blanks`: in place of the form's own.
        """
        return "".join(template(part, **{**self.blanks, **blanks}) for part in self.parts)

    def entries(self) -> list[TemplateEntry]:
        """The keys and tables of the template, each with what it means."""
        return entries(self.template())

    def schema(self) -> Schema:
        """The JSON Schema of such a file (draft 2020-12)."""
        return schema(self.title, self.model, self.entries())

    def schema_text(self) -> str:
        """The JSON Schema as text."""
        return schema_text(self.schema())


TABLE = re.compile(r"(?P<out>#?)\[\[?(?P<path>[\w.]+)\]\]?\s*")

KEY = re.compile(r"(?P<out>#?)(?P<key>\w+) = (?P<value>.+)")


def template(name: str, **blanks: str) -> str:
    """The text of a template.

    * `blanks`: what stands in place of `{key}`, for those that are printed for a certain thing.
    """
    text = shipped_text(f"templates/{name}.toml")
    for blank, value in blanks.items():
        text = text.replace(f"{{{blank}}}", value)
    return text


def entries(text: str) -> list[TemplateEntry]:
    """The keys and tables of a template, in its order."""
    found: list[TemplateEntry] = []
    about: list[str] = []
    table = ""
    for line in text.splitlines():
        if line.startswith("# "):
            about.append(line.removeprefix("# "))
            continue
        if head := TABLE.fullmatch(line):
            table = head["path"]
            found.append(TemplateEntry(table, "", " ".join(about), bool(head["out"])))
        elif key := KEY.fullmatch(line):
            path = f"{table}.{key['key']}".removeprefix(".")
            found.append(TemplateEntry(path, key["value"], " ".join(about), bool(key["out"])))
        about = []
    return found


def filled_in(text: str) -> str:
    """A template with all that is commented out put in."""
    return re.sub(r"^#(?=\[|\w+ = )", "", text, flags=re.MULTILINE)
