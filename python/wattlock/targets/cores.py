"""The cores whose cycles are counted: their rules' error, and what these do not model. `crates/cores` has the rules."""

from typing import Annotated, Literal

from pydantic import Field

from wattlock.definitions.shelf import Shelf
from wattlock.definitions.table import Table, Text

Percent = Annotated[float, Field(ge=0, lt=100)]


class Rule(Table):
    """A number of the pipeline, with its source."""

    value: int | float
    source: Text
    note: Text | None = None


class Error(Table):
    """How far counted cycles lie from published ones: `unseen` figures of all decided no rule."""

    figures: Annotated[int, Field(ge=1)]
    unseen: Annotated[int, Field(ge=0)]
    percentile_95_percent: Percent
    greatest_percent: Percent


class Core(Table):
    """A core; one without rules has instructions and no cycles.

    * `limits`: in words, what its cycles don't hold.
    """

    core: Text
    name: Text
    set: Literal["thumb", "rv32"]
    pipeline: Text | None = None
    limits: list[Text]
    rules: dict[str, Rule] = Field(default={})
    error: Error | None = None


CORES = Shelf("core", "cores", "cores", Core)
