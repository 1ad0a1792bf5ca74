"""Captures: the sizes, kinds and gaps of their packets as the probe reads them, and the messages in them."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from wattlock.errors import InputError, ProbeError
from wattlock.targets.target import supervised
from wattlock.targets.toolbox import Toolbox

# Octets of the smallest Ethernet frame: the first bin is below it, each one after that twice as wide.
FIRST_B = 64


class Census(NamedTuple):
    """What a capture holds.

    * `sizes`: rows of `frame`, `protected`, `size_B`, `count`. `gaps`: rows of `from_ns`, `below_ns`, `count`.
    * `summary`: totals, and the packets that were not counted, by reason.
    """

    sizes: list[dict[str, Any]]
    gaps: list[dict[str, Any]]
    summary: dict[str, Any]


def census(net: Toolbox, file: Path) -> Census:
    """Counts the packets of a capture.

    Raises InputError where the file is no capture.
    """
    rows: dict[str, list[dict[str, Any]]] = {"size": [], "gap": [], "summary": []}
    for row in _lines(net, file):
        rows[row.pop("kind")].append(row)
    return Census(rows["size"], rows["gap"], rows["summary"][0])


# Why packets are not counted: what is said of them, and what to do.
NOT_COUNTED = {
    "unknown_link": (
        "of another link type",
        "captured are 802.11 (with radiotap or without), Ethernet, Linux cooked or raw IP: choose it where you capture",
    ),
    "malformed": ("too short or too damaged for a header", "capture whole packets: tcpdump -s 0"),
    "damaged": ("with a wrong FCS", "their receiver heard noise: capture nearer to the sender"),
}


def refuse_nothing(counted: Census, file: Path) -> None:
    """Raises InputError where no packet was counted, with what the capture held and what to do."""
    summary = counted.summary
    if summary["counted"]:
        return
    packets = summary["packets"]
    cut = "; it is cut short or corrupt" if summary["cut"] else ""
    if not packets:
        hint = "capture it anew" if cut else "capture while something is sent"
        raise InputError(f"{file}: the capture holds no packet{cut}", hint=hint)
    held = [f"{summary[key]:,} {words}" for key, (words, _) in NOT_COUNTED.items() if summary[key]]
    hints = [hint for key, (_, hint) in NOT_COUNTED.items() if summary[key]]
    described = f"none of its {packets:,} packets could be counted: {', '.join(held)}{cut}"
    raise InputError(f"{file}: {described}", hint=hints[0] if hints else "")


HEADERS_B = {"data": 24 + 8 + 20 + 8 + 4, "tcp": 14 + 20 + 20, "udp": 14 + 20 + 8}
"""What stands around a message: MAC, LLC, IP, UDP and FCS of an 802.11 data frame; Ethernet, IP and TCP or UDP."""

PROTECTION_B = 16
"""Of a protected 802.11 frame, as CCMP has it; other protocols have 8 to 24."""

MOST_SIZES = 64
"""Each size is asked of the air for itself: more than these are put together with their neighbours."""


class CapturedMessages(NamedTuple):
    """The messages of a capture.

    * `sizes`: octets of a message and how many; `left_out`: packets that carry none.
    """

    sizes: list[tuple[int, int]]
    left_out: int


def traffic(counted: Census) -> CapturedMessages:
    """What a scenario sends in place of a capture's packets: the messages of its data frames, TCP and UDP packets.

    A message is what is left of a packet without the headers around it (HEADERS_B), without options. Management and
    control frames carry none, and none of them is ever encrypted as data. Of more than MOST_SIZES sizes neighbours are
    put together, each group with about its octets.

    Raises InputError where no packet carries a message.
    """
    found: dict[int, int] = {}
    left_out = 0
    for row in counted.sizes:
        around_B = HEADERS_B.get(row["frame"], row["size_B"]) + (PROTECTION_B if row["protected"] else 0)
        if row["size_B"] > around_B:
            plain_B = row["size_B"] - around_B
            found[plain_B] = found.get(plain_B, 0) + row["count"]
        else:
            left_out += row["count"]
    if not found:
        hint = "its packets are management, control, or headers alone"
        if not counted.sizes:
            hint = "none of its packets can be read: `wattlock capture FILE` says why"
        raise InputError("no packet of the capture carries a message", hint=hint)
    width_B = -(-max(found) // MOST_SIZES) if len(found) > MOST_SIZES else 1
    groups: dict[int, list[tuple[int, int]]] = {}
    for plain_B, count in sorted(found.items()):
        groups.setdefault((plain_B - 1) // width_B, []).append((plain_B, count))
    sizes = []
    for group in groups.values():
        messages = sum(count for _, count in group)
        sizes.append((round(sum(plain_B * count for plain_B, count in group) / messages), messages))
    return CapturedMessages(sizes, left_out)


def _lines(net: Toolbox, file: Path) -> Iterator[dict[str, Any]]:
    """The lines of the probe's answer; the last one is its summary."""
    try:
        child = subprocess.Popen(
            [net.program, "capture", "--", file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=supervised()
        )
    except OSError as error:
        raise ProbeError(f"{net.program}: {error.strerror}", hint="`make setup` builds it anew") from error
    with child:
        assert child.stdout is not None and child.stderr is not None  # noqa: PT018, S101 - both are pipes
        whole = False
        for line in child.stdout:
            row = json.loads(line)
            whole = row["kind"] == "summary"
            yield row
        complaints = child.stderr.read().decode(errors="replace").splitlines()
    if not whole or child.returncode:
        described = {kind: text for kind, _, text in (line.partition(": ") for line in complaints)}
        message = described.get("error", f"{file}: the probe ended with code {child.returncode}")
        raise InputError(message, hint=described.get("hint", "a capture is pcap or pcapng, gzipped or not"))


def binned(sizes: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """A row a bin and kind: `from_B`, `bin` in words, `kind`, `count`; every bin up to the largest has at least one."""
    counts: dict[tuple[int, str], int] = {}
    for row in sizes:
        kind = f"{row['frame']}, protected" if row["protected"] else row["frame"]
        key = (_from_B(row["size_B"]), kind)
        counts[key] = counts.get(key, 0) + row["count"]
    largest_B, some_kind = max(counts)
    from_B = 0
    while from_B < largest_B:
        if not any(bin_B == from_B for bin_B, _ in counts):
            counts[from_B, some_kind] = 0
        from_B = 2 * from_B or FIRST_B
    return pl.DataFrame(
        [
            {"from_B": bin_B, "bin": f"{bin_B}\u2013{(2 * bin_B or FIRST_B) - 1}", "kind": kind, "count": count}
            for (bin_B, kind), count in sorted(counts.items())
        ]
    )


def _from_B(size_B: int) -> int:
    """The least size of the bin that a size lies in."""
    return 0 if size_B < FIRST_B else 1 << size_B.bit_length() - 1
