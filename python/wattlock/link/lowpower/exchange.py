"""The parts of which a message on a linear radio is made: frames in octets, and what happens around each of them."""

from typing import NamedTuple

from wattlock.link.ledger import State

"""What a radio does; `off` is a node whose energy is not counted, as a gateway on the mains."""


class Frame(NamedTuple):
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
    whole, rest = divmod(total_B, most_B)
    return [most_B] * whole + ([rest] if rest or not whole else [])
