"""`wattlock advise`: which cipher to take, and how many days of battery each choice leaves."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wattlock.cli.decision import check, write
from wattlock.cli.definition import Printed, printed, refuse_two
from wattlock.cli.echo import echo
from wattlock.cli.option_rules import given as called
from wattlock.cli.option_rules import refuse_beside
from wattlock.cli.options import AllowAssumed, Cards
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table
from wattlock.cli.target import chosen
from wattlock.errors import InputError

if TYPE_CHECKING:
    from wattlock.advise.advice import Advice


@dataclass(frozen=True)
class Traffic:
    """What is sent, where one kind of message is all."""

    message: Annotated[str | None, typer.Option("--message", help="Plaintext of a message: 64B, 1kB.")] = None
    every: Annotated[str | None, typer.Option("--every", help="A message so often: 50ms, 1s, 5min.")] = None
    capture: Annotated[
        str | None, typer.Option("--capture", metavar="FILE", help="Traffic as it was captured, in place of those two.")
    ] = None


@dataclass(frozen=True)
class Priced:
    """What the ciphers cost."""

    device: Annotated[str | None, typer.Option("--device", metavar="CARD", help="Device card.")] = None
    run: Annotated[
        list[str] | None,
        typer.Option(
            "--run",
            metavar="RUN",
            help="What the ciphers cost: a run's path, its id, or `last`; several of one machine are taken together.",
        ),
    ] = None
    costs: Annotated[
        str | None,
        typer.Option("--costs", metavar="FILE", help="Your own figures of ciphers on the device's core, as TOML."),
    ] = None


@dataclass(frozen=True)
class Parts:
    """What the device is made of."""

    radio: Annotated[str | None, typer.Option("--radio", metavar="CARD", help="Radio card; else the device's own.")] = (
        None
    )
    battery: Annotated[
        str | None, typer.Option("--battery", metavar="CARD", help="Battery card; else one of 1000 mAh.")
    ] = None
    sleep: Annotated[
        str | None,
        typer.Option("--sleep", help="What the device draws asleep: 10uW, 2mW, or 3uA at its card's voltage."),
    ] = None
    protection: Annotated[
        str | None, typer.Option("--protection", help="The link's own encryption, several with commas: ccmp,none.")
    ] = None


@dataclass(frozen=True)
class Required:
    """What a choice must keep."""

    strength: Annotated[float | None, typer.Option("--strength", min=0, help="Bits at least; 128 without it.")] = None
    authenticated: Annotated[
        bool | None,
        typer.Option("--authenticated/--unauthenticated", help="Whether a changed message must be noticed; it must."),
    ] = None
    approved: Annotated[
        str | None, typer.Option("--approved", metavar="WHO", help="By NIST, IETF, ISO, BSI, CRYPTREC or ECRYPT.")
    ] = None
    lifetime: Annotated[str | None, typer.Option("--lifetime", help="How long data stays secret: 10y.")] = None
    latency: Annotated[str | None, typer.Option("--latency", help="Until a message has left, at most: 50ms.")] = None
    memory: Annotated[str | None, typer.Option("--memory", help="For round keys and state, at most: 8kB.")] = None
    amortised: Annotated[
        bool | None,
        typer.Option(
            "--allow-amortised", help="Look at tally too, whose short tags later messages lift: experimental."
        ),
    ] = None


@dataclass(frozen=True)
class Beside:
    """What is asked beside the ranking."""

    experiments: Annotated[
        bool, typer.Option("--experiments", help="Carry out the named ways to spend less, and the energy-first budget.")
    ] = False
    attempt: Annotated[str | None, typer.Option("--try", metavar="NAME", help="Carry out one of them.")] = None
    pareto: Annotated[
        bool, typer.Option("--pareto", help="Show the Pareto front of strength, days and latency, and profiles.")
    ] = False
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Say at which size, rate or signal the answer changes.")
    ] = False

    plan: Annotated[
        bool, typer.Option("--plan", help="Say what to measure next on your targets, and for how long.")
    ] = False
    within: Annotated[
        float,
        typer.Option("--within", metavar="PERCENT", min=0.1, max=100, help="How narrow --plan makes the days: +-."),
    ] = 5.0

    def all(self) -> Beside:
        """Every table there is, but for the one experiment that was asked for."""
        return replace(self, experiments=self.attempt is None, pareto=True, sensitivity=True)


@dataclass(frozen=True)
class Shown:
    """What is printed."""

    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show all: every choice, sources, assumptions, legacy ciphers, what-ifs."),
    ] = False
    why: Annotated[
        str | None, typer.Option("--why", metavar="CIPHER", help="Say where a cipher stands, or what excludes it.")
    ] = None
    top: Annotated[
        int | None, typer.Option("--top", min=1, help="Rows of the table; 6 without it, all with --explain.")
    ] = None
    form: Annotated[Format, typer.Option("--format", help="How to print the answer; json is one object.")] = (
        Format.table
    )


@dataclass(frozen=True)
class Filed:
    """The decision record."""

    record: Annotated[
        Path | None, typer.Option("--record", metavar="FILE", help="Write the decision record: .html, .md or .json.")
    ] = None
    decider: Annotated[
        str | None, typer.Option("--decider", metavar="NAME", help="Who decides, for the record's head.")
    ] = None


@dataclass(frozen=True)
class Sampling:
    """How often and from where samples are drawn."""

    draws: Annotated[int | None, typer.Option("--draws", min=100, max=1_000_000, help="Samples; 16384 without it.")] = (
        None
    )
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Random seed of the samples.")] = None


def advise(
    context: typer.Context,
    profile: Annotated[
        str | None, typer.Argument(metavar="PROFILE", help="A profile's name (`--list`) or TOML file.")
    ] = None,
    *,
    listing: Annotated[bool, typer.Option("--list", help="List the profiles that come with wattlock.")] = False,
    in_place: Printed = Printed(),
    traffic: Traffic = Traffic(),
    priced: Priced = Priced(),
    costs_template: Annotated[
        str | None, typer.Option("--costs-template", metavar="CORE", help="Print such a file to fill, for a core.")
    ] = None,
    parts: Parts = Parts(),
    required: Required = Required(),
    decrypt_share: Annotated[
        float | None, typer.Option("--decrypt-share", min=0, help="Decryptions here for each encryption.")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Any key of a profile, as floor.tag=96 or flow[0].every=9s."),
    ] = None,
    beside: Beside = Beside(),
    filed: Filed = Filed(),
    shown: Shown = Shown(),
    sampling: Sampling = Sampling(),
    cards: Cards = None,
    allow_assumed: AllowAssumed = False,
) -> None:
    """Rank the ways to protect a device's messages that meet a security requirement, by days of battery.

    What is not given is assumed, and the answer says so. --set may be given several times.

    Examples: wattlock advise --message 64B --every 1s --device nrf52840;
    wattlock advise sensor --approved NIST --lifetime 10y --allow-assumed --explain;
    wattlock advise gas-meter --record decision.html --decider "R. Roe";
    wattlock advise --message 1kB --every 100ms --run last --radio intel-5300 --battery laptop-57wh --allow-assumed;
    wattlock advise --template > mine.toml; wattlock advise --schema > profile.schema.json
    """
    from wattlock.advise.question import FORM, PROFILES

    refuse_two(called(context))
    if printed(in_place, PROFILES, FORM):
        return
    if listing:
        refuse_beside(called(context), "--list", ["--format"])
        _list(shown.form)
        return
    if costs_template is not None:
        from wattlock.advise.costs_template import template

        refuse_beside(called(context), "--costs-template", [])
        echo(template(costs_template), nl=False)
        return
    if filed.record is not None:
        check(filed.record)
    elif filed.decider is not None:
        raise InputError("--decider is the record's, and none is asked for", hint="name its file with --record FILE")
    _refuse_mismatched(shown, beside, called(context))
    described = _described(priced, parts, required) | {"decrypt_share": decrypt_share} | asdict(sampling)
    from wattlock.advise.answer import advise as answer
    from wattlock.advise.asking import Traffic as Messages
    from wattlock.advise.asking import asked

    question = asked(profile, Messages(**asdict(traffic)), described, changes)

    of = answer(question, own=cards, allow_assumed=allow_assumed, target=chosen())
    more = _more(of, cards, beside.all() if shown.explain and shown.form is Format.table else beside)
    if filed.record is not None:
        for path in write(of, more, filed.record, filed.decider):
            echo(f"wrote {path}", err=True)
    _print(of, more, shown, _plan(of, beside) if beside.plan else None)


def _refuse_mismatched(shown: Shown, beside: Beside, named: dict[str, Any]) -> None:
    """Raises InputError where one option leaves another nothing to do."""
    if shown.why is not None and (shown.explain or shown.form is Format.csv):
        raise InputError(
            "--why answers in sentences, in place of the table", hint="give it alone or with --format json"
        )
    if beside.plan and shown.form is Format.csv:
        raise InputError("--plan is no table of choices", hint="print it with --format json")
    if "--within" in named and not beside.plan:
        raise InputError("--within is how narrow a plan makes the days", hint="give it with --plan")


def _plan(of: Advice, beside: Beside) -> dict[str, Any]:
    from wattlock.cli.advice_plan import planned

    return planned(of, beside.within / 100)


def _described(priced: Priced, parts: Parts, required: Required) -> dict[str, Any]:
    """What options say, by the question's keys; null where nobody said anything."""
    return {
        "device.card": priced.device,
        "device.run": priced.run[0] if priced.run and len(priced.run) == 1 else priced.run,
        "device.costs": priced.costs,
        "device.sleep": parts.sleep,
        "radio.card": parts.radio,
        "radio.protection": parts.protection.split(",") if parts.protection else None,
        "battery.card": parts.battery,
        "floor.strength": required.strength,
        "floor.authenticated": required.authenticated,
        "floor.approved": required.approved.lower() if required.approved else None,
        "floor.lifetime": required.lifetime,
        "floor.latency": required.latency,
        "floor.memory": required.memory,
        "choices.amortised": required.amortised,
    }


def _more(of: Advice, own: Path | None, beside: Beside) -> dict[str, list[dict[str, Any]]]:
    """The tables beside the answer, by key."""
    from wattlock.targets import toolbox

    program = toolbox.find()
    more: dict[str, list[dict[str, Any]]] = {}
    if beside.experiments or beside.attempt:
        from wattlock.advise import energy_first, experiments

        if beside.attempt != ENERGY_FIRST:
            found = experiments.experiments(of, program, beside.attempt)
            more["experiments"] = [experiments.row(one) for one in found]
        if beside.attempt in {None, ENERGY_FIRST}:
            more["energy_first"] = energy_first.rows(energy_first.budgets(of, program, own))
    if beside.pareto or beside.sensitivity:
        from wattlock.advise import sensitivity

        if beside.pareto:
            more["pareto"] = sensitivity.pareto(of)
        if beside.sensitivity:
            more["sensitivity"] = [one._asdict() for one in sensitivity.sensitivity(of, program)]
    return more


ENERGY_FIRST = "energy-first"


def _list(form: Format) -> None:
    import polars as pl

    from wattlock.advise import question

    rows = [{"profile": name, "title": str(question.read(name).get("title", ""))} for name in question.names()]
    print_table(pl.DataFrame(rows, schema={"profile": pl.String, "title": pl.String}), form)


def _print(of: Advice, more: dict[str, list[dict[str, Any]]], shown: Shown, plan: dict[str, Any] | None) -> None:
    from wattlock.advise.record import as_object, finite
    from wattlock.cli import advice_plan
    from wattlock.cli.advice_screen import explained, one_screen, why_not

    asked_after = {"why": _why(of, shown.why)} if shown.why is not None else {}
    if shown.form is Format.json:
        planned = {"plan": plan} if plan else {}
        echo(json.dumps(finite(as_object(of) | more | asked_after | planned), ensure_ascii=False))
    elif shown.form is Format.csv:
        print_table(of.ranked, shown.form)
    elif asked_after:
        why_not(of, asked_after["why"])
    elif shown.explain:
        explained(of, more, shown.top)
    else:
        one_screen(of, more, shown.top)
    if plan and shown.form is Format.table:
        advice_plan.show(plan)


def _why(of: Advice, cipher: str) -> list[str]:
    from wattlock.advise.why import why

    return why(of, cipher, chosen())
