"""The answer: ranked choices, excluded ones, history, what was assumed, and what would narrow it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wattlock.advise import costs as costing
from wattlock.advise import days, exclude, sourcing
from wattlock.advise.choices import Choice, candidates
from wattlock.advise.days import GROUPS, DAY_s, Load, World
from wattlock.advise.exclude import Excluded
from wattlock.advise.gain import Gain, gain
from wattlock.advise.history import HISTORY, History, Past, free
from wattlock.advise.narrow import Narrowing, narrowings
from wattlock.advise.question import Question
from wattlock.advise.rank import Place, head, ranked
from wattlock.advise.rules import matches
from wattlock.advise.world import Things, check_radio, things
from wattlock.energy.battery import Array
from wattlock.energy.tasks import weakest
from wattlock.errors import EvidenceError, InputError
from wattlock.run import probe as probes
from wattlock.study.cells import CatalogueRow


@dataclass(frozen=True)
class Advice:
    """The whole answer.

    * `choices`, `loads`, `life_s`, `charge_s`: those that pass, in one order; `places`: ranked. Seconds, also by the
      charge alone, are (choices, draws).
    * `excluded`: all others with their reasons; `history`: what broken and legacy ciphers would do.
    * `unheard`: keys that were set and without which the answer is the same.
    * `today`: the day from which the lifetime of the data is counted.
    * `freed`: what the first choice would gain in days and in its charge's days, were its cipher free.
    * `frames`: `ranked`, `excluded`, `history`, `narrowing` as tables.
    """

    asked: Question
    things: Things
    world: World
    choices: list[Choice]
    loads: list[Load]
    life_s: Array
    charge_s: Array
    places: list[Place]
    excluded: list[Excluded]
    narrowing: list[Narrowing]
    history: list[Past]
    freed: tuple[Gain, Gain]
    today: date
    unheard: list[str] = field(default_factory=list)

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
        least = min(head(self.places), key=lambda one: (self.loads[one].total_W, self.loads[one].octets_B))
        return self.choices[least]

    @property
    def strongest(self) -> Choice:
        """The choice of the first group that stands best: strength, tag, approval, a link that protects too.

        Among equals that with the longer life.
        """

        def stands(one: Choice) -> tuple[float, int, bool, bool]:
            return one.stands.strength_bits, one.tag_bits, one.stands.status == "approved", one.protection != "none"

        return max(self.tied, key=stands)

    @property
    def evidence(self) -> dict[str, str]:
        """Of each term, and of the whole."""
        return {**self.things.evidence, "answer": weakest(*self.things.evidence.values())}

    def shares(self, number: int) -> dict[str, float]:
        """What the battery's energy goes into with a choice until its days end: a share each of `SPLIT`."""
        load = self.loads[number]
        leaked = days.leaked(self.charge_s[number], self.life_s[number], self.world)
        leak = float(np.median(leaked))
        lost = self.world.stage.lost(load.total_W)
        kept = (1 - leak) * (1 - lost) / load.total_W
        shares = {group: kept * load.group_W(group) for group in GROUPS}
        return {**shares, "supply": (1 - leak) * lost, "self-discharge": leak}

    @property
    def ranked(self) -> pl.DataFrame:
        """A row a choice that passes, longest life first."""
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
            "strength_bits": choice.stands.strength_bits,
            "quantum_strength_bits": choice.stands.quantum_strength_bits,
            "evidence": weakest(
                choice.cost.evidence, *(kind for of, kind in self.evidence.items() if of not in {"cipher", "answer"})
            ),
            "cost_source": choice.cost.source,
            "cost_evidence": choice.cost.evidence,
            **{f"cost_{key}": value for key, value in sourcing.told(choice.cost).items()},
        }

    def _size(self, group: int) -> int:
        return sum(place.group == group for place in self.places)

    @property
    def excluded_frame(self) -> pl.DataFrame:
        """A row a cipher, provider and reason: the rule and who says it; choices that share them are counted."""
        rows: dict[tuple[str, ...], dict[str, Any]] = {}
        for one in self.excluded:
            for reason in one.reasons:
                key = (one.choice.cipher, reason.about, reason.says)
                row = rows.setdefault(
                    key,
                    {
                        "cipher": one.choice.cipher,
                        "choices": 0,
                        "rule": reason.about,
                        "because": reason.says,
                        "source": reason.source,
                        "url": reason.url,
                    },
                )
                row["choices"] += 1
        return pl.DataFrame(list(rows.values()), schema=EXCLUDED)

    @property
    def history_frame(self) -> pl.DataFrame:
        """A row a cipher of the papers' advice that is not followed."""
        return pl.DataFrame([one._asdict() for one in self.history], schema=HISTORY)

    @property
    def narrowing_frame(self) -> pl.DataFrame:
        """A row an uncertain number, by how much knowing it would narrow the first answer."""
        rows = [
            {"number": one.number, "narrower_percent": 100 * max(one.narrower, 0.0), "measure": one.how}
            for one in self.narrowing
        ]
        return pl.DataFrame(rows, schema={"number": pl.String, "narrower_percent": pl.Float64, "measure": pl.String})

    def record(self) -> dict[str, Any]:
        """The whole answer as one object: `ranked` first, then `excluded`."""
        from wattlock.advise import words

        first = self.narrowing[0] if self.narrowing else None
        return {
            "ranked": self.ranked.to_dicts(),
            "excluded": self.excluded_frame.to_dicts(),
            "history": self.history_frame.to_dicts(),
            "costs": sourcing.records(self.things.priced, self.asked),
            "tied": [choice.label for choice in self.tied],
            "strongest": self.strongest.label,
            "assumed": self.things.assumed,
            "answer": words.lead(self),
            "notes": words.notes(self),
            "evidence": self.evidence,
            "narrowing": self.narrowing_frame.to_dicts(),
            "narrow_by": None if first is None else {"number": first.number, "measure": first.how},
            "question": self.asked.model_dump(mode="json"),
            "asked_on": self.today.isoformat(),
        }


EXCLUDED = {
    "cipher": pl.String,
    "choices": pl.Int64,
    "rule": pl.String,
    "because": pl.String,
    "source": pl.String,
    "url": pl.String,
}


def advise(
    asked: Question,
    *,
    own: Path | None = None,
    allow_assumed: bool = False,
    probe: Path | None = None,
    today: date | None = None,
) -> Advice:
    """Rank the ways to protect a device's traffic by days of battery.

    * `own`: the user's folder of cards. `probe`: the program that knows the catalogue and Wi-Fi's air.
    * `today`: from which a lifetime of data counts.

    Raises InputError where nothing passes the floor, the radio can't carry the traffic or a card is missing something,
    EvidenceError where a number needs consent.
    """
    from wattlock.advise.unheard import unheard

    program = probe or probes.find()
    when = today or datetime.now(UTC).date()
    of = things(asked, own=own, allow_assumed=allow_assumed)

    def again(other: Question) -> Advice:
        return _answered(things(other, own=own, allow_assumed=allow_assumed, known=of), program, when, allow_assumed)

    return replace(_answered(of, program, when, allow_assumed), unheard=unheard(asked, again))


def _answered(of: Things, program: Path, when: date, allow_assumed: bool) -> Advice:
    """The answer to the question of `of`."""
    asked = of.asked
    _consent(asked, of)
    past = History(asked, of)
    wanted = list(dict.fromkeys([*costing.ids(of.costs), *past.ids]))
    rows = catalogue(program, wanted)
    _known(of, rows, program)
    every = candidates(asked, of.costs, rows, of.sender.protections)
    if not every:
        raise InputError(
            "no cipher has a cost that the question can be answered with", hint="name other ciphers or a run"
        )
    packet_B, duty_cycle = days.most_B(asked, of.sender), of.sender.duty_cycle
    answered = not of.sender.advertising
    unsound = [
        Excluded(one, reasons, max(1.0, one.sealed(1).wire_B / packet_B))
        for one in every
        if (
            reasons := exclude.by_security(asked, one, when)
            + exclude.by_room(one, packet_B)
            + exclude.by_answer(one, answered=answered)
        )
    ]
    out = {id(one.choice) for one in unsound}
    sound = [one for one in every if id(one) not in out]
    old = [one for one in past.choices(rows, every) if one.room_B(packet_B)]
    spent = of.sender.ask(days.needed(asked, [*sound, *old], of.sender), program)
    passing: list[Choice] = []
    loads: list[Load] = []
    excluded = list(unsound)
    for choice in sound:
        load = days.load(asked, choice, of.sender, of.draws, spent)
        reasons = exclude.by_cost(asked, choice, load, duty_cycle)
        if reasons:
            excluded.append(Excluded(choice, reasons, exclude.times_allowed(asked, choice, load, duty_cycle)))
        else:
            passing.append(choice)
            loads.append(load)
    if not passing:
        exclude.refuse_none(excluded)
    check_radio(loads, of, allow_assumed=allow_assumed)
    world = days.world(asked, [*passing, *old], of.sender, of.draws, of.battery, stage=of.stage)
    charge_s = days.by_charge(loads, world, of.battery)
    life_s = days.given_up(charge_s, world)
    places = ranked(life_s, charge_s)
    first = places[0].number
    narrow = narrowings(loads[first], passing[first].cost, world, of.battery, of.advice)
    history = past.told(old, spent, world, life_s[first])
    without = days.load(asked, passing[first]._replace(cost=free(passing[first].cipher)), of.sender, of.draws, spent)
    free_s = days.by_charge([without], world, of.battery)[0]
    freed = (gain(life_s[first], days.given_up(free_s, world)), gain(charge_s[first], free_s))
    return Advice(asked, of, world, passing, loads, life_s, charge_s, places, excluded, narrow, history, freed, when)


def _consent(asked: Question, of: Things) -> None:
    """Raises EvidenceError where all costs of the ciphers asked for are assumed, and nobody allowed that."""
    options = asked.choices
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


def _known(of: Things, rows: Mapping[str, CatalogueRow], program: Path) -> None:
    """Raises InputError where the user's own costs are of a cipher that the catalogue has not."""
    for cost in of.costs:
        if cost.origin and cost.origin.own and cost.cipher not in rows:
            nearest = probes.catalogue(program, [cost.cipher])[1].get(cost.cipher)
            hint = f'did you mean "{nearest}"? ' if nearest else ""
            raise InputError(
                f'your own costs: there is no cipher "{cost.cipher[:80]}"', hint=f"{hint}`wattlock ciphers` lists them"
            )


def catalogue(program: Path, ids: Sequence[str]) -> dict[str, CatalogueRow]:
    """The catalogue's facts of ciphers, whoever provides them."""
    return _catalogue(program, tuple(ids))


@lru_cache(maxsize=4)
def _catalogue(program: Path, ids: tuple[str, ...]) -> dict[str, CatalogueRow]:
    # A question is answered several times, and the probe takes longer than the rest.
    rows, _ = probes.catalogue(program, list(ids))
    return {name: of[0] for name, of in rows.items()}


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
