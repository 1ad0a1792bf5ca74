"""The ledger of every link: lines of octets, nanoseconds and what each radio does meanwhile; they add up."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

from wattlock.link.scenario import Role

State = Literal["tx", "rx", "cca", "idle", "sleep", "off"]
States = dict[Role, dict[State, int]]


class Line(NamedTuple):
    """One line.

    * `hop`: 1, or behind an access point 2; None for what belongs to no hop.
    * `octets_B`: of frames that carry packets. `states_ns`: what the radios do meanwhile, by node.
    """

    what: str
    hop: int | None
    octets_B: int
    time_ns: int
    states_ns: States


def states_of(lines: Iterable[Line], role: Role) -> Counter[State]:
    """How long a node's radio is in each state over all lines, in nanoseconds."""
    total: Counter[State] = Counter()
    for line in lines:
        # Not `update`, which is slow for a handful of keys.
        for state, time_ns in line.states_ns.get(role, {}).items():
            total[state] += time_ns
    return total
