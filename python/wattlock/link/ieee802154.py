"""A message over IEEE 802.15.4 in 2.4 GHz without beacons: CSMA-CA, data, acknowledgement, and 6LoWPAN's fragments."""

from collections.abc import Iterator
from functools import cache
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wattlock.definitions import Table, Text, shipped
from wattlock.energy.radio_cards import Technology
from wattlock.errors import InputError
from wattlock.link.framing import Event, FactList, RadioFrame, Value, cut


class Ieee802154(Table):
    """IEEE 802.15.4, O-QPSK at 250 kb/s.

    * `addressing`: both addresses of 2 octets or of 8, one PAN.
    * `security_level`: 0 none, 1 to 3 integrity of 4, 8, 16 octets, 5 to 7 with encryption (AES-CCM*), 4 encryption
      alone; `key_id_mode`: how a frame names its key.
    * `adaptation`: `6lowpan` puts the message into UDP datagrams, compressed and in fragments; `none` cuts it bare.
    * `acknowledged`; `min_backoff_exponent`: of CSMA-CA, on an empty channel the only one in use.
    """

    standard: Literal["802.15.4"] = "802.15.4"
    addressing: Literal["short", "extended"] = "short"
    security_level: Annotated[int, Field(ge=0, le=7)] = 5
    key_id_mode: Annotated[int, Field(ge=0, le=3)] = 1
    adaptation: Literal["none", "6lowpan"] = "6lowpan"
    acknowledged: bool = True
    min_backoff_exponent: Annotated[int, Field(ge=0, le=8)] = 3

    technology: ClassVar[Technology] = "802.15.4"

    @property
    def rate_Mb_s(self) -> float:
        """By which a card's draw is chosen."""
        return 0.25

    @property
    def most_power(self) -> tuple[float | None, str]:
        """The most that may be sent, dBm, and by which rule; none that holds in every region."""
        return None, ""

    @property
    def phy_B(self) -> int:
        """Octets before the PSDU."""
        facts = framing()
        return facts.synchronisation + facts.phy_header

    @property
    def mac_B(self) -> int:
        """Octets of MAC header and FCS."""
        facts = framing()
        address_B = facts.address_short if self.addressing == "short" else facts.address_extended
        header_B = facts.frame_control + facts.sequence + facts.pan_id + 2 * address_B
        return header_B + facts.fcs

    @property
    def security_B(self) -> int:
        """Octets of auxiliary security header and integrity code."""
        facts = framing()
        if not self.security_level:
            return 0
        header_B = facts.security_control + facts.frame_counter
        return header_B + facts.key_identifier.values[self.key_id_mode] + facts.mic.values[self.security_level]

    def airtime_ns(self, psdu_B: int) -> int:
        """Time on air of a PSDU, exact: two symbols an octet."""
        return _symbols_ns((self.phy_B + psdu_B) * framing().symbols_a_byte)

    def frames(self, data_B: int) -> Iterator[RadioFrame]:
        """The frames of a message of `data_B` octets."""
        room_B = framing().psdu_most - self.mac_B - self.security_B
        bare = ((0, piece_B) for piece_B in cut(data_B, room_B))
        for transport_B, piece_B in self._datagrams(data_B, room_B) if self.adaptation == "6lowpan" else bare:
            yield RadioFrame(piece_B, transport_B, self.security_B, self.mac_B)

    def around(self, frame: RadioFrame, frame_ns: int, *, last: bool) -> list[Event]:
        """Mean back-off and assessment before the frame, its acknowledgement after it.

        Between frames the gap that a receiver needs (SIFS, LIFS) passes while the next back-off runs: the longer of
        the two counts, in the mean over all draws.
        """
        del frame_ns
        facts = framing()
        draws = 1 << self.min_backoff_exponent
        psdu_B = sum(frame)
        gap = facts.gap_short if psdu_B <= facts.short_frame_most else facts.gap_long
        fixed = facts.clear_channel + facts.turnaround
        waits = [draw * facts.backoff for draw in range(draws)]
        wait_ns = sum(_symbols_ns(wait) for wait in waits) // draws
        assess_ns = _symbols_ns(facts.clear_channel)
        turn_ns = _symbols_ns(facts.turnaround)
        events = [
            Event("gaps", 0, wait_ns, "idle", "idle"),
            Event("gaps", 0, assess_ns, "rx", "idle"),
            Event("gaps", 0, turn_ns, "idle", "idle"),
        ]
        if not last:
            missing = [max(gap - wait - fixed, 0) for wait in waits]
            events.append(Event("gaps", 0, sum(_symbols_ns(symbols) for symbols in missing) // draws, "idle", "idle"))
        if self.acknowledged:
            answer_B = facts.acknowledgement
            answer_ns = self.airtime_ns(answer_B)
            events.append(Event("gaps", 0, turn_ns, "idle", "idle"))
            events.append(Event("acknowledgements", self.phy_B + answer_B, answer_ns, "rx", "tx"))
        return events

    def _datagrams(self, data_B: int, room_B: int) -> Iterator[tuple[int, int]]:
        """Transport octets and data octets of each frame (RFC 4944, 5.3: a fragment counts uncompressed octets)."""
        facts = framing()
        headers_B = facts.compressed_ip + facts.compressed_udp
        unit_B = facts.fragment_unit
        first_B = (room_B - facts.first_fragment - headers_B) // unit_B * unit_B
        next_B = (room_B - facts.next_fragment) // unit_B * unit_B
        if first_B < unit_B:
            raise InputError(f"{room_B} octets are left in a frame: no fragment fits", hint="take shorter addresses")
        for datagram_B in cut(data_B, facts.datagram_most - facts.uncompressed):
            if headers_B + datagram_B <= room_B:
                yield headers_B, datagram_B
                continue
            yield facts.first_fragment + headers_B, first_B
            for piece_B in cut(datagram_B - first_B, next_B):
                yield facts.next_fragment, piece_B


def _symbols_ns(symbols: int) -> int:
    return symbols * framing().symbol * 1_000


class Ieee802154Framing(Table):
    """Of IEEE 802.15.4 and what 6LoWPAN puts on it."""

    title: Text
    symbol: Value
    symbols_a_byte: Value
    synchronisation: Value
    phy_header: Value
    psdu_most: Value
    frame_control: Value
    sequence: Value
    pan_id: Value
    address_short: Value
    address_extended: Value
    fcs: Value
    acknowledgement: Value
    header_ie: Value
    vendor: Value
    data_request: Value
    security_control: Value
    frame_counter: Value
    turnaround: Value
    clear_channel: Value
    backoff: Value
    short_frame_most: Value
    gap_short: Value
    gap_long: Value
    compressed_ip: Value
    compressed_udp: Value
    uncompressed: Value
    datagram_most: Value
    first_fragment: Value
    next_fragment: Value
    fragment_unit: Value
    mic: FactList
    key_identifier: FactList


@cache
def framing() -> Ieee802154Framing:
    """The numbers of IEEE 802.15.4."""
    return shipped("framings/ieee802154.toml", Ieee802154Framing)
