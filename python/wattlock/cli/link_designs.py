"""`wattlock link --compare`: designs of secure links side by side, by the joules of each message that is verified."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from wattlock.cli.echo import echo
from wattlock.cli.link_pages import Valuing, table
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table
from wattlock.errors import EvidenceError, InputError

if TYPE_CHECKING:
    from wattlock.link.designs.compare import Computing, Traffic


def compare(profile: str, payload_B: int | None, by: Valuing, form: Format) -> None:
    """The designs under a profile's messages: a row each of every radio and loss, or short tables for eyes.

    * `payload_B`: in place of the profile's messages.
    """
    import polars as pl

    from wattlock.advise.quantity import spoken
    from wattlock.link.designs.compare import rows
    from wattlock.link.designs.rules import compared
    from wattlock.targets import toolbox

    traffic, computing = _asked(profile, payload_B, by)
    found = rows(traffic, computing, toolbox.find(), own=by.cards, allow_assumed=by.allow_assumed)
    for name, radio in compared().radio.items():
        carried = {row["design"] for row in found if row["radio"] == name}
        left_out = sorted(key for key, one in compared().design.items() if one.is_for(radio) and key not in carried)
        if left_out:
            which = ", ".join(left_out) if carried else "all designs"
            echo(f"left out on {name}: {which}: more octets than it carries", err=True)
    fixed = {"profile": profile, "payload_B": traffic.payload_B, "every_s": traffic.every_s}
    if form is not Format.table:
        print_table(pl.DataFrame([fixed | row for row in found], infer_schema_length=None), form)
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


def _radio(name: str, found: list[dict[str, Any]]) -> None:
    """The tables of one radio."""
    from wattlock.link.designs import shown
    from wattlock.link.designs.compare import STRENGTHS
    from wattlock.link.designs.rules import compared

    unit, _ = shown.unit(found)
    table(shown.lossless(found), f"{name}: {compared().radio[name].title}")
    for bits in reversed(STRENGTHS):
        title = f"{name}: {unit} a message verified at {bits} bits, and from low to high, by the share lost"
        if few := shown.never(found, bits):
            title += f"\nnever: {', '.join(few)}"
        if several := shown.verified(found, bits):
            table(several, title)
        else:
            echo(f"\n{title}")
    if saved := shown.saved(found):
        table(
            saved,
            f"{name}: percent that tally takes less (negative: more), by share lost; radio_10%: radio alone",
        )


def _waits(here: dict[str, list[dict[str, Any]]]) -> None:
    """How long messages wait for their bits, the same on each radio that carries a design."""
    from wattlock.advise.quantity import spoken
    from wattlock.link.designs import shown
    from wattlock.link.designs.compare import LOSSES, STRENGTHS

    def cell(seconds: float, share: float) -> str:
        if not share:
            return "never"
        return spoken(seconds) if share == 1 else f"{spoken(seconds)}, {min(100 * share, 99.9):.3g} %"

    for bits in reversed(STRENGTHS):
        found: dict[str, list[tuple[float, float]]] = {}
        for rows in here.values():
            found |= shown.waits(rows, bits)
        several = [
            {"design": name, **{f"{100 * loss:g}%": cell(*one) for loss, one in zip(LOSSES, parts, strict=True)}}
            for name, parts in found.items()
        ]
        if several:
            table(
                several, f"mean wait until {bits} bits, and how many of the messages that arrive get there if not all"
            )


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
            found = days(advise(question, own=by.cards, allow_assumed=by.allow_assumed))
        except EvidenceError:
            rows.append(row | {"first": "has assumed numbers: --allow-assumed takes them"})
            continue
        if found.change_percent is not None:
            row["change_%"] = f"{round(found.change_percent, 2) + 0.0:.2f}"
        rows.append(row | {"without": found.without, "with": found.with_tally, "first": found.stands})
    table(rows, "days of battery without tally and with it, by the best choice that each profile's requirements leave")


def _asked(profile: str, payload_B: int | None, by: Valuing) -> tuple[Traffic, Computing]:
    """The messages of a profile, and what its device takes to seal them.

    Raises InputError where it sends nothing or its device has no card, or a cipher no cost there.
    """
    from wattlock.advise import amortised, published
    from wattlock.advise.costs import Cost, Message
    from wattlock.advise.question import load
    from wattlock.analysis.draws import COVERAGE
    from wattlock.energy import cards
    from wattlock.link.designs.compare import Computing, Traffic, Work
    from wattlock.link.designs.rules import compared
    from wattlock.link.joules import Interval

    question = load(profile)
    sent = [one for flow in question.flow if flow.direction == "send" for one in flow.rates]
    if not sent:
        raise InputError(f"profile {profile}: sends nothing", hint="name one that sends: `wattlock advise --list`")
    size_B, rate = max(sent, key=lambda one: one[1])
    name = by.device or question.device.card
    if name is None:
        raise InputError(f"profile {profile}: names no device", hint="--device nrf52840 names one")
    device = cards.load(name, by.cards)
    device.refuse_doubted(allow_assumed=by.allow_assumed)
    traffic = Traffic(payload_B or size_B, 1 / rate)
    priced = published.price(device, [Message(traffic.payload_B, rate)], allow_assumed=by.allow_assumed, own=by.cards)
    sigma_of_card = math.hypot(*(exponent * number.log_sigma for _, number, exponent in device.card.factors()))
    for cipher in {one.cipher for one in compared().design.values()} - {None}:
        if not any(cost.cipher == cipher for cost in priced.taken):
            hint = "--allow-assumed takes cycles of another core, or name another device with --device"
            raise EvidenceError(f"what {cipher} costs on {name} is assumed", hint=hint)

    def cheapest(cipher: str | None) -> Cost:
        every = [cost for cost in (*priced.taken, *priced.slower) if cost.cipher == cipher]
        ranked = [cost for cost in priced.taken if cost.cipher == cipher]
        # Where tally's records were counted, designs with its cipher are compared by the same project's code of it.
        alike = [cost for cost in every if cost.origin and cost.origin.kind == "this code"]
        known = alike if priced.tally and cipher == priced.tally.cipher and alike else ranked
        return min(known, key=lambda one: one.of("seal_J", traffic.payload_B))

    def work(cost: Cost, cycles: float, J: float, *, assumed: bool = False) -> Work:
        factor = math.exp(COVERAGE * math.hypot(cost.log_sigma, sigma_of_card))
        return Work(cycles, Interval(J, J / factor, J * factor), assumed or cost.evidence == "assumed")

    def sealing(cost: Cost, size_B: int, *, assumed: bool = False) -> Work:
        return work(cost, cost.of("cycles", size_B), cost.of("seal_J", size_B), assumed=assumed)

    tally, not_counted = priced.tally or cheapest(compared().design["tally"].cipher), priced.tally is None
    computing = Computing(
        seal=lambda cipher, size_B: sealing(cheapest(cipher), size_B),
        record=lambda size_B: sealing(tally, size_B, assumed=not_counted),
        report=work(
            tally, amortised.report(tally, "open_cycles"), amortised.report(tally, "open_J"), assumed=not_counted
        ),
    )
    return traffic, computing
