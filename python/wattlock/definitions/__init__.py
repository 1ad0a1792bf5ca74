"""How every TOML definition is read, once: tables, names and paths, changes, and what is wrong with a file."""

from wattlock.definitions.schema import DefinitionForm
from wattlock.definitions.shelf import Shelf, own_folder, shipped, shipped_text, validated
from wattlock.definitions.toml import Problem, Table, Text, refusal, shown, suggestion

__all__ = [
    "DefinitionForm",
    "Problem",
    "Shelf",
    "Table",
    "Text",
    "own_folder",
    "refusal",
    "shipped",
    "shipped_text",
    "shown",
    "suggestion",
    "validated",
]
