"""Captures: the probe's census as rows, packets for replay, the figure of their sizes."""

import struct
from pathlib import Path

import pytest

from support.captures import pcap
from wattlock import cli
from wattlock.errors import InputError
from wattlock.link import capture_file
from wattlock.link.capture_file import MOST_SIZES, Census, binned, traffic
from wattlock.report.charts import packet_sizes
from wattlock.report.evidence import NothingToDraw
from wattlock.targets import toolbox


@pytest.fixture
def air(tmp_path: Path) -> Path:
    """Two beacons of 100 octets and one protected data frame of 1500."""
    file = tmp_path / "-air.pcap"
    file.write_bytes(pcap([b"\x80\0" + bytes(98), b"\x80\0" + bytes(98), b"\x08\x41" + bytes(1498)]))
    return file


def test_sizes_have_the_fcs_in_them_and_gaps_lie_in_their_bins(air: Path) -> None:
    found = capture_file.census(toolbox.find(), air)
    assert [(row["frame"], row["protected"], row["size_B"], row["count"]) for row in found.sizes] == [
        ("management", False, 104, 2),
        ("data", True, 1504, 1),
    ]
    assert sum(row["count"] for row in found.gaps) == 2
    assert all(row["from_ns"] <= 1_000_000 < row["below_ns"] for row in found.gaps)
    assert found.summary["counted"] == 3


def test_a_file_that_is_no_capture_is_an_input_error(tmp_path: Path) -> None:
    file = tmp_path / "none.pcap"
    file.write_bytes(b"not a capture")
    with pytest.raises(InputError, match="neither pcap nor pcapng"):
        capture_file.census(toolbox.find(), file)


def test_bins_double_from_64_octets_and_none_is_left_out() -> None:
    sizes = [
        {"frame": "control", "protected": False, "size_B": 14, "count": 5},
        {"frame": "data", "protected": False, "size_B": 64, "count": 2},
        {"frame": "data", "protected": False, "size_B": 127, "count": 3},
        {"frame": "data", "protected": True, "size_B": 1504, "count": 1},
    ]
    rows = binned(sizes)
    assert rows["bin"].to_list() == ["0–63", "64–127", "128–255", "256–511", "512–1023", "1024–2047"]
    assert rows["count"].to_list() == [5, 5, 0, 0, 0, 1]
    drawn = packet_sizes(sizes).to_dict()
    assert drawn["encoding"]["x"]["sort"] == rows["bin"].to_list()


def test_a_capture_without_packets_has_no_figure() -> None:
    with pytest.raises(NothingToDraw):
        packet_sizes([])


def counted(*sizes: tuple[str, bool, int, int]) -> Census:
    keys = ("frame", "protected", "size_B", "count")
    return Census([dict(zip(keys, row, strict=True)) for row in sizes], [], {})


def test_a_message_is_what_is_left_of_a_packet_without_its_headers() -> None:
    found = traffic(
        counted(
            ("data", False, 1564, 3),
            ("data", True, 1580, 2),
            ("tcp", False, 54, 9),
            ("tcp", False, 1054, 1),
            ("udp", False, 74, 5),
            ("management", False, 200, 100),
            ("control", False, 14, 50),
        )
    )
    assert found.sizes == [(32, 5), (1000, 1), (1500, 5)]
    assert found.left_out == 159, "acknowledgements of TCP, beacons, acknowledgements of 802.11"


def test_many_sizes_are_put_together_and_keep_their_messages_and_about_their_octets() -> None:
    rows = [("udp", False, 42 + plain_B, 1 + plain_B % 7) for plain_B in range(1, 1473)]
    found = traffic(counted(*rows))
    assert len(found.sizes) <= MOST_SIZES
    assert sum(count for _, count in found.sizes) == sum(row[3] for row in rows)
    octets = sum((row[2] - 42) * row[3] for row in rows)
    assert sum(plain_B * count for plain_B, count in found.sizes) == pytest.approx(octets, rel=1e-3)


def test_a_capture_without_messages_is_refused() -> None:
    with pytest.raises(InputError, match="no packet of the capture carries a message"):
        traffic(counted(("management", False, 200, 1)))
    with pytest.raises(InputError) as caught:
        traffic(counted())
    assert "none of its packets can be read" in str(caught.value.hint)


def test_the_verb_prints_the_sizes_draws_them_and_replays_the_messages(
    air: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = air.rename(tmp_path / "air.pcap")
    assert cli.answer(["capture", str(file), "--figure", "sizes.svg"]) == 0, capsys.readouterr().err
    said = capsys.readouterr()
    assert "64\u2013127" in said.out
    assert "3 of 3 packets counted" in said.err
    assert "<svg" in Path("sizes.svg").read_text()
    assert cli.answer(["link", "adhoc-open", "--capture", str(file), "--format", "json"]) == 0, capsys.readouterr().err
    said = capsys.readouterr()
    assert '"adhoc-open messages=1"' in said.out
    assert "2 packets carry no message" in said.err


@pytest.mark.parametrize(
    "words_and_told",
    [
        (["link", "adhoc-open", "--capture", "air.pcap", "--data-B", "9"], "its own sizes"),
        (["link", "--capture", "air.pcap"], "`wattlock capture air.pcap` prints its packets"),
        (["capture", "none.pcap"], "none.pcap"),
    ],
)
def test_a_capture_beside_other_data_or_none_at_all_is_refused(
    words_and_told: tuple[list[str], str],
    air: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    air.rename(tmp_path / "air.pcap")
    words, described = words_and_told
    assert cli.answer(words) != 0
    said = capsys.readouterr().err
    assert described in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "case",
    [
        (105, [], "holds no packet"),
        (147, [bytes(20)] * 5, "its packets are of link type 147, which is none that is read"),
        (105, [bytes(3)] * 2, "none of its 2 packets could be counted: 2 too short"),
    ],
)
@pytest.mark.parametrize(
    "words",
    [["capture"], ["capture", "--format", "json"], ["capture", "--figure", "x.svg"], ["link", "bss-ccmp", "--capture"]],
)
def test_a_capture_of_which_nothing_counts_says_what_it_held_and_what_to_do(
    case: tuple[int, list[bytes], str], words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link, packets, described = case
    (tmp_path / "none.pcap").write_bytes(pcap(packets)[:20] + struct.pack("<I", link) + pcap(packets)[24:])
    assert cli.answer([*words, str(tmp_path / "none.pcap")]) == 4
    said = capsys.readouterr()
    assert not said.out
    assert described in said.err
    assert "hint: " in said.err
