r"""A recording of a made-up instrument beside a run, whose truth is known: to try `wattlock energy` without one.

    wattlock run first-look --only 'aes*' --meter recording --out run
    python examples/meters/made_up_recording.py run recording.csv --rate-Hz 1000
    wattlock energy --recording recording.csv --run run --out joined

The run's own records tell when a marker was busy and when a case ran. The made-up device draws `--idle-W` always, 6 W
more in a busy chip of a marker, and some watts more in a case. The instrument averages over each sample, its clock is
3 s and 200 ppm off, it adds noise, and it may lose samples for a while. What a call costs in truth is printed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Array = np.typing.NDArray[np.float64]
Record = Mapping[str, Any]

MARKER_W = 6.0
GUARD_S, GUARD_SAMPLES = 5e-3, 5
"""A case runs for so long before and after its block too: as the instrument does it."""


class Instrument(NamedTuple):
    """How it records: its clock is `offset_s` ahead and `drift` too fast; `gap_s` is a stretch without samples."""

    rate_Hz: float = 1000.0
    offset_s: float = 3.0
    drift: float = 200e-6
    noise_W: float = 0.2
    gain: float = 1.0
    gap_s: tuple[float, float] | None = None


def case_W(case: int) -> float:
    """What a case draws above the idle power."""
    return 2.0 + 0.5 * (case % 5)


def loads(markers: Sequence[Record], blocks: Sequence[Record], guard_s: float = GUARD_S) -> Array:
    """Stretches of load by the device's clock: start, end, watts above the idle power."""
    stretches = [
        (start / 1e9, end / 1e9, MARKER_W)
        for marker in markers
        for start, end, is_busy in zip(marker["edges_ns"], marker["edges_ns"][1:], marker["busy"], strict=False)
        if is_busy
    ]
    for block in blocks:
        if block["case"] is not None and block["start"] and block["end"]:
            start, end = (block[edge]["not_before_ns"] / 1e9 for edge in ("start", "end"))
            stretches.append((start - guard_s, end + guard_s, case_W(block["case"])))
    return np.array(sorted(stretches), dtype=float).reshape(-1, 3)


def record(stretches: Array, idle_W: float, by: Instrument, seed: int) -> tuple[Array, Array]:
    """Times by the instrument's clock, and the mean power of each sample: from 2 s before the run to 2 s after it."""
    draw = np.random.default_rng(seed)
    first_s, last_s = stretches[0, 0] - 2.0, stretches[-1, 1] + 2.0
    edges_s = np.arange(int((last_s - first_s) * by.rate_Hz) + 1) / by.rate_Hz
    # A moment of the device in the instrument's time: from its start, `offset_s` later, by a faster clock.
    points_s = (np.ravel(stretches[:, :2]) - first_s) * (1 + by.drift) + by.offset_s
    watts = np.ravel(np.column_stack([stretches[:, 2], np.zeros(len(stretches))]))
    energy_J = np.concatenate([[0.0], np.cumsum(np.diff(points_s) * watts[:-1])])
    at_s = edges_s + by.offset_s
    power_W = idle_W + np.diff(np.interp(at_s, points_s, energy_J)) * by.rate_Hz
    power_W = (power_W + draw.normal(0.0, by.noise_W, len(power_W))) * by.gain
    time_s = at_s[:-1]
    if by.gap_s is not None:
        keep = (time_s < by.gap_s[0]) | (time_s > by.gap_s[1])
        time_s, power_W = time_s[keep], power_W[keep]
    return time_s, power_W


def truths_uJ(blocks: Sequence[Record]) -> dict[int, float]:
    """Microjoules of one call of each case above the idle power."""
    calls_ns: dict[int, list[float]] = {}
    for block in blocks:
        if block["case"] is not None and block["error"] is None:
            calls_ns.setdefault(block["case"], []).append(block["run_ns"] / block["calls"])
    return {case: case_W(case) * float(np.mean(times)) / 1e3 for case, times in calls_ns.items()}


def main() -> None:
    """Write the recording, and print the truth."""
    from wattlock.store import RunFolder

    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("run", type=Path, help="a run that was measured with --meter recording")
    asked.add_argument("file", type=Path, help="the recording to write")
    asked.add_argument("--rate-Hz", type=float, default=1000.0)
    asked.add_argument("--idle-W", type=float, default=3.0)
    asked.add_argument("--gap-s", type=float, nargs=2, help="from and to: no samples there")
    asked.add_argument("--seed", type=int, default=1)
    options = asked.parse_args()

    folder = RunFolder.open(options.run)
    markers, blocks = folder.records("marker"), folder.records("energy_block")
    instrument = Instrument(rate_Hz=options.rate_Hz, gap_s=options.gap_s and tuple(options.gap_s))
    guard_s = max(GUARD_S, GUARD_SAMPLES / options.rate_Hz)
    time_s, power_W = record(loads(markers, blocks, guard_s), options.idle_W, instrument, options.seed)
    with options.file.open("w", encoding="utf-8") as out:
        out.write("#time (s),current (A),voltage (V),power (W)\n")
        np.savetxt(out, np.column_stack([time_s, power_W / 5.0, np.full_like(power_W, 5.0), power_W]), "%.7f", ",")
    cases = {case["case"]: case for case in folder.plan() if case["kind"] == "case"}
    lines = ["cipher,provider,operation,payload_B,energy_uJ"]
    for number, energy_uJ in sorted(truths_uJ(blocks).items()):
        case = cases[number]
        named = (case["cipher"], case["provider"], case["operation"], case["payload_B"])
        lines.append(",".join(map(str, (*named, f"{energy_uJ:.6g}"))))
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
