"""Captures: the sizes, kinds and gaps of their packets, and the packets themselves, as the probe reads them."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from wattlock.errors import InputError, ProbeError


class Packet(NamedTuple):
    """A packet to be replayed: when (null where the capture has no times), how large on its medium, what it is."""

    time_ns: int | None
    size_B: int
    frame: str
    protected: bool


class Census(NamedTuple):
    """What a capture holds.

    * `sizes`: rows of `frame`, `protected`, `size_B`, `count`. `gaps`: rows of `from_ns`, `below_ns`, `count`.
    * `summary`: totals, and the packets that were not counted, by reason.
    """

    sizes: list[dict[str, Any]]
    gaps: list[dict[str, Any]]
    summary: dict[str, Any]


def census(probe: Path, file: Path) -> Census:
    """Counts the packets of a capture.

    Raises InputError where the file is no capture.
    """
    rows: dict[str, list[dict[str, Any]]] = {"size": [], "gap": [], "summary": []}
    for row in _lines(probe, file):
        rows[row.pop("kind")].append(row)
    return Census(rows["size"], rows["gap"], rows["summary"][0])


def packets(probe: Path, file: Path) -> Iterator[Packet]:
    """The packets of a capture in their order, one at a time.

    Raises InputError where the file is no capture.
    """
    for row in _lines(probe, file, "--packets"):
        if row["kind"] == "packet":
            yield Packet(row["time_ns"], row["size_B"], row["frame"], row["protected"])


def _lines(probe: Path, file: Path, *options: str) -> Iterator[dict[str, Any]]:
    """The lines of the probe's answer; the last one is its summary."""
    try:
        child = subprocess.Popen(
            [probe, "capture", *options, "--", file], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except OSError as error:
        raise ProbeError(f"{probe}: {error.strerror}", hint="`make setup` builds it anew") from error
    with child:
        assert child.stdout is not None and child.stderr is not None  # noqa: PT018, S101 - both are pipes
        whole = False
        for line in child.stdout:
            row = json.loads(line)
            whole = row["kind"] == "summary"
            yield row
        said = child.stderr.read().decode(errors="replace").splitlines()
    if not whole or child.returncode:
        errors = [line.removeprefix("error: ") for line in said if line.startswith("error: ")]
        message = errors[0] if errors else f"{file}: the probe ended with code {child.returncode}"
        raise InputError(message, hint="a capture is pcap or pcapng, gzipped or not")
