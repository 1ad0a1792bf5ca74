"""The recording of an instrument joined to the run that it was made beside: a folder of its own, read as a run is.

The run marked its blocks; the recording has the joules. Where the run lies in the recording is `alignment`'s matter.
Each block's joules are integrated between its ends, and everything after that is as with any meter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from wattlock.analysis.distributions import Array
from wattlock.energy.recordings import FEWEST_SAMPLES, HOLE, Recording, read
from wattlock.errors import InputError, StoreError
from wattlock.run.result import is_recorded
from wattlock.store import RunFolder, find
from wattlock.store.run_folder import derive, sums_sha256
from wattlock.store.run_plan import ROOT, remember
from wattlock.study.cases import sha256

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


@dataclass(frozen=True)
class Alignment:
    """The recording's time of a moment of the device: offset + (1 + drift) * (moment - pivot).

    * `offset_s`: at `pivot_s`, the middle of the markers that were `found`, of all `markers`.
    * `floor_u_s`: what the samples' distance leaves, the same for the whole recording.
    """

    pivot_s: float
    offset_s: float
    drift: float
    offset_u_s: float
    drift_u: float
    floor_u_s: float
    found: int
    markers: int

    def recorded_s(self, device_s: Array) -> Array:
        """When these moments are in the recording."""
        return np.asarray(self.offset_s + (1 + self.drift) * (device_s - self.pivot_s))

    @property
    def middle_u_s(self) -> float:
        """The standard uncertainty of `offset_s`."""
        return math.hypot(self.offset_u_s, self.floor_u_s)

    def u_s(self, device_s: Array) -> Array:
        """The standard uncertainty of that."""
        return np.sqrt(self.offset_u_s**2 + ((device_s - self.pivot_s) * self.drift_u) ** 2 + self.floor_u_s**2)


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


CHIP_BINS = 8

FINE_BINS = 64
"""The recording is averaged over so many parts of a chip, to find a marker, and to time it."""

LEAST_CHIP_SAMPLES = 4

LEAST_CORRELATION = 0.5
"""Below this a place is no candidate. White noise of the power of the marker's own swing leaves 0.9 of 1."""

MOST_DRIFT = 500e-6
"""Two quartzes of the cheapest kind are not further apart."""

LEAST_SHARE = 0.6
"""Of the markers that would lie in the recording: fewer matched, and it is another run's."""

CANDIDATES, CANDIDATES_A_MARKER = 200, 4
"""So many places are looked at, those most like a marker."""

ANCHORS = 5
"""So many of the run's markers, spread over it, are tried at each place: one of them may be missing."""

OUTLIER = 5.0
"""Places further off the line than so many standard deviations, by the median absolute deviation, are left out."""

CHIPS = 13
"""Chips of a marker."""


class Marker(NamedTuple):
    """A marker as the device wrote it down: when each chip began, and the last ended; which were busy."""

    edges_s: Array
    busy: np.typing.NDArray[np.bool_]

    @property
    def start_s(self) -> float:
        """When it began."""
        return float(self.edges_s[0])

    def busy_s(self, at_s: Array) -> Array:
        """The time that was busy until each moment."""
        until = np.concatenate([[0.0], np.cumsum(np.diff(self.edges_s) * self.busy)])
        return np.asarray(np.interp(at_s, self.edges_s, until))


class Averages:
    """A signal over time, averaged over any stretch: power, or the level of a pin."""

    def __init__(self, time_s: Array, signal: Array) -> None:
        self.time_s = time_s
        steps = np.diff(time_s)
        self.period_s = float(np.median(steps))
        parts = (signal[1:] + signal[:-1]) * (0.5 * steps)
        self.integral = np.concatenate([[0.0], np.cumsum(parts)])
        holes = np.flatnonzero(steps > HOLE * self.period_s)
        self.holes_s = np.column_stack([time_s[holes], time_s[holes + 1]])

    def until(self, at_s: Array) -> Array:
        """The integral from the first sample to each moment."""
        return np.asarray(np.interp(at_s, self.time_s, self.integral))

    def means(self, edges_s: Array) -> Array:
        """The mean between each moment and the next."""
        return np.diff(self.until(edges_s)) / np.diff(edges_s)

    def hole_in(self, start_s: float, end_s: float) -> tuple[float, float] | None:
        """The first stretch without samples that touches this one."""
        touching = (self.holes_s[:, 0] < end_s) & (self.holes_s[:, 1] > start_s)
        if not touching.any():
            return None
        left, right = self.holes_s[np.flatnonzero(touching)[0]]
        return float(left), float(right)


def align(recording: Recording, markers: Sequence[Marker], signal: Averages) -> Alignment:
    """Where the markers of a run lie in a recording.

    * `signal`: what shows the markers: the recording's power, or the level of a pin.

    Raises InputError where it is too slow for the markers, doesn't contain them, or in two places.
    """
    chip_s = float(np.median(np.concatenate([np.diff(marker.edges_s) for marker in markers])))
    if signal.period_s * LEAST_CHIP_SAMPLES > chip_s:
        rate_Hz = max(10, round(1 / signal.period_s))
        raise InputError(
            f"a sample each {signal.period_s * 1e3:.4g} ms is too slow for markers with chips of {chip_s * 1e3:.4g} ms",
            hint=f"measure with `--meter recording:{rate_Hz}Hz`, or record faster; --unit time=ms tells the unit",
        )
    at_s, likeness = _candidates(signal, markers, chip_s)
    starts_s = np.array([marker.start_s for marker in markers])
    places = _places(at_s, likeness, starts_s, recording.time_s, chip_s)
    coarse = _coarse(places, starts_s, chip_s, len(at_s))
    found = np.flatnonzero(np.isfinite(coarse)).tolist()
    exact = {at: _exact(signal, markers[at], coarse[at], chip_s)[0] for at in found}
    line = _line(starts_s[found], np.array(list(exact.values())), signal.period_s, len(markers))
    # A marker whose chips the system cut short is not like the plain code; it is like its own.
    for at in sorted(set(range(len(markers))) - exact.keys()):
        place_s, likeness_there = _exact(signal, markers[at], float(line.recorded_s(starts_s[at])), chip_s)
        if likeness_there > LEAST_CORRELATION and signal.hole_in(place_s, place_s + CHIPS * chip_s) is None:
            exact[at] = place_s
    rows = sorted(exact)
    return _line(starts_s[rows], np.array([exact[at] for at in rows]), signal.period_s, len(markers))


def _candidates(signal: Averages, markers: Sequence[Marker], chip_s: float) -> tuple[Array, Array]:
    """Moments at which a marker may begin, and how much the recording is like one there."""
    step_s = chip_s / CHIP_BINS
    first, last = signal.time_s[0], signal.time_s[-1]
    edges_s = np.arange(first, last, step_s)
    code = np.where(np.repeat(markers[0].busy, CHIP_BINS), 1.0, -1.0)
    code -= code.mean()
    if len(edges_s) <= len(code) + 1:
        return np.empty(0), np.empty(0)
    power = signal.means(edges_s)
    power -= np.median(power)
    size = 1 << int(len(power) + len(code)).bit_length()
    spectrum = np.fft.rfft(power, size) * np.conj(np.fft.rfft(code, size))
    products = np.fft.irfft(spectrum, size)[: len(power) - len(code) + 1]

    def windows(values: Array) -> Array:
        sums = np.concatenate([[0.0], np.cumsum(values)])
        return np.asarray(sums[len(code) :] - sums[: -len(code)])

    spread = windows(power**2) - windows(power) ** 2 / len(code)
    least = 1e-12 * max(float(np.max(power**2)), 1e-30) * len(code)
    likeness = products / np.sqrt(np.maximum(spread, least) * np.sum(code**2))
    high = np.flatnonzero(likeness > LEAST_CORRELATION)
    # The highest of a chip's width stands for it.
    groups = np.split(high, np.flatnonzero(np.diff(high) > CHIP_BINS) + 1) if len(high) else []
    peaks = np.array([group[np.argmax(likeness[group])] for group in groups], dtype=int)
    most = CANDIDATES + CANDIDATES_A_MARKER * len(markers)
    if len(peaks) > most:
        peaks = np.sort(peaks[np.argsort(likeness[peaks])[-most:]])
    return edges_s[peaks], likeness[peaks]


class _Match(NamedTuple):
    """A way in which the run may lie in the recording: the place of each marker, NaN where none is like it."""

    offset_s: float
    places_s: Array
    inside: int

    @property
    def found(self) -> int:
        return int(np.isfinite(self.places_s).sum())


def _places(at_s: Array, likeness: Array, starts_s: Array, time_s: Array, chip_s: float) -> list[_Match]:
    """The ways in which the markers may lie among the candidates, the best first, one for each offset."""
    anchors = np.unique(np.linspace(0, len(starts_s) - 1, ANCHORS).round().astype(int))
    matches: list[_Match] = []
    first_s, last_s = float(time_s[0]), float(time_s[-1])
    for anchor in anchors:
        for place_s in at_s:
            places, predicted = _grown(at_s, starts_s, int(anchor), float(place_s), chip_s)
            inside = int(np.sum((predicted >= first_s) & (predicted + CHIPS * chip_s <= last_s)))
            matches.append(_Match(float(predicted[0]), places, inside))
    weights = dict(zip(at_s.tolist(), likeness.tolist(), strict=True))

    def quality(match: _Match) -> tuple[int, float]:
        return match.found, sum(weights[place] for place in match.places_s[np.isfinite(match.places_s)].tolist())

    matches.sort(key=quality, reverse=True)
    kept: list[_Match] = []
    for match in matches:
        if all(abs(match.offset_s - other.offset_s) > 2 * chip_s for other in kept):
            kept.append(match)
    return kept


def _grown(at_s: Array, starts_s: Array, anchor: int, place_s: float, chip_s: float) -> tuple[Array, Array]:
    """The places of the markers where one lies at `place_s`, from it outwards, and where each would have to be.

    The nearer ones tell the drift by which those further off are found.
    """
    away_s = starts_s - starts_s[anchor]
    places = np.full(len(starts_s), np.nan)
    drift, drift_u = 0.0, MOST_DRIFT
    reach_s = chip_s / 4 / MOST_DRIFT
    while True:
        predicted = place_s + away_s * (1 + drift)
        nearest = at_s[np.clip(np.searchsorted(at_s, predicted), 1, len(at_s) - 1)] if len(at_s) > 1 else at_s[[0]]
        before = at_s[np.clip(np.searchsorted(at_s, predicted) - 1, 0, len(at_s) - 1)]
        nearest = np.where(np.abs(before - predicted) < np.abs(nearest - predicted), before, nearest)
        tolerance = chip_s / 2 + np.abs(away_s) * drift_u
        matched = (np.abs(away_s) <= reach_s) & (np.abs(nearest - predicted) <= tolerance)
        places = np.where(matched, nearest, np.nan)
        if reach_s >= float(np.max(np.abs(away_s), initial=0.0)):
            return places, predicted
        far_s = float(np.max(np.abs(away_s[matched]), initial=0.0))
        if far_s > chip_s:
            x, y = away_s[matched], (places - place_s - away_s)[matched]
            drift = float(np.clip(np.sum(x * y) / np.sum(x * x), -MOST_DRIFT, MOST_DRIFT))
            drift_u = min(MOST_DRIFT, chip_s / 4 / far_s)
        reach_s *= 4


def _coarse(matches: Sequence[_Match], starts_s: Array, chip_s: float, candidates: int) -> Array:
    """The places of the best match, where it is the only one.

    Raises InputError where the run is not there, or twice.
    """
    hint = "is it this run's, from before it until after it, and in these units? --unit time=ms; --marker names a pin"
    if not matches or matches[0].found < (2 if len(starts_s) == 2 else min(3, len(starts_s))):
        what = f"{candidates} places are like a marker, and none like the {len(starts_s)} of the run"
        raise InputError(f"the recording doesn't contain the run: {what}", hint=hint)
    best = matches[0]
    if best.found < LEAST_SHARE * best.inside:
        what = f"at best {best.found} of {best.inside} markers are where they would have to be"
        raise InputError(f"the recording doesn't contain the run: {what}", hint=hint)
    if len(matches) > 1 and matches[1].found >= best.found and abs(matches[1].offset_s - best.offset_s) > 2 * chip_s:
        first, second = sorted(match.offset_s for match in matches[:2])
        raise InputError(
            f"the recording has two places for the run: its first marker fits at {first:.3f} s and at {second:.3f} s, "
            f"each with {best.found} of {len(starts_s)} markers",
            hint="cut the recording so that it holds the run once",
        )
    return best.places_s


def _exact(signal: Averages, marker: Marker, place_s: float, chip_s: float) -> tuple[float, float]:
    """When a marker began, by the shift at which its pattern of load fits best, and how much it is like that."""
    bin_s = max(signal.period_s, chip_s / FINE_BINS)
    length_s = float(marker.edges_s[-1]) - marker.start_s
    edges_s = np.arange(place_s - 1.5 * chip_s, place_s + length_s + 1.5 * chip_s, bin_s)
    power = signal.means(edges_s)
    power -= power.mean()
    shifts_s = np.linspace(-0.75, 0.75, 301) * chip_s
    likeness = np.array([_likeness(power, marker, edges_s - place_s - shift) for shift in shifts_s])
    best = int(np.clip(np.argmax(likeness), 1, len(shifts_s) - 2))
    low, middle, high = likeness[best - 1 : best + 2]
    bend = low - 2 * middle + high
    between = 0.5 * (low - high) / bend if bend < 0 else 0.0
    shift_s = float(shifts_s[best] + np.clip(between, -1, 1) * (shifts_s[1] - shifts_s[0]))
    return place_s + shift_s, float(middle) / max(float(np.sqrt(power @ power)), 1e-30)


def _likeness(power: Array, marker: Marker, after_start_s: Array) -> float:
    model = np.diff(marker.busy_s(after_start_s + marker.start_s))
    model -= model.mean()
    return float(power @ model / max(float(np.sqrt(model @ model)), 1e-30))


def _line(device_s: Array, recorded_s: Array, period_s: float, markers: int) -> Alignment:
    """The line through the markers, without those far off it.

    u^2 of a place on it: s^2 (1 / n + (t - mean)^2 / sum (t - mean)^2), and a sample's distance over the square root of
    12 for what shifts all markers alike. Source: JCGM 100:2008 (GUM), H.3.
    """
    floor_s = period_s / math.sqrt(12)
    keep = np.ones(len(device_s), dtype=bool)
    for _ in range(3):
        pivot = float(device_s[keep].mean())
        x, y = device_s[keep] - pivot, recorded_s[keep] - (device_s[keep] - pivot)
        spread = float(x @ x)
        drift, offset = float(x @ y) / max(spread, 1e-30), float(y.mean())
        rest = recorded_s - offset - (1 + drift) * (device_s - pivot)
        typical = max(1.4826 * float(np.median(np.abs(rest))), floor_s / 2)
        good = np.abs(rest) <= OUTLIER * typical
        if good.sum() < max(2, 0.5 * len(device_s)) or bool((good == keep).all()):
            break
        keep = good
    count = int(keep.sum())
    inner = rest[keep]
    s = max(float(np.sqrt(inner @ inner / (count - 2))) if count > 2 else 0.0, floor_s / 2)
    return Alignment(
        pivot_s=pivot,
        offset_s=offset,
        drift=drift,
        offset_u_s=s / math.sqrt(count),
        drift_u=s / float(np.sqrt(max(spread, 1e-30))),
        floor_u_s=floor_s,
        found=count,
        markers=markers,
    )
