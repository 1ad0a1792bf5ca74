"""Where definitions lie: in the package, in a folder of the user's, at a path; faults named by file and key."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from wattlock.definitions.toml import MISSING, MOST_B, Table, Wording, problems_of, refusal, suggestion, tables_of
from wattlock.errors import HINT_OF_SYSTEM, InputError, WattlockError

Kind = TypeVar("Kind", bound=Table)
Model = TypeVar("Model", bound=BaseModel)
FOLDERS = ("devices", "radios", "batteries")
# What else lies beside the cards in the user's folder: costs of ciphers, and studies.
BESIDE = ("costs", "studies")
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


def validated(
    model: type[Model],
    tables: Mapping[str, Any],
    label: str,
    *,
    error_class: type[WattlockError] = InputError,
    wording: Wording | None = None,
    template: str = "",
) -> Model:
    """Tables as their model.

    * `label`: what they are called in errors. `wording`: what this kind says itself of a mistake.
    * `template`: the command that prints a whole one, told where a key is missing.

    Raises `error_class` naming every key that is wrong.
    """
    try:
        return model.model_validate(tables)
    except ValidationError as error:
        first, *others = problems_of(error, model, wording)
        if template and first.what == MISSING and not first.hint:
            first = first._replace(hint=f"`{template}` prints one with all keys and what each means")
        raise refusal(label, [first, *others], error_class) from error


class Found(NamedTuple):
    """A definition that was found.

    * `name`: as the others know it; `label`: as errors call it; `shipped`: whether it came with wattlock.
    """

    name: str
    label: str
    source: Traversable
    shipped: bool


@dataclass(frozen=True)
class Shelf(Generic[Kind]):
    """The definitions of one kind.

    * `kind`: in words, as "device card"; `plural`: several of them, as "cards"; `label`: the kind in front of an error.
    * `folder`: where they lie in the package, and in the user's folder where `own_too`.
    * `wording`: what this kind says itself of a mistake. `marked_by`: the key by which the package's files are told
      from those of other kinds in the same folder.
    * `template`: the command that prints one to fill; empty where there is none.
    """

    kind: str
    plural: str
    folder: str
    model: type[Kind]
    label: str = ""
    own_too: bool = False
    error_class: type[WattlockError] = InputError
    wording: Wording | None = None
    marked_by: str = ""
    template: str = ""

    def shipped(self) -> list[str]:
        """The names of those of the package; one in a folder as `papers/quick`."""
        return sorted(self._places())

    def names(self, user_folder: Path | None = None) -> list[str]:
        """The names of all, the user's among them; one whose file is broken has a name too."""
        return sorted({**self._own(user_folder), **self._places()})

    def find(self, name_or_path: str | Path, user_folder: Path | None = None) -> Found:
        """Where a definition lies.

        * `name_or_path`: a name of the package or of the user's folder, or the path of a TOML file.
        * `user_folder`: the user's folder; without one that of `WATTLOCK_CARDS`.

        Raises InputError where there is none.
        """
        name = str(name_or_path)
        shipped = self._places()
        places = {**self._own(user_folder), **shipped}
        label = self.label or self.kind
        if not isinstance(name_or_path, Path) and name in places:
            source = places[name]
            return Found(name, f"{label} {name if name in shipped else source}", source, name in shipped)
        path = Path(name_or_path)
        if path.is_file():
            return Found(path.stem, f"{label} {path}", path, False)
        what, word, otherwise = f"there is no {self.kind} {name}", name, f"the {self.plural} are"
        if path.exists():
            what = f"{label} {name}: is not a file"
        elif path.suffix == ".toml" or _folder(name) not in {"", *map(_folder, places)}:
            what = f"{label} {name}: there is no such file"
            word, otherwise = path.stem, f"is its path right? The {self.plural} that have a name are"
        hint = suggestion(word, sorted(places), otherwise)
        # A name that there is not is an input of any verb; what is wrong in a file is of its kind.
        raise InputError(what, hint=hint)

    def text(self, found: Found) -> bytes:
        """The octets of a definition. Raises the shelf's error where it can't be read."""
        try:
            with found.source.open("rb") as file:
                content = file.read(MOST_B + 1)
        except OSError as error:
            hint = HINT_OF_SYSTEM.get(error.errno or 0, "name another file")
            raise self.error_class(f"{found.label}: can't be read: {error.strerror}", hint=hint) from error
        if len(content) > MOST_B:
            what = f"{found.label}: has more than {MOST_B >> 20} MiB"
            raise self.error_class(what, hint=f"a {self.kind} has some kB: is it another file?")
        return content

    def tables(self, found: Found) -> dict[str, Any]:
        """The tables as they stand in the file. Raises the shelf's error where it can't be read or is no TOML."""
        return tables_of(self.text(found), found.label, self.error_class)

    def checked(self, label: str, tables: Mapping[str, Any]) -> Kind:
        """Tables as their model. Raises the shelf's error naming every key that is wrong."""
        return validated(
            self.model,
            tables,
            label,
            error_class=self.error_class,
            wording=self.wording,
            template=self.template,
        )

    def load(self, name_or_path: str | Path, user_folder: Path | None = None) -> tuple[str, Kind]:
        """Read and check a definition: its name and itself.

        Parameters and errors as those of `find`, `tables` and `checked`.
        """
        found = self.find(name_or_path, user_folder)
        return found.name, self.checked(found.label, self.tables(found))

    def all(self, user_folder: Path | None = None) -> tuple[dict[str, Kind], list[WattlockError]]:
        """All definitions that can be read, by name, and what is wrong with the others."""
        read: dict[str, Kind] = {}
        faults: list[WattlockError] = [
            self.error_class(
                f"{self.label or self.kind} {place}: the name {name} is taken by one that comes with wattlock",
                hint="give the file another name",
            )
            for name, place in self._own(user_folder).items()
            if name in self._places()
        ]
        for name in self.names(user_folder):
            try:
                read[name] = self.load(name, user_folder)[1]
            except self.error_class as error:
                faults.append(error)
        return read, faults

    def _places(self) -> dict[str, Traversable]:
        places = dict(_definitions(files("wattlock") / "data" / self.folder))
        if not self.marked_by:
            return places
        return {name: place for name, place in places.items() if self.marked_by in tables_of(place.read_bytes(), name)}

    def _own(self, user_folder: Path | None) -> dict[str, Traversable]:
        folder = own_folder(user_folder) if self.own_too else None
        return dict(_definitions(folder / self.folder)) if folder and (folder / self.folder).is_dir() else {}


def _definitions(folder: Traversable, depth: int = 1) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir() and depth:
            yield from ((f"{entry.name}/{name}", place) for name, place in _definitions(entry, depth - 1))
        elif entry.name.endswith(".toml"):
            yield entry.name.removesuffix(".toml"), entry


def _folder(name: str) -> str:
    """What stands before the last / of a name or path."""
    return name.rpartition("/")[0]


def shipped_text(path: str) -> str:
    """The text of a file, by its path under `data/`."""
    return (files("wattlock") / "data").joinpath(*PurePosixPath(path).parts).read_text(encoding="utf-8")


def shipped(path: str, model: type[Kind]) -> Kind:
    """A file by its path under `data/`, validated.

    Raises InputError naming the file and every key that is wrong.
    """
    return parsed(path, shipped_text(path), model)


def parsed(name: str, text: str, model: type[Kind]) -> Kind:
    """A text like that of the file `name`, validated.

    Raises InputError as `shipped`.
    """
    return validated(model, tables_of(text, name), name)
