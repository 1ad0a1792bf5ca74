"""On the worker of a target: one process at a time, by an order whose signature is checked before anything starts."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from wattlock.errors import InputError, NotVerified
from wattlock.publish.minisign import PublicKey, SecretKey, read
from wattlock.targets import Target, named
from wattlock.targets.cluster import this_worker
from wattlock.targets.target import Limits

TARGET_VARIABLE, KEY_VARIABLE, ORDERS_VARIABLE = "WATTLOCK_FLEET_TARGET", "WATTLOCK_FLEET_KEY", "WATTLOCK_FLEET_ORDERS"
"""By which the lab tells a worker what is its own, before any task reaches it."""


class TaskOutput(NamedTuple):
    """What a process wrote, its exit code and its complaints."""

    written: bytes
    code: int
    complaints: bytes


def carry_out(order: TaskOrder) -> TaskOutput:
    """One process of the probe on this worker's device, to its end, or until its task is released.

    Raises NotVerified where the order is not signed, is for another target, was changed, or came before; what
    `Target.start` raises.
    """
    target = os.environ[TARGET_VARIABLE]
    refuse_unsigned(PublicKey.parse(os.environ[KEY_VARIABLE], named=KEY_VARIABLE), order)
    if order.target != target:
        raise NotVerified(
            f"a plan for {order.target} came to the worker of {target}", hint="the lab sends each its own"
        )
    refuse_replayed(Path(os.environ[ORDERS_VARIABLE]), order)
    _, released = this_worker()
    written: list[bytes] = []
    limits = replace(order.limits, stopped=released)
    code, complaints = _device(target, named.way_of(target)).start(
        ["measure"], order.text, limits, written.append, who=order.who
    )
    return TaskOutput(b"".join(written), code, complaints)


@lru_cache
def _device(name: str, _way: str) -> Target:
    """It keeps its connection from task to task, and makes a new one where that is lost, or the name means another."""
    return named.target(name)


KEY, PUBLIC_KEY = "plans.key", "plans.pub"
COMMENT = "order of a wattlock lab"
VALID_S = 86_400.0


class Key(NamedTuple):
    """What a task is known by: its run, the number of the process, and which cases it has."""

    run: str
    process: int
    shard: str


@dataclass(frozen=True)
class TaskOrder:
    """One task as its worker gets it.

    * `text`: the lines of the plan. `limits`: what the probe may take. `who`: what it is called in errors.
    * `nonce`, `issued_s`: drawn anew, and read from the clock in seconds since 1970, each time that it is sent: a
      worker carries out each but once, and none that is older than a day.
    * `signature`: minisign's, over all of that.
    """

    key: Key
    target: str
    text: bytes
    limits: Limits
    who: str
    nonce: str = ""
    issued_s: float = 0.0
    signature: str = ""

    @property
    def signed(self) -> bytes:
        """All that it says in one encoding: JSON with sorted keys, where no value reaches into another one."""
        limits = {name: value for name, value in vars(self.limits).items() if name != "stopped"}
        message: dict[str, Any] = {
            "key": self.key,
            "target": self.target,
            "who": self.who,
            "nonce": self.nonce,
            "limits": limits,
        }
        message["issued_s"] = self.issued_s
        message["text_sha256"] = hashlib.sha256(self.text).hexdigest()
        return json.dumps(message, sort_keys=True, separators=(",", ":")).encode()


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


def signed(key: SecretKey, order: TaskOrder) -> TaskOrder:
    """The order with a nonce of its own, signed."""
    order = replace(order, nonce=secrets.token_hex(16), issued_s=time.time())
    return replace(order, signature=key.sign_hashed(_hashed(order.signed), COMMENT))


def refuse_unsigned(key: PublicKey, order: TaskOrder) -> None:
    """Raises NotVerified where an order is not, in each word and limit, what the lab signed."""
    named = f"the plan of run {order.key.run}, process {order.key.process}, for {order.target}"
    try:
        key.verify_hashed(_hashed(order.signed), order.signature, named=named)
    except (InputError, TypeError, ValueError) as error:
        raise NotVerified(str(error), hint="only plans that the lab signed are carried out") from error


def refuse_replayed(seen: Path, order: TaskOrder) -> None:
    """Raises NotVerified where an order that was signed came before, or long ago.

    * `seen`: the folder that has a file for each that came, of all workers of this host.
    """
    what, hint = f"the plan of run {order.key.run}, process {order.key.process}", "each order is carried out once"
    if abs(time.time() - order.issued_s) > VALID_S:
        raise NotVerified(f"{what}: was signed more than a day ago", hint=hint)
    try:
        (seen / hashlib.sha256(order.nonce.encode()).hexdigest()).touch(exist_ok=False)
    except FileExistsError:
        raise NotVerified(f"{what}: came before", hint=hint) from None


def forget(seen: Path) -> None:
    """Makes the folder of the orders that came, and takes out those that are refused by their age."""
    seen.mkdir(parents=True, exist_ok=True)
    for file in seen.iterdir():
        if time.time() - file.stat().st_mtime > 2 * VALID_S:
            file.unlink(missing_ok=True)


def _hashed(text: bytes) -> bytes:
    return hashlib.blake2b(text).digest()
