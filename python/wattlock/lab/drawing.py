"""How runs are drawn: the lab is told, since the command line alone joins runs to the words of the report's pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from wattlock.lab.entry import Reading


@dataclass(frozen=True)
class Drawn:
    """A page's inside: its title, a line below it, HTML of its sections, and the scripts of the report that it needs.

    `table`: what of it is given as JSON and CSV.
    """

    title: str
    line: str
    sections: str
    scripts: tuple[str, ...]
    table: pl.DataFrame


@dataclass(frozen=True)
class Drawing:
    """What draws runs.

    * `run`: the sections of a run's report without charts that need an engine. `report`: the whole page of a run.
    * `compare`: runs against the first; raises InputError or EvidenceError where they can't be.
    """

    run: Callable[[Reading], Drawn]
    report: Callable[[Reading], str]
    compare: Callable[[Sequence[Reading]], Drawn]
