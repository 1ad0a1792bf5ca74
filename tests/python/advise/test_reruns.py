"""Every "would" of an answer, asked again: a whole new answer to the changed question gives what was promised."""

import re
from typing import Any

import numpy as np
import pytest

from support.advice import BASE, TODAY
from wattlock.advise import Advice, advise, checked, load
from wattlock.advise.choices import Choice
from wattlock.advise.cipher_costs import CipherCost
from wattlock.advise.experiments import Experiment, experiments, usual
from wattlock.advise.inputs import free
from wattlock.targets import toolbox

FEW = {"choices.ciphers": ["aes128-ccm", "ascon-aead128", "chacha20-poly1305"], "device.sleep": "10uW"}
WAKES: dict[str, Any] = {
    "wake_up": {"time": "5ms"},
    "session": {
        "every": "10min",
        "sent": "300B",
        "received": "400B",
        "computing": "50ms",
        "resumption": {"sent": "90B", "received": "80B", "computing": "2ms"},
    },
}


def answered(changes: dict[str, Any] | None = None) -> Advice:
    return advise(checked("rerun", BASE | WAKES, FEW | (changes or {})), allow_assumed=True, today=TODAY)


@pytest.fixture(scope="module")
def described() -> Advice:
    return answered()


def lives(of: Advice, like: Choice, **other: Any) -> Any:
    """The lives of a choice that an answer holds; `other` says what is unlike."""
    wanted = like._replace(**other)

    def what(one: Choice) -> tuple[Any, ...]:
        return (
            one.cipher,
            one.provider,
            one.tag_bits,
            one.framing,
            one.encoding,
            one.aggregate,
            one.protection,
            one.resumed,
        )

    (number,) = [place for place, one in enumerate(of.choices) if what(one) == what(wanted)]
    return of.life_s[number]


def tried(of: Advice, name: str) -> Experiment:
    (saving,) = experiments(of, toolbox.find(), name)
    return saving


def gained(before: Any, after: Any) -> float:
    return 100 * float(np.median(after / before) - 1)


@pytest.mark.parametrize(
    ("name", "changes", "other"),
    [
        ("aggregate", {"choices.aggregate": [16]}, {"aggregate": 16}),
        ("batch", {"wake_up.time": "312.5us"}, {}),
        ("compress", {"flow[0].message": "32B"}, {}),
        ("headers", {}, {"framing": "implicit-nonce"}),
        ("resume", {}, {"resumed": True}),
        ("truncate", {}, {"tag_bits": 80}),
        ("fragment", {"choices.packet": "46B"}, {}),
    ],
)
def test_what_an_experiment_promises_is_what_the_changed_question_answers(
    described: Advice, name: str, changes: dict[str, Any], other: dict[str, Any]
) -> None:
    start = usual(described)
    saving = tried(described, name)
    assert saving.gain is not None
    if name == "fragment":
        size = re.match(r"packets of at most (\d+) octets", saving.finding)
        assert size
        changes = {"choices.packet": f"{size[1]}B"}
    again = answered(changes) if changes else described
    promised = gained(lives(described, start), lives(again, start, **other))
    assert saving.gain.percent == pytest.approx(promised, abs=0.05, rel=0.01)


def test_replacing_promises_the_best_life_among_equals_of_the_same_answer(described: Advice) -> None:
    saving = tried(described, "replace")
    cipher, provider = re.match(r"(\S+) of (.+) in place of", saving.finding).groups()  # type: ignore[union-attr]
    start = usual(described)
    (after,) = [
        described.life_s[place]
        for place, one in enumerate(described.choices)
        if (one.cipher, one.provider, one.framing, one.resumed, one.aggregate)
        == (cipher, provider, start.framing, start.resumed, start.aggregate)
        and one.tag_bits == one.row["tag_bits"]
    ]
    assert saving.gain is not None
    assert saving.gain.percent == pytest.approx(gained(lives(described, start), after), abs=1e-6)


@pytest.mark.parametrize("sleep", ["10uW", "1uW"])
def test_were_its_cipher_free_the_battery_lasts_as_much_longer_as_with_a_cipher_of_no_cost(
    sleep: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {"device.sleep": sleep, "choices.ciphers": ["chacha20-poly1305"], "flow[0].every": "30s"}
    before = answered(changes)
    best = before.choices[before.best.number]

    # Cycles stay: by them the best code is chosen.
    real = CipherCost.of
    monkeypatch.setattr(CipherCost, "of", lambda cost, what, B: real(cost, what, B) if what == "cycles" else 0.0)
    after = answered(changes)
    promised = gained(lives(before, best), lives(after, best))
    assert before.freed[0].percent == pytest.approx(promised, abs=0.005, rel=0.01)
    # What goes by itself goes all the same: by the shares of the load alone it would be more.
    load_ = before.loads[before.best.number]
    share = load_.group_W("cipher") / load_.total_W
    assert before.shares(before.best.number)["self-discharge"] > 0.3
    assert 0 < promised < 0.9 * 100 * share / (1 - share)


def test_compressing_pays_up_to_the_joules_it_says(described: Advice) -> None:
    saving = tried(described, "compress")
    spare = re.search(r"less than ([\d.e-]+) uJ a byte", saving.finding)
    assert spare
    half = answered({"flow[0].message": "32B"})
    start = usual(described)
    watts = [
        next(load for one, load in zip(of.choices, of.loads, strict=True) if one == start).total_W
        for of in (described, half)
    ]
    # 64 octets a second that are compressed first.
    assert watts[1] + float(spare[1]) * 1e-6 * 64 == pytest.approx(watts[0], rel=2e-3)


def test_lower_voltages_promise_what_the_card_at_that_voltage_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    from wattlock.energy import device_cards

    tables: dict[str, Any] = {
        "flow": BASE["flow"],
        "device": {"card": "cortex-a53-rk3399", "sleep": "1mW"},
        "radio": {"card": "nrf52840-ble"},
        "supply": {"stage": "direct"},
    }

    def question() -> Advice:
        return advise(checked("rerun", tables), allow_assumed=True, today=TODAY)

    before = question()
    saving = tried(before, "scale")
    own = device_cards.load("cortex-a53-rk3399")
    points, volts = own.card.operating_points, own.card.voltage
    assert points
    assert volts
    slow = own.card.model_copy(update={"voltage": volts.model_copy(update={"value": points.at[0].voltage_V})})
    monkeypatch.setattr("wattlock.advise.pricing.device_cards.load", lambda *_: own._replace(card=slow))
    after = question()
    assert saving.gain is not None
    assert saving.gain.percent == pytest.approx(
        gained(lives(before, usual(before)), lives(after, usual(before))), abs=0.01, rel=0.02
    )


def test_what_the_papers_advice_would_save_is_what_its_cipher_gives_where_it_is_ranked() -> None:
    described = advise(load("tracker"), allow_assumed=True, today=TODAY)
    blowfish = next(one for one in described.history if one.cipher.startswith("blowfish"))
    # 12 octets are two blocks of 8, behind an IV of 8.
    assert blowfish.at_most
    assert blowfish.days == pytest.approx(_with_octets(described, 24), rel=1e-6)


def _with_octets(described: Advice, sealed_B: int) -> float:
    """Days of a load whose packet has so many octets above the link and whose cipher is free."""
    from wattlock.advise import days

    choice = next(one for one in described.choices if one.framing == "full-nonce")
    bare = choice._replace(cost=free("none"), tag_bits=0, framing="implicit-nonce")
    plain_B = next(size for size in range(1, sealed_B + 1) if bare.sealed(size).wire_B == sealed_B)
    flow = described.question.flow[0].model_copy(update={"message": plain_B})
    question = described.question.model_copy(update={"flow": [flow]})
    sender = described.inputs.sender
    spent = sender.evaluate(days.needed(question, [bare], sender), None)
    load_ = days.load(question, bare, sender, described.inputs.draws, spent)
    return float(np.median(days.seconds([load_], described.monte_carlo, described.inputs.battery))) / days.DAY_s
