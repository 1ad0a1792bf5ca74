"""What `wattlock advise` is asked with and what it writes: quantities, paths of keys, captures, bad input, records."""

import json
import re
import shlex
import struct
from pathlib import Path
from typing import Any

import pytest

from support.advice import BASE
from wattlock import cli
from wattlock.advise import checked, load
from wattlock.advise.question import UNITS, percent, quantity, spoken, watts
from wattlock.errors import InputError, UsageError


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


def test_each_unit_is_so_many_octets_seconds_watts_or_amperes() -> None:
    worked: dict[Any, dict[str, float]] = {
        "size": {"B": 1, "kB": 1000, "KiB": 1024, "MB": 10**6, "MiB": 1_048_576, "GB": 10**9},
        "duration": {
            "us": 1e-6,
            "ms": 1e-3,
            "s": 1,
            "min": 60,
            "h": 3600,
            "d": 86_400,
            "w": 604_800,
            "y": 31_556_952,
        },
        "power": {"nW": 1e-9, "uW": 1e-6, "mW": 1e-3, "W": 1},
        "current": {"nA": 1e-9, "uA": 1e-6, "mA": 1e-3, "A": 1},
    }
    assert {kind: list(units) for kind, units in worked.items()} == {kind: list(units) for kind, units in UNITS.items()}
    for kind, units in worked.items():
        for unit, value in units.items():
            assert quantity(f"2{unit}", kind) == pytest.approx(2 * value)


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


BOUNDS: list[tuple[str, list[Any], list[Any]]] = [
    ("decrypt_share", [0, 3.5], [-0.01]),
    ("radio.bit_errors", [0, 0.999], [-1e-9, 1]),
    ("supply.stage", ["direct", "ldo", "dcdc"], ["none"]),
    ("supply.voltage_V", [0.01], [0, -1]),
    ("battery.temperature_sigma_C", [0, 0.01], [-0.01]),
    ("connection.interval", ["7.5ms", "4s"], ["6.25ms", "4.00125s"]),
    ("connection.supervision", ["5s", "32s"], ["90ms", "32.01s"]),
    ("connection.latency", [0, 30], [-1, 500]),
    ("connection.clock_ppm", [0, 1000], [-0.1, 1000.1]),
    ("floor.strength", [0, 0.5, 512], [-0.01]),
    ("floor.tag", [0, 128], [-1, 129]),
    ("floor.lifetime", ["1us"], ["0s"]),
    ("choices.aggregate", [[1], [64]], [[0], []]),
    ("choices.ciphers", [["*"]], [[], [""]]),
    ("seed", [0], [-1]),
    ("draws", [100, 1_000_000], [99, 1_000_001]),
    ("flow[0].message", ["1B"], ["0B"]),
    ("flow[0].every", ["1us"], ["0s"]),
]


@pytest.mark.parametrize(("key", "right", "wrong"), BOUNDS, ids=[key for key, _, _ in BOUNDS])
def test_a_value_at_its_bound_is_taken_and_one_just_beyond_is_refused(
    key: str, right: list[Any], wrong: list[Any]
) -> None:
    for value in right:
        assert checked("bound", BASE, {key: value})
    for value in wrong:
        with pytest.raises(InputError, match=re.escape(key.partition("[")[0].partition(".")[0])):
            checked("bound", BASE, {key: value})


def test_what_a_question_leaves_open_is_as_its_manual_says() -> None:
    question = checked("open", BASE)
    assert (question.floor.strength, question.floor.authenticated, question.floor.tag) == (128, True, 64)
    assert (question.decrypt_share, question.seed, question.draws) == (0, 1, 16_384)
    assert (question.battery.temperature_C, question.battery.temperature_sigma_C, question.battery.model) == (
        20,
        5,
        "linear",
    )
    assert (question.choices.framings, question.choices.encodings) == (
        ["full-nonce", "implicit-nonce", "dtls13"],
        ["raw"],
    )


@pytest.mark.parametrize(
    ("question", "left_out", "supervision_s"),
    [
        ({}, 30, 6.0),  # 31 events of 60 ms are 1.86 s; three times that are less than the least
        ({"interval": "500ms"}, 3, 6.0),
        ({"interval": "4s"}, 0, 12.0),
        ({"interval": "1s", "latency": 2}, 2, 9.0),
        ({"interval": "1s", "latency": 12}, 12, 32.0),
        ({"interval": "1s", "latency": 2, "supervision": "7s"}, 2, 7.0),
    ],
)
def test_a_connection_leaves_out_what_two_seconds_allow_and_outlives_three_of_its_pauses(
    question: dict[str, Any], left_out: int, supervision_s: float
) -> None:
    kept = checked("kept", BASE | {"connection": question}).connection
    assert kept
    assert kept.left_out == left_out
    assert kept.supervision_s == pytest.approx(supervision_s)


def test_an_authority_is_read_in_any_letters_and_what_holds_currents_inside_is_no_key() -> None:
    flow = {"flow": [{"message": "1B", "every": "1s"}]}
    assert checked("x", flow | {"floor": {"approved": "NIST"}}).floor.approved == "nist"
    with pytest.raises(InputError, match="device: currents_A is no key; write a current as a power, sleep = 3uA"):
        checked("x", flow | {"device": {"currents_A": {"sleep": 1.0}}})


def test_spoken_durations_are_read_again() -> None:
    for seconds in (2e-6, 0.05, 1, 90, 4000, 86400 * 3, UNITS["duration"]["y"] * 10):
        assert quantity(spoken(seconds).replace(" ", ""), "duration") == pytest.approx(seconds, rel=1e-2)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (999.4e-6, "999 us"),
        (999.7e-6, "1 ms"),
        (0.9997, "1 s"),
        (59.4, "59.4 s"),
        (59.99, "1 min"),
        (3599.0, "1 h"),
        (86_399.0, "1 d"),
        (365.2 * 86_400, "1 y"),
        (1500 * 31_556_952, "1500 y"),
        (0.0, "0 us"),
    ],
)
def test_a_duration_is_said_in_the_largest_unit_that_its_three_digits_reach(seconds: float, said: str) -> None:
    assert spoken(seconds) == said


def test_spoken_powers_are_read_again() -> None:
    assert [watts(power_W) for power_W in (2e-9, 1e-5, 0.3, 3.0)] == ["2 nW", "10 uW", "300 mW", "3 W"]
    assert [watts(power_W) for power_W in (9.997e-7, 9.997e-4, 0.9997)] == ["1 uW", "1 mW", "1 W"]
    assert all(quantity(watts(power_W), "power") == pytest.approx(power_W) for power_W in (2e-9, 1e-5, 0.3, 3.0))


def test_a_small_share_is_not_called_none() -> None:
    assert [percent(share) for share in (0.0, 0.0004, 0.0005, 0.25)] == ["0.0 %", "less than 0.1 %", "0.1 %", "25.0 %"]


def test_the_keys_that_errors_name_can_be_set() -> None:
    with pytest.raises(InputError, match=r"question: flow\[0\]\.every: ") as named:
        checked("question", BASE, {"flow.every": "soon"})
    key = re.search(r"flow\[0\]\.every", str(named.value))
    assert key
    assert checked("test", BASE, {key[0]: "2s"}).flow[0].every == 2.0
    assert checked("test", {"device": {"card": "nrf52840"}}, {"flow[0].every": "2s", "flow[0].message": "9B"})
    voice = load("voice", {"flow[1].every": "40ms"})
    assert [flow.every for flow in voice.flow] == pytest.approx([0.02, 0.04])
    assert load("voice").flow[1].every == pytest.approx(0.02), "the profile itself stays as it is"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("title.every", "title is no table"),
        ("floor[0].tag", "floor is no list"),
        ("flow.every", "there are 2 of flow"),
        ("flow[2].every", r"there is no flow\[2\]"),
        ("flow[one].every", "is no key"),
        ("floor..tag", "is no key"),
    ],
)
def test_a_path_that_leads_nowhere_is_refused_with_the_part_that_is_wrong(path: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        load("voice", {path: "1s"})
    assert caught.value.hint


def test_one_option_changes_the_one_flow_of_a_profile_and_asks_which_of_two(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["advise", "tracker", "--every", "1h", "--allow-assumed", "--format", "json"]
    assert cli.answer(words) == 0
    (flow,) = json.loads(capsys.readouterr().out)["question"]["flow"]
    assert (flow["name"], flow["message"], flow["every"]) == ("position", 12, 3600.0)
    assert cli.answer(["advise", "voice", "--every", "10ms"]) == InputError.exit_code
    assert "--set flow[0].every" in capsys.readouterr().err


def test_json_is_one_object_with_ranked_then_excluded(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["advise", "--message", "64B", "--every", "1s", "--device", "nrf52840", "--approved", "NIST"]
    assert cli.answer([*words, "--format", "json"]) == 0
    described = json.loads(capsys.readouterr().out)
    assert list(described)[:2] == ["ranked", "excluded"]
    assert described["ranked"][0]["days_low"] < described["ranked"][0]["days"] < described["ranked"][0]["days_high"]
    assert {row["source"] for row in described["excluded"]}
    assert described["narrow_by"]["number"] == "sleep"


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
    assert cli.answer(["advise", "sensor", "--record", "decision.pdf"]) == UsageError.exit_code
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


def test_a_key_under_the_wrong_table_is_told_which_tables_have_it() -> None:
    flow = {"message": "20B", "every": "1s"}
    with pytest.raises(InputError, match=r"flow\[0\]\.approved: unknown key") as caught:
        checked("test", {"flow": [flow | {"approved": "nist"}]})
    assert caught.value.hint == "it is a key of [floor]: is that line behind a #?"
    with pytest.raises(InputError) as caught:
        checked("test", {"flow": [flow | {"latency": "1s"}]})
    assert "of [connection] and of [floor]" in caught.value.hint
    with pytest.raises(InputError) as caught:
        checked("test", {"flow": [flow | {"colour": "red"}]})
    assert caught.value.hint.startswith("the keys are: name, message"), "no table has it"
    with pytest.raises(InputError) as caught:
        checked("test", {"flow": [flow], "floor": {"message": "1B"}})
    assert "of [[flow]] and of [keep_alive]" in caught.value.hint


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
    question = checked("test", {"flow": [{"capture": str(path)}]})
    assert question.flow[0].sizes == [[32, 4], [400, 1]]
    assert question.flow[0].every == pytest.approx(2.0)
    with pytest.raises(InputError, match=r"none\.pcap"):
        checked("test", {"flow": [{"capture": str(tmp_path / "none.pcap")}]})
    alone = a_capture(tmp_path / "one.pcap", [32], 1)
    with pytest.raises(InputError, match="over in no time"):
        checked("test", {"flow": [{"capture": str(alone)}]})


def test_the_command_of_a_record_repeats_it_number_by_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, again = tmp_path / "first.json", tmp_path / "again.json"
    words_ = ["advise", "sensor", "--allow-assumed", "--set", "flow[0].every=90s", "--record"]
    monkeypatch.setattr("sys.argv", ["wattlock", *words_, str(first)])
    assert cli.answer([*words_, str(first)]) == 0
    command = shlex.split(json.loads(first.read_text())["command"])
    assert command[0] == "wattlock"
    assert cli.answer([str(again) if word == str(first) else word for word in command[1:]]) == 0
    one, other = (json.loads(path.read_text()) for path in (first, again))
    assert {**one, "command": ""} == {**other, "command": ""}
    capsys.readouterr()
