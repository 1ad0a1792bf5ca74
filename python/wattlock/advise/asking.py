"""A question from what options or a form say: a profile, one kind of message, and any keys in their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from wattlock.advise import question
from wattlock.advise.quantity import option
from wattlock.advise.question import Question
from wattlock.definitions.changes import change
from wattlock.errors import InputError


class Traffic(NamedTuple):
    """What is sent, where one kind of message is all: octets, how often; or a file of a capture."""

    message: str | None = None
    every: str | None = None
    capture: str | None = None


KINDS = {"sleep": "power", "lifetime": "duration", "latency": "duration", "memory": "size"}
"""What an option is called where the question calls it by its key, for errors."""


def asked(
    profile: str | None, traffic: Traffic, given: Mapping[str, Any], changes: Sequence[str] | None = None
) -> Question:
    """The question of a profile, or of none, with what is given in place of what it says.

    * `given`: values by the question's keys, as `floor.strength`; one that is null is not given. `changes`: KEY=VALUE.

    Raises InputError naming the option or every key that is wrong, and its value.
    """
    given = {key: value for key, value in given.items() if value is not None}
    for key, value in given.items():
        kind = KINDS.get(key.rpartition(".")[2])
        if kind:
            option(f"--{key.rpartition('.')[2]}", value, kind)  # type: ignore[arg-type]
    tables: dict[str, Any] = question.read(profile) if profile else {}
    there = tables.get("flow", [])
    if isinstance(there, list):
        tables["flow"] = _flows(there, traffic)
    if not tables["flow"] and not any((text or "").startswith("flow") for text in changes or []):
        raise InputError("no traffic is given", hint="--message 64B --every 1s, or a profile: `wattlock advise --list`")
    name = f"profile {profile}" if profile else "question"
    return question.checked(name, tables, dict(given) | dict(change(text, "floor.tag=96") for text in changes or []))


def _flows(there: list[dict[str, Any]], traffic: Traffic) -> list[dict[str, Any]]:
    """The profile's flows with what options say of the one; without a profile's, the one that options say."""
    message, every, capture = traffic.message, traffic.every, traffic.capture
    if capture is not None:
        if message is not None or every is not None:
            other = "--message" if message is not None else "--every"
            raise InputError(f"--capture and {other} both say what is sent", hint="give one of them")
        return [{"capture": capture}]
    own: dict[str, Any] = {}
    if message is not None:
        own["message"] = option("--message", message, "size")
    if every is not None:
        own["every"] = option("--every", every, "duration")
    if not own:
        return there
    if len(there) > 1:
        hint = f"say which one: --set flow[0].every=10s, up to flow[{len(there) - 1}]"
        raise InputError(f"the profile has {len(there)} flows, --message and --every change one", hint=hint)
    if not there and len(own) == 1:
        missing = "--message" if message is None else "--every"
        raise InputError(f"{missing} is missing", hint="traffic is a size and a time: --message 64B --every 1s")
    kept = there[0] if there else {}
    if message is not None:
        kept = {key: one for key, one in kept.items() if key not in {"sizes", "capture"}}
    return [kept | own]
