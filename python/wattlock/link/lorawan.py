"""A message by LoRaWAN, class A: uplinks, their two receive windows, and the silence that the band asks for."""

from collections.abc import Iterator
from functools import cache
from typing import Annotated, ClassVar, Literal, NamedTuple, Self

from pydantic import Field, field_validator, model_validator

from wattlock.definitions import Table, Text, shipped, suggestion
from wattlock.energy.radio_cards import Technology
from wattlock.errors import InputError
from wattlock.link.framing import Event, RadioFrame, Value, Whole, cut


class Modulation(NamedTuple):
    """LoRa's: chips a symbol as a power of two, and chips a second."""

    spreading_factor: int
    bandwidth_kHz: int

    @property
    def symbol_us(self) -> int:
        """Duration of a symbol; whole for 125, 250 and 500 kHz."""
        return (1 << self.spreading_factor) * 1_000 // self.bandwidth_kHz


def airtime_us(
    modulation: Modulation,
    payload_B: int,
    *,
    coding_rate: int = 1,
    preamble: int = 8,
    crc: bool = True,
    implicit: bool = False,
    low_rate: bool | None = None,
) -> int:
    """Time on air of a LoRa packet in whole microseconds.

    * `coding_rate`: 1 to 4 for 4/5 to 4/8; `preamble`: programmed symbols, 4.25 come on top.
    * `implicit`: without the PHY's header; `low_rate`: low data rate optimisation, by the symbol's length where None.

    Source: Semtech AN1200.13, LoRa Modem Designer's Guide; SX1276 data sheet, 4.1.1.7.
    """
    symbol_us = modulation.symbol_us
    if low_rate is None:
        low_rate = symbol_us > framing().slow_symbol
    bits = 8 * payload_B - 4 * modulation.spreading_factor + 28 + 16 * crc - 20 * implicit
    a_block = 4 * (modulation.spreading_factor - 2 * low_rate)
    symbols = 8 + max(-(-bits // a_block), 0) * (coding_rate + 4)
    return (4 * preamble + 17) * symbol_us // 4 + symbols * symbol_us


class Lorawan(Table):
    """LoRaWAN, class A.

    * `region`, `data_rate`: EU868 has 0 to 6, US915 0 to 4. `options_B`: MAC commands in the header (FOpts).
    * `confirmed`: the network answers in the first window, and the second does not open.
    * `window_symbols`: how long a window stays open in which nothing comes: the preamble, unless the stack is finer.
    """

    standard: Literal["lorawan"] = "lorawan"
    region: str = "EU868"
    data_rate: Annotated[int, Field(ge=0)] = 5
    confirmed: bool = False
    options_B: Annotated[int, Field(ge=0)] = 0
    window_symbols: Annotated[int, Field(ge=1, le=1_023)] = 8

    technology: ClassVar[Technology] = "lorawan"

    @field_validator("options_B")
    @classmethod
    def _fits_into_the_header(cls, options_B: int) -> int:
        most_B = framing().options_most
        if options_B > most_B:
            raise ValueError(f"must be at most {most_B}, is {options_B}")
        return options_B

    @field_validator("region")
    @classmethod
    def _is_a_region(cls, region: str) -> str:
        regions = framing().region
        if region not in regions:
            raise ValueError(f'no region "{region}"', suggestion(region, sorted(regions), "there are"))
        return region

    @model_validator(mode="after")
    def _is_a_data_rate(self) -> Self:
        most = len(framing().region[self.region].spreading_factor) - 1
        if self.data_rate > most:
            raise ValueError(f"data_rate must be at most {most} in {self.region}, is {self.data_rate}")
        return self

    @property
    def rate_Mb_s(self) -> float | None:
        """None: LoRa's draw goes by power, not by rate."""
        return None

    @property
    def most_power(self) -> tuple[float | None, str]:
        """The most that the region lets one send, dBm, and by which rule."""
        region = framing().region[self.region]
        return region.most_power_dBm, f"{self.region}: {region.most_power_source}"

    @property
    def phy_B(self) -> int:
        """None: preamble and PHY header are symbols."""
        return 0

    @property
    def modulation(self) -> Modulation:
        """That of the uplink."""
        region = framing().region[self.region]
        return Modulation(region.spreading_factor[self.data_rate], region.bandwidth_kHz[self.data_rate])

    @property
    def room_B(self) -> int:
        """Octets of a message that fit into one uplink."""
        return framing().region[self.region].application_most_B[self.data_rate] - self.options_B

    def airtime_ns(self, psdu_B: int) -> int:
        """Time on air of an uplink."""
        facts = framing()
        rate, preamble = facts.coding_rate, facts.preamble
        return airtime_us(self.modulation, psdu_B, coding_rate=rate, preamble=preamble) * 1_000

    def frames(self, data_B: int) -> Iterator[RadioFrame]:
        """The uplinks of a message. LoRaWAN knows no fragments: the application numbers its pieces itself."""
        facts = framing()
        if self.room_B < 1:
            limit = f"{self.region}'s data rate {self.data_rate}"
            raise InputError(
                f"{limit} leaves no octet beside {self.options_B} of options", hint="take a higher data rate"
            )
        mac_B = facts.header + facts.frame_header + facts.port + self.options_B
        for piece_B in cut(data_B, self.room_B):
            yield RadioFrame(piece_B, 0, facts.mic, mac_B)

    def around(self, frame: RadioFrame, frame_ns: int, *, last: bool) -> list[Event]:
        """The windows after an uplink, and before the next one the silence of the duty cycle."""
        del frame
        facts = framing()
        region = facts.region[self.region]
        first = Modulation(region.answer_spreading_factor[self.data_rate], region.answer_bandwidth_kHz[self.data_rate])
        second = Modulation(region.second_spreading_factor, region.second_bandwidth_kHz)
        wait_ns = facts.receive_delay_1 * 1_000
        events = [Event("gaps", 0, wait_ns, "sleep", "off")]
        if self.confirmed:
            answer_B = facts.header + facts.frame_header + facts.mic
            busy_ns = airtime_us(first, answer_B, preamble=facts.preamble, crc=False) * 1_000
            events.append(Event("acknowledgements", answer_B, busy_ns, "rx", "off"))
            passed_ns = wait_ns + busy_ns
        else:
            first_ns, second_ns = (self.window_symbols * window.symbol_us * 1_000 for window in (first, second))
            between_ns = facts.receive_delay_2 * 1_000 - wait_ns - first_ns
            events.append(Event("receive windows", 0, first_ns, "rx", "off"))
            events.append(Event("gaps", 0, max(between_ns, 0), "sleep", "off"))
            events.append(Event("receive windows", 0, second_ns, "rx", "off"))
            passed_ns = wait_ns + first_ns + max(between_ns, 0) + second_ns
        if not last:
            silence_ns = frame_ns * (100 - region.duty_cycle_percent) // region.duty_cycle_percent
            events.append(Event("duty cycle", 0, max(silence_ns - passed_ns, 0), "sleep", "off"))
        return events


class Region(Table):
    """Data rates of one region of LoRaWAN; lists go by data rate."""

    source: Text
    spreading_factor: list[Whole]
    bandwidth_kHz: list[Whole]
    application_most_B: list[Whole]
    answer_spreading_factor: list[Whole]
    answer_bandwidth_kHz: list[Whole]
    second_spreading_factor: Whole
    second_bandwidth_kHz: Whole
    duty_cycle_percent: Annotated[int, Field(gt=0, le=100)]
    duty_cycle_source: Text
    most_power_dBm: Annotated[float, Field(gt=0)]
    most_power_source: Text


class LorawanFraming(Table):
    """Of LoRaWAN class A."""

    title: Text
    header: Value
    frame_header: Value
    port: Value
    mic: Value
    options_most: Value
    preamble: Value
    coding_rate: Value
    slow_symbol: Value
    receive_delay_1: Value
    receive_delay_2: Value
    region: dict[str, Region]


@cache
def framing() -> LorawanFraming:
    """The numbers of LoRaWAN."""
    return shipped("framings/lorawan.toml", LorawanFraming)
