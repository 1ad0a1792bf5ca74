"""Captures: the probe's census as rows, packets for replay, the figure of their sizes."""

import struct
from pathlib import Path

import pytest

from wattlock.errors import InputError
from wattlock.link import capture
from wattlock.report.evidence import NothingToDraw
from wattlock.report.traffic import binned, packet_sizes
from wattlock.run import probe


def pcap(frames: list[bytes]) -> bytes:
    """A capture of 802.11 frames a millisecond apart, without FCS."""
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 105)
    return head + b"".join(
        struct.pack("<IIII", 1, 1000 * at, len(frame), len(frame)) + frame for at, frame in enumerate(frames)
    )


@pytest.fixture
def air(tmp_path: Path) -> Path:
    """Two beacons of 100 octets and one protected data frame of 1500."""
    file = tmp_path / "-air.pcap"
    file.write_bytes(pcap([b"\x80\0" + bytes(98), b"\x80\0" + bytes(98), b"\x08\x41" + bytes(1498)]))
    return file


def test_sizes_have_the_fcs_in_them_and_gaps_lie_in_their_bins(air: Path) -> None:
    found = capture.census(probe.find(), air)
    assert [(row["frame"], row["protected"], row["size_B"], row["count"]) for row in found.sizes] == [
        ("management", False, 104, 2),
        ("data", True, 1504, 1),
    ]
    assert sum(row["count"] for row in found.gaps) == 2
    assert all(row["from_ns"] <= 1_000_000 < row["below_ns"] for row in found.gaps)
    assert found.summary["counted"] == 3


def test_packets_come_in_their_order_with_their_times(air: Path) -> None:
    found = list(capture.packets(probe.find(), air))
    assert [packet.size_B for packet in found] == [104, 104, 1504]
    assert [packet.time_ns for packet in found] == [10**9, 10**9 + 10**6, 10**9 + 2 * 10**6]


def test_a_file_that_is_no_capture_is_an_input_error(tmp_path: Path) -> None:
    file = tmp_path / "none.pcap"
    file.write_bytes(b"not a capture")
    with pytest.raises(InputError, match="neither pcap nor pcapng"):
        capture.census(probe.find(), file)


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
