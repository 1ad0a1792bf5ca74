"""What the columns of a recording are: its instrument by the heads, the column of each quantity and its unit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from wattlock.definitions.shipped import shipped
from wattlock.definitions.table import Table
from wattlock.errors import InputError

QUANTITIES = {"time": "s", "power": "W", "current": "A", "voltage": "V"}
"""What a recording has columns of, and their units without a prefix."""

COLUMNS_HINT = "columns such as time_s,current_A,voltage_V or Timestamp(ms),Current(uA)"
PREFIXES = {"": 1.0, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "n": 1e-9}
LONG_PREFIXES = {"": 1.0, "milli": 1e-3, "micro": 1e-6, "nano": 1e-9}
SHORT = {"s": ("s", "sec", "secs"), "W": ("W",), "A": ("A",), "V": ("V",)}
LONG = {
    "s": ("second", "seconds"),
    "W": ("watt", "watts"),
    "A": ("amp", "amps", "ampere", "amperes"),
    "V": ("volt", "volts"),
}
WORDS = re.compile(r"(?<![a-z])(time|power|current|curr|voltage|volt)")
"""The first of these in a head says what its column is of: the power of a current path is a power."""

NAMED_SO = {"curr": "current", "volt": "voltage"}
NO_UNIT = re.compile(r"time|power|curr(ent)?|volt(age)?|avg|average|mean|min|max|\d+")
"""What stands behind an underscore and is no unit."""


class Profile(Table):
    """An instrument; `data/instruments.toml` says what each key is."""

    name: str
    title: str
    comment: str | None = None
    columns: dict[str, str] = Field(default={})
    optional: dict[str, str] = Field(default={})
    interval: str | None = None
    rate_Hz: float | None = None
    packets: bool = False
    accuracy_percent: float | None = None
    source: str

    def fits(self, names: Sequence[str], above: Sequence[str]) -> bool:
        """Whether a file with these heads, and these lines above them, is of this instrument."""
        if self.comment is not None and not any(self.comment in line for line in above):
            return False
        return all(self.candidates(quantity, names) for quantity in self.columns)

    def candidates(self, quantity: str, names: Sequence[str]) -> list[str]:
        """The columns of a quantity."""
        pattern = self.columns.get(quantity) or self.optional.get(quantity)
        return [name for name in names if pattern and re.fullmatch(pattern, plain(name))]


PLAIN = Profile(name="plain", title="no instrument that is known", source="ours")


class Instruments(Table):
    """The instruments that are known."""

    instrument: list[Profile]


class Column(NamedTuple):
    """A column, and the factor to the SI unit; null where the time has to be found by the samples' rate."""

    name: str
    factor: float | None


class Columns(NamedTuple):
    """The columns whose product is power.

    * `rate_Hz`: the samples' rate, where the unit of the time has to be found by it.
    """

    profile: Profile
    time: Column
    factors: list[Column]
    rate_Hz: float | None


@cache
def profiles() -> list[Profile]:
    """The instruments that are known, from `data/instruments.toml`."""
    return shipped("instruments.toml", Instruments).instrument


def plain(name: str) -> str:
    """A head without what some instruments put before it, in small letters."""
    return name.lstrip("# \ufeff").casefold()


def columns(
    file: Path,
    names: Sequence[str],
    above: Sequence[str],
    *,
    chosen: Mapping[str, str],
    units: Mapping[str, str],
    voltage_V: float | None,
) -> Columns:
    """The columns of time and of power, or of what multiplies to power.

    * `above`: the lines above the heads. `chosen`, `units`: by quantity, the user's. `voltage_V`: for a current alone.

    Raises InputError where there is none, or more than one that could be meant, with their names.
    """
    profile = next((known for known in profiles() if known.fits(names, above)), PLAIN)
    found = {quantity: _named(file, names, profile, quantity, chosen.get(quantity)) for quantity in QUANTITIES}
    time, power, current, voltage = (found[quantity] for quantity in ("time", "power", "current", "voltage"))
    listed = ", ".join(names)
    if time is None:
        raise InputError(f"{file}: no column of time in {listed}", hint=f"--column time=NAME, or {COLUMNS_HINT}")
    if power is None and current is None:
        hint = f"--column current=NAME, or {COLUMNS_HINT}"
        raise InputError(f"{file}: no column of current or power in {listed}", hint=hint)
    if power is not None and ("power" in chosen or not {"current", "voltage"} & set(chosen)):
        by = {"power": power}
    else:
        # Whoever chooses a current and tells the voltage means those two.
        is_told = voltage_V is not None and "voltage" not in chosen and "current" in chosen
        by = {"current": current or "", "voltage": "" if is_told else voltage or ""}
    if not all(by.values()) and not by.get("current"):
        raise InputError(f"{file}: a voltage without a current in {listed}", hint="--column current=NAME")
    others = [name for quantity, name in by.items() if quantity != "current" and name]
    if voltage_V is not None and others:
        both = f'the column "{others[0]}" and --voltage {voltage_V:g} both say what fed the circuit'
        raise InputError(f"{file}: {both}", hint="leave --voltage out, or choose what to read: --column current=NAME")
    if voltage_V is None and by.get("voltage") == "":
        raise InputError(f"{file}: current without a voltage", hint="--voltage 3.3 tells what fed the circuit")
    factors = [Column(name, factor(file, name, q, units.get(q)) or 1.0) for q, name in by.items() if name]
    timed, rate_Hz = _time(file, time, above, profile, units.get("time"))
    return Columns(profile, timed, factors, rate_Hz)


def _named(file: Path, names: Sequence[str], profile: Profile, quantity: str, chosen: str | None) -> str | None:
    """The column of a quantity.

    Raises InputError where two could be, or the chosen one is not there.
    """
    if chosen is not None:
        if chosen in names:
            return chosen
        hint = f"there are {', '.join(names)}"
        raise InputError(f'{file}: --column {quantity}={chosen}: no column "{chosen}"', hint=hint)
    found = profile.candidates(quantity, names)
    if not found and not profile.columns:
        found = [name for name in names if _quantity(name) == quantity]
        found = found or [name for name in names if _by_unit(name) == quantity]
    if len(found) > 1:
        quoted = " and ".join(f'"{name}"' for name in found)
        hint = f"--column '{quantity}={found[0]}' chooses the first of them"
        raise InputError(f"{file}: {len(found)} columns of {quantity}: {quoted}", hint=hint)
    return found[0] if found else None


def _quantity(name: str) -> str | None:
    found = WORDS.search(plain(name))
    return NAMED_SO.get(found[1], found[1]) if found else None


def _by_unit(name: str) -> str | None:
    """What a column without a word of a quantity is by its unit: `CH1 (V)`, or `mA`."""
    if _quantity(name) is not None:
        return None
    written = re.search(r"[(\[]([^()\[\]]*)[)\]]\s*$", name)
    unit = written[1] if written else name.strip()
    return next((quantity for quantity, base in QUANTITIES.items() if scale(unit, base) is not None), None)


def scale(unit: str, base: str) -> float | None:
    """The factor of a unit to its SI unit: mA, microamps, sec; null where it is none of `base`."""
    text = unit.strip()
    symbols = {f"{prefix}{word}": size for prefix, size in PREFIXES.items() for word in SHORT[base]}
    words = {f"{prefix}{word}": size for prefix, size in LONG_PREFIXES.items() for word in LONG[base]}
    return symbols.get(text, symbols.get(text.lower()) if base == "s" else None) or words.get(text.lower())


def factor(file: Path, name: str, quantity: str, given: str | None = None) -> float | None:
    """The factor of a column to its SI unit; null where its head names none.

    * `given`: its unit, where the head doesn't count.

    Raises InputError where its unit is none of the quantity.
    """
    base = QUANTITIES[quantity]
    if given is not None:
        return scale(given, base)
    if (whole := scale(plain(name), base)) is not None or (whole := scale(name, base)) is not None:
        return whole
    bracket = re.search(r"[(\[]([^(\[]*?)[)\] ]*$", name)
    behind = re.search(r"_([^_]*)$", name)
    last = re.search(r"[\s,/]([^\s,/]+)$", name)
    if bracket is None and (behind is None or NO_UNIT.fullmatch(behind[1].lower())):
        return scale(last[1], base) if last else None
    unit = (bracket or behind)[1]  # type: ignore[index] # one of them is there
    if (size := scale(unit, base)) is None:
        units = f"{base}, m{base}, u{base} or n{base}"
        hint = f"--unit {quantity}=m{base} tells it"
        raise InputError(f'{file}: column "{name}" is in "{unit}", not in {units}', hint=hint)
    return size


def _time(
    file: Path, name: str, above: Sequence[str], profile: Profile, given: str | None
) -> tuple[Column, float | None]:
    """The column of time, and the rate that has to tell its unit where no unit does."""
    if given is not None:
        return Column(name, factor(file, name, "time", given)), None
    if profile.interval is not None:
        spelled = rf"{profile.interval}\W*?([\d.]+(?:[eE][-+]?\d+)?)"
        if (shown := re.search(spelled, "\n".join(above))) is None:
            raise InputError(f"{file}: no {profile.interval} above its columns", hint="export it with its first lines")
        return Column(name, float(shown[1])), None
    if profile.rate_Hz is not None:
        return Column(name, None), profile.rate_Hz
    size = factor(file, name, "time")
    rate = re.search(r"(?i)sample\s*rate\W*([\d.]+)\s*([kM]?)Hz", "\n".join(above))
    if size is None and rate is not None:
        return Column(name, None), float(rate[1]) * {"": 1.0, "k": 1e3, "M": 1e6}[rate[2]]
    return Column(name, size or 1.0), None
