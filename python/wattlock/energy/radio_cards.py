"""Radio cards: what a radio draws by state, or spends by packet and byte, each number with its source."""

from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from wattlock.definitions import DefinitionForm, Shelf, Table, Text
from wattlock.energy.number import Number, refuse_mixed, require_unit, require_units

Technology = Literal["802.11", "802.15.4", "ble", "lorawan"]
POWER = ["W", "mW", "uW"]
CURRENT = ["A", "mA", "uA"]
STATES = ("rx", "idle", "sleep")
CONFIDENCES = ("primary", "secondary", "unverified", "assumed")
LINEAR = {
    "send_packet": ["uJ"],
    "send_byte": ["uJ/B"],
    "receive_packet": ["uJ"],
    "receive_byte": ["uJ/B"],
    "packet_time": ["us"],
    "byte_time": ["us/B"],
}


class SendPower(Number):
    """The draw while sending, at a rate and a power where the source names them."""

    rate_Mb_s: Annotated[float, Field(gt=0)] | None = None
    power_dBm: float | None = None


class RadioCard(Table):
    """What one radio costs, by state or by the linear model, or by both.

    * `tx`, `rx`, `idle`, `sleep`: powers, or currents at `voltage`. `idle` listens to an empty channel.
    * `send_packet` + bytes * `send_byte`, and the same for receiving: joules of a packet by the linear model;
      `packet_time` + bytes * `byte_time`: how long it is on the air, for radios that are not 802.11.
    """

    title: Text
    technology: Technology
    note: Text
    narrowed_by: Text
    voltage: Number | None = None
    tx: list[SendPower] = Field(default_factory=list)
    rx: Number | None = None
    idle: Number | None = None
    sleep: Number | None = None
    send_packet: Number | None = None
    send_byte: Number | None = None
    receive_packet: Number | None = None
    receive_byte: Number | None = None
    packet_time: Number | None = None
    byte_time: Number | None = None

    @model_validator(mode="after")
    def _one_model_at_least(self) -> Self:
        require_units(self, {"voltage": ["V"], **dict.fromkeys(STATES, POWER + CURRENT), **LINEAR})
        for place, number in enumerate(self.tx):
            require_unit(f"tx[{place}]", number, POWER + CURRENT)
        drawn = [*self.tx, *(number for key in STATES if (number := getattr(self, key)))]
        if any(number.unit in CURRENT for number in drawn) and not self.voltage:
            raise ValueError("has a current and no voltage; a power needs both")
        if not self.has_states and not self.is_linear:
            raise ValueError("needs tx and rx, or send_packet, send_byte, receive_packet and receive_byte")
        single = {key: number for key in ("voltage", *STATES) if (number := getattr(self, key))}
        refuse_mixed(single | {f"tx[{place}]": number for place, number in enumerate(self.tx)}, self.voltage)
        return self

    @property
    def has_states(self) -> bool:
        """Whether sending and receiving can be valued by their time."""
        return bool(self.tx and self.rx)

    @property
    def is_linear(self) -> bool:
        """Whether sending and receiving can be valued by packets and bytes."""
        return all((self.send_packet, self.send_byte, self.receive_packet, self.receive_byte))

    def sending(self, rate_Mb_s: float | None = None, power_dBm: float | None = None) -> SendPower | None:
        """The draw while sending at the nearest power and rate which the card names, else its first."""
        near = _nearest(_nearest(self.tx, "power_dBm", power_dBm), "rate_Mb_s", rate_Mb_s)
        return near[0] if near else None

    def at_power(self, power_dBm: float) -> Self:
        """The card with what it draws while sending at a power: its own figure, or between those on both sides.

        Raises ValueError with a hint where it has no figures for that power.
        """
        rates = dict.fromkeys(power.rate_Mb_s for power in self.tx)
        found = [_between([power for power in self.tx if power.rate_Mb_s == rate], power_dBm) for rate in rates]
        there = [power for power in found if power]
        if there:
            return self.model_copy(update={"tx": there})
        named = sorted({power.power_dBm for power in self.tx if power.power_dBm is not None})
        known = (
            f"its figures are for {', '.join(f'{power:g}' for power in named)} dBm" if named else "it has one for all"
        )
        raise ValueError(
            f"no draw at {power_dBm:g} dBm", f"{known}; leave it out, or take a card that has figures there"
        )

    def power_W(self, number: Number) -> float:
        """The power of a state of this card, in watts."""
        return number.in_SI * (self.voltage.in_SI if number.unit in CURRENT and self.voltage else 1.0)

    def numbers(self) -> dict[str, Number]:
        """All numbers by key; those of `tx` with their place."""
        single = {key: number for key in type(self).model_fields if isinstance(number := getattr(self, key), Number)}
        return single | {f"tx[{place}]": number for place, number in enumerate(self.tx)}


def _nearest(among: list[SendPower], key: str, wanted: float | None) -> list[SendPower]:
    """Those whose `key` is nearest to what is wanted; all where nothing is, or none says."""
    named = [power for power in among if getattr(power, key) is not None]
    if wanted is None or not named:
        return among
    least = min(abs(getattr(power, key) - wanted) for power in named)
    return [power for power in named if abs(getattr(power, key) - wanted) == least]


def _between(figures: list[SendPower], power_dBm: float) -> SendPower | None:
    """What is drawn at a power, by the line between the nearest figures; None beyond them.

    The line goes by decibels. How far that by milliwatts lies from it comes on top of the figures' own uncertainty.
    """
    known = sorted((power.power_dBm, place) for place, power in enumerate(figures) if power.power_dBm is not None)
    below = [figures[place] for at_dBm, place in known if at_dBm <= power_dBm]
    above = [figures[place] for at_dBm, place in known if at_dBm >= power_dBm]
    if not below or not above:
        return None
    low, high = below[-1], above[0]
    if low.power_dBm is None or high.power_dBm is None or low.power_dBm == high.power_dBm or low.unit != high.unit:
        return low
    share = (power_dBm - low.power_dBm) / (high.power_dBm - low.power_dBm)
    low_mW, at_mW, high_mW = (10 ** (level_dBm / 10) for level_dBm in (low.power_dBm, power_dBm, high.power_dBm))
    value = low.value + share * (high.value - low.value)
    other = low.value + (at_mW - low_mW) / (high_mW - low_mW) * (high.value - low.value)
    span = f"between {low.power_dBm:g} and {high.power_dBm:g} dBm"
    off = max(low.relative_uncertainty, high.relative_uncertainty) + abs(other / value - 1)
    return low.model_copy(
        update={
            "power_dBm": power_dBm,
            "value": value,
            "relative_uncertainty": off,
            "confidence": max(low.confidence, high.confidence, key=CONFIDENCES.index),
            "because": f"{span}: the figures' own, and how far the line by milliwatts lies from that by decibels",
            "conditions": f"{span}, by their line; {low.conditions}",
        }
    )


class Radio(NamedTuple):
    """A card and the name by which it was asked for."""

    name: str
    card: RadioCard


FORM = DefinitionForm(
    "radio", "A radio card: what a radio draws by state, or spends by packet and byte.", RadioCard, ("radio",)
)
RADIOS = Shelf("radio card", "cards", "radios", RadioCard, own_too=True, template="wattlock devices --template radio")


def load(name_or_path: str | Path, cards: Path | None = None) -> Radio:
    """Read a radio card, as `cards.load` reads a device card."""
    return Radio(*RADIOS.load(name_or_path, cards))
