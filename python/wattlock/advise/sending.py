"""What packets take of the radio: seconds by state, asked of the link's models once for each size."""

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from wattlock.advise.choices import OPEN, PROTECTIONS
from wattlock.advise.question import RadioOptions
from wattlock.definitions import suggestion
from wattlock.energy import radio_cards
from wattlock.energy.device_cards import Device
from wattlock.energy.number import Number
from wattlock.energy.radio_cards import CURRENT, Radio, SendPower
from wattlock.errors import EvidenceError, InputError
from wattlock.link import lorawan, lowpower, wifi_air
from wattlock.link.framing import Role
from wattlock.link.ledger import Ledger
from wattlock.link.lorawan import Lorawan
from wattlock.link.payload import PACKET_B, PacketGroup, PayloadParts
from wattlock.link.scenario import Named, RadioMessage, Scenario, Standard, checked, message_of
from wattlock.targets.toolbox import Toolbox

Way = Literal["send", "receive"]
STATES = ("tx", "rx", "idle", "sleep")
# The mean over so many: the air's own rounding and beacons vanish in it.
DATAGRAMS = 1_000
# An IPv6 packet of the least MTU with its headers taken off (RFC 8200, 5; RFC 4944).
SIXLOWPAN_B = 1_280 - 48


class PricedPacket(NamedTuple):
    """One packet to be sent or received: octets above the link, and the link's protection."""

    octets_B: int
    way: Way
    protection: str


class PacketCost(NamedTuple):
    """What a packet takes of the device's radio, retries counted in their mean.

    * `octets_B`: on the air; `busy_s`: from its first state to its last; `air_s`: of those sending.
    * `states_s`: by state; `packets`, `packet_B`: of the linear model.
    * `left_s`: from its first state until it has left; `next_s`: until another may begin.
    """

    octets_B: float
    busy_s: float
    air_s: float
    states_s: dict[str, float]
    packets: float
    packet_B: float
    left_s: float
    next_s: float


class Band(NamedTuple):
    """The share of the time that a band allows for sending, and by which rule."""

    duty_cycle: float
    source: str


class Sender:
    """A radio under a question's conditions."""

    def __init__(self, radio: Radio, question: RadioOptions) -> None:
        self.radio = _with_sleep(radio, question)
        self.question = question
        self.technology = radio.card.technology
        self.rate_Mb_s: float | None = None
        self.link: Standard | None = None
        self._spent: dict[PricedPacket, PacketCost] = {}
        self._states: dict[tuple[str, float | None], tuple[tuple[str, ...], float]] = {}
        if self.technology == "802.11":
            if question.link:
                raise InputError("radio.link: is for radios that are not 802.11", hint="radio.air has Wi-Fi's keys")
            if question.bit_errors:
                hint = "radio.rssi_dBm says what reaches the other end of Wi-Fi"
                raise InputError("radio.bit_errors: is for radios that are not 802.11", hint=hint)
            self._wifi(self.protections[0])
        else:
            if question.air or question.rssi_dBm is not None:
                raise InputError("radio.air: is for Wi-Fi", hint="radio.link has this radio's keys")
            self.link = self._message(PricedPacket(0, "send", self.protections[0])).link
            self.rate_Mb_s = self.link.rate_Mb_s
        self.radio = lowpower.at_power(self.radio, question.tx_power_dBm, self.link, "radio.tx_power_dBm")
        if question.rest in {"sleep", "idle"} and getattr(self.radio.card, question.rest) is None:
            missing = f"radio card {radio.name} has no power for {question.rest}"
            other = "radio.sleep = 10uW gives it" if question.rest == "sleep" else "take another card"
            raise InputError(f"radio.rest: {missing}", hint=f"{other}, or radio.rest = {self._rests()}")

    def _rests(self) -> str:
        """What the card can do between messages."""
        return " or ".join(["off", *(state for state in ("sleep", "idle") if getattr(self.radio.card, state))])

    @property
    def advertising(self) -> bool:
        """Whether messages go in advertisements."""
        return self.technology == "ble" and bool(self.question.link.get("advertising"))

    @property
    def asks(self) -> bool:
        """Whether it asks for each frame that it receives, as it sleeps else (IEEE Std 802.15.4-2006, 7.5.6.3)."""
        return self.technology == "802.15.4"

    @property
    def protections(self) -> list[str]:
        """Those of the link that are compared.

        Raises InputError naming one that it does not have.
        """
        there = [OPEN] if self.advertising else PROTECTIONS[self.technology]
        for name in self.question.protection or []:
            if name not in there:
                raise InputError(f'radio.protection: no "{name}"', hint=suggestion(name, there, "there are"))
        return self.question.protection or there[:1]

    @cached_property
    def packet_B(self) -> int:
        """The most octets above the link in one packet."""
        if self.link is None:
            return PACKET_B["udp"]
        if self.link.standard == "ble":
            return self.link.room_B
        if isinstance(self.link, Lorawan):
            return max(self.link.room_B, 1)
        return SIXLOWPAN_B

    @property
    def why(self) -> str:
        """Why a packet holds no more than `packet_B`, to be put behind it in a sentence; empty where it is usual."""
        link = self.link
        if isinstance(link, Lorawan):
            return f" at data rate {link.data_rate} of {link.region}, and LoRaWAN cuts no message itself"
        if link is None or link.standard != "ble":
            return ""
        return ", an advertisement" if link.advertising else f" by an ATT MTU of {link.att_mtu_B}"

    @property
    def band(self) -> Band:
        """What its band allows."""
        if not isinstance(self.link, Lorawan):
            return Band(1.0, "")
        region = lorawan.framing().region[self.link.region]
        return Band(region.duty_cycle_percent / 100, region.duty_cycle_source)

    @property
    def rest(self) -> Literal["off", "sleep", "idle"]:
        """What the radio does between messages."""
        if self.question.rest:
            return self.question.rest
        if self.radio.card.sleep:
            return "sleep"
        return "idle" if self.technology == "802.11" else "off"

    def number(self, state: str) -> Number:
        """The card's number for a state.

        Raises EvidenceError where it has none.
        """
        card = self.radio.card
        if state == "sleep" and card.sleep is None:
            # Between the parts of an exchange: a radio that can't sleep listens on.
            state = "idle"
        found: Number | None = card.sending(self.rate_Mb_s) if state == "tx" else getattr(card, state, None)
        if found is None:
            raise EvidenceError(
                f"radio card {self.radio.name} has no {state}",
                hint=f"measure what the radio draws in {state} and add it with its source to a copy of the card",
            )
        return found

    def state(self, state: str) -> tuple[tuple[str, ...], float]:
        """The watts of a state, and their factors: its number, and the voltage of a current.

        Raises EvidenceError as `number`.
        """
        found = self._states.get((state, self.rate_Mb_s))
        if found is None:
            number, card = self.number(state), self.radio.card
            key = next(key for key, known in card.numbers().items() if known is number)
            factors = (f"radio {key}", *(("radio voltage",) if number.unit in CURRENT else ()))
            found = self._states[state, self.rate_Mb_s] = factors, card.power_W(number)
        return found

    def evaluate(self, packets: Iterable[PricedPacket], net: Toolbox | None) -> dict[PricedPacket, PacketCost]:
        """What packets take; those not known yet are asked at once, the probe's air in one process.

        * `net`: the toolbox, needed for Wi-Fi alone.

        Raises InputError where the radio can't carry one.
        """
        new = [packet for packet in dict.fromkeys(packets) if packet not in self._spent]
        if self.technology != "802.11":
            self._spent |= {packet: self._by_standard(packet) for packet in new}
        elif new:
            if net is None:
                raise InputError("the air of Wi-Fi needs the toolbox `wattlock-net`", hint="`make setup` builds it")
            questions = [(named := self._wifi(packet.protection), self._question(named, packet)) for packet in new]
            for packet, answer in zip(new, wifi_air.evaluate(net, questions), strict=True):
                self.rate_Mb_s = answer["resolved"]["rate_bit_s"] / 1e6
                self._spent[packet] = self._over_wifi(wifi_air.transfer([_group(packet)], [answer]), packet.way)
        return self._spent

    def event(self) -> PacketCost:
        """A connection event of Bluetooth LE without data, as its peripheral has it."""
        if self.link is None or self.link.standard != "ble":
            raise InputError("connection: is of Bluetooth LE", hint="keep_alive keeps other links")
        events = self.link.empty_event()
        states: Counter[str] = Counter()
        for event in events:
            states[event.sender] += event.time_ns
        octets_B = sum(event.octets_B for event in events if event.sender == "tx")
        seconds = {state: states[state] * 1e-9 for state in STATES}
        busy_s = sum(seconds.values())
        return PacketCost(octets_B, busy_s, seconds["tx"], seconds, 1.0, 0.0, busy_s, busy_s)

    def _message(self, packet: PricedPacket) -> RadioMessage:
        standards = {"ble": "ble", "802.15.4": "802.15.4", "lorawan": "lorawan"}
        protected: dict[str, Any] = {}
        if self.technology == "ble":
            protected = {"encrypted": packet.protection == "ccm"}
        elif self.technology == "802.15.4":
            protected = {"security_level": 0 if packet.protection == "none" else int(packet.protection)}
        link = {"standard": standards[self.technology], **protected, **self.question.link}
        return message_of({"payload_B": packet.octets_B, "sender": self.radio.name, "link": link}, "radio")

    def _empty(self) -> RadioMessage:
        """The link's own packet without data: 802.15.4's data request, LoRaWAN's empty uplink."""
        question = self._message(PricedPacket(0, "send", self.protections[0]))
        if self.technology != "802.15.4":
            return question
        # IEEE Std 802.15.4-2006, 7.3.4: a MAC command frame whose payload is the command's identifier, one octet.
        return question.model_copy(
            update={"payload_B": 1, "link": question.link.model_copy(update={"adaptation": "none"})}
        )

    def _by_standard(self, packet: PricedPacket) -> PacketCost:
        if self.advertising and packet.way == "receive":
            hint = "leave out sessions and what is received, or take a connection: radio.link.advertising = false"
            raise InputError("radio.link.advertising: nothing comes back to who advertises", hint=hint)
        if self.advertising and self.question.bit_errors:
            hint = "leave it out: nobody answers an advertisement, and none is sent again for an error"
            raise InputError("radio.bit_errors: is for links that send again", hint=hint)
        message = self._message(packet) if packet.octets_B else self._empty()
        ledger = lowpower.ledger(message, self.radio.card)
        states = ledger.states_ns["sender" if packet.way == "send" else "receiver"]
        air_s = ledger.states_ns["sender"].get("tx", 0) * 1e-9
        if packet.way == "receive" and self.technology == "lorawan":
            # The gateway's downlink in a receive window: as long as an uplink of so many octets.
            states = {"rx": ledger.states_ns["sender"].get("tx", 0)}
        error = 1 - (1 - self.question.bit_errors) ** (8 * ledger.octets_B / ledger.frames)
        if error > MOST_LOST:
            raise InputError(
                f"radio.bit_errors: {self.question.bit_errors:g} loses {100 * error:.1f} % of the frames",
                hint="shorter frames, or a signal with fewer errors",
            )
        attempts = 1 / (1 - error)
        seconds = {state: attempts * states.get(state, 0) * 1e-9 for state in STATES}  # type: ignore[call-overload]
        busy_s = attempts * sum(time_ns for time_ns in states.values()) * 1e-9
        # As with Wi-Fi, what the other side answers is no octet of the message.
        own_B = sum(line.octets_B for line in ledger.lines if line.what != "acknowledgements")
        left_s = next_s = busy_s
        if packet.way == "send" and self.technology == "lorawan":
            # The receive windows come behind it; the band's silence comes before the next.
            left_s = busy_s - (busy_s / attempts - air_s)
            next_s = max(busy_s, attempts * air_s / self.band.duty_cycle)
        return PacketCost(attempts * own_B, busy_s, attempts * air_s, seconds, attempts, 0.0, left_s, next_s)

    def _over_wifi(self, sent: Ledger, way: Way) -> PacketCost:
        """The mean of a packet that arrives; what Wi-Fi gives up is sent anew."""
        arrived = sent.delivered / sent.requested
        if arrived < 1 - MOST_LOST:
            raise InputError(
                f"radio.rssi_dBm: {100 * arrived:.1f} % of the packets arrive at {self.question.rssi_dBm:g} dBm and "
                f"{self.rate_Mb_s:g} Mb/s"
                if self.question.rssi_dBm is not None
                else f"radio.air: {100 * arrived:.1f} % of the packets arrive",
                hint="a stronger signal, or a lower rate: radio.air.mcs, radio.air.rate_Mb_s",
            )
        role: Role = "sender" if way == "send" else next(role for role in sent.states_ns if role != "sender")
        states: Counter[str] = Counter(dict(sent.states_ns[role].items()))
        # A radio that hears a busy channel decodes, as the link's joules have it.
        states["rx"] += states.pop("cca", 0)
        handled = sent.sent[role] if way == "send" else sent.received[role]
        each = 1 / sent.delivered
        return PacketCost(
            sent.octets_B * each,
            sent.air_ns * 1e-9 * each,
            sent.states_ns["sender"].get("tx", 0) * 1e-9 * each,
            {state: states[state] * 1e-9 * each for state in STATES},
            handled.packets * each,
            handled.octets_B * each,
            sent.air_ns * 1e-9 * each,
            sent.air_ns * 1e-9 * each,
        )

    def _wifi(self, protection: str) -> Named[Scenario]:
        keys = set(Scenario.model_fields) - {"air", "payload", "signal", "radio"}
        tables: dict[str, Any] = {"phy": "n", "topology": "to-ap", "engine": "closed-form", "protection": protection}
        tables |= {key: value for key, value in self.question.air.items() if key in keys}
        # Single messages are no aggregate of frames.
        single = {"ampdu_B": 0} if tables["phy"] in {"n", "ac", "ax"} else {}
        tables["air"] = single | {key: value for key, value in self.question.air.items() if key not in keys}
        tables["payload"] = {"data_B": 1}
        if self.question.rssi_dBm is not None:
            tables["signal"] = {"rssi_dBm": self.question.rssi_dBm}
        return checked("radio.air", tables)

    def _question(self, named: Named[Scenario], packet: PricedPacket) -> wifi_air.AirQuestion:
        return wifi_air.question(named, _group(packet), named.scenario.signal.numbers, 0)


def sender(question: RadioOptions, device: Device | None, cards: Path | None, assumed: list[str]) -> Sender:
    """The radio that a question names, else the device's own, told in `assumed`.

    * `cards`: the user's folder of cards.

    Raises InputError where there is none, or the question asks of it what it can't do.
    """
    name = question.card or (device.card.radio if device else None)
    if name is None:
        there = ", ".join(radio_cards.RADIOS.names(cards))
        raise InputError("no radio is named, and the device's card names none", hint=f"--radio takes one of: {there}")
    if question.card is None:
        assumed.append(f"the radio is the device's own, {name}: none was given")
    found = Sender(radio_cards.load(name, cards), question)
    if found.rest == "idle" and not question.rest:
        assumed.append(f"the radio listens between messages: {name} has no sleep (radio.rest says otherwise)")
    powers = {sending.power_dBm for sending in found.radio.card.tx if sending.power_dBm is not None}
    sent = found.number("tx") if found.radio.card.has_states else None
    if isinstance(sent, SendPower) and sent.because.startswith("between"):
        span = sent.because.partition(":")[0]
        assumed.append(f"what the radio draws at {sent.power_dBm:g} dBm lies {span}, the card's nearest figures")
    if question.tx_power_dBm is None and len(powers) > 1 and isinstance(sent, SendPower):
        assumed.append(f"the radio sends at {sent.power_dBm:g} dBm: nobody gave its power (radio.tx_power_dBm)")
    return found


def _with_sleep(radio: Radio, question: RadioOptions) -> Radio:
    """The radio with what the question says that it draws asleep."""
    if question.currents_A:
        if radio.card.voltage is None:
            raise InputError(
                f"radio.sleep is a current, and radio card {radio.name} has no voltage", hint="give a power, as 3uW"
            )
        question = question.at(radio.card.voltage.in_SI)
    if question.sleep is None:
        return radio
    if not question.sleep:
        raise InputError("radio.sleep: 0 W is no power", hint="radio.rest = off draws nothing")
    number = Number(
        value=question.sleep * 1e6,
        unit="uW",
        source="the question",
        confidence="primary",
        relative_uncertainty=0.0,
        distribution="uniform",
        because="as asked",
        conditions="asleep",
    )
    return Radio(radio.name, radio.card.model_copy(update={"sleep": number}))


# Beyond that a link is down, and the mean number of tries says nothing.
MOST_LOST = 0.95


def _group(packet: PricedPacket) -> PacketGroup:
    return PacketGroup(packet.octets_B, DATAGRAMS, PayloadParts(plain_B=packet.octets_B * DATAGRAMS))
