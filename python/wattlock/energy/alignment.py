"""Where a run lies in the recording of an instrument beside it: offset and drift of the two clocks, by its markers.

A marker is 13 chips of load, busy or idle by a Barker code, whose moments the device wrote down by its own clock. Its
correlation with the recording finds places where one may lie; those that have the distances of the run's markers are
the run's, and a straight line through them joins the two clocks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from wattlock.analysis.draws import Array
from wattlock.energy.recordings import HOLE, Recording
from wattlock.errors import InputError

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
