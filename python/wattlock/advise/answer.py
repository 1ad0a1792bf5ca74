"""A question to its answer: what may be chosen is priced, excluded by rules, ranked by days of battery."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import BaseModel

from wattlock.advise import cipher_costs as costing
from wattlock.advise import days, rank
from wattlock.advise.advice import Advice, values_of_information
from wattlock.advise.choices import Choice, candidates
from wattlock.advise.days import Load
from wattlock.advise.inputs import History, Inputs, check_radio, free, inputs
from wattlock.advise.question import Question
from wattlock.advise.rank import Excluded, gain, ranked
from wattlock.advise.sending import PricedPacket
from wattlock.energy.battery_cards import Array
from wattlock.errors import EvidenceError, InputError, WattlockError
from wattlock.security import Cited
from wattlock.security.status import matches
from wattlock.study.cases import CatalogueRow
from wattlock.targets import Target, or_this_machine, probe, toolbox


def advise(
    question: Question,
    *,
    cards: Path | None = None,
    allow_assumed: bool = False,
    target: Target | None = None,
    today: date | None = None,
) -> Advice:
    """Rank the ways to protect a device's traffic by days of battery.

    * `cards`: the user's folder of cards. `target`: whose probe knows the catalogue; without it this machine.
    * `today`: from which a lifetime of data counts.

    Raises InputError where nothing passes the floor, the radio can't carry the traffic or a card is missing something,
    EvidenceError where a number needs consent.
    """
    device = or_this_machine(target)
    when = today or datetime.now(UTC).date()
    gathered = inputs(question, cards=cards, allow_assumed=allow_assumed)
    answers = Answers(
        lambda other, known: inputs(other, cards=cards, allow_assumed=allow_assumed, known=known),
        lambda which: _first(which, device, when),
        lambda which: _answered(which, device, when, allow_assumed),
    )
    return replace(answers.whole(gathered), unused_keys=unused_keys(question, gathered, answers))


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
    choices = candidates(question, given.costs, rows, given.sender.protections, given.priced.tally)
    if not choices:
        raise InputError(
            "no cipher has a cost that the question can be answered with", hint="name other ciphers or a run"
        )
    unsound = _unsound(given, choices, when)
    out = {id(exclusion.choice) for exclusion in unsound}
    sound = [choice for choice in choices if id(choice) not in out]
    packet_B = days.most_B(question, given.sender)
    return _Candidates(
        sound, unsound, past, [choice for choice in past.choices(rows, choices) if choice.room_B(packet_B)]
    )


class First(NamedTuple):
    """What is seen of an answer before all of it is there: which choices are unsound, and the first that passes.

    * `latency_s`, `charge_s`: of that choice, the seconds that the charge lasts in each draw.
    """

    unsound: list[Excluded]
    label: str
    latency_s: float
    charge_s: Array


def _first(given: Inputs, target: Target, when: date) -> First | None:
    """What the first choice that passes takes and lasts, alone; None where none passes."""
    question, found = given.question, _candidates(given, target, when)
    spent = given.sender.evaluate(days.needed(question, found.sound, given.sender), toolbox.find())
    for choice in found.sound:
        load = days.load(question, choice, given.sender, given.draws, spent)
        if not rank.by_cost(question, choice, load, given.sender.band):
            drawn = days.monte_carlo(question, [choice], given.sender, given.draws, given.battery, stage=given.stage)
            return First(found.unsound, choice.label, load.latency_s, days.by_charge([load], drawn, given.battery)[0])
    return None


def _answered(inputs: Inputs, target: Target, when: date, allow_assumed: bool) -> Advice:
    """The answer to the question of `inputs`."""
    question, band = inputs.question, inputs.sender.band
    sound, unsound, past, old = _candidates(inputs, target, when)
    spent = inputs.sender.evaluate(_packets(inputs, sound, old), toolbox.find())
    passing: list[Choice] = []
    loads: list[Load] = []
    excluded = list(unsound)
    for choice in sound:
        load = days.load(question, choice, inputs.sender, inputs.draws, spent)
        reasons = rank.by_cost(question, choice, load, band)
        if reasons:
            excluded.append(Excluded(choice, reasons, rank.times_allowed(question, choice, load, band)))
        else:
            passing.append(choice)
            loads.append(load)
    if not passing:
        rank.refuse_none(excluded)
    check_radio(loads, inputs, allow_assumed=allow_assumed)
    monte_carlo = days.monte_carlo(
        question, [*passing, *old], inputs.sender, inputs.draws, inputs.battery, stage=inputs.stage
    )
    charge_s = days.by_charge(loads, monte_carlo, inputs.battery)
    life_s = days.given_up(charge_s, monte_carlo)
    places = ranked(life_s, charge_s)
    first = places[0].number
    narrow = values_of_information(loads[first], passing[first].cost, monte_carlo, inputs.battery, inputs.advice)
    history = past.described(old, spent, monte_carlo, life_s[first])
    without = days.load(
        question, passing[first]._replace(cost=free(passing[first].cipher)), inputs.sender, inputs.draws, spent
    )
    free_s = days.by_charge([without], monte_carlo, inputs.battery)[0]
    freed = (gain(life_s[first], days.given_up(free_s, monte_carlo)), gain(charge_s[first], free_s))
    bare_load = days.load(without_sessions(question), bare(passing[first]), inputs.sender, inputs.draws, spent)
    return Advice(
        question=question,
        inputs=inputs,
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
        bare_s=days.seconds([bare_load], monte_carlo, inputs.battery)[0],
        today=when,
    )


def _packets(inputs: Inputs, sound: Sequence[Choice], old: Sequence[Choice]) -> Iterator[PricedPacket]:
    """Every packet that the choices send or receive, and those without cryptography."""
    yield from days.needed(inputs.question, [*sound, *old], inputs.sender)
    yield from days.needed(without_sessions(inputs.question), bares(sound), inputs.sender)


def _unsound(inputs: Inputs, choices: Sequence[Choice], when: date) -> list[Excluded]:
    """The choices that nothing needs to be computed of: their security or their octets forbid them."""
    packet_B, answered = days.most_B(inputs.question, inputs.sender), not inputs.sender.advertising
    return [
        Excluded(choice, reasons, max(1.0, choice.sealed(1).wire_B / packet_B))
        for choice in choices
        if (
            reasons := rank.by_security(inputs.question, choice, when)
            + rank.by_room(choice, packet_B)
            + rank.by_answer(choice, answered=answered)
        )
    ]


def _consent(question: Question, inputs: Inputs) -> None:
    """Raises EvidenceError where all costs of the ciphers asked for are assumed, and nobody allowed that."""
    options = question.choices
    taken, doubted = (
        [
            cost
            for cost in costs
            if matches(cost.cipher, options.ciphers or ["*"]) and matches(cost.provider, options.providers or ["*"])
        ]
        for costs in (inputs.priced.taken, inputs.priced.unranked)
    )
    if taken or not doubted:
        return
    isa = inputs.device.card.isa if inputs.device else ""
    ciphers = ", ".join(dict.fromkeys(cost.cipher for cost in doubted))
    raise EvidenceError(
        f"nothing is left to rank on {inputs.name}: what {ciphers} would cost is assumed ({doubted[0].doubt})",
        hint=f"count one of them there and name it with --costs FILE (`wattlock advise --costs-template {isa}` prints "
        "a file to fill), or a run with --run; --allow-assumed ranks them as they are",
    )


def _known(inputs: Inputs, rows: Mapping[str, CatalogueRow], nearest: Mapping[str, str | None]) -> None:
    """Raises InputError where the user's own costs are of a cipher that the catalogue has not."""
    for cost in inputs.costs:
        if cost.origin and cost.origin.own and cost.cipher not in rows:
            error = probe.unknown(cost.cipher, nearest.get(cost.cipher))
            raise InputError(f"your own costs: {error.message}", hint=error.hint)


@lru_cache(maxsize=4)
def _catalogue(target: Target, ids: tuple[str, ...]) -> tuple[dict[str, CatalogueRow], dict[str, str | None]]:
    """The catalogue's facts of ciphers, whoever provides them; of each id that it has not, the nearest."""
    # A question is answered several times, and the probe takes longer than the rest.
    rows, nearest = probe.catalogue(target, ids)
    return {name: several[0] for name, several in rows.items()}, nearest


NAME = "no cryptography"


def bare(choice: Choice) -> Choice:
    """A choice without cipher, nonce and tag; encoding, messages in a packet and the link's own protection stay."""
    row = choice.row.copy()
    row.update({"id": "null", "mode": "stream", "block_bits": 8, "iv_B": 0, "tag_bits": 0})
    return choice._replace(row=row, cost=free("null"), tag_bits=0, framing="full-nonce", resumed=False)


def bares(similar: Iterable[Choice]) -> list[Choice]:
    """Those that such choices have, each once."""
    first = {(choice.encoding, choice.aggregate, choice.protection): choice for choice in reversed(list(similar))}
    return [bare(choice) for choice in first.values()]


def without_sessions(question: Question) -> Question:
    """The question as a device asks it that exchanges no keys."""
    return question.model_copy(update={"session": None})


# Enough to tell whether anything changes: the same draws give the same numbers.
DRAWS = 100

# By more than this a number computed alone differs from that computed beside others.
ROUNDING = 1e-9

# What names things, what an answer can't be without, and what only moves its draws.
ALWAYS = {"title", "note", "source", "seed", "draws", "flow", "device.card", "device.run"}


class Answers(NamedTuple):
    """How a question is answered: what it is computed with, the first choice alone, and all of the answer.

    * `inputs`: of a question, with those of another whose parts are taken where they are the same.
    """

    inputs: Callable[[Question, Inputs], Inputs]
    first: Callable[[Inputs], First | None]
    whole: Callable[[Inputs], Advice]


def unused_keys(question: Question, known: Inputs, answers: Answers) -> list[str]:
    """The keys without which the answer is the same.

    Most change what the first choice lasts: the others are computed only where they don't.

    * `known`: what the question was answered with.
    """
    few = question.model_copy(update={"draws": DRAWS})
    variants = list(_without(few))
    if not variants:
        return []
    usual = answers.inputs(few, known)
    first = answers.first(usual)
    whole: Advice | None = None
    found = []
    for key, changed in variants:
        try:
            other = answers.inputs(changed, usual)
            if other.assumed != usual.assumed or _differ(first, answers.first(other)):
                continue
            answered = answers.whole(other)
        except WattlockError:
            # Without it there is no such answer.
            continue
        whole = whole or answers.whole(usual)
        if _same(whole, answered):
            found.append(key)
    return found


def _differ(first: First | None, other: First | None) -> bool:
    """Whether the whole answers differ for sure: by more than rounding."""
    if first is None or other is None:
        return first is not other
    return (
        _reasons(first.unsound) != _reasons(other.unsound)
        or first.label != other.label
        or not np.array_equal(first.latency_s, other.latency_s, equal_nan=True)
        or not np.allclose(first.charge_s, other.charge_s, rtol=ROUNDING, atol=0)
    )


def _reasons(excluded: Sequence[Excluded]) -> list[tuple[str, list[Cited]]]:
    return [(out.choice.label, out.reasons) for out in excluded]


def _without(question: Question) -> Iterator[tuple[str, Question]]:
    """The question without each of the keys that were set, but for those of `ALWAYS`."""
    for table in sorted(question.model_fields_set - ALWAYS):
        value = getattr(question, table)
        if value is None:
            continue
        if not isinstance(value, BaseModel):
            yield table, _default(question, table)
            continue
        if Question.model_fields[table].default is None:
            yield table, _default(question, table)
        for key, other in _keys(value):
            if f"{table}.{key}" not in ALWAYS:
                yield f"{table}.{key}", question.model_copy(update={table: other})


def _keys(table: BaseModel) -> Iterator[tuple[str, BaseModel]]:
    """A table without each of its keys that were set and that it can be without."""
    for key in sorted(table.model_fields_set):
        value = getattr(table, key)
        if type(table).model_fields[key].is_required() or value is None:
            continue
        if isinstance(value, dict):
            for part in value:
                rest = {name: kept for name, kept in value.items() if name != part}
                # A power that was written as a current stands there by its key.
                path = part if key == "currents_A" else f"{key}.{part}"
                yield path, table.model_copy(update={key: rest})
        else:
            yield key, _default(table, key)


def _default(table: Any, key: str) -> Any:
    """A copy of a table in which a key was never set."""
    usual = type(table).model_fields[key].get_default(call_default_factory=True)
    found = table.model_copy(update={key: usual})
    found.model_fields_set.discard(key)
    return found


def _same(advice: Advice, other: Advice) -> bool:
    """Whether two answers hold the same choices with the same days, for the same reasons and on the same grounds."""
    if [choice.label for choice in advice.choices] != [choice.label for choice in other.choices]:
        return False
    if _reasons(advice.excluded) != _reasons(other.excluded):
        return False
    times = [[load.latency_s for load in described.loads] for described in (advice, other)]
    return (
        np.array_equal(advice.life_s, other.life_s)
        and np.array_equal(advice.charge_s, other.charge_s)
        and np.array_equal(times[0], times[1], equal_nan=True)
        and advice.inputs.assumed == other.inputs.assumed
    )
