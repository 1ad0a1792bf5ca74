"""Axes: the levels of a factor; of logarithmic ones ends and ticks, and where labels go that would cover each other."""

import math

import altair as alt
import polars as pl
from altair.utils import schemapi

# To hold each part of a chart to Vega-Lite's schema as it is made takes a quarter of a report's time. Tests do it.
schemapi.disable_debug_mode()

Bounds = tuple[float, float]


def levels_of(rows: pl.DataFrame, column: str) -> list[str]:
    """The levels of a factor in the order of the frame."""
    return [str(level) for level in rows[column].unique(maintain_order=True)]


def bounds_of(rows: pl.DataFrame) -> Bounds:
    """The ends of a logarithmic axis that holds every `value` and every interval that has an end, with some air."""
    rows = rows.select(pl.when(pl.col(name).is_finite()).then(name) for name in ("value", "low", "high"))
    low = min(end for end in (rows["low"].min(), rows["value"].min()) if isinstance(end, float) and end > 0)
    high = max(end for end in (rows["high"].max(), rows["value"].max()) if isinstance(end, float))
    return roomy((low, high))


def roomy(ends: Bounds) -> Bounds:
    """The ends of a logarithmic axis with some air beyond these."""
    low, high = ends
    air = max(1.25, (high / low) ** 0.05)
    return low / air, high * air


def log_scale(bounds: Bounds) -> alt.Scale:
    """A logarithmic scale with exactly these ends."""
    return alt.Scale(type="log", domain=list(bounds), nice=False)


def ticks(bounds: Bounds) -> alt.Axis:
    """An axis with a tick at 1, 2 and 5 of each decade; at the powers of ten alone where there are many decades."""
    low, high = bounds
    few = (1, 2, 5) if high / low > 12 else (1, 2, 3, 5)
    steps = (1,) if high / low > 400 else few if high / low > 4 else (1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = [float(f"{step * 10.0**decade:.2g}") for decade in decades for step in steps]
    return alt.Axis(values=[value for value in values if low <= value <= high], format=",~r")


def spread_labels(values: list[float], bounds: Bounds, height_px: int, label_px: int) -> list[float]:
    """Heights in px from the top for labels at these values of a logarithmic axis, at least `label_px` apart.

    Labels keep the order of their values; each moves as little as the ones around it allow.
    """
    low, high = (math.log(end) for end in bounds)
    wanted = [height_px * (high - math.log(value)) / (high - low) for value in values]
    order = sorted(range(len(values)), key=values.__getitem__, reverse=True)
    places: list[list[int]] = []
    for label in order:
        places.append([label])
        while (
            len(places) > 1
            and _middle(places[-1], wanted) - _middle(places[-2], wanted)
            < label_px * (len(places[-1]) + len(places[-2])) / 2
        ):
            places[-2:] = [places[-2] + places[-1]]
    spread = [0.0] * len(values)
    for group in places:
        top = _middle(group, wanted) - label_px * (len(group) - 1) / 2
        for place, label in enumerate(group):
            spread[label] = top + place * label_px
    return spread


def _middle(group: list[int], wanted: list[float]) -> float:
    """The mean height that the labels of a group ask for."""
    return sum(wanted[label] for label in group) / len(group)
