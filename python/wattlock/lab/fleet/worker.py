"""On the worker of a target: one process at a time, verified before anything starts on the device."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from wattlock.errors import NotVerified
from wattlock.lab.fleet.signing import Order, refuse_replayed, refuse_unsigned
from wattlock.publish.minisign import PublicKey
from wattlock.targets import Target, named
from wattlock.targets.scheduler import this_worker

TARGET, PUBLIC_KEY, ORDERS = "WATTLOCK_FLEET_TARGET", "WATTLOCK_FLEET_KEY", "WATTLOCK_FLEET_ORDERS"
"""By which the lab tells a worker what is its own, before any task reaches it."""


class Done(NamedTuple):
    """What a process wrote, its exit code and its complaints."""

    written: bytes
    code: int
    complaints: bytes


def carry_out(order: Order) -> Done:
    """One process of the probe on this worker's device, to its end, or until its task is released.

    Raises NotVerified where the order is not signed, is for another target, was changed, or came before; what
    `Target.start` raises.
    """
    own = os.environ[TARGET]
    refuse_unsigned(PublicKey.parse(os.environ[PUBLIC_KEY], named=PUBLIC_KEY), order)
    if order.target != own:
        raise NotVerified(f"a plan for {order.target} came to the worker of {own}", hint="the lab sends each its own")
    refuse_replayed(Path(os.environ[ORDERS]), order)
    _, released = this_worker()
    written: list[bytes] = []
    limits = replace(order.limits, stopped=released)
    code, complaints = _device(own, named.way_of(own)).start(
        ["measure"], order.text, limits, written.append, who=order.who
    )
    return Done(b"".join(written), code, complaints)


@lru_cache
def _device(name: str, _way: str) -> Target:
    """It keeps its connection from task to task, and makes a new one where that is lost, or the name means another."""
    return named.target(name)
