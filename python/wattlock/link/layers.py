"""The paper's tables 1 to 3 over every physical layer of their time: what the air makes of them, and what it doesn't.

The paper names no physical layer, no rate and no packet size, so ratios of its conditions are compared with those of
each combination. A ratio doesn't know how large the data was.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

from wattlock.link import scenario
from wattlock.link.durations import PLAIN, Duration
from wattlock.link.ledger import LinkAnswer
from wattlock.link.scenario import Named, Scenario

PAPER = "elminaam-wlan"
SCENARIOS = {
    "adhoc_open": "adhoc-open",
    "adhoc_wep": "adhoc-wep",
    "adhoc_poor": "adhoc-poor",
    "bss_tkip": "bss-tkip",
    "bss_open": "bss-open",
}
"""The tables' conditions, and the scenarios that stand for them."""
LAYERS: dict[str, dict[str, Any]] = {
    "802.11b, long preamble": {"phy": "b", "rate_Mb_s": 11},
    "802.11b, short preamble": {"phy": "b", "rate_Mb_s": 11, "preamble": "short"},
    "802.11b, 5.5 Mb/s": {"phy": "b", "rate_Mb_s": 5.5, "air.rate_control": "fixed"},
    "802.11b, 2 Mb/s": {"phy": "b", "rate_Mb_s": 2, "air.rate_control": "fixed"},
    "802.11g alone": {"phy": "g", "rate_Mb_s": 54},
    "802.11g beside 802.11b": {"phy": "g", "rate_Mb_s": 54, "basic_rates_Mb_s": [1, 2, 5.5, 11], "air.slot_us": 20},
    "802.11a": {"phy": "a", "rate_Mb_s": 54},
}
"""The physical layers before 802.11n. Beside 802.11b stations 802.11g has long slots; CTS to itself is not counted."""
# What fills an Ethernet packet, what many programs write at once, and TCP's least by RFC 9293, 3.7.1.
PACKETS_B: tuple[int | None, ...] = (None, 1_024, 536)
TRANSPORTS = ("tcp", "udp")
DATA_B = 2_000_000


# The tables print hundredths of a second.
ROUNDING_S = 0.005
# Ratios are printed, and compared, to the thousandth.
DECIMALS = 3
# A transfer that loses more has no duration to compare.
WHOLE = 0.99
POOR = "poor / good"
KINDS = ("total", "marginal")


class ConditionRatio(NamedTuple):
    """A ratio of two conditions."""

    name: str
    over: str
    under: str
    meaning: str


RATIOS = (
    ConditionRatio("BSS / ad hoc", "bss_open", "adhoc_open", "through an access point against ad hoc, open system"),
    ConditionRatio("WEP / open", "adhoc_wep", "adhoc_open", "WEP against open system, ad hoc"),
    ConditionRatio("TKIP / open", "bss_tkip", "bss_open", "TKIP against open system, through an access point"),
    ConditionRatio(POOR, "adhoc_poor", "adhoc_wep", "a poor signal against a good one, ad hoc with WEP"),
)


class Layer(NamedTuple):
    """One combination of the unnamed: physical layer, transport, packets; its answers by condition."""

    phy: str
    transport: str
    packet_B: int | None
    answers: dict[str, LinkAnswer]

    @property
    def name(self) -> str:
        """In words."""
        packets = "full packets" if self.packet_B is None else f"packets of {self.packet_B} octets"
        return f"{self.phy}, {self.transport.upper()}, {packets}"

    def seconds(self, condition: str) -> float | None:
        """How long the transfer takes: the median over the positions of a poor signal; None where it loses too much."""
        answer = self.answers[condition]
        if not answer.positions:
            return answer.duration_ns * 1e-9
        here = answer.positions[0]
        return here.duration_s.median if here.delivered.median >= WHOLE else None

    def ratio(self, ratio: ConditionRatio) -> float | None:
        """Of two conditions; None where one has no duration."""
        over, under = self.seconds(ratio.over), self.seconds(ratio.under)
        return over / under if over and under else None


def requested(radio: str | None) -> list[tuple[str, str, int | None, str, Named[Scenario]]]:
    """Every scenario to ask about: layer, transport, packets, condition.

    * `radio`: the card of all nodes, None for durations alone.
    """
    found = []
    for (phy, changes), transport, packet_B in product(LAYERS.items(), TRANSPORTS, PACKETS_B):
        for condition, name in SCENARIOS.items():
            changed: dict[str, Any] = {"payload.data_B": DATA_B, "transport": transport, "radio": radio, **changes}
            if packet_B is not None:
                changed["payload.payload_B"] = packet_B
            if condition == "adhoc_poor":
                changed["signal.positions"] = 20
            found.append((phy, transport, packet_B, condition, scenario.load(name, changed)))
    return found


def layers(
    keys: Sequence[tuple[str, str, int | None, str, Named[Scenario]]], answers: Iterable[LinkAnswer]
) -> list[Layer]:
    """The answers to `requested`, put together by layer."""
    by: dict[tuple[str, str, int | None], dict[str, LinkAnswer]] = {}
    for (phy, transport, packet_B, condition, _), answer in zip(keys, answers, strict=True):
        by.setdefault((phy, transport, packet_B), {})[condition] = answer
    return [Layer(*key, by_condition) for key, by_condition in by.items()]


def _pairs(cells: Sequence[Duration], ratio: ConditionRatio, cipher: str) -> list[tuple[float, float]]:
    """Of each kind of data the seconds of a ratio's two conditions."""
    seconds = {(cell.data, cell.condition): cell.duration_s for cell in cells if cell.cipher == cipher}
    return [(seconds[data, ratio.over], seconds[data, ratio.under]) for data in dict.fromkeys(c.data for c in cells)]


def printed(cells: Sequence[Duration], ratio: ConditionRatio, cipher: str = PLAIN) -> tuple[float, float]:
    """A ratio of the tables: its least and its greatest over the kinds of data."""
    found = [over / under for over, under in _pairs(cells, ratio, cipher)]
    return min(found), max(found)


def rounding(cells: Sequence[Duration], ratio: ConditionRatio, cipher: str = PLAIN) -> float:
    """How far a ratio of the tables may lie from that of the durations before they were rounded, at most."""
    pairs = _pairs(cells, ratio, cipher)
    return max((over + ROUNDING_S) / (under - ROUNDING_S) - over / under for over, under in pairs)


def ratio_rows(found: Sequence[Layer], cells: Sequence[Duration]) -> list[dict[str, Any]]:
    """The paper's ratios of plaintext, then a row a layer; `fits` names those ratios that it gives."""
    first: dict[str, Any] = {"physical_layer": "the paper, plaintext", "transport": None, "packet_B": None}
    for ratio in RATIOS:
        low, high = printed(cells, ratio)
        first[ratio.name] = f"{low:.{DECIMALS}f} to {high:.{DECIMALS}f}, each to {rounding(cells, ratio):.4f}"
    rows = [first | {"fits": None}]
    for layer in found:
        row: dict[str, Any] = {"physical_layer": layer.phy, "transport": layer.transport}
        row["packet_B"] = "full" if layer.packet_B is None else str(layer.packet_B)
        row |= {ratio.name: f"{value:.{DECIMALS}f}" if (value := layer.ratio(ratio)) else None for ratio in RATIOS}
        rows.append(row | {"fits": ", ".join(r.name for r in RATIOS if gives(layer, r, cells)) or None})
    return rows


def gives(layer: Layer, ratio: ConditionRatio, cells: Sequence[Duration]) -> bool:
    """Whether a layer's ratio, as it is printed, lies where the paper's do, as far as its durations are printed."""
    low, high = printed(cells, ratio)
    apart = rounding(cells, ratio)
    value = layer.ratio(ratio)
    return value is not None and low - apart <= round(value, DECIMALS) <= high + apart


def table_rows(layer: Layer, cells: Sequence[Duration]) -> list[dict[str, Any]]:
    """The plaintext of the three tables as one layer would give it.

    The data's size is the one that makes the plain ad hoc transfer as long as the paper's; all else follows.
    """
    plain = [cell for cell in cells if cell.cipher == PLAIN]
    measured_s = {cell.data: cell.duration_s for cell in plain if cell.condition == "adhoc_open"}
    rows = []
    for cell in plain:
        scale = measured_s[cell.data] / (layer.seconds("adhoc_open") or 1.0)
        answer = layer.answers[cell.condition]
        layer_s = layer.seconds(cell.condition)
        seconds = scale * layer_s if layer_s else None
        row: dict[str, Any] = {"data": cell.data, "condition": cell.condition, "data_MB": scale * DATA_B / 1e6}
        off_percent = round(100 * (seconds / cell.duration_s - 1), 6) + 0.0 if seconds else None
        row |= {"paper_s": cell.duration_s, "air_s": seconds, "off_percent": off_percent}
        spread = answer.positions[0].duration_s if answer.positions else None
        row |= {"air_low_s": scale * spread.low if spread else None}
        row |= {"air_high_s": scale * spread.high if spread else None}
        # Of a poor signal the joules are those of the median position.
        row |= {f"{key}_J": None if (J := getattr(answer, f"{key}_J")) is None else scale * J for key in KINDS}
        rows.append(row)
    return rows


def nearest(found: Sequence[Layer], cells: Sequence[Duration]) -> Layer:
    """The layer whose ratios lie nearest to the paper's, but for the one that a position chooses."""

    def off(layer: Layer) -> float:
        pairs = ((layer.ratio(ratio), *printed(cells, ratio)) for ratio in RATIOS if ratio.name != POOR)
        return sum(math.log((value or math.inf) / math.sqrt(low * high)) ** 2 for value, low, high in pairs)

    return min(found, key=off)


def missing_us(layer: Layer, ratio: ConditionRatio, wanted: float) -> float:
    """Microseconds a packet, not overlapped with the air, that would make a layer's ratio the one that is wanted."""
    over, under = layer.answers[ratio.over], layer.answers[ratio.under]
    return (wanted * under.duration_ns - over.duration_ns) / over.ledger.requested / 1e3


def sentences(found: Sequence[Layer], cells: Sequence[Duration]) -> list[str]:
    """Which layer gives which of the paper's ratios, and which of them nothing on the air gives: a sentence each."""
    sentences = []
    for ratio in RATIOS:
        low, high = printed(cells, ratio)
        fitting = [layer.name for layer in found if gives(layer, ratio, cells)]
        here = sorted(value for layer in found if (value := layer.ratio(ratio)))
        words = (
            f"{ratio.name}, {ratio.meaning}: the paper has {low:.{DECIMALS}f} to {high:.{DECIMALS}f}, by its rounding "
        )
        words += f"each to {rounding(cells, ratio):.4f}, the air {here[0]:.{DECIMALS}f} to {here[-1]:.{DECIMALS}f}"
        if ratio.name == POOR:
            end = "the position chooses it, which the paper doesn't give; "
            end += f"{len(fitting)} of {len(found)} layers give it from ours"
        elif fitting:
            end = f"{len(fitting)} of {len(found)} layers give it ({_few(fitting)})"
        else:
            near = nearest(found, cells)
            end = "no mechanism of the air gives it; work of a host or an access point could, "
            end += f"of {missing_us(near, ratio, math.sqrt(low * high)):.0f} us a packet if it was {near.name}"
        sentences.append(f"{words}: {end}.")
    fixed = [ratio for ratio in RATIOS if ratio.name != POOR]
    given = {layer.name: sum(gives(layer, ratio, cells) for ratio in fixed) for layer in found}
    most = max(given.values())
    both = [name for name, number in given.items() if number == most]
    sentences.append(f"No layer gives all of the first {len(fixed)}: the most is {most}, by {_few(both)}.")
    return [*sentences, *_of_ciphertext(cells)]


def _few(names: Sequence[str]) -> str:
    return "; ".join(names[:4]) + (f"; and {len(names) - 4} more" if len(names) > 4 else "")


def _of_ciphertext(cells: Sequence[Duration]) -> list[str]:
    plain = {(cell.data, cell.condition): cell.duration_s for cell in cells if cell.cipher == PLAIN}
    ratios = {cell.name: cell.duration_s / plain[cell.data, cell.condition] for cell in cells if cell.cipher != PLAIN}
    # Who walked a step in between explains what stands under a poor signal.
    good = [cell.name for cell in cells if cell.cipher != PLAIN and cell.condition != "adhoc_poor"]
    most, least = max(good, key=ratios.__getitem__), min(ratios, key=ratios.__getitem__)
    sooner = sum(ratio < 1 for ratio in ratios.values())
    grew = "1.00 raw, 1.33 as base64, 1.78 as base64 twice, 2.00 as hexadecimal"
    return [
        f"Ciphertext / plaintext: the paper has up to {ratios[most]:.2f} under a good signal ({most}); 802.11 carries "
        f"octets alike, so that no mechanism of the air gives more than the octets grew: {grew}.",
        f"Ciphertext sooner than plaintext: {sooner} of {len(ratios)} durations, down to {ratios[least]:.2f} "
        f"({least}); no mechanism of the air, and none of a cipher, gives that: it is the spread between runs, which "
        "the paper does not print (`wattlock explain elminaam-wlan` ranks the hypotheses).",
        "802.11b+ (22 Mb/s by PBCC, of one maker) is not among the layers.",
    ]
