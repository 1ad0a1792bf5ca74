"""What an answer holds: ranked choices, excluded ones, history, what was assumed, and what each unknown is worth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wattlock.advise import days, pricing
from wattlock.advise.choices import Choice
from wattlock.advise.cipher_costs import CipherCost
from wattlock.advise.days import EFFICIENCY, GROUPS, DAY_s, Load, MonteCarlo, seconds
from wattlock.advise.inputs import Inputs, Past
from wattlock.advise.question import Question
from wattlock.advise.rank import Excluded, Gain, Place, head
from wattlock.energy.battery_cards import OF_MODEL, Array
from wattlock.energy.tasks import BatteryPlan, weakest

if TYPE_CHECKING:
    import polars as pl


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
