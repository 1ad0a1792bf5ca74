"""A sweep made ready: what its rows are made of, in chunks that any worker answers alike."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import Field
from pydantic_core import ErrorDetails

from wattlock.advise import question
from wattlock.definitions import DefinitionForm, Problem, Shelf, Table, Text, refusal, shown
from wattlock.definitions.toml import path_of
from wattlock.energy import battery_cards
from wattlock.errors import InputError, ProbeError
from wattlock.link import ns3, scenario
from wattlock.study.cases import CatalogueRow
from wattlock.sweep.rows import CASE_KEY, CORE_KEY, ENGINE, ENGINE_KEY, OURS, numbers, refuse_unknown, source
from wattlock.targets import Target, toolbox
from wattlock.targets.probe import first_rows
from wattlock.targets.toolbox import builds as builds_here

Source: TypeAlias = tuple[str, dict[str, Any]]

Kind = Literal["wifi", "ns3", "linear", "advise", "battery", "run"]

CIPHER, PLAINTEXT = "payload.cipher", "none"

CHUNK_ROWS: dict[Kind, int] = {"wifi": 200, "ns3": 100, "linear": 1_000, "advise": 10, "battery": 100, "run": 100}
"""Rows of a chunk: seconds of work, so that little is lost with a worker and little is spent on handing out; more for
ns-3, which takes 20 s to start."""

OF_A_FILE = {
    "file": "payload.data_B says how much is sent",
    "capture": "sizes and every say what a capture would",
    "run": "costs of your own lie in costs/ of the folder that --cards names",
    "costs": "costs of your own lie in costs/ of the folder that --cards names",
}
"""Keys that name a file beside the sweep, which may change before the sweep ends, and what to write in their place."""


@dataclass(frozen=True)
class Ready:
    """A grid with what its files say; of several runs, a part for each.

    * `number`: of the grid in the sweep's file. `sources`: a name and the tables of its file.
    * `vary`, `fixed`: as in the definition. `chunk_rows`: rows of a chunk.
    """

    number: int
    kind: Kind
    sources: list[tuple[str, dict[str, Any]]]
    vary: dict[str, list[Any]]
    fixed: dict[str, Any]
    chunk_rows: int

    @property
    def rows(self) -> int:
        """How many rows the grid has."""
        return len(self.sources) * math.prod(len(values) for values in self.vary.values())

    def combinations(self, start: int, stop: int) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
        """Rows from `start` up to `stop`: name, tables, and the values of what varies, the last key's soonest."""
        for number in range(start, min(stop, self.rows)):
            left, varied = number, {}
            for path, values in reversed(self.vary.items()):
                left, place = divmod(left, len(values))
                varied[path] = values[place]
            name, tables = self.sources[left]
            yield name, tables, {path: varied[path] for path in self.vary}

    def changes(self, varied: Mapping[str, Any]) -> dict[str, Any]:
        """What takes the place of what the tables say: None takes a key away."""
        values = {**varied, **self.fixed}
        return values | {CIPHER: None} if values.get(CIPHER) == PLAINTEXT else values


class Chunk(NamedTuple):
    """Rows of one grid that are answered together.

    * `number`: among all chunks; `first_row`: the number of its first row among all rows.
    """

    number: int
    grid: int
    start: int
    stop: int
    first_row: int


@dataclass(frozen=True)
class SweepPlan:
    """All that decides the rows.

    * `ciphers`: rows of the catalogue by id. `cards`: the user's folder. `day`: from which a lifetime of data counts.
    * `builds`: what answers are made by.
    """

    title: str
    grids: list[Ready]
    ciphers: dict[str, CatalogueRow]
    allow_assumed: bool
    cards: str | None
    day: str
    builds: dict[str, str | None]

    @property
    def own(self) -> Path | None:
        """The user's folder of cards."""
        return None if self.cards is None else Path(self.cards)

    @property
    def rows(self) -> int:
        """Of all grids."""
        return sum(grid.rows for grid in self.grids)

    def chunks(self) -> list[Chunk]:
        """All chunks, in the order of their rows."""
        found: list[Chunk] = []
        before = 0
        for number, grid in enumerate(self.grids):
            rows = grid.rows
            for start in range(0, rows, grid.chunk_rows):
                stop = min(rows, start + grid.chunk_rows)
                found.append(Chunk(len(found), number, start, stop, before + start))
            before += rows
        return found

    def on(self, day: str) -> SweepPlan:
        """The same, begun on another day."""
        return replace(self, day=day)

    def encoded(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, default=str) + "\n"


class SweepGrid(Table):
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
    grid: list[SweepGrid] = Field(min_length=1)


def planned(
    sweep: Sweep, target: Target, *, cards: Path | None = None, allow_assumed: bool = False, today: date | None = None
) -> SweepPlan:
    """A sweep made ready.

    * `target`: whose probe knows the catalogue. `cards`: the user's folder of cards.

    Raises InputError where there is no such scenario, profile, battery or cipher, or one reads another file, or where
    ns-3 is missing; StoreError where there is no such run, or it is not sealed; EvidenceError for one that counted;
    ProbeError where a program is missing.
    """
    grids = [part for number, grid in enumerate(sweep.grid) for part in _ready(number, grid, cards)]
    if (rows := sum(part.rows for part in grids)) > MOST_ROWS:  # of runs the cases were not known before
        what, hint = too_many(rows)
        raise InputError(what, hint=hint)
    with_ns3 = any(grid.kind == "ns3" for grid in grids)
    if with_ns3:
        ns3.version()
    named = {value for grid in grids for value in _ciphers(grid) if isinstance(value, str)}
    return SweepPlan(
        sweep.title,
        grids,
        first_rows(target, sorted(named - {PLAINTEXT})),
        allow_assumed,
        None if cards is None else str(cards.absolute()),
        (today or datetime.now(UTC).date()).isoformat(),
        builds(cards, with_ns3=with_ns3),
    )


def _ready(number: int, grid: SweepGrid, cards: Path | None) -> Iterator[Ready]:
    kind = _kind(number, grid)
    sources = [_source(kind, name, cards) for name in grid.names]
    # As they come back from the plan's file: a time of TOML is text there, and no key takes one.
    vary, fixed = json.loads(json.dumps([grid.vary, grid.fixed], default=str))
    for name, tables in sources:
        for path, value in (*_leaves(tables), *_leaves(fixed), *_leaves(vary)):
            _refuse_file(f"grid[{number}], {name}: {path}", path, value)
        for path, value in fixed.items():
            if isinstance(value, dict) and isinstance(tables.get(path), dict):
                inside = next(iter(value), "key")
                what = f"grid[{number}].fixed.{path}: would take the place of the whole table of {name}"
                raise InputError(what, hint=f'a path stands in quotation marks: "{path}.{inside}" = ...')
    for core in [*vary.get(CORE_KEY, ()), *([fixed[CORE_KEY]] if CORE_KEY in fixed else ())]:
        refuse_unknown(f"grid[{number}]", core, advised=kind == "advise")
    if kind == "ns3":
        fixed |= {ENGINE_KEY: OURS}
    if kind == "run":
        yield from _runs(number, sources, vary, fixed)
    else:
        yield Ready(number, kind, json.loads(json.dumps(sources, default=str)), vary, fixed, CHUNK_ROWS[kind])


def _runs(number: int, sources: Sequence[Source], vary: dict[str, Any], fixed: dict[str, Any]) -> Iterator[Ready]:
    """A part for each run, over its own cases where the grid names none.

    Raises InputError where a run is named twice.
    """
    seen: set[str] = set()
    for name, run in sources:
        if run["hash"] in seen:
            raise InputError(f"grid[{number}].run: {name} is named twice", hint="leave one of them out")
        seen.add(run["hash"])
        named = CASE_KEY in vary or CASE_KEY in fixed
        cases = {} if named else {CASE_KEY: numbers(run)}
        yield Ready(number, "run", [(name, run)], {**cases, **vary}, fixed, CHUNK_ROWS["run"])


def _kind(number: int, grid: SweepGrid) -> Kind:
    """What answers a grid. Raises InputError where ns-3 would be one of several engines."""
    if grid.run:
        return "run"
    if grid.battery:
        return "battery"
    if grid.advise:
        return "advise"
    if scenario.messages_among(grid.names):
        return "linear"
    if ENGINE in grid.vary.get(ENGINE_KEY, ()):
        hint = 'a grid with "engine" = "ns3" under [grid.fixed] has the answers of both, of ns-3 and of dcf'
        raise InputError(f"grid[{number}].vary.{ENGINE_KEY}: ns3 is not among what varies", hint=hint)
    return "ns3" if grid.fixed.get(ENGINE_KEY) == ENGINE else "wifi"


def _source(kind: Kind, name: str, cards: Path | None) -> Source:
    """A name and what its file says; of a battery nothing, since its card is one of those by which answers are made."""
    if kind == "battery":
        _refuse_file("battery", "battery", name)
        battery_cards.load(name, cards)
        return name, {}
    if kind == "run":
        return source(name)
    return name, question.read(name) if kind == "advise" else scenario.read(name)[1]


def _ciphers(grid: Ready) -> Iterable[Any]:
    """The values of `payload.cipher`."""
    yield from grid.vary.get(CIPHER, ())
    yield grid.fixed.get(CIPHER)
    for _, tables in grid.sources:
        payload = tables.get("payload")
        yield payload.get("cipher") if isinstance(payload, dict) else None


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every value that is no table and no list, by the keys that lead to it."""
    if isinstance(value, dict):
        for key, inside in value.items():
            yield from _leaves(inside, f"{path}.{key}".removeprefix("."))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for inside in value:
            yield from _leaves(inside, path)
    else:
        yield path, value


def _refuse_file(label: str, path: str, value: Any) -> None:
    key = path.rpartition(".")[2]
    if key in OF_A_FILE:
        raise InputError(f"{label}: a sweep reads no file beside its own", hint=OF_A_FILE[key])
    if isinstance(value, str) and value.endswith(".toml"):
        hint = "lay the card into a folder of your own, name that by --cards, and the card by its name"
        raise InputError(f"{label}: {value}: a sweep reads no file beside its own", hint=hint)


MOST_ROWS = 1_000_000
"""Beyond it the rows of one table don't fit into a small machine's memory."""

OVER = ("link", "advise", "battery", "run")


def _quoted(error: ErrorDetails) -> Problem | None:
    """A path without its quotation marks is a table of TOML."""
    if error["type"] != "list_type" or not isinstance(error["input"], dict):
        return None
    *_, key = error["loc"]
    inside = next(iter(error["input"]), "key")
    hint = f'a path stands in quotation marks: "{key}.{inside}" = [...]'
    return Problem(path_of(error["loc"]), f"must be a list, is {shown(error['input'])}", hint)


FORM = DefinitionForm("sweep", "A sweep: many scenarios or questions, answered into one table.", Sweep, ("sweep",))

SWEEPS = Shelf("sweep", "sweeps", "sweeps", Sweep, wording=_quoted, template="wattlock sweep --template")


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


NS3 = "ns3"
MUST_AGREE = toolbox.MUST_AGREE | {NS3: ("version of ns-3", ns3.EXTRA)}
"""What is compared, in words, and what to do where two machines differ."""


def builds(cards: Path | None, *, with_ns3: bool = False) -> dict[str, str | None]:
    """What answers are made by on this machine, by the names of `MUST_AGREE`; a machine without ns-3 has none of it.

    Raises as the builds of wattlock's own do.
    """
    found = builds_here(cards)
    return found | {NS3: _ns3()} if with_ns3 else found


def _ns3() -> str:
    try:
        return ns3.version()
    except (InputError, ProbeError):
        return "none"
