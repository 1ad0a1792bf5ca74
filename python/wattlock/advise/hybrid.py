"""Cipher by packet size, among sound ciphers alone: the policy of Prasithsangaree and Krishnamurthy, fit for today.

Each cipher has a key of its own: both are derived from one session, so that a second key costs no second handshake.
"""

from typing import NamedTuple

import numpy as np

from wattlock.advise.advice import Advice
from wattlock.advise.choices import Choice
from wattlock.advise.days import DAY_s, Load, Term
from wattlock.advise.gain import Gain, gain
from wattlock.advise.question import Flow, Question
from wattlock.advise.rank import SMALLEST_EFFECT
from wattlock.advise.what_if import changed, lives, loads
from wattlock.targets.toolbox import Toolbox

# Octets at which the cheapest cipher is looked for, to say where the policy would switch.
SIZES = (1, 16, 32, 64, 100, 128, 256, 512, 1024, 1400)


class Policy(NamedTuple):
    """A policy against the best single cipher.

    * `switches`: sizes from which on another cipher is the cheapest, with it; the first stands for the smallest.
    * `days`, `alone_days`: of the policy and of the best single cipher, medians.
    """

    switches: list[tuple[int, str]]
    days: float
    alone_days: float
    gain: Gain
    finding: str


def hybrid(of: Advice, like: Choice, net: Toolbox | None) -> Policy:
    """The policy that takes the cheapest sound cipher for each size.

    * `like`: whose framing, tag and encoding all have, as far as a cipher has them.
    """
    ciphers = _ciphers(of, like)
    question = of.question
    single = loads(of, [(question, one) for one in ciphers], net)
    best = min(range(len(ciphers)), key=lambda number: single[number].total_W)
    terms = dict(single[best].terms_W)
    for flow in question.flow:
        for size_B, rate in flow.rates:
            part = _alone(question, flow, size_B, rate)
            every = loads(of, [(part, one) for one in ciphers], net)
            cheapest = min(every, key=lambda one: one.total_W)
            _add(terms, cheapest, 1.0)
            _add(terms, every[best], -1.0)
    life_s = lives(of, [single[best], single[best]._replace(terms_W=terms)])
    switches = _switches(of, ciphers, net)
    medians = np.median(life_s, axis=1) / DAY_s
    by = gain(life_s[0], life_s[1])
    return Policy(switches, float(medians[1]), float(medians[0]), by, _described(switches, by, ciphers[best].cipher))


def _ciphers(of: Advice, like: Choice) -> list[Choice]:
    """The cheapest provider of each sound cipher, all framed alike."""
    found: dict[str, Choice] = {}
    for place in of.places:
        one = of.choices[place.number]
        alike = (one.framing, one.encoding, one.aggregate, one.protection, one.resumed) == (
            like.framing,
            like.encoding,
            like.aggregate,
            like.protection,
            like.resumed,
        )
        if alike and one.tag_bits == one.row["tag_bits"]:
            found.setdefault(one.cipher, one)
    return list(found.values()) or [like]


def _alone(question: Question, flow: Flow, size_B: int, rate: float) -> Question:
    only = Flow.model_construct(name=flow.name, message=size_B, sizes=None, every=1 / rate, direction=flow.direction)
    nothing = {"session": None, "keep_alive": None, "association": None, "wake_up": None}
    return changed(question, {"flow": [only], **nothing})


def _add(terms: dict[Term, float], load: Load, sign: float) -> None:
    for term, watts in load.terms_W.items():
        terms[term] = terms.get(term, 0.0) + sign * watts


def _switches(of: Advice, ciphers: list[Choice], net: Toolbox | None) -> list[tuple[int, str]]:
    flow = of.question.flow[0]
    variants = [(_alone(of.question, flow, size_B, 1.0), one) for size_B in SIZES for one in ciphers]
    watts = np.array([one.total_W for one in loads(of, variants, net)]).reshape(len(SIZES), len(ciphers))
    found: list[tuple[int, str]] = []
    for size_B, row in zip(SIZES, watts, strict=True):
        name = ciphers[int(row.argmin())].cipher
        if not found or found[-1][1] != name:
            found.append((size_B, name))
    return found


def _described(switches: list[tuple[int, str]], by: Gain, alone: str) -> str:
    if len(switches) == 1:
        return f"it does not pay: {switches[0][1]} is the cheapest at every size from 1 to {SIZES[-1]} octets"
    rule = ", ".join(f"{name} from {size_B} B" for size_B, name in switches)
    if by.percent < 100 * SMALLEST_EFFECT:
        gained = f"{by.percent:.2g} % over {alone} alone, with two keys to keep"
        return f"the cheapest is {rule}; it does not pay here: {gained}"
    return f"{rule}, each with a key of its own"
