"""A device simulated step by step: every message, every state of its radio, hour by hour until the battery is empty.

Written apart from `advise.days`: it knows the cards and the link's ledger, and adds up joules as time goes by.
"""

from itertools import pairwise
from typing import Any, NamedTuple

from wattlock.energy.battery_cards import BatteryCard
from wattlock.energy.cards import Card
from wattlock.energy.radio_cards import RadioCard
from wattlock.link import linear

HOUR_s = 3600.0


class Scene(NamedTuple):
    """One device and its life. Seconds and octets; None for what it does not do."""

    device: Card
    radio: RadioCard
    radio_name: str
    link: dict[str, Any]
    battery: BatteryCard
    sleep_W: float
    message_B: int
    every_s: float
    aggregate: int
    overhead_B: int
    inner_B: int
    cycles_at: list[tuple[float, float]]
    wake_s: float
    keep_alive_s: float | None
    handshake: tuple[int, int, float] | None
    handshake_every_s: float


def seconds(scene: Scene) -> float:
    """How long the battery lasts at the cards' own values."""
    joule_a_cycle = 1.0
    for _, number, exponent in scene.device.factors():
        joule_a_cycle *= number.in_SI**exponent
    clock = scene.device.frequency
    assert clock
    active_W = joule_a_cycle * clock.in_SI

    def computed(plain_B: int) -> float:
        blocks_B = -(-(plain_B + scene.inner_B) // 16) * 16
        # Between the two sizes of the source around it, beyond them as between the last two.
        pairs = list(pairwise(scene.cycles_at))
        (low_B, low), (high_B, high) = next((pair for pair in pairs if blocks_B <= pair[1][0]), pairs[-1])
        return joule_a_cycle * (low + (high - low) * (blocks_B - low_B) / (high_B - low_B))

    together_B = scene.aggregate * scene.message_B
    message = [
        *_radio(scene, together_B + scene.overhead_B, "sender"),
        computed(together_B),
        active_W * scene.wake_s,
    ]
    # A keep-alive without data is the link's own packet: nothing of it is sealed.
    beats = _radio(scene, 1, "sender")
    shake: list[float] = []
    if scene.handshake:
        sent_B, received_B, time_s = scene.handshake
        shake = [*_radio(scene, sent_B, "sender"), *_radio(scene, received_B, "receiver"), active_W * time_s]
    left_J = scene.battery.capacity.in_SI * scene.battery.voltage.in_SI
    leak = scene.battery.self_discharge
    kept = 1.0 if leak is None else 1.0 - leak.in_SI * HOUR_s
    now_s = 0.0
    due = {"message": scene.aggregate * scene.every_s, "beat": scene.keep_alive_s, "shake": scene.handshake_every_s}
    while True:
        # What goes by itself in an hour, of what the hour had in the mean, is taken at its end.
        before_J = left_J
        left_J -= scene.sleep_W * HOUR_s
        for name, states in (("message", message), ("beat", beats), ("shake", shake)):
            period_s = due[name]
            if period_s is None or not states:
                continue
            for _ in range(int((now_s + HOUR_s) / period_s) - int(now_s / period_s)):
                for joules in states:
                    left_J -= joules
        left_J -= (before_J + left_J) / 2 * (1 - kept)
        if left_J <= 0:
            return now_s + HOUR_s * before_J / (before_J - left_J)
        now_s += HOUR_s


def _radio(scene: Scene, octets_B: int, node: linear.Node) -> list[float]:
    """Joules of each state of each line of a packet's ledger; the radio is off at other times."""
    asked = {"payload_B": octets_B, "sender": scene.radio_name, "link": scene.link}
    message = linear.message_of(asked, "simulation")
    found = []
    for line in linear.ledger(message, scene.radio).lines:
        for state, time_ns in (line.sender_ns if node == "sender" else line.receiver_ns).items():
            number = {
                "tx": scene.radio.sending(message.link.rate_Mb_s),
                "rx": scene.radio.rx,
                "idle": scene.radio.idle,
                "sleep": scene.radio.sleep or scene.radio.idle,
            }[state]
            assert number
            found.append(scene.radio.power_W(number) * time_ns * 1e-9)
    return found
