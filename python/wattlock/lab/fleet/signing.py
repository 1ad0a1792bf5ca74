"""The lab's own key, and the plans that it signs: nothing else starts on a device of the fleet."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from wattlock.errors import InputError, NotVerified
from wattlock.publish.minisign import PublicKey, SecretKey, read
from wattlock.targets.hearing import Limits

KEY, PUBLIC_KEY = "plans.key", "plans.pub"


class Key(NamedTuple):
    """What a task is known by: its run, the number of the process, and which cases it has."""

    run: str
    process: int
    shard: str


@dataclass(frozen=True)
class Order:
    """One task as its worker gets it.

    * `text`: the lines of the plan. `limits`: what the probe may take. `who`: what it is called in errors.
    * `signature`: minisign's, over the text, with the key and the target as its trusted comment.
    """

    key: Key
    target: str
    text: bytes
    limits: Limits
    who: str
    signature: str = ""

    @property
    def comment(self) -> str:
        """What is signed beside the plan's lines, so that no plan is carried out for another task or target."""
        return f"run {self.key.run} process {self.key.process} shard {self.key.shard} target {self.target}"


def key_of(data: Path) -> SecretKey:
    """The key of the lab whose folder is `data`, made where there is none; only its user can read the file.

    Raises InputError where the file is no key.
    """
    path = data / KEY
    if not path.exists():
        made = SecretKey.new()
        (data / PUBLIC_KEY).write_text(made.public.file(), encoding="ascii")
        part = path.with_suffix(".part")
        part.unlink(missing_ok=True)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(made.file(None))
        part.rename(path)
    return SecretKey.parse(read(path), None, named=str(path))


def sign(key: SecretKey, order: Order) -> str:
    """The signature of an order."""
    return key.sign_hashed(_hashed(order.text), order.comment)


def refuse_unsigned(key: PublicKey, order: Order) -> None:
    """Raises NotVerified where an order is not what the lab signed for this task and target."""
    named, hint = f"the plan of {order.comment}", "only plans that the lab signed are carried out"
    try:
        comment = key.verify_hashed(_hashed(order.text), order.signature, named=named)
    except InputError as error:
        raise NotVerified(error.message, hint=hint) from error
    if comment != order.comment:
        raise NotVerified(f"{named}: was signed for {comment!r}", hint=hint)


def _hashed(text: bytes) -> bytes:
    return hashlib.blake2b(text).digest()
