"""Messages of radios that are not 802.11 under changes of their keys: every combination of values is one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, get_args

from wattlock.definitions import suggestion
from wattlock.errors import InputError
from wattlock.link.crossing import combinations
from wattlock.link.payload import Encoding, expanded, size_B
from wattlock.study.cases import CatalogueRow

OF_LINEAR = {"payload.data_B": "payload_B", "payload.payload_B": "payload_B", "payload.file": "payload_B"}
"""Of a scenario of 802.11, its place in one of a linear radio."""


def cross(
    files: Sequence[str], crossed: Mapping[str, Sequence[Any]], fixed: Mapping[str, Any]
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each file under every combination of values: what to call it, the file, and its changes by path."""
    for file in files:
        for changes in combinations(crossed, fixed):
            described = [
                f"{path.rpartition('.')[2]}={'none' if value is None else value}"
                for path, value in changes.items()
                if value is not None or path == "payload.cipher"
            ]
            yield " ".join([file, *described]), file, changes


def changed(
    file: str, tables: Mapping[str, Any], changes: Mapping[str, Any], ciphers: Mapping[str, CatalogueRow]
) -> dict[str, Any]:
    """The tables of a message under changes: a cipher and an encoding become octets.

    * `tables`: as they stand in `file`. `changes`: by path, as for scenarios of 802.11.

    Raises InputError where a key or a value doesn't fit.
    """
    raw = deepcopy(dict(tables))
    own = {path: value for path, value in changes.items() if value is not None}
    cipher, encoding = own.pop("payload.cipher", None), own.pop("payload.encoding", None)
    if "radio" in own:
        # Of all nodes, as with 802.11; a gateway has none.
        own |= dict.fromkeys(("sender", *(["receiver"] if "receiver" in raw else [])), own.pop("radio"))
    if "payload.file" in own:
        own["payload.file"] = size_B(own["payload.file"])
    for path, value in own.items():
        inside, *rest = OF_LINEAR.get(path, path).split(".")
        if rest and isinstance(raw.setdefault(inside, {}), dict):
            raw[inside][".".join(rest)] = value
        elif rest:
            raise InputError(f"link {file}: {path}: {inside} is no table", hint=f"{inside} is {raw[inside]!r}")
        else:
            raw[inside] = value
    if cipher or encoding:
        plain_B = raw.get("payload_B")
        if not isinstance(plain_B, int):
            raise InputError(f"link {file}: payload_B: is missing", hint="--payload-B says how long the message is")
        parts = expanded(plain_B, ciphers.get(cipher) if cipher else None, _encoding(file, encoding or "raw"))
        raw["cipher_B"] = parts.iv_B + parts.padding_B + parts.tag_B
        raw["encoding_B"] = parts.encoding_B
    return raw


def _encoding(file: str, name: str) -> Any:
    if name not in get_args(Encoding):
        hint = suggestion(name, get_args(Encoding), "there are")
        raise InputError(f'link {file}: --encoding: no encoding "{name}"', hint=hint)
    return name
