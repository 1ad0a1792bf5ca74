"""A scenario of sending, read from TOML and validated: a transfer over 802.11, or a message of another radio.

Values that are crossed in several of them make every combination a scenario of its own.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, Self, TypeAlias, TypeVar, get_args

from pydantic import Field, create_model, model_validator

from wattlock.definitions import DefinitionForm, Shelf, Table, Text, suggestion, validated
from wattlock.definitions.changes import with_changes
from wattlock.errors import EvidenceError, InputError, WattlockError
from wattlock.link.ble import Ble
from wattlock.link.framing import Role, Whole
from wattlock.link.ieee802154 import Ieee802154
from wattlock.link.lorawan import Lorawan
from wattlock.link.payload import Encoding, expanded, size_B
from wattlock.study.cases import CatalogueRow

Topology = Literal["adhoc", "to-ap", "bss"]
Phy = Literal["b", "g", "a", "n", "ac", "ax"]
Protection = Literal["none", "wep", "tkip", "ccmp", "ccmp256", "gcmp", "gcmp256"]
Engine = Literal["closed-form", "bianchi", "dcf"]
Positive = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
Pair = Annotated[list[Count], Field(min_length=2, max_length=2)]
Standard: TypeAlias = Annotated[Ble | Ieee802154 | Lorawan, Field(discriminator="standard")]
LINEAR = "linear"
"""The `phy` of a message over a radio that is not 802.11."""
# What a scenario says itself, and `air` may not.
KEYS: tuple[str, ...] = (
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
KEYS += ("kind", "schema", "stations", "power_save", "distance_m", "walls_dB", "rssi_dBm", "rate_Mb_s", "mcs", "band")
KEYS += ("preamble", "basic_rates_Mb_s")
# Where those stand that are not called the same; what a transfer has no use for stands nowhere.
ELSEWHERE = {key: f"signal.{key}" for key in ("distance_m", "walls_dB", "rssi_dBm")}
ELSEWHERE |= {"payload_B": "payload.payload_B", "datagrams": "payload.data_B"}
ELSEWHERE |= dict.fromkeys(("duration_s", "id", "kind", "schema", "stations", "power_save"), "")
OF_PHY = ("rate_Mb_s", "mcs", "band", "preamble", "basic_rates_Mb_s")
"""Keys that belong to one PHY and not to another."""
SOURCES = ("payload.data_B", "payload.file", "payload.sizes")
IN_MESSAGE = {"payload.data_B": "payload_B", "payload.payload_B": "payload_B", "payload.file": "payload_B"}
"""Of a scenario of 802.11, its place in a message of another radio."""
LARGEST_CROSSING = 1_000
# A frame at a time is walked through: more than this is a file for another radio.
MOST_B = 16 * 1024 * 1024


class PositionLaw(Table):
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

    distance_m: Annotated[float, Field(gt=0, le=100_000)] | PositionLaw | None = None
    walls_dB: Annotated[float, Field(ge=0)] | PositionLaw | None = None
    rssi_dBm: Annotated[float, Field(ge=-197, le=47)] | PositionLaw | None = None
    positions: Annotated[int, Field(ge=20, le=10_000)] = 100

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.rssi_dBm is not None and (self.distance_m is not None or self.walls_dB is not None):
            raise ValueError("has rssi_dBm beside distance_m or walls_dB; one of the two")
        if self.walls_dB is not None and self.distance_m is None:
            raise ValueError("has walls_dB and no distance_m")
        return self

    @property
    def laws(self) -> dict[str, PositionLaw]:
        """What is drawn."""
        return {key: value for key, value in self._given() if isinstance(value, PositionLaw)}

    @property
    def numbers(self) -> dict[str, float]:
        """What is fixed."""
        return {key: value for key, value in self._given() if not isinstance(value, PositionLaw)}

    def _given(self) -> Iterator[tuple[str, float | PositionLaw]]:
        for key in ("distance_m", "walls_dB", "rssi_dBm"):
            value: float | PositionLaw | None = getattr(self, key)
            if value is not None:
                yield key, value


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

    def card_of(self, role: Role) -> str | None:
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


class ComputingCost(Table):
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
    cost: ComputingCost = ComputingCost()
    air: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _no_key_twice(self) -> Self:
        for key in self.air:
            if key in KEYS:
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
        return self.radio.card_of(role) if isinstance(self.radio, Radios) else self.radio


class RadioMessage(Table):
    """A message over a radio that is not 802.11: what is sent and by what.

    * `payload_B`: the plain message; `cipher_B`: nonce, padding and tag that an application's cipher adds;
      `encoding_B`: what base64 or hexadecimal adds on top.
    * `sender`, `receiver`: radio cards, or a path; without a receiver its joules are nobody's.
    * `period_us`: a message every so often, the rest of the time is idle; 0 counts the message alone.
    * `tx_power_dBm`: the sender's, where its card knows several.
    """

    phy: Literal["linear"] = "linear"
    title: Text = "a message"
    note: str = ""
    payload_B: Annotated[int, Field(ge=0, le=MOST_B)]
    cipher_B: Annotated[int, Field(ge=0, le=MOST_B)] = 0
    encoding_B: Annotated[int, Field(ge=0, le=MOST_B)] = 0
    period_us: Whole = 0
    sender: Text
    receiver: Text | None = None
    tx_power_dBm: float | None = None
    link: Standard

    @model_validator(mode="after")
    def _a_gateway_has_no_card(self) -> Self:
        if self.receiver and self.link.standard == "lorawan":
            raise ValueError("a gateway of LoRaWAN is on the mains; leave receiver out")
        return self


KindOfScenario = TypeVar("KindOfScenario", bound=Scenario | RadioMessage)


class Named(NamedTuple, Generic[KindOfScenario]):
    """A scenario, its name or path, and what was requested in place of what it says."""

    name: str
    scenario: KindOfScenario
    changed: dict[str, Any]

    @property
    def label(self) -> str:
        """The name with what was changed."""
        return label_of(self.name, self.changed)

    @property
    def title(self) -> str:
        """The scenario's own title, and what was changed of what it says; of a message its length."""
        if isinstance(self.scenario, RadioMessage):
            octets_B = self.scenario.payload_B
            return f"{self.scenario.title}, {octets_B:,} {'octet' if octets_B == 1 else 'octets'}"
        changed = self.label.removeprefix(self.name).strip()
        return f"{self.scenario.title}; changed: {changed}" if changed else self.scenario.title


class RefusedScenario(NamedTuple):
    """A scenario that can't be, and why."""

    label: str
    error: WattlockError

    @property
    def reason(self) -> str:
        """The error without the label, which the row itself says."""
        name = self.label.split(maxsplit=1)[0]
        return self.error.message.removeprefix(f"link {self.label}: ").removeprefix(f"link {name}: ")


def or_refused(label: str, act: Callable[..., Any], *what: Any) -> Any:
    """What is made of a scenario, or its refusal."""
    try:
        return act(*what)
    except (InputError, EvidenceError) as error:
        return RefusedScenario(label, error)


def label_of(name: str, changes: Mapping[str, Any]) -> str:
    """A scenario's name with what was changed of it: not what only values it, and of sizes how many messages."""
    kept = {key: value for key, value in changes.items() if value is not None or key == "payload.cipher"}
    shown = {key: value for key, value in kept.items() if not key.startswith("cost.")}
    if sizes := shown.pop("payload.sizes", None):
        shown = {key: value for key, value in shown.items() if not key.startswith("payload.")}
        shown["messages"] = sum(count for _, count in sizes)
    changed = (f"{key.rpartition('.')[2]}={'none' if value is None else value}" for key, value in shown.items())
    return " ".join([name, *changed])


def _message_form(name: str, title: str, standard: type[Table], radio: str) -> DefinitionForm:
    # In a file both keys must be there, by which the model is chosen.
    tag: Any = (standard.model_fields["standard"].annotation, ...)
    linear: Any = (Literal["linear"], ...)
    link = create_model(standard.__name__, __base__=standard, standard=tag)
    model = create_model(f"{standard.__name__}Message", __base__=RadioMessage, phy=linear, link=(link, ...))
    words = {"standard": name, "title": title, "radio": radio}
    return DefinitionForm(name, f"A message over {title}.", model, ("message", f"message-{name}"), words)


FORMS = {
    form.name: form
    for form in (
        DefinitionForm("wifi", "A scenario of 802.11: who sends what to whom over which air.", Scenario, ("wifi",)),
        _message_form("ble", "Bluetooth Low Energy", Ble, "nrf52840-ble"),
        _message_form("802154", "IEEE 802.15.4", Ieee802154, "nrf52840-802154"),
        _message_form("lorawan", "LoRaWAN", Lorawan, "sx1262-lora"),
    )
}
"""By the radio, as `wattlock link --template` takes it."""
SCENARIOS = Shelf(
    "link scenario", "scenarios", "links", Scenario, label="link", template="wattlock link --template wifi"
)


def names() -> list[str]:
    """The scenarios that come with wattlock, by name."""
    return SCENARIOS.names()


def read(name_or_path: str | Path) -> tuple[str, dict[str, Any]]:
    """A scenario's tables as they stand in its file, with its name or path.

    Raises InputError where there is none, where it can't be read, or is no TOML.
    """
    return str(name_or_path), SCENARIOS.tables(SCENARIOS.find(name_or_path))


def load(name_or_path: str | Path, changes: Mapping[str, Any] | None = None) -> Named[Scenario]:
    """Read and check a scenario of 802.11."""
    return checked(*read(name_or_path), changes)


def checked(name: str, tables: Mapping[str, Any], changes: Mapping[str, Any] | None = None) -> Named[Scenario]:
    """A scenario of tables, with what is requested in place of what they say.

    * `changes`: values by dotted path, as `payload.encoding`; None takes a key away.

    Raises InputError naming every key that is wrong.
    """
    changes = dict(changes or {})
    scenario = SCENARIOS.checked(f"link {name}", with_changes(f"link {name}", tables, changes))
    return Named(name, scenario, changes)


def message_of(tables: Mapping[str, Any], origin: str) -> RadioMessage:
    """A message from tables.

    Raises InputError that names `origin` and every key that is wrong.
    """
    return validated(RadioMessage, tables, origin)


def is_message(tables: Mapping[str, Any]) -> bool:
    """Whether a scenario is a message of a radio that is not 802.11."""
    return tables.get("phy") == LINEAR


def messages_among(files: Sequence[str]) -> list[str]:
    """The scenarios of radios that are not 802.11: all of them, or none.

    Raises InputError where there are both kinds.
    """
    found = [file for file in files if is_message(read(file)[1])]
    if found and len(found) < len(files):
        raise InputError(f"{found[0]} is of another kind of radio than the others", hint="ask for them one by one")
    return found


# Several scenarios, and values crossed in each: every combination is a scenario of its own.


def cross(
    files: Sequence[str],
    crossed: Mapping[str, Sequence[Any]],
    fixed: Mapping[str, Any] | None = None,
    ciphers: Mapping[str, CatalogueRow] | None = None,
) -> list[Named[Any] | RefusedScenario]:
    """Every scenario under every combination of values, the last key's values soonest.

    * `files`: names or TOML files; `crossed`: values by the key that they change; `fixed`: keys that have one value.
    * `ciphers`: rows of the catalogue, needed for messages alone: what a cipher adds may be too much for one.

    Raises InputError where there are more than `LARGEST_CROSSING`, or a scenario of 802.11 can't be.
    """
    found: list[Named[Any] | RefusedScenario] = []
    for name, tables in [read(file) for file in files]:
        for values in product(*crossed.values()):
            changes = {**dict(zip(crossed, values, strict=True)), **(fixed or {})}
            made = or_refused(label_of(name, changes), under, name, tables, changes, ciphers)
            if isinstance(made, RefusedScenario) and not is_message(tables):
                raise made.error
            found.append(made)
            if len(found) > LARGEST_CROSSING:
                hint = "ask for fewer values at once, or let `wattlock sweep` answer them"
                raise InputError(f"more than {LARGEST_CROSSING} scenarios", hint=hint)
    return found


def under(
    name: str,
    tables: Mapping[str, Any],
    changes: Mapping[str, Any],
    ciphers: Mapping[str, CatalogueRow] | None = None,
) -> Named[Any]:
    """A scenario of tables under changes by path; what they take the place of goes.

    * `ciphers`: rows of the catalogue, needed for messages alone, of which a cipher becomes octets.

    Raises InputError naming every key that is wrong.
    """
    if is_message(tables):
        try:
            changed = _changed(tables, changes, ciphers or {})
        except InputError as error:
            raise InputError(f"link {name}: {error.message}", hint=error.hint) from error
        return Named(name, message_of(changed, f"link {name}"), dict(changes))
    changes = {**changes, **_replaced(changes)}
    if "phy" in changes and changes["phy"] != tables.get("phy"):
        changes = {**dict.fromkeys(OF_PHY), **changes}
    return checked(name, tables, changes)


def ciphers_of(
    files: Sequence[str], crossed: Mapping[str, Sequence[Any]], fixed: Mapping[str, Any] | None = None
) -> list[str]:
    """The ids of the ciphers that encrypt in scenarios under changes."""
    key = "payload.cipher"
    if key in crossed or key in (fixed or {}):
        found = [*crossed.get(key, ()), (fixed or {}).get(key)]
    else:
        payloads = [read(file)[1].get("payload") for file in files]
        found = [payload.get("cipher") for payload in payloads if isinstance(payload, dict)]
    return sorted({cipher for cipher in found if cipher and isinstance(cipher, str)})


def _replaced(changes: Mapping[str, Any]) -> dict[str, None]:
    """What goes when another takes its place: data comes from one source, and a signal from one of two."""
    gone: list[str] = []
    if any(key in changes for key in SOURCES):
        gone += [key for key in SOURCES if key not in changes]
    if "signal.rssi_dBm" in changes:
        gone += [key for key in ("signal.distance_m", "signal.walls_dB") if key not in changes]
    elif "signal.distance_m" in changes:
        gone.append("signal.rssi_dBm")
    return dict.fromkeys(gone)


def _changed(
    tables: Mapping[str, Any], changes: Mapping[str, Any], ciphers: Mapping[str, CatalogueRow]
) -> dict[str, Any]:
    """The tables of a message under changes by path, as for scenarios of 802.11; cipher and encoding become octets."""
    changed = deepcopy(dict(tables))
    values = {path: value for path, value in changes.items() if value is not None}
    cipher, encoding = values.pop("payload.cipher", None), values.pop("payload.encoding", None)
    if "radio" in values:
        # Of all nodes, as with 802.11; a gateway has none.
        values |= dict.fromkeys(("sender", *(["receiver"] if "receiver" in changed else [])), values.pop("radio"))
    if "payload.file" in values:
        values["payload.file"] = size_B(values["payload.file"])
    for path, value in values.items():
        table, *rest = IN_MESSAGE.get(path, path).split(".")
        if rest and isinstance(changed.setdefault(table, {}), dict):
            changed[table][".".join(rest)] = value
        elif rest:
            raise InputError(f"{path}: {table} is no table", hint=f"{table} is {changed[table]!r}")
        else:
            changed[table] = value
    if cipher or encoding:
        plain_B = changed.get("payload_B")
        if not isinstance(plain_B, int):
            raise InputError("payload_B: is missing", hint="--payload-B says how long the message is")
        parts = expanded(plain_B, ciphers.get(cipher) if cipher else None, _encoding(encoding or "raw"))
        changed["cipher_B"] = parts.iv_B + parts.padding_B + parts.tag_B
        changed["encoding_B"] = parts.encoding_B
    return changed


def _encoding(encoding: str) -> Any:
    if encoding not in get_args(Encoding):
        hint = suggestion(encoding, get_args(Encoding), "there are")
        raise InputError(f'--encoding: no encoding "{encoding}"', hint=hint)
    return encoding
