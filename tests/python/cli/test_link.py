"""`wattlock link`: what it prints, linear radios and explanations, and the paper's tables over the air."""

import csv
import io
import json
from functools import cache
from pathlib import Path

import pytest

from support.links import TOOLBOX, described
from support.tree import PROBE, require_programs
from wattlock import cli
from wattlock.link import durations, ledger, scenario
from wattlock.link.wifi import evaluate


@pytest.fixture(autouse=True, scope="module")
def program() -> None:
    require_programs()


def test_the_verb_prints_a_ledger_and_several_scenarios_side_by_side(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    assert cli.answer(["link", "adhoc-open", "--radio", "intel-5300", "--data-B", "30000"]) == 0
    out = capsys.readouterr().out
    for word in ("PHY preamble and padding", "gaps and back-off", "idle floor", "marginal_J", "total"):
        assert word in out
    words = ["link", "bss-open", "--protection", "none,tkip", "--phy", "b,g", "--data-B", "30000", "--format"]
    assert cli.answer([*words, "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["scenario"] for row in found][:2] == [
        "bss-open phy=b protection=none data_B=30000",
        "bss-open phy=b protection=tkip data_B=30000",
    ]
    assert found[0]["ratio"] == 1
    assert sum(line["time_ns"] for line in found[3]["ledger"][:-1]) == found[3]["duration_ns"]
    assert cli.answer([*words, "csv"]) == 0
    assert len(list(csv.DictReader(io.StringIO(capsys.readouterr().out)))) == 4


def test_the_verb_lists_what_a_newcomer_can_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["link", "--list", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["scenario"] for row in found] == scenario.names()
    assert {"adhoc-open", "adhoc-wep", "adhoc-poor", "bss-open", "bss-tkip", "bss-ccmp"} <= set(scenario.names())


@pytest.mark.parametrize("name", [name for name in scenario.names() if scenario.is_message(scenario.read(name)[1])])
def test_a_linear_radio_is_asked_like_the_others(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    words = ["link", name, "--payload-B", "30", "--format", "json", "--allow-assumed"]
    ledgers = []
    for more in ([], ["--cipher", "aes128-gcm", "--encoding", "base64"]):
        assert cli.answer([*words, *more]) == 0
        ledgers.append(json.loads(capsys.readouterr().out)[0]["ledger"])
    plain, sealed = ledgers
    lines = {row["line"]: row["octets_B"] for row in sealed}
    # 12 of nonce, 16 of tag; 58 octets are 80 letters.
    assert (lines["payload"], lines["cipher expansion"], lines["encoding"]) == (30, 28, 22)
    assert sealed[-1]["time_ns"] > plain[-1]["time_ns"]
    assert sum(row["time_ns"] for row in plain[:-1]) == plain[-1]["time_ns"]
    assert cli.answer([*words, "--phy", "b"]) == 2
    assert cli.answer([*words, "adhoc-open"]) == 4


def test_the_explanation_is_printed_with_its_caveat(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["explain", "elminaam-wlan"]) == 0
    out = capsys.readouterr().out
    assert "an encoding for each cipher" in out
    assert "is not a fact" in out
    assert cli.answer(["explain", "elminam"]) == 4


@cache
def asked_layers() -> list[durations.Layer]:
    """Of the tables' layers those of 802.11b with a long preamble and of 802.11g alone."""
    keys = [key for key in durations.requested(None) if key[0] in {"802.11b, long preamble", "802.11g alone"}]
    return durations.layers(keys, evaluate([key[-1] for key in keys], TOOLBOX, {}))


def test_the_ratios_of_the_tables_are_those_that_the_paper_prints() -> None:
    cells, _ = durations.printed(durations.PAPER)
    found = {ratio.name: durations.printed_ratio(cells, ratio) for ratio in durations.RATIOS}
    assert found["BSS / ad hoc"] == pytest.approx((12.21 / 8.27, 43.24 / 27.67))
    assert found["WEP / open"] == pytest.approx((8.35 / 8.27, 28.22 / 27.67))
    assert found["TKIP / open"] == pytest.approx((17.71 / 16.1, 13.7 / 12.21))


def test_a_ratio_of_the_tables_is_as_exact_as_their_hundredths_of_a_second() -> None:
    cells, _ = durations.printed(durations.PAPER)
    through = durations.RATIOS[0]
    # 12.21 s over 8.27 s is the coarsest: 12.215 over 8.265 is 1.4779 for 1.4764.
    assert durations.rounding(cells, through) == pytest.approx(12.215 / 8.265 - 12.21 / 8.27)
    full = next(layer for layer in asked_layers() if layer.name == "802.11g alone, UDP, full packets")
    ad_hoc_s = full.seconds("adhoc_open") or 0.0

    def with_ratio(value: float) -> durations.Layer:
        through_ap = full.answers["bss_open"]._replace(duration_ns=round(value * ad_hoc_s * 1e9))
        return full._replace(answers={**full.answers, "bss_open": through_ap})

    for value, is_given in ((1.5644, True), (1.5646, False), (1.4750, True), (1.4740, False)):
        assert durations.gives(with_ratio(value), through, cells) is is_given, value


def test_802_11g_gives_the_papers_ratio_of_an_access_point_and_802_11b_twice_the_time() -> None:
    cells, _ = durations.printed(durations.PAPER)
    by_layer = {layer.name: layer for layer in asked_layers()}
    through, wep, tkip, _ = durations.RATIOS
    assert durations.gives(by_layer["802.11g alone, TCP, packets of 1024 octets"], through, cells)
    # 1.564 for 43.24 s over 27.67 s, 1.5627.
    assert durations.gives(by_layer["802.11g alone, UDP, full packets"], through, cells)
    for name, layer in by_layer.items():
        if name.startswith("802.11b"):
            assert 1.9 < (layer.ratio(through) or 0) < 2.1
        # Protection is octets: a tenth more time is more than it can be.
        assert 0.99 < (layer.ratio(wep) or 0) < 1.02
        assert 0.99 < (layer.ratio(tkip) or 0) < 1.03
        assert not durations.gives(layer, tkip, cells)


def test_the_tables_are_told_as_one_layer_would_give_them_and_what_it_would_not() -> None:
    cells, _ = durations.printed(durations.PAPER)
    near = durations.nearest(asked_layers(), cells)
    assert near.phy == "802.11g alone"
    found = durations.table_rows(near, cells)
    assert len(found) == 15
    for row in found:
        if row["condition"] == "adhoc_open":
            assert row["air_s"] == pytest.approx(row["paper_s"])
    said = durations.sentences(asked_layers(), cells)
    assert any(one.startswith("TKIP / open") and "no mechanism of the air" in one for one in said)
    assert any("9 of 90 durations" in one for one in said)


def test_the_work_a_packet_that_a_ratio_lacks_gives_it_as_work_of_the_access_point() -> None:
    layer = next(one for one in asked_layers() if one.name == "802.11g alone, UDP, full packets")
    tkip = durations.RATIOS[2]
    us = durations.missing_us(layer, tkip, 1.11)
    changes = layer.answers["bss_tkip"].named.changed | {"host.access_point_us": us}
    slower = described("bss-tkip", changes, allow_assumed=True)
    assert slower.duration_ns / layer.answers["bss_open"].duration_ns == pytest.approx(1.11, rel=1e-6)


def test_a_transfer_that_loses_too_much_has_no_duration_to_compare() -> None:
    layer = asked_layers()[0]
    lost = layer.answers["adhoc_poor"]
    none = ledger.Distribution(0.5, 0.4, 0.6)
    cut = layer._replace(
        answers={**layer.answers, "adhoc_poor": lost._replace(positions=[lost.positions[0]._replace(delivered=none)])}
    )
    assert layer.seconds("adhoc_poor") is not None
    assert cut.seconds("adhoc_poor") is None
    assert cut.ratio(durations.RATIOS[3]) is None


def test_a_scenario_that_is_printed_can_be_run_from_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    assert cli.answer(["link", "--show", "bss-tkip"]) == 0
    own = tmp_path / "own.toml"
    own.write_text(capsys.readouterr().out)
    answer = evaluate([scenario.load(own)], TOOLBOX, {})[0]
    assert answer.duration_ns == described("bss-tkip").duration_ns
    own.write_text("phy = [")
    assert cli.answer(["link", str(own)]) == 4
    assert "not TOML" in capsys.readouterr().err
    own.write_bytes(b"\xff")
    assert cli.answer(["link", "--show", str(own)]) == 4


def test_the_verb_without_a_scenario_says_where_there_are_some(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["link"]) == 2
    assert "wattlock link --list" in capsys.readouterr().err


def test_a_transfer_of_which_nothing_arrives_has_no_throughput(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    assert cli.answer(["link", "adhoc-open", "--rssi-dBm", "-120", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)[0]
    assert (found["delivered_percent"], found["payload_Mb_s"]) == (0, 0)


def test_a_linear_radio_knows_no_encoding_that_does_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["link", "ble-reading", "--encoding", "hexx"]) != 0
    assert 'no encoding "hexx"' in capsys.readouterr().err


def test_a_capture_that_is_cut_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    head = b"\xd4\xc3\xb2\xa1\x02\0\x04\0" + bytes(8) + b"\xff\xff\0\0" + b"\x69\0\0\0"
    whole = bytes(8) + b"\x28\0\0\0\x28\0\0\0" + b"\x80" + bytes(39)
    cut = bytes(8) + b"\x20\0\0\0\x20\0\0\0" + b"\x08"
    (tmp_path / "cut.pcap").write_bytes(head + whole + cut)
    assert cli.answer(["capture", str(tmp_path / "cut.pcap")]) == 0
    said = capsys.readouterr()
    assert "management" in said.out
    assert "cut short or corrupt" in said.err
    (tmp_path / "cut.pcap").write_bytes(head + cut)
    assert cli.answer(["capture", str(tmp_path / "cut.pcap")]) == 4
    assert "holds no packet; it is cut short or corrupt" in capsys.readouterr().err
