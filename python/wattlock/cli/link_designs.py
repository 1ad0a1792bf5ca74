"""`wattlock link --compare`: designs of secure links side by side, by the joules of each message that is verified."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import typer

from wattlock.cli.link_pages import Valuing, table
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table
from wattlock.errors import EvidenceError, InputError

if TYPE_CHECKING:
    from wattlock.link.designs.compare import Computing, Traffic

# Messages of more microjoules are told in millijoules.
MOST_uJ = 10_000


def compare(profile: str, payload_B: int | None, by: Valuing, form: Format) -> None:
    """The designs under a profile's messages: a row each of every radio and loss, or a table a radio for eyes.

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
            typer.echo(f"left out on {name}: {which}: more octets than it carries", err=True)
    fixed = {"profile": profile, "payload_B": traffic.payload_B, "every_s": traffic.every_s}
    if form is not Format.table:
        print_table(pl.DataFrame([fixed | row for row in found], infer_schema_length=None), form)
        return
    typer.echo(f"{profile}: {traffic.payload_B} octets each {spoken(traffic.every_s)}; joules of the sensor a message")
    for name, radio in compared().radio.items():
        if here := [row for row in found if row["radio"] == name]:
            table(_shown(here), f"{name}: {radio.title}")
    typer.echo("")
    for name, design in compared().design.items():
        typer.echo(f"{name}: {design.title}")
    typer.echo("tally is an experiment that nobody outside has reviewed, and no product's security yet")


def _shown(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row a design with the columns that fit beside one another: joules of a message that is verified, by loss."""
    from wattlock.link.designs.compare import LOSSES

    in_mJ = max(row["message_uJ"] for row in found) > MOST_uJ
    unit, size = ("mJ", 1e-3) if in_mJ else ("uJ", 1.0)

    def joules(row: dict[str, Any], key: str) -> str:
        return "never" if row[key] is None else f"{size * row[key]:.4g}"

    shown = []
    for rows in (found[place : place + len(LOSSES)] for place in range(0, len(found), len(LOSSES))):
        first, tenth = rows[0], rows[LOSSES.index(0.1)]
        ends = [joules(tenth, f"verified_128_{end}_uJ") for end in ("low", "high")]
        shown.append(
            {
                **{key: first[key] for key in ("design", "adds_B", "air_ms", "over")},
                "frames": first["frames"] if first["frames"] > 1 else None,
                **{key: first[key] for key in ("cycles", "state_B")},
                f"handshake_{unit}": None if first["handshake_uJ"] is None else joules(first, "handshake_uJ"),
                "bits_at_once": first["bits_at_release"],
                f"{unit}_delivered": joules(first, "delivered_uJ"),
                **{f"{unit}_128_{100 * row['loss']:g}%": joules(row, "verified_128_uJ") for row in rows},
                "10%_low_to_high": " to ".join(dict.fromkeys(ends)),
                f"{unit}_64_10%": joules(tenth, "verified_64_uJ"),
                "wait_s_10%": tenth["wait_128_s"],
            }
        )
    return shown


def _asked(profile: str, payload_B: int | None, by: Valuing) -> tuple[Traffic, Computing]:
    """The messages of a profile, and what its device takes to seal them.

    Raises InputError where it sends nothing or its device has no card, or a cipher no cost there.
    """
    from wattlock.advise import published
    from wattlock.advise.costs import Message
    from wattlock.advise.question import load
    from wattlock.analysis.draws import COVERAGE
    from wattlock.energy import cards
    from wattlock.link.designs.compare import Traffic, Work
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

    def computing(cipher: str, size_B: int) -> Work:
        known = [cost for cost in priced.taken if cost.cipher == cipher]
        cost = min(known, key=lambda one: one.of("seal_J", traffic.payload_B))
        J = cost.of("seal_J", size_B)
        factor = math.exp(COVERAGE * math.hypot(cost.log_sigma, sigma_of_card))
        return Work(cost.of("cycles", size_B), Interval(J, J / factor, J * factor), cost.evidence == "assumed")

    return traffic, computing
