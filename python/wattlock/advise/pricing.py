"""What ciphers cost on the device that a question names: by its card and published cycles, or by a run."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from wattlock.advise import costs, published
from wattlock.advise.costs import Message
from wattlock.advise.pooled import pooled
from wattlock.advise.published import Priced
from wattlock.advise.question import Question
from wattlock.energy import cards
from wattlock.energy.cards import Device
from wattlock.errors import InputError

if TYPE_CHECKING:
    from wattlock.run.result import Result


class Valued(NamedTuple):
    """What ciphers cost, and the card that values it: none where a meter measured the run. `name`: whose costs."""

    name: str
    device: Device | None
    priced: Priced


def messages(question: Question) -> list[Message]:
    """What the device seals and what it opens."""
    return [
        Message(size_B, per_s, opened=flow.direction == "receive")
        for flow in question.flow
        for size_B, per_s in flow.rates
    ]


def price(question: Question, own: Path | None, *, allow_assumed: bool) -> Valued:
    """What ciphers cost by the device or the run that a question names.

    * `own`: the user's folder of cards.

    Raises InputError where neither is named or both say the costs, or the run is invalid; EvidenceError where a number
    needs consent.
    """
    requested = question.device
    card = cards.load(requested.card, own) if requested.card else None
    if requested.run is not None:
        if requested.costs:
            raise InputError("device.costs and device.run both say what the ciphers cost", hint="give one of them")
        # Loaded where there is a run: with its statistics it takes a fifth of a second.
        from wattlock.run.result import open_one_kind

        names = [requested.run] if isinstance(requested.run, str) else requested.run
        return of_runs([open_one_kind(name) for name in names], card, allow_assumed=allow_assumed)
    if card is None:
        hint = "--device nrf52840 takes published cycles; --run last what this machine took (`wattlock run advice`)"
        raise InputError("neither a device nor a run is named", hint=hint)
    card.refuse_doubted(allow_assumed=allow_assumed)
    priced = published.price(
        card,
        messages(question),
        allow_assumed=allow_assumed,
        accelerator=requested.accelerator,
        given=Path(requested.costs) if requested.costs else None,
        own=own,
    )
    return Valued(card.name, card, priced)


def of_runs(results: Sequence["Result"], device: Device | None, *, allow_assumed: bool) -> Valued:
    """What ciphers cost by runs of one machine: valued by the card that is named, else by their own, else by the meter.

    Raises InputError where a run is invalid or has none of them, or two are of different machines, builds or cards.
    """
    for result in results:
        if result.reasons:
            named = f"run {result.plan['id']}" if len(results) > 1 else "the run"
            raise InputError(f"{named} is invalid: {result.reasons[0]}", hint="measure again on a quieter machine")
    for one, other in combinations(results, 2):
        _refuse_unlike(one, other)
    valued = [_of_run(result, device, allow_assumed=allow_assumed) for result in results]
    if len(valued) == 1:
        return valued[0]
    return valued[0]._replace(priced=Priced(pooled([one.priced.taken for one in valued]), [], [], []))


def _refuse_unlike(first: "Result", other: "Result") -> None:
    """Raises InputError where the costs of two runs can't be taken together."""
    from wattlock.run.machine import machine

    if first.plan["id"] == other.plan["id"]:
        hint = "what it measured counts once: name another run, or leave it out"
        raise InputError(f"run {other.plan['id']} is named twice", hint=hint)
    pair = f"runs {first.plan['id']} and {other.plan['id']}"
    if machine(first.header) != machine(other.header) or first.core_classes != other.core_classes:
        raise InputError(f"{pair} are not of one machine", hint="name runs of the device that the question is about")
    if first.plan["probe_sha256"] != other.plan["probe_sha256"]:
        hint = "a build of its own may take other times: name runs of one build"
        raise InputError(f"{pair} are of two builds of the probe", hint=hint)
    cards_of = [
        (run.plan["device"], run.plan.get("device_card"), (run.meter or {}).get("name")) for run in (first, other)
    ]
    if cards_of[0] != cards_of[1]:
        raise InputError(f"{pair} differ in their device card or their meter", hint="name runs valued alike")


def _of_run(result: "Result", device: Device | None, *, allow_assumed: bool) -> Valued:
    """What ciphers cost by a run: valued by the card that is named, else by its own, else by its meter.

    Raises InputError where it has none of them.
    """
    from wattlock.energy.model import measured, value

    if device is None and result.plan["device"] is not None:
        device = cards.kept(result.plan["device"], result.plan["device_card"])
        # Who measured the run with a card has allowed its numbers then.
        allow_assumed = True
    if device is None:
        if result.meter is None or result.energies is None:
            raise InputError("the run has no energy", hint="name a device card with --device, or take a meter's run")
        scope, baseline = result.meter["scope"], result.meter["baseline"]
        valued = measured(result.estimates, result.energies, scope=scope, baseline=baseline)
        found = costs.measured(
            valued,
            processes=result.processes,
            clock_Hz=None,
            counts_cycles=False,
            narrowed_by="longer blocks, or a finer meter",
        )
        return Valued("the run's machine", None, Priced(found, [], [], []))
    device = device.on(next(iter(result.core_classes), None))
    clock = device.card.frequency
    found = costs.measured(
        value(result.estimates, device, isa=result.isa, allow_assumed=allow_assumed),
        processes=result.processes,
        clock_Hz=clock.in_SI if clock else None,
        counts_cycles=device.card.counts_cycles,
        narrowed_by="more processes of the run",
    )
    return Valued(device.name, device, Priced(found, [], [], []))
