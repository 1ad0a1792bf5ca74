"""What is asked: a device, its radio, battery and traffic, the floor of security; read from TOML and validated."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import ConfigDict, Field, ValidationInfo, WithJsonSchema, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import ErrorDetails

from wattlock.advise.quantity import Duration, Power, Size, is_current, quantity, spoken
from wattlock.definitions import Form, Problem, Shelf, Table, Text, shown
from wattlock.definitions.changes import changed
from wattlock.definitions.problems import path_of
from wattlock.link.payload import Encoding
from wattlock.security import Authority

Share = Annotated[float, Field(ge=0, lt=1)]
Count = Annotated[int, Field(ge=1)]
Pair = Annotated[list[Count], Field(min_length=2, max_length=2)]


class Drawing(Table):
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


class DeviceOptions(Drawing):
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


class RadioOptions(Drawing):
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


class SupplyOptions(Drawing):
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


class Session(Exchange):
    """A handshake `every` so often; with `resumption` in its place where that is chosen."""

    every: Duration
    resumption: Exchange | None = None


class KeepAlive(Table):
    """What keeps the link: a packet of its own without data, or a sealed message of so many octets.

    A connection of Bluetooth LE is kept by its events (`connection`), and has keep-alives of messages alone.
    """

    every: Duration
    message: Size = 0


class Connection(Table):
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
    def _is_a_whole_number_of_steps(cls, value_s: float | None, of: ValidationInfo) -> float | None:
        step_s = STEPS_s[of.field_name or ""]
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


class Floor(Table):
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


class Options(Table):
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
    session: Session | None = None
    connection: Connection | None = None
    keep_alive: KeepAlive | None = None
    wake_up: WakeUp | None = None
    association: Association | None = None
    floor: Floor = Floor()
    choices: Options = Options()
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


FORM = Form("profile", "A profile: a device, its traffic, and what security it needs.", Question, ("profile",))
PROFILES = Shelf("profile", "profiles", "profiles", Question, wording=_bound_of_a_duration)


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
    raw = changed(name, tables, changes or {}, lists=["flow"])
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
    from wattlock.advise import capture

    return capture.flow(str(flow["capture"])) | {key: value for key, value in flow.items() if key != "capture"}
