"""A poor signal as a distribution: positions drawn by a law, and what 3 dB more and less would do."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from wattlock.analysis.distributions import normal_quantiles
from wattlock.errors import InputError
from wattlock.link.scenario import Named, Spread

OFFSETS_dB = (0.0, 3.0, -3.0)
QUANTILES = (0.5, 0.025, 0.975)
# No radio is nearer than that to another, and no wall amplifies.
LEAST = {"distance_m": 0.1, "walls_dB": 0.0}


class Case(NamedTuple):
    """One signal that the air is asked about: `offset_dB` above what the scenario says."""

    offset_dB: float
    signal: dict[str, float]


class Distribution(NamedTuple):
    """A quantity over the positions: median and 95 % of them."""

    median: float
    low: float
    high: float


def cases(named: Named, *, beside: bool = True) -> list[Case]:
    """The signals to ask about: those of the scenario first, then with `beside` the same 3 dB stronger and 3 dB weaker.

    Positions are drawn as a Latin square from the scenario's seed: each hundredth of each law once, in an order of its
    own, so that a hundred of them stand for the law better than a hundred free draws.

    Raises InputError where a law leaves what can be.
    """
    signal = named.scenario.signal
    if not (signal.laws or signal.numbers):
        return [Case(0.0, {})]
    count = signal.positions if signal.laws else 1
    drawn = {}
    if signal.laws:
        random = np.random.default_rng(named.scenario.seed)
        drawn = {key: _drawn(named, key, law, random, count) for key, law in signal.laws.items()}
    own = [{**signal.numbers, **{key: float(values[i]) for key, values in drawn.items()}} for i in range(count)]
    return [
        Case(by_dB, _shifted(named, one, by_dB)) for by_dB in (OFFSETS_dB if beside else OFFSETS_dB[:1]) for one in own
    ]


def distribution(values: Sequence[float]) -> Distribution:
    """Median and 95 % of values that are equally likely; some may be infinite."""
    if len(values) == 1:
        return Distribution(values[0], values[0], values[0])
    drawn = np.asarray(values, dtype=np.float64)
    # Between a number and infinity there is nothing to interpolate.
    method: Literal["linear", "inverted_cdf"] = "linear" if np.isfinite(drawn).all() else "inverted_cdf"
    median, low, high = (float(one) for one in np.quantile(drawn, QUANTILES, method=method))
    return Distribution(median, low, high)


def _drawn(
    named: Named, key: str, law: Spread, random: np.random.Generator, count: int
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    shares = (random.permutation(count) + 0.5) / count
    if law.law == "uniform":
        low, high = law.low or 0.0, law.high or 0.0
        values = low + shares * (high - low)
    else:
        values = (law.mean or 0.0) + (law.sigma or 0.0) * normal_quantiles(shares)
    least = LEAST.get(key)
    if least is not None and law.low is not None and law.low < least:
        raise InputError(f"link {named.label}: signal.{key}.low is {law.low:g}, the least is {least:g}")
    return np.asarray(values if least is None else np.maximum(values, least), dtype=np.float64)


def _shifted(named: Named, signal: dict[str, float], by_dB: float) -> dict[str, float]:
    """The same position with a stronger sender: that many decibels at every distance."""
    if not by_dB:
        return signal
    if "rssi_dBm" in signal:
        return {**signal, "rssi_dBm": signal["rssi_dBm"] + by_dB}
    # 40 mW, the air's own default.
    return {**signal, "tx_power_dBm": float(named.scenario.air.get("tx_power_dBm", 16.0206)) + by_dB}
