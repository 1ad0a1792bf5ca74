"""A message over IEEE 802.15.4 in 2.4 GHz without beacons: CSMA-CA, data, acknowledgement, and 6LoWPAN's fragments."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wattlock.definitions import Table
from wattlock.energy.radio_cards import Technology
from wattlock.errors import InputError
from wattlock.link.lowpower import framing
from wattlock.link.lowpower.exchange import Event, Frame, cut


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
        facts = framing.ieee802154()
        return facts.synchronisation.value + facts.phy_header.value

    @property
    def mac_B(self) -> int:
        """Octets of MAC header and FCS."""
        facts = framing.ieee802154()
        address_B = facts.address_short if self.addressing == "short" else facts.address_extended
        header_B = facts.frame_control.value + facts.sequence.value + facts.pan_id.value + 2 * address_B.value
        return header_B + facts.fcs.value

    @property
    def security_B(self) -> int:
        """Octets of auxiliary security header and integrity code."""
        facts = framing.ieee802154()
        if not self.security_level:
            return 0
        header_B = facts.security_control.value + facts.frame_counter.value
        return header_B + facts.key_identifier.values[self.key_id_mode] + facts.mic.values[self.security_level]

    def airtime_ns(self, psdu_B: int) -> int:
        """Time on air of a PSDU, exact: two symbols an octet."""
        return _symbols_ns((self.phy_B + psdu_B) * framing.ieee802154().symbols_a_byte.value)

    def frames(self, data_B: int) -> Iterator[Frame]:
        """The frames of a message of `data_B` octets."""
        room_B = framing.ieee802154().psdu_most.value - self.mac_B - self.security_B
        bare = ((0, piece_B) for piece_B in cut(data_B, room_B))
        for transport_B, piece_B in self._datagrams(data_B, room_B) if self.adaptation == "6lowpan" else bare:
            yield Frame(piece_B, transport_B, self.security_B, self.mac_B)

    def around(self, frame: Frame, frame_ns: int, *, last: bool) -> list[Event]:
        """Mean back-off and assessment before the frame, its acknowledgement after it.

        Between frames the gap that a receiver needs (SIFS, LIFS) passes while the next back-off runs: the longer of
        the two counts, in the mean over all draws.
        """
        del frame_ns
        facts = framing.ieee802154()
        draws = 1 << self.min_backoff_exponent
        psdu_B = sum(frame)
        gap = facts.gap_short if psdu_B <= facts.short_frame_most.value else facts.gap_long
        fixed = facts.clear_channel.value + facts.turnaround.value
        waits = [draw * facts.backoff.value for draw in range(draws)]
        wait_ns = sum(_symbols_ns(wait) for wait in waits) // draws
        assess_ns = _symbols_ns(facts.clear_channel.value)
        turn_ns = _symbols_ns(facts.turnaround.value)
        events = [
            Event("gaps", 0, wait_ns, "idle", "idle"),
            Event("gaps", 0, assess_ns, "rx", "idle"),
            Event("gaps", 0, turn_ns, "idle", "idle"),
        ]
        if not last:
            missing = [max(gap.value - wait - fixed, 0) for wait in waits]
            events.append(Event("gaps", 0, sum(_symbols_ns(one) for one in missing) // draws, "idle", "idle"))
        if self.acknowledged:
            answer_B = facts.acknowledgement.value
            answer_ns = self.airtime_ns(answer_B)
            events.append(Event("gaps", 0, turn_ns, "idle", "idle"))
            events.append(Event("acknowledgements", self.phy_B + answer_B, answer_ns, "rx", "tx"))
        return events

    def _datagrams(self, data_B: int, room_B: int) -> Iterator[tuple[int, int]]:
        """Transport octets and data octets of each frame (RFC 4944, 5.3: a fragment counts uncompressed octets)."""
        facts = framing.ieee802154()
        headers_B = facts.compressed_ip.value + facts.compressed_udp.value
        unit_B = facts.fragment_unit.value
        first_B = (room_B - facts.first_fragment.value - headers_B) // unit_B * unit_B
        next_B = (room_B - facts.next_fragment.value) // unit_B * unit_B
        if first_B < unit_B:
            raise InputError(f"{room_B} octets are left in a frame: no fragment fits", hint="take shorter addresses")
        for datagram_B in cut(data_B, facts.datagram_most.value - facts.uncompressed.value):
            if headers_B + datagram_B <= room_B:
                yield headers_B, datagram_B
                continue
            yield facts.first_fragment.value + headers_B, first_B
            for piece_B in cut(datagram_B - first_B, next_B):
                yield facts.next_fragment.value, piece_B


def _symbols_ns(symbols: int) -> int:
    return symbols * framing.ieee802154().symbol.value * 1_000
