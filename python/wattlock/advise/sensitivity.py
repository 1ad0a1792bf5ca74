"""At which size, rate or signal another choice comes first: one question, changed at one place."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from wattlock.advise import days
from wattlock.advise.advice import Advice
from wattlock.advise.choices import Choice
from wattlock.advise.days import DAY_s, Load, MonteCarlo
from wattlock.advise.question import Question, spoken
from wattlock.advise.rank import tied
from wattlock.advise.sending import Sender
from wattlock.analysis import front
from wattlock.energy.battery_cards import Array, BatterySamples
from wattlock.errors import InputError
from wattlock.targets.toolbox import Toolbox

FACTORS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 2.0, 4.0, 8.0, 16.0)
RATES = (1e-3, 1e-2, 1e-1, 10.0, 100.0, 1e3)
BIT_ERRORS = (1e-6, 1e-5, 1e-4, 3e-4, 1e-3)
WEAKER_dB = (5.0, 10.0, 15.0, 20.0)
# Enough to tell who is first; and choices far behind never come first by a change of traffic alone.
DRAWS, CHOICES = 200, 60


class BreakingPoint(NamedTuple):
    """One variable: the nearest value at which the first group no longer holds the answer, or that none was found.

    * `at`: in words; None where the answer holds wherever it could be looked at. `then`: who comes first there.
    * `looked_at`: the points; those that the radio can't carry say why.
    """

    variable: str
    now: str
    at: str | None
    then: str | None
    looked_at: str


def sensitivity(advice: Advice, net: Toolbox | None) -> list[BreakingPoint]:
    """The flips by message size, rate and signal; by battery there is none, and why."""
    choices = [advice.choices[place.number] for place in advice.places[:CHOICES]]
    few = _few(advice.monte_carlo)
    found = []
    for variable, now, points in _variables(advice):
        at = then = None
        looked_at = []
        for described, question in points:
            try:
                winner = _winner(advice, question, choices, few, net)
            except InputError as error:
                looked_at.append(f"{described} (not carried: {error})")
                continue
            looked_at.append(described)
            if winner is not None:
                at, then = described, winner
                break
        found.append(BreakingPoint(variable, now, at, then, ", ".join(looked_at)))
    found.append(
        BreakingPoint(
            "battery",
            advice.inputs.battery.battery.name,
            None,
            None,
            "any: on every battery the charge of who draws less lasts longer, up to its shelf life",
        )
    )
    return found


def pareto(advice: Advice) -> list[dict[str, Any]]:
    """The choices on the front of strength, days and latency in some draws, with the share of the draws."""
    places = advice.places[:CHOICES]
    numbers = [place.number for place in places]
    power = 1 / advice.life_s[numbers][:, :DRAWS]
    strength = np.array([advice.choices[number].security.strength_bits for number in numbers])
    quick = -np.nan_to_num(np.array([advice.loads[number].latency_s for number in numbers]), nan=np.inf)
    share = front.front(power.T, strength, quick).mean(axis=0)
    # By what they draw: days that a shelf life ends tell nothing apart.
    watts = np.array([advice.loads[number].total_W for number in numbers])
    profile = {number: name for name, number in front.profiles(watts, strength).items()}
    rows: list[dict[str, Any]] = [
        {
            "choice": advice.choices[place.number].label,
            "provider": advice.choices[place.number].provider,
            "strength_bits": float(strength[row]),
            "days": place.seconds / DAY_s,
            "latency_s": advice.loads[place.number].latency_s,
            "on_front": float(share[row]),
            "profile": profile.get(row, ""),
        }
        for row, place in enumerate(places)
    ]
    kept = [row for row in rows if row["on_front"] or row["profile"]]
    return sorted(kept, key=lambda row: row["on_front"], reverse=True)


def _variables(advice: Advice) -> Iterator[tuple[str, str, list[tuple[str, Question]]]]:
    question = advice.question
    size_B, _ = question.flow[0].rates[0]
    by_nearness = sorted(FACTORS, key=lambda factor: abs(np.log(factor)))
    sizes = [(f"{max(1, round(size_B * number))} B", _sized(question, number)) for number in by_nearness]
    yield "message", f"{size_B} B", sizes
    interval_s = question.flow[0].every
    rates = sorted(RATES, key=lambda factor: abs(np.log(factor)))
    yield "every", spoken(interval_s), [(spoken(interval_s / rate), _faster(question, rate)) for rate in rates]
    radio = question.radio
    if radio.rssi_dBm is not None:
        weaker = [radio.rssi_dBm - weaker_dB for weaker_dB in WEAKER_dB]
        points = [
            (f"{weaker_dB:g} dBm", changed(question, {"radio": radio.model_copy(update={"rssi_dBm": weaker_dB})}))
            for weaker_dB in weaker
        ]
        yield "signal", f"{radio.rssi_dBm:g} dBm", points
    elif advice.inputs.sender.technology != "802.11" and not advice.inputs.sender.advertising:
        worse = [bit_error_rate for bit_error_rate in BIT_ERRORS if bit_error_rate > radio.bit_errors]
        points = [
            (
                f"{bit_error_rate:g}",
                changed(question, {"radio": radio.model_copy(update={"bit_errors": bit_error_rate})}),
            )
            for bit_error_rate in worse
        ]
        yield "bit errors", f"{radio.bit_errors:g}", points


def _sized(question: Question, by: float) -> Question:
    flows = [
        flow.model_copy(
            update={
                "message": None if flow.message is None else max(1, round(flow.message * by)),
                "sizes": None
                if flow.sizes is None
                else [[max(1, round(size_B * by)), count] for size_B, count in flow.sizes],
            }
        )
        for flow in question.flow
    ]
    return changed(question, {"flow": flows})


def _faster(question: Question, by: float) -> Question:
    return changed(question, {"flow": [flow.model_copy(update={"every": flow.every / by}) for flow in question.flow]})


def _winner(
    advice: Advice, question: Question, choices: list[Choice], few: MonteCarlo, net: Toolbox | None
) -> str | None:
    """Who beats the first choice there; None where it holds.

    Raises InputError where the radio can't carry that traffic or the battery not that load.
    """
    sender = advice.inputs.sender
    if question.radio is not advice.question.radio:
        sender = Sender(sender.radio, question.radio)
    spent = sender.evaluate(days.needed(question, choices, sender), net)
    loads = [days.load(question, choice, sender, advice.inputs.draws, spent) for choice in choices]
    carried = [number for number, load in enumerate(loads) if load.busy <= 1 and load.sending <= sender.band.duty_cycle]
    if not carried:
        times = min(max(load.busy, load.sending / sender.band.duty_cycle) for load in loads)
        raise InputError(f"the radio would need {times:.3g} times the time that the clock or the band allows")
    life_s = days.seconds([loads[number] for number in carried], few, advice.inputs.battery)
    lives = dict(zip(carried, life_s, strict=True))
    best = max(carried, key=lambda number: float(np.median(lives[number])))
    held = choices.index(advice.choices[advice.best.number])
    if held in carried and (best == held or tied(lives[best], lives[held])):
        return None
    return choices[best].label


def _few(monte_carlo: MonteCarlo) -> MonteCarlo:
    drawn = monte_carlo.batteries
    batteries = BatterySamples(
        {name: values[:DRAWS] for name, values in drawn.numbers.items()},
        drawn.capacity_share[:DRAWS],
        drawn.self_discharge_per_s[:DRAWS],
        np.broadcast_to(drawn.shelf_life_s, monte_carlo.draws)[:DRAWS],
    )
    return monte_carlo._replace(
        factors={name: values[:DRAWS] for name, values in monte_carlo.factors.items()}, batteries=batteries
    )


# What engineers reach for: the cipher of CCMP, Bluetooth, 802.15.4 and DTLS profiles, then what passes.
USUAL = ("aes128-ccm", "aes128-gcm", "aes256-ccm", "aes256-gcm", "chacha20-poly1305", "ascon-aead128")


def changed(question: Question, changes: Mapping[str, Any]) -> Question:
    """The question with some of its own parts replaced."""
    return question.model_copy(update=dict(changes))


def loads(advice: Advice, variants: Sequence[tuple[Question, Choice]], net: Toolbox | None) -> list[Load]:
    """What variants ask of the battery; all packets that are new are asked of the link at once.

    * `net`: the toolbox, needed for Wi-Fi alone.
    """
    sender = advice.inputs.sender
    packets = [packet for question, choice in variants for packet in days.needed(question, [choice], sender)]
    spent = sender.evaluate(packets, net)
    return [days.load(question, choice, sender, advice.inputs.draws, spent) for question, choice in variants]


def lives(advice: Advice, loads: Sequence[Load]) -> Array:
    """Seconds of battery, as (loads, draws)."""
    return days.seconds(loads, advice.monte_carlo, advice.inputs.battery)


def charges(advice: Advice, loads: Sequence[Load]) -> Array:
    """Seconds that the charge alone lasts, as (loads, draws)."""
    return days.by_charge(loads, advice.monte_carlo, advice.inputs.battery)


def usual(advice: Advice) -> Choice:
    """The choice that experiments start from: the usual cipher that passes, its nonce sent whole, its tag whole."""

    def far(choice: Choice) -> tuple[int, ...]:
        place = USUAL.index(choice.cipher) if choice.cipher in USUAL else len(USUAL)
        framing = ("full-nonce", "dtls12", "dtls13", "wireguard", "broadcast", "implicit-nonce", "tally")
        return (
            place,
            framing.index(choice.framing),
            choice.row["tag_bits"] - choice.tag_bits,
            choice.aggregate,
            int(choice.resumed),
            int(choice.cost.accelerator),
        )

    whole = [choice for choice in advice.choices if choice.frame.amortised_bits is None]
    return min(whole or advice.choices, key=far)
