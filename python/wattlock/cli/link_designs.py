"""`wattlock link --compare`: designs of secure links side by side, by the joules of each message that is verified."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from wattlock.cli.echo import echo
from wattlock.cli.options import Valuing
from wattlock.cli.table import Format, show, show_filled
from wattlock.errors import EvidenceError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wattlock.link.designs import Computing, SensorTraffic

    Rows = Sequence[dict[str, Any]]

# Messages of more of a unit are given in the next.
MOST = 10_000
LARGE = 1_000
# What tally is held against: DTLS 1.3, its own cipher with whole tags, and what takes least where little is lost.
AGAINST = (
    (128, "dtls13"),
    (128, "dtls13-cid"),
    (128, "whole"),
    (128, "sp-mac"),
    (64, "dtls13-ccm8"),
    (64, "dtls13-cid-ccm8"),
    (64, "whole-8"),
    (64, "sp-mac"),
)
AGAINST_BARE = ((128, "whole-bare"), (64, "whole-8-bare"))
COMMON = 0.1
"""The loss at which radio and reports alone are given."""


def compare(profile: str, payload_B: int | None, by: Valuing, form: Format) -> None:
    """The designs under a profile's messages: a row each of every radio and loss, or short tables for eyes.

    * `payload_B`: in place of the profile's messages.
    """
    import polars as pl

    from wattlock.advise.question import spoken
    from wattlock.link.designs import compared, rows
    from wattlock.targets import toolbox

    traffic, computing = _inputs(profile, payload_B, by)
    found = rows(traffic, computing, toolbox.find(), user_cards=by.cards, allow_assumed=by.allow_assumed)
    for name, radio in compared().radio.items():
        carried = {row["design"] for row in found if row["radio"] == name}
        designs = compared().design.items()
        left_out = sorted(key for key, design in designs if design.is_for(radio) and key not in carried)
        if left_out:
            which = ", ".join(left_out) if carried else "all designs"
            echo(f"left out on {name}: {which}: more octets than it carries", err=True)
    fixed = {"profile": profile, "payload_B": traffic.payload_B, "every_s": traffic.every_s}
    if form is not Format.table:
        show(pl.DataFrame([fixed | row for row in found], infer_schema_length=None), form)
        return
    echo(f"{profile}: {traffic.payload_B} octets each {spoken(traffic.every_s)}; joules of the sensor a message")
    here = {name: several for name in compared().radio if (several := [row for row in found if row["radio"] == name])}
    for name, several in here.items():
        _radio(name, several)
    _waits(here)
    _days(by)
    echo("")
    for name, design in compared().design.items():
        echo(f"{name}: {design.title}")
    echo("hint: --format json has a row a design, radio and loss; `wattlock advise PROFILE` explains its days")
    echo("tally is an experiment that nobody outside has reviewed, and no product's security yet")


def _radio(name: str, found: Rows) -> None:
    """The tables of one radio."""
    from wattlock.link.designs import STRENGTHS, compared

    show_filled(_lossless(found), f"{name}: {compared().radio[name].title}")
    for bits in reversed(STRENGTHS):
        title = f"{name}: {_unit(found)[0]} a message verified at {bits} bits, and from low to high, by the share lost"
        if few := _never(found, bits):
            title += f"\nnever: {', '.join(few)}"
        if several := verified(found, bits):
            show_filled(several, title)
        else:
            echo(f"\n{title}")
    if saved := _saved(found):
        show_filled(
            saved,
            f"{name}: percent that tally takes less (negative: more), by share lost; radio_10%: radio alone",
        )


def _waits(here: dict[str, list[dict[str, Any]]]) -> None:
    """How long messages wait for their bits, the same on each radio that carries a design."""
    from wattlock.advise.question import spoken
    from wattlock.link.designs import STRENGTHS

    def cell(seconds: float, share: float) -> str:
        if not share:
            return "never"
        return spoken(seconds) if share == 1 else f"{spoken(seconds)}, {min(100 * share, 99.9):.3g} %"

    for bits in reversed(STRENGTHS):
        waiting = {
            name: rows
            for found in here.values()
            for name, rows in _by_design(found).items()
            if any(row[f"wait_{bits}_s"] for row in rows)
        }
        several = [
            {"design": name}
            | {_percent(row["loss"]): cell(row[f"wait_{bits}_s"] or 0.0, row[f"verified_{bits}_share"]) for row in rows}
            for name, rows in waiting.items()
        ]
        if several:
            title = f"mean wait until {bits} bits, and how many of the messages that arrive get there if not all"
            show_filled(several, title)


def _days(by: Valuing) -> None:
    """The profiles that come along, in days of battery without tally and with it."""
    from wattlock.advise.answer import advise
    from wattlock.advise.question import load, names
    from wattlock.advise.with_tally import days

    rows = []
    for name in names():
        question = load(name, {"choices.amortised": True})
        row: dict[str, Any] = {"profile": name, "without": None, "with": None, "change_%": None}
        try:
            found = days(advise(question, cards=by.cards, allow_assumed=by.allow_assumed))
        except EvidenceError:
            rows.append(row | {"first": "has assumed numbers: --allow-assumed takes them"})
            continue
        if found.change_percent is not None:
            row["change_%"] = f"{round(found.change_percent, 2) + 0.0:.2f}"
        rows.append(row | {"without": found.without, "with": found.with_tally, "first": found.stands})
    show_filled(
        rows, "days of battery without tally and with it, by the best choice that each profile's requirements leave"
    )


def _inputs(profile: str, payload_B: int | None, by: Valuing) -> tuple[SensorTraffic, Computing]:
    """The messages of a profile, and what its device takes to seal them.

    Raises InputError where it sends nothing or its device has no card, or a cipher no cost there.
    """
    from wattlock.advise import choices, published
    from wattlock.advise.cipher_costs import CipherCost, CostedMessage
    from wattlock.advise.question import load
    from wattlock.analysis.distributions import COVERAGE
    from wattlock.energy import device_cards
    from wattlock.link.designs import Computing, SensorTraffic, SensorWork, compared
    from wattlock.link.ledger import Interval

    question = load(profile)
    sent = [rate for flow in question.flow if flow.direction == "send" for rate in flow.rates]
    if not sent:
        raise InputError(f"profile {profile}: sends nothing", hint="name one that sends: `wattlock advise --list`")
    size_B, rate = max(sent, key=lambda size_and_rate: size_and_rate[1])
    name = by.device or question.device.card
    if name is None:
        raise InputError(f"profile {profile}: names no device", hint="--device nrf52840 names one")
    device = device_cards.load(name, by.cards)
    device.refuse_doubted(allow_assumed=by.allow_assumed)
    traffic = SensorTraffic(payload_B or size_B, 1 / rate)
    priced = published.published_costs(
        device, [CostedMessage(traffic.payload_B, rate)], allow_assumed=by.allow_assumed, cards=by.cards
    )
    sigma_of_card = math.hypot(*(exponent * number.log_sigma for _, number, exponent in device.card.factors()))
    for cipher in {design.cipher for design in compared().design.values()} - {None}:
        if not any(cost.cipher == cipher for cost in priced.taken):
            hint = "--allow-assumed takes cycles of another core, or name another device with --device"
            raise EvidenceError(f"what {cipher} costs on {name} is assumed", hint=hint)

    def cheapest(cipher: str | None) -> CipherCost:
        ranked = [cost for cost in priced.taken if cost.cipher == cipher]
        every_cost = [*ranked, *(cost for cost in priced.slower if cost.cipher == cipher)]
        # Where tally's records were counted, designs with its cipher are compared by the same project's code of it.
        alike = [cost for cost in every_cost if cost.origin and cost.origin.kind == "this code"]
        known = alike if priced.tally and cipher == priced.tally.cipher and alike else ranked
        return min(known, key=lambda cost: cost.of("seal_J", traffic.payload_B))

    def work(cost: CipherCost, cycles: float, J: float, *, assumed: bool = False) -> SensorWork:
        factor = math.exp(COVERAGE * math.hypot(cost.log_sigma, sigma_of_card))
        return SensorWork(cycles, Interval(J, J / factor, J * factor), assumed or cost.evidence == "assumed")

    def sealing(cost: CipherCost, size_B: int, *, assumed: bool = False) -> SensorWork:
        return work(cost, cost.of("cycles", size_B), cost.of("seal_J", size_B), assumed=assumed)

    tally, not_counted = priced.tally or cheapest(compared().design["tally"].cipher), priced.tally is None
    computing = Computing(
        seal=lambda cipher, size_B: sealing(cheapest(cipher), size_B),
        record=lambda size_B: sealing(tally, size_B, assumed=not_counted),
        report=work(tally, choices.report(tally, "open_cycles"), choices.report(tally, "open_J"), assumed=not_counted),
    )
    return traffic, computing


# The rows for eyes: short tables of one radio's rows, which fit beside one another in 100 letters.


def _unit(found: Rows) -> tuple[str, float]:
    """In what a radio's joules are told, and how many of it a microjoule is."""
    most_uJ = max(row["message_uJ"] for row in found)
    if most_uJ <= MOST:
        return "uJ", 1.0
    return ("mJ", 1e-3) if 1e-3 * most_uJ <= MOST else ("J", 1e-6)


def _by_design(found: Rows) -> dict[str, list[dict[str, Any]]]:
    """A radio's rows by their design, one a loss."""
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in found:
        grouped.setdefault(row["design"], []).append(row)
    return grouped


def _lossless(found: Rows) -> list[dict[str, Any]]:
    """A row a design with what does not depend on loss."""
    name, size = _unit(found)
    return [
        {
            **{key: first[key] for key in ("design", "adds_B", "air_ms", "over")},
            "frames": first["frames"] if first["frames"] > 1 else None,
            **{key: first[key] for key in ("cycles", "state_B")},
            f"handshake_{name}": None if first["handshake_uJ"] is None else _number(size * first["handshake_uJ"]),
            f"delivered_{name}": _number(size * first["delivered_uJ"]),
            "bits_at_once": first["bits_at_release"],
        }
        for first, *_ in _by_design(found).values()
    ]


def verified(found: Rows, bits: int) -> list[dict[str, Any]]:
    """A row a design that has so many bits: joules of a message that is verified by the share that is lost."""
    _, size = _unit(found)

    def cell(row: dict[str, Any]) -> str:
        mean, low, high = (row[f"verified_{bits}_{part}uJ"] for part in ("", "low_", "high_"))
        return "never" if mean is None else f"{_number(size * mean)} {_number(size * low)}-{_number(size * high)}"

    return [
        {"design": name} | {_percent(row["loss"]): cell(row) for row in rows}
        for name, rows in _by_design(found).items()
        if name not in _never(found, bits)
    ]


def _never(found: Rows, bits: int) -> list[str]:
    """The designs of which no message has so many bits."""
    return [name for name, rows in _by_design(found).items() if all(row[f"verified_{bits}_uJ"] is None for row in rows)]


def _saved(found: Rows) -> list[dict[str, Any]]:
    """Percent that tally takes less than another design, a row a pair: negative where it takes more.

    * `radio_10%`: of radio and reports alone, without what is computed.
    """
    grouped = _by_design(found)
    return [
        {"design": name, "below": other, "bits": bits}
        | {
            _percent(tally["loss"]): less(tally[f"verified_{bits}_uJ"], row[f"verified_{bits}_uJ"])
            for tally, row in zip(grouped[name], grouped[other], strict=True)
        }
        | {
            f"radio_{_percent(COMMON)}": less(_radio_uJ(tally, bits), _radio_uJ(row, bits))
            for tally, row in zip(grouped[name], grouped[other], strict=True)
            if tally["loss"] == COMMON
        }
        for name, bits, other in _pairs(grouped)
    ]


def _pairs(grouped: dict[str, list[dict[str, Any]]]) -> Iterator[tuple[str, int, str]]:
    from wattlock.link.designs import compared

    for name in grouped:
        design = compared().design[name]
        if design.cycle:
            against = AGAINST if design.bare_hint_B is None else AGAINST_BARE
            yield from ((name, bits, other) for bits, other in against if other in grouped)


def radio_uJ(row: dict[str, Any]) -> float:
    """Of radio and reports alone, for each message that is sent."""
    return float(row["message_uJ"] + (row["report_uJ"] or 0.0) * row["reports_a_message"])


def _radio_uJ(row: dict[str, Any], bits: int) -> float | None:
    share = row[f"verified_{bits}_share"]
    return radio_uJ(row) / share if share else None


def less(uJ: float | None, other_uJ: float | None) -> str | None:
    """Percent that the first is below the other."""
    if uJ is None or other_uJ is None:
        return None
    # Negative zero is zero.
    return f"{round(100 * (1 - uJ / other_uJ), 1) + 0.0:.1f}"


def _percent(share: float) -> str:
    return f"{100 * share:g}%"


def _number(value: float) -> str:
    """Three digits, without an exponent."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:g}" if rounded < LARGE else f"{rounded:.0f}"
