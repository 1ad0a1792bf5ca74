"""Transfers that were measured: records of `wattlock send` and `receive`, as they print them by `--format json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import ConfigDict, Field, ValidationError

from wattlock.definitions import Table
from wattlock.errors import InputError

KINDS = ("text", "audio", "image", "video")
HINT = "write it by `wattlock send FILE --to HOST:PORT --cipher ID --format json > FILE`"
Count = Annotated[int, Field(ge=0)]


class Transferred(NamedTuple):
    """One file that went from one machine to another, as one side measured it.

    * `data`: what the file holds, None where nobody said. `name`: the cipher's family where it is one of the catalogue,
      else its id; `plain`: its plaintext's SHA-256, by which transfers of one file are known.
    * `cipher_s`: cipher and encoder, before the transfer; `duration_s`: with the transfer itself.
    * `energy_J`: of both, beyond what the machine draws at rest; None without a meter.
    """

    data: str | None
    side: str
    name: str
    cipher: str
    provider: str
    transport: str
    encoding: str
    plain: str
    plain_B: int
    wire_B: int
    cipher_s: float
    duration_s: float
    energy_J: float | None

    @property
    def how(self) -> str:
        """How it went: what differs in this is not compared."""
        return f"{self.transport.upper()}, {self.encoding}, {'sender' if self.side == 'send' else 'receiver'}"


class _Row(Table):
    """What is read of a record; the rest of it is left aside."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True, allow_inf_nan=False)

    side: Literal["send", "receive"]
    cipher: str
    provider: str
    transport: str
    encoding: str
    plain_sha256: str
    plain_B: Annotated[int, Field(gt=0)]
    wire_B: Count
    cipher_ns: Count
    encode_ns: Count
    transfer_ns: Count
    process_uJ: float | None = None
    transfer_uJ: float | None = None


def read(names: Iterable[str], catalogue: Sequence[Mapping[str, Any]]) -> list[Transferred]:
    """The transfers of several files, in their order.

    * `names`: paths, or KIND=PATH where the kind of the data is said.

    Raises InputError naming the file, and the record that is none.
    """
    families = {str(row["id"]): str(row["family"]) for row in catalogue}
    return [one for name in names for one in _of_file(name, families)]


def path_of(name: str) -> tuple[str | None, Path]:
    """`audio=sent.json` as the kind of data and the file; a path alone has no kind."""
    kind, equals, path = name.partition("=")
    return (kind, Path(path)) if equals and kind in KINDS else (None, Path(name))


def _of_file(name: str, families: Mapping[str, str]) -> list[Transferred]:
    data, path = path_of(name)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise InputError(f"--transfers {path}: can't be read: {why}", hint=HINT) from error
    found = []
    for number, record in enumerate(_records(path, text), 1):
        try:
            row = _Row.model_validate(record)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "it"
            message = f"--transfers {path}: record {number} is none of a transfer: {place}: {first['msg']}"
            raise InputError(message, hint=HINT) from error
        found.append(_transferred(row, data, families))
    if not found:
        raise InputError(f"--transfers {path}: it holds no record", hint=HINT)
    return found


def _records(path: Path, text: str) -> list[Any]:
    """One array, or an object a line."""
    try:
        whole = json.loads(text) if text.lstrip().startswith("[") else [json.loads(line) for line in text.splitlines()]
    except json.JSONDecodeError as error:
        raise InputError(f"--transfers {path}: it is no JSON: {error.msg}", hint=HINT) from error
    return list(whole)


def _transferred(row: _Row, data: str | None, families: Mapping[str, str]) -> Transferred:
    cipher_s = (row.cipher_ns + row.encode_ns) * 1e-9
    joules = None
    if row.process_uJ is not None and row.transfer_uJ is not None:
        joules = (row.process_uJ + row.transfer_uJ) * 1e-6
    return Transferred(
        data=data,
        side=row.side,
        name=families.get(row.cipher, row.cipher),
        cipher=row.cipher,
        provider=row.provider,
        transport=row.transport,
        encoding=row.encoding,
        plain=row.plain_sha256,
        plain_B=row.plain_B,
        wire_B=row.wire_B,
        cipher_s=cipher_s,
        duration_s=cipher_s + row.transfer_ns * 1e-9,
        energy_J=joules,
    )
