"""A message by Bluetooth Low Energy: over a connection, or in advertisements, which nobody answers.

On a connection it is ATT in L2CAP in data PDUs, each answered by an empty one.
"""

from collections.abc import Iterator
from functools import cache
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from wattlock.definitions import Table, Text, shipped
from wattlock.energy.radio_cards import Technology
from wattlock.link.framing import Event, Fact, RadioFrame, State, Value, cut

# Nanoseconds of a bit before coding, and bits sent for each.
BIT_ns = {"1M": 1_000, "2M": 500, "S2": 1_000, "S8": 1_000}
CODING = {"1M": 1, "2M": 1, "S2": 2, "S8": 8}
# The access address and the coding indicator of a coded PDU always go at S=8 (Bluetooth Core 5.4, Vol 6, Part B, 2.2).
HEADER_CODING = 8


class Ble(Table):
    """Bluetooth Low Energy.

    * `phy`: 1M, 2M, or coded with two (S2) or eight (S8) symbols a bit.
    * `encrypted`: AES-CCM of the link, a MIC of 4 octets in each PDU.
    * `max_pdu_B`: payload of a PDU; 27 without data length extension. `att_mtu_B`: ATT's, 23 unless agreed otherwise.
    * `advertising`: as service data in legacy advertisements that can't be connected to, each on all three channels;
      the keys above are a connection's, and the link protects nothing.
    """

    standard: Literal["ble"] = "ble"
    phy: Literal["1M", "2M", "S2", "S8"] = "1M"
    encrypted: bool = True
    max_pdu_B: int = 251
    att_mtu_B: Annotated[int, Field(ge=23, le=517)] = 247
    advertising: bool = False

    technology: ClassVar[Technology] = "ble"

    @field_validator("max_pdu_B")
    @classmethod
    def _is_a_length_of_pdus(cls, pdu_B: int) -> int:
        facts = framing()
        if not facts.pdu_least <= pdu_B <= facts.pdu_most:
            raise ValueError(f"must be {facts.pdu_least} to {facts.pdu_most}, is {pdu_B}")
        return pdu_B

    @model_validator(mode="after")
    def _advertises_at_1M(self) -> Self:
        if self.advertising and self.phy != "1M":
            raise ValueError(f"legacy advertisements go at 1M, phy is {self.phy}")
        return self

    @property
    def room_B(self) -> int:
        """Octets of a message in one value of ATT, or in one advertisement."""
        facts = framing()
        if self.advertising:
            return facts.advertised_most - facts.service_data
        return self.att_mtu_B - facts.att

    @property
    def rate_Mb_s(self) -> float:
        """By which a card's draw is chosen: the modulation's, whatever the coding."""
        return 2.0 if self.phy == "2M" else 1.0

    @property
    def most_power(self) -> tuple[float | None, str]:
        """The most that may be sent, dBm, and by which rule."""
        return framing().power_most.value, framing().power_most.source

    def empty_event(self) -> list[Event]:
        """A connection event without data, as its peripheral has it: the central's empty PDU and its own.

        The gap behind them stands for the radio's starts, as it does behind a PDU with data.
        """
        facts = framing()
        empty_B = facts.header + facts.crc
        took_ns = self.airtime_ns(empty_B)
        gap = Event("gaps", 0, facts.interframe * 1_000, "idle", "idle")
        polled = Event("framing", self.phy_B + empty_B, took_ns, "rx", "tx")
        return [polled, gap, Event("framing", self.phy_B + empty_B, took_ns, "tx", "rx"), gap]

    @property
    def phy_B(self) -> int:
        """Octets before the PDU, as far as they are octets: a coded preamble is ten of them."""
        facts = framing()
        preamble = {"1M": facts.preamble_1M, "2M": facts.preamble_2M}
        return preamble.get(self.phy, facts.preamble_coded // 8) + facts.access_address

    def airtime_ns(self, psdu_B: int) -> int:
        """Time on air of a PDU with its CRC, `psdu_B` octets; exact.

        Source: Bluetooth Core 5.4, Vol 6, Part B, 2.1 and 2.2.
        """
        facts = framing()
        if self.phy in {"1M", "2M"}:
            return (self.phy_B + psdu_B) * 8 * BIT_ns[self.phy]
        first = 8 * facts.access_address + facts.coding_indicator + facts.termination
        second = 8 * psdu_B + facts.termination
        return facts.preamble_coded * 1_000 + (first * HEADER_CODING + second * CODING[self.phy]) * 1_000

    def frames(self, data_B: int) -> Iterator[RadioFrame]:
        """The PDUs of a message of `data_B` octets."""
        facts = framing()
        if self.advertising:
            mac_B = facts.header + facts.advertiser_address + facts.crc
            yield from (RadioFrame(piece_B, facts.service_data, 0, mac_B) for piece_B in cut(data_B, self.room_B))
            return
        security_B = facts.mic if self.encrypted else 0
        for value_B in cut(data_B, self.room_B):
            headers_B = facts.l2cap + facts.att
            for pdu_B in cut(headers_B + value_B, self.max_pdu_B):
                transport_B = min(pdu_B, headers_B)
                headers_B -= transport_B
                mac_B = facts.header + facts.crc
                yield RadioFrame(pdu_B - transport_B, transport_B, security_B, mac_B)

    def around(self, frame: RadioFrame, frame_ns: int, *, last: bool) -> list[Event]:
        """T_IFS, the empty PDU of the other side, T_IFS; the same where the other side polls first.

        An advertisement is repeated on the other channels; between them the radio is taken to need T_IFS.
        """
        del last
        facts = framing()
        gap = Event("gaps", 0, facts.interframe * 1_000, "idle", "idle")
        if self.advertising:
            again = Event("repeats", self.phy_B + sum(frame), frame_ns, "tx", "idle")
            return [gap, again] * (facts.advertising_channels - 1)
        empty_B = facts.header + facts.crc
        states: tuple[State, State] = ("rx", "tx")
        return [gap, Event("acknowledgements", self.phy_B + empty_B, self.airtime_ns(empty_B), *states), gap]


class BleFraming(Table):
    """Of Bluetooth Low Energy."""

    title: Text
    header: Value
    mic: Value
    crc: Value
    access_address: Value
    preamble_1M: Value
    preamble_2M: Value
    preamble_coded: Value
    coding_indicator: Value
    termination: Value
    interframe: Value
    pdu_least: Value
    pdu_most: Value
    l2cap: Value
    att: Value
    advertiser_address: Value
    advertised_most: Value
    service_data: Value
    advertising_channels: Value
    power_most: Fact


@cache
def framing() -> BleFraming:
    """The numbers of Bluetooth Low Energy."""
    return shipped("framings/ble.toml", BleFraming)
