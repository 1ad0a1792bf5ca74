"""A question to its answer: what may be chosen is priced, excluded by rules, ranked by days of battery."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

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
from wattlock.advise.unused_keys import Answers, First, unused_keys
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
    answers = Answers(
        lambda other, known: inputs(other, own=own, allow_assumed=allow_assumed, known=known),
        lambda which: _first(which, device, when),
        lambda which: _answered(which, device, when, allow_assumed),
    )
    return replace(answers.whole(of), unused_keys=unused_keys(question, of, answers))


class _Candidates(NamedTuple):
    """The choices of a question before anything is computed of them: sound ones, others, and the papers' own."""

    sound: list[Choice]
    unsound: list[Excluded]
    past: History
    old: list[Choice]


def _candidates(given: Inputs, target: Target, when: date) -> _Candidates:
    question = given.question
    _consent(question, given)
    past = History(question, given)
    wanted = list(dict.fromkeys([*costing.ids(given.costs), *past.ids]))
    rows, nearest = _catalogue(target, tuple(wanted))
    _known(given, rows, nearest)
    every = candidates(question, given.costs, rows, given.sender.protections, given.priced.tally)
    if not every:
        raise InputError(
            "no cipher has a cost that the question can be answered with", hint="name other ciphers or a run"
        )
    unsound = _unsound(given, every, when)
    out = {id(one.choice) for one in unsound}
    sound = [one for one in every if id(one) not in out]
    packet_B = days.most_B(question, given.sender)
    return _Candidates(sound, unsound, past, [one for one in past.choices(rows, every) if one.room_B(packet_B)])


def _first(given: Inputs, target: Target, when: date) -> First | None:
    """What the first choice that passes takes and lasts, alone; None where none passes."""
    question, found = given.question, _candidates(given, target, when)
    spent = given.sender.evaluate(days.needed(question, found.sound, given.sender), toolbox.find())
    for choice in found.sound:
        load = days.load(question, choice, given.sender, given.draws, spent)
        if not exclude.by_cost(question, choice, load, given.sender.band):
            drawn = days.monte_carlo(question, [choice], given.sender, given.draws, given.battery, stage=given.stage)
            return First(found.unsound, choice.label, load.latency_s, days.by_charge([load], drawn, given.battery)[0])
    return None


def _answered(of: Inputs, target: Target, when: date, allow_assumed: bool) -> Advice:
    """The answer to the question of `of`."""
    question, band = of.question, of.sender.band
    sound, unsound, past, old = _candidates(of, target, when)
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
