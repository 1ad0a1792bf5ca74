"""The answer in sentences: what comes first, what ends the battery, what the papers' advice would change, and notes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from wattlock.advise.answer import Advice, Information
from wattlock.advise.choices import SPOKEN, Choice, framings
from wattlock.advise.cipher_costs import CipherCost
from wattlock.advise.days import SPLIT, DAY_s, most_B
from wattlock.advise.inputs import Past
from wattlock.advise.pricing import messages, share_for_the_very_core
from wattlock.advise.published import follows_the_code, is_sound
from wattlock.advise.question import LEAST, Question, percent, spoken
from wattlock.advise.rank import Place
from wattlock.energy.number import YEAR_s

# Few batteries and few products are trusted for longer.
LONG_s = 10 * YEAR_s
# What three digits round up to a thousand is written as one.
THOUSAND = 999.5
ALWAYS = ("cipher", "radio", "handshake", "idle")
# Shares of the draws in which the shelf life ends it: seldom enough to say nothing, often enough to lead.
SELDOM, MOSTLY = 0.025, 0.5
# Shorter lives are told in hours.
HOURS_BELOW_s = 2 * DAY_s
HOUR_s = 3600.0
LIKELY = 0.975
BUDGET = (
    "Least is a message's octets with a tag of the floor's bits, over a link without protection where there is one. "
    "A link alone can be below it: its own tag is shorter than the floor asks for."
)


def days(seconds: float) -> str:
    """Days to three digits, thousands in groups."""
    number = seconds / DAY_s
    return f"{float(f'{number:.3g}'):,.0f}" if number >= THOUSAND else f"{number:.3g}"


class LifeInterval(NamedTuple):
    """A life of the battery with its interval, in a unit that leaves digits to read."""

    unit: str
    middle: str
    interval: str


def span(place: Place, *, in_hours: bool) -> LifeInterval:
    """A choice's life in days, or in hours."""
    ends = (place.seconds, place.low_s, place.high_s)
    if in_hours:
        middle, low, high = (f"{seconds / HOUR_s:.3g}" for seconds in ends)
        return LifeInterval("hours", middle, f"{low} to {high}")
    middle, low, high = map(days, ends)
    return LifeInterval("days", middle, f"{low} to {high}")


def short_lived(place: Place) -> bool:
    """Whether a life is told in hours."""
    return place.high_s < HOURS_BELOW_s


def lasts(place: Place) -> str:
    """How long the battery lasts, with its interval."""
    life = span(place, in_hours=short_lived(place))
    return f"{life.middle} {life.unit} of battery (95 %: {life.interval})"


def title(question: Question) -> str:
    """What is asked about: the question's title, or its first flow in words."""
    if question.title != Question.model_fields["title"].default:
        return question.title
    flow = question.flow[0]
    what = "messages of several sizes" if flow.sizes else f"{flow.message} B"
    verb = "sends" if flow.direction == "send" else "receives"
    return f"A device that {verb} {what} every {spoken(flow.every)}{' and more' if len(question.flow) > 1 else ''}"


def named(choice: Choice) -> str:
    """A choice and whose code or hardware it is."""
    return f"{choice.label} (by {choice.provider})"


def lead(advice: Advice) -> list[str]:
    """The answer: who comes first with how many days, what ends them, where the energy of the first goes."""
    best = advice.best.number
    of_all = advice.shares(best)
    shown = [group for group in SPLIT if group in ALWAYS or of_all[group] >= LEAST]
    split = ", ".join(f"{TAKES[group]} {percent(of_all[group])}" for group in shown)
    return [*ties(advice), f"Of the energy with {advice.choices[best].label}: {split}."]


def ties(advice: Advice) -> list[str]:
    """Who comes first with how many days, who is tied with it, what ends them."""
    best = advice.best
    first, many = advice.choices[best.number], len(advice.tied)
    if many == 1:
        sentences = [f"{named(first)} lasts longest: {lasts(best)}."]
    else:
        which = f"All {many}" if many == len(advice.choices) else f"{many} of {len(advice.choices)}"
        sentences = [
            f"{which} choices that pass give about {lasts(best)} and can't be told apart by that: choose on security.",
            f"{named(advice.thriftiest)} is the strongest of them and draws least."
            if advice.strongest is advice.thriftiest
            else f"The strongest of them is {named(advice.strongest)}; "
            f"the one that draws least is {named(advice.thriftiest)}.",
        ]
    return [*sentences, *_ends(advice)]


TAKES = {
    "cipher": "the cipher",
    "radio": "the radio's messages",
    "handshake": "handshakes",
    "upkeep": "keeping the link",
    "wake-up": "wake-ups",
    "idle": "sleep and idling",
    "supply": "the supply stage",
    "self-discharge": "the battery's self-discharge",
}


def _ends(advice: Advice) -> Iterator[str]:
    best = advice.best
    if best.shelf >= MOSTLY:
        often = "" if best.shelf > LIKELY else f" in {100 * best.shelf:.0f} % of the samples drawn"
        shelf = spoken(float(np.median(advice.monte_carlo.batteries.shelf_life_s))).replace(" y", " years")
        yield (
            f"What ends it{often} is the battery's shelf life, {shelf} in the median: its charge alone would last "
            f"{days(best.charge_s)} days ({days(best.charge_low_s)} to {days(best.charge_high_s)})."
        )
    elif best.shelf > SELDOM:
        share = f"{100 * best.shelf:.0f} %"
        yield f"In {share} of the samples drawn the battery's shelf life ends it before its charge does."
    elif best.seconds > LONG_s:
        yield (
            "That is more than ten years, and the battery's card says no shelf life: few batteries are trusted so long."
        )


def history(past: Sequence[Past]) -> list[str]:
    """What following the papers' advice would change, and why it is not done; each advice is told once."""
    described: dict[str, list[str]] = {}
    for record in past:
        free = " (its own work taken as free: no code of it could do better)" if record.at_most else ""
        sentence = f"{record.cipher} would {_change(record)}{free}. Not followed: {record.not_done}."
        described.setdefault(record.advice, []).append(sentence)
    return [f"{advice}. {' '.join(lines)}" for advice, lines in described.items()]


def _change(past: Past) -> str:
    low, middle, high = past.saves_low_percent, past.saves_percent, past.saves_high_percent
    if max(abs(low), abs(high)) < 100 * LEAST:
        return "change the days by less than 0.1 %"
    way, least, most = ("save", low, high) if middle >= 0 else ("cost", -high, -low)
    between = f"{least:.2g} to {most:.2g}"
    if least < 0:
        ends = ("cost", "saving") if way == "save" else ("saving", "cost")
        between = f"from a {ends[0]} of {-least:.2g} to a {ends[1]} of {most:.2g}"
    return f"{way} {abs(middle):.2g} % of the days ({between})"


def notes(advice: Advice) -> list[str]:
    """What a reader should hear beside the numbers."""
    return list(_notes(advice))


def _notes(advice: Advice) -> Iterator[str]:
    if advice.unused_keys:
        keys = ", ".join(advice.unused_keys)
        yield f"set and without effect here: {keys} (without each of them the answer is the same)"
    choice, load = advice.choices[advice.best.number], advice.loads[advice.best.number]
    yield from _pieces(advice)
    yield from peaks(advice)
    share = advice.shares(advice.best.number)["cipher"]
    lasting, gained = "the battery would last", advice.freed[0]
    if advice.best.shelf >= MOSTLY:
        lasting, gained = "the battery's charge would last", advice.freed[1]
    longer = percent(gained.percent / 100)
    takes = f"the cipher of what lasts longest takes {percent(share)} of the energy"
    yield f"{takes}: were it free, {lasting} {longer} longer"
    if load.rekeys_per_s * LONG_s > 1:
        counted = (
            "a handshake is counted for each"
            if advice.question.session
            else "what that costs is not counted, as the question has no session (session.every, session.sent, "
            "session.received)"
        )
        yield f"the limits on one key ask for a new one every {spoken(1 / load.rekeys_per_s)}; {counted}"
    yield from _code(advice)
    technology = advice.inputs.sender.technology
    if choice.protection in SPOKEN.get(technology, {}) and choice.protection != "none":
        yield (
            f"the radio link encrypts too, beneath the choice's cipher ({SPOKEN[technology][choice.protection]}): its "
            "octets are counted, the joules of the hardware that does it are taken to be in the radio's"
        )


def _code(advice: Advice) -> Iterator[str]:
    priced = advice.inputs.priced
    if any(cost.origin for cost in priced.taken):
        yield (
            "each cipher costs what the best code of it does that is published or counted for this core and whose "
            "time tells nothing of the key, beside the device's hardware; slower code is passed over, and code that "
            "may tell"
        )
        share = share_for_the_very_core([choice.cost for choice in advice.choices])
        yield f"{100 * share:.0f} % of the choices have a cost that was counted or published for this very core"
    yield from _timing(priced.taken)
    passing = {choice.cipher for choice in advice.choices}
    yield from follows_the_code(
        priced._replace(taken=[cost for cost in priced.taken if cost.cipher in passing]),
        messages(advice.question),
    )
    if priced.unranked:
        known = {cost.cipher for cost in priced.taken}
        ciphers = ", ".join(
            dict.fromkeys(
                f"{cost.cipher} by {cost.provider}" if cost.cipher in known else cost.cipher for cost in priced.unranked
            )
        )
        yield f"not ranked, as their cost is assumed: {ciphers} (--allow-assumed ranks them, --costs FILE brings yours)"


def _timing(costs: Sequence[CipherCost]) -> Iterator[str]:
    """What is assumed of the time of code, or known to be unsound."""
    code = [cost for cost in costs if cost.origin and not cost.accelerator]
    placed = dict.fromkeys(
        cost.provider for cost in code if cost.origin and cost.origin.timing == "constant in its memory"
    )
    if placed:
        yield (
            f"the time of {', '.join(placed)} is taken to tell nothing of the key: that holds where its tables lie in "
            "memory without a cache, wait states or banks"
        )
    leaks = dict.fromkeys(f"{cost.cipher} by {cost.provider}" for cost in code if not is_sound(cost))
    if leaks:
        yield f"the time of {', '.join(leaks)} may tell of the key: other code is assumed or not known for this core"


def _pieces(advice: Advice) -> Iterator[str]:
    load = advice.loads[advice.best.number]
    if load.packets > 1:
        most = most_B(advice.question, advice.inputs.sender)
        yield (
            f"a message takes {load.packets:.3g} packets, as one holds {most} octets{advice.inputs.sender.why}: the "
            "application is taken to cut it, to seal each piece and to number it; a lost piece is not sent again"
        )


def rows(advice: Advice, most: int) -> list[dict[str, str]]:
    """The first places as a table for eyes; a column in which nothing differs from none is left out."""
    found = []
    shelf = any(place.shelf > SELDOM for place in advice.places[:most])
    several = any(advice.loads[place.number].packets > 1 for place in advice.places[:most])
    shares = {place.number: advice.shares(place.number) for place in advice.places[:most]}
    used = [group for group in SPLIT if any(share[group] for share in shares.values())]
    for place in advice.places[:most]:
        choice, load = advice.choices[place.number], advice.loads[place.number]
        row = {
            "rank": str(place.group),
            "choice": choice.label,
            "days": days(place.seconds),
            "95 %": f"{days(place.low_s)} to {days(place.high_s)}",
        }
        if shelf:
            row["by charge alone"] = days(place.charge_s)
        row["behind"] = short_share(max(place.behind, 0.0))
        row["by"] = choice.provider
        if choice.cost.origin:
            row["counted"] = choice.cost.origin.marks
        row["evidence"] = choice.cost.evidence
        row |= {group: short_share(shares[place.number][group]) for group in used}
        row["latency"] = "not known" if load.latency_s != load.latency_s else spoken(load.latency_s)
        row["B on the air"] = f"{load.octets_B:,.0f}"
        if several:
            row["packets"] = f"{load.packets:,.0f}" if load.packets >= THOUSAND else f"{load.packets:.3g}"
        row["memory B"] = "not known" if choice.memory_B is None else str(choice.memory_B)
        row["strength"] = f"{choice.security.strength_bits:g}"
        found.append(row)
    return found


def described(key: str, found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows of a table beside the answer for eyes.

    * `key`: `sensitivity`: an answer that holds says so; `experiments`: days and gains as in the answer; else as it is.
    """
    if key == "sensitivity":
        return [{**row, "at": row["at"] or "holds", "then": row["then"] or ""} for row in found]
    if key == "experiments":
        return [_saved(row) for row in found]
    return [dict(row) for row in found]


def without_gain(advice: Advice) -> str:
    """Why experiments gain next to no days where the battery's shelf life ends it; empty where it does not."""
    if advice.best.shelf < MOSTLY:
        return ""
    busy = sum(
        share for group, share in advice.shares(advice.best.number).items() if group not in {"idle", "self-discharge"}
    )
    return (
        f"In {100 * advice.best.shelf:.0f} % of the samples the battery's shelf life ends it, which none of these "
        f"changes, and all that is computed, sent and received takes {percent(busy)} of the energy until then: a "
        "gain of 0 % says that the device may do without. A finding says what the charge alone would gain."
    )


def _saved(row: Mapping[str, Any]) -> dict[str, str]:
    before, after = (row[key] for key in ("before_days", "after_days"))
    gains = [row[key] for key in ("gain_percent", "gain_low_percent", "gain_high_percent")]
    known = before is not None and None not in gains
    return {
        "experiment": row["experiment"],
        "way": row["way"],
        "days before": days(before * DAY_s) if known else "",
        "after": days(after * DAY_s) if known else "",
        "gain": f"{_gained(gains[0])} %" if known else "",
        "95 %": f"{_gained(gains[1])} to {_gained(gains[2])} %" if known else "",
        "finding": row["finding"],
    }


def _gained(percent_: float) -> str:
    """Percent to two digits; what a tenth doesn't show is 0."""
    if abs(percent_) < 100 * LEAST:
        return "0"
    return f"{percent_:.2g}" if abs(percent_) < 100 else f"{percent_:,.0f}"


def short_share(share: float) -> str:
    """A share where there is little room."""
    return percent(share).replace("less than ", "<")


def narrower(information: Information) -> str:
    """Which measurement would narrow the interval, and by how much."""
    by = f"{100 * max(information.narrower, 0):.0f} %"
    return f"{information.number} ({information.how}); known exactly, it narrows the interval of days by {by}"


def framing(advice: Advice) -> list[tuple[str, str]]:
    """The framings that are among the choices: what each sends, and what it needs of the other end."""
    return [
        (name, f"{framings()[name].title}; {framings()[name].needs}")
        for name in dict.fromkeys(choice.framing for choice in advice.choices)
    ]


def peaks(advice: Advice) -> Iterator[str]:
    """What a battery asks for that gives less than the radio draws."""
    peak, battery = _peak_A(advice), advice.inputs.battery.battery
    limit = battery.card.max_current.in_SI
    if peak > limit:
        yield (
            f"the radio draws {1e3 * peak:.3g} mA at its peak, battery {battery.name} gives {1e3 * limit:.3g} mA: "
            "a capacitor must carry the peaks"
        )


def _peak_A(advice: Advice) -> float:
    sender, battery = advice.inputs.sender, advice.inputs.battery.battery.card
    card = sender.radio.card
    if not card.has_states:
        return 0.0
    watts = max(card.power_W(sender.number(state)) for state in ("tx", "rx"))
    return watts / (1 - advice.inputs.stage.lost(watts)) / battery.voltage.in_SI
