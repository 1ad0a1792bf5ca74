"""What a low-power radio's standard is described by: sourced facts, frames in octets, and what happens around each."""

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field

from wattlock.definitions import Table, Text

Role = Literal["sender", "access-point", "receiver"]
State = Literal["tx", "rx", "cca", "idle", "sleep", "off"]
"""What a radio does; `off` is a node whose energy is not counted, as a gateway on the mains."""

Unit = Literal["B", "us", "symbol", "bit", "1", "dBm"]
Whole = Annotated[int, Field(ge=0)]


class Fact(Table):
    """One number of a standard, by `data/framings/`."""

    value: Whole
    unit: Unit
    source: Text


def _value(table: Any) -> int:
    return Fact.model_validate(table).value


Value = Annotated[int, BeforeValidator(_value)]
"""The number of a fact, whose unit and source stand in the file."""


class FactList(Table):
    """Numbers of a standard by an index that it names."""

    values: Annotated[list[Whole], Field(min_length=1)]
    unit: Unit
    source: Text


class RadioFrame(NamedTuple):
    """One frame of a message, in octets behind the PHY's own header.

    * `data_B`: of the message, with what its cipher and its encoding added.
    * `transport_B`: headers between the message and the MAC; `security_B`: of the standard's own protection.
    * `mac_B`: MAC header and check sequence.
    """

    data_B: int
    transport_B: int
    security_B: int
    mac_B: int


class Event(NamedTuple):
    """What both radios do beside a data frame.

    * `what`: the ledger's line; `octets_B`: what an answer carries, its PHY header included.
    * `sender`, `receiver`: the states of both meanwhile.
    """

    what: str
    octets_B: int
    time_ns: int
    sender: State
    receiver: State


def cut(total_B: int, most_B: int) -> list[int]:
    """`total_B` in pieces of `most_B`, the last one smaller; an empty message is one empty piece."""
    full, rest_B = divmod(total_B, most_B)
    return [most_B] * full + ([rest_B] if rest_B or not full else [])
