"""`wattlock link` asked in ways that don't combine, of links that lose packets, and of several values at once."""

import json

import pytest

from support.links import described
from support.tree import PROBE, require_programs
from wattlock import cli
from wattlock.link import ledger, scenario, wifi_air
from wattlock.link.wifi import groups_of


@pytest.fixture(autouse=True)
def probe(monkeypatch: pytest.MonkeyPatch) -> None:
    require_programs()
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))


def test_values_are_crossed_and_a_rate_of_another_phy_goes_with_it() -> None:
    values = {"phy": ["b", "g"], "protection": ["none", "ccmp"]}
    crossed = scenario.cross(["adhoc-open"], values, {"payload.data_B": 10})
    found = [named.scenario for named in crossed if isinstance(named, scenario.Named)]
    assert [(one.phy, one.protection) for one in found] == [("b", "none"), ("b", "ccmp"), ("g", "none"), ("g", "ccmp")]
    assert {one.payload.data_B for one in found} == {10}
    own = scenario.load("adhoc-open")
    assert own.scenario.phy == "b"
    rates = {one.phy: one.rate_Mb_s for one in found}
    assert rates == {"b": own.scenario.rate_Mb_s, "g": None}


@pytest.mark.parametrize(
    ("words", "one", "other"),
    [
        (["--list", "--tables"], "--list", "--tables"),
        (["--list", "adhoc-open"], "--list", "the scenario adhoc-open"),
        (["--show", "adhoc-open", "--phy", "g"], "--show", "--phy"),
        (["adhoc-open", "--tables", "--phy", "g"], "--tables", "the scenario adhoc-open"),
        (["--tables", "--seed", "2"], "--tables", "--seed"),
        (["adhoc-open", "--capture", "a.pcap", "--payload-B", "9"], "--capture", "--payload-B"),
        (["adhoc-open", "--data-B", "9", "--file", "a.txt"], "--data-B", "--file"),
        (["adhoc-open", "--rssi-dBm", "-70", "--distance-m", "9"], "--rssi-dBm", "--distance-m"),
        (["adhoc-open", "--engine", "ns3", "--radio", "intel-5300"], "engine ns3", "--radio"),
        (["adhoc-open", "--set", "engine=ns3", "--run", "last"], "engine ns3", "--run"),
        (["adhoc-open", "--phy", "b", "--set", "phy=g"], "--set phy=g", "--phy"),
        (["adhoc-open", "--data-B", "9", "--set", "payload.data_B=8"], "--set payload.data_B=8", "--data-B"),
        (["adhoc-open", "--set", "seed=1", "--set", "seed=2"], "--set seed=2", "another --set"),
        (["adhoc-open", "--run", "last"], "--run", "--cipher"),
        (["ble-reading", "--phy", "b"], "--phy", "the scenario ble-reading"),
        (["ble-reading", "--distance-m", "3"], "--distance-m", "the scenario ble-reading"),
        (["ble-reading", "--run", "last"], "--run", "the scenario ble-reading"),
        (["ble-reading", "--payload-B", "9", "--data-B", "8"], "--payload-B", "--data-B"),
        (["ble-reading", "--payload-B", "9", "--set", "payload_B=8"], "--set payload_B=8", "--payload-B"),
    ],
)
def test_options_that_do_not_combine_are_refused_by_both_names(
    words: list[str], one: str, other: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(["link", *words]) == 2
    said = capsys.readouterr()
    assert not said.out
    assert one in said.err
    assert other in said.err


def test_a_card_without_a_run_is_refused_where_durations_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["explain", "elminaam-wlan", "--device", "stm32l476"]) == 2
    assert "--device needs --run" in capsys.readouterr().err


def test_the_options_that_an_explanation_takes_are_not_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["explain", "elminaam-wlan", "--format", "json"]) == 0
    assert cli.answer(["link", "--list", "--format", "csv"]) == 0
    assert capsys.readouterr().out


LOST = ["link", "adhoc-open", "--rate-Mb-s", "1,11", "--transport", "tcp", "--data-B", "30000", "--rssi-dBm", "-92"]


@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_a_link_that_loses_packets_has_no_ratio_and_says_why(
    transport: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [word if word != "tcp" else transport for word in LOST]
    assert cli.answer([*words, "--format", "json"]) == 0
    slow, fast = json.loads(capsys.readouterr().out)
    assert (slow["delivered_percent"], slow["ratio"], slow["no_ratio"]) == (100, 1, None)
    assert fast["delivered_percent"] < 100
    assert fast["ratio"] is None
    assert fast["no_ratio"] == f"delivers {fast['delivered_percent']:g} % of its packets"
    assert any("lost for good" in note for note in fast["notes"])
    assert not any("lost for good" in note for note in slow["notes"])
    assert cli.answer(words) == 0
    said = capsys.readouterr()
    assert "lost for good" in said.out
    assert fast["no_ratio"] in said.out


def test_nothing_is_held_against_a_first_that_loses_packets() -> None:
    lost = described("adhoc-open", {"payload.data_B": 30_000, "signal.rssi_dBm": -92.0})
    whole = described("adhoc-open", {"payload.data_B": 30_000})
    found = ledger.summary(whole, lost)
    assert found["ratio"] is None
    assert str(found["no_ratio"]).startswith("the first delivers")
    assert ledger.summary(whole, whole)["ratio"] == 1


def test_a_share_of_packets_that_arrive_is_never_rounded_to_all_of_them() -> None:
    whole = described("adhoc-open", {"payload.data_B": 30_000})
    nearly = whole._replace(ledger=whole.ledger._replace(requested=100_000, delivered=99_999))
    assert ledger.summary(nearly, nearly)["no_ratio"] == "delivers 99.9 % of its packets"


def test_a_weaker_signal_that_loses_packets_never_shows_a_shorter_duration() -> None:
    answer = described("adhoc-open", {"payload.data_B": 30_000, "signal.rssi_dBm": -88.0})
    as_is, stronger, weaker = ledger.position_rows(answer)
    assert weaker["complete_percent"] == 0
    assert weaker["duration_s"] is None
    assert as_is["duration_s"] > stronger["duration_s"] > 0


def test_of_positions_the_median_is_none_where_half_of_them_lose_packets() -> None:
    law = {"law": "uniform", "low": -92.0, "high": -84.0}
    answer = described("adhoc-open", {"payload.data_B": 30_000, "signal": {"rssi_dBm": law, "positions": 20}})
    first = ledger.position_rows(answer)[0]
    assert 0 < first["complete_percent"] < 97.5
    assert first["duration_low_s"] > 0
    assert first["duration_high_s"] is None
    assert (first["duration_s"] is None) == (first["complete_percent"] < 50)
    assert answer.ledger.complete == (first["complete_percent"] >= 50)


@pytest.mark.parametrize("radio", [None, "intel-5300", {"access_point": "intel-5300"}])
def test_nodes_stand_in_one_order_whoever_has_a_card(radio: object) -> None:
    answer = described("bss-open", {"payload.data_B": 30_000, "radio": radio})
    found = [row["node"] for row in ledger.node_rows(answer)]
    assert list(dict.fromkeys(found)) == ["sender", "access-point", "receiver"]


def test_the_heading_tells_what_was_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["link", "ble-reading", "--payload-B", "100"]) == 0
    out = capsys.readouterr().out
    assert "A reading over Bluetooth Low Energy, 100 octets" in out
    assert "32" not in out.splitlines()[1]
    assert cli.answer(["link", "adhoc-open", "--protection", "wep", "--data-B", "30000"]) == 0
    assert "changed: protection=wep data_B=30000" in capsys.readouterr().out
    assert scenario.load("adhoc-open").title == scenario.load("adhoc-open").scenario.title


def test_linear_radios_take_several_values_and_stand_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["link", "ble-reading", "--cipher", "none,aes128-ccm8", "--encoding", "raw,hex"]
    assert cli.answer([*words, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["scenario"] for row in found] == [
        "ble-reading cipher=none encoding=raw",
        "ble-reading cipher=none encoding=hex",
        "ble-reading cipher=aes128-ccm8 encoding=raw",
        "ble-reading cipher=aes128-ccm8 encoding=hex",
    ]
    assert [row["ledger"][0]["octets_B"] for row in found] == [32] * 4
    # A nonce of 13 octets and a tag of 8; two letters for each octet.
    assert [row["octets_B"] - found[0]["octets_B"] for row in found] == [0, 32, 21, 21 + 53]
    assert found[0]["ratio"] == 1
    assert found[1]["ratio"] == pytest.approx(found[1]["duration_s"] / found[0]["duration_s"])
    assert cli.answer(words) == 0
    assert "cipher=aes128-ccm8 encoding=hex" in capsys.readouterr().out
    assert cli.answer(["link", "ble-reading", "--cipher", "none,aes128-ccn8"]) == 4
    assert 'no cipher "aes128-ccn8"' in capsys.readouterr().err


def test_a_radio_of_a_linear_scenario_is_that_of_all_its_nodes(capsys: pytest.CaptureFixture[str]) -> None:
    for name, radio, nodes in (("ble-reading", "nrf52840-ble", 2), ("lorawan-reading", "sx1276-lora", 1)):
        assert cli.answer(["link", name, "--radio", radio, "--allow-assumed", "--format", "json"]) == 0
        found = json.loads(capsys.readouterr().out)[0]["nodes"]
        assert [node["card"] for node in found] == [radio] * nodes


def test_who_asks_for_much_to_simulate_is_told_before_it_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wattlock.cli.link.MANY_PACKETS", 100)
    # Three signals of 70 packets of 1448 octets.
    words = ["link", "adhoc-open", "--rssi-dBm", "-60", "--format", "json", "--data-B", "100_000"]
    assert cli.answer(words) == 0
    assert "210 packets to simulate take minutes" in capsys.readouterr().err
    assert cli.answer([*words[:-1], "30_000"]) == 0
    assert "to simulate" not in capsys.readouterr().err
    assert cli.answer([*words, "--transport", "udp", "--engine", "closed-form"]) == 0
    assert "to simulate" not in capsys.readouterr().err


def test_a_refusal_of_the_air_says_what_to_write_on_this_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["link", "adhoc-open", "--engine", "closed-form"]) == 4
    assert "--engine dcf" in capsys.readouterr().err
    fragments = ["--set", "air.fragment_B=500", "--set", "air.ampdu_B=9000"]
    assert cli.answer(["link", "adhoc-open", "--phy", "n", *fragments]) == 4
    assert "--set air.ampdu_B=0" in capsys.readouterr().err


def test_a_refusal_of_too_much_work_is_of_the_payload_and_names_no_key_that_a_transfer_lacks() -> None:
    named = scenario.load("adhoc-open", {"payload.data_B": 10**12})
    requested = wifi_air.question(named, groups_of(named, {})[0], {}, 0)
    failure = {
        "key": "datagrams",
        "message": f"{requested['datagrams']}: 1.04e+09 transmissions",
        "hint": 'at most some 1e+08, or a "duration_s", or "engine": "closed-form"',
    }
    described = wifi_air.refusal(named, requested, failure)
    assert "payload, in packets" in described.message
    assert described.hint == "at most some 1e+08, or --engine closed-form"


def test_a_scenario_that_ns3_cannot_carry_out_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["link", "adhoc-poor", "--engine", "ns3", "--data-B", "30000"]) == 4
    assert "link adhoc-poor data_B=30000 engine=dcf: rate_control: ns-3's side" in capsys.readouterr().err


def test_numbers_beyond_what_the_air_takes_are_refused_with_the_limit(capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in (
        (["--distance-m", "1e300"], "signal.distance_m: must be at most 100000, is 1e+300"),
        (["--payload-B", "100000000"], "payload.payload_B: must be at most 65535, is 100000000"),
        (["--rssi-dBm", "-300"], "signal.rssi_dBm: must be at least -197, is -300.0"),
        (["--seed", str(2**63)], "seed: must be at most"),
        (["--rate-Mb-s", "7"], "rate_Mb_s: 7 Mb/s is not of this PHY\nhint: 1, 2, 5.5, 11"),
        (["--phy", "n", "--rate-Mb-s", "54"], "hint: --set mcs=7"),
        (["--device", "stm32l476"], "--device values what hosts compute"),
    ):
        assert cli.answer(["link", "adhoc-open", *words]) == (2 if "--device" in words else 4)
        assert said in capsys.readouterr().err


def test_the_signals_at_the_limits_have_answers_3_dB_beside_them() -> None:
    for rssi_dBm in (-197.0, 47.0):
        assert len(described("adhoc-open", {"payload.data_B": 3_000, "signal.rssi_dBm": rssi_dBm}).positions) == 3


def test_a_note_that_is_not_of_all_scenarios_says_of_which_it_is() -> None:
    lost = described("adhoc-open", {"payload.data_B": 30_000, "signal.rssi_dBm": -92.0})
    whole = described("adhoc-open", {"payload.data_B": 30_000})
    found = ledger.notes([lost, whole])
    assert [note for note in found if note.startswith("adhoc-open data_B=30000 rssi_dBm=-92.0: ") and "lost" in note]
    assert [note for note in found if note.startswith("no joules")]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--payload-B", "99999999"], "link ble-reading: --payload-B: must be at most 16777216"),
        (["--data-B", "99999999"], "link ble-reading: --data-B: must be at most 16777216"),
        (["--file", "nowhere"], "link ble-reading: --file nowhere: No such file"),
        (["--cipher", "rsa2048-oaep"], "link ble-reading: --cipher: rsa2048-oaep encrypts no messages"),
        (["--encoding", "hexx"], 'link ble-reading: --encoding: no encoding "hexx"'),
        (["--set", "payload_B=-1"], "link ble-reading: payload_B: must be at least 0"),
        (["--set", "link=3"], "link ble-reading: link: must be a table, is 3"),
        (["--radio", "nrf52840-ble", "--set", "sender=nrf52840-ble"], "--set sender=nrf52840-ble and --radio"),
    ],
)
def test_errors_of_linear_scenarios_name_the_option_that_was_given(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(["link", "ble-reading", *words]) == (2 if "--radio" in words else 4)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "right", "wrong"),
    [
        (
            ["adhoc-open", "--phy", "b,g", "--rate-Mb-s", "11,54", "--data-B", "30000"],
            [0, 2, 3],
            "54 Mb/s is not of this",
        ),
        (["ble-reading", "--radio", "nrf52840-ble,sx1262", "--payload-B", "30"], [0], "sx1262"),
    ],
)
def test_a_pair_that_can_not_be_is_a_row_that_says_why(
    words: list[str], right: list[int], wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(["link", *words, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [at for at, row in enumerate(rows) if row["duration_s"] is not None] == right
    assert all(wrong in row["refused"] for at, row in enumerate(rows) if at not in right)
    assert rows[right[0]]["ratio"] == 1
    assert cli.answer(["link", *words]) == 0
    assert wrong in capsys.readouterr().out


def test_values_of_which_no_pair_can_be_are_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["link", "adhoc-open", "--phy", "b", "--rate-Mb-s", "48,54"]) == 4
    assert "rate_Mb_s: 48 Mb/s is not of this PHY" in capsys.readouterr().err
    # A value that there is nowhere is a slip, whatever stands beside it.
    assert cli.answer(["link", "adhoc-open", "--protection", "none,wpa"]) == 4
    assert 'no protection "wpa"' in capsys.readouterr().err
