"""Cells: the combinations of a study's factors, and the choice among them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from itertools import product
from typing import TypedDict

from wattlock.errors import StudyError
from wattlock.study.inputs import InputFile
from wattlock.study.problems import Problem, refusal, suggestion
from wattlock.study.study import LARGEST_L2_PAYLOAD_B, Grid, Study


class CatalogueRow(TypedDict):
    """What the probe's catalogue says of one cipher id."""

    id: str
    card: str
    family: str
    mode: str
    provider: str
    backend: str
    version: str
    key_bits: int
    effective_bits: int
    block_bits: int
    rounds: int | None
    iv_B: int
    timing: str
    proof: str
    source: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination of factors.

    * `cell`: its number in the run, from 0.
    * `payload_B`: plaintext of one call, bytes; 0 for a key setup.
    * `data`: `random`, a sample kind, `input-1` and so on, or `none` for a key setup.
    """

    cell: int
    role: str
    cipher: str
    provider: str
    operation: str
    keying: str
    encoding: str
    placement: str
    pattern: str
    payload_B: int
    data: str


def expand(
    study: Study,
    rows: Mapping[str, CatalogueRow],
    inputs: Sequence[InputFile] = (),
    nearest: Mapping[str, str | None] | None = None,
) -> list[Cell]:
    """The cells of a study, in the order of its file, numbered from 0, each once.

    * `rows`: the catalogue's row for each id of `study.ciphers()` that it knows.
    * `inputs`: the user's files; where there are any, they take the place of the sample files.
    * `nearest`: for each unknown id the known one that looks most like it.

    Raises StudyError naming the key of the first cipher or provider that there isn't, or an input that doesn't fit.
    """
    problems = [*_unknown_ciphers(study, rows, nearest or {}), *_unknown_providers(study, rows)]
    problems += _input_problems(study, inputs)
    if problems:
        raise refusal(study.origin, problems)
    cells = (cell for grid in study.grid for cell in _combinations(study, grid, rows, inputs))
    return [replace(cell, cell=number) for number, cell in enumerate(dict.fromkeys(cells))]


def only(cells: Sequence[Cell], rows: Mapping[str, CatalogueRow], expression: str) -> list[Cell]:
    """The cells that match, numbered from 0.

    * `expression`: `field=glob` pairs with commas between, as `cipher=aes*,operation=encrypt`. A field is one of a cell
      or of its cipher's catalogue row. Pairs of different fields must all match; of pairs of one field any may.

    Raises StudyError for an expression that isn't one, an unknown field, or where nothing matches.
    """
    globs = _globs(expression, list(dict.fromkeys([*_FIELDS, *CatalogueRow.__annotations__])))
    chosen = [cell for cell in cells if _matches(cell, rows[cell.cipher], globs)]
    if not chosen:
        hint = "`--dry-run` without `--only` lists the cells"
        raise StudyError(f'--only "{expression}": none of {len(cells)} cells matches', hint=hint)
    return [replace(cell, cell=number) for number, cell in enumerate(chosen)]


_FIELDS = [field.name for field in fields(Cell)]


def _globs(expression: str, known: Sequence[str]) -> dict[str, list[str]]:
    globs: dict[str, list[str]] = {}
    for pair in expression.split(","):
        field, equals, glob = (part.strip() for part in pair.partition("="))
        if not (field and equals and glob):
            raise StudyError(f'--only "{expression}": "{pair}" is not FIELD=GLOB', hint="for example cipher=aes*")
        if field not in known:
            hint = suggestion(field, known, "the fields are")
            raise StudyError(f'--only "{expression}": no field "{field}"', hint=hint)
        globs.setdefault(field, []).append(glob)
    return globs


def _matches(cell: Cell, row: CatalogueRow, globs: Mapping[str, Sequence[str]]) -> bool:
    values = {**row, **{field: getattr(cell, field) for field in _FIELDS}}
    return all(any(fnmatchcase(str(values[field]), glob) for glob in either) for field, either in globs.items())


def _combinations(
    study: Study, grid: Grid, rows: Mapping[str, CatalogueRow], inputs: Sequence[InputFile]
) -> Iterator[Cell]:
    payloads = _payloads(study, grid, inputs)
    for cipher, provider, operation in product(grid.cipher, grid.provider, grid.operation):
        name = rows[cipher]["id"]
        if operation == "key_setup":
            yield Cell(0, "study", name, provider, operation, "ready", "raw", "hot", "independent", 0, "none")
            continue
        for keying, encoding, placement, pattern, (payload_B, data) in product(
            grid.keying, grid.encoding, grid.placement, grid.pattern, payloads
        ):
            yield Cell(0, "study", name, provider, operation, keying, encoding, placement, pattern, payload_B, data)


def _payloads(study: Study, grid: Grid, inputs: Sequence[InputFile]) -> list[tuple[int, str]]:
    if grid.data is None:
        return [(size_B, "random") for size_B in grid.payload_B or []]
    if inputs:
        return [(one.size_B, one.label) for one in inputs]
    return [(study.file_B, kind) for kind in grid.data]


def _unknown_ciphers(
    study: Study, rows: Mapping[str, CatalogueRow], nearest: Mapping[str, str | None]
) -> Iterator[Problem]:
    for cipher, path in study.ciphers().items():
        if cipher not in rows:
            close = nearest.get(cipher)
            meant = f'did you mean "{close}"? ' if close else ""
            yield Problem(path, f'no cipher "{cipher}"', f"{meant}`wattlock ciphers` lists all of them")


def _unknown_providers(study: Study, rows: Mapping[str, CatalogueRow]) -> Iterator[Problem]:
    for g, grid in enumerate(study.grid):
        known = sorted({rows[cipher]["provider"] for cipher in grid.cipher if cipher in rows})
        for p, provider in enumerate(grid.provider):
            if known and provider not in known:
                hint = suggestion(provider, known, "the providers are")
                yield Problem(f"grid[{g}].provider[{p}]", f'no provider "{provider}"', hint)


def _input_problems(study: Study, inputs: Iterable[InputFile]) -> Iterator[Problem]:
    grids = [grid for grid in study.grid if grid.data is not None]
    sizes = [one.size_B for one in inputs]
    if sizes and not grids:
        hint = 'add a [[grid]] with data = ["text"]: its files are replaced by the inputs'
        yield Problem("", "has no grid with data, nothing would work on the inputs", hint)
    if any("L2" in grid.placement for grid in grids):
        for size_B in sizes:
            if size_B > LARGEST_L2_PAYLOAD_B:
                what = f"an input of {size_B} B is over the {LARGEST_L2_PAYLOAD_B} B that placement L2 takes"
                yield Problem("", what, "leave L2 out of the placement")
