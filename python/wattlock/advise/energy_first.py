"""A new design, energy first: the least that a sound message needs on each radio, and what today's framings take more.

The budget of a message is its octets and a tag of the floor's bits: the nonce is counted at both ends, no header of a
session is sent, and the link adds no protection of its own. It is a bound for a design, not a protocol.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from wattlock.advise.advice import Advice
from wattlock.advise.choices import Choice
from wattlock.advise.framings import framings
from wattlock.advise.protections import PROTECTIONS, short
from wattlock.advise.question import RadioOptions
from wattlock.advise.sending import Packet, Sender, Spent
from wattlock.advise.what_if import usual
from wattlock.energy import radio_cards
from wattlock.targets.toolbox import Toolbox

RADIOS = ("nrf52840-ble", "nrf52840-802154", "sx1262-lora", "esp32-c3-wifi")


class Budget(NamedTuple):
    """One design on one radio.

    * `octets_B`: on the air for a message; `energy_uJ`: of the radio beside its rest; `over_percent`: over the least.
    * `link`: the link's own protection.
    """

    radio: str
    design: str
    link: str
    octets_B: float
    energy_uJ: float
    over_percent: float


def budgets(of: Advice, net: Toolbox | None, own: Path | None = None) -> list[Budget]:
    """The least and today's designs for the first flow's message, on the question's radio and on the usual ones."""
    flow = next((flow for flow in of.question.flow if flow.direction == "send"), of.question.flow[0])
    message_B = flow.rates[0][0]
    found = []
    for name in dict.fromkeys((of.inputs.sender.radio.name, *RADIOS)):
        question = of.question.radio if name == of.inputs.sender.radio.name else RadioOptions()
        sender = Sender(radio_cards.load(name, own), question)
        found += list(_on(sender, of, message_B, net))
    return found


def _on(sender: Sender, of: Advice, message_B: int, net: Toolbox | None) -> Iterator[Budget]:
    usual_link = sender.protections[0] if sender.advertising else PROTECTIONS[sender.technology][0]
    bare = "none" if not sender.advertising and "none" in PROTECTIONS[sender.technology] else usual_link
    tag_B = -(-of.question.floor.tag // 8)
    designs: list[tuple[str, str, int]] = [("least: octets and tag", bare, message_B + tag_B)]
    if not sender.advertising:
        designs.append((f"the link alone ({short(usual_link)})", usual_link, message_B))
    start = usual(of)
    # What a floor excludes is compared all the same: it is the framing that is looked at.
    known = [*of.choices, *(one.choice for one in of.excluded)]
    poly = next((one for one in known if one.cipher == "chacha20-poly1305"), None)
    for framing in ("dtls12", "dtls13", "wireguard"):
        choice: Choice | None = start if framings()[framing].carries(start.cipher) else poly
        if choice:
            whole = choice._replace(framing=framing, tag_bits=choice.row["tag_bits"])
            label = f"{framings()[framing].title.partition(',')[0]}, {choice.cipher}"
            designs.append((label, usual_link, whole.sealed(message_B).wire_B))
    packets = {(design, link): _cut(octets, link, sender.packet_B) for design, link, octets in designs}
    spent = sender.evaluate([packet for every in packets.values() for packet, _ in every], net)
    least = None
    for (design, link), every in packets.items():
        joules = sum(count * _joules(sender, spent[packet]) for packet, count in every)
        octets = sum(count * spent[packet].octets_B for packet, count in every)
        least = joules if least is None else least
        yield Budget(sender.radio.name, design, short(link), octets, 1e6 * joules, 100 * (joules / least - 1))


def _cut(octets_B: int, link: str, packet_B: int) -> list[tuple[Packet, int]]:
    full, rest = divmod(octets_B, packet_B)
    return [(Packet(size, "send", link), count) for size, count in ((packet_B, full), (rest, 1)) if size and count]


def _joules(sender: Sender, spent: Spent) -> float:
    card = sender.radio.card
    rest_W = 0.0 if sender.rest == "off" else card.power_W(sender.number(sender.rest))
    if card.has_states:
        states = sum(time_s * card.power_W(sender.number(state)) for state, time_s in spent.states_s.items() if time_s)
        return states - rest_W * spent.busy_s
    packet, byte = card.send_packet, card.send_byte
    return (packet.in_SI * spent.packets + byte.in_SI * spent.packet_B) if packet and byte else 0.0


def rows(found: list[Budget]) -> list[dict[str, Any]]:
    """As records."""
    return [one._asdict() for one in found]
