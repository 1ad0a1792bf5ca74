"""A scenario of sending: who sends what to whom over which air, read from TOML and validated."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from wattlock.definitions import Form, Shelf, Table, Text
from wattlock.definitions.changes import changed as with_changes
from wattlock.errors import InputError
from wattlock.link.payload import Encoding

Topology = Literal["adhoc", "to-ap", "bss"]
Phy = Literal["b", "g", "a", "n", "ac", "ax"]
Protection = Literal["none", "wep", "tkip", "ccmp", "ccmp256", "gcmp", "gcmp256"]
Engine = Literal["closed-form", "bianchi", "dcf"]
Role = Literal["sender", "access-point", "receiver"]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
Pair = Annotated[list[Count], Field(min_length=2, max_length=2)]
LINEAR = "linear"
# What the scenario says under names of its own.
OWN: tuple[str, ...] = (
    "phy",
    "topology",
    "protection",
    "transport",
    "payload_B",
    "datagrams",
    "duration_s",
    "engine",
    "seed",
    "id",
)
OWN += ("kind", "schema", "stations", "power_save", "distance_m", "walls_dB", "rssi_dBm", "rate_Mb_s", "mcs", "band")
OWN += ("preamble", "basic_rates_Mb_s")
# Where those stand that are not called the same; what a transfer has no use for stands nowhere.
ELSEWHERE = {key: f"signal.{key}" for key in ("distance_m", "walls_dB", "rssi_dBm")}
ELSEWHERE |= {"payload_B": "payload.payload_B", "datagrams": "payload.data_B"}
ELSEWHERE |= dict.fromkeys(("duration_s", "id", "kind", "schema", "stations", "power_save"), "")


class Spread(Table):
    """A law that a position is drawn from: `uniform` from `low` to `high`, `normal` by `mean` and `sigma`."""

    law: Literal["uniform", "normal"]
    low: float | None = None
    high: float | None = None
    mean: float | None = None
    sigma: Positive | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        needs, not_of_it = (("low", "high"), ("mean", "sigma"))[:: 1 if self.law == "uniform" else -1]
        for key in needs:
            if getattr(self, key) is None:
                raise ValueError(f"{key} is missing, the law {self.law} needs it")
        for key in not_of_it:
            if getattr(self, key) is not None:
                raise ValueError(f"{key} is not of the law {self.law}")
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValueError(f"low is {self.low:g}, must be less than high, {self.high:g}")
        return self


class Signal(Table):
    """What reaches the other end: by distance and walls, or by the received power; a number, or a law.

    * `positions`: drawn where one of them is a law.
    * limits: those of `wattlock-net air`, less the 3 dB that are asked beside.
    """

    distance_m: Annotated[float, Field(gt=0, le=100_000)] | Spread | None = None
    walls_dB: Annotated[float, Field(ge=0)] | Spread | None = None
    rssi_dBm: Annotated[float, Field(ge=-197, le=47)] | Spread | None = None
    positions: Annotated[int, Field(ge=20, le=10_000)] = 100

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.rssi_dBm is not None and (self.distance_m is not None or self.walls_dB is not None):
            raise ValueError("has rssi_dBm beside distance_m or walls_dB; one of the two")
        if self.walls_dB is not None and self.distance_m is None:
            raise ValueError("has walls_dB and no distance_m")
        return self

    @property
    def laws(self) -> dict[str, Spread]:
        """What is drawn."""
        return {key: one for key, one in self._given() if isinstance(one, Spread)}

    @property
    def numbers(self) -> dict[str, float]:
        """What is fixed."""
        return {key: one for key, one in self._given() if not isinstance(one, Spread)}

    def _given(self) -> Iterator[tuple[str, float | Spread]]:
        for key in ("distance_m", "walls_dB", "rssi_dBm"):
            one: float | Spread | None = getattr(self, key)
            if one is not None:
                yield key, one


class Payload(Table):
    """What is sent.

    * `data_B`: octets of plaintext in all; or `file`, a path; or `sizes`, pairs of a message's octets and how many.
    * `cipher`: an id of the catalogue; without one the plaintext is sent.
    * `encrypt`: the `file` as a whole, whose ciphertext is then cut into packets; or each `packet` for itself.
    * `payload_B`: with `file` the octets of a packet above UDP or TCP; with `packet` the plaintext in each. Without it
      packets are as full as an IP packet of 1500 octets allows; no IP packet has more than 65535.
    """

    data_B: Annotated[int, Field(ge=1, le=10**12)] | None = None
    file: Text | None = None
    sizes: list[Pair] | None = Field(default=None, min_length=1)
    payload_B: Annotated[int, Field(ge=1, le=65_535)] | None = None
    cipher: Text | None = None
    encoding: Encoding = "raw"
    encrypt: Literal["file", "packet"] = "file"

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        given = [key for key in ("data_B", "file", "sizes") if getattr(self, key) is not None]
        if len(given) != 1:
            raise ValueError(f"has {' and '.join(given) or 'nothing to send'}; it needs one of data_B, file, sizes")
        if self.sizes is not None and (self.payload_B is not None or self.encrypt == "file"):
            raise ValueError('has sizes, which are of packets: it needs encrypt = "packet" and no payload_B')
        return self


class Radios(Table):
    """Radio cards by node; a node without one has time and no joules."""

    sender: Text | None = None
    access_point: Text | None = None
    receiver: Text | None = None

    def of(self, role: Role) -> str | None:
        """The card of a node."""
        name: str | None = getattr(self, role.replace("-", "_"))
        return name


class Host(Table):
    """Work of the hosts a packet, in microseconds.

    * `overlapped`: work goes on while the radio sends, so that the slowest of air and hosts sets the pace; without it
      each waits for the other.
    """

    sender_us: Annotated[float, Field(ge=0)] = 0.0
    access_point_us: Annotated[float, Field(ge=0)] = 0.0
    receiver_us: Annotated[float, Field(ge=0)] = 0.0
    overlapped: bool = False

    def us(self, role: Role) -> float:
        """Of one node."""
        value: float = getattr(self, f"{role.replace('-', '_')}_us")
        return value


class Cost(Table):
    """What computing costs: device cards of sender and receiver, and cycles a byte where no run has them.

    * `cycles_per_B`: your own figure; it needs a device card that values cycles, and consent.
    """

    sender: Text | None = None
    receiver: Text | None = None
    cycles_per_B: Positive | None = None


class Scenario(Table):
    """One scenario.

    * `bss` goes through an access point: two hops. `to-ap` ends there.
    * `air`: any other key of `wattlock-net air`.
    """

    title: Text = "a transfer"
    note: str = ""
    topology: Topology = "adhoc"
    phy: Phy
    band: Literal["2.4", "5", "6"] | None = None
    rate_Mb_s: Positive | None = None
    mcs: Annotated[int, Field(ge=0)] | None = None
    preamble: Literal["long", "short"] | None = None
    basic_rates_Mb_s: list[Positive] | None = None
    protection: Protection = "none"
    transport: Literal["udp", "tcp"] = "udp"
    engine: Engine = "dcf"
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 1
    payload: Payload
    signal: Signal = Signal()
    radio: Text | Radios = Radios()
    host: Host = Host()
    cost: Cost = Cost()
    air: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _no_key_twice(self) -> Self:
        for key in self.air:
            if key in OWN:
                place = ELSEWHERE.get(key, key)
                known = f"set {place} in its place" if place else "a transfer is asked of the air without it"
                raise ValueError(f"air.{key} can't be set: {known}")
        return self

    @property
    def roles(self) -> list[Role]:
        """The nodes, from where the data comes."""
        by_topology: dict[Topology, list[Role]] = {
            "adhoc": ["sender", "receiver"],
            "to-ap": ["sender", "access-point"],
            "bss": ["sender", "access-point", "receiver"],
        }
        return by_topology[self.topology]

    @property
    def computes(self) -> bool:
        """Whether the scenario itself says what hosts compute, without a run."""
        host = self.host
        return self.cost.cycles_per_B is not None or any((host.sender_us, host.access_point_us, host.receiver_us))

    def radio_of(self, role: Role) -> str | None:
        """The radio card of a node."""
        return self.radio.of(role) if isinstance(self.radio, Radios) else self.radio


class Named(NamedTuple):
    """A scenario, its name or path, and what was asked for in place of what it says."""

    name: str
    scenario: Scenario
    changed: dict[str, Any]

    @property
    def label(self) -> str:
        """The name with what was changed."""
        shown = {key: value for key, value in self.changed.items() if not key.startswith("cost.")}
        if sizes := shown.pop("payload.sizes", None):
            shown = {key: value for key, value in shown.items() if not key.startswith("payload.")}
            shown["messages"] = sum(count for _, count in sizes)
        changed = (f"{key.rpartition('.')[2]}={'none' if value is None else value}" for key, value in shown.items())
        return " ".join([self.name, *changed])

    @property
    def title(self) -> str:
        """The scenario's own title, and what was changed of what it says."""
        changed = self.label.removeprefix(self.name).strip()
        return f"{self.scenario.title}; changed: {changed}" if changed else self.scenario.title


FORM = Form("wifi", "A scenario of 802.11: who sends what to whom over which air.", Scenario, ("wifi",))
SCENARIOS = Shelf("link scenario", "scenarios", "links", Scenario, label="link")


def names() -> list[str]:
    """The scenarios that come with wattlock, by name."""
    return SCENARIOS.names()


def read(name_or_path: str | Path) -> tuple[str, dict[str, Any]]:
    """A scenario's tables as they stand in its file, with its name or path.

    Raises InputError where there is none, where it can't be read, or is no TOML.
    """
    return str(name_or_path), SCENARIOS.tables(SCENARIOS.find(name_or_path))


def is_linear(name_or_path: str | Path) -> bool:
    """Whether a scenario is of a radio that is not 802.11: `link.linear` answers it."""
    return read(name_or_path)[1].get("phy") == LINEAR


def linear_ones(files: Sequence[str]) -> list[str]:
    """The scenarios of radios that are not 802.11: all of them, or none.

    Raises InputError where there are both kinds.
    """
    found = [file for file in files if is_linear(file)]
    if found and len(found) < len(files):
        raise InputError(f"{found[0]} is of another kind of radio than the others", hint="ask for them one by one")
    return found


def checked(name: str, tables: Mapping[str, Any], changes: Mapping[str, Any] | None = None) -> Named:
    """A scenario of tables, with what is asked for in place of what they say.

    * `changes`: values by dotted path, as `payload.encoding`; None takes a key away.

    Raises InputError naming every key that is wrong.
    """
    changes = dict(changes or {})
    scenario = SCENARIOS.checked(f"link {name}", with_changes(f"link {name}", tables, changes))
    named = {key: value for key, value in changes.items() if value is not None or key == "payload.cipher"}
    return Named(name, scenario, named)


def load(name_or_path: str | Path, changes: Mapping[str, Any] | None = None) -> Named:
    """Read and check a scenario."""
    return checked(*read(name_or_path), changes)
