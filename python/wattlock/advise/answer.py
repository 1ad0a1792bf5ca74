"""A question to its answer: what may be chosen is priced, excluded by rules, ranked by days of battery."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from pydantic import BaseModel

from wattlock.advise import cipher_costs as costing
from wattlock.advise import days, pricing, rank
from wattlock.advise.choices import Choice, candidates
from wattlock.advise.cipher_costs import CipherCost
from wattlock.advise.days import EFFICIENCY, GROUPS, DAY_s, Load, MonteCarlo, seconds
from wattlock.advise.inputs import History, Inputs, Past, check_radio, free, inputs
from wattlock.advise.question import Question
from wattlock.advise.rank import Excluded, Gain, Place, gain, head, ranked
from wattlock.advise.sending import PricedPacket
from wattlock.energy.battery_cards import OF_MODEL, Array
from wattlock.energy.tasks import BatteryPlan, weakest
from wattlock.errors import EvidenceError, InputError, WattlockError
from wattlock.security import Cited
from wattlock.security.status import matches
from wattlock.study.cases import CatalogueRow
from wattlock.targets import Target, or_this_machine, probe, toolbox

if TYPE_CHECKING:
    import polars as pl


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


class Information(NamedTuple):
    """One measurement.

    * `number`: what would be known. `narrower`: by which share the 95 % interval's width (of the logarithm) shrinks.
    * `how`: what to measure.
    """

    number: str
    narrower: float
    how: str


@dataclass(frozen=True)
class Advice:
    """The whole answer.

    * `choices`, `loads`, `life_s`, `charge_s`: those that pass, in one order; `places`: ranked. Seconds, also by the
      charge alone, are (choices, draws).
    * `excluded`: all others with their reasons; `history`: what broken and legacy ciphers would do.
    * `unused_keys`: keys that were set and without which the answer is the same.
    * `today`: the day from which the lifetime of the data is counted.
    * `freed`: what the first choice would gain in days and in its charge's days, were its cipher free; `bare_s`: the
      seconds of each draw with no cryptography but the link's own.
    * `frames`: `ranked`, `excluded`, `history`, `information` as tables.
    """

    question: Question
    inputs: Inputs
    monte_carlo: MonteCarlo
    choices: list[Choice]
    loads: list[Load]
    life_s: Array
    charge_s: Array
    places: list[Place]
    excluded: list[Excluded]
    information: list[Information]
    history: list[Past]
    freed: tuple[Gain, Gain]
    bare_s: Array
    today: date
    unused_keys: list[str] = field(default_factory=list)

    @property
    def best(self) -> Place:
        """The first place."""
        return self.places[0]

    @property
    def tied(self) -> list[Choice]:
        """The choices of the first group."""
        return [self.choices[number] for number in head(self.places)]

    @property
    def thriftiest(self) -> Choice:
        """The choice of the first group that draws least at the cards' own values; among equals the fewest octets."""
        least = min(head(self.places), key=lambda number: (self.loads[number].total_W, self.loads[number].octets_B))
        return self.choices[least]

    @property
    def strongest(self) -> Choice:
        """The choice of the first group that stands best: strength, tag, approval, a link that protects too.

        Among equals that with the longer life.
        """

        def standing_of(choice: Choice) -> tuple[float, int, bool, bool]:
            return (
                choice.security.strength_bits,
                choice.tag_bits,
                choice.security.status == "approved",
                choice.protection != "none",
            )

        return max(self.tied, key=standing_of)

    @property
    def evidence(self) -> dict[str, str]:
        """Of each term, and of the whole."""
        return {**self.inputs.evidence, "answer": weakest(*self.inputs.evidence.values())}

    def shares(self, number: int) -> dict[str, float]:
        """What the battery's energy goes into with a choice until its days end: a share each of `SPLIT`."""
        load = self.loads[number]
        leaked = days.leaked(self.charge_s[number], self.life_s[number], self.monte_carlo)
        leak = float(np.median(leaked))
        lost = self.monte_carlo.stage.lost(load.total_W)
        kept = (1 - leak) * (1 - lost) / load.total_W
        shares = {group: kept * load.group_W(group) for group in GROUPS}
        return {**shares, "supply": (1 - leak) * lost, "self-discharge": leak}

    @property
    def ranked(self) -> pl.DataFrame:
        """A row a choice that passes, longest life first."""
        import polars as pl

        return pl.DataFrame([self._row(place) for place in self.places], infer_schema_length=None)

    def _row(self, place: Place) -> dict[str, Any]:
        choice, load = self.choices[place.number], self.loads[place.number]
        return {
            "rank": place.group,
            "tie": f"tied: choose on security ({self._size(place.group)})" if self._size(place.group) > 1 else "",
            "choice": choice.label,
            **_whole(choice),
            "days": place.seconds / DAY_s,
            "days_low": place.low_s / DAY_s,
            "days_high": place.high_s / DAY_s,
            "behind_percent": 100 * place.behind,
            "charge_days": place.charge_s / DAY_s,
            "charge_days_low": place.charge_low_s / DAY_s,
            "charge_days_high": place.charge_high_s / DAY_s,
            "shelf_share": place.shelf,
            "power_uW": load.total_W * 1e6,
            **{f"{group.replace('-', '_')}_share": share for group, share in self.shares(place.number).items()},
            "latency_s": load.latency_s,
            "air_B": load.octets_B,
            "packets": load.packets,
            "radio_busy_share": load.busy,
            "memory_B": choice.memory_B,
            "packets_a_key": _finite(choice.messages_a_key(load.packet_B)),
            "rekeys_per_year": load.rekeys_per_s * 365.2425 * DAY_s,
            "strength_bits": choice.security.strength_bits,
            "quantum_strength_bits": choice.security.quantum_strength_bits,
            "evidence": weakest(
                choice.cost.evidence,
                *(kind for evidence, kind in self.evidence.items() if evidence not in {"cipher", "answer"}),
            ),
            "cost_source": choice.cost.source,
            "cost_evidence": choice.cost.evidence,
            **{f"cost_{key}": value for key, value in pricing.described(choice.cost).items()},
        }

    def _size(self, group: int) -> int:
        return sum(place.group == group for place in self.places)

    @property
    def excluded_frame(self) -> pl.DataFrame:
        """A row a cipher, provider and reason: the rule and who says it; choices that share them are counted."""
        import polars as pl

        rows: dict[tuple[str, ...], dict[str, Any]] = {}
        for exclusion in self.excluded:
            for reason in exclusion.reasons:
                key = (exclusion.choice.cipher, reason.about, reason.says)
                row = rows.setdefault(
                    key,
                    {
                        "cipher": exclusion.choice.cipher,
                        "choices": 0,
                        "rule": reason.about,
                        "because": reason.says,
                        "source": reason.source,
                        "url": reason.url,
                    },
                )
                row["choices"] += 1
        words = ("rule", "because", "source", "url")
        schema = {"cipher": pl.String, "choices": pl.Int64} | dict.fromkeys(words, pl.String)
        return pl.DataFrame(list(rows.values()), schema=schema)

    @property
    def history_frame(self) -> pl.DataFrame:
        """A row a cipher of the papers' advice that is not followed."""
        import polars as pl

        kinds = {"str": pl.String, "float": pl.Float64, "bool": pl.Boolean}
        schema = {name: kinds[kind.__name__] for name, kind in Past.__annotations__.items()}
        return pl.DataFrame([past._asdict() for past in self.history], schema=schema)

    @property
    def information_frame(self) -> pl.DataFrame:
        """A row an uncertain number, by how much knowing it would narrow the first answer."""
        import polars as pl

        rows = [
            {
                "number": information.number,
                "narrower_percent": 100 * max(information.narrower, 0.0),
                "measure": information.how,
            }
            for information in self.information
        ]
        return pl.DataFrame(rows, schema={"number": pl.String, "narrower_percent": pl.Float64, "measure": pl.String})


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


def _finite(value: float) -> float | None:
    return value if value < float("inf") else None


def _whole(choice: Choice) -> dict[str, Any]:
    return {
        "cipher": choice.cipher,
        "provider": choice.provider,
        "key_bits": choice.row["key_bits"],
        "tag_bits": choice.tag_bits,
        "mode": choice.row["mode"],
        "framing": choice.framing,
        "encoding": choice.encoding,
        "aggregate": choice.aggregate,
        "protection": choice.protection,
        "resumed": choice.resumed,
        "accelerator": choice.cost.accelerator,
    }


def values_of_information(
    best: Load, cost: CipherCost, by: MonteCarlo, plan: BatteryPlan, advice: dict[str, str]
) -> list[Information]:
    """All uncertain numbers of the first choice, those first that narrow most.

    * `advice`: what narrows the numbers of `device`, `radio`, `battery`, `sleep`, in the cards' words.
    """
    whole = width(seconds([best], by, plan))
    if not whole:
        return []
    found = []
    for name, how, monte_carlo in _fixed(best, cost, by, plan, advice):
        found.append(Information(name, 1 - width(seconds([best], monte_carlo, plan)) / whole, how))
    return sorted(found, key=lambda information: -information.narrower)


def _fixed(
    best: Load, cost: CipherCost, by: MonteCarlo, plan: BatteryPlan, advice: dict[str, str]
) -> Iterator[tuple[str, str, MonteCarlo]]:
    names = sorted({name for _, factors in best.terms_W for name in factors if name})
    for name in names:
        kind = name.partition(" ")[0]
        how = cost.narrowed_by if kind == "cipher" else advice.get(kind, "")
        yield name, how, by._replace(factors={**by.factors, name: np.ones(by.draws)})
    if by.stage.width:
        yield EFFICIENCY, advice.get("supply", ""), by._replace(factors={**by.factors, EFFICIENCY: np.ones(by.draws)})
    drawn = by.batteries
    for key in ("capacity", *OF_MODEL[plan.model]):
        values = drawn.numbers[key]
        held = {**drawn.numbers, key: np.full_like(values, np.median(values))}
        yield f"battery {key}", advice.get("battery", ""), by._replace(batteries=drawn._replace(numbers=held))
    leak = np.full_like(drawn.self_discharge_per_s, np.median(drawn.self_discharge_per_s))
    yield (
        "battery self-discharge",
        advice.get("battery", ""),
        by._replace(batteries=drawn._replace(self_discharge_per_s=leak)),
    )
    shelf = np.median(drawn.shelf_life_s)
    if np.isfinite(shelf):
        how = "how long the maker trusts the battery where it lives"
        yield "battery shelf life", how, by._replace(batteries=drawn._replace(shelf_life_s=float(shelf)))
    share = np.full_like(drawn.capacity_share, np.median(drawn.capacity_share))
    yield (
        "battery ageing and temperature",
        "the battery's age and the temperature where it lives",
        by._replace(batteries=drawn._replace(capacity_share=share)),
    )


def width(life_s: Array) -> float:
    """Of the 95 % interval of the logarithm of a life."""
    low, high = np.quantile(life_s, (0.025, 0.975))
    return float(np.log(high / low))
