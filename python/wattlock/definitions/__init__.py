"""How every TOML definition is read, once: tables, names and paths, changes, and what is wrong with a file."""

from wattlock.definitions.form import Form
from wattlock.definitions.problems import Problem, refusal, shown, suggestion
from wattlock.definitions.shelf import Shelf, own_folder, validated
from wattlock.definitions.shipped import shipped, shipped_text
from wattlock.definitions.table import Table, Text

__all__ = [
    "Form",
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
