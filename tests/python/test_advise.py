"""`wattlock advise`: quantities, floors and their rules, ties, history, experiments, the record, the ten scenarios."""

import json
import re
import struct
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wattlock import cli
from wattlock.advise import Advice, advise, checked, load, question
from wattlock.advise import costs as costing
from wattlock.advise.again import gain, usual
from wattlock.advise.energy_first import budgets
from wattlock.advise.flips import flips, pareto
from wattlock.advise.quantity import UNITS, percent, quantity, spoken
from wattlock.advise.rank import ranked, tied
from wattlock.advise.rules import framings, rules
from wattlock.advise.savings import experiments, names
from wattlock.advise.sending import Packet, Sender
from wattlock.advise.standing import load as book
from wattlock.advise.standing import statements
from wattlock.energy import cards, radio_cards
from wattlock.errors import EvidenceError, InputError
from wattlock.link import linear
from wattlock.run import probe

TODAY = date(2026, 1, 1)
BASE: dict[str, Any] = {"flow": [{"message": "64B", "every": "1s"}], "device": {"card": "nrf52840"}}


def ask(changes: dict[str, Any] | None = None, *, allow_assumed: bool = False, **tables: Any) -> Advice:
    return advise(checked("test", BASE | tables, changes), allow_assumed=allow_assumed, today=TODAY)


@pytest.fixture(scope="module")
def answer() -> Advice:
    return ask()


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("64B", "size", 64),
        ("8kB", "size", 8000),
        ("1 KiB", "size", 1024),
        ("50ms", "duration", 0.05),
        ("1.5h", "duration", 5400),
        ("10y", "duration", 10 * 365.2425 * 86400),
        ("12uW", "power", 12e-6),
    ],
)
def test_a_quantity_is_read_with_its_unit(text: str, kind: Any, value: float) -> None:
    assert quantity(text, kind) == pytest.approx(value)


@pytest.mark.parametrize("text", ["64", "B", "64b", "-1B", "1e3B", "64 parsecs", "0.5B", "", 64, None, "64BB", "٣B"])
def test_a_size_without_a_known_unit_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match=r"is no (size|whole number)"):
        quantity(text, "size")


def test_nonsense_in_a_profile_names_the_key_and_the_value() -> None:
    with pytest.raises(InputError, match=r'flow\[0\]\.every: "1 fortnight" is no duration'):
        checked("profile x", {"flow": [{"message": "1B", "every": "1 fortnight"}]})
    with pytest.raises(InputError, match=r"floor\.strenght: unknown key") as caught:
        checked("profile x", {"flow": [{"message": "1B", "every": "1s"}], "floor": {"strenght": 1}})
    assert "strength" in caught.value.hint


def test_spoken_durations_are_read_again() -> None:
    for seconds in (2e-6, 0.05, 1, 90, 4000, 86400 * 3, UNITS["duration"]["y"] * 10):
        assert quantity(spoken(seconds).replace(" ", ""), "duration") == pytest.approx(seconds, rel=1e-2)


def test_what_is_not_given_is_assumed_and_told(answer: Advice) -> None:
    told = " ".join(answer.things.assumed)
    for said in ("nrf52840-ble", "1000 mAh", "asleep"):
        assert said in told
    assert answer.evidence["answer"] == "assumed"


def test_shares_of_the_energy_add_up_to_one(answer: Advice) -> None:
    frame = answer.ranked
    shares = [name for name in frame.columns if name.endswith("_share") and name != "radio_busy_share"]
    assert frame.select(shares).sum_horizontal().to_list() == pytest.approx([1.0] * frame.height)


def test_broken_and_legacy_ciphers_are_history_and_never_ranked(answer: Advice) -> None:
    assert {choice.stands.status for choice in answer.choices} <= {"approved", "acceptable"}
    assert all(choice.stands.authenticated for choice in answer.choices)
    past = {one.cipher: one for one in answer.history}
    assert set(past) == {"blowfish128-cbc", "rc6-20-128-cbc"}, "64 octets are too few for the advice on RC4"
    assert all(one.at_most and "nothing notices a changed message" in one.not_done for one in past.values())


def test_rc4_is_told_of_from_100_octets_on() -> None:
    told = ask(flow=[{"message": "100B", "every": "1s"}])
    assert "rc4-128" in {one.cipher for one in told.history}


def test_every_rule_names_a_source_that_is_in_the_book() -> None:
    known = book().sources
    every = [*rules().approved, *rules().lifetime, *rules().tag, *rules().memory, *rules().forbidden]
    assert all(one.source in known for one in every)
    assert len(list(statements(book()))) > 100
    assert all(one.source for isa in costing.names() for one in costing.load(isa).cost)


def test_nist_excludes_chacha_with_a_citation_and_keeps_aes_and_ascon() -> None:
    told = ask({"floor.approved": "nist"})
    assert {one.choice.cipher for one in told.excluded if one.reasons[0].about == "approved"} == {"chacha20-poly1305"}
    assert {"aes128-gcm", "ascon-aead128"} <= {choice.cipher for choice in told.choices}


def test_contradicting_floors_name_the_rules_and_the_nearest_choice() -> None:
    with pytest.raises(InputError, match=r"no choice is left of .*strength") as caught:
        ask({"floor.strength": 512})
    assert "nearest is aes256" in caught.value.hint or "nearest is chacha20" in caught.value.hint
    with pytest.raises(InputError, match="latency") as late:
        ask({"floor.latency": "1us"})
    assert "1 us allowed" in late.value.hint
    with pytest.raises(InputError, match="memory") as large:
        ask({"floor.memory": "8B"})
    # Of all ciphers with a cost Ascon keeps the fewest octets, AES-256 the most.
    assert "nearest is ascon-aead128" in large.value.hint


def test_a_small_share_is_not_called_none() -> None:
    assert [percent(share) for share in (0.0, 0.0004, 0.0005, 0.25)] == ["0.0%", "less than 0.1%", "0.1%", "25.0%"]


def test_a_radio_that_cannot_carry_the_traffic_says_by_how_much() -> None:
    with pytest.raises(InputError, match="radio") as caught:
        ask(flow=[{"message": "100kB", "every": "100ms"}])
    assert "times the time there is" in caught.value.hint
    with pytest.raises(InputError, match="duty cycle") as quiet:
        ask({"radio.card": "sx1262-lora", "radio.link": {"data_rate": 0}}, flow=[{"message": "20B", "every": "20s"}])
    assert "the band allows 1%" in quiet.value.hint


def test_missing_card_values_are_named_with_what_to_measure(tmp_path: Path) -> None:
    text = (Path(radio_cards.__file__).parents[1] / "data/radios/nrf52840-ble.toml").read_text()
    bare = text[: text.index("[idle]")]
    (tmp_path / "radios").mkdir()
    (tmp_path / "radios" / "bare.toml").write_text(bare)
    asked = checked("test", BASE, {"radio.card": "bare"})
    with pytest.raises(EvidenceError, match="radio card bare has no idle") as caught:
        advise(asked, own=tmp_path, today=TODAY)
    assert "measure" in caught.value.hint


def test_an_instruction_set_without_published_cycles_needs_consent_and_says_so() -> None:
    with pytest.raises(EvidenceError, match="what ciphers cost on riscv32 is not known"):
        costing.published(cards.load("esp32-c3"), allow_assumed=False)
    borrowed = costing.published(cards.load("esp32-c3"), allow_assumed=True)
    own = costing.published(cards.load("nrf52840"), allow_assumed=False)
    assert {cost.evidence for cost in borrowed} == {"assumed"}
    width = {cost.cipher: cost.uniform_width for cost in own}
    assert all((cost.uniform_width or 0) > (width[cost.cipher] or 0) for cost in borrowed)


def test_the_radio_that_a_device_card_names_has_a_card() -> None:
    named = {radio for name in cards.names() if (radio := cards.load(name).card.radio)}
    assert named
    assert named <= set(radio_cards.RADIOS.names())


def test_a_doubted_battery_is_refused_where_it_was_named_and_nobody_consented() -> None:
    with pytest.raises(EvidenceError, match="battery card lipo-1000"):
        ask({"battery.card": "lipo-1000"})


def test_lives_that_differ_by_less_than_1_percent_are_tied_and_surely_longer_ones_are_not() -> None:
    draw = np.random.default_rng(1)
    common = draw.lognormal(10, 0.5, 2_000)
    places = ranked(np.array([common * 0.8, common * 0.995, common, common * draw.lognormal(-0.02, 0.2, 2_000)]))
    assert [place.number for place in places][:2] == [2, 1]
    assert {place.number: place.group for place in places}[1] == 1
    assert not tied(common, common * 0.8), "in the same world a difference shows, however wide the interval is"
    assert {place.number: place.group for place in places}[0] > 1


def test_the_radios_joules_are_the_links_own() -> None:
    radio = radio_cards.load("nrf52840-802154")
    sender = Sender(radio, checked("test", BASE).radio)
    packet = Packet(90, "send", "5")
    spent = sender.ask([packet], None)[packet]
    joules = sum(
        time_s * radio.card.power_W(sender.number(state)) for state, time_s in spent.states_s.items() if time_s
    )
    asked = {"payload_B": 90, "sender": radio.name, "link": {"standard": "802.15.4", "security_level": 5}}
    told = linear.ask(linear.message_of(asked, "test"))
    assert joules * 1e6 == pytest.approx(told.energies[0].total_uJ)
    assert spent.octets_B == told.ledger.octets_B


def test_frames_that_arrive_wrong_are_sent_again_in_the_mean() -> None:
    radio = radio_cards.load("nrf52840-ble")
    clean, bad = (Sender(radio, checked("test", BASE, {"radio.bit_errors": errors}).radio) for errors in (0.0, 1e-4))
    packet = Packet(80, "send", "ccm")
    octets_B = clean.ask([packet], None)[packet].octets_B
    again = 1 / (1 - 1e-4) ** (8 * octets_B)
    assert bad.ask([packet], None)[packet].octets_B == pytest.approx(octets_B * again)


@pytest.mark.parametrize(
    ("framing", "cipher", "around_B"),
    [
        ("explicit", "aes128-gcm", 12),
        ("counter", "aes128-gcm", 1),
        ("dtls13", "aes128-gcm", 3),
        ("dtls12", "aes128-gcm", 21),
        ("dtls12", "chacha20-poly1305", 13),
        ("wireguard", "chacha20-poly1305", 16),
    ],
)
def test_framings_put_the_octets_of_their_standards_in_front(framing: str, cipher: str, around_B: int) -> None:
    assert framings()[framing].carries(cipher)
    assert framings()[framing].in_front_B(cipher, 12) == around_B


def test_wireguard_pads_to_16_and_dtls_13_seals_its_content_type() -> None:
    assert [framings()["wireguard"].inside_B(size) for size in (0, 1, 16, 17)] == [0, 16, 16, 32]
    assert framings()["dtls13"].inside_B(64) == 65


def test_a_latency_lets_messages_be_gathered_and_never_longer_than_it_allows() -> None:
    told = ask({"floor.latency": "5s"})
    assert {choice.aggregate for choice in told.choices} == {1, 2, 4}
    assert all(load.latency_s <= 5 for load in told.loads)
    many = told.choices[told.best.number].aggregate
    assert many > 1, "fewer packets last longer"


def test_the_measurement_that_narrows_most_is_that_of_sleep_where_nobody_gave_it(answer: Advice) -> None:
    assert answer.narrowing[0].number == "sleep"
    given = ask({"device.sleep": "10uW"})
    assert "sleep" not in {one.number for one in given.narrowing if one.narrower > 0.01}
    wide, narrow = (one.best.high_s / one.best.low_s for one in (answer, given))
    assert narrow < wide


def test_experiments_say_what_they_found_and_a_hybrid_never_loses(answer: Advice) -> None:
    found = {saving.name: saving for saving in experiments(answer, None)}
    assert list(found) == names()
    assert all(saving.finding for saving in found.values())
    assert usual(answer).cipher == "aes128-ccm"
    for name in ("replace", "aggregate", "truncate", "headers", "compress"):
        saved = found[name].gain
        assert saved is not None
        assert saved.percent > 0
    hybrid = found["hybrid"].gain
    assert hybrid is not None
    assert hybrid.percent >= -1e-9
    assert found["resume"].gain is None
    with pytest.raises(InputError, match='no experiment "agregate"'):
        experiments(answer, None, "agregate")


def test_a_hybrid_switches_where_ciphers_cross_and_takes_sound_ones_alone() -> None:
    sizes = [{"sizes": [[16, 10], [1000, 3]], "every": "10s"}]
    told = ask({"choices.framings": ["counter"]}, flow=sizes)
    (saving,) = experiments(told, None, "hybrid")
    assert not {"rc4", "blowfish"} & set(saving.finding.split())
    assert saving.gain is not None
    assert saving.gain.percent >= -1e-9


def test_the_energy_first_budget_is_the_least_that_keeps_the_floors_tag(answer: Advice) -> None:
    on_radio = [one for one in budgets(answer, probe.find()) if one.radio == "nrf52840-802154"]
    least = on_radio[0]
    assert least.design.startswith("least")
    assert least.over_percent == 0
    framed = [one for one in on_radio if "DTLS" in one.design or "WireGuard" in one.design]
    assert [one.over_percent > 0 for one in framed] == [True] * 3


def test_flips_name_another_choice_and_the_battery_never_flips(answer: Advice) -> None:
    found = {flip.variable: flip for flip in flips(answer, None)}
    assert set(found) == {"message", "every", "bit errors", "battery"}
    assert found["battery"].at is None
    first = answer.choices[answer.best.number].label
    assert all(flip.then != first for flip in found.values())


def test_the_front_holds_the_first_choice_and_stronger_ones(answer: Advice) -> None:
    rows = pareto(answer)
    assert answer.choices[answer.best.number].label in {row["choice"] for row in rows}
    assert max(row["strength_bits"] for row in rows) == 256
    assert all(0 <= row["on_front"] <= 1 for row in rows)
    assert {"low", "high"} <= {row["profile"] for row in rows}


def test_hardware_for_a_cipher_is_a_choice_and_code_is_never_taken_for_it() -> None:
    tables: dict[str, Any] = {"device": {"card": "stm32l476", "sleep": "10uW"}, "radio": {"card": "nrf52840-ble"}}
    told = ask(**tables)
    assert {choice.cost.accelerator for choice in told.choices} == {True, False}
    (saving,) = experiments(told, None, "accelerate")
    assert "STM32 AES accelerator" in saving.finding
    assert saving.gain is not None
    assert saving.gain.percent > 0
    without = ask({"device.accelerator": False}, **tables)
    assert not any(choice.cost.accelerator for choice in without.choices)


def test_a_latency_that_cannot_be_known_excludes_and_says_why() -> None:
    tables: dict[str, Any] = {
        "device": {"card": "stm32l476"},
        "radio": {"card": "nrf52840-ble"},
        "floor": {"latency": "1s"},
    }
    with pytest.raises(InputError) as caught:
        ask(**tables)
    assert "no clock" in caught.value.hint


def test_lower_voltages_save_the_joules_of_cycles_and_nothing_else() -> None:
    tables: dict[str, Any] = {
        "device": {"card": "cortex-a53-rk3399", "sleep": "1mW"},
        "radio": {"card": "nrf52840-ble"},
    }
    told = ask(allow_assumed=True, **tables)
    (saving,) = experiments(told, None, "scale")
    share = told.loads[told.choices.index(usual(told))]
    saved = share.group_W("cipher") / share.total_W * (1 - (0.825 / 1.125) ** 2)
    assert saving.gain is not None
    assert saving.gain.percent == pytest.approx(100 * saved / (1 - saved), rel=0.5)


def test_decryptions_here_cost_their_joules_and_no_octet() -> None:
    once, often = ask({"device.sleep": "1uW"}), ask({"device.sleep": "1uW", "decrypt_share": 3.0})
    for first, second in zip(once.loads, often.loads, strict=True):
        assert second.octets_B == first.octets_B
        assert second.group_W("cipher") == pytest.approx(4 * first.group_W("cipher"))


def test_limits_on_one_key_ask_for_new_ones_and_cost_handshakes() -> None:
    session = {"every": "100y", "sent": "100B", "received": "100B"}
    told = ask({"session": session, "choices.ciphers": ["aes128-gcm"]}, flow=[{"message": "16B", "every": "4ms"}])
    load = told.loads[told.best.number]
    assert told.ranked["packets_a_key"][0] == 2.0**32
    assert load.rekeys_per_s == pytest.approx(250 / 2**32)
    assert load.group_W("handshake") > 0


def test_a_card_of_packets_and_octets_is_valued_by_its_linear_model() -> None:
    told = ask({"radio.card": "wavelan-11", "radio.air": {"phy": "b"}}, allow_assumed=True)
    names = {name for _, factors in told.loads[0].terms_W for name in factors}
    assert {"radio send_packet", "radio send_byte", "radio idle"} <= names


def test_a_signal_that_lets_nothing_through_is_refused_with_its_share() -> None:
    with pytest.raises(InputError, match=r"0\.0% of the packets arrive at -95 dBm"):
        ask({"device.card": "esp32-c3", "radio.rssi_dBm": -95.0}, allow_assumed=True)
    with pytest.raises(InputError, match="bit_errors: is for radios that are not"):
        ask({"device.card": "esp32-c3", "radio.bit_errors": 1e-5}, allow_assumed=True)


def test_a_weaker_signal_costs_more_of_wifi() -> None:
    asked = checked("test", BASE, {"radio.air": {"phy": "g", "rate_Mb_s": 54.0}})
    strong, weak = (
        Sender(radio_cards.load("esp32-c3-wifi"), asked.radio.model_copy(update={"rssi_dBm": signal}))
        for signal in (-50.0, -72.0)
    )
    packet = Packet(800, "send", "ccmp")
    first, second = (one.ask([packet], probe.find())[packet].states_s["tx"] for one in (strong, weak))
    assert second > 1.01 * first


def test_a_change_inside_of_what_is_no_table_is_refused() -> None:
    with pytest.raises(InputError, match=r"flow\.every: flow is no table"):
        checked("test", BASE, {"flow.every": "1s"})


def test_a_gain_of_nothing_is_nothing() -> None:
    life = np.array([1.0, 2.0, 3.0])
    assert gain(life, life) == (0.0, 0.0, 0.0)


def test_json_is_one_object_with_ranked_then_excluded(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["advise", "--message", "64B", "--every", "1s", "--device", "nrf52840", "--approved", "NIST"]
    assert cli.answer([*words, "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert list(told)[:2] == ["ranked", "excluded"]
    assert told["ranked"][0]["days_low"] < told["ranked"][0]["days"] < told["ranked"][0]["days_high"]
    assert {row["source"] for row in told["excluded"]}
    assert told["narrow_by"]["number"] == "sleep"


@pytest.mark.parametrize("end", ["html", "md", "json"])
def test_a_record_holds_question_answer_rules_evidence_and_command(
    end: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"decision.{end}"
    words = ["advise", "--message", "64B", "--every", "1s", "--device", "nrf52840", "--try", "headers"]
    assert cli.answer([*words, "--record", str(path)]) == 0
    capsys.readouterr()
    text = path.read_text()
    for said in ("nrf52840", "ascon-aead128", "RFC 9147", "assumed", "Blowfish", "sleep"):
        assert said in text
    if end == "html":
        assert "Content-Security-Policy" in text
        assert not re.search(r"<(script|img|link[^>]+stylesheet)", text), "nothing is fetched"


def test_a_record_of_another_kind_is_refused_before_anything_is_computed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["advise", "sensor", "--record", "decision.pdf"]) == InputError.exit_code
    assert "--record decision.pdf" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--message", "64", "--every", "1s"], '--message: "64" is no size'),
        (["--message", "64B", "--every", "soon"], '--every: "soon" is no duration'),
        (["--message", "64B"], "--every is missing"),
        ([], "no traffic is given"),
        (["--message", "64B", "--every", "1s"], "neither a device nor a run is named"),
        (["sensors"], "there is no profile sensors"),
        (["--message", "1B", "--every", "1s", "--lifetime", "10"], '--lifetime: "10" is no duration'),
    ],
)
def test_bad_input_names_the_option_and_the_value(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(["advise", *words]) == InputError.exit_code
    assert said in capsys.readouterr().err


# What comes first in each scenario is held against the noise of the measurement: other draws, and every cipher's cycles
# off by its own uncertainty at once, leave a choice of the first group first.
@pytest.mark.parametrize("name", question.names())
def test_the_head_of_a_scenario_is_stable_against_the_noise_of_the_measurement(name: str) -> None:
    asked = load(name)
    told = advise(asked, allow_assumed=True, today=TODAY)
    heads = {choice.label for choice in told.tied}
    for seed in (2, 3, 4):
        other = advise(asked.model_copy(update={"seed": seed}), allow_assumed=True, today=TODAY)
        assert other.choices[other.best.number].label in heads
    held = told.life_s[[place.number for place in told.places if place.group == 1]].max(axis=0)
    others = told.life_s[[place.number for place in told.places if place.group > 1]]
    if len(others):
        surpassed = (others > held * 1.01).any(axis=0).mean()
        assert surpassed < 0.5, "in most worlds nobody behind the first group lasts longer"


def test_there_are_ten_scenarios_and_each_says_where_its_conditions_come_from() -> None:
    assert len(question.names()) == 10
    docs = Path(__file__).parents[2] / "docs" / "scenarios.md"
    for name in question.names():
        assert load(name).source
        assert f"`{name}`" in docs.read_text()


def a_capture(path: Path, sizes_B: list[int], every_us: int) -> Path:
    """Ethernet with UDP in pcap, a packet of so many octets of data each `every_us`."""
    packets = []
    for number, size_B in enumerate(sizes_B):
        length = 28 + size_B
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, length, 0, 0, 64, 17, 0, b"\n\0\0\1", b"\n\0\0\2")
        whole = bytes(12) + b"\x08\x00" + ip + struct.pack(">HHHH", 1, 2, length - 20, 0) + bytes(size_B)
        at_us = number * every_us
        packets.append(struct.pack("<IIII", at_us // 10**6, at_us % 10**6, len(whole), len(whole)) + whole)
    path.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + b"".join(packets))
    return path


def test_a_capture_gives_sizes_and_rates_without_its_headers(tmp_path: Path) -> None:
    path = a_capture(tmp_path / "air.pcap", [32, 32, 400, 32, 32], 500_000)
    asked = checked("test", {"flow": [{"capture": str(path)}]})
    assert asked.flow[0].sizes == [[32, 4], [400, 1]]
    assert asked.flow[0].every == pytest.approx(2.0)
    with pytest.raises(InputError, match=r"none\.pcap"):
        checked("test", {"flow": [{"capture": str(tmp_path / "none.pcap")}]})
    alone = a_capture(tmp_path / "one.pcap", [32], 1)
    with pytest.raises(InputError, match="over in no time"):
        checked("test", {"flow": [{"capture": str(alone)}]})


def test_wifis_air_is_asked_in_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    answers = probe.answers

    def counted(program: Path, verb: str, lines: Any) -> list[Any]:
        asked = list(lines)
        calls.append(len({json.dumps(line, sort_keys=True) for line in asked}) == len(asked))
        return answers(program, verb, asked)

    monkeypatch.setattr(probe, "answers", counted)
    told = ask({"device.card": "esp32-c3"}, allow_assumed=True)
    assert calls == [True], "one process, and no question twice"
    assert told.things.sender.technology == "802.11"
