"""`wattlock advise`: which cipher to take, and how many days of battery each choice leaves."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wattlock import extras
from wattlock.cli.echo import echo
from wattlock.cli.help import SELDOM
from wattlock.cli.options import AllowAssumed, Cards, DefinitionOutput, chosen, printed, refuse_beside, refuse_two
from wattlock.cli.options import given as called
from wattlock.cli.table import Format, show_filled
from wattlock.cli.table import show as print_table
from wattlock.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from wattlock.advise.answer import Advice
    from wattlock.advise.decision import Option
    from wattlock.advise.planner import Station
    from wattlock.advise.record import Section


@dataclass(frozen=True)
class TrafficOptions:
    """What is sent, where one kind of message is all."""

    message: Annotated[str | None, typer.Option("--message", help="Plaintext of a message: 64B, 1kB.")] = None
    every: Annotated[str | None, typer.Option("--every", help="A message so often: 50ms, 1s, 5min.")] = None
    capture: Annotated[
        str | None, typer.Option("--capture", metavar="FILE", help="Traffic as it was captured, in place of those two.")
    ] = None


@dataclass(frozen=True)
class CostOptions:
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
        typer.Option(
            "--costs",
            rich_help_panel=SELDOM,
            metavar="FILE",
            help="Your own figures of ciphers on the device's core, as TOML.",
        ),
    ] = None


@dataclass(frozen=True)
class HardwareOptions:
    """What the device is made of."""

    radio: Annotated[str | None, typer.Option("--radio", metavar="CARD", help="Radio card; else the device's own.")] = (
        None
    )
    battery: Annotated[
        str | None, typer.Option("--battery", metavar="CARD", help="Battery card; else one of 1000 mAh.")
    ] = None
    sleep: Annotated[
        str | None,
        typer.Option(
            "--sleep",
            rich_help_panel=SELDOM,
            help="What the device draws asleep: 10uW, 2mW, or 3uA at its card's voltage.",
        ),
    ] = None
    protection: Annotated[
        str | None,
        typer.Option(
            "--protection", rich_help_panel=SELDOM, help="The link's own encryption, several with commas: ccmp,none."
        ),
    ] = None


@dataclass(frozen=True)
class Required:
    """What a choice must keep."""

    strength: Annotated[float | None, typer.Option("--strength", min=0, help="Bits at least; 128 without it.")] = None
    authenticated: Annotated[
        bool | None,
        typer.Option(
            "--authenticated/--unauthenticated",
            rich_help_panel=SELDOM,
            help="Whether a changed message must be noticed; it must.",
        ),
    ] = None
    approved: Annotated[
        str | None, typer.Option("--approved", metavar="WHO", help="By NIST, IETF, ISO, BSI, CRYPTREC or ECRYPT.")
    ] = None
    lifetime: Annotated[
        str | None, typer.Option("--lifetime", rich_help_panel=SELDOM, help="How long data stays secret: 10y.")
    ] = None
    latency: Annotated[str | None, typer.Option("--latency", help="Until a message has left, at most: 50ms.")] = None
    memory: Annotated[
        str | None, typer.Option("--memory", rich_help_panel=SELDOM, help="For round keys and state, at most: 8kB.")
    ] = None
    amortised: Annotated[
        bool | None,
        typer.Option(
            "--allow-amortised",
            rich_help_panel=SELDOM,
            help="Look at tally too, whose short tags later messages lift: experimental.",
        ),
    ] = None


@dataclass(frozen=True)
class AdviceExtras:
    """What is printed, beside the ranking."""

    experiments: Annotated[
        bool,
        typer.Option(
            "--experiments",
            rich_help_panel=SELDOM,
            help="Carry out the named ways to spend less, and the energy-first budget.",
        ),
    ] = False
    attempt: Annotated[
        str | None, typer.Option("--try", rich_help_panel=SELDOM, metavar="NAME", help="Carry out one of them.")
    ] = None
    pareto: Annotated[
        bool,
        typer.Option(
            "--pareto",
            rich_help_panel=SELDOM,
            help="Show the Pareto front of strength, days and latency, and profiles.",
        ),
    ] = False
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity", rich_help_panel=SELDOM, help="Say at which size, rate or signal the answer changes."
        ),
    ] = False

    plan: Annotated[
        bool, typer.Option("--plan", help="Say what to measure next on your targets, and for how long.")
    ] = False
    within: Annotated[
        float,
        typer.Option(
            "--within",
            rich_help_panel=SELDOM,
            metavar="PERCENT",
            min=0.1,
            max=100,
            help="How narrow --plan makes the days: +-.",
        ),
    ] = 5.0

    def all(self) -> AdviceExtras:
        """Every table there is, but for the one experiment that was asked for."""
        return replace(self, experiments=self.attempt is None, pareto=True, sensitivity=True)


@dataclass(frozen=True)
class AdviceForms:
    """What is printed."""

    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show every choice, source and assumption."),
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
    """What is printed, as the decision record."""

    record: Annotated[
        Path | None, typer.Option("--record", metavar="FILE", help="Write the decision record: .html, .md or .json.")
    ] = None
    decider: Annotated[
        str | None,
        typer.Option("--decider", rich_help_panel=SELDOM, metavar="NAME", help="Who decides, for the record's head."),
    ] = None


@dataclass(frozen=True)
class Sampling:
    """How often and from where samples are drawn."""

    draws: Annotated[
        int | None,
        typer.Option("--draws", rich_help_panel=SELDOM, min=100, max=1_000_000, help="Samples; 16384 without it."),
    ] = None
    seed: Annotated[
        int | None, typer.Option("--seed", rich_help_panel=SELDOM, min=0, help="Random seed of the samples.")
    ] = None


def advise(
    context: typer.Context,
    profile: Annotated[
        str | None, typer.Argument(metavar="PROFILE", help="A profile's name (`--list`) or TOML file.")
    ] = None,
    *,
    listing: Annotated[bool, typer.Option("--list", help="List the profiles that come with wattlock.")] = False,
    in_place: DefinitionOutput = DefinitionOutput(),
    traffic: TrafficOptions = TrafficOptions(),
    priced: CostOptions = CostOptions(),
    costs_template: Annotated[
        str | None,
        typer.Option(
            "--costs-template", rich_help_panel=SELDOM, metavar="CORE", help="Print such a file to fill, for a core."
        ),
    ] = None,
    parts: HardwareOptions = HardwareOptions(),
    required: Required = Required(),
    decrypt_share: Annotated[
        float | None,
        typer.Option("--decrypt-share", rich_help_panel=SELDOM, min=0, help="Decryptions here for each encryption."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Any key of a profile, as floor.tag=96 or flow[0].every=9s."),
    ] = None,
    extras: AdviceExtras = AdviceExtras(),
    filed: Filed = Filed(),
    shown: AdviceForms = AdviceForms(),
    sampling: Sampling = Sampling(),
    cards: Cards = None,
    allow_assumed: AllowAssumed = False,
) -> None:
    """Rank the ways to protect a device's messages that meet a security requirement, by days of battery.

    What is not given is assumed, and the answer says so.

    Examples: wattlock advise --message 64B --every 1s --device nrf52840;
    wattlock advise sensor --approved NIST --lifetime 10y --allow-assumed --explain;
    wattlock advise gas-meter --record decision.html --decider "R. Roe";
    wattlock advise --template > mine.toml
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
        from wattlock.advise.cipher_costs import template

        refuse_beside(called(context), "--costs-template", [])
        echo(template(costs_template), nl=False)
        return
    if filed.record is not None:
        check(filed.record)
    elif filed.decider is not None:
        raise UsageError("--decider is the record's, and none is asked for", hint="name its file with --record FILE")
    _refuse_mismatched(shown, extras, called(context))
    described = _described(priced, parts, required) | {"decrypt_share": decrypt_share} | asdict(sampling)
    from wattlock.advise.answer import advise as answer
    from wattlock.advise.question import Traffic as Messages
    from wattlock.advise.question import asked

    question = asked(profile, Messages(**asdict(traffic)), described, changes)

    advice = answer(question, cards=cards, allow_assumed=allow_assumed, target=chosen())
    more = _more(advice, cards, extras.all() if shown.explain and shown.form is Format.table else extras)
    if filed.record is not None:
        for path in write(advice, more, filed.record, filed.decider):
            echo(f"wrote {path}", err=True)
    _print(advice, more, shown, _plan(advice, extras) if extras.plan else None)


def _refuse_mismatched(shown: AdviceForms, extras: AdviceExtras, named: dict[str, Any]) -> None:
    """Raises InputError where one option leaves another nothing to do."""
    if shown.why is not None and (shown.explain or shown.form is Format.csv):
        raise UsageError(
            "--why answers in sentences, in place of the table", hint="give it alone or with --format json"
        )
    if extras.plan and shown.form is Format.csv:
        raise UsageError("--plan is no table of choices", hint="print it with --format json")
    if "--within" in named and not extras.plan:
        raise UsageError("--within is how narrow a plan makes the days", hint="give it with --plan")


def _plan(advice: Advice, extras: AdviceExtras) -> dict[str, Any]:

    return planned(advice, extras.within / 100)


def _described(priced: CostOptions, parts: HardwareOptions, required: Required) -> dict[str, Any]:
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


def _more(advice: Advice, cards: Path | None, extras: AdviceExtras) -> dict[str, list[dict[str, Any]]]:
    """The tables beside the answer, by key."""
    from wattlock.targets import toolbox

    program = toolbox.find()
    more: dict[str, list[dict[str, Any]]] = {}
    if extras.experiments or extras.attempt:
        from wattlock.advise import experiments
        from wattlock.advise.experiments import budgets
        from wattlock.advise.experiments import rows as energy_first_rows

        if extras.attempt != ENERGY_FIRST:
            found = experiments.experiments(advice, program, extras.attempt)
            more["experiments"] = [experiments.row(experiment) for experiment in found]
        if extras.attempt in {None, ENERGY_FIRST}:
            more["energy_first"] = energy_first_rows(budgets(advice, program, cards))
    if extras.pareto or extras.sensitivity:
        from wattlock.advise import experiments as sensitivity

        if extras.pareto:
            more["pareto"] = sensitivity.pareto(advice)
        if extras.sensitivity:
            more["sensitivity"] = [point._asdict() for point in sensitivity.sensitivity(advice, program)]
    return more


ENERGY_FIRST = "energy-first"


def _list(form: Format) -> None:
    import polars as pl

    from wattlock.advise import question

    rows = [{"profile": name, "title": str(question.read(name).get("title", ""))} for name in question.names()]
    print_table(pl.DataFrame(rows, schema={"profile": pl.String, "title": pl.String}), form)


def _print(
    advice: Advice, more: dict[str, list[dict[str, Any]]], shown: AdviceForms, plan: dict[str, Any] | None
) -> None:
    from wattlock.advise.record import as_object, finite

    asked_after = {"why": _why(advice, shown.why)} if shown.why is not None else {}
    if shown.form is Format.json:
        planned = {"plan": plan} if plan else {}
        echo(json.dumps(finite(as_object(advice) | more | asked_after | planned), ensure_ascii=False))
    elif shown.form is Format.csv:
        print_table(advice.ranked, shown.form)
    elif asked_after:
        why_not(advice, asked_after["why"])
    elif shown.explain:
        explained(advice, more, shown.top)
    else:
        one_screen(advice, more, shown.top)
    if plan and shown.form is Format.table:
        show(plan)


def _why(advice: Advice, cipher: str) -> list[str]:
    from wattlock.advise.decision import why

    return why(advice, cipher, chosen())


def planned(advice: Advice, within: float) -> dict[str, Any]:
    """The measurements in their order, with what each is expected to bring, as a record.

    * `within`: the half-width asked for, as a share of the days.
    """
    import math

    from wattlock.advise import planner

    stations, machine = _fleet(advice)
    offers, cannot = planner.offers(advice, stations, machine=machine)
    plan = planner.plan(advice, offers, within)
    return {
        "asked_within_percent": 100 * within,
        "within_percent": 100 * math.expm1(plan.now),
        "expected_within_percent": 100 * math.expm1(plan.then),
        "steps": [step.row() for step in plan.steps],
        "ends": plan.ends,
        "cannot": cannot,
    }


def _fleet(advice: Advice) -> tuple[list[Station], str | None]:
    """The user's targets and this machine, and where the costs were measured; None where they are published."""
    from wattlock.advise.planner import CASE_s, Station
    from wattlock.targets import named

    run = advice.question.device.run
    machine, case_s = None, CASE_s
    if run is not None:
        from wattlock.run.result import open_one_kind

        result = open_one_kind(run if isinstance(run, str) else run[0])
        machine = str(result.plan.get("way") or "local")
        case_s = result.wall_s / result.processes / len(result.cases)
    ways = {name: (described.way, described.device) for name, described in named.described().items()}
    ways.setdefault("local", ("local", None))
    stations = [
        Station(name, card, way, case_s, counts=way.startswith("qemu:")) for name, (way, card) in sorted(ways.items())
    ]
    return stations, machine


def show(plan: dict[str, Any]) -> None:
    """Print the plan for eyes."""
    now, requested = plan["within_percent"], plan["asked_within_percent"]
    reached = f"{now:{'.2g' if now < 10 else '.0f'}} %"
    title = f"what to measure next: the days are within {reached}, {requested:g} % is asked for"
    if plan["steps"]:
        show_filled(plan["steps"], title)
    else:
        echo(f"\n{title}")
    echo(f"{plan['ends'][0].upper()}{plan['ends'][1:]}.")
    for reason in plan["cannot"]:
        echo(f"no use: {reason}")


COLUMNS, ROWS = 80, 6
"""Of the screen that the answer fits, and of its table at most."""
NAME_COLUMNS = 24
TITLES = {
    "experiments": "ways to spend less, from the usual choice",
    "energy_first": "a message's budget: the least that a sound one needs, and what framings take more",
    "pareto": "strength, days and latency: the front, in shares of the draws",
    "sensitivity": "where the answer changes",
}
More = dict[str, list[dict[str, Any]]]


def one_screen(advice: Advice, more: More, top: int | None) -> None:
    """The decision, six rows, three lines of reasons, what to measure next, and the tables that were asked for."""
    from wattlock.advise import decision, prose

    _say(prose.title(advice.question), decision.sentence(advice), "")
    shown = decision.first_options(advice, top or ROWS)
    for line in _options(advice, shown):
        echo(line)
    _say("", *decision.reasons(advice), *filter(None, [decision.tag(advice)]))
    _say(*decision.by_code(advice))
    _say(*(f"{peak[0].upper()}{peak[1:]}." for peak in prose.peaks(advice)))
    measure = decision.next_measurement(advice)
    if measure:
        _say(f"Measure next: {measure}.")
    _say(_left_out(advice, len(decision.options(advice)) - len(shown)))
    _tables(advice, more)


def why_not(advice: Advice, sentences: list[str]) -> None:
    """The decision, and where the cipher that was asked after stands."""
    from wattlock.advise import decision, prose

    _say(prose.title(advice.question), decision.sentence(advice), "", *sentences)


def _say(*sentences: str) -> None:
    for sentence in sentences:
        # A percentage stays on one line.
        lines = wrap(sentence.replace(" %", "\u00a0%"), COLUMNS, break_on_hyphens=False)
        echo("\n".join(lines).replace("\u00a0", " "))


def _options(advice: Advice, shown: list[Option]) -> list[str]:
    from wattlock.advise import prose

    in_hours = prose.short_lived(advice.best)
    unit = prose.span(advice.best, in_hours=in_hours).unit
    rows: list[tuple[str, ...]] = [("  rank", "cipher", unit, "95 %", "tag", "way")]
    for option in shown:
        life = prose.span(option.place, in_hours=in_hours)
        mark = "> " if option.decided else "  "
        choice = advice.choices[option.place.number]
        tag = str(choice.tag_bits) if choice.tag_bits else "none"
        name = _cut(option.name, NAME_COLUMNS)
        rows.append((f"{mark}{option.rank}", name, life.middle, life.interval, tag, choice.beside_tag))
    # The decision's sentence says the way: the column is for those that differ.
    if len(rows) > 2 and len({row[-1] for row in rows[1:]}) == 1:
        rows = [row[:-1] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        _cut("  ".join(part.ljust(width) for part, width in zip(row, widths, strict=True)).rstrip(), COLUMNS)
        for row in rows
    ]


def _cut(text: str, columns: int) -> str:
    return text if len(text) <= columns else f"{text[: columns - 3]}..."


def _left_out(advice: Advice, rows: int) -> str:
    from wattlock.advise import prose

    counts = [
        (rows, "more row" if rows == 1 else "more rows"),
        (len(advice.excluded), "excluded"),
        (len(advice.inputs.assumed), "assumed"),
        (len(prose.notes(advice)), "notes"),
    ]
    left = ", ".join(f"{count} {what}" for count, what in counts if count)
    return f"Evidence: {advice.evidence['answer']}. --explain: {left}; --why CIPHER."


def explained(advice: Advice, more: More, top: int | None) -> None:
    """All of it: every choice, what was excluded, legacy ciphers, costs with their sources, assumptions, what-ifs."""
    from wattlock.advise import decision, prose

    echo(f"{prose.title(advice.question)}\n")
    echo("\n".join([decision.sentence(advice), *prose.lead(advice)]))
    _ranked(advice, top or len(advice.places))
    echo("\nwhat the decision obliges to")
    for label, text in decision.consequences(advice):
        echo(f"{label.lower()}: {text}")
    _costs(advice)
    if advice.excluded:
        show_filled(
            advice.excluded_frame.select("cipher", "choices", "rule", "because", "source").to_dicts(), "excluded"
        )
    _tables(advice, more)
    if advice.history:
        echo("\nlegacy ciphers, for reference: what the papers' advice would save, and why it is not followed")
        echo("\n".join(prose.history(advice.history)))
    _rests(advice)


def _tables(advice: Advice, more: More) -> None:
    from wattlock.advise import prose
    from wattlock.advise.experiments import usual

    for key, found in more.items():
        start = f": {prose.named(usual(advice))}" if key == "experiments" else ""
        show_filled(prose.described(key, found), f"{TITLES[key]}{start}")
        if key == "experiments" and prose.without_gain(advice):
            _say(prose.without_gain(advice))
        if key == "energy_first" and found:
            echo(prose.BUDGET)


def _ranked(advice: Advice, top: int) -> None:
    from wattlock.advise import prose

    show_filled(prose.rows(advice, top), "ways to protect it, longest life first; one rank: tied, choose on security")
    if len(advice.places) > top:
        echo(f"{len(advice.places) - top} more choices pass; --top {len(advice.places)} shows them all")
    for name, title in prose.framing(advice):
        echo(f"{name}: {title}")


def _costs(advice: Advice) -> None:
    from wattlock.advise import pricing

    found = pricing.rows(advice.inputs.priced, advice.question)
    if found:
        show_filled(pricing.by_code_rows(advice.inputs.priced, advice.question), pricing.BY_CODE.lower())
        shown = [{key: value for key, value in row.items() if key != "url"} for row in found]
        show_filled(shown, "where the ciphers' costs come from")


def _rests(advice: Advice) -> None:
    from wattlock.advise import prose

    echo("\nwhat the answer rests on")
    if advice.information and advice.information[0].narrower > 0:
        echo(f"measure first: {prose.narrower(advice.information[0])}")
    echo(f"evidence: {', '.join(f'{what} {kind}' for what, kind in advice.evidence.items())}")
    for sentence in advice.inputs.assumed:
        echo(f"assumed: {sentence}")
    for sentence in prose.notes(advice):
        echo(f"note: {sentence}")


ENDS = (".html", ".md", ".json")


def check(path: Path) -> None:
    """Raises InputError where the record could not be written by that name."""
    if path.suffix not in ENDS:
        raise UsageError(f"--record {path}: is no {', '.join(ENDS)}", hint="the name's end says what it becomes")
    if not path.parent.is_dir():
        raise InputError(f"--record {path}: there is no folder {path.parent}", hint="make it first")
    if path.suffix == ".html":
        extras.require("report")


def write(
    advice: Advice, more: Mapping[str, Sequence[Mapping[str, Any]]], path: Path, decider: str | None = None
) -> list[Path]:
    """Write the record to `path`, over what is there, and say which files were written.

    Markdown holds no figures: they stand beside it as SVG, named by the record.
    """
    from wattlock.advise import record
    from wattlock.store.disk import write_out

    heading = record.title(advice)
    if path.suffix == ".json":
        whole = record.whole(advice, more, command(), decider)
        write_out(path, json.dumps(whole, indent=2, ensure_ascii=False), "--record")
        return [path]
    parts = record.sections(advice, more, command(), decider)
    if path.suffix == ".html":
        from wattlock.report.decision_page import decision_page

        write_out(path, decision_page(heading, parts), "--record")
        return [path]
    return _markdown(heading, parts, path)


def _markdown(heading: str, parts: Sequence[Section], path: Path) -> list[Path]:
    from wattlock.advise.record import markdown
    from wattlock.report.decision_page import decision_figure
    from wattlock.report.drawings import standalone
    from wattlock.store.disk import write_out

    figures = {name: figure for part in parts for name, figure in part.figures.items()}
    paths = {name: path.with_name(f"{path.stem}-{name}.svg") for name in figures}
    write_out(path, markdown(heading, parts, {name: file.name for name, file in paths.items()}), "--record")
    for name, figure in figures.items():
        write_out(paths[name], standalone(decision_figure(figure)), "--record")
    return [path, *paths.values()]


def command() -> str:
    """The command line that was given, as it can be given again."""
    return shlex.join(["wattlock", *sys.argv[1:]])
