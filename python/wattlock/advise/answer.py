"""A question to its answer: what may be chosen is priced, excluded by rules, ranked by days of battery."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path

from wattlock.advise import costs as costing
from wattlock.advise import days, exclude
from wattlock.advise.advice import Advice
from wattlock.advise.choices import Choice, candidates
from wattlock.advise.days import Load
from wattlock.advise.exclude import Excluded
from wattlock.advise.gain import gain
from wattlock.advise.history import History, free
from wattlock.advise.inputs import Inputs, check_radio, inputs
from wattlock.advise.question import Question
from wattlock.advise.rank import ranked
from wattlock.advise.sending import Packet
from wattlock.advise.unused_keys import unused_keys
from wattlock.advise.value_of_information import values_of_information
from wattlock.advise.without import bare, bares, without_sessions
from wattlock.errors import EvidenceError, InputError
from wattlock.security.rules import matches
from wattlock.study.cases import CatalogueRow
from wattlock.targets import Target, or_this_machine, probe, toolbox


def advise(
    question: Question,
    *,
    own: Path | None = None,
    allow_assumed: bool = False,
    target: Target | None = None,
    today: date | None = None,
) -> Advice:
    """Rank the ways to protect a device's traffic by days of battery.

    * `own`: the user's folder of cards. `target`: whose probe knows the catalogue; without it this machine.
    * `today`: from which a lifetime of data counts.

    Raises InputError where nothing passes the floor, the radio can't carry the traffic or a card is missing something,
    EvidenceError where a number needs consent.
    """
    device = or_this_machine(target)
    when = today or datetime.now(UTC).date()
    of = inputs(question, own=own, allow_assumed=allow_assumed)

    def again(other: Question) -> Advice:
        return _answered(inputs(other, own=own, allow_assumed=allow_assumed, known=of), device, when, allow_assumed)

    return replace(_answered(of, device, when, allow_assumed), unused_keys=unused_keys(question, again))


def _answered(of: Inputs, target: Target, when: date, allow_assumed: bool) -> Advice:
    """The answer to the question of `of`."""
    question = of.question
    _consent(question, of)
    past = History(question, of)
    wanted = list(dict.fromkeys([*costing.ids(of.costs), *past.ids]))
    rows, nearest = _catalogue(target, tuple(wanted))
    _known(of, rows, nearest)
    every = candidates(question, of.costs, rows, of.sender.protections, of.priced.tally)
    if not every:
        raise InputError(
            "no cipher has a cost that the question can be answered with", hint="name other ciphers or a run"
        )
    packet_B, band = days.most_B(question, of.sender), of.sender.band
    unsound = _unsound(of, every, when)
    out = {id(one.choice) for one in unsound}
    sound = [one for one in every if id(one) not in out]
    old = [one for one in past.choices(rows, every) if one.room_B(packet_B)]
    spent = of.sender.evaluate(_packets(of, sound, old), toolbox.find())
    passing: list[Choice] = []
    loads: list[Load] = []
    excluded = list(unsound)
    for choice in sound:
        load = days.load(question, choice, of.sender, of.draws, spent)
        reasons = exclude.by_cost(question, choice, load, band)
        if reasons:
            excluded.append(Excluded(choice, reasons, exclude.times_allowed(question, choice, load, band)))
        else:
            passing.append(choice)
            loads.append(load)
    if not passing:
        exclude.refuse_none(excluded)
    check_radio(loads, of, allow_assumed=allow_assumed)
    monte_carlo = days.monte_carlo(question, [*passing, *old], of.sender, of.draws, of.battery, stage=of.stage)
    charge_s = days.by_charge(loads, monte_carlo, of.battery)
    life_s = days.given_up(charge_s, monte_carlo)
    places = ranked(life_s, charge_s)
    first = places[0].number
    narrow = values_of_information(loads[first], passing[first].cost, monte_carlo, of.battery, of.advice)
    history = past.described(old, spent, monte_carlo, life_s[first])
    without = days.load(question, passing[first]._replace(cost=free(passing[first].cipher)), of.sender, of.draws, spent)
    free_s = days.by_charge([without], monte_carlo, of.battery)[0]
    freed = (gain(life_s[first], days.given_up(free_s, monte_carlo)), gain(charge_s[first], free_s))
    bare_load = days.load(without_sessions(question), bare(passing[first]), of.sender, of.draws, spent)
    return Advice(
        question=question,
        inputs=of,
        monte_carlo=monte_carlo,
        choices=passing,
        loads=loads,
        life_s=life_s,
        charge_s=charge_s,
        places=places,
        excluded=excluded,
        information=narrow,
        history=history,
        freed=freed,
        bare_s=days.seconds([bare_load], monte_carlo, of.battery)[0],
        today=when,
    )


def _packets(of: Inputs, sound: Sequence[Choice], old: Sequence[Choice]) -> Iterator[Packet]:
    """Every packet that the choices send or receive, and those without cryptography."""
    yield from days.needed(of.question, [*sound, *old], of.sender)
    yield from days.needed(without_sessions(of.question), bares(sound), of.sender)


def _unsound(of: Inputs, every: Sequence[Choice], when: date) -> list[Excluded]:
    """The choices that nothing needs to be computed of: their security or their octets forbid them."""
    packet_B, answered = days.most_B(of.question, of.sender), not of.sender.advertising
    return [
        Excluded(one, reasons, max(1.0, one.sealed(1).wire_B / packet_B))
        for one in every
        if (
            reasons := exclude.by_security(of.question, one, when)
            + exclude.by_room(one, packet_B)
            + exclude.by_answer(one, answered=answered)
        )
    ]


def _consent(question: Question, of: Inputs) -> None:
    """Raises EvidenceError where all costs of the ciphers asked for are assumed, and nobody allowed that."""
    options = question.choices
    taken, doubted = (
        [
            cost
            for cost in costs
            if matches(cost.cipher, options.ciphers or ["*"]) and matches(cost.provider, options.providers or ["*"])
        ]
        for costs in (of.priced.taken, of.priced.unranked)
    )
    if taken or not doubted:
        return
    isa = of.device.card.isa if of.device else ""
    ciphers = ", ".join(dict.fromkeys(cost.cipher for cost in doubted))
    raise EvidenceError(
        f"nothing is left to rank on {of.name}: what {ciphers} would cost is assumed ({doubted[0].doubt})",
        hint=f"count one of them there and name it with --costs FILE (`wattlock advise --costs-template {isa}` prints "
        "a file to fill), or a run with --run; --allow-assumed ranks them as they are",
    )


def _known(of: Inputs, rows: Mapping[str, CatalogueRow], nearest: Mapping[str, str | None]) -> None:
    """Raises InputError where the user's own costs are of a cipher that the catalogue has not."""
    for cost in of.costs:
        if cost.origin and cost.origin.own and cost.cipher not in rows:
            error = probe.unknown(cost.cipher, nearest.get(cost.cipher))
            raise InputError(f"your own costs: {error.message}", hint=error.hint)


@lru_cache(maxsize=4)
def _catalogue(target: Target, ids: tuple[str, ...]) -> tuple[dict[str, CatalogueRow], dict[str, str | None]]:
    """The catalogue's facts of ciphers, whoever provides them; of each id that it has not, the nearest."""
    # A question is answered several times, and the probe takes longer than the rest.
    rows, nearest = probe.catalogue(target, ids)
    return {name: several[0] for name, several in rows.items()}, nearest
