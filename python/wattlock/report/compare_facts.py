"""What the page of a comparison is told: its runs, and each of the others beside the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

MOST_SIDES = 8
"""More runs don't fit one page."""
LONGEST_NAME = 24
"""A run with a longer name is called by its letter alone where it stands often."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the runs: its letter and name, the run's id, what it was measured under, why it is invalid if it is.

    `conditions` have the same labels in the same order on all sides; what is not known is null.
    """

    letter: str
    name: str
    run: str
    conditions: Sequence[tuple[str, str | None]]
    reasons: Sequence[str] = ()

    @property
    def label(self) -> str:
        """The letter with the name, as a figure has it."""
        return f"{self.letter} {self.name}"

    @property
    def brief(self) -> str:
        """Where it stands a thousand times: with its name where that is short, else the letter alone."""
        return self.label if len(self.name) <= LONGEST_NAME else self.letter

    @property
    def spoken(self) -> str:
        """The same in a sentence."""
        return f"{self.letter} ({self.name})"


@dataclass(frozen=True, slots=True)
class Against:
    """A run beside the first.

    * `rows`: a row a case, as of `analysis.comparison.compare`; `lost`, `added`: how many cases the first, or this one,
      has alone. * `unclaimed`: why nothing is claimed; `smallest`: the difference that matters, as a
      share; `has_equivalence`: whether any case may be equivalent.
    """

    side: Side
    rows: pl.DataFrame
    lost: int
    added: int
    unclaimed: str
    smallest: float
    has_equivalence: bool


@dataclass(frozen=True, slots=True)
class CompareFacts:
    """A comparison in the words of the page.

    * `families`: of each cipher; `evidence`: what the times rest on, and what the joules do; `command`: draws it again.
    """

    first: Side
    others: Sequence[Against]
    families: Mapping[str, str]
    time_evidence: str
    energy_evidence: str | None
    warnings: Sequence[str]
    command: str

    @property
    def sides(self) -> list[Side]:
        """The first and the others."""
        return [self.first, *(other.side for other in self.others)]

    @property
    def files_of(self) -> str:
        """What the files of its figures begin with."""
        first, *others = self.sides
        last = others[0].run if len(others) == 1 else f"{len(others)}-others"
        return f"{first.run}-and-{last if last != first.run else others[0].name}"
