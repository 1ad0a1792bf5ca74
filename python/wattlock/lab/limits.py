"""Whom a lab counts, and how fast somebody may ask for pages that take long."""

from __future__ import annotations

import hashlib
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import ip_address, ip_network

ONE_HOST_BITS = {4: 32, 6: 64}
"""How much of an address of this version names whom to count: of IPv6 a host has 2^64 of them."""
BURST, PER_s = 300, 5.0
"""So many pages that take long at once, and then so many a second: who clicks asks for far fewer."""
MOST_ASKERS = 10_000
"""Who is remembered at a time; of more the one that was quiet for longest is forgotten, who has a whole burst again."""


def host_of(address: str) -> str:
    """What names the host of an address, whichever of its own it took."""
    try:
        bits = ONE_HOST_BITS[ip_network(address).version]
        return str(ip_network(f"{address}/{bits}", strict=False))
    except ValueError:
        return address


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, as a reverse proxy is."""
    try:
        return ip_address(host.partition("/")[0]).is_loopback or host == host_of("::1")
    except ValueError:
        return False


class Known:
    """The tokens that let somebody in lately: others are made up at will, and each would have a pace of its own."""

    def __init__(self) -> None:
        self._digests: OrderedDict[str, None] = OrderedDict()

    def note(self, token: str) -> None:
        """Takes in one that let in."""
        self._digests[_digest(token)] = None
        self._digests.move_to_end(_digest(token))
        if len(self._digests) > MOST_ASKERS:
            self._digests.popitem(last=False)

    def by(self, token: str | None) -> str | None:
        """What names it; null where it did not let in."""
        return digest if token and (digest := _digest(token)) in self._digests else None


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


class Pace:
    """A bucket of tokens for each who asks (RFC 2698 calls it that): full at first, one is taken by a request."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, who: str) -> int:
        """Counts a request in; gives 0, or after how many seconds it may be asked again."""
        now = self._clock()
        left, at = self._left.pop(who, (float(BURST), now))
        left = min(float(BURST), left + (now - at) * PER_s)
        self._left[who] = (left - 1 if left >= 1 else left, now)
        if len(self._left) > MOST_ASKERS:
            self._left.popitem(last=False)
        return 0 if left >= 1 else math.ceil((1 - left) / PER_s)
