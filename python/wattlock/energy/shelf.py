"""Where cards lie: in the package and in a folder of the user's; read from TOML, faults named by file and key."""

import os
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import ValidationError

from wattlock.energy.number import Number, Table
from wattlock.errors import InputError
from wattlock.study import toml
from wattlock.study.problems import Problem, path_of, suggestion, translated

Kind = TypeVar("Kind", bound=Table)
FOLDERS = ("devices", "radios", "batteries")
# What else lies beside the cards in the user's folder: costs of ciphers, read by `advise.published`.
BESIDE = ("costs",)
# The user's own folder of cards, where no option names one.
VARIABLE = "WATTLOCK_CARDS"


def own_folder(given: Path | None = None) -> Path | None:
    """The user's folder of cards: the one given, else that of the environment variable `WATTLOCK_CARDS`.

    Raises InputError where it is no folder or has none of the folders in which cards lie.
    """
    named = os.environ.get(VARIABLE)
    folder = given or (Path(named) if named else None)
    if folder is None or any((folder / inside).is_dir() for inside in (*FOLDERS, *BESIDE)):
        return folder
    what = "has no folder of cards" if folder.is_dir() else "is no folder"
    raise InputError(f"cards {folder}: {what}", hint=f"put the cards into {', '.join((*FOLDERS, *BESIDE))} inside it")


@dataclass(frozen=True)
class Shelf(Generic[Kind]):
    """The cards of one kind.

    * `kind`: in words, as "device"; `folder`: where they lie in the package and in the user's folder.
    * `inner`: the tables inside a card, for what is said of an unknown key.
    """

    kind: str
    folder: str
    model: type[Kind]
    inner: type[Table] = Number

    def shipped(self) -> list[str]:
        """The names of the cards of the package."""
        return sorted(self._places())

    def names(self, own: Path | None = None) -> list[str]:
        """The names of the cards, the user's among them; one whose file is broken has a name too."""
        return sorted({**self._own(own), **self._places()})

    def load(self, name_or_path: str | Path, own: Path | None = None) -> tuple[str, Kind]:
        """Read a card: its name and itself.

        * `name_or_path`: the name of a card of the package or of the user's folder, or the path of a TOML file.
        * `own`: the user's folder; without one that of `WATTLOCK_CARDS`.

        Raises InputError where there is no such card, or naming the first thing that is wrong with it.
        """
        name = str(name_or_path)
        places = {**self._own(own), **self._places()}
        if not isinstance(name_or_path, Path) and name in places:
            return name, self._parse(name, places[name])
        path = Path(name_or_path)
        if path.is_file():
            return path.stem, self._parse(name, path)
        hint = suggestion(path.stem, sorted(places), "the cards are")
        raise InputError(f"there is no {self.kind} card {name}", hint=hint)

    def all(self, own: Path | None = None) -> tuple[dict[str, Kind], list[InputError]]:
        """All cards that can be read, by name, and what is wrong with the others."""
        read: dict[str, Kind] = {}
        faults = [
            InputError(
                f"{self.kind} card {place}: the name {name} is taken by a card that comes with wattlock",
                hint="give the file another name",
            )
            for name, place in self._own(own).items()
            if name in self._places()
        ]
        for name in self.names(own):
            try:
                read[name] = self.load(name, own)[1]
            except InputError as error:
                faults.append(error)
        return read, faults

    def _places(self) -> dict[str, Traversable]:
        return _cards_in(files("wattlock") / "data" / self.folder)

    def _own(self, own: Path | None) -> dict[str, Traversable]:
        folder = own_folder(own)
        return _cards_in(folder / self.folder) if folder and (folder / self.folder).is_dir() else {}

    def _parse(self, name: str, source: Traversable) -> Kind:
        where = f"{self.kind} card {source if isinstance(source, Path) and _is_own(source) else name}"
        try:
            return self.model.model_validate(toml.loads(source.read_bytes().decode()))
        except OSError as error:
            raise InputError(f"{where}: can't be read: {error.strerror}") from error
        except ValidationError as error:
            problem = self._problem(error)
            place = f"{problem.path}: " if problem.path else ""
            raise InputError(f"{where}: {place}{problem.what}", hint=problem.hint) from error
        except ValueError as error:
            raise InputError(f"{where}: not TOML: {error}") from error

    def _problem(self, error: ValidationError) -> Problem:
        # An unknown key is the cause where the key that was meant is missing too: it comes first.
        first = min(error.errors(include_url=False), key=lambda one: one["type"] != "extra_forbidden")
        if first["type"] == "value_error":
            return Problem(path_of(first["loc"]), first["msg"].removeprefix("Value error, "))
        return translated(first, list((self.inner if len(first["loc"]) > 1 else self.model).model_fields))


def _cards_in(folder: Traversable) -> dict[str, Traversable]:
    return {one.name.removesuffix(".toml"): one for one in folder.iterdir() if one.name.endswith(".toml")}


def _is_own(path: Path) -> bool:
    return not path.is_relative_to(str(files("wattlock")))
