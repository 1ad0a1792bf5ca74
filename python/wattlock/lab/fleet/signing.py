"""The lab's own key, and the plans that it signs: nothing else starts on a device of the fleet."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from wattlock.errors import InputError, NotVerified
from wattlock.publish.minisign import PublicKey, SecretKey, read
from wattlock.targets.hearing import Limits

KEY, PUBLIC_KEY = "plans.key", "plans.pub"
COMMENT = "order of a wattlock lab"
VALID_S = 86_400.0


class Key(NamedTuple):
    """What a task is known by: its run, the number of the process, and which cases it has."""

    run: str
    process: int
    shard: str


@dataclass(frozen=True)
class Order:
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
        said: dict[str, Any] = {
            "key": self.key,
            "target": self.target,
            "who": self.who,
            "nonce": self.nonce,
            "limits": limits,
        }
        said["issued_s"] = self.issued_s
        said["text_sha256"] = hashlib.sha256(self.text).hexdigest()
        return json.dumps(said, sort_keys=True, separators=(",", ":")).encode()


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


def signed(key: SecretKey, order: Order) -> Order:
    """The order with a nonce of its own, signed."""
    order = replace(order, nonce=secrets.token_hex(16), issued_s=time.time())
    return replace(order, signature=key.sign_hashed(_hashed(order.signed), COMMENT))


def refuse_unsigned(key: PublicKey, order: Order) -> None:
    """Raises NotVerified where an order is not, in each word and limit, what the lab signed."""
    named = f"the plan of run {order.key.run}, process {order.key.process}, for {order.target}"
    try:
        key.verify_hashed(_hashed(order.signed), order.signature, named=named)
    except (InputError, TypeError, ValueError) as error:
        raise NotVerified(str(error), hint="only plans that the lab signed are carried out") from error


def refuse_replayed(seen: Path, order: Order) -> None:
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
