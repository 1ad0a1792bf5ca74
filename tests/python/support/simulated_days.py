"""A device simulated step by step: every message, every state of its radio, hour by hour until the battery is empty.

Written apart from `advise` and `link`: octets and microseconds are those of the standards, worked out here, and what
each state draws is read off the cards.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from wattlock.energy.battery_cards import BatteryCard
from wattlock.energy.device_cards import Card
from wattlock.energy.radio_cards import RadioCard

HOUR_s = 3600.0
US = 1e-6
States = dict[str, float]
"""Seconds by what a radio does."""
Off = Callable[[str], float]
"""A device's own number over its card's: `device` for a cycle's joules, `cipher` for its cycles, `sleep`, a radio's."""


class Scene(NamedTuple):
    """One device and its life. Seconds and octets; None for what it does not do.

    * `poll_s`: a data request of 802.15.4 so often; `event_s`: a connection event of Bluetooth LE at least so often,
      with clocks that are off by `clock_ppm`.
    """

    device: Card
    radio: RadioCard
    ble: bool
    battery: BatteryCard
    sleep_W: float
    message_B: int
    every_s: float
    aggregate: int
    overhead_B: int
    inner_B: int
    cycles_at: list[tuple[float, float]]
    wake_s: float
    poll_s: float | None
    event_s: float | None
    clock_ppm: float
    handshake: tuple[int, int, float] | None
    handshake_every_s: float


def exactly(_: str) -> float:
    """Every number is its card's."""
    return 1.0


def seconds(scene: Scene) -> float:
    """How long the battery lasts at the cards' own values."""
    happens = happenings(scene, exactly)
    always_W = constant_W(scene, exactly)
    left_J = scene.battery.capacity.in_SI * scene.battery.voltage.in_SI
    leak = scene.battery.self_discharge
    kept = 1.0 if leak is None else 1.0 - leak.in_SI * HOUR_s
    now_s = 0.0
    while True:
        # What goes by itself in an hour, of what the hour had in the mean, is taken at its end.
        before_J = left_J
        left_J -= always_W * HOUR_s
        for period_s, joules in happens:
            for _ in range(int((now_s + HOUR_s) / period_s) - int(now_s / period_s)):
                left_J -= joules
        left_J -= (before_J + left_J) / 2 * (1 - kept)
        if left_J <= 0:
            return now_s + HOUR_s * before_J / (before_J - left_J)
        now_s += HOUR_s


def mean_W(scene: Scene, off: Off) -> float:
    """What a device draws in the mean, its numbers off by so much."""
    return constant_W(scene, off) + sum(joules / period_s for period_s, joules in happenings(scene, off))


def constant_W(scene: Scene, off: Off) -> float:
    """What goes all the time: sleep, and the window that a connection opens too soon."""
    listens = scene.clock_ppm * 1e-6 if scene.event_s else 0.0
    return scene.sleep_W * off("sleep") + _joules(scene, off, {"rx": listens})


def happenings(scene: Scene, off: Off) -> list[tuple[float, float]]:
    """What happens: how often, and the joules of it."""
    cycle_J = off("device")
    for _, number, exponent in scene.device.factors():
        cycle_J *= number.in_SI**exponent
    clock = scene.device.frequency
    assert clock
    active_W = cycle_J * clock.in_SI
    together_B = scene.aggregate * scene.message_B
    period_s = scene.aggregate * scene.every_s
    states = _sent(scene, together_B + scene.overhead_B)
    if scene.event_s:
        # Each event counts from the one before it; the message is one too.
        at_s = scene.event_s
        while at_s < period_s - 1e-9:
            states = _plus(states, {"tx": 80 * US, "rx": 80 * US, "idle": 300 * US})
            at_s += scene.event_s
    message_J = _joules(scene, off, states) + active_W * scene.wake_s
    found = [(period_s, message_J + cycle_J * off("cipher") * _cycles(scene, together_B))]
    if scene.poll_s:
        # A data request: header and check 11, security 10, the command's identifier.
        found.append((scene.poll_s, _joules(scene, off, _frame_of_802154(22, last=True))))
    if scene.handshake:
        sent_B, received_B, time_s = scene.handshake
        states = _plus(_sent(scene, sent_B), _received(scene, received_B))
        found.append((scene.handshake_every_s, _joules(scene, off, states) + active_W * time_s))
    return found


def _cycles(scene: Scene, plain_B: int) -> float:
    """Of a message in whole blocks: between the two sizes of the source around it, beyond them as the last two go."""
    blocks_B = -(-(plain_B + scene.inner_B) // 16) * 16
    pairs = list(pairwise(scene.cycles_at))
    (low_B, low), (high_B, high) = next((pair for pair in pairs if blocks_B <= pair[1][0]), pairs[-1])
    return low + (high - low) * (blocks_B - low_B) / (high_B - low_B)


def _joules(scene: Scene, off: Off, states: States) -> float:
    """A radio's joules of seconds by state; it draws currents at one voltage, and nothing at other times."""
    card = scene.radio
    assert card.voltage
    assert card.rx
    assert card.idle
    amperes = {"tx": card.tx[0].in_SI * off("radio tx[0]"), "rx": card.rx.in_SI * off("radio rx")}
    amperes["idle"] = card.idle.in_SI * off("radio idle")
    volts = card.voltage.in_SI * off("radio voltage")
    return volts * sum(time_s * amperes[state] for state, time_s in states.items())


def _sent(scene: Scene, octets_B: int) -> States:
    return _by_ble(octets_B) if scene.ble else _by_802154(octets_B)


def _received(scene: Scene, octets_B: int) -> States:
    if scene.ble:
        states = _by_ble(octets_B)
        return {"tx": states["rx"], "rx": states["tx"], "idle": states["idle"]}
    sent = _by_802154(octets_B)
    # An acknowledgement of 11 octets each is sent where the sender hears it; the sender's assessment is not ours.
    frames = round((sent["rx"]) / (480 * US))
    answered = frames * 352 * US
    return {"tx": answered, "rx": sent["tx"], "idle": sent["idle"] + frames * 128 * US}


def _by_ble(octets_B: int) -> States:
    """Bluetooth LE at 1 Mb/s, encrypted: at most 244 octets in a PDU, an empty PDU back, 150 us behind each."""
    states: States = {}
    for piece_B in _cut(octets_B, 244):
        # Preamble 1, access address 4, header 2, L2CAP 4, ATT 3, MIC 4, CRC 3.
        states = _plus(states, {"tx": 8 * (21 + piece_B) * US, "rx": 80 * US, "idle": 300 * US})
    return states


def _by_802154(octets_B: int) -> States:
    """6LoWPAN over IEEE 802.15.4 at security level 5: UDP and IP in 6 octets, fragments count in eights."""
    # MAC header and check 11, auxiliary header 6, integrity code 4: 106 octets of 127 are left.
    if octets_B <= 100:
        return _frame_of_802154(21 + 6 + octets_B, last=True)
    states = _frame_of_802154(21 + 4 + 6 + 96, last=False)
    pieces = _cut(octets_B - 96, 96)
    for place, piece_B in enumerate(pieces):
        states = _plus(states, _frame_of_802154(21 + 5 + piece_B, last=place == len(pieces) - 1))
    return states


def _frame_of_802154(psdu_B: int, *, last: bool) -> States:
    """CSMA-CA on an empty channel: 0 to 7 slots of 320 us, 128 us of assessment, 192 us to turn, twice; ACK of 352 us.

    Before another long frame 640 us must pass, of which back-off, assessment and turn may be a part.
    """
    idle_us = 3.5 * 320 + 192 + 192
    if not last:
        idle_us += sum(max(0, 640 - 320 * slots - 320) for slots in range(8)) / 8
    return {"tx": 32 * (6 + psdu_B) * US, "rx": (128 + 352) * US, "idle": idle_us * US}


def _plus(one: States, other: States) -> States:
    return {state: one.get(state, 0.0) + other.get(state, 0.0) for state in {**one, **other}}


def _cut(octets_B: int, most_B: int) -> list[int]:
    whole, rest = divmod(octets_B, most_B)
    return [most_B] * whole + ([rest] if rest else [])
