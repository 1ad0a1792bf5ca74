"""What the answer says: what ends the battery, packets, the link, the papers' advice, in sentences and tables."""

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from support.advice import BASE, TODAY, ask
from wattlock import cli
from wattlock.advise import Advice, advise, checked, experiments, load, prose, record
from wattlock.advise.days import DAY_s, Stage
from wattlock.advise.experiments import usual
from wattlock.advise.inputs import Past
from wattlock.energy.number import YEAR_s
from wattlock.errors import InputError
from wattlock.papers.literature import claims


@pytest.fixture(scope="module")
def answer() -> Advice:
    return ask()


def test_a_shelf_life_that_ends_it_is_told_as_the_days_and_ties_all_that_reach_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    described = advise(load("firmware-update"), allow_assumed=True, today=TODAY)
    shelf_s = described.monte_carlo.batteries.shelf_life_s
    assert np.all(described.life_s <= shelf_s)
    assert described.best.shelf > 0.9
    assert described.best.charge_s > 3 * described.best.seconds
    assert len(described.tied) == len(described.choices), "every charge outlives the battery"
    assert described.best.number == min(range(len(described.loads)), key=lambda one: described.loads[one].total_W)
    assert "battery shelf life" in {one.number for one in described.information}
    said = prose.lead(described)
    assert "shelf life" in " ".join(said)
    assert prose.days(described.best.seconds) in said[0]
    assert prose.rows(described, 1)[0]["by charge alone"] == prose.days(described.best.charge_s)
    assert cli.answer(["advise", "firmware-update", "--allow-assumed", "--format", "json"]) == 0
    first = json.loads(capsys.readouterr().out)["ranked"][0]
    assert first["days"] < 10 * 366 < first["charge_days"]
    assert first["shelf_share"] == pytest.approx(described.best.shelf)


def test_a_battery_that_its_load_empties_has_no_word_on_its_shelf_life(answer: Advice) -> None:
    assert answer.best.shelf == 0
    assert "shelf" not in " ".join(prose.lead(answer))
    assert "by charge alone" not in prose.rows(answer, 1)[0]


def test_a_message_of_several_packets_says_how_many_and_who_cuts_it() -> None:
    tables: dict[str, Any] = {"flow": [{"message": "300B", "every": "1h"}]}
    described = ask({"radio.card": "sx1262-lora"}, **tables)
    assert described.ranked["packets"][0] == 2
    assert prose.rows(described, 1)[0]["packets"] == "2"
    (note,) = (one for one in prose.notes(described) if "packets" in one)
    assert "242 octets at data rate 5 of EU868" in note
    assert "LoRaWAN cuts no message itself" in note
    whole = ask({"radio.card": "sx1262-lora"}, flow=[{"message": "30B", "every": "1h"}])
    assert set(whole.ranked["packets"]) == {1}


def test_a_choice_without_room_in_the_radios_packet_is_excluded_by_its_octets() -> None:
    changes = {"radio.card": "sx1262-lora", "radio.link": {"region": "US915", "data_rate": 0}}
    described = ask(changes, flow=[{"message": "12B", "every": "10min"}])
    assert {choice.tag_bits for choice in described.choices} == {64}
    reasons = {one.choice.label: one.reasons[-1] for one in described.excluded}
    assert reasons["aes128-gcm, full-nonce"].about == "packet"
    assert "28 octets around a message leave no room in a packet of 11" in reasons["aes128-gcm, full-nonce"].says


def test_the_links_own_encryption_is_told_in_words_and_shows_in_labels_where_it_is_not_usual() -> None:
    described = ask({"radio.card": "nrf52840-802154"})
    assert any(
        "security level 5 of IEEE 802.15.4: encryption with a tag of 32 bits" in one for one in prose.notes(described)
    )
    both = ask({"radio.protection": ["ccm", "none"]})
    labels = {choice.label for choice in both.choices if choice.protection == "none"}
    assert all("link: none" in label for label in labels)
    assert len({(one.label, one.provider) for one in both.choices}) == len(both.choices)


@pytest.mark.parametrize(
    ("saves", "said"),
    [
        ((2.2, 1.1, 3.3), "save 2.2 % of the days (1.1 to 3.3)"),
        ((-0.15, -0.68, -0.023), "cost 0.15 % of the days (0.023 to 0.68)"),
        ((-0.1, -0.66, 0.61), "cost 0.1 % of the days (from a saving of 0.61 to a cost of 0.66)"),
        ((0.0, -0.01, 0.02), "change the days by less than 0.1 %"),
    ],
)
def test_what_advice_of_old_would_change_is_said_without_signs(saves: tuple[float, float, float], said: str) -> None:
    past = Past("rc4-128", "The advice", 1.0, *saves, at_most=True, not_done="rc4-128 is broken")
    (sentence,) = prose.history([past])
    assert said in sentence
    assert "taken as free" in sentence


def test_the_papers_advice_is_told_as_the_papers_data_has_it(answer: Advice) -> None:
    claim = next(one for one in claims() if one.id == "advice-blowfish-rc6")
    assert all(claim.says in past.advice for past in answer.history)
    (once,) = prose.history(answer.history)
    assert once.count(claim.says) == 1


def test_an_advertisement_has_no_protection_of_its_own_and_a_long_tag_needs_a_second_one() -> None:
    described = advise(load("beacon"), allow_assumed=True, today=TODAY)
    assert {choice.protection for choice in described.choices} == {"open"}
    packets = {choice.label: load.packets for choice, load in zip(described.choices, described.loads, strict=True)}
    assert packets["ascon-aead128, tag 64, broadcast"] == 1
    assert packets["ascon-aead128, broadcast"] == 2
    assert not any("link encrypts too" in one for one in prose.notes(described))
    with pytest.raises(InputError, match=r"no \"ccm\""):
        advise(load("beacon", {"radio.protection": ["ccm"]}), allow_assumed=True)
    with pytest.raises(InputError, match="nothing comes back"):
        advise(load("beacon", {"flow[0].direction": "receive"}), allow_assumed=True)
    with pytest.raises(InputError, match="links that send again"):
        advise(load("beacon", {"radio.bit_errors": 1e-5}), allow_assumed=True)


def test_the_strongest_of_equals_is_one_whose_link_protects_too() -> None:
    tables: dict[str, Any] = {"flow": [{"message": "40B", "every": "1h"}]}
    described = ask({"radio.protection": ["none", "ccm"], "device.sleep": "90uW"}, **tables)
    assert {choice.protection for choice in described.tied} == {"none", "ccm"}
    assert described.strongest.protection == "ccm"


def test_a_question_without_a_title_is_called_by_its_traffic_and_a_short_life_is_told_in_hours(answer: Advice) -> None:
    assert prose.title(answer.question) == "A device that sends 64 B every 1 s"
    assert prose.title(load("voice")) == "A voice call over Wi-Fi"
    assert "days of battery" in prose.lead(answer)[0]
    assert "hours of battery" in prose.lead(advise(load("voice"), allow_assumed=True))[0]


def test_association_listens_for_its_share_of_the_time_and_a_keep_alive_may_carry_a_sealed_message() -> None:
    question = {"every": "10min", "time": "2s"}
    described = ask({"association": question, "connection.clock_ppm": 0, "device.sleep": "10uW"})
    radio = described.inputs.sender.radio.card
    listening_W = radio.power_W(described.inputs.sender.number("rx"))
    assert described.loads[0].group_W("upkeep") == pytest.approx(listening_W * 2 / 600)
    radio_ = {"card": "nrf52840-802154"}
    bare, sealed = (
        ask({"keep_alive": {"every": "30s", "message": size}, "device.sleep": "10uW"}, radio=radio_)
        .loads[0]
        .group_W("upkeep")
        for size in ("0B", "20B")
    )
    assert sealed > bare > 0


def test_experiments_are_told_from_where_they_start_with_gains_in_percent(
    answer: Advice, capsys: pytest.CaptureFixture[str]
) -> None:
    found = experiments.experiments(answer, None, "headers")
    rows = prose.described("experiments", [experiments.row(one) for one in found])
    assert re.fullmatch(r"[\d.]+ %", rows[0]["gain"])
    assert re.fullmatch(r"[\d.]+ to [\d.]+ %", rows[0]["95 %"])
    (none,) = prose.described(
        "experiments", [experiments.row(one) for one in experiments.experiments(answer, None, "resume")]
    )
    assert none["gain"] == none["95 %"] == ""
    question = ["advise", "--message", "64B", "--every", "1s", "--device", "nrf52840", "--try", "headers"]
    assert cli.answer(question) == 0
    assert f"from the usual choice: {prose.named(usual(answer))}" in capsys.readouterr().out


def test_a_record_says_how_many_choices_its_table_leaves_out(answer: Advice) -> None:
    (found,) = (one for one in record.sections(answer, {}, "wattlock advise") if one.title == "All choices")
    assert len(found.rows) == record.ALTERNATIVES < len(answer.places)
    few = replace(answer, places=answer.places[:3])
    (short,) = (one for one in record.sections(few, {}, "wattlock advise") if one.title == "All choices")
    assert not any("more" in one for one in short.sentences), "all of them are there"
    assert found.sentences[-1].startswith(
        f"These are the first {record.ALTERNATIVES}; {len(answer.places) - record.ALTERNATIVES} more"
    )


def test_what_rounds_to_a_thousand_is_written_as_a_thousand() -> None:
    described = [prose.days(number * DAY_s) for number in (999.4, 999.7, 1234.0, 12_345.0)]
    assert described == ["999", "1,000", "1,230", "12,300"]
    assert [record._number(value) for value in (999.4, -999.7, 1234.5)] == ["999", "-1,000", "1,234"]


def test_a_record_states_each_part_of_its_floor_and_no_other(answer: Advice) -> None:
    def stated(floor: dict[str, Any]) -> dict[str, str]:
        question = checked("floor", BASE | {"floor": floor})
        parts = record.sections(replace(answer, question=question), {}, "wattlock advise")
        (found,) = (one.facts for one in parts if one.title == "Context")
        return dict(found[len(record._question(answer)) :])

    assert stated({}) == {"Strength": "128 bits at least", "Authenticated": "yes", "Tag": "64 bits at least"}
    whole = {"strength": 192, "authenticated": False, "tag": 96, "approved": "nist"}
    whole |= {"lifetime": "10y", "latency": "50ms", "memory": "1kB"}
    assert stated(whole) == {
        "Strength": "192 bits at least",
        "Authenticated": "not asked",
        "Tag": "96 bits at least",
        "Approved by": "NIST",
        "Data stays secret for": "10 y",
        "Latency at most": "50 ms",
        "Memory at most": "1000 B",
    }


def test_a_record_states_each_part_of_its_traffic_and_of_what_keeps_the_link(answer: Advice) -> None:
    def stated(tables: dict[str, Any]) -> dict[str, str]:
        question = checked("traffic", BASE | tables)
        parts = record.sections(replace(answer, question=question), {}, "wattlock advise")
        (found,) = (one.facts for one in parts if one.title == "Context")
        return dict(found[: -len(record._required(replace(answer, question=question)))])

    common = {"Traffic", "Device", "Radio", "Battery", "Asleep"}
    plain = stated({})
    assert set(plain) == common
    assert plain["Traffic"] == "messages: 64 B every 1 s, sent"
    assert plain["Radio"] == "nrf52840-ble, off between messages"
    assert plain["Battery"] == "lipo-1000, by the linear model"
    flow = [
        {"name": "frames", "sizes": [[16, 3], [1000, 1]], "every": "10s"},
        {"name": "orders", "message": "9B", "every": "1h", "direction": "receive"},
    ]
    session = {"every": "2h", "sent": "300B", "received": "400B"}
    more = {"session": session, "keep_alive": {"every": "30s"}, "association": {"every": "10min", "time": "2s"}}
    whole = stated({"flow": flow, "wake_up": {"time": "5ms"}, "source": "a book", **more})
    assert whole["Traffic"] == "frames: 3 x 16 B + 1 x 1000 B every 10 s, sent; orders: 9 B every 1 h, received"
    assert {name: value for name, value in whole.items() if name not in common} == {
        "Session": "300 B sent, 400 B received, every 2 h",
        "Keep-alive": "every 30 s",
        "Association": "2 s every 10 min",
        "Wake-up": "5 ms",
        "Conditions by": "a book",
    }


def test_a_record_cites_every_statement_on_each_cipher_of_its_table_once(answer: Advice) -> None:
    parts = record.sections(answer, {}, "wattlock advise")
    (found,) = (one.rows for one in parts if one.title == "Sources on security")
    shown = [answer.choices[place.number] for place in answer.places[: record.ALTERNATIVES]]
    said = {(one.cipher, of.says): of for one in shown for of in one.security.statements}
    assert [(row["cipher"], row["says"]) for row in found] == list(said)
    for row, of in zip(found, said.values(), strict=True):
        assert (row["about"], row["read"]) == (of.about, "yes" if of.read else "cited")
        assert row["source"] == record.linked(of.source, of.url)


def test_a_table_shows_how_far_behind_each_is_and_packets_where_one_takes_several(answer: Advice) -> None:
    places = [
        answer.places[0]._replace(behind=-1e-17),
        answer.places[1]._replace(behind=0.0004),
        answer.places[2]._replace(behind=0.25),
        answer.places[3]._replace(behind=1.5),
    ]
    whole = replace(answer, places=places, loads=[load_._replace(packets=1.0) for load_ in answer.loads])
    assert [row["behind"] for row in prose.rows(whole, 4)] == ["0.0 %", "<0.1 %", "25.0 %", "150.0 %"]
    assert not any("packets" in row for row in prose.rows(whole, 4))
    loads = list(whole.loads)
    for place, packets in zip(places, (1.0, 2.25, 999.7, 1200.0), strict=True):
        loads[place.number] = loads[place.number]._replace(packets=packets)
    several = prose.rows(replace(whole, loads=loads), 4)
    assert [row["packets"] for row in several] == ["1", "2.25", "1,000", "1,200"]


def test_a_record_asks_first_for_the_measurement_that_narrows_most(answer: Advice) -> None:
    (found,) = (one for one in record.sections(answer, {}, "x") if one.title == "What would narrow the answer")
    most = max(answer.information, key=lambda one: one.narrower)
    assert found.sentences == [f"Measure first: {prose.narrower(most)}."]
    assert most.number == "sleep"


@pytest.mark.parametrize(
    ("shelf", "years", "said"),
    [
        (0.0, 5, ""),
        (0.0, 11, "That is more than ten years, and the battery's card says no shelf life"),
        (0.025, 5, ""),
        (0.03, 5, "In 3 % of the samples drawn the battery's shelf life ends it before its charge does."),
        (0.03, 11, "In 3 % of the samples drawn the battery's shelf life ends it before its charge does."),
        (0.5, 5, "What ends it in 50 % of the samples drawn is the battery's shelf life, 9 years in the median"),
        (0.975, 5, "What ends it in 98 % of the samples drawn is the battery's shelf life, 9 years in the median"),
        (0.98, 5, "What ends it is the battery's shelf life, 9 years in the median"),
    ],
)
def test_what_ends_a_battery_is_said_by_how_often_its_shelf_life_does(
    shelf: float, years: int, said: str, answer: Advice
) -> None:
    first = answer.places[0]._replace(shelf=shelf, seconds=years * YEAR_s, charge_s=99 * DAY_s)
    batteries = answer.monte_carlo.batteries._replace(shelf_life_s=np.full(3, 9 * YEAR_s))
    of = replace(
        answer, places=[first, *answer.places[1:]], monte_carlo=answer.monte_carlo._replace(batteries=batteries)
    )
    described = list(prose._ends(of))
    assert len(described) == bool(said)
    assert all(one.startswith(said) for one in described)
    assert ("its charge alone would last 99 days" in "".join(described)) == (shelf >= 0.5)


def test_where_the_energy_goes_names_the_four_of_every_device_and_others_that_a_tenth_of_a_percent_shows(
    answer: Advice, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = {"cipher": 0.0, "radio": 0.5, "handshake": 0.0, "upkeep": 0.0004, "wake-up": 0.0005}
    shares |= {"idle": 0.4, "supply": 0.0991, "self-discharge": 0.0}
    monkeypatch.setattr(Advice, "shares", lambda *_: shares)
    assert prose.lead(answer)[-1] == (
        f"Of the energy with {answer.choices[answer.best.number].label}: the cipher 0.0 %, "
        "the radio's messages 50.0 %, handshakes 0.0 %, wake-ups 0.1 %, "
        "sleep and idling 40.0 %, the supply stage 9.9 %."
    )


def test_an_experiment_is_shown_with_days_and_percent_and_one_without_a_gain_with_neither() -> None:
    row: dict[str, Any] = {"experiment": "headers", "way": "modify the protocol", "finding": "a counter"}
    known = {"before_days": 1234.0, "after_days": 1300.4, "gain_percent": 5.38}
    known |= {"gain_low_percent": 0.04, "gain_high_percent": 123.4}
    assert prose.described("experiments", [row | known]) == [
        {
            "experiment": "headers",
            "way": "modify the protocol",
            "days before": "1,230",
            "after": "1,300",
            "gain": "5.4 %",
            "95 %": "0 to 123 %",
            "finding": "a counter",
        }
    ]
    (none,) = prose.described("experiments", [row | dict.fromkeys(known)])
    assert [none[key] for key in ("days before", "after", "gain", "95 %")] == [""] * 4


def test_the_best_published_code_is_spoken_of_only_where_costs_are_published(answer: Advice) -> None:
    said = "each cipher costs what the best code of it does that is published or counted for this core"
    assert any(one.startswith(said) for one in prose.notes(answer))
    own = [cost._replace(origin=None) for cost in answer.inputs.priced.taken]
    inputs = replace(answer.inputs, priced=answer.inputs.priced._replace(taken=own, slower=[]))
    assert not any(one.startswith(said) for one in prose.notes(replace(answer, inputs=inputs)))


@pytest.mark.parametrize(("efficiency", "times"), [(1.0, 1), (0.5, 2)])
def test_a_peak_is_the_largest_draw_of_the_radio_through_the_supply_at_the_batterys_voltage(
    efficiency: float, times: int, answer: Advice
) -> None:
    card = answer.inputs.sender.radio.card
    assert card.rx
    sent = card.sending(1.0)
    assert sent
    stage = Stage("dcdc", 3.7, 3.0, efficiency)
    of = replace(answer, inputs=replace(answer.inputs, stage=stage))
    most_W = max(card.power_W(sent), card.power_W(card.rx))
    assert prose._peak_A(of) == pytest.approx(times * most_W / 3.7)


def test_what_is_only_received_has_its_octets_packets_and_time_too() -> None:
    answers = [
        ask(flow=[{"message": "10kB", "every": "1h", "direction": way}], allow_assumed=True)
        for way in ("send", "receive")
    ]
    # Opening takes what it takes, so that they may stand in another order.
    sent, received = (
        {f"{choice.label} {choice.provider}": load_ for choice, load_ in zip(one.choices, one.loads, strict=True)}
        for one in answers
    )
    assert received.keys() == sent.keys()
    for label, one in received.items():
        assert one.octets_B == pytest.approx(sent[label].octets_B)
        assert one.packets == sent[label].packets
        assert one.latency_s > 0


def test_the_choice_that_draws_least_is_that_of_least_power_and_not_the_first_of_equals() -> None:
    described = advise(load("voice"), allow_assumed=True, today=TODAY)
    rows = described.ranked.filter(described.ranked["rank"] == 1)
    assert described.thriftiest.label in rows.filter(rows["power_uW"] == rows["power_uW"].min())["choice"].to_list()
    assert f"the one that draws least is {prose.named(described.thriftiest)}" in prose.lead(described)[1]


def test_what_is_gathered_beyond_a_packet_counts_its_packets_a_message() -> None:
    described = ask({"choices.aggregate": [4]}, flow=[{"message": "500B", "every": "1min"}])
    assert all("4 together" in choice.label for choice in described.choices)
    assert {load_.packets for load_ in described.loads} <= {9 / 4, 10 / 4}


def test_experiments_that_gain_nothing_say_that_the_shelf_life_hides_it(
    answer: Advice, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(["advise", "gas-meter", "--allow-assumed", "--experiments", "--try", "aggregate"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert re.search(r"In \d+ % of the samples the battery's shelf life ends it, which none of these changes", out)
    assert re.search(r"its charge alone would last [\d.]+ % longer, but the battery's shelf life ends it", out)
    assert prose.without_gain(answer) == "", "where the charge ends it every gain is one of days"
