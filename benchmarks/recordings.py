"""Whether a made-up recording joined to a made-up run gives the joules that it was made of: `make bench-recordings`.

Each draw is a run of three cases in eight processes, recorded at 1 to 100 kHz by a clock that is 3 s and 200 ppm off,
with noise, an uncertain gain and a gap inside a block. With --csv the reading of 10 minutes at 100 kHz is timed.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "python"))

from support.recorded_runs import draw_one
from wattlock.energy.joining import Averages
from wattlock.energy.recordings import read

AIM_ERROR, AIM_HELD = 0.02, 0.93
LONG_HZ, LONG_S = 100_000, 600
SLICE = 1_000_000


def main() -> None:
    """Print a line a question."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--draws", type=int, default=500)
    asked.add_argument("--csv", action="store_true", help="time the reading of 60 million samples instead")
    options = asked.parse_args()
    if options.csv:
        _time_reading()
    else:
        _compare(options.draws)


def _compare(draws: int) -> None:
    start = time.perf_counter()
    found = [draw_one(seed) for seed in range(draws)]
    errors = np.abs(np.concatenate([draw.errors for draw in found]))
    held = np.concatenate([draw.held for draw in found])
    named = sum(len(draw.left_out) == 1 and "samples are missing" in draw.left_out[0] for draw in found)
    off_ms = [abs(draw.offset_error_s) * 1e3 for draw in found]
    off_ppm = [abs(draw.drift_error) * 1e6 for draw in found]
    took_s = time.perf_counter() - start
    print(f"{draws} draws, {len(errors)} energies in {took_s:.0f} s")
    print(
        f"error: median {np.median(errors):.3%}, 95th percentile {np.quantile(errors, 0.95):.3%}, "
        f"greatest {errors.max():.2%} (aim {AIM_ERROR:.0%})"
    )
    print(f"95 % intervals hold {held.mean():.1%} of the truths (aim at least {AIM_HELD:.0%})")
    print(f"the gap's block is named and left out in {named} of {draws}")
    print(
        f"offset off by {np.median(off_ms):.3f} ms (median), {max(off_ms):.3f} ms (greatest); "
        f"drift by {np.median(off_ppm):.1f} and {max(off_ppm):.1f} ppm"
    )


def _time_reading() -> None:
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "long.csv")
        draw = np.random.default_rng(1)
        with file.open("w", encoding="utf-8") as out:
            out.write("Timestamp(ms),Current(uA)\n")
            for first in range(0, LONG_HZ * LONG_S, SLICE):
                at_ms = (first + np.arange(SLICE)) * (1e3 / LONG_HZ)
                currents = 5e3 + 100 * draw.standard_normal(SLICE)
                out.writelines(f"{ms:.2f},{uA:.3f}\n" for ms, uA in zip(at_ms, currents, strict=True))
        before_B = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        start = time.perf_counter()
        recording = read(file, voltage_V=3.3)
        read_s = time.perf_counter() - start
        Averages(recording.time_s, recording.power_W)
        all_s = time.perf_counter() - start
        most_B = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(
            f"{len(recording.time_s):,} samples, {file.stat().st_size / 1e9:.2f} GB: read in {read_s:.1f} s, ready in "
            f"{all_s:.1f} s; {most_B / 1e9:.1f} GB of memory at most ({before_B / 1e9:.1f} before)"
        )


if __name__ == "__main__":
    main()
