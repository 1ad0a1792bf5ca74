"""A study: the question, the grid of factors, the repeats and the smallest effect that matters, read from TOML."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import Field, PrivateAttr

from wattlock.definitions import DefinitionForm, Problem, Shelf, Table, refusal, shown
from wattlock.definitions.constants import constant
from wattlock.definitions.toml import path_of
from wattlock.errors import StudyError
from wattlock.study.samples import SampleKind

Operation = Literal[
    "encrypt",
    "decrypt",
    "key_setup",
    "seal",
    "open",
    "open_forged",
    "generate",
    "agree",
    "sign",
    "verify",
    "encapsulate",
    "decapsulate",
    "protect",
    "unprotect",
]
WITHOUT_PAYLOAD = {"key_setup", "generate", "agree", "sign", "verify", "encapsulate", "decapsulate"}
Keying = Literal["ready", "each"]
Encoding = Literal["raw", "base64", "hex"]
Placement = Literal["hot", "L2", "DRAM"]
Pattern = Literal["independent", "chained"]
Readiness = Literal["steady", "after-pause"]

# 64 MiB: with packets of 128 MiB together (placement DRAM) that leaves two.
LARGEST_PAYLOAD_B: int = constant("largest_payload_B")
# Packets of 512 KiB together (placement L2); a ring of one would be hot.
LARGEST_L2_PAYLOAD_B = 256 * 2**10
# As much as a frame's or a record's header, and room to spare.
LARGEST_AAD_B: int = constant("largest_aad_B")
# The t interval over processes is held to what it says from five on (docs/method/looks.md).
FEWEST_PROCESSES = 5
MOST_PROCESSES = 1000
MOST_LOOKS = 20
"""The level of the intervals is found for all looks together: seconds for these, minutes for a thousand."""

Size = Annotated[int, Field(ge=1, le=LARGEST_PAYLOAD_B)]
CoreClass = Literal["big", "middle", "middle-1", "middle-2", "middle-3", "little"]
CORE_CLASSES: tuple[str, ...] = get_args(CoreClass)
Aad = Annotated[int, Field(ge=0, le=LARGEST_AAD_B)]
Percent = Annotated[float, Field(gt=0, le=100)]


class Grid(Table):
    """Factors whose every combination is a case.

    Either `payload_B` (bytes, drawn from the seed) or `data` (whole files of a kind, each `file_B` of the study long).
    A key setup and the operations of key establishment have no payload, and none of the factors from `encoding` on. Of
    key establishment `keying` says whether keys are read from their bytes in each call, as the standard's operation
    does, or were before; a key setup and a new key pair have no key to read and are one case a cipher. Only `seal`,
    `open` and `open_forged` have associated data, `aad_B`. `readiness` says what a call finds: `steady` is calls one
    after another, `after-pause` the first call after 2 ms of other work. Without `provider` a cipher is measured by
    the usual one, without `core_class` on the fastest cores where a device has several kinds.
    """

    cipher: list[str] = Field(min_length=1)
    provider: list[str] | None = Field(default=None, min_length=1)
    operation: list[Operation] = Field(min_length=1)
    keying: list[Keying] = Field(default=["ready"], min_length=1)
    encoding: list[Encoding] = Field(default=["raw"], min_length=1)
    placement: list[Placement] = Field(default=["hot"], min_length=1)
    pattern: list[Pattern] = Field(default=["independent"], min_length=1)
    payload_B: list[Size] | None = Field(default=None, min_length=1)
    data: list[SampleKind] | None = Field(default=None, min_length=1)
    aad_B: list[Aad] = Field(default=[0], min_length=1)
    readiness: list[Readiness] = Field(default=["steady"], min_length=1)
    core_class: list[CoreClass] | None = Field(default=None, min_length=1)


class Study(Table):
    """A question to a machine, and how it is put.

    * `target_percent`: half-width of the 95 % interval at which a case is done.
    * `smallest_effect_percent`: the smallest difference worth claiming.
    * `looks`: after how many processes the intervals are looked at.
    * `file_B`: size to which the sample files are grown, bytes.
    """

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)
    title: str = Field(min_length=1)
    question: str = Field(min_length=1)
    target_percent: Percent = 1.0
    smallest_effect_percent: Percent = 1.0
    looks: list[Annotated[int, Field(le=MOST_PROCESSES)]] = Field(default=[5, 8, 12, 20, 30], min_length=1)
    file_B: Size = 350_000
    grid: list[Grid] = Field(min_length=1)

    _origin: str = PrivateAttr(default="")

    @property
    def origin(self) -> str:
        """The study's file as the user named it, for errors."""
        return self._origin or f"{self.id}.toml"

    def ciphers(self) -> dict[str, str]:
        """All cipher ids that the grids name, each with the path of the key that names it first."""
        found: dict[str, str] = {}
        for g, grid in enumerate(self.grid):
            for c, cipher in enumerate(grid.cipher):
                found.setdefault(cipher, f"grid[{g}].cipher[{c}]")
        return found

    def core_classes(self) -> dict[str, str]:
        """All kinds of core that the grids name, each with the path of the key that names it first."""
        found: dict[str, str] = {}
        for g, grid in enumerate(self.grid):
            for c, core_class in enumerate(grid.core_class or []):
                found.setdefault(core_class, f"grid[{g}].core_class[{c}]")
        return found

    def samples(self) -> list[str]:
        """The kinds of sample files that the grids ask for, each once."""
        return list(dict.fromkeys(kind for grid in self.grid for kind in grid.data or []))


FORM = DefinitionForm("study", "A study: what is measured, and how well it must be known.", Study, ("study",))
STUDIES = Shelf("study", "studies", "studies", Study, error_class=StudyError)


def names() -> list[str]:
    """The studies that come with wattlock, by name; one in a folder as `papers/quick`."""
    return STUDIES.names()


def load(name_or_path: str | Path) -> Study:
    """Reads a study.

    * `name_or_path`: the name of a study that comes with wattlock, or the path of a TOML file.

    Raises StudyError where there is no such study, or naming everything that is wrong with it.
    """
    found = STUDIES.find(name_or_path)
    study = STUDIES.checked(found.label, STUDIES.tables(found))
    study._origin = f"{found.name}.toml" if found.shipped else str(found.source)
    problems = [*_look_problems(study.looks), *_grid_problems(study)]
    if problems:
        raise refusal(found.label, problems, StudyError)
    return study


def with_looks(study: Study, looks: list[int]) -> Study:
    """The study with other looks."""
    changed = study.model_copy(update={"looks": looks})
    changed._origin = study._origin
    return changed


def _look_problems(looks: list[int]) -> Iterator[Problem]:
    if len(looks) > MOST_LOOKS:
        yield Problem("looks", f"must be at most {MOST_LOOKS} looks, is {len(looks)}")
        return
    if looks[0] < FEWEST_PROCESSES:
        yield Problem("looks[0]", f"must be at least {FEWEST_PROCESSES}, is {looks[0]}")
    for index in range(1, len(looks)):
        if looks[index] <= looks[index - 1]:
            what = f"must be more than {looks[index - 1]}, the look before, is {looks[index]}"
            yield Problem(f"looks[{index}]", what)


def _grid_problems(study: Study) -> Iterator[Problem]:
    for number, grid in enumerate(study.grid):
        here = path_of(("grid", number))
        yield from _duplicates(here, grid)
        yield from _payload_problems(here, grid)
        yield from _size_problems(here, grid, study.file_B)
        if "chained" in grid.pattern and {"decrypt", "open", "open_forged"} & set(grid.operation):
            at = grid.pattern.index("chained")
            forward = "encrypt" if "decrypt" in grid.operation else "seal"
            hint = f"give {forward} a grid of its own for the chained pattern"
            yield Problem(f"{here}.pattern[{at}]", "decrypted packets do not wait for one another", hint)
        if "aad_B" in grid.model_fields_set and not {"seal", "open", "open_forged"} & set(grid.operation):
            hint = "leave aad_B out of this grid, or name the operation seal"
            yield Problem(f"{here}.aad_B", "only seal, open and open_forged have associated data", hint)


def _duplicates(here: str, grid: Grid) -> Iterator[Problem]:
    for key in Grid.model_fields:
        first: dict[str | int, int] = {}
        for index, value in enumerate(getattr(grid, key) or []):
            if first.setdefault(value, index) != index:
                at = f"{here}.{key}[{first[value]}]"
                yield Problem(f"{here}.{key}[{index}]", f"{shown(value)} stands in {at} already")


def _payload_problems(here: str, grid: Grid) -> Iterator[Problem]:
    if WITHOUT_PAYLOAD.issuperset(grid.operation):
        reads_keys = not {"key_setup", "generate"}.issuperset(grid.operation)
        has = {"cipher", "provider", "operation", "core_class", *(["keying"] if reads_keys else [])}
        for key in sorted(grid.model_fields_set - has):
            what = f"{' and '.join(grid.operation)} alone has no such factor"
            yield Problem(f"{here}.{key}", what, f"leave {key} out of this grid")
    elif grid.payload_B is None and grid.data is None:
        kinds = ", ".join(f'"{kind}"' for kind in get_args(SampleKind))
        yield Problem(here, "nothing to work on", f"give payload_B = [64, 1500] (bytes) or data = [{kinds}]")
    elif grid.payload_B is not None and grid.data is not None:
        yield Problem(here, "has payload_B and data", "give them a grid each")


def _size_problems(here: str, grid: Grid, file_B: int) -> Iterator[Problem]:
    if "L2" not in grid.placement:
        return
    sizes = [(f"{here}.payload_B[{index}]", size) for index, size in enumerate(grid.payload_B or [])]
    if grid.data is not None:
        sizes.append(("file_B", file_B))
    for path, size_B in sizes:
        if size_B > LARGEST_L2_PAYLOAD_B:
            yield Problem(path, f"must be at most {LARGEST_L2_PAYLOAD_B} where placement is L2, is {size_B}")
