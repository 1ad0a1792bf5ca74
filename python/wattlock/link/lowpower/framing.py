"""What the standards of linear radios add to a message: their numbers by `data/framings/`, each with its source."""

from functools import cache
from typing import Annotated, Literal

from pydantic import Field

from wattlock.definitions import Table, Text, shipped

Unit = Literal["B", "us", "symbol", "bit", "1", "dBm"]
Whole = Annotated[int, Field(ge=0)]


class Fact(Table):
    """One number of a standard."""

    value: Whole
    unit: Unit
    source: Text


class Facts(Table):
    """Numbers of a standard by an index that it names."""

    values: Annotated[list[Whole], Field(min_length=1)]
    unit: Unit
    source: Text


class BleFraming(Table):
    """Of Bluetooth Low Energy."""

    title: Text
    header: Fact
    mic: Fact
    crc: Fact
    access_address: Fact
    preamble_1M: Fact
    preamble_2M: Fact
    preamble_coded: Fact
    coding_indicator: Fact
    termination: Fact
    interframe: Fact
    pdu_least: Fact
    pdu_most: Fact
    l2cap: Fact
    att: Fact
    advertiser_address: Fact
    advertised_most: Fact
    service_data: Fact
    advertising_channels: Fact
    power_most: Fact


class Ieee802154Framing(Table):
    """Of IEEE 802.15.4 and what 6LoWPAN puts on it."""

    title: Text
    symbol: Fact
    symbols_a_byte: Fact
    synchronisation: Fact
    phy_header: Fact
    psdu_most: Fact
    frame_control: Fact
    sequence: Fact
    pan_id: Fact
    address_short: Fact
    address_extended: Fact
    fcs: Fact
    acknowledgement: Fact
    header_ie: Fact
    vendor: Fact
    data_request: Fact
    security_control: Fact
    frame_counter: Fact
    turnaround: Fact
    clear_channel: Fact
    backoff: Fact
    short_frame_most: Fact
    gap_short: Fact
    gap_long: Fact
    compressed_ip: Fact
    compressed_udp: Fact
    uncompressed: Fact
    datagram_most: Fact
    first_fragment: Fact
    next_fragment: Fact
    fragment_unit: Fact
    mic: Facts
    key_identifier: Facts


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
    header: Fact
    frame_header: Fact
    port: Fact
    mic: Fact
    options_most: Fact
    preamble: Fact
    coding_rate: Fact
    slow_symbol: Fact
    receive_delay_1: Fact
    receive_delay_2: Fact
    region: dict[str, Region]


@cache
def ble() -> BleFraming:
    """The numbers of Bluetooth Low Energy."""
    return shipped("framings/ble.toml", BleFraming)


@cache
def ieee802154() -> Ieee802154Framing:
    """The numbers of IEEE 802.15.4."""
    return shipped("framings/ieee802154.toml", Ieee802154Framing)


@cache
def lorawan() -> LorawanFraming:
    """The numbers of LoRaWAN."""
    return shipped("framings/lorawan.toml", LorawanFraming)
