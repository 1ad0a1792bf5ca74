"""Ways to spend less, worked by hand: budgets, flips, policies, hardware, waiting, and when two answers are one."""

import math
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.advice import BASE, ask
from wattlock.advise import Advice, checked, experiments, pricing
from wattlock.advise import answer as unused_keys
from wattlock.advise.choices import Choice
from wattlock.advise.days import DAY_s, Load
from wattlock.advise.experiments import usual
from wattlock.advise.question import Question
from wattlock.advise.rank import Excluded, Gain
from wattlock.advise.sending import Sender
from wattlock.energy import radio_cards
from wattlock.security import Cited


@pytest.fixture(scope="module")
def answer() -> Advice:
    return ask()


def said(found: list[experiments.Experiment]) -> str:
    (saving,) = found
    return saving.finding


@pytest.mark.parametrize(("tag_bits", "least_B"), [(64, 89), (65, 90), (128, 97)])
def test_a_budget_is_the_octets_that_each_designs_standard_puts_around_a_message(
    tag_bits: int, least_B: int, answer: Advice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiments, "RADIOS", ())
    floor = answer.question.floor.model_copy(update={"tag": tag_bits})
    of = replace(answer, question=answer.question.model_copy(update={"floor": floor}))
    found = experiments.budgets(of, None)
    # BLE puts 17 octets around a payload and, where it encrypts, 4 of MIC more. A message of 64 octets is 65 inside
    # of DTLS 1.3 behind 3, 64 behind 13 and 8 in DTLS 1.2, 64 behind 16 in WireGuard; each has a tag of 16 behind it.
    octets_B = [least_B, 64 + 21, 13 + 8 + 64 + 16 + 21, 3 + 65 + 16 + 21, 16 + 64 + 16 + 21]
    assert [one.octets_B for one in found] == octets_B
    assert [one.link for one in found] == ["none", "ccm", "ccm", "ccm", "ccm"]
    assert {one.radio for one in found} == {"nrf52840-ble"}
    over = [100 * (one.energy_uJ / found[0].energy_uJ - 1) for one in found]
    assert [one.over_percent for one in found] == pytest.approx(over)
    # At 1 Mb/s an octet takes 8 us of sending more, all else alike: T_IFS and the answer come once.
    card = radio_cards.load("nrf52840-ble").card
    sent = card.sending(1.0)
    assert sent
    rest_W = card.power_W(card.sleep) if card.sleep else 0.0
    octet_uJ = 8 * (card.power_W(sent) - rest_W)
    assert found[2].energy_uJ - found[1].energy_uJ == pytest.approx(octet_uJ * (octets_B[2] - octets_B[1]))


def test_a_budget_is_of_what_a_message_draws_beside_the_radios_rest(
    answer: Advice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiments, "RADIOS", ())

    def budgets(radio: dict[str, Any]) -> list[experiments.Budget]:
        question = checked("rest", BASE | {"radio": {"card": "nrf52840-ble"} | radio})
        sender = Sender(radio_cards.load("nrf52840-ble"), question.radio)
        return experiments.budgets(
            replace(answer, question=question, inputs=replace(answer.inputs, sender=sender)), None
        )

    off, asleep = budgets({"rest": "off"}), budgets({"rest": "sleep", "sleep": "1mW"})
    # 64 octets, a tag of 8 and 17 around them at 1 Mb/s, an empty PDU of 10 back, and T_IFS of 150 us twice.
    busy_s = 8e-6 * (64 + 8 + 17 + 10) + 300e-6
    assert off[0].energy_uJ - asleep[0].energy_uJ == pytest.approx(1e-3 * busy_s * 1e6)


@pytest.mark.parametrize(("message", "sizes_B"), [("300B", [122, 61]), ("64B", [46]), ("20B", None)])
def test_pieces_are_halves_quarters_and_eighths_of_a_packet_that_leave_room_for_eight_octets(
    message: str, sizes_B: list[int] | None, answer: Advice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiments, "_found", lambda name, way, *of: experiments._not(name, way, "; ".join(of[-1])))
    of = replace(answer, question=checked("cut", BASE | {"flow": [{"message": message, "every": "1s"}]}))
    start = usual(answer)
    assert (start.around_B, of.inputs.sender.packet_B) == (29, 244)
    (found,) = experiments._fragment(experiments.ExperimentInputs(of, start, None))
    if sizes_B is None:
        assert found.finding == "messages are too short to be cut"
    else:
        assert [int(described.split()[4]) for described in found.finding.split("; ")] == sizes_B


def test_another_cipher_is_tried_in_the_same_framing_and_way_and_never_a_weaker_one(
    answer: Advice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiments, "_found", lambda *of: experiments._not("", "", repr([one for _, one in of[3]])))
    start = usual(answer)
    other = next(one for one in answer.choices if one.cipher == "ascon-aead128" and one.tag_bits == 128)
    like = start._replace(row=other.row, security=other.security, cost=other.cost)
    unlike = [
        start,
        like._replace(framing="implicit-nonce"),
        like._replace(aggregate=2),
        like._replace(tag_bits=64),
        like._replace(security=replace(like.security, strength_bits=like.security.strength_bits - 0.1)),
    ]
    (found,) = experiments._replace(experiments.ExperimentInputs(replace(answer, choices=[*unlike, like]), start, None))
    assert found.finding == repr([like])
    (none,) = experiments._replace(experiments.ExperimentInputs(replace(answer, choices=unlike), start, None))
    assert none.finding == "no other cipher of equal strength passes the floor"


def test_what_security_excludes_is_as_near_as_its_octets_fit_a_packet() -> None:
    described = ask({"floor.approved": "nist", "choices.packet": "24B"}, flow=[{"message": "4B", "every": "1s"}])
    over = {one.choice.label: one.over for one in described.excluded}
    assert over["chacha20-poly1305, implicit-nonce"] == 1.0
    long_ = next(one for one in described.excluded if one.over > 1)
    assert long_.over == pytest.approx((long_.choice.around_B + 1) / 24)


def test_a_flip_is_looked_for_in_the_question_that_it_names(answer: Advice, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Question] = []
    monkeypatch.setattr(experiments, "_winner", lambda _, question, *__: seen.append(question))
    sizes = checked("several", BASE | {"flow": [{"sizes": [[10, 3], [40, 1]], "every": "10s"}]})
    found = {flip.variable: flip for flip in experiments.sensitivity(answer, None)}
    points = {name: flip.looked_at.split(", ") for name, flip in found.items() if name != "battery"}
    assert all(flip.at is None for flip in found.values())
    messages, rates, errors = (seen[start:stop] for start, stop in ((0, 8), (8, 14), (14, 19)))
    assert [f"{question.flow[0].message} B" for question in messages] == points["message"]
    assert sorted(question.flow[0].message or 0 for question in messages) == [4, 8, 16, 32, 128, 256, 512, 1024]
    assert sorted(question.flow[0].every for question in rates) == pytest.approx([1e-3, 1e-2, 0.1, 10, 100, 1000])
    assert [f"{question.radio.bit_errors:g}" for question in errors] == points["bit errors"]
    seen.clear()
    experiments.sensitivity(replace(answer, question=sizes), None)
    assert [question.flow[0].sizes for question in seen[:2]] == [[[5, 3], [20, 1]], [[20, 3], [80, 1]]]
    assert {question.flow[0].message for question in seen[:8]} == {None}


def test_a_policy_looks_for_the_cheapest_at_a_hundred_octets_too_where_the_papers_switch(
    answer: Advice, monkeypatch: pytest.MonkeyPatch
) -> None:
    each = {one.cipher: one for one in answer.choices}
    flat, rising = each["aes128-ccm"], each["ascon-aead128"]

    def loads(_: Any, variants: list[tuple[Question, Choice]], __: Any) -> list[Any]:
        return [
            SimpleNamespace(total_W=99.5 if choice is flat else question.flow[0].message)
            for question, choice in variants
        ]

    monkeypatch.setattr(experiments, "loads", loads)
    assert experiments._switches(answer, [flat, rising], None) == [(1, "ascon-aead128"), (100, "aes128-ccm")]
    assert experiments._switches(answer, [flat], None) == [(1, "aes128-ccm")]


def test_hardware_is_tried_in_the_framing_and_with_the_tag_that_the_experiment_starts_from() -> None:
    described = ask({"choices.framings": ["implicit-nonce", "full-nonce", "dtls13"]})
    start = usual(described)
    assert (start.framing, start.tag_bits) == ("full-nonce", 128)
    (saving,) = experiments.experiments(described, None, "accelerate")
    (number,) = [
        number
        for number, one in enumerate(described.choices)
        if one.cost.accelerator
        and (one.cipher, one.framing, one.tag_bits) == (start.cipher, start.framing, start.tag_bits)
    ]
    assert saving.after_days == pytest.approx(float(np.median(described.life_s[number])) / DAY_s)


def test_an_experiment_counts_from_the_days_of_the_choice_that_it_starts_from(answer: Advice) -> None:
    slow = {"device": {"card": "cortex-a53-rk3399", "sleep": "1mW"}, "radio": {"card": "nrf52840-ble"}}
    tried = 0
    for of in (answer, ask(allow_assumed=True, **slow)):
        days = float(np.median(of.life_s[of.choices.index(usual(of))])) / DAY_s
        for saving in experiments.experiments(of, None):
            if saving.gain is None or saving.name == "hybrid":
                continue
            tried += 1
            assert saving.before_days == pytest.approx(days), saving.name
            assert saving.after_days == pytest.approx(days * (1 + saving.gain.percent / 100), rel=5e-3), saving.name
    assert tried >= 12


@pytest.mark.parametrize(
    ("drawn_W", "idle_W", "described"),
    [
        ((5e-6, 2e-6), None, "it saves 3 uW over code at this rate, which is the most that it may draw while it waits"),
        (
            (5e-6, 2e-6),
            6e-6,
            "it saves 3 uW over code at this rate and draws 6 uW while it waits: it pays from 2 times",
        ),
        ((5e-6, 2e-6), 1.5e-6, "it pays from 0.5 times this rate on"),
        ((2e-6, 5e-6), None, "it takes 3 uW more than code at this rate"),
        ((2e-6, 5e-6), 6e-6, "it takes 3 uW more than code at this rate, and waiting it draws 6 uW on top"),
        ((2e-6, 2e-6), 6e-6, "it takes 0 uW more than code at this rate, and waiting it draws 6 uW on top"),
    ],
)
def test_a_block_of_hardware_pays_from_the_rate_on_at_which_it_saves_what_it_draws_waiting(
    drawn_W: tuple[float, float], idle_W: float | None, described: str, answer: Advice, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_code_and_block = [SimpleNamespace(group_W=lambda _, watts=watts: watts) for watts in drawn_W]
    monkeypatch.setattr(experiments, "loads", lambda *_: by_code_and_block)
    device = answer.question.device.model_copy(update={"accelerator_idle": idle_W})
    of = replace(answer, question=answer.question.model_copy(update={"device": device}))
    start = usual(answer)
    assert described in experiments._idle(experiments.ExperimentInputs(of, start, None), start, start.cost)


@pytest.mark.parametrize(
    ("ciphers", "taken"),
    [
        (["aes128-aaa", "aes128-ccm", "aes128-gcm"], "aes128-ccm"),
        (["aes128-gcm", "chacha20-poly1305"], "aes128-gcm"),
        (["aes128-aaa"], "aes128-aaa"),
    ],
)
def test_hardware_for_the_cipher_in_use_is_tried_before_that_for_another(
    ciphers: list[str], taken: str, answer: Advice, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = usual(answer)
    assert start.cipher == "aes128-ccm"
    block = start.cost._replace(accelerator=True)
    of = replace(answer, choices=[start._replace(cost=block._replace(cipher=cipher)) for cipher in ciphers])
    monkeypatch.setattr(experiments, "_found", lambda name, way, *of: experiments._not(name, way, of[-2][0][1].cipher))
    monkeypatch.setattr(experiments, "_idle", lambda *_: "")
    (found,) = experiments._accelerate(experiments.ExperimentInputs(of, start, None))
    assert found.finding == taken


@pytest.mark.parametrize(
    ("days", "charge", "described"),
    [
        (5.0, 5.0, ""),
        (-5.0, -5.0, ""),
        (1.0, 1.0, ""),
        (0.993, 0.993, "; too little to matter"),
        (-0.993, 0.0, "; too little to matter"),
        (0.0, 1.0, "; its charge alone would last 1 % longer, but the battery's shelf life ends it"),
        (0.0, 25.0, "; its charge alone would last 25 % longer, but the battery's shelf life ends it"),
        (0.0, 0.56, "; its charge alone would last 0.56 % longer, but the battery's shelf life ends it"),
        (0.0, -0.34, "; its charge alone would last 0.34 % less long, but the battery's shelf life ends it"),
        (0.0, 0.04, "; too little to matter"),
    ],
)
def test_a_gain_below_a_percent_is_called_too_little_unless_the_shelf_life_hides_it(
    days: float, charge: float, described: str, answer: Advice, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = usual(answer)
    monkeypatch.setattr(
        experiments.ExperimentInputs, "best", lambda *_: (1, 10.0, 11.0, Gain(days, days, days), charge)
    )
    bench = experiments.ExperimentInputs(answer, start, None)
    found = experiments._found("name", "way", bench, [(answer.question, start)] * 2, ["first", "second"])
    assert found == experiments.Experiment("name", "way", 10.0, 11.0, Gain(days, days, days), f"second{described}")


def test_the_best_of_variants_is_that_whose_charge_lasts_longest_against_where_it_starts(
    answer: Advice, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = usual(answer)
    ends_s = np.array([[100.0, 200.0, 300.0], [110.0, 210.0, 310.0], [150.0, 300.0, 450.0], [90.0, 190.0, 290.0]])
    monkeypatch.setattr(experiments, "loads", lambda *_: None)
    monkeypatch.setattr(experiments, "charges", lambda *_: ends_s * DAY_s)
    # A shelf life of 250 days ends the longer two of them.
    monkeypatch.setattr(experiments, "given_up", lambda charge_s, _: np.minimum(charge_s, 250 * DAY_s))
    number, before, after, by, charge = experiments.ExperimentInputs(answer, start, None).best(
        [(answer.question, start)] * 3
    )
    assert number == 1
    assert (before, after) == pytest.approx((200, 250))
    assert by.percent == pytest.approx(25), "50, 25 and 0 % in the three draws"
    assert charge == pytest.approx(50)


def test_every_key_that_was_set_is_asked_about_but_what_an_answer_cannot_be_without() -> None:
    tables: dict[str, Any] = BASE | {
        "title": "mine",
        "note": "of mine",
        "seed": 7,
        "decrypt_share": 0.5,
        "session": {"every": "1h", "sent": "1B", "received": "1B", "computing": "1ms"},
        "radio": {"card": "nrf52840-ble", "link": {"phy": "2M", "att_mtu_B": 100}, "bit_errors": 1e-5},
    }
    question = checked("set", tables, {"device.sleep": "7uA", "device.accelerator": False, "floor.tag": 128})
    variants = dict(unused_keys._without(question))
    assert sorted(variants) == [
        "decrypt_share",
        "device.accelerator",
        "device.sleep",
        "floor.tag",
        "radio.bit_errors",
        "radio.card",
        "radio.link.att_mtu_B",
        "radio.link.phy",
        "session",
        "session.computing",
    ]
    assert variants["decrypt_share"].decrypt_share == 0.0
    assert variants["session"].session is None
    assert variants["floor.tag"].floor.tag == 64
    assert variants["radio.link.phy"].radio.link == {"att_mtu_B": 100}
    assert variants["device.sleep"].device.currents_A == {}
    assert all(other.flow == question.flow for other in variants.values())


def test_costs_are_shown_for_the_first_size_of_the_first_flow() -> None:
    flows = [{"sizes": [[16, 1], [99, 2]], "every": "1s"}, {"message": "7B", "every": "1s"}]
    assert pricing.shown(checked("sizes", BASE | {"flow": flows})) == (16, 1.0, False)


def test_a_message_that_is_asked_for_first_costs_what_one_of_eight_octets_does(answer: Advice) -> None:
    small = ask(flow=[{"message": "8B", "every": "1s"}])
    heavy, light = (of.loads[of.choices.index(usual(of))].group_W("radio") for of in (answer, small))
    described = said(experiments.experiments(answer, None, "probe"))
    share = re.match(r"8 octets asked first cost ([\d.]+) % of a message of 64", described)
    assert share
    assert float(share[1]) == pytest.approx(100 * light / heavy, abs=0.06)
    received = ask(flow=[{"message": "64B", "every": "1s", "direction": "receive"}])
    assert said(experiments.experiments(received, None, "probe")) == "nothing is sent"


def test_a_resumption_saves_the_octets_that_its_handshake_has_more() -> None:
    session = {"every": "1h", "sent": "300B", "received": "400B", "resumption": {"sent": "90B", "received": "80B"}}
    described = ask({"session": session})
    assert said(experiments.experiments(described, None, "resume")).startswith("530 octets less for each session")


@pytest.mark.parametrize(
    ("latency", "many"), [(None, [2, 4, 8, 16]), ("3s", [2]), ("3.01s", [2, 4]), ("1s", None), ("16s", [2, 4, 8, 16])]
)
def test_messages_wait_for_each_other_while_the_first_is_still_in_time(
    latency: str | None, many: list[int] | None, answer: Advice, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor = {"floor.latency": latency} if latency else {}
    bench = experiments.ExperimentInputs(replace(answer, question=checked("late", BASE, floor)), usual(answer), None)
    monkeypatch.setattr(experiments, "_found", lambda name, way, *of: experiments._not(name, way, "; ".join(of[-1])))
    (found,) = experiments._aggregate(bench)
    if many is None:
        assert "leaves no time to wait for a second message" in found.finding
    else:
        assert [int(described.split()[0]) for described in found.finding.split("; ")] == many


def like(answer: Advice, **changes: Any) -> Advice:
    return replace(answer, **changes)


def test_answers_are_the_same_only_with_the_same_choices_reasons_lives_times_and_grounds(answer: Advice) -> None:
    def slower(load: Load, by_s: float) -> Load:
        return load._replace(latency_s=load.latency_s + by_s)

    assert unused_keys._same(answer, like(answer))
    out = answer.excluded or [Excluded(answer.choices[0], [])]
    doubted = [out[0]._replace(reasons=[Cited("tag", "it is short", "a book", "", True)]), *out[1:]]
    grounds = replace(answer.inputs, assumed=[*answer.inputs.assumed, "and more"])
    others = [
        like(answer, choices=answer.choices[:-1]),
        like(answer, excluded=doubted),
        like(answer, loads=[slower(answer.loads[0], 1e-9), *answer.loads[1:]]),
        like(answer, life_s=answer.life_s * 1.001),
        like(answer, charge_s=answer.charge_s * 1.001),
        like(answer, inputs=grounds),
    ]
    assert [unused_keys._same(answer, other) for other in others] == [False] * 6
    assert [unused_keys._same(other, answer) for other in others] == [False] * 6
    nobody_knows = like(answer, loads=[slower(load, math.nan) for load in answer.loads])
    assert unused_keys._same(nobody_knows, like(nobody_knows)), "a time that is not known is no difference"
    assert not unused_keys._same(nobody_knows, answer)
