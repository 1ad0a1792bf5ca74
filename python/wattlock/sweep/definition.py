"""A sweep: grids whose every combination of values is a row, read from TOML and validated."""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from pydantic_core import ErrorDetails

from wattlock.definitions import Form, Problem, Shelf, Table, Text, refusal, shown
from wattlock.definitions.problems import path_of

MOST_ROWS = 1_000_000
"""Beyond it the rows of one table don't fit into a small machine's memory."""
OVER = ("link", "advise", "battery", "run")


class Grid(Table):
    """Scenarios, profiles, batteries or runs under every combination of values.

    * `link`: scenarios of `wattlock link`; `advise`: profiles of `wattlock advise`; `battery`: battery cards; `run`:
      sealed runs; one of them.
    * `vary`: lists of values by the path that they change, as of --set; `fixed`: paths that have one value.
    """

    link: list[Text] | None = Field(default=None, min_length=1)
    advise: list[Text] | None = Field(default=None, min_length=1)
    battery: list[Text] | None = Field(default=None, min_length=1)
    run: list[Text] | None = Field(default=None, min_length=1)
    vary: dict[str, Annotated[list[Any], Field(min_length=1)]] = Field(default_factory=dict)
    fixed: dict[str, Any] = Field(default_factory=dict)

    @property
    def over(self) -> list[str]:
        """The keys that name what the grid is over; one of `OVER`, where it is right."""
        return [key for key in OVER if getattr(self, key) is not None]

    @property
    def names(self) -> list[str]:
        """The scenarios, the profiles, the batteries or the runs."""
        return self.link or self.advise or self.battery or self.run or []

    @property
    def rows(self) -> int:
        """How many combinations there are."""
        return len(self.names) * math.prod(len(values) for values in self.vary.values())


class Sweep(Table):
    """What is asked, and the grids of it."""

    title: Text
    grid: list[Grid] = Field(min_length=1)


def _quoted(error: ErrorDetails) -> Problem | None:
    """A path without its quotation marks is a table of TOML."""
    if error["type"] != "list_type" or not isinstance(error["input"], dict):
        return None
    *_, key = error["loc"]
    inside = next(iter(error["input"]), "key")
    hint = f'a path stands in quotation marks: "{key}.{inside}" = [...]'
    return Problem(path_of(error["loc"]), f"must be a list, is {shown(error['input'])}", hint)


FORM = Form("sweep", "A sweep: many scenarios or questions, answered into one table.", Sweep, ("sweep",))
SWEEPS = Shelf("sweep", "sweeps", "sweeps", Sweep, wording=_quoted)


def load(name_or_path: str | Path) -> Sweep:
    """Read a sweep: one that comes with wattlock, by its name, or a TOML file.

    Raises InputError where there is none, naming everything that is wrong with it.
    """
    found = SWEEPS.find(name_or_path)
    sweep = SWEEPS.checked(found.label, SWEEPS.tables(found))
    if problems := list(_problems(sweep)):
        raise refusal(found.label, problems)
    return sweep


def _problems(sweep: Sweep) -> Iterator[Problem]:
    if (rows := sum(grid.rows for grid in sweep.grid)) > MOST_ROWS:
        yield Problem("", *too_many(rows))
    for number, grid in enumerate(sweep.grid):
        if len(grid.over) != 1:
            has = f"has {' and '.join(grid.over)}" if grid.over else f"has none of {', '.join(OVER)}"
            yield Problem(path_of(("grid", number)), has, 'one of them, for example link = ["sensor-readings"]')
        for key in grid.over:
            yield from _doubled(("grid", number, key), getattr(grid, key))
        for path, values in grid.vary.items():
            yield from _doubled(("grid", number, "vary", path), values)
        for path in grid.vary.keys() & grid.fixed.keys():
            yield Problem(path_of(("grid", number, "fixed", path)), "is among what varies", "leave one of them out")


def too_many(rows: int) -> tuple[str, str]:
    """That there are too many rows, and what to do."""
    return f"{rows:,} rows are more than {MOST_ROWS:,}", "make several sweeps of it"


def _doubled(path: tuple[str | int, ...], values: Sequence[Any]) -> Iterator[Problem]:
    first: set[str] = set()
    for place, value in enumerate(values):
        if (text := json.dumps(value, default=str)) in first:
            yield Problem(path_of((*path, place)), f"{shown(value)} stands there already", "leave one of them out")
        first.add(text)
