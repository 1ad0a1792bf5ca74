"""Runs that were recorded beside the device, made up: markers and blocks, the recording, and the joules in truth."""

import importlib.util
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from support.tree import TREE
from wattlock.analysis import energy_blocks
from wattlock.energy.joining import Alignment, Averages, Integrated, Marker, align, integrate_blocks
from wattlock.energy.recordings import Recording

_SPEC = importlib.util.spec_from_file_location(
    "made_up_recording", TREE / "examples" / "meters" / "made_up_recording.py"
)
assert _SPEC
assert _SPEC.loader
made_up: Any = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(made_up)

BUSY = [bool(int(chip)) for chip in "1111100110101"]
PROCESSES = 8
ACCURACY = 0.003
"""Relative standard uncertainty of the made-up instrument's gain."""


class MadeUpRun(NamedTuple):
    """Records of a run as the probe writes them, by the device's clock."""

    markers: list[dict[str, Any]]
    blocks: list[dict[str, Any]]


def run(draw: np.random.Generator, *, cases: int = 3, processes: int = PROCESSES, rate_Hz: float = 1000.0) -> MadeUpRun:
    """A run of some cases: a process has a marker, one superblock, and a marker."""
    chip_ns = max(20_000_000, int(20e9 / rate_Hz))
    block_ns = max(41_000_000, int(1e9 / rate_Hz / (np.sqrt(6) * 0.01)))
    guard_ns = max(5_000_000, int(5e9 / rate_Hz))
    call_ns = draw.uniform(1e3, 1e6, cases)
    now = int(draw.uniform(1e12, 1e14))
    markers: list[dict[str, Any]] = []
    blocks: list[dict[str, Any]] = []

    def mark(process: int, number: int) -> None:
        nonlocal now
        now += 2 * chip_ns
        edges = now + np.arange(14) * chip_ns + draw.exponential(60e3, 14).astype(int)
        markers.append(
            {"kind": "marker", "process": process, "marker": number, "chip_ns": chip_ns, "edges_ns": edges.tolist()}
            | {"busy": BUSY, "suspended_ns": 0, "error": None}
        )
        now = int(edges[-1]) + 2 * chip_ns

    for process in range(processes):
        now += int(draw.uniform(0.1e9, 0.4e9))  # a process starts
        mark(process, 0)
        order = draw.permutation(cases).tolist()
        for position, case in enumerate([None, *order, None, *reversed(order), None]):
            now += guard_ns + int(draw.uniform(1e4, 5e5))
            start = now
            now += block_ns + int(draw.exponential(1e5))
            own = {"case": case, "role": "baseline" if case is None else "case", "position": position}
            calls = 0 if case is None else int((now - start) / (call_ns[case] * (1 + draw.normal(0, 0.002))))
            blocks.append(
                {"kind": "energy_block", "process": process, "superblock": 0, "attempt": 0, **own, "calls": calls}
                | {"run_ns": now - start, "start": _edge(start), "end": _edge(now), "gross_nJ": None}
                | {"alignment_u_nJ": None, "error": None, "follows": None}
            )
            now += guard_ns
        mark(process, 1)
    return MadeUpRun(markers, blocks)


def _edge(at_ns: int) -> dict[str, Any]:
    return {"not_before_ns": at_ns, "not_after_ns": at_ns + 60, "counter_nJ": None, "suspended_ns": 0}


def recording_of(made: MadeUpRun, instrument: Any, seed: int, idle_W: float = 3.0) -> Recording:
    """What an instrument records of it."""
    guard_s = max(5e-3, 5 / instrument.rate_Hz)
    return Recording(*made_up.record(made_up.loads(*made, guard_s), idle_W, instrument, seed))


def markers_of(made: MadeUpRun) -> list[Marker]:
    """Its markers as they are read."""
    return [Marker(np.array(one["edges_ns"]) / 1e9, np.array(one["busy"])) for one in made.markers]


def aligned(made: MadeUpRun, recording: Recording) -> tuple[Alignment, Integrated]:
    """The run found in the recording, and its blocks with their joules."""
    power = Averages(recording.time_s, recording.power_W)
    alignment = align(recording, markers_of(made), power)
    return alignment, integrate_blocks(power, alignment, made.blocks)


def energies(records: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """A row a case, as a run's result has it."""
    return energy_blocks.by_case(energy_blocks.by_process(energy_blocks.blocks(records), 0.0), ACCURACY, {}, 2.0)


class Draw(NamedTuple):
    """One made-up run, recorded, joined, and compared with the truth."""

    rate_Hz: float
    errors: list[float]
    held: list[bool]
    offset_error_s: float
    drift_error: float
    left_out: list[str]
    gap_s: tuple[float, float]


def draw_one(seed: int) -> Draw:
    """A rate of 1 to 100 kHz, clocks off by up to 200 ppm and 3 s, noise, a gain, and a gap inside a block."""
    draw = np.random.default_rng(seed)
    rate_Hz = float(np.exp(draw.uniform(np.log(1e3), np.log(1e5))))
    made = run(draw, rate_Hz=rate_Hz)
    drift, offset_s = float(draw.choice([-200e-6, 200e-6])), float(draw.choice([-3.0, 3.0]))
    block = made.blocks[int(draw.integers(len(made.blocks)))]
    # The recording begins 2 s before the first busy chip.
    zero_s = made.markers[0]["edges_ns"][0] / 1e9 - 2.0
    inside_s = (block["start"]["not_before_ns"] / 1e9 - zero_s + 0.01) * (1 + drift) + offset_s
    instrument = made_up.Instrument(
        rate_Hz=rate_Hz,
        offset_s=offset_s,
        drift=drift,
        noise_W=float(draw.uniform(0.02, 0.3)),
        gain=1 + ACCURACY * float(draw.standard_normal()),
        gap_s=(inside_s, inside_s + max(0.02, 10 / rate_Hz)),
    )
    alignment, integrated = aligned(made, recording_of(made, instrument, seed))
    table, truths = energies(integrated.records), made_up.truths_uJ(made.blocks)
    rows = table.to_dicts()
    pivot_s = (alignment.pivot_s - zero_s) * (1 + drift) + offset_s
    return Draw(
        rate_Hz,
        [row["energy_uJ"] / truths[row["case"]] - 1 for row in rows],
        [row["energy_low_uJ"] <= truths[row["case"]] <= row["energy_high_uJ"] for row in rows],
        alignment.offset_s - pivot_s,
        alignment.drift - drift,
        integrated.left_out,
        instrument.gap_s,
    )
