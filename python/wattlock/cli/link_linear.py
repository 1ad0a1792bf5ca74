"""What `wattlock link` prints of radios that are not 802.11: a message's ledger, or several messages side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wattlock.cli.link_pages import Valuing, table
from wattlock.cli.option_rules import refuse_pair
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table
from wattlock.cli.target import chosen
from wattlock.errors import EvidenceError, InputError, WattlockError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from wattlock.link.lowpower.linear import Answer, Message
    from wattlock.study.cases import CatalogueRow

GOES = ["--cipher", "--encoding", "--radio", "--payload-B", "--data-B", "--file", "--set"]
GOES += ["--cards", "--allow-assumed", "--format"]
# What a person calls paths of a message, where they come from the command line.
OPTIONS = {"payload.data_B": "--data-B", "payload.payload_B": "--payload-B", "payload.file": "--file"}
OPTIONS |= {"payload.cipher": "--cipher"}
# What only the tables for eyes leave out.
HIDDEN = {"by_line_uJ", "assumed"}


def refuse_foreign(names: Iterable[str], file: str) -> None:
    """Refuses options that say nothing of a linear radio, and two that say the same of one.

    Raises InputError naming them.
    """
    requested = list(names)
    for name in requested:
        if name.startswith("--") and name not in GOES:
            hint = f"{file} is of a radio that is not 802.11: it goes with {', '.join(GOES)}"
            raise InputError(f"{name} and the scenario {file} don't go together", hint=hint)
    for one, other in (("--payload-B", "--data-B"), ("--payload-B", "--file")):
        refuse_pair(requested, one, other, "both say how long the message is: leave one of them out")


def linear(
    files: Sequence[str],
    crossed: Mapping[str, Sequence[Any]],
    fixed: Mapping[str, Any],
    by: Valuing,
    form: Format,
) -> None:
    """Answers of radios that are not 802.11: each message under every combination of values.

    * `crossed`, `fixed`: by path, as for scenarios of 802.11; `payload.cipher` and `payload.encoding` become octets.
    """
    import polars as pl

    from wattlock.link.lowpower import linear as radios
    from wattlock.link.lowpower import rows
    from wattlock.link.lowpower.crossing import cross
    from wattlock.targets.probe import first_rows

    ids = {*crossed.get("payload.cipher", ()), fixed.get("payload.cipher")} - {None}
    ciphers = first_rows(chosen(), sorted(ids))
    came: list[tuple[str, Answer | WattlockError]] = []
    for label, file, changes in cross(files, crossed, fixed):
        try:
            message = _message(file, changes, ciphers)
            came.append((label, radios.evaluate(message, allow_assumed=by.allow_assumed, own=by.cards)))
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
        records = [row(label, one, rows.record) for label, one in came]
        print_table(pl.DataFrame(records, infer_schema_length=None), form)
    elif len(came) > 1:
        table([row(label, one, rows.summary) for label, one in came])
    else:
        label = came[0][0]
        table(first.rows(), f"{label}: {rows.title(first)}")
        table([{key: value for key, value in row.items() if key not in HIDDEN} for row in rows.nodes(first)], "nodes")


def taken(crossed: Mapping[str, Any], fixed: Mapping[str, Any]) -> dict[str, str]:
    """Keys of a message that options say already, with the option."""
    from wattlock.link.lowpower.crossing import OF_LINEAR

    found = {OF_LINEAR[path]: OPTIONS[path] for path in fixed if path in OF_LINEAR}
    return found | (dict.fromkeys(("sender", "receiver"), "--radio") if "radio" in crossed else {})


def _message(file: str, changes: Mapping[str, Any], ciphers: Mapping[str, CatalogueRow]) -> Message:
    """The message that a file and its changes come down to.

    Raises InputError naming the option, where one says what is wrong.
    """
    from wattlock.link.lowpower.crossing import OF_LINEAR, changed
    from wattlock.link.lowpower.linear import message_of
    from wattlock.link.scenario import read

    origin = f"link {file}: "
    try:
        return message_of(changed(file, read(file)[1], changes, ciphers), origin.removesuffix(": "))
    except InputError as error:
        message = error.message.removeprefix(origin)
        for path, option in OPTIONS.items():
            if path in changes:
                for key in (path, OF_LINEAR.get(path, path)):
                    message = f"{option}{message.removeprefix(key)}" if message.startswith(key) else message
        raise InputError(f"{origin}{message}", hint=error.hint) from error
