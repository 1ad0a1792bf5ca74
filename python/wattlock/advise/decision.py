"""What is decided: one choice, the options beside it with ties collapsed, the reasons, and what follows from it."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from wattlock.advise import amortised, prose, sourcing
from wattlock.advise.advice import Advice
from wattlock.advise.days import SPLIT, DAY_s
from wattlock.advise.gain import gain
from wattlock.advise.quantity import LEAST, percent, spoken
from wattlock.advise.rank import QUANTILES, Place

UNIT_J = {"J": 1.0, "mJ": 1e-3, "uJ": 1e-6, "nJ": 1e-9}
WHOLE_TAG_BITS = 128
# How many parts of the energy beside the cipher's a line names.
NAMED_PARTS = 2
PARTS = {
    "cipher": "cipher",
    "radio": "radio",
    "handshake": "handshakes",
    "upkeep": "keeping the link",
    "wake-up": "wake-ups",
    "idle": "sleep and idling",
    "supply": "supply stage",
    "self-discharge": "self-discharge",
}


class Option(NamedTuple):
    """A cipher's choices, or those of tied ciphers that differ by their mode alone: one row stands for them.

    * `rank`: of the best of them. `ciphers`: their ids, what all begin with told once: `aes128-ccm8, -ccm`.
    * `ways`: how many choices, of whatever rank.
    * `place`: of the one that lasts longest, or of what is decided where that is among them. `decided`: whether it is.
    """

    rank: int
    ciphers: list[str]
    ways: int
    place: Place
    decided: bool

    @property
    def name(self) -> str:
        """The ids in one text."""
        head, *rest = self.ciphers
        primitive = _primitive(head)
        return ", ".join([head, *(one.removeprefix(primitive) for one in rest)])


def decided(of: Advice) -> Place:
    """The place of what is decided: among those tied with the first the strongest."""
    return next(place for place in of.places if of.choices[place.number] is of.strongest)


def options(of: Advice) -> list[Option]:
    """A row a cipher, longest life first: its other tags, framings and implementations make no row of their own."""
    chosen = decided(of)
    shown: dict[str, Place] = {of.choices[chosen.number].cipher: chosen}
    ways: Counter[str] = Counter()
    for place in of.places:
        cipher = of.choices[place.number].cipher
        ways[cipher] += 1
        shown.setdefault(cipher, place)
    found: dict[tuple[int, str], Option] = {}
    # What is decided comes first, so that it is named first in its row and gives the row its days.
    for cipher, place in sorted(shown.items(), key=lambda item: (item[1] != chosen, -item[1].seconds)):
        key = (place.group, _primitive(cipher))
        before = found.get(key, Option(place.group, [], 0, place, place == chosen))
        found[key] = before._replace(ciphers=[*before.ciphers, cipher], ways=before.ways + ways[cipher])
    return sorted(found.values(), key=lambda one: (one.rank, -one.place.seconds))


def first_options(of: Advice, most: int) -> list[Option]:
    """The first of them; what is decided is always there."""
    every = options(of)
    shown = every[:most]
    if not any(one.decided for one in shown):
        shown[-1] = next(one for one in every if one.decided)
    return shown


def _primitive(cipher: str) -> str:
    return cipher.partition("-")[0]


def sentence(of: Advice) -> str:
    """The decision."""
    place = decided(of)
    return f"Use {prose.named(of.choices[place.number])}: {prose.lasts(place)}."


def reasons(of: Advice) -> list[str]:
    """Why, in three lines: what it is tied with, where the energy goes, what cryptography costs at all."""
    return [_standing(of), f"Energy: {_parts(of)}.", cost(of)]


def by_code(of: Advice) -> list[str]:
    """What the decided cipher takes by this code, by the best published code and by hardware; none of a run."""
    rows = sourcing.by_code(of.inputs.priced, of.question)
    row = next((one for one in rows if one["cipher"] == of.strongest.cipher), None)
    if row is None:
        return []
    known = [f"{kind} {sourcing.marked(row[key])}" for kind in sourcing.KINDS if row[key := kind.replace(" ", "_")]]
    what = "of" if row["operation"] == "seal" else "to open"
    cost, size_B = of.strongest.cost, row["message_B"]
    link = ""
    if cost.report_cycles is not None:
        record = cost.of("cycles", size_B)
        link = f"tally's record {record:,.0f}, a report {cost.report_cycles:,.0f}; {cost.cipher} alone: "
    return [f"Cycles {what} {size_B} B: {link}{', '.join(known)}."]


def _standing(of: Advice) -> str:
    choice = of.strongest
    strong = f"{choice.security.strength_bits:g} bits" + (f", tag {choice.tag_bits}" if choice.tag_bits else "")
    if len(of.tied) == 1:
        return f"It lasts longest of {_many(len(of.choices))} that {_pass(len(of.choices))} ({strong})."
    which = f"All {len(of.choices)}" if len(of.tied) == len(of.choices) else f"{len(of.tied)} of {len(of.choices)}"
    return f"{which} choices tie by days; key, then tag decide ({strong})."


def _many(choices: int) -> str:
    return "1 choice" if choices == 1 else f"{choices} choices"


def _pass(choices: int) -> str:
    return "passes" if choices == 1 else "pass"


def _parts(of: Advice) -> str:
    shares = of.shares(decided(of).number)
    others = sorted((group for group in SPLIT if group != "cipher"), key=lambda one: -shares[one])[:NAMED_PARTS]
    named = ["cipher", *(one for one in others if shares[one])]
    rest = 1 - sum(shares[one] for one in named)
    parts = [f"{PARTS[one]} {prose.short_share(shares[one])}" for one in named]
    return ", ".join([*parts, f"rest {prose.short_share(max(rest, 0.0))}"])


def cost(of: Advice) -> str:
    """What cryptography costs in days, or what ends them whatever it costs."""
    place = decided(of)
    if place.shelf >= prose.MOSTLY:
        return "What ends it is the battery's shelf life, which no cipher changes."
    longer = without(of)["longer_percent"] / 100
    return f"Without any cryptography it would last {_longer(longer)} longer."


def _longer(share: float) -> str:
    return "less than 0.1 %" if share < LEAST else percent(share)


def without(of: Advice) -> dict[str, float]:
    """Days with no cryptography but the link's own, and by how much more than what is decided, percent."""
    middle, low, high = np.quantile(of.bare_s, QUANTILES)
    more = gain(of.life_s[decided(of).number], of.bare_s)
    return {
        "days": float(middle) / DAY_s,
        "days_low": float(low) / DAY_s,
        "days_high": float(high) / DAY_s,
        "longer_percent": more.percent,
        "longer_low_percent": more.low,
        "longer_high_percent": more.high,
    }


def next_measurement(of: Advice) -> str:
    """The one measurement that would narrow the answer most; empty where none would."""
    if not of.information or of.information[0].narrower <= 0:
        return ""
    first = of.information[0]
    return f"{first.number} ({first.how}); it narrows the interval by {100 * first.narrower:.0f} %"


def consequences(of: Advice) -> list[tuple[str, str]]:
    """What the decision costs and what it obliges to."""
    return list(_consequences(of))


def _consequences(of: Advice) -> Iterator[tuple[str, str]]:
    place = decided(of)
    choice = of.choices[place.number]
    bare = without(of)
    longer = _longer(bare["longer_percent"] / 100)
    yield "Battery", f"{prose.lasts(place)}; without any cryptography but the link's own it would last {longer} longer"
    yield "Energy", _energy(of)
    for statement in choice.security.statements:
        if statement.about == "nonce":
            yield "Nonces", f"{statement.says} ({statement.source})"
    yield "The other end", choice.frame.needs.removeprefix("the other end ")
    if choice.frame.amortised_bits is not None:
        yield "Tag", amortised.described(of.question, choice)
    elif 0 < choice.tag_bits < WHOLE_TAG_BITS:
        yield "Tag", f"{choice.tag_bits} bits: a forged message passes with a chance of 2^-{choice.tag_bits} a try"
    yield "Keys", _keys(of)
    if choice.memory_B is not None:
        yield "Memory", f"{choice.memory_B} B of round keys and state"
    for sentence_ in prose.peaks(of):
        yield "Supply", sentence_
    measure = next_measurement(of)
    if measure:
        yield "Measure next", measure


def _energy(of: Advice) -> str:
    place = decided(of)
    load = of.loads[place.number]
    cipher_W = load.group_W("cipher")
    at_battery_W = load.total_W / (1 - of.monte_carlo.stage.lost(load.total_W))
    share = percent(of.shares(place.number)["cipher"])
    each = sum(rate for flow in of.question.flow for _, rate in flow.rates)
    return (
        f"{joules(at_battery_W * DAY_s)} a day from the battery, its self-discharge apart; of that the cipher "
        f"{joules(cipher_W * DAY_s)}, {joules(cipher_W / each)} a message ({share} of what the battery gives)"
    )


def joules(energy_J: float) -> str:
    """Three digits in the largest unit of which there is one, else in the smallest."""
    rounded = {unit: float(f"{energy_J / size_J:.3g}") for unit, size_J in UNIT_J.items()}
    unit = next((unit for unit, value in rounded.items() if value >= 1), list(UNIT_J)[-1])
    value = rounded[unit]
    return f"{value:,.0f} {unit}" if value >= prose.THOUSAND else f"{value:g} {unit}"


def _keys(of: Advice) -> str:
    load = of.loads[decided(of).number]
    if not load.rekeys_per_s:
        return "no source limits what one key may protect"
    if load.rekeys_per_s * prose.LONG_s > 1:
        return f"a new one every {spoken(1 / load.rekeys_per_s)}, by the least limit of the sources"
    return "one is enough for more than ten years at this rate, by the least limit of the sources"


def as_object(of: Advice) -> dict[str, Any]:
    """The decision as one object."""
    place = decided(of)
    return {
        "decision": sentence(of),
        "decided": {
            "choice": of.choices[place.number].label,
            "provider": of.choices[place.number].provider,
            "days": place.seconds / DAY_s,
            "days_low": place.low_s / DAY_s,
            "days_high": place.high_s / DAY_s,
            "shares": of.shares(place.number),
        },
        "reasons": reasons(of),
        "consequences": dict(consequences(of)),
        "without_cryptography": without(of),
        "options": [
            {
                "rank": one.rank,
                "ciphers": one.ciphers,
                "ways": one.ways,
                "days": one.place.seconds / DAY_s,
                "days_low": one.place.low_s / DAY_s,
                "days_high": one.place.high_s / DAY_s,
                "decided": one.decided,
            }
            for one in options(of)
        ],
    }
