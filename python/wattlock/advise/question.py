"""What is asked: a device, its radio, battery and traffic, in quantities with units, and the security it requires."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, get_args

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import ErrorDetails

from wattlock.definitions import DefinitionForm, Problem, Shelf, Table, Text, shown
from wattlock.definitions.changes import assignment, with_changes
from wattlock.definitions.toml import path_of
from wattlock.energy.number import YEAR_s
from wattlock.errors import InputError
from wattlock.link.payload import Encoding
from wattlock.security import Authority
from wattlock.targets import toolbox

Kind = Literal["size", "duration", "power", "current"]
DAY_s = 86_400.0
# One of each unit in octets, seconds, watts and amperes; a year is the Gregorian calendar's mean.
UNITS: dict[Kind, dict[str, float]] = {
    "size": {"B": 1, "kB": 1e3, "KiB": 1024, "MB": 1e6, "MiB": 1024**2, "GB": 1e9},
    "duration": {
        "us": 1e-6,
        "ms": 1e-3,
        "s": 1,
        "min": 60,
        "h": 3600,
        "d": DAY_s,
        "w": 7 * DAY_s,
        "y": YEAR_s,
    },
    "power": {"nW": 1e-9, "uW": 1e-6, "mW": 1e-3, "W": 1},
    "current": {"nA": 1e-9, "uA": 1e-6, "mA": 1e-3, "A": 1},
}
EXAMPLES: dict[Kind, str] = {
    "size": "64B, 8kB or 1MB",
    "duration": "50ms, 1s, 5min or 10y",
    "power": "12uW or 3mW, or as data sheets do 3uA, at the card's voltage",
    "current": "3uA or 2mA",
}
WRITTEN = re.compile(r"(\d+(?:\.\d+)?) ?([A-Za-z]+)", re.ASCII)


def quantity(text: object, kind: Kind) -> float:
    """A quantity in octets, seconds, watts or amperes.

    Raises ValueError naming the text and how the kind is written; a size is whole octets.
    """
    match = WRITTEN.fullmatch(text) if isinstance(text, str) else None
    unit = UNITS[kind].get(match[2]) if match else None
    if match is None or unit is None:
        raise ValueError(f'"{text}" is no {kind}; write {EXAMPLES[kind]}')
    value = float(match[1]) * unit
    if kind == "size" and value != int(value):
        raise ValueError(f'"{text}" is no whole number of octets')
    return value


def is_current(text: object) -> bool:
    """Whether a draw is written as a current, which is watts at a card's voltage alone."""
    match = WRITTEN.fullmatch(text) if isinstance(text, str) else None
    return match is not None and match[2] in UNITS["current"]


def option(name: str, text: str, kind: Kind) -> str:
    """The text of a command line's option, once it is known to be a quantity.

    Raises InputError naming the option and the text.
    """
    try:
        quantity(text, "current" if kind == "power" and is_current(text) else kind)
    except ValueError as error:
        raise InputError(f"{name}: {error}") from error
    return text


def _size(text: object) -> int:
    return int(quantity(text, "size"))


def _duration(text: object) -> float:
    seconds = quantity(text, "duration")
    if not seconds:
        raise ValueError(f'"{text}" is no duration above 0; write {EXAMPLES["duration"]}')
    return seconds


def _power(text: object) -> float:
    return quantity(text, "power")


def _written(*kinds: Kind) -> WithJsonSchema:
    """How quantities of these kinds are written in a file, for its schema."""
    units = "|".join(unit for kind in kinds for unit in UNITS[kind])
    return WithJsonSchema({"type": "string", "format": kinds[0], "pattern": rf"^[0-9]+(\.[0-9]+)? ?({units})$"})


Size = Annotated[int, BeforeValidator(_size), _written("size")]
Duration = Annotated[float, BeforeValidator(_duration), _written("duration")]
Power = Annotated[float, BeforeValidator(_power), _written("power", "current")]


def spoken(seconds: float) -> str:
    """A duration as a person says it, to three digits."""
    return _in_the_largest(seconds, "duration", ("y", "d", "h", "min", "s", "ms", "us"))


def watts(power_W: float) -> str:
    """A power as a person says it, to three digits."""
    return _in_the_largest(power_W, "power", ("W", "mW", "uW", "nW"))


def _in_the_largest(value: float, kind: Kind, units: tuple[str, ...]) -> str:
    """Three digits in the largest unit of which there is one; rounded first, so that 0.9999 s are 1 s."""
    unit, rounded = "", 0.0
    for unit in units:
        rounded = float(f"{value / UNITS[kind][unit]:.3g}")
        if rounded >= 1:
            break
    return f"{rounded:g} {unit}"


LEAST = 0.0005
"""The least share that a tenth of a percent shows."""


def percent(share: float) -> str:
    """A share in a sentence: what a tenth of a percent doesn't show is not called none."""
    return "less than 0.1 %" if 0 < share < LEAST else f"{100 * share:.1f} %"


Share = Annotated[float, Field(ge=0, lt=1)]
Count = Annotated[int, Field(ge=1)]
Pair = Annotated[list[Count], Field(min_length=2, max_length=2)]


class PowerTable(Table):
    """A table whose powers may be written as currents, as data sheets do.

    * `POWERS`: the keys of those; `currents_A`: what was written as a current, until a card says at which voltage.
    """

    POWERS: ClassVar[tuple[str, ...]] = ("sleep",)
    currents_A: SkipJsonSchema[dict[str, float]] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _set_currents_aside(cls, raw: Any) -> Any:
        if not isinstance(raw, dict):
            return raw
        if "currents_A" in raw:
            raise ValueError(f"currents_A is no key; write a current as a power, {cls.POWERS[0]} = 3uA")
        found = {key: quantity(raw[key], "current") for key in cls.POWERS if is_current(raw.get(key))}
        return {key: value for key, value in raw.items() if key not in found} | ({"currents_A": found} if found else {})

    def at(self, voltage_V: float) -> Self:
        """The table with its currents as powers at a voltage."""
        powers = {key: current_A * voltage_V for key, current_A in self.currents_A.items()}
        return self.model_copy(update={**powers, "currents_A": {}})


class DeviceOptions(PowerTable):
    """The device.

    * `card`: its device card; without one that of the run. `run`: what the ciphers cost, measured: a run, or a list of
      runs of one machine; without one they are valued by published cycles of the card's instruction set.
    * `costs`: a file of the user's own costs, as `--costs-template` prints one; it stands for what is published.
    * `sleep`: what all but the radio draws while nothing is done.
    * `accelerator`: whether hardware for a cipher may be used, where figures of it are published for the device;
      `accelerator_idle`: what it draws while it waits, counted where it is used.
    """

    POWERS: ClassVar[tuple[str, ...]] = ("sleep", "accelerator_idle")

    card: Text | None = None
    run: Text | Annotated[list[Text], Field(min_length=1)] | None = None
    costs: Text | None = None
    sleep: Power | None = None
    accelerator: bool = True
    accelerator_idle: Power | None = None


class RadioOptions(PowerTable):
    """The radio.

    * `card`: its radio card; without one the device's own.
    * `rest`: what it does between messages; without it sleep where the card has that, else off, and Wi-Fi idles.
    * `sleep`: what it draws asleep, where the card has no such number or another one.
    * `protection`: the link's own encryption; several are compared. 802.11: none, ccmp, gcmp ...; BLE: none, ccm;
      802.15.4: none, or the security level 1 to 7; LoRaWAN has one.
    * `link`: keys of a linear radio's standard, as in a scenario of `wattlock link`; `air`: keys of a Wi-Fi scenario.
    * `bit_errors`: share of bits that arrive wrong, for radios that are not 802.11; a frame that fails is sent again.
    """

    card: Text | None = None
    rest: Literal["off", "sleep", "idle"] | None = None
    sleep: Power | None = None
    protection: list[str] | None = Field(default=None, min_length=1)
    tx_power_dBm: float | None = None
    rssi_dBm: float | None = None
    bit_errors: Share = 0.0
    link: dict[str, Any] = Field(default_factory=dict)
    air: dict[str, Any] = Field(default_factory=dict)


class SupplyOptions(PowerTable):
    """What stands between the battery and all that draws.

    * `stage`: `direct`; `ldo`, through which the battery gives the load's current at its own voltage; `dcdc`, a
      converter of `efficiency`. Without it one is assumed by the voltages of battery and cards.
    * `voltage_V`: of the rail behind it; without it the radio card's, else the device card's.
    * `quiescent`: what the stage draws by itself, at the battery.
    """

    POWERS: ClassVar[tuple[str, ...]] = ("quiescent",)

    stage: Literal["direct", "ldo", "dcdc"] | None = None
    voltage_V: Annotated[float, Field(gt=0)] | None = None
    efficiency: Annotated[float, Field(gt=0, le=1)] | None = None
    quiescent: Power | None = None

    @model_validator(mode="after")
    def _efficiency_is_a_converters(self) -> Self:
        if self.efficiency is not None and self.stage != "dcdc":
            raise ValueError('efficiency is a converter\'s: stage = "dcdc"')
        return self


class BatteryOptions(Table):
    """The battery; without a card one of 1000 mAh."""

    card: Text | None = None
    model: Literal["linear", "peukert", "kibam", "tremblay"] = "linear"
    temperature_C: float = 20.0
    temperature_sigma_C: Annotated[float, Field(ge=0)] = 5.0


def _with_capture(schema: dict[str, Any]) -> None:
    """A file's flow may name a capture, which says sizes and times; both are there once it is read."""
    schema["properties"]["capture"] = {"minLength": 1, "type": "string"}
    schema["anyOf"] = [{"required": [key]} for key in (*schema.pop("required"), "capture")]


class Flow(Table):
    """Messages of one kind.

    * `message`: octets of plaintext in each, or `sizes`: pairs of octets and how many of such a round of messages.
    * `every`: a message, or each round, so often. `direction`: as the device sees it.

    In a file, `capture` names a capture in place of sizes and time.
    """

    model_config = ConfigDict(json_schema_extra=_with_capture)

    name: Text = "messages"
    message: Size | None = None
    sizes: list[Pair] | None = Field(default=None, min_length=1)
    every: Duration
    direction: Literal["send", "receive"] = "send"

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if (self.message is None) == (self.sizes is None):
            raise ValueError("needs message or sizes, one of them")
        if self.message == 0:
            raise ValueError("message is of 0 octets; keep_alive is for those")
        return self

    @property
    def rates(self) -> list[tuple[int, float]]:
        """Octets of plaintext, and how many of such messages a second."""
        sizes = self.sizes or [[self.message or 0, 1]]
        return [(size_B, count / self.every) for size_B, count in sizes]


class Exchange(Table):
    """A handshake or a resumption: octets each way, and how long the device computes for it."""

    sent: Size
    received: Size
    computing: Duration | None = None


class HandshakeSession(Exchange):
    """A handshake `every` so often; with `resumption` in its place where that is chosen."""

    every: Duration
    resumption: Exchange | None = None


class KeepAlive(Table):
    """What keeps the link: a packet of its own without data, or a sealed message of so many octets.

    A connection of Bluetooth LE is kept by its events (`connection`), and has keep-alives of messages alone.
    """

    every: Duration
    message: Size = 0


class BleConnection(Table):
    """A connection of Bluetooth LE, as its peripheral has it.

    * `interval`: between connection events; `latency`: how many of them it may leave out in a row; without it as many
      as keep to two seconds, 30 at most. `supervision`: after so long without an event the connection is lost.
    * `clock_ppm`: how far both sleep clocks are off together: so much longer it must listen.
    * `kept`: `false` where it is dropped after each message and made anew for the next.

    Source: Bluetooth Core 5.4, Vol 6, Part B, 4.5.1 and 4.5.2.
    """

    interval: Annotated[Duration, Field(ge=0.0075, le=4)] = 0.06
    latency: Annotated[int, Field(ge=0, le=499)] | None = None
    supervision: Annotated[Duration, Field(ge=0.1, le=32)] | None = None
    clock_ppm: Annotated[float, Field(ge=0, le=1000)] = 70.0
    kept: bool = True

    @field_validator("interval", "supervision")
    @classmethod
    def _is_a_whole_number_of_steps(cls, value_s: float | None, info: ValidationInfo) -> float | None:
        step_s = STEPS_s[info.field_name or ""]
        if value_s is None or math.isclose(value_s, steps_s := step_s * round(value_s / step_s)):
            return value_s
        raise ValueError(
            f"goes in steps of {spoken(step_s)}, and {value_s * 1e3:g}ms lies between two: write {steps_s * 1e3:g}ms"
        )

    @model_validator(mode="after")
    def _outlives_what_it_leaves_out(self) -> Self:
        if self.supervision_s <= 2 * self.every_s:
            raise ValueError(
                f"an event at least every {self.every_s:g} s (interval, latency) needs a supervision time-out of more "
                f"than twice that, and at most 32 s; supervision is {self.supervision_s:g} s"
            )
        return self

    @property
    def left_out(self) -> int:
        """Connection events that the peripheral leaves out in a row."""
        usual = min(USUAL_LATENCY, max(0, int(USUAL_EVERY_s / self.interval) - 1))
        return usual if self.latency is None else self.latency

    @property
    def every_s(self) -> float:
        """The longest from one of its events to the next."""
        return self.interval * (1 + self.left_out)

    @property
    def supervision_s(self) -> float:
        """The time-out: without one three of the longest pauses, 6 s at least."""
        return self.supervision or min(32.0, max(6.0, 3 * self.every_s))


# Bluetooth Core 5.4, Vol 6, Part B, 4.5.1 and 4.5.2: connInterval and connSupervisionTimeout.
STEPS_s = {"interval": 1.25e-3, "supervision": 0.01}
# Apple, Accessory Design Guidelines, "Connection Parameters": interval times (latency + 1) at most 2 s, latency 30.
USUAL_EVERY_s, USUAL_LATENCY = 2.0, 30


class WakeUp(Table):
    """The device awake beside ciphers, for each packet that it sends or receives."""

    time: Duration


class Association(Table):
    """The radio listens for `time`, `every` so often: scan, association, beacons, or an announcement's window."""

    every: Duration
    time: Duration


BY_ANY_LETTERS = {"enum": [name for authority in get_args(Authority) for name in (authority, authority.upper())]}


class SecurityRequirement(Table):
    """What a choice must keep.

    * `strength`: bits after the best published attack. `tag`: the shortest tag, bits.
    * `lifetime`: how long the data must stay secret. `latency`: from a message's birth to its end on the air.
    * `memory`: what the cipher's state and tables may take.
    * `approved`: by this authority.
    * `release`, `wait`: of choices whose tags later messages lift (`choices.amortised`): bits that a message has when
      it arrives, and within which time it has those of `tag`.
    """

    strength: Annotated[float, Field(ge=0)] = 128.0
    authenticated: bool = True
    approved: Annotated[Authority | None, WithJsonSchema(BY_ANY_LETTERS)] = None
    tag: Annotated[int, Field(ge=0, le=128)] = 64
    lifetime: Duration | None = None
    latency: Duration | None = None
    memory: Size | None = None
    release: Annotated[int, Field(ge=0, le=128)] = 0
    wait: Duration | None = None

    @field_validator("approved", mode="before")
    @classmethod
    def _by_any_letters(cls, authority: Any) -> Any:
        return authority.lower() if isinstance(authority, str) else authority


class ChoiceOptions(Table):
    """Which choices are looked at.

    * `ciphers`, `providers`: ids, also as globs; without them all that have a cost.
    * `framings`: what a sealed packet carries beside its ciphertext (`data/framings/session.toml`).
    * `aggregate`: messages in one packet; without it 1, and with a latency as many as it allows.
    * `packet`: the most octets above the link in a packet, sealed; without it as many as fit.
    * `amortised`: whether tally is among the framings, whose short tags later messages lift.
    """

    ciphers: list[Text] | None = Field(default=None, min_length=1)
    providers: list[Text] | None = Field(default=None, min_length=1)
    framings: list[Text] = Field(default=["full-nonce", "implicit-nonce", "dtls13"], min_length=1)
    encodings: list[Encoding] = Field(default=["raw"], min_length=1)
    aggregate: list[Count] | None = Field(default=None, min_length=1)
    truncate: bool = True
    packet: Size | None = None
    amortised: bool = False


class Question(Table):
    """A whole question.

    * `decrypt_share`: decryptions that the device computes for each of its encryptions, beside what it receives.
    """

    title: Text = "a device that sends"
    note: str = ""
    source: str = ""
    device: DeviceOptions = DeviceOptions()
    radio: RadioOptions = RadioOptions()
    battery: BatteryOptions = BatteryOptions()
    supply: SupplyOptions = SupplyOptions()
    flow: Annotated[list[Flow], Field(min_length=1)]
    decrypt_share: Annotated[float, Field(ge=0)] = 0.0
    session: HandshakeSession | None = None
    connection: BleConnection | None = None
    keep_alive: KeepAlive | None = None
    wake_up: WakeUp | None = None
    association: Association | None = None
    floor: SecurityRequirement = SecurityRequirement()
    choices: ChoiceOptions = ChoiceOptions()
    seed: Annotated[int, Field(ge=0)] = 1
    draws: Annotated[int, Field(ge=100, le=1_000_000)] = 16_384


ENDS = {"greater_than_equal": ("ge", "least"), "less_than_equal": ("le", "most")}


def _bound_of_a_duration(error: ErrorDetails) -> Problem | None:
    # Of what is written with a unit durations alone have bounds, in seconds.
    if error["type"] not in ENDS or not isinstance(error["input"], str):
        return None
    bound, least_or_most = ENDS[error["type"]]
    must = f"must be at {least_or_most} {spoken(error['ctx'][bound])}"
    return Problem(path_of(error["loc"]), f"{must}, is {shown(error['input'])}")


FORM = DefinitionForm(
    "profile", "A profile: a device, its traffic, and what security it needs.", Question, ("profile",)
)
PROFILES = Shelf(
    "profile", "profiles", "profiles", Question, wording=_bound_of_a_duration, template="wattlock advise --template"
)


def names() -> list[str]:
    """The profiles that come with wattlock, by name."""
    return PROFILES.names()


def read(name_or_path: str | Path) -> dict[str, Any]:
    """A profile's tables as they stand in its file.

    * `name_or_path`: the name of one that comes with wattlock, or the path of a TOML file.

    Raises InputError where there is none, or no TOML in it.
    """
    return PROFILES.tables(PROFILES.find(name_or_path))


def checked(name: str, tables: Mapping[str, Any], changes: Mapping[str, Any] | None = None) -> Question:
    """A question of tables, with what is asked for in place of what they say.

    * `name`: what the tables are called in errors. `changes`: values by path, as `floor.strength` or `flow[0].every`;
      the number may be left out where there is one flow.

    Raises InputError naming every key that is wrong, and its value.
    """
    raw = with_changes(name, tables, changes or {}, lists=["flow"])
    flows = raw.get("flow")
    if isinstance(flows, list):
        raw["flow"] = [_captured(flow) for flow in flows]
    return PROFILES.checked(name, raw)


def load(name_or_path: str | Path, changes: Mapping[str, Any] | None = None) -> Question:
    """Read and check a profile."""
    return checked(f"profile {name_or_path}", read(name_or_path), changes)


def _captured(flow: Any) -> Any:
    """A flow with the sizes of its capture in place of the capture's name."""
    if not isinstance(flow, dict) or "capture" not in flow:
        return flow

    return captured_flow(str(flow["capture"])) | {key: value for key, value in flow.items() if key != "capture"}


def captured_flow(path: str) -> dict[str, Any]:
    """The tables of a flow: sizes of messages, and the time over which they came.

    * `path`: a capture that `wattlock-net capture` reads; what of its packets is a message, `link.capture_file` says.

    Raises InputError where the file is no capture, holds no message, or has no times.
    """
    from wattlock.link import capture_file

    counted = capture_file.census(toolbox.find(), Path(path))
    sizes = capture_file.traffic(counted).sizes
    first_ns, last_ns = counted.summary["first_ns"], counted.summary["last_ns"]
    if first_ns is None or last_ns is None or last_ns - first_ns < 1_000:
        raise InputError(f"capture {path}: is over in no time", hint="name one with the times of several packets")
    return {"sizes": [list(pair) for pair in sizes], "every": f"{(last_ns - first_ns) // 1_000}us"}


class Traffic(NamedTuple):
    """What is sent, where one kind of message is all: octets, how often; or a file of a capture."""

    message: str | None = None
    every: str | None = None
    capture: str | None = None


KINDS = {"sleep": "power", "lifetime": "duration", "latency": "duration", "memory": "size"}
"""What an option is called where the question calls it by its key, for errors."""


def asked(
    profile: str | None, traffic: Traffic, given: Mapping[str, Any], changes: Sequence[str] | None = None
) -> Question:
    """The question of a profile, or of none, with what is given in place of what it says.

    * `given`: values by the question's keys, as `floor.strength`; one that is null is not given. `changes`: KEY=VALUE.

    Raises InputError naming the option or every key that is wrong, and its value.
    """
    given = {key: value for key, value in given.items() if value is not None}
    for key, value in given.items():
        kind = KINDS.get(key.rpartition(".")[2])
        if kind:
            option(f"--{key.rpartition('.')[2]}", value, kind)  # type: ignore[arg-type]
    tables: dict[str, Any] = read(profile) if profile else {}
    there = tables.get("flow", [])
    if isinstance(there, list):
        tables["flow"] = _flows(there, traffic)
    if not tables["flow"] and not any((text or "").startswith("flow") for text in changes or []):
        raise InputError("no traffic is given", hint="--message 64B --every 1s, or a profile: `wattlock advise --list`")
    name = f"profile {profile}" if profile else "question"
    return checked(name, tables, dict(given) | dict(assignment(text, "floor.tag=96") for text in changes or []))


def _flows(there: list[dict[str, Any]], traffic: Traffic) -> list[dict[str, Any]]:
    """The profile's flows with what options say of the one; without a profile's, the one that options say."""
    message, interval, capture = traffic.message, traffic.every, traffic.capture
    if capture is not None:
        if message is not None or interval is not None:
            other = "--message" if message is not None else "--every"
            raise InputError(f"--capture and {other} both say what is sent", hint="give one of them")
        return [{"capture": capture}]
    written: dict[str, Any] = {}
    if message is not None:
        written["message"] = option("--message", message, "size")
    if interval is not None:
        written["every"] = option("--every", interval, "duration")
    if not written:
        return there
    if len(there) > 1:
        hint = f"say which one: --set flow[0].every=10s, up to flow[{len(there) - 1}]"
        raise InputError(f"the profile has {len(there)} flows, --message and --every change one", hint=hint)
    if not there and len(written) == 1:
        missing = "--message" if message is None else "--every"
        raise InputError(f"{missing} is missing", hint="traffic is a size and a time: --message 64B --every 1s")
    kept = there[0] if there else {}
    if message is not None:
        kept = {key: entry for key, entry in kept.items() if key not in {"sizes", "capture"}}
    return [kept | written]
