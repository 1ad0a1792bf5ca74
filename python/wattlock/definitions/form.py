"""The form of a kind of definition: its template to fill, its JSON Schema, and its keys for the reference."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from wattlock.definitions.schema import Schema, schema, schema_text
from wattlock.definitions.table import Table
from wattlock.definitions.template import Entry, entries, template


@dataclass(frozen=True)
class Form:
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

    def entries(self) -> list[Entry]:
        """The keys and tables of the template, each with what it means."""
        return entries(self.template())

    def schema(self) -> Schema:
        """The JSON Schema of such a file (draft 2020-12)."""
        return schema(self.title, self.model, self.entries())

    def schema_text(self) -> str:
        """The JSON Schema as text."""
        return schema_text(self.schema())
