"""What `wattlock link` prints of scenarios of 802.11: a ledger, several side by side, or ns-3's answers beside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wattlock.cli import option_rules
from wattlock.cli.echo import echo
from wattlock.cli.link_pages import Valuing, table
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table
from wattlock.cli.target import chosen
from wattlock.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wattlock.link.scenario import Named
    from wattlock.link.wifi.evaluate import Answer, Refused
    from wattlock.study.cases import CatalogueRow

# Beyond these somebody who waits should know why: the simulator sends some million packets a second.
MANY_PACKETS = 50_000_000


def wifi(
    files: Sequence[str],
    crossed: Mapping[str, Sequence[Any]],
    fixed: Mapping[str, Any],
    by: Valuing,
    form: Format,
) -> None:
    """Answers of the air to each scenario under every combination of values, or ns-3's beside the simulator's.

    * `crossed`, `fixed`: by path.
    """
    from wattlock.link.crossing import ciphers_of, cross
    from wattlock.targets.probe import first_rows

    is_beside = fixed.get("engine") == option_rules.NS3
    requested = cross(files, crossed, {**fixed, "engine": "dcf"} if is_beside else fixed)
    ciphers = first_rows(chosen(), ciphers_of(requested))
    if is_beside:
        _beside_ns3(requested, ciphers, form)
    else:
        _print(_answers(requested, ciphers, by), form)


def _beside_ns3(requested: Sequence[Named], ciphers: dict[str, CatalogueRow], form: Format) -> None:
    """The simulator's answers and ns-3's, side by side, of each scenario's packets of the commonest size."""
    import polars as pl

    from wattlock.link.engines import ns3
    from wattlock.link.wifi import air
    from wattlock.link.wifi.evaluate import largest_question
    from wattlock.targets import toolbox

    questions = [(named, largest_question(named, ciphers)) for named in requested]
    answers = air.evaluate(toolbox.find(), questions)
    rows = [one.row() for one in ns3.beside([question for _, question in questions], answers)]
    print_table(pl.DataFrame(rows, infer_schema_length=None), form)


def _answers(requested: list[Named], ciphers: dict[str, CatalogueRow], by: Valuing) -> list[Answer | Refused]:
    from wattlock.link.wifi.evaluate import evaluate_each, simulated
    from wattlock.targets import toolbox

    packets = simulated(requested, ciphers)
    if packets > MANY_PACKETS:
        echo(
            f"note: {packets:,} packets to simulate take minutes; less data (--data-B) has the same costs an octet",
            err=True,
        )
    if by.device is not None and by.run is None and not any(one.scenario.computes for one in requested):
        hint = "--run names a run, --set cost.cycles_per_B=20 or host.sender_us=300 a figure of your own"
        raise InputError("--device values what hosts compute, and nothing says what they do", hint=hint)
    if by.run is not None and not ciphers:
        raise InputError("--run says what a cipher costs, and the plaintext is sent", hint="name one with --cipher")
    return evaluate_each(
        requested,
        toolbox.find(),
        ciphers,
        measured=by.measured(),
        own=by.cards,
        allow_assumed=by.allow_assumed,
    )


def _print(came: list[Answer | Refused], form: Format) -> None:
    """One row each; one that can't be says why, and only where none can be it is an error."""
    import polars as pl

    from wattlock.link.wifi import rows
    from wattlock.link.wifi.evaluate import Refused

    answers = [one for one in came if not isinstance(one, Refused)]
    if not answers:
        raise next(one.error for one in came if isinstance(one, Refused))
    first = answers[0]

    def row(one: Answer | Refused, of: Callable[[Answer, Answer], dict[str, Any]]) -> dict[str, Any]:
        return rows.refused(one) if isinstance(one, Refused) else of(one, first)

    if form is not Format.table:
        records = [row(one, rows.record) for one in came]
        print_table(pl.DataFrame(records, infer_schema_length=None), form)
        return
    if len(came) > 1:
        table([row(one, rows.summary) for one in came])
        if any(one.positions for one in answers):
            every = ({"scenario": one.named.label, **row} for one in answers for row in rows.positions(one))
            table(list(every), "signal: as it is, then 3 dB stronger and 3 dB weaker")
    else:
        table(rows.ledger(first), first.named.title)
        table(rows.nodes(first), "nodes: what each radio does and spends")
        table(rows.hops(first), "hops")
        if first.works:
            table(rows.works(first), "what hosts compute")
        if first.positions:
            table(rows.positions(first), "signal: as it is, then 3 dB stronger and 3 dB weaker")
        table([rows.summary(first, first)], "in short")
    for note in rows.notes(answers):
        echo(f"note: {note}")
