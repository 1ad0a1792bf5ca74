"""Published cycle counts of others' code on a core: what rules of a pipeline are compared with."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from wattlock.definitions.shelf import Shelf
from wattlock.definitions.table import Table, Text
from wattlock.targets.parts import PARTS, Core, Count, Size


class Figure(Table):
    """One published number.

    * `function`: as its authors' source calls it. `cycles`: of one call of it.
    * `rounded_to`: the step of the printed number, in cycles of the call: 0.1 a byte over 32 bytes is 3.2.
    * `part`: the name of the part whose flash takes part in the number, where wait states or caches do.
    """

    id: Text
    core: Core
    board: Text
    wait_states: Count
    part: Text | None = None
    function: Text
    operation: Text
    key_bits: Size | None = None
    length_B: Size | None = None
    cycles: Annotated[float, Field(gt=0)]
    rounded_to: Annotated[float, Field(gt=0)] = 1.0
    where: Text


class Figures(Table):
    """The figures of one work and the code that they are of, at the commit that was built.

    * `method`: counted on a board, or by the authors' hand from the pipeline's timing.
    * `counted`: what a number includes: call, return, registers saved.
    * `compiler`: the authors', where C takes part; another one makes other numbers.
    """

    title: Text
    authors: Text
    url: Annotated[str, Field(pattern=r"^https://\S+$")]
    repository: Annotated[str, Field(pattern=r"^https://\S+$")]
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
    licence: Text
    language: Literal["assembly", "assembly and C"]
    compiler: Text | None = None
    method: Literal["board", "by hand"]
    counted: Text
    figures: Annotated[list[Figure], Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [figure.id for figure in self.figures]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"more than one figure is called {twice[0]}")
        if (self.language == "assembly and C") != (self.compiler is not None):
            raise ValueError("code with C names its compiler, and assembly has none")
        for figure in self.figures:
            if figure.wait_states and figure.part is None:
                raise ValueError(f"{figure.id} has wait states and no part")
            if figure.part is not None and figure.part not in PARTS.shipped():
                raise ValueError(f"{figure.id}: there is no part {figure.part}")
        return self


FIGURES = Shelf("work with published cycles", "works", "published/cycles", Figures)
