"""The form of a question of advice: the options of `wattlock advise` that a lab takes, read from an address's query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from wattlock.advise import question
from wattlock.definitions import suggestion
from wattlock.energy import battery_cards, cards, radio_cards
from wattlock.errors import InputError
from wattlock.lab.advising import Asked
from wattlock.lab.collection import Collection
from wattlock.lab.tables import Run
from wattlock.security import Authority

ON = "on"
LONGEST = 64
"""Letters of a value."""


@dataclass(frozen=True)
class Field:
    """One option.

    * `name`: the option's, without dashes. `key`: the question's, empty where it has none. `example`: of a text.
    * `group`: of the form. `is_box`: whether it is on or off.
    """

    name: str
    label: str
    group: str
    key: str = ""
    example: str = ""
    is_box: bool = False


FIELDS = (
    Field("profile", "Profile", "What is sent"),
    Field("message", "Message", "What is sent", example="64B"),
    Field("every", "Every", "What is sent", example="1min"),
    Field("device", "Device card", "The device", "device.card"),
    Field("run", "Costs measured by", "The device", "device.run"),
    Field("radio", "Radio card", "The device", "radio.card"),
    Field("protection", "The link’s own encryption", "The device", "radio.protection", "ccmp,none"),
    Field("battery", "Battery card", "The device", "battery.card"),
    Field("sleep", "Asleep it draws", "The device", "device.sleep", "9uW"),
    Field("strength", "Strength, bits", "What is required", "floor.strength", "128"),
    Field("approved", "Approved by", "What is required", "floor.approved"),
    Field("lifetime", "Secret for", "What is required", "floor.lifetime", "10y"),
    Field("latency", "Latency at most", "What is required", "floor.latency", "50ms"),
    Field("memory", "Memory at most", "What is required", "floor.memory", "8kB"),
    Field("unauthenticated", "Changes need not be noticed", "What is allowed", "floor.authenticated", is_box=True),
    Field(
        "allow-amortised", "Short tags, lifted by later messages", "What is allowed", "choices.amortised", is_box=True
    ),
    Field("allow-assumed", "Numbers that nobody could verify", "What is allowed", is_box=True),
)


def choices(lab: Collection) -> dict[str, dict[str, str]]:
    """What fields that take one of several values can have, each with what it is called."""
    found = {
        "device": cards.names(),
        "radio": radio_cards.RADIOS.names(),
        "battery": battery_cards.BATTERIES.names(),
    }
    return {
        "profile": {name: f"{name}: {question.read(name).get('title', '')}" for name in question.names()},
        "approved": {name: name.upper() for name in get_args(Authority)},
        "run": {run.hash: f"{run.id}, {run.device_name}" for run in _with_costs(lab)},
        **{name: dict(zip(values, values, strict=True)) for name, values in found.items()},
    }


def _with_costs(lab: Collection) -> Sequence[Run]:
    return [run for run in lab.runs() if not run.reasons and not run.is_counted]


def read(query: Sequence[tuple[str, str]]) -> dict[str, str]:
    """What was filled in, by field; what is empty was not.

    Raises InputError for a field that there isn't, one that comes twice, or is too long.
    """
    names = [field.name for field in FIELDS]
    found: dict[str, str] = {}
    for name, value in query:
        if name not in names:
            raise InputError(f"there is no field {name[:LONGEST]!r}", hint=suggestion(name, names, "there are"))
        if name in found:
            raise InputError(f"{name} is given twice", hint="give it once")
        if len(value) > LONGEST:
            raise InputError(f"{name}: has {len(value)} letters, the limit is {LONGEST}", hint="see the examples")
        found[name] = value.strip()
    return {name: value for name, value in found.items() if value}


def asked(filled: Mapping[str, str], lab: Collection) -> Asked:
    """What `wattlock advise` is given.

    Raises InputError for a value that its field can't have; the rest is checked as `wattlock advise` does. NoSuchRun
    for a run that the lab hasn't. A name is one of those that come with wattlock, never a path.
    """
    given: dict[str, object] = {}
    for field in FIELDS:
        value = _value(field, filled[field.name]) if field.name in filled else None
        if field.key:
            given[field.key] = value
    known = choices(lab)
    for name in ("profile", "device", "radio", "battery"):
        if filled.get(name, "") not in {"", *known[name]}:
            raise InputError(
                f"there is no {name} {filled[name]!r}", hint=suggestion(filled[name], list(known[name]), "there are")
            )
    if "run" in filled:
        run = lab.find(filled["run"])
        lab.folder(run.hash)
        given["device.run"] = run.hash
    allow_assumed = filled.get("allow-assumed") == ON
    profile, message, every = (filled.get(name) for name in ("profile", "message", "every"))
    return Asked(profile, message, every, given, allow_assumed, tuple(_arguments(filled)))


def _value(field: Field, value: str) -> object:
    if field.is_box:
        if value != ON:
            raise InputError(f"{field.name} is {value!r}", hint=f"{ON}, or leave it away")
        return field.name != "unauthenticated"
    if field.name == "strength":
        try:
            return float(value)
        except ValueError:
            raise InputError(f"strength {value!r} is no number", hint="bits, as 128") from None
    return value.split(",") if field.name == "protection" else value


def _arguments(filled: Mapping[str, str]) -> list[str]:
    """The words of the command line that asks the same."""
    words = [filled["profile"]] if "profile" in filled else []
    for field in FIELDS[1:]:
        if field.name in filled:
            words += [f"--{field.name}"] if field.is_box else [f"--{field.name}", filled[field.name]]
    return words
