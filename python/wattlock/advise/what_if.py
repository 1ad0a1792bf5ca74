"""A question asked again with something changed, with the same samples: draws are shared, so that gains can be told."""

from collections.abc import Mapping, Sequence
from typing import Any

from wattlock.advise import days
from wattlock.advise.advice import Advice
from wattlock.advise.choices import Choice
from wattlock.advise.days import Load
from wattlock.advise.question import Question
from wattlock.energy.battery import Array
from wattlock.targets.toolbox import Toolbox

# What engineers reach for: the cipher of CCMP, Bluetooth, 802.15.4 and DTLS profiles, then what passes.
USUAL = ("aes128-ccm", "aes128-gcm", "aes256-ccm", "aes256-gcm", "chacha20-poly1305", "ascon-aead128")


def changed(question: Question, changes: Mapping[str, Any]) -> Question:
    """The question with some of its own parts replaced."""
    return question.model_copy(update=dict(changes))


def loads(of: Advice, variants: Sequence[tuple[Question, Choice]], net: Toolbox | None) -> list[Load]:
    """What variants ask of the battery; all packets that are new are asked of the link at once.

    * `net`: the toolbox, needed for Wi-Fi alone.
    """
    sender = of.inputs.sender
    packets = [one for question, choice in variants for one in days.needed(question, [choice], sender)]
    spent = sender.evaluate(packets, net)
    return [days.load(question, choice, sender, of.inputs.draws, spent) for question, choice in variants]


def lives(of: Advice, every: Sequence[Load]) -> Array:
    """Seconds of battery, as (loads, draws)."""
    return days.seconds(every, of.monte_carlo, of.inputs.battery)


def charges(of: Advice, every: Sequence[Load]) -> Array:
    """Seconds that the charge alone lasts, as (loads, draws)."""
    return days.by_charge(every, of.monte_carlo, of.inputs.battery)


def usual(of: Advice) -> Choice:
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

    whole = [one for one in of.choices if one.frame.amortised_bits is None]
    return min(whole or of.choices, key=far)
