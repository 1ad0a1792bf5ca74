"""What is decided: one choice, the options beside it, the reasons, what follows, and why it stands before another."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from wattlock.advise import choices, pricing, prose, rank
from wattlock.advise.answer import Advice
from wattlock.advise.choices import Choice, described
from wattlock.advise.days import SPLIT, DAY_s
from wattlock.advise.question import LEAST, percent, spoken
from wattlock.advise.rank import QUANTILES, Place, gain
from wattlock.security import status_of
from wattlock.study.cases import CatalogueRow
from wattlock.targets import Target, probe

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
        return ", ".join([head, *(word.removeprefix(primitive) for word in rest)])


def decided(advice: Advice) -> Place:
    """The place of what is decided: among those tied with the first the strongest."""
    return next(place for place in advice.places if advice.choices[place.number] is advice.strongest)


def options(advice: Advice) -> list[Option]:
    """A row a cipher, longest life first: its other tags, framings and implementations make no row of their own."""
    chosen = decided(advice)
    shown: dict[str, Place] = {advice.choices[chosen.number].cipher: chosen}
    ways: Counter[str] = Counter()
    for place in advice.places:
        cipher = advice.choices[place.number].cipher
        ways[cipher] += 1
        shown.setdefault(cipher, place)
    found: dict[tuple[int, str], Option] = {}
    # What is decided comes first, so that it is named first in its row and gives the row its days.
    for cipher, place in sorted(shown.items(), key=lambda item: (item[1] != chosen, -item[1].seconds)):
        key = (place.group, _primitive(cipher))
        before = found.get(key, Option(place.group, [], 0, place, place == chosen))
        found[key] = before._replace(ciphers=[*before.ciphers, cipher], ways=before.ways + ways[cipher])
    return sorted(found.values(), key=lambda option: (option.rank, -option.place.seconds))


def first_options(advice: Advice, most: int) -> list[Option]:
    """The first of them; what is decided is always there."""
    ranked_options = options(advice)
    shown = ranked_options[:most]
    if not any(option.decided for option in shown):
        shown[-1] = next(option for option in ranked_options if option.decided)
    return shown


def _primitive(cipher: str) -> str:
    return cipher.partition("-")[0]


def sentence(advice: Advice) -> str:
    """The decision."""
    place = decided(advice)
    return f"Use {prose.named(advice.choices[place.number])}: {prose.lasts(place)}."


def reasons(advice: Advice) -> list[str]:
    """Why, in three lines: what it is tied with, where the energy goes, what cryptography costs at all."""
    return [_standing(advice), f"Energy: {_parts(advice)}.", cost(advice)]


def by_code(advice: Advice) -> list[str]:
    """What the decided cipher takes by this code, by the best published code and by hardware; none of a run."""
    rows = pricing.by_code(advice.inputs.priced, advice.question)
    row = next((row for row in rows if row["cipher"] == advice.strongest.cipher), None)
    if row is None:
        return []
    known = [f"{kind} {pricing.marked(row[key])}" for kind in pricing.KINDS if row[key := kind.replace(" ", "_")]]
    what = "of" if row["operation"] == "seal" else "to open"
    cost, size_B = advice.strongest.cost, row["message_B"]
    link = ""
    if cost.report_cycles is not None:
        record = cost.of("cycles", size_B)
        link = f"tally's record {record:,.0f}, a report {cost.report_cycles:,.0f}; {cost.cipher} alone: "
    return [f"Cycles {what} {size_B} B: {link}{', '.join(known)}."]


def _standing(advice: Advice) -> str:
    choice = advice.strongest
    strong = f"{choice.security.strength_bits:g} bits" + (f", tag {choice.tag_bits}" if choice.tag_bits else "")
    if len(advice.tied) == 1:
        return f"It lasts longest of {_many(len(advice.choices))} that {_pass(len(advice.choices))} ({strong})."
    which = (
        f"All {len(advice.choices)}"
        if len(advice.tied) == len(advice.choices)
        else f"{len(advice.tied)} of {len(advice.choices)}"
    )
    return f"{which} choices last equally long; key, then tag decide ({strong})."


def _many(choices: int) -> str:
    return "1 choice" if choices == 1 else f"{choices} choices"


def _pass(choices: int) -> str:
    return "passes" if choices == 1 else "pass"


def _parts(advice: Advice) -> str:
    shares = advice.shares(decided(advice).number)
    others = sorted((group for group in SPLIT if group != "cipher"), key=lambda group: -shares[group])[:NAMED_PARTS]
    named = ["cipher", *(group for group in others if shares[group])]
    rest = 1 - sum(shares[group] for group in named)
    parts = [f"{PARTS[group]} {prose.short_share(shares[group])}" for group in named]
    return ", ".join([*parts, f"rest {prose.short_share(max(rest, 0.0))}"])


def cost(advice: Advice) -> str:
    """What cryptography costs in days, or what ends them whatever it costs."""
    place = decided(advice)
    if place.shelf >= prose.MOSTLY:
        return "What ends it is the battery's shelf life, which no cipher changes."
    longer = without(advice)["longer_percent"] / 100
    return f"Without any cryptography it would last {_longer(longer)} longer."


def _longer(share: float) -> str:
    return "less than 0.1 %" if share < LEAST else percent(share)


def without(advice: Advice) -> dict[str, float]:
    """Days with no cryptography but the link's own, and by how much more than what is decided, percent."""
    middle, low, high = np.quantile(advice.bare_s, QUANTILES)
    more = gain(advice.life_s[decided(advice).number], advice.bare_s)
    return {
        "days": float(middle) / DAY_s,
        "days_low": float(low) / DAY_s,
        "days_high": float(high) / DAY_s,
        "longer_percent": more.percent,
        "longer_low_percent": more.low,
        "longer_high_percent": more.high,
    }


def next_measurement(advice: Advice) -> str:
    """The one measurement that would narrow the answer most; empty where none would."""
    if not advice.information or advice.information[0].narrower <= 0:
        return ""
    first = advice.information[0]
    return f"{first.number} ({first.how}); it narrows the interval by {100 * first.narrower:.0f} %"


def consequences(advice: Advice) -> list[tuple[str, str]]:
    """What the decision costs and what it obliges to."""
    return list(_consequences(advice))


def _consequences(advice: Advice) -> Iterator[tuple[str, str]]:
    place = decided(advice)
    choice = advice.choices[place.number]
    bare = without(advice)
    longer = _longer(bare["longer_percent"] / 100)
    yield "Battery", f"{prose.lasts(place)}; without any cryptography but the link's own it would last {longer} longer"
    yield "Energy", _energy(advice)
    for statement in choice.security.statements:
        if statement.about == "nonce":
            yield "Nonces", f"{statement.says} ({statement.source})"
    yield "The other end", choice.frame.needs.removeprefix("the other end ")
    if choice.frame.amortised_bits is not None:
        yield "Tag", described(advice.question, choice)
    elif 0 < choice.tag_bits < WHOLE_TAG_BITS:
        yield "Tag", f"{choice.tag_bits} bits: a forged message passes with a chance of 2^-{choice.tag_bits} a try"
    yield "Keys", _keys(advice)
    if choice.memory_B is not None:
        yield "Memory", f"{choice.memory_B} B of round keys and state"
    for sentence_ in prose.peaks(advice):
        yield "Supply", sentence_
    measure = next_measurement(advice)
    if measure:
        yield "Measure next", measure


def _energy(advice: Advice) -> str:
    place = decided(advice)
    load = advice.loads[place.number]
    cipher_W = load.group_W("cipher")
    at_battery_W = load.total_W / (1 - advice.monte_carlo.stage.lost(load.total_W))
    share = percent(advice.shares(place.number)["cipher"])
    each = sum(rate for flow in advice.question.flow for _, rate in flow.rates)
    return (
        f"{spoken_joules(at_battery_W * DAY_s)} a day from the battery, its self-discharge apart; of that the cipher "
        f"{spoken_joules(cipher_W * DAY_s)}, {spoken_joules(cipher_W / each)} a message "
        f"({share} of what the battery gives)"
    )


def spoken_joules(energy_J: float) -> str:
    """Three digits in the largest unit of which there is one, else in the smallest."""
    rounded = {unit: float(f"{energy_J / size_J:.3g}") for unit, size_J in UNIT_J.items()}
    unit = next((unit for unit, value in rounded.items() if value >= 1), list(UNIT_J)[-1])
    value = rounded[unit]
    return f"{value:,.0f} {unit}" if value >= prose.THOUSAND else f"{value:g} {unit}"


def _keys(advice: Advice) -> str:
    load = advice.loads[decided(advice).number]
    if not load.rekeys_per_s:
        return "no source limits what one key may protect"
    if load.rekeys_per_s * prose.LONG_s > 1:
        return f"a new one every {spoken(1 / load.rekeys_per_s)}, by the least limit of the sources"
    return "one is enough for more than ten years at this rate, by the least limit of the sources"


def decision_object(advice: Advice) -> dict[str, Any]:
    """The decision as one object."""
    place = decided(advice)
    return {
        "decision": sentence(advice),
        "decided": {
            "choice": advice.choices[place.number].label,
            "provider": advice.choices[place.number].provider,
            "days": place.seconds / DAY_s,
            "days_low": place.low_s / DAY_s,
            "days_high": place.high_s / DAY_s,
            "shares": advice.shares(place.number),
        },
        "reasons": reasons(advice),
        "consequences": dict(consequences(advice)),
        "without_cryptography": without(advice),
        "options": [
            {
                "rank": option.rank,
                "ciphers": option.ciphers,
                "ways": option.ways,
                "days": option.place.seconds / DAY_s,
                "days_low": option.place.low_s / DAY_s,
                "days_high": option.place.high_s / DAY_s,
                "decided": option.decided,
            }
            for option in options(advice)
        ],
    }


def tag(advice: Advice) -> str:
    """Which tags are allowed, what that of the decision means, and what the other end of the range would change.

    Empty where the decision has no tag.
    """
    place = decided(advice)
    choice = advice.choices[place.number]
    bits, floor = choice.tag_bits, advice.question.floor.tag
    if not bits:
        return ""
    if choice.frame.amortised_bits is not None:
        return f"Tag: {choices.described(advice.question, choice)}."
    forged = f"with {bits} a forgery passes once in 2^{bits} tries"
    sentence = f"Tag: {floor} bits or more are allowed (--set floor.tag=N); {forged}"
    other = _other_tag(advice, place)
    if other is None:
        return f"{sentence}."
    than = advice.choices[other.number]
    octets_B = than.sealed(1).wire_B - choice.sealed(1).wire_B
    changed = abs(gain(advice.life_s[place.number], advice.life_s[other.number]).percent) / 100
    days = percent(changed) if changed >= LEAST else "less than 0.1 %"
    costs = f"costs {octets_B} B" if octets_B > 0 else f"saves {-octets_B} B"
    return f"{sentence}; one of {than.tag_bits} {costs} a packet and {days} of the days."


def _other_tag(advice: Advice, place: Place) -> Place | None:
    """The same choice with the longest tag, else the shortest; a mode that names its tag's length is the same mode."""
    chosen = advice.choices[place.number]

    def like(choice: Choice) -> bool:
        return choice._replace(
            row=chosen.row, security=chosen.security, cost=chosen.cost, tag_bits=chosen.tag_bits
        ) == chosen and _family(choice) == _family(chosen)

    found = [place for place in advice.places if like(advice.choices[place.number])]
    longest = max(found, key=lambda place: advice.choices[place.number].tag_bits)
    shortest = min(found, key=lambda place: advice.choices[place.number].tag_bits)
    other = longest if advice.choices[longest.number].tag_bits > chosen.tag_bits else shortest
    return None if advice.choices[other.number].tag_bits == chosen.tag_bits else other


def _family(choice: Choice) -> str:
    """The cipher and its mode: CCM with a tag of 8 octets is CCM."""
    return choice.cipher.removesuffix("8") if choice.cipher.endswith("-ccm8") else choice.cipher


def why(advice: Advice, cipher: str, target: Target) -> list[str]:
    """Where a cipher stands: its best choice beside what is decided, what excludes it, or what is missing.

    Raises InputError for an id that there is not.
    """
    name = _id(advice, cipher)
    sentences = [*_passes(advice, name), *_excluded(advice, name), *_unpriced(advice, name)]
    if not sentences and any(cost.cipher == name for cost in advice.inputs.costs):
        sentences = [f"{name} is left out by the question's choices.ciphers or choices.providers."]
    if not sentences:
        sentences = _without_figure(advice, name, probe.first_rows(target, [name])[name])
    past = [past for past in advice.history if past.cipher == name]
    return [*sentences, *prose.history(past)]


def _without_figure(advice: Advice, name: str, row: CatalogueRow) -> list[str]:
    """A cipher that no cost is known of: whether its security would do, and how to bring a cost."""
    security = status_of(row)
    status = next(statement for statement in security.statements if statement.about == "status")
    if security.status not in rank.SOUND:
        return [
            f"{name} would be excluded whatever it costs: it is {security.status}: {status.says} ({status.source})."
        ]
    if advice.question.floor.authenticated and not security.authenticated:
        return [
            f"{name} would be excluded whatever it costs: a changed message is not noticed, and authentication is "
            "asked for (--unauthenticated lifts that)."
        ]
    isa = advice.inputs.device.card.isa if advice.inputs.device else "CORE"
    return [
        f"{name}: no figure of what it costs on {advice.inputs.name} is known. Count it and name it with --costs FILE "
        f"(`wattlock advise --costs-template {isa}` prints a file to fill), or measure it with a run and name that "
        "with --run."
    ]


def _id(advice: Advice, cipher: str) -> str:
    """The id that is meant, however it is spelt: AES-128-GCM is aes128-gcm."""
    priced = advice.inputs.priced
    known = [cost.cipher for cost in advice.inputs.costs]
    known += [cost.cipher for cost in (*priced.taken, *priced.unranked)]
    known += [past.cipher for past in advice.history]
    spelt = {_plain(known_id): known_id for known_id in known}
    return spelt.get(_plain(cipher), cipher)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _passes(advice: Advice, name: str) -> Iterator[str]:
    places = [place for place in advice.places if advice.choices[place.number].cipher == name]
    if not places:
        return
    best, chosen = places[0], decided(advice)
    choice = advice.choices[best.number]
    if advice.choices[chosen.number].cipher == name:
        yield f"{name} is what the answer says to use."
        return
    ways = "its only choice" if len(places) == 1 else f"the best of its {len(places)} choices"
    tied = best.group == advice.best.group
    yield (
        f"{name} passes: {ways} is {choice.beside_tag} with a tag of {choice.tag_bits} bits (by {choice.provider}), "
        f"{prose.lasts(best)}, rank {best.group}."
    )
    differ = _difference(advice, best, chosen)
    if tied:
        yield (
            "By days it can't be told from what is decided, which stands before it by strength of the key, then length "
            f"of the tag, then approval: {_strong(advice.choices[chosen.number])} beside {_strong(choice)}. {differ}"
        )
    else:
        behind = gain(advice.life_s[best.number], advice.life_s[chosen.number])
        yield f"What is decided lasts {percent(behind.percent / 100)} longer. {differ}"


def _strong(choice: Choice) -> str:
    return f"{choice.security.strength_bits:g} bits, tag {choice.tag_bits}, {choice.security.status}"


def _difference(advice: Advice, best: Place, chosen: Place) -> str:
    best_load, other = advice.loads[best.number], advice.loads[chosen.number]
    each = sum(rate for flow in advice.question.flow for _, rate in flow.rates)
    joules = [spoken_joules(load.group_W("cipher") / each) for load in (best_load, other)]
    return (
        f"A message takes {best_load.octets_B:,.0f} B on the air (decided: {other.octets_B:,.0f}) and its cipher "
        f"{joules[0]} (decided: {joules[1]})."
    )


def _excluded(advice: Advice, name: str) -> Iterator[str]:
    rows = [row for row in advice.excluded_frame.to_dicts() if row["cipher"] == name]
    passing = any(choice.cipher == name for choice in advice.choices)
    for rule, of_rule in groupby(rows, key=lambda row: row["rule"]):
        for row in of_rule:
            which = f"{row['choices']} of its choices" if passing else name
            are = "is" if which == name or row["choices"] == 1 else "are"
            yield f"{which} {are} excluded by {rule}: {row['because']} ({row['source']})."


def _unpriced(advice: Advice, name: str) -> Iterator[str]:
    if any(choice.cipher == name for choice in advice.choices):
        return
    for cost in advice.inputs.priced.unranked:
        if cost.cipher == name:
            yield (
                f"{name} by {cost.provider} is not ranked, as its cost is assumed ({cost.doubt}): --allow-assumed "
                "ranks it as it is, --costs FILE brings your own figure."
            )
