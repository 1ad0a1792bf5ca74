"""Captures by hand."""

import struct


def pcap(frames: list[bytes]) -> bytes:
    """A capture of 802.11 frames a millisecond apart, without FCS."""
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 105)
    return head + b"".join(
        struct.pack("<IIII", 1, 1000 * at, len(frame), len(frame)) + frame for at, frame in enumerate(frames)
    )
