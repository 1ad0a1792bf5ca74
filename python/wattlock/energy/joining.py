"""The recording of an instrument joined to the run that it was made beside: a folder of its own, read as a run is.

The run marked its blocks; the recording has the joules. Where the run lies in the recording is `alignment`'s matter.
Each block's joules are integrated between its ends, and everything after that is as with any meter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from wattlock.energy.alignment import Alignment, Averages, Marker, align
from wattlock.energy.recordings import FEWEST_SAMPLES, Recording, read
from wattlock.errors import InputError, StoreError
from wattlock.run.result import is_recorded
from wattlock.store import RunFolder, find
from wattlock.store.derived import derive, sums_sha256
from wattlock.store.shelf import ROOT, remember
from wattlock.study.inputs import sha256

SUFFIX = "-joined"
PLAUSIBLE_W = (1e-7, 1e4)
"""A device draws no less asleep and no more awake; beyond it a unit is wrong."""

USUAL_ACCURACY_PERCENT = 1.0
GAIN_SOURCES = {
    "told": "as told by --accuracy",
    "ppk2": "ours: the maker's ranges err by some percent each, and the calibration is not known to be fresh",
    "usual": "ours: not told by --accuracy; makers of such instruments state 0.3 to 1 %",
}


@dataclass(frozen=True)
class Instrument:
    """What a recording doesn't say of itself.

    * `voltage_V`: where it has current alone; `units`: by quantity, where the heads don't tell.
    * `columns`: by quantity, where there are several; `pin`: the column that shows the marker, where a pin did.
    * `accuracy_percent`: relative standard uncertainty of its gain; null takes the usual one of its kind.
    """

    voltage_V: float | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    pin: str | None = None
    accuracy_percent: float | None = None
    columns: Mapping[str, str] = field(default_factory=dict)


class Integrated(NamedTuple):
    """The blocks of a run in a recording: their records, and why some have no joules."""

    records: list[dict[str, Any]]
    left_out: list[str]


class Joined(NamedTuple):
    """A recording that was joined to a run, in a folder of its own."""

    folder: RunFolder
    alignment: Alignment
    left_out: list[str]
    record: dict[str, Any]


def join(file: Path, run: str | Path, out: Path | None = None, instrument: Instrument = Instrument()) -> Joined:
    """Joins a recording to a run.

    * `run`: its path, its id, or `last`; `out`: the folder to make, `runs/ID-joined` without it.

    Raises StoreError where the run has no markers, or the folder holds something; InputError where the recording can't
    be read, is too slow, doesn't contain the run, in part, or in two places.
    """
    source = RunFolder.open(find(run))
    sums = sums_sha256(source)
    markers, blocks = _marked(source)
    recording = read(
        file,
        voltage_V=instrument.voltage_V,
        marker=instrument.pin,
        units=instrument.units,
        chosen=instrument.columns,
    )
    _refuse_implausible(file, recording)
    power = Averages(recording.time_s, recording.power_W)
    signal = power if recording.marker is None else Averages(recording.time_s, recording.marker.astype(float))
    try:
        alignment = align(recording, markers, signal)
        _refuse_part(recording, alignment, blocks)
        integrated = integrate_blocks(power, alignment, blocks)
    except InputError as error:
        raise InputError(f"{file}: {error.message}", hint=error.hint) from None
    name = f"{source.id}{SUFFIX}"
    record = {
        "kind": "recording",
        "run": source.id,
        "run_sums_sha256": sums,
        "recording_sha256": sha256(file),
        "recording_B": file.stat().st_size,
        "samples": len(recording.time_s),
        "sample_period_s": power.period_s,
        "voltage_V": instrument.voltage_V,
        "units": dict(instrument.units),
        "columns": dict(instrument.columns),
        "pin": instrument.pin,
        **asdict(alignment),
        "blocks": len(blocks),
        "left_out": len(integrated.left_out),
    }
    first = {**source.plan()[0], "id": name, "joined": {key: record[key] for key in _NAMED}}
    records = [*_others(source, integrated.records, _meter(recording, power, alignment, instrument)), record]
    folder = derive(source, out or ROOT / name, first, records)
    remember(name, folder.path)
    return Joined(folder, alignment, integrated.left_out, record)


_NAMED = ("run", "run_sums_sha256", "recording_sha256")


def integrate_blocks(power: Averages, alignment: Alignment, blocks: Sequence[Mapping[str, Any]]) -> Integrated:
    """The records of blocks with the joules between their ends, and with what the alignment leaves unsure of them.

    A block that the recording can't tell has an error in its record, and no joules.

    Raises InputError where it can tell none.
    """
    whole = [block for block in blocks if block["start"] and block["end"]]
    ends_s = np.array([[_moment_s(block["start"]), _moment_s(block["end"])] for block in whole]).reshape(-1, 2)
    places_s, u_s = alignment.recorded_s(ends_s), alignment.u_s(ends_s)
    by_shift = [
        power.until(places_s[:, 1] + s * u_s[:, 1]) - power.until(places_s[:, 0] + s * u_s[:, 0]) for s in _SIDES
    ]
    energies_J, around_J = by_shift[0], np.max(np.abs(np.array(by_shift[1:]) - by_shift[0]), axis=0)
    found = {id(block): row for row, block in enumerate(whole)}
    records, left_out = [], []
    for block in blocks:
        row = found.get(id(block))
        joules: dict[str, Any] = {}
        if row is not None and block["error"] is None:
            start_s, end_s = places_s[row]
            error = _untold(power, float(start_s), float(end_s))
            joules = {"gross_nJ": round(energies_J[row] * 1e9), "alignment_u_nJ": float(around_J[row] * 1e9)}
            if error is None and energies_J[row] <= 0:
                error = f"{energies_J[row]:.3g} J in the recording"
            if error is not None:
                joules = {"error": error}
                left_out.append(f"{_named(block)}: {error}")
        records.append({**block, **joules})
    if len(left_out) == len([block for block in blocks if block["error"] is None]):
        what = left_out[0] if left_out else "no block of the run is whole"
        hint = f"record faster, or measure with `--meter recording:{max(10, round(1 / power.period_s))}Hz`"
        raise InputError(f"the recording has no joules for any block: {what}", hint=hint)
    return Integrated(records, left_out)


_SIDES = (0.0, 1.0, -1.0)


def _moment_s(edge: Mapping[str, Any]) -> float:
    # A suspend stops the clock and not the recording.
    return float(edge["not_before_ns"] + edge["not_after_ns"]) / 2e9 + float(edge["suspended_ns"]) / 1e9


def _untold(power: Averages, start_s: float, end_s: float) -> str | None:
    """Why the recording can't tell the joules between two of its moments; null where it can."""
    if (hole := power.hole_in(start_s, end_s)) is not None:
        return f"samples are missing between {hole[0]:.6g} and {hole[1]:.6g} s of the recording"
    if end_s - start_s < FEWEST_SAMPLES * power.period_s:
        return f"shorter than {FEWEST_SAMPLES} samples of {power.period_s * 1e3:.4g} ms"
    return None


def _named(block: Mapping[str, Any]) -> str:
    what = "baseline" if block["case"] is None else f"case {block['case']}"
    place = f"process {block['process']}, superblock {block['superblock']}, block {block['position']}"
    return f"{place} ({what})"


def _marked(run: RunFolder) -> tuple[list[Marker], list[dict[str, Any]]]:
    """The markers of a run and its blocks, of the processes that ended.

    Raises StoreError where it has none.
    """
    complete = run.complete()
    markers = [record for record in run.records("marker") if record["process"] in complete]
    if not markers:
        hint = "`wattlock run STUDY --meter recording` makes a run that marks its blocks for the instrument beside it"
        raise StoreError(f"run {run.path}: has no marker by which a recording could be joined to it", hint=hint)
    starts_ns = [record["edges_ns"][0] for record in markers]
    if any(later <= earlier for earlier, later in pairwise(starts_ns)):
        hint = "a recording can be joined to a run of one session: measure again"
        raise StoreError(f"run {run.path}: the device was started anew in its course", hint=hint)
    sound = [record for record in markers if record["error"] is None] or markers
    blocks = [block for block in run.records("energy_block") if block["process"] in complete]
    return [_marker(record) for record in sound], blocks


def _marker(record: Mapping[str, Any]) -> Marker:
    edges_s = (np.array(record["edges_ns"], dtype=float) + record["suspended_ns"]) / 1e9
    return Marker(edges_s, np.array(record["busy"], dtype=bool))


def _refuse_implausible(file: Path, recording: Recording) -> None:
    """Raises InputError where a unit of the recording must be wrong."""
    middle_W = float(np.median(recording.power_W))
    least, most = PLAUSIBLE_W
    mean_W = float(np.mean(recording.power_W))
    if mean_W <= 0:
        raise InputError(
            f"{file}: a mean power of {mean_W:.3g} W is not above 0",
            hint="the leads are the wrong way round, or another column is meant: --column current=NAME",
        )
    if not least <= middle_W <= most:
        raise InputError(
            f"{file}: a median power of {middle_W:.3g} W is not plausible: a column has another unit",
            hint="--unit current=uA, --unit voltage=mV or --unit power=mW tells it",
        )


def _refuse_part(recording: Recording, alignment: Alignment, blocks: Sequence[Mapping[str, Any]]) -> None:
    """Raises InputError where the recording has some of the run's blocks and not the others."""
    moments = np.array([_moment_s(block[end]) for block in blocks for end in ("start", "end") if block[end]])
    if not len(moments):
        return
    places_s = alignment.recorded_s(moments)
    first, last = float(recording.time_s[0]), float(recording.time_s[-1])
    missing = [
        *([f"begins {first - places_s.min():.3g} s after its first block"] if places_s.min() < first else []),
        *([f"ends {places_s.max() - last:.3g} s before its last one does"] if places_s.max() > last else []),
    ]
    if missing:
        outside = int(np.sum((places_s < first) | (places_s > last)))
        raise InputError(
            f"the recording has a part of the run: it {' and '.join(missing)} ({outside} of {len(moments)} ends of "
            "blocks are outside)",
            hint="start the instrument before the run and stop it afterwards; a run can be measured again",
        )


def _meter(recording: Recording, power: Averages, alignment: Alignment, instrument: Instrument) -> dict[str, Any]:
    """What the instrument was, as a meter of the run."""
    usual_percent = recording.profile.accuracy_percent if recording.profile else None
    percent, source = (
        (instrument.accuracy_percent, "told")
        if instrument.accuracy_percent is not None
        else (usual_percent, "ppk2")
        if usual_percent is not None
        else (USUAL_ACCURACY_PERCENT, "usual")
    )
    fed = (
        "" if instrument.voltage_V is None else f", at {instrument.voltage_V:g} V as told: the voltage is not measured"
    )
    return {
        "kind": "instrument",
        "domain": "recording",
        "scope": (
            f"what the instrument fed, as it recorded it{fed}; aligned within {alignment.middle_u_s * 1e3:.2g} ms by "
            f"{alignment.found} of {alignment.markers} markers"
        ),
        "unit": "A" if fed else "W",
        "update_period_ns": round(power.period_s * 1e9),
        "gain_relative_uncertainty": percent / 100,
        "gain_source": GAIN_SOURCES[source],
        "read_ns": None,
    }


def _others(run: RunFolder, blocks: Sequence[Mapping[str, Any]], meter: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The records of the run that are no batches, with the blocks' joules and the instrument in its headers."""
    joined = {_key(block): block for block in blocks}
    for record in run.others():
        if record["kind"] == "energy_block":
            yield {**record, **joined.get(_key(record), {})}
        elif record["kind"] == "header" and record.get("meter") and is_recorded(record["meter"]):
            yield {**record, "meter": {**record["meter"], **meter}}
        else:
            yield record


def _key(block: Mapping[str, Any]) -> tuple[int, ...]:
    return block["process"], block["superblock"], block["position"], block["attempt"]
