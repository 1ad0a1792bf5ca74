"""What `wattlock link` prints of radios that are not 802.11: a message's ledger, or several messages side by side."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattlock.cli.link_pages import table
from wattlock.cli.option_rules import refuse_pair
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table
from wattlock.errors import EvidenceError, InputError, WattlockError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from wattlock.link.lowpower.linear import Answer, Message
    from wattlock.study.cases import CatalogueRow

GOES = ["--cipher", "--encoding", "--radio", "--payload-B", "--data-B", "--file", "--set"]
GOES += ["--cards", "--allow-assumed", "--format"]
# Of a scenario of 802.11, its place in one of a linear radio.
OF_LINEAR = {"payload.data_B": "payload_B", "payload.payload_B": "payload_B", "payload.file": "payload_B"}
# What a person calls those, where they come from the command line.
OPTIONS = {"payload.data_B": "--data-B", "payload.payload_B": "--payload-B", "payload.file": "--file"}
OPTIONS |= {"payload.cipher": "--cipher"}
# What only the tables for eyes leave out.
HIDDEN = {"by_line_uJ", "assumed"}


def refuse_foreign(names: Iterable[str], file: str) -> None:
    """Refuses options that say nothing of a linear radio, and two that say the same of one.

    Raises InputError naming them.
    """
    asked = list(names)
    for name in asked:
        if name.startswith("--") and name not in GOES:
            hint = f"{file} is of a radio that is not 802.11: it goes with {', '.join(GOES)}"
            raise InputError(f"{name} and the scenario {file} don't go together", hint=hint)
    for one, other in (("--payload-B", "--data-B"), ("--payload-B", "--file")):
        refuse_pair(asked, one, other, "both say how long the message is: leave one of them out")


def linear(
    files: Sequence[str],
    crossed: Mapping[str, Sequence[Any]],
    fixed: Mapping[str, Any],
    ciphers: Mapping[str, CatalogueRow],
    *,
    cards: Path | None,
    allow_assumed: bool,
    form: Format,
) -> None:
    """Answers of radios that are not 802.11: each message under every combination of values.

    * `crossed`, `fixed`: by path, as for scenarios of 802.11; `payload.cipher` and `payload.encoding` become octets.
    """
    import polars as pl

    from wattlock.link.lowpower import linear as radios

    came: list[tuple[str, Answer | WattlockError]] = []
    for file in files:
        for values in product(*crossed.values()):
            changes = {**dict(zip(crossed, values, strict=True)), **fixed}
            label = " ".join([file, *_told(changes)])
            try:
                message = _message(file, changes, ciphers)
                came.append((label, radios.ask(message, allow_assumed=allow_assumed, own=cards)))
            except (InputError, EvidenceError) as error:
                came.append((label, error))
    first = next((one for _, one in came if not isinstance(one, WattlockError)), None)
    if first is None:
        raise next(one for _, one in came if isinstance(one, WattlockError))
    held = first

    def row(label: str, one: Answer | WattlockError, of: Callable[..., dict[str, Any]]) -> dict[str, Any]:
        if isinstance(one, WattlockError):
            return {"scenario": label, "refused": one.message.removeprefix(f"link {label.split(maxsplit=1)[0]}: ")}
        return of(label, one, held)

    if form is not Format.table:
        records = [row(label, one, _record) for label, one in came]
        print_table(pl.DataFrame(records, infer_schema_length=None), form)
    elif len(came) > 1:
        table([row(label, one, _summary) for label, one in came])
    else:
        label = came[0][0]
        table(first.rows(), f"{label}: {_title(first)}")
        table([{key: value for key, value in row.items() if key not in HIDDEN} for row in _nodes(first)], "nodes")


def taken(crossed: Mapping[str, Any], fixed: Mapping[str, Any]) -> dict[str, str]:
    """Keys of a message that options say already, with the option."""
    found = {OF_LINEAR[path]: OPTIONS[path] for path in fixed if path in OF_LINEAR}
    return found | (dict.fromkeys(("sender", "receiver"), "--radio") if "radio" in crossed else {})


def _message(file: str, changes: Mapping[str, Any], ciphers: Mapping[str, CatalogueRow]) -> Message:
    """The message that a file and its changes come down to.

    Raises InputError naming the option, where one says what is wrong.
    """
    from wattlock.link.lowpower.linear import message_of

    origin = f"link {file}: "
    try:
        return message_of(_changed(file, changes, ciphers), origin.removesuffix(": "))
    except InputError as error:
        said = error.message.removeprefix(origin)
        for path, option in OPTIONS.items():
            if path in changes:
                for key in (path, OF_LINEAR.get(path, path)):
                    said = f"{option}{said.removeprefix(key)}" if said.startswith(key) else said
        raise InputError(f"{origin}{said}", hint=error.hint) from error


def _told(changes: Mapping[str, Any]) -> list[str]:
    return [
        f"{path.rpartition('.')[2]}={'none' if value is None else value}"
        for path, value in changes.items()
        if value is not None or path == "payload.cipher"
    ]


def _title(answer: Answer) -> str:
    octets = "octet" if answer.message.payload_B == 1 else "octets"
    return f"{answer.message.title}, {answer.message.payload_B:,} {octets}"


def _nodes(answer: Answer) -> list[dict[str, Any]]:
    return [one._asdict() for one in answer.energies]


def _summary(label: str, answer: Answer, first: Answer) -> dict[str, Any]:
    """One row of a message, held against `first`; joules are those of all nodes that have a card."""
    nodes = answer.energies
    return {
        "scenario": label,
        "duration_s": answer.ledger.time_ns * 1e-9,
        "ratio": answer.ledger.time_ns / first.ledger.time_ns if first.ledger.time_ns else None,
        "octets_B": answer.ledger.octets_B,
        "frames": answer.ledger.frames,
        "total_uJ": sum(one.total_uJ for one in nodes),
        "marginal_uJ": sum(one.marginal_uJ for one in nodes),
        "evidence": "assumed" if any(one.assumed for one in nodes) else "modelled",
    }


def _record(label: str, answer: Answer, first: Answer) -> dict[str, Any]:
    """All of it, nested, for programs."""
    summary = _summary(label, answer, first) | {"title": _title(answer), "payload_B": answer.message.payload_B}
    return summary | {"ledger": answer.rows(), "nodes": _nodes(answer)}


def _changed(file: str, changes: Mapping[str, Any], ciphers: Mapping[str, CatalogueRow]) -> dict[str, Any]:
    from wattlock.link import scenario
    from wattlock.link.payload import expanded
    from wattlock.link.wifi.ask import size_B

    _, raw = scenario.read(file)
    # For the list alone.
    raw.pop("note", None)
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
    from typing import get_args

    from wattlock.definitions import suggestion
    from wattlock.link.payload import Encoding

    if name not in get_args(Encoding):
        hint = suggestion(name, get_args(Encoding), "there are")
        raise InputError(f'link {file}: --encoding: no encoding "{name}"', hint=hint)
    return name
