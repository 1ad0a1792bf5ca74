"""The question and its grid: a TOML file to a validated study to a list of cases. Pure, but for reading files."""

from wattlock.study.cases import Case, CatalogueRow, InputFile, Rows, absences, expand, missing, only, read_inputs
from wattlock.study.study import Grid, Study, load, names

__all__ = [
    "Case",
    "CatalogueRow",
    "Grid",
    "InputFile",
    "Rows",
    "Study",
    "absences",
    "expand",
    "load",
    "missing",
    "names",
    "only",
    "read_inputs",
]
