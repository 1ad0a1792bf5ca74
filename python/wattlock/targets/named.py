"""Devices by name: `local`, `ssh:HOST`, `adb:SERIAL`, `qemu:CORE`, `board:BOARD@PORT`, or one of the user's file."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wattlock.definitions import suggestion
from wattlock.errors import InputError
from wattlock.targets import local, microcontroller
from wattlock.targets.remote import Adb, Remote, Ssh
from wattlock.targets.target import Target

VARIABLE = "WATTLOCK_TARGETS"


class Described(BaseModel):
    """One entry of the file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    way: Annotated[str, Field(pattern=r"^(local|(ssh|adb|qemu|board):[^\s-]\S*)$")]
    device: str | None = None
    meters: tuple[str, ...] = ()


def own_place() -> Path:
    """The folder of this user's settings (XDG Base Directory Specification 0.8)."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser()) / "wattlock"


def file() -> Path:
    """Where the user's targets are described."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else own_place() / "targets.toml"


def described() -> dict[str, Described]:
    """The user's targets by name; none without a file.

    Raises InputError where the file is not what it should be.
    """
    place = file()
    try:
        read = tomllib.loads(place.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{place}: {error}", hint='each target is a table, as [pi4] with way = "ssh:pi4"') from error
    found = {}
    for name, entry in read.items():
        try:
            found[name] = Described.model_validate(entry, strict=False)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, (name, *first["loc"])))
            raise InputError(f"{place}: {where}: {first['msg']}", hint="way, device and meters are its keys") from error
    return found


def way_of(on: str) -> str:
    """The way to the device of a name; what the user's file doesn't describe is a way itself.

    Raises InputError where the file is not what it should be.
    """
    known = described() if ":" not in on and on != "local" else {}
    return known[on].way if on in known else on


def target(on: str) -> Target:
    """The device of a name.

    Raises InputError where there is none, ProbeError where it is this machine and has no probe.
    """
    way = way_of(on)
    kind, _, where = way.partition(":")
    if way == "local":
        return local.find()
    if where and not where.startswith("-"):
        if kind == "ssh":
            return Remote(Ssh(where))
        if kind == "adb":
            return Remote(Adb(where))
        if kind == "qemu":
            return microcontroller.find_emulated(where)
        if kind == "board":
            return microcontroller.find_board(where)
    ways = f"it is local, ssh:HOST, adb:SERIAL, qemu:CORE, board:BOARD@PORT, or a name in {file()}"
    known = [] if ":" in on else list(described())
    hint = suggestion(on, known, ways) if known else ways
    raise InputError(f"--on {on[:80]}: there is no such target", hint=hint)
