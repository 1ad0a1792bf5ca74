"""Secure links for small messages compared: a row a design, radio and loss, with joules of each message verified.

Designs and radios are data, `data/framings/designs.toml`. A frame is priced by the answer of the link that carries it;
loss decides how many messages become verified, and for how many later ones each waits.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from wattlock.definitions import Table, Text, shipped
from wattlock.energy import radio_cards
from wattlock.errors import InputError
from wattlock.link import ble, ieee802154, lorawan, lowpower
from wattlock.link.ble import Ble
from wattlock.link.framing import Event, RadioFrame, Role, Whole, cut
from wattlock.link.ieee802154 import Ieee802154
from wattlock.link.ledger import Interval, interval
from wattlock.link.lorawan import Lorawan, airtime_us
from wattlock.link.scenario import MOST_B, Named, RadioMessage, checked, message_of
from wattlock.targets.toolbox import Toolbox

LOSSES = (0.0, 0.01, 0.05, 0.1, 0.2)
STRENGTHS = (64, 128)
DAY_s = 86_400.0
# Rounds of Ascon's permutation p12, and of p8 for an octet of Ascon-AEAD128 (NIST SP 800-232, 3 and 4.1).
P12, P8_B = 12, 8 / 16
# Wi-Fi's frames are valued in the mean of so many: what the air rounds vanishes in it.
DATAGRAMS = 1_000
# Semtech, SX1276 data sheet, 4.1.1.7: the payload's length has one octet.
MOST_LORA_B = 255
# IEEE Std 802.11-2020, 9.2.4.8: an MSDU has at most 2304 octets; less LLC and SNAP, IPv4, UDP.
MOST_WIFI_B = 2_304 - 8 - 20 - 8
SAMPLES, SEED = 20_000, 1
MOST_COUNTED = 12
"""Other messages whose losses are counted one by one; of more they are sampled."""
SHORTEST = (0, 0, 1, 3, 6, 11, 17, 25, 34, 44)
"""No Golomb ruler of so many marks is shorter (OEIS A003022)."""
LEAST_SHARE = 1e-12
"""Of a geometric distribution, what is left out of its sum."""
Below = Literal["open", "protected", "bare"]
Way = Literal["send", "receive", "report", "polled", "acknowledged"]
Count = Annotated[int, Field(ge=1)]


class SensorWork(NamedTuple):
    """What the sensor computes: cycles, joules, and whether nobody counted them on such a core."""

    cycles: float
    joules: Interval
    assumed: bool


class Computing(NamedTuple):
    """What the sensor's work takes.

    * `seal`: a cipher's message of so many octets; `record`: a short record of tally; `report`: one that it hears.
    """

    seal: Callable[[str, int], SensorWork]
    record: Callable[[int], SensorWork]
    report: SensorWork


class SensorTraffic(NamedTuple):
    """Messages of `payload_B` octets, one each `every_s`."""

    payload_B: int
    every_s: float


def rows(
    traffic: SensorTraffic,
    computing: Computing,
    net: Toolbox | None,
    *,
    user_cards: Path | None = None,
    allow_assumed: bool = False,
) -> list[dict[str, Any]]:
    """A row a radio, design and loss.

    Joules are of the sensor: its radio and what it computes. Loss is of messages and reports, each for itself, beyond
    what the radio itself sends again.

    Without a row is what a radio can't carry (`DesignOnRadio.fits`).

    Raises InputError where no design's messages fit any radio, EvidenceError for numbers that nobody verified.
    """
    found = []
    for name, radio in compared().radio.items():
        pairs = {
            key: DesignOnRadio(design.over(radio), radio, traffic)
            for key, design in compared().design.items()
            if design.is_for(radio)
        }
        carried = {key: pair for key, pair in pairs.items() if pair.fits}
        needed = [frame for pair in carried.values() for frame in pair.frames()]
        costs = frame_costs(radio, needed, net, user_cards=user_cards, allow_assumed=allow_assumed) if needed else {}
        for key, pair in carried.items():
            fixed = {"radio": name, "design": key} | _fixed(pair, computing, costs)
            found += [fixed | _lossy(pair, computing, costs, share) for share in LOSSES]
    if not found:
        raise InputError(
            f"messages of {traffic.payload_B} octets: no radio carries them",
            hint=f"--payload-B takes less than {MOST_B}; Wi-Fi carries up to {MOST_WIFI_B}",
        )
    return found


# The designs and the radios that carry them, as `data/framings/designs.toml` has them.


class DesignRadio(Table):
    """One radio of the comparison; the file's head says what each key means.

    * `protected`: its standard's keys with its own protection, where that can be left out.
    """

    title: Text
    card: Text
    tx_power_dBm: float | None = None
    link: dict[str, Any] | None = None
    protected: dict[str, Any] | None = None
    own_bits: Count
    hint_B: Whole

    @property
    def is_lora(self) -> bool:
        """Whether a frame of LoRa can be sent without LoRaWAN's."""
        return self.lorawan is not None

    @property
    def lorawan(self) -> Lorawan | None:
        """Its keys of LoRaWAN."""
        if self.link is None or self.link["standard"] != "lorawan":
            return None
        return Lorawan(**self.link)


class Design(Table):
    """One design; the file's head says what each key means."""

    title: Text
    source: Text
    own: bool = False
    header_B: Whole = 0
    inner_B: Whole = 0
    block_B: Count = 1
    hinted: bool = False
    bare_hint_B: Whole | None = None
    cipher: Text | None = None
    tag_B: Whole = 0
    each: Count = 1
    marks: list[Whole] = Field(default=[0])
    rulers: Annotated[int, Field(ge=1, le=9)] | None = None
    bits: Whole = 0
    cycle: bool = False
    reports: Literal["report", "polled", "acknowledged"] = "report"
    flights_B: list[Count] = Field(default_factory=list)
    flights_source: str = ""
    session_s: Annotated[float, Field(gt=0)] | None = None
    session_source: str = ""
    state_B: Whole | None = None
    state: str = ""

    @property
    def bits_at_release(self) -> int:
        """Bits of authenticity that every message has when it arrives."""
        return 0 if self.each > 1 else self.bits

    def over(self, radio: DesignRadio) -> Self:
        """The design on a radio: the radio's own protection has the bits of that."""
        return self.model_copy(update={"bits": radio.own_bits}) if self.own else self

    def hint_B(self, radio: DesignRadio) -> int:
        """Octets that tell the receiver counter and kind, on a radio."""
        if self.bare_hint_B is not None:
            return self.bare_hint_B
        return radio.hint_B if self.hinted else 0

    def sealed_B(self, payload_B: int, radio: DesignRadio, *, tagged: bool = True) -> int:
        """Octets of a message as it is handed to the radio; `tagged`: whether it carries the tag."""
        if self.own:
            return payload_B
        return self.hint_B(radio) + self.header_B + self.inside_B(payload_B) + (self.tag_B if tagged else 0)

    def inside_B(self, payload_B: int) -> int:
        """Octets that are encrypted."""
        return -(-(payload_B + self.inner_B) // self.block_B) * self.block_B

    def is_for(self, radio: DesignRadio) -> bool:
        """Whether a radio can carry it."""
        if self.reports != "report":
            return radio.link is not None and radio.link["standard"] == "802.15.4"
        return self.bare_hint_B is None or radio.is_lora


class Tally(Table):
    """tally's frames beside its records, octets; `report_every`: messages from one report to the next."""

    report_every: Count
    report_B: Count
    rescue_B: Count
    request_B: Count


class DesignFile(Table):
    """The whole file."""

    radio: dict[str, DesignRadio]
    design: dict[str, Design]
    tally: Tally


@cache
def compared() -> DesignFile:
    """Radios, designs and tally's numbers."""
    return shipped("framings/designs.toml", DesignFile)


class DesignFrame(NamedTuple):
    """A frame to be carried.

    * `octets_B`: above the radio's frame and the headers of IP and UDP. `below`: the radio's `open` frame, with its own
      `protected`, or for LoRa none (`bare`). `way`: as the sensor sees it; `report` is one of tally's, which on
      Bluetooth LE takes the place of an empty PDU, `polled` a frame of 802.15.4 for which it asks anyway,
      `acknowledged` what stands in an enhanced acknowledgement of 802.15.4.
    """

    octets_B: int
    below: Below = "open"
    way: Way = "send"


class DesignOnRadio(NamedTuple):
    """A design that carries messages over a radio."""

    design: Design
    radio: DesignRadio
    traffic: SensorTraffic

    @property
    def below(self) -> Below:
        """The radio's frame below it."""
        if self.design.own:
            return "protected"
        return "open" if self.design.bare_hint_B is None else "bare"

    @property
    def fits(self) -> bool:
        """Whether the radio carries all its frames."""
        most_B = MOST_LORA_B if self.below == "bare" else MOST_B
        most_B = MOST_WIFI_B if self.radio.link is None else most_B
        return all(frame.octets_B <= most_B for frame in self.frames())

    @property
    def sent(self) -> list[tuple[DesignFrame, float]]:
        """The frames that carry messages, with the share of each."""
        several = self.design.each
        kinds = [(True, 1 / several), (False, 1 - 1 / several)]
        return [
            (DesignFrame(self.design.sealed_B(self.traffic.payload_B, self.radio, tagged=tagged), self.below), share)
            for tagged, share in kinds
            if share
        ]

    @property
    def handshake(self) -> list[DesignFrame]:
        """Its flights, the sensor's first."""
        ways: tuple[Way, Way] = ("send", "receive")
        return [DesignFrame(size_B, self.below, ways[place % 2]) for place, size_B in enumerate(self.design.flights_B)]

    @property
    def report(self) -> list[DesignFrame]:
        """Tally's."""
        return [DesignFrame(compared().tally.report_B, self.below, self.design.reports)] if self.design.cycle else []

    @property
    def rescue(self) -> list[DesignFrame]:
        """Tally's request and rescue record."""
        if not self.design.cycle:
            return []
        record_B = compared().tally.rescue_B + self.design.hint_B(self.radio)
        return [DesignFrame(compared().tally.request_B, self.below, "receive"), DesignFrame(record_B, self.below)]

    def frames(self) -> Iterator[DesignFrame]:
        """All that the radio is asked for."""
        yield from (frame for frame, _ in self.sent)
        yield from (*self.handshake, *self.report, *self.rescue)
        if self.design.own:
            yield DesignFrame(self.traffic.payload_B)

    def sealing(self, computing: Computing) -> SensorWork | None:
        """What sealing a message takes; None for the radio's own hardware."""
        design = self.design
        if design.cipher is None:
            return None
        size_B = design.inside_B(self.traffic.payload_B)
        work = computing.record(size_B) if design.cycle else computing.seal(design.cipher, size_B)
        if design.hint_B(self.radio) < HASHED_HINT_B:
            return work
        hint = _of_rounds(computing.seal, HINT_ROUNDS)
        return SensorWork(work.cycles + hint.cycles, _sum([(work.joules, 1.0), (hint.joules, 1.0)]), assumed=True)


def _sum(parts: Sequence[tuple[Interval, float]]) -> Interval:
    """A weighted sum whose parts go by the same cards' numbers: their ends add up too."""
    return Interval(*(sum(part[end] * weight for part, weight in parts) for end in range(3)))


def _fixed(pair: DesignOnRadio, computing: Computing, costs: Mapping[DesignFrame, "FrameCost"]) -> dict[str, Any]:
    """What does not depend on loss."""
    design, traffic, sent = pair.design, pair.traffic, pair.sent
    work = pair.sealing(computing)
    if work and design.cycle:
        report, often = computing.report, 1 / compared().tally.report_every
        joules = _sum([(work.joules, 1.0), (report.joules, often)])
        work = SensorWork(work.cycles + report.cycles * often, joules, assumed=work.assumed or report.assumed)

    def uJ(frames: Sequence[DesignFrame]) -> float | None:
        return 1e6 * sum(costs[frame].joules.J for frame in frames) if frames else None

    message_uJ = 1e6 * sum(costs[frame].joules.J * share for frame, share in sent)
    air_s = sum(costs[frame].air_s * share for frame, share in sent)
    handshake_uJ = uJ(pair.handshake)
    # A session that ended before the next message is made anew for it; others are counted one a day.
    handshakes = DAY_s / max(design.session_s or DAY_s, traffic.every_s)
    # What the radio's own protection adds stands in its frame; LoRaWAN's and Wi-Fi's is below every design.
    own_B = costs[sent[0][0]].air_B - costs[DesignFrame(traffic.payload_B)].air_B if design.own else 0
    return {
        "adds_B": sum(frame.octets_B * share for frame, share in sent) - traffic.payload_B + own_B,
        "hint_B": design.hint_B(pair.radio),
        "tag_B": design.tag_B,
        "on_air_B": sum(costs[frame].air_B * share for frame, share in sent),
        "frames": max(costs[frame].frames for frame, _ in sent),
        "air_ms": 1e3 * air_s,
        "over": _over(pair, air_s),
        "cycles": work.cycles if work else None,
        "cycles_assumed": work.assumed if work else None,
        "state_B": design.state_B,
        "bits_at_release": design.bits_at_release,
        "message_uJ": message_uJ,
        "computing_uJ": 1e6 * work.joules.J if work else 0.0,
        "report_uJ": uJ(pair.report),
        "rescue_uJ": uJ(pair.rescue),
        "handshake_B": sum(design.flights_B) or None,
        "handshake_uJ": handshake_uJ,
        "handshakes_a_day": handshakes if handshake_uJ else None,
        "handshake_percent": 100 * handshake_uJ * handshakes * traffic.every_s / (DAY_s * message_uJ)
        if handshake_uJ
        else None,
    }


def _over(pair: DesignOnRadio, air_s: float) -> str | None:
    """What the messages take more of than there is: the radio's channel, or what the band allows a sender of it."""
    share = air_s / pair.traffic.every_s
    if share > 1:
        return "channel"
    link = pair.radio.lorawan
    if link is None or share <= lorawan.framing().region[link.region].duty_cycle_percent / 100:
        return None
    return "duty cycle"


def _lossy(
    pair: DesignOnRadio, computing: Computing, costs: Mapping[DesignFrame, "FrameCost"], share: float
) -> dict[str, Any]:
    """What loss makes of it."""
    parts = [(costs[frame].joules, often) for frame, often in pair.sent]
    sealing = pair.sealing(computing)
    parts += [(sealing.joules, 1.0)] if sealing else []
    reports = 0.0
    if pair.design.cycle:
        round_trip = cycle(pair.design, share)
        reports = (1 - share) * round_trip.repeats / round_trip.accepted
        parts += [(costs[frame].joules, reports) for frame in pair.report]
        # Of the reports that were sent one is heard.
        parts.append((computing.report.joules, reports / round_trip.repeats))
    each = _sum(parts)
    found: dict[str, Any] = {"loss": share, "reports_a_message": reports, "delivered_uJ": 1e6 * each.J / (1 - share)}
    for bits in STRENGTHS:
        verified = outcome(pair.design, bits, share)
        per = 1e6 / ((1 - share) * verified.share) if verified.share else None
        found |= {
            f"verified_{bits}_share": verified.share,
            f"verified_{bits}_uJ": None if per is None else each.J * per,
            f"verified_{bits}_low_uJ": None if per is None else each.low_J * per,
            f"verified_{bits}_high_uJ": None if per is None else each.high_J * per,
            f"wait_{bits}_messages": verified.wait,
            f"wait_{bits}_s": None if verified.wait is None else verified.wait * pair.traffic.every_s,
        }
    return found


def cxof_rounds(label_B: int, message_B: int, output_B: int) -> int:
    """Rounds of Ascon-CXOF128: one block of 8 octets at a time (NIST SP 800-232, 5.3)."""
    return P12 * (2 + (label_B // 8 + 1) + (message_B // 8 + 1) + -(-output_B // 8) - 1)


# tally's specification: a hint of 2 is hashed; a report is opened, and gives the next key and what lies below it.
HASHED_HINT_B = 2
HINT_ROUNDS = cxof_rounds(len("tally1 hint"), 16 + 1 + 4, 2)
REPORT_ROUNDS = 2 * P12 + cxof_rounds(len("tally1 next"), 16 + 3 * 4 + 16, 16)
REPORT_ROUNDS += cxof_rounds(len("tally1 generation"), 16 + 4 + 1, 80)


def _of_rounds(seal: Callable[[str, int], SensorWork], rounds: int) -> SensorWork:
    """Work of so many rounds, by what an octet more takes in a long message: nobody counted it, it is assumed."""
    short, long = (seal("ascon-aead128", size_B) for size_B in (64, 1024))
    octets = rounds / P8_B / (1024 - 64)
    joules = Interval(*(octets * (more - less) for less, more in zip(short.joules, long.joules, strict=True)))
    return SensorWork(octets * (long.cycles - short.cycles), joules, assumed=True)


# What a frame takes of the sensor's radio, sent or received.


class FrameCost(NamedTuple):
    """What a frame takes: octets on the air, seconds on the air of its sender, joules of the sensor's radio.

    * `frames`: of the radio, into which it is cut.
    """

    air_B: int
    air_s: float
    joules: Interval
    frames: int = 1


class BareLora(Lorawan):
    """LoRa without LoRaWAN: its PHY's frame holds the message alone; of the receive windows the first stays."""

    def frames(self, data_B: int) -> Iterator[RadioFrame]:
        """One frame; no rule of LoRaWAN cuts it, and it is at most `MOST_LORA_B`."""
        yield RadioFrame(data_B, 0, 0, 0)

    def around(self, frame: RadioFrame, frame_ns: int, *, last: bool) -> list[Event]:
        """A second, and a window in which an answer may begin."""
        return super().around(frame, frame_ns, last=last)[:2]


def frame_costs(
    radio: DesignRadio,
    frames: Iterable[DesignFrame],
    net: Toolbox | None,
    *,
    user_cards: Path | None = None,
    allow_assumed: bool,
) -> dict[DesignFrame, FrameCost]:
    """What each frame takes.

    * `net`: the toolbox, for Wi-Fi alone. `user_cards`: the user's folder of cards.

    Raises InputError where the radio can't carry one, EvidenceError for numbers that nobody verified.
    """
    wanted = list(dict.fromkeys(frames))
    if radio.link is not None:
        return {frame: _as_message(radio, frame, user_cards, allow_assumed=allow_assumed) for frame in wanted}
    if net is None:
        raise InputError("the air of Wi-Fi needs the toolbox `wattlock-net`", hint="`make setup` builds it")
    return _over_wifi(radio, wanted, net, user_cards, allow_assumed=allow_assumed)


def _as_message(radio: DesignRadio, frame: DesignFrame, user_cards: Path | None, *, allow_assumed: bool) -> FrameCost:
    if radio.lorawan is not None and frame.way != "send":
        return _downlinks(radio, radio.lorawan, frame, user_cards, allow_assumed=allow_assumed)
    keys: dict[str, Any] = {
        "payload_B": frame.octets_B,
        "sender": radio.card,
        "tx_power_dBm": radio.tx_power_dBm,
        "link": radio.protected if frame.below == "protected" and radio.protected else radio.link,
    }
    if not radio.is_lora:
        keys["receiver"] = radio.card
    message = message_of(keys, f"radio {radio.title}")
    if frame.below == "bare":
        message = message.model_copy(update={"link": BareLora(**message.link.model_dump())})
    if frame.way == "report" and isinstance(message.link, Ble):
        return _in_place(radio, message.link, frame, user_cards)
    if frame.way == "acknowledged" and isinstance(message.link, Ieee802154):
        facts = ieee802154.framing()
        more_B = facts.header_ie + facts.vendor + frame.octets_B
        longer_ns = message.link.airtime_ns(more_B) - message.link.airtime_ns(0)
        return _listening(radio, more_B, 1e-9 * longer_ns, user_cards)
    answer = lowpower.evaluate(Named(radio.title, message, {}), allow_assumed=allow_assumed, user_cards=user_cards)
    spent = answer.radios[0 if frame.way == "send" else 1]
    air_s = 1e-9 * answer.ledger.states_ns["sender"].get("tx", 0)
    cost = FrameCost(answer.ledger.octets_B, air_s, spent.total, answer.ledger.frames)
    if frame.way in {"receive", "report"} and isinstance(message.link, Ieee802154):
        return _polled(cost, message, allow_assumed=allow_assumed, user_cards=user_cards)
    return cost


def _in_place(radio: DesignRadio, link: Ble, frame: DesignFrame, user_cards: Path | None) -> FrameCost:
    """PDUs in place of empty ones, in events that the connection has anyway (Bluetooth Core 5.4, Vol 6, B, 4.5.1)."""
    empty_B = ble.framing().header + ble.framing().crc
    sizes = [sum(pdu) for pdu in link.frames(frame.octets_B)]
    longer_ns = sum(link.airtime_ns(size_B) - link.airtime_ns(empty_B) for size_B in sizes)
    return _listening(radio, sum(sizes) - len(sizes) * empty_B, 1e-9 * longer_ns, user_cards)


def _polled(received: FrameCost, message: RadioMessage, *, allow_assumed: bool, user_cards: Path | None) -> FrameCost:
    """Frames that a sensor asks for, each by a data request, as it sleeps else (IEEE Std 802.15.4-2006, 7.5.6.3)."""
    link = message.link.model_copy(update={"adaptation": "none", "security_level": 0})
    request = message.model_copy(update={"payload_B": ieee802154.framing().data_request, "link": link})
    answer = lowpower.evaluate(Named("request", request, {}), allow_assumed=allow_assumed, user_cards=user_cards)
    return received._replace(joules=_sum([(received.joules, 1.0), (answer.radios[0].total, received.frames)]))


def _downlinks(
    radio: DesignRadio, link: Lorawan, frame: DesignFrame, user_cards: Path | None, *, allow_assumed: bool
) -> FrameCost:
    """Frames of the gateway, each in the first receive window of an uplink.

    The first window is counted with the message before; for each further frame the sensor sends an empty message. A
    downlink has no CRC (LoRaWAN 1.0.2 Regional Parameters rev. B, and 4.1).
    """
    pieces = [frame.octets_B] if frame.below == "bare" else cut(frame.octets_B, link.room_B)
    around_B = 0 if frame.below == "bare" else sum(next(link.frames(0)))
    parts = []
    for piece_B in pieces:
        air_s = 1e-6 * airtime_us(link.modulation, piece_B + around_B, crc=False)
        parts.append(_listening(radio, piece_B + around_B, air_s, user_cards))
    parts += [_as_message(radio, DesignFrame(0, frame.below), user_cards, allow_assumed=allow_assumed)] * (
        len(pieces) - 1
    )
    joules = _sum([(part.joules, 1.0) for part in parts])
    return FrameCost(sum(part.air_B for part in parts), sum(part.air_s for part in parts), joules, len(pieces))


def _listening(radio: DesignRadio, octets_B: int, air_s: float, user_cards: Path | None) -> FrameCost:
    """Octets for which the sensor listens so much longer."""
    card = radio_cards.load(radio.card, user_cards).card
    if card.rx is None:
        raise InputError(f"radio card {radio.card} has no rx", hint="take another card")
    numbers = {"rx": card.rx} | ({"voltage": card.voltage} if card.voltage else {})
    return FrameCost(octets_B, air_s, interval({"rx": air_s * card.power_W(card.rx)}, numbers))


def _over_wifi(
    radio: DesignRadio, frames: list[DesignFrame], net: Toolbox, user_cards: Path | None, *, allow_assumed: bool
) -> dict[DesignFrame, FrameCost]:
    """The mean of many datagrams over Wi-Fi with CCMP, each in a frame of its own."""
    keys = {"phy": "n", "topology": "to-ap", "protection": "ccmp", "engine": "closed-form", "radio": radio.card}
    sizes = [{"sizes": [[frame.octets_B, DATAGRAMS]], "encrypt": "packet"} for frame in frames]
    requested = [checked("compare", {**keys, "payload": payload, "air": {"ampdu_B": 0}}) for payload in sizes]
    # Loaded for Wi-Fi alone: it reads runs too.
    from wattlock.link.wifi import evaluate

    found = {}
    answers = evaluate(requested, net, {}, user_cards=user_cards, allow_assumed=allow_assumed)
    for frame, answer in zip(frames, answers, strict=True):
        role: Role = "sender" if frame.way == "send" else "access-point"
        total = next(radio.total for radio in answer.by_states if radio.role == role)
        air_ns = answer.ledger.states_ns["sender"].get("tx", 0)
        joules = Interval(*(J / DATAGRAMS for J in total))
        found[frame] = FrameCost(answer.ledger.octets_B // DATAGRAMS, 1e-9 * air_ns / DATAGRAMS, joules)
    return found


# What loss does: the share of messages that become verified, and for how many messages that takes.


class Outcome(NamedTuple):
    """Of a message that was delivered, under loss.

    * `share`: of them that reach the strength. `wait`: messages sent until then, in the mean of those; None where none
      does.
    """

    share: float
    wait: float | None


class Cycle(NamedTuple):
    """tally's reports, in the mean.

    * `accepted`: messages that arrive between two reports; `repeats`: how often each report is sent.
    """

    accepted: float
    repeats: float


def outcome(design: Design, bits: int, loss: float) -> Outcome:
    """How many of the messages that arrive are verified at so many bits.

    * `loss`: share of messages, and of reports, that never arrive, each for itself.
    """
    if design.cycle:
        return _by_reports(design, bits, loss)
    positions = tuple(tuple(tags) for tags in _tags(design))
    return _by_tags(positions, bits, loss)


# tally, by its specification. Nobody attacks, and fewer than 64 messages in a row stay without a report.


def cycle(design: Design, loss: float) -> Cycle:
    """From one report to the next.

    A report is frozen when `report_every` messages came since the last one was, said after each message that arrives
    until it is heard, and done with when the next message arrives.
    """
    return Cycle(sum(length * share for length, share in _lengths(design, loss)), 1 / (1 - loss))


def _lengths(design: Design, loss: float) -> list[tuple[int, float]]:
    """Messages that arrive from one report to the next, and the chance of as many."""
    return [(max(compared().tally.report_every, late + 1), share) for late, share in _late(design, loss)]


def _late(design: Design, loss: float) -> Iterator[tuple[int, float]]:
    """Messages that arrive between a report's freezing and its being heard, and the chance of as many.

    An acknowledgement carries a report that was there before its message. It is said with every other one: whether it
    was heard shows in the message between.
    """
    first, step = (1, 2) if design.reports == "acknowledged" else (0, 1)
    for lost in count():
        share = (1 - loss) * loss**lost
        if share < LEAST_SHARE:
            return
        yield first + step * lost, share


def _by_reports(design: Design, bits: int, loss: float) -> Outcome:
    """A message waits for its report to be frozen and heard, then for acceptances, each a message that arrives."""
    acceptances = -(-bits // design.bits) - 1
    lengths = _lengths(design, loss)
    accepted = sum(length * share for length, share in lengths)
    until_frozen = sum(length * (length - 1) / 2 * share for length, share in lengths) / accepted
    until_heard = sum(late * share for late, share in _late(design, loss))
    return Outcome(1.0, (until_frozen + until_heard + acceptances) / (1 - loss))


# Tags over several messages: one verifies where all that it covers arrived.

Tag = tuple[int, int, tuple[int, ...]]
"""Bits, messages after the one in question, and the messages covered, relative to it; its carrier is among them."""


def _tags(design: Design) -> Iterator[list[Tag]]:
    """The tags that cover a message, for each equally likely place of it."""
    if design.each > 1:
        for place in range(design.each):
            last = design.each - 1 - place
            yield [(design.bits, last, tuple(range(-place, last + 1)))]
        return
    rulers = shortest_rulers(design.rulers, design.bits) if design.rulers else [tuple(design.marks)]
    bits = design.bits // len(rulers)
    yield [(bits, mark, tuple(mark - other for other in ruler)) for ruler in rulers for mark in ruler]


@lru_cache(maxsize=256)
def _by_tags(positions: tuple[tuple[Tag, ...], ...], bits: int, loss: float) -> Outcome:
    drawn = [_reached(sorted(tags, key=lambda tag: tag[1]), bits, loss) for tags in positions]
    shares = [share for share, _ in drawn]
    reached = sum(shares)
    if not reached:
        return Outcome(0.0, None)
    return Outcome(reached / len(shares), sum(share * wait for share, wait in drawn) / reached)


def _reached(tags: list[Tag], bits: int, loss: float) -> tuple[float, float]:
    """The share that reaches the bits and the mean wait of those: exact where few other messages are covered."""
    others = sorted({other for _, _, covered in tags for other in covered} - {0})
    lost, chance = _losses(len(others), loss)
    covers = np.array([[other in covered for _, _, covered in tags] for other in others], dtype=np.float32)
    whole = lost.astype(np.float32) @ covers.reshape(len(others), len(tags)) == 0
    gained = np.cumsum(whole * np.array([tag[0] for tag in tags]), axis=1) >= bits
    reached = chance * gained[:, -1]
    waits = np.array([tag[1] for tag in tags])[gained.argmax(axis=1)]
    share = float(reached.sum() / chance.sum())
    return share, float((reached * waits).sum() / reached.sum()) if share else 0.0


def _losses(others: int, loss: float) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Which of so many messages are lost, a row a case, and how each case weighs: all cases, or samples of many."""
    if others > MOST_COUNTED:
        lost = np.random.default_rng(SEED).random((SAMPLES, others)) < loss
        return lost, np.ones(SAMPLES)
    lost = np.arange(1 << others)[:, None] >> np.arange(others) & 1 == 1
    return lost, np.where(lost, loss, 1 - loss).prod(axis=1)


@lru_cache(maxsize=8)
def shortest_rulers(marks: int, many: int) -> list[tuple[int, ...]]:
    """So many Golomb rulers of `marks` marks, the shortest first: no two pairs of marks are equally far apart."""
    found: list[tuple[int, ...]] = []
    for length in count(marks - 1):
        if len(found) >= many:
            return found[:many]
        found += _rulers((0,), 1, 0, marks, length)
    raise AssertionError


def _rulers(ruler: tuple[int, ...], behind: int, apart: int, marks: int, length: int) -> Iterator[tuple[int, ...]]:
    """The rulers of a length that begin with given marks; a mark and those after it are a ruler too.

    * `behind`: a bit for how far each mark lies behind the last; `apart`: a bit for each distance that is taken.
    """
    left = marks - len(ruler)
    if not left:
        yield ruler
        return
    first, last = (length, length) if left == 1 else (ruler[-1] + 1, length - SHORTEST[left])
    for mark in range(first, last + 1):
        new = behind << (mark - ruler[-1])
        if not new & apart:
            yield from _rulers((*ruler, mark), new | 1, apart | new, marks, length)
