"""What a frame of a design takes of the sensor's radio: octets, time on air and joules, sent or received."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from wattlock.energy import radio_cards
from wattlock.errors import InputError
from wattlock.link.designs.rules import RadioOf
from wattlock.link.joules import Interval, interval
from wattlock.link.lowpower import framing, linear
from wattlock.link.lowpower.ble import Ble
from wattlock.link.lowpower.exchange import Event, Frame, cut
from wattlock.link.lowpower.ieee802154 import Ieee802154
from wattlock.link.lowpower.linear import Message
from wattlock.link.lowpower.lorawan import Lorawan, airtime_us
from wattlock.link.scenario import Role, checked
from wattlock.targets.toolbox import Toolbox

# Wi-Fi's frames are valued in the mean of so many: what the air rounds vanishes in it.
DATAGRAMS = 1_000
# Semtech, SX1276 data sheet, 4.1.1.7: the payload's length has one octet.
MOST_LORA_B = 255
# IEEE Std 802.11-2020, 9.2.4.8: an MSDU has at most 2304 octets; less LLC and SNAP, IPv4, UDP.
MOST_WIFI_B = 2_304 - 8 - 20 - 8

Under = Literal["open", "protected", "bare"]
Way = Literal["send", "receive", "report", "polled", "acknowledged"]


class Carried(NamedTuple):
    """A frame to be carried.

    * `octets_B`: above the radio's frame and the headers of IP and UDP. `under`: the radio's `open` frame, with its own
      `protected`, or for LoRa none (`bare`). `way`: as the sensor sees it; `report` is one of tally's, which on
      Bluetooth LE takes the place of an empty PDU, `polled` a frame of 802.15.4 for which it asks anyway,
      `acknowledged` what stands in an enhanced acknowledgement of 802.15.4.
    """

    octets_B: int
    under: Under = "open"
    way: Way = "send"


class Spent(NamedTuple):
    """What is carried takes: octets on the air, seconds on the air of its sender, joules of the sensor's radio.

    * `frames`: of the radio, into which it is cut.
    """

    air_B: int
    air_s: float
    joules: Interval
    frames: int = 1


class BareLora(Lorawan):
    """LoRa without LoRaWAN: its PHY's frame holds the message alone; of the receive windows the first stays."""

    def frames(self, data_B: int) -> Iterator[Frame]:
        """One frame; no rule of LoRaWAN cuts it, and it is at most `MOST_LORA_B`."""
        yield Frame(data_B, 0, 0, 0)

    def around(self, frame: Frame, frame_ns: int, *, last: bool) -> list[Event]:
        """A second, and a window in which an answer may begin."""
        return super().around(frame, frame_ns, last=last)[:2]


def most_B(radio: RadioOf, under: Under) -> int:
    """Octets of the longest message that a radio carries."""
    if radio.link is None:
        return MOST_WIFI_B
    return MOST_LORA_B if under == "bare" else linear.MOST_B


def spent(
    radio: RadioOf, frames: Iterable[Carried], net: Toolbox | None, *, own: Path | None = None, allow_assumed: bool
) -> dict[Carried, Spent]:
    """What each frame takes.

    * `net`: the toolbox, for Wi-Fi alone. `own`: the user's folder of cards.

    Raises InputError where the radio can't carry one, EvidenceError for numbers that nobody verified.
    """
    wanted = list(dict.fromkeys(frames))
    if radio.link is not None:
        return {one: _linear(radio, one, own, allow_assumed=allow_assumed) for one in wanted}
    if net is None:
        raise InputError("the air of Wi-Fi needs the toolbox `wattlock-net`", hint="`make setup` builds it")
    return _wifi(radio, wanted, net, own, allow_assumed=allow_assumed)


def _linear(radio: RadioOf, frame: Carried, own: Path | None, *, allow_assumed: bool) -> Spent:
    if radio.lorawan is not None and frame.way != "send":
        return _downlinks(radio, radio.lorawan, frame, own, allow_assumed=allow_assumed)
    keys: dict[str, Any] = {
        "payload_B": frame.octets_B,
        "sender": radio.card,
        "tx_power_dBm": radio.tx_power_dBm,
        "link": radio.protected if frame.under == "protected" and radio.protected else radio.link,
    }
    if not radio.is_lora:
        keys["receiver"] = radio.card
    message = linear.message_of(keys, f"radio {radio.title}")
    if frame.under == "bare":
        message = message.model_copy(update={"link": BareLora(**message.link.model_dump())})
    if frame.way == "report" and isinstance(message.link, Ble):
        return _in_place(radio, message.link, frame, own)
    if frame.way == "acknowledged" and isinstance(message.link, Ieee802154):
        facts = framing.ieee802154()
        more_B = facts.header_ie.value + facts.vendor.value + frame.octets_B
        longer_ns = message.link.airtime_ns(more_B) - message.link.airtime_ns(0)
        return _listening(radio, more_B, 1e-9 * longer_ns, own)
    answer = linear.evaluate(message, allow_assumed=allow_assumed, own=own)
    energy = answer.energies[0 if frame.way == "send" else 1]
    low, middle, high = (1e-6 * one for one in (energy.low_uJ, energy.total_uJ, energy.high_uJ))
    air_s = 1e-9 * answer.ledger.states_ns("sender").get("tx", 0)
    found = Spent(answer.ledger.octets_B, air_s, Interval(middle, low, high), answer.ledger.frames)
    if frame.way in {"receive", "report"} and isinstance(message.link, Ieee802154):
        return _polled(found, message, allow_assumed=allow_assumed, own=own)
    return found


def _in_place(radio: RadioOf, link: Ble, frame: Carried, own: Path | None) -> Spent:
    """PDUs in place of empty ones, in events that the connection has anyway (Bluetooth Core 5.4, Vol 6, B, 4.5.1)."""
    empty_B = framing.ble().header.value + framing.ble().crc.value
    sizes = [sum(pdu) for pdu in link.frames(frame.octets_B)]
    longer_ns = sum(link.airtime_ns(size_B) - link.airtime_ns(empty_B) for size_B in sizes)
    return _listening(radio, sum(sizes) - len(sizes) * empty_B, 1e-9 * longer_ns, own)


def _polled(received: Spent, message: Message, *, allow_assumed: bool, own: Path | None) -> Spent:
    """Frames that a sensor asks for, each by a data request, as it sleeps else (IEEE Std 802.15.4-2006, 7.5.6.3)."""
    request_B = framing.ieee802154().data_request.value
    link = message.link.model_copy(update={"adaptation": "none", "security_level": 0})
    request = message.model_copy(update={"payload_B": request_B, "link": link})
    asked = linear.evaluate(request, allow_assumed=allow_assumed, own=own).energies[0]
    each = (1e-6 * one for one in (asked.total_uJ, asked.low_uJ, asked.high_uJ))
    joules = (one + received.frames * more for one, more in zip(received.joules, each, strict=True))
    return received._replace(joules=Interval(*joules))


def _downlinks(radio: RadioOf, link: Lorawan, frame: Carried, own: Path | None, *, allow_assumed: bool) -> Spent:
    """Frames of the gateway, each in the first receive window of an uplink.

    The first window is counted with the message before; for each further frame the sensor sends an empty message.
    """
    pieces = [frame.octets_B] if frame.under == "bare" else cut(frame.octets_B, link.room_B)
    around_B = 0 if frame.under == "bare" else sum(next(link.frames(0)))
    parts = [_downlink(radio, link, piece_B + around_B, own) for piece_B in pieces]
    parts += [_linear(radio, Carried(0, frame.under), own, allow_assumed=allow_assumed)] * (len(pieces) - 1)
    joules = Interval(*(sum(ends) for ends in zip(*(part.joules for part in parts), strict=True)))
    return Spent(sum(part.air_B for part in parts), sum(part.air_s for part in parts), joules, len(pieces))


def _downlink(radio: RadioOf, link: Lorawan, octets_B: int, own: Path | None) -> Spent:
    """A frame of the gateway, without the window in which it begins.

    A downlink has no CRC (LoRaWAN 1.0.2 Regional Parameters rev. B, and 4.1).
    """
    return _listening(radio, octets_B, 1e-6 * airtime_us(link.modulation, octets_B, crc=False), own)


def _listening(radio: RadioOf, octets_B: int, air_s: float, own: Path | None) -> Spent:
    """Octets for which the sensor listens so much longer."""
    card = radio_cards.load(radio.card, own).card
    if card.rx is None:
        raise InputError(f"radio card {radio.card} has no rx", hint="take another card")
    used = {"rx": card.rx} | ({"voltage": card.voltage} if card.voltage else {})
    return Spent(octets_B, air_s, interval({"rx": air_s * card.power_W(card.rx)}, used))


def _wifi(
    radio: RadioOf, frames: list[Carried], net: Toolbox, own: Path | None, *, allow_assumed: bool
) -> dict[Carried, Spent]:
    """The mean of many datagrams over Wi-Fi with CCMP, each in a frame of its own."""
    named = [
        checked(
            "compare",
            {
                "phy": "n",
                "topology": "to-ap",
                "protection": "ccmp",
                "engine": "closed-form",
                "radio": radio.card,
                "payload": {"sizes": [[frame.octets_B, DATAGRAMS]], "encrypt": "packet"},
                "air": {"ampdu_B": 0},
            },
        )
        for frame in frames
    ]
    # Loaded for Wi-Fi alone: it reads runs too.
    from wattlock.link.wifi.evaluate import evaluate

    answers = evaluate(named, net, {}, own=own, allow_assumed=allow_assumed)
    found = {}
    for frame, answer in zip(frames, answers, strict=True):
        role: Role = "sender" if frame.way == "send" else "access-point"
        total = next(one.total for one in answer.by_states if one.role == role)
        air_ns = answer.transfer.states_ns["sender"].get("tx", 0)
        octets_B = sum(line.octets_B for line in answer.transfer.lines)
        joules = Interval(*(one / DATAGRAMS for one in total))
        found[frame] = Spent(octets_B // DATAGRAMS, 1e-9 * air_ns / DATAGRAMS, joules)
    return found
