"""`wattlock link`: what sending the ciphertext costs, in seconds and joules, line by line."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wattlock.cli import link_designs
from wattlock.cli.capture import replayed
from wattlock.cli.echo import echo
from wattlock.cli.help import SELDOM
from wattlock.cli.options import (
    NS3,
    AllowAssumed,
    Cards,
    Valuing,
    chosen,
    given,
    refuse_joules,
    refuse_link,
    refuse_pair,
)
from wattlock.cli.table import Format, show, show_filled
from wattlock.definitions.changes import assignment
from wattlock.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from wattlock.link.ledger import LinkAnswer
    from wattlock.link.scenario import Named, RefusedScenario, Scenario
    from wattlock.study.cases import CatalogueRow


# Options that take several values with commas between.
CROSSED = ("phy", "topology", "protection", "transport", "rate_Mb_s", "cipher", "encoding", "radio")
# The key of the scenario that an option changes, where it is another.
PLACE = {name: f"payload.{name}" for name in ("cipher", "encoding", "data_B", "file", "payload_B")}
PLACE |= {name: f"signal.{name}" for name in ("distance_m", "walls_dB", "rssi_dBm")}
OPTION = {place: f"--{name.replace('_', '-')}" for name, place in PLACE.items()}
# What goes with a scenario of a radio that is not 802.11.
WITH_MESSAGES = ["--cipher", "--encoding", "--radio", "--payload-B", "--data-B", "--file", "--set"]
WITH_MESSAGES += ["--cards", "--allow-assumed", "--format"]
# What only the tables for eyes leave out.
HIDDEN = {"by_line_uJ", "assumed"}
# Beyond these somebody who waits should know why: the simulator sends some million packets a second.
MANY_PACKETS = 50_000_000
SHIFTED = "signal: as it is, then 3 dB stronger and 3 dB weaker"


class RadioStandard(StrEnum):
    """By what is sent."""

    wifi = "wifi"
    ble = "ble"
    ieee802154 = "802154"
    lorawan = "lorawan"


@dataclass(frozen=True)
class FileOptions:
    """What is printed of scenarios' files."""

    show: Annotated[
        str | None, typer.Option("--show", metavar="SCENARIO", help="Print its TOML, to start your own from.")
    ] = None
    template: Annotated[
        RadioStandard | None, typer.Option("--template", help="Print an annotated scenario to fill.")
    ] = None
    schema: Annotated[
        RadioStandard | None,
        typer.Option("--schema", rich_help_panel=SELDOM, help="Print the JSON Schema of such a scenario, for editors."),
    ] = None


@dataclass(frozen=True)
class ScenarioOptions:
    """What takes the place of what the scenario says; those of `CROSSED` with commas between."""

    phy: Annotated[str | None, typer.Option("--phy", help="b, g, a, n, ac or ax; several as b,g.")] = None
    topology: Annotated[str | None, typer.Option("--topology", help="adhoc, to-ap or bss.")] = None
    protection: Annotated[
        str | None, typer.Option("--protection", help="none, wep, tkip, ccmp, ccmp256, gcmp, gcmp256.")
    ] = None
    transport: Annotated[str | None, typer.Option("--transport", help="udp or tcp.")] = None
    rate_Mb_s: Annotated[str | None, typer.Option("--rate-Mb-s", help="Of data frames of b, g and a.")] = None
    cipher: Annotated[
        str | None, typer.Option("--cipher", metavar="ID", help="What encrypts the payload; `none` for plaintext.")
    ] = None
    encoding: Annotated[str | None, typer.Option("--encoding", help="raw, base64, hex or base64x2.")] = None
    radio: Annotated[str | None, typer.Option("--radio", metavar="CARD", help="Radio card of all nodes.")] = None
    data_B: Annotated[int | None, typer.Option("--data-B", min=1, help="Plaintext in all, octets.")] = None
    file: Annotated[Path | None, typer.Option("--file", help="A file whose size is what is sent.")] = None
    payload_B: Annotated[int | None, typer.Option("--payload-B", min=1, help="Octets of a packet's payload.")] = None
    distance_m: Annotated[float | None, typer.Option("--distance-m", help="Between the nodes.")] = None
    walls_dB: Annotated[
        float | None, typer.Option("--walls-dB", rich_help_panel=SELDOM, help="Loss of the walls between.")
    ] = None
    rssi_dBm: Annotated[float | None, typer.Option("--rssi-dBm", help="Received power, in place of a distance.")] = None
    engine: Annotated[
        str | None, typer.Option("--engine", rich_help_panel=SELDOM, help="dcf, closed-form, bianchi; ns3 beside dcf.")
    ] = None
    seed: Annotated[int | None, typer.Option("--seed", rich_help_panel=SELDOM, min=0, help="Random seed.")] = None


@dataclass(frozen=True)
class ComparisonOptions:
    """What is compared in place of scenarios."""

    tables: Annotated[
        bool,
        typer.Option(
            "--tables", help="Compare the model of the air with the transfer times of the paper's tables 1 to 3."
        ),
    ] = False
    compare: Annotated[
        str | None,
        typer.Option(
            "--compare",
            metavar="PROFILE",
            help="Compare secure links for the messages of a profile of `wattlock advise`, on five radios under loss; "
            "and all profiles in days with tally.",
        ),
    ] = None


def link(
    context: typer.Context,
    scenario: Annotated[
        list[str] | None, typer.Argument(metavar="SCENARIO...", help="Names (`--list`) or TOML files.")
    ] = None,
    *,
    listing: Annotated[bool, typer.Option("--list", help="List the scenarios that come with wattlock.")] = False,
    files: FileOptions = FileOptions(),
    compared: ComparisonOptions = ComparisonOptions(),
    capture: Annotated[
        Path | None,
        typer.Option("--capture", metavar="FILE", help="Send the messages of this capture."),
    ] = None,
    changed: ScenarioOptions = ScenarioOptions(),
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help="A run's path, its id, or `last`: the cipher's cost.")
    ] = None,
    device: Annotated[
        str | None, typer.Option("--device", metavar="CARD", help="Device card of sender and receiver.")
    ] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Any key, as host.sender_us=300.")
    ] = None,
    cards: Cards = None,
    allow_assumed: AllowAssumed = False,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """Say how long sending takes and what it costs, as a ledger whose lines add up.

    One scenario gives its ledger, nodes and hops; several, or values with commas between, stand side by side: --phy,
    --topology, --protection, --transport, --rate-Mb-s, --cipher, --encoding and --radio take commas, and those of other
    radios than 802.11 the last three.

    Examples: wattlock link adhoc-open --radio intel-5300;
    wattlock link bss-open --protection none,tkip,ccmp --phy b,g;
    wattlock link adhoc-open --cipher aes128-cbc --encoding raw,base64 --data-B 1000000;
    wattlock link adhoc-poor; wattlock link ble-reading --cipher aes128-ccm8;
    wattlock link --tables; wattlock link --compare tracker; wattlock link bss-ccmp --capture hour.pcap;
    wattlock link --template wifi > mine.toml
    """
    from wattlock.link.scenario import IN_MESSAGE, messages_among

    options = given(context)
    refuse_link(options, scenario or [])
    by = Valuing(run, device, cards, allow_assumed)
    pages: list[tuple[bool, Callable[[], None]]] = [
        (listing, lambda: _list_scenarios(form)),
        (files != FileOptions(), lambda: _print_file(files)),
        (compared.tables, lambda: _papers_tables(changed.radio, by, form)),
        (
            compared.compare is not None,
            lambda: link_designs.compare(compared.compare or "", changed.payload_B, by, form),
        ),
    ]
    page = next((page for wanted, page in pages if wanted), None)
    if page:
        page()
        return
    if not scenario:
        raise _unnamed(capture)
    crossed, fixed = _changed(changed, device)
    messages = messages_among(scenario)
    if messages:
        _refuse_foreign(options, messages[0])
    taken = {key: OPTION.get(key, f"--{key.replace('_', '-')}") for key in (*fixed, *crossed)}
    taken |= dict.fromkeys(("cost.sender", "cost.receiver"), "--device") if device else {}
    if capture is not None:
        replaced = replayed(capture)
        fixed |= replaced
        taken |= dict.fromkeys(replaced, "--capture")
    if messages:
        taken |= {IN_MESSAGE[path]: OPTION[path] for path in fixed if path in IN_MESSAGE}
        taken |= dict.fromkeys(("sender", "receiver"), "--radio") if "radio" in crossed else {}
    fixed |= _changes(changes or [], taken)
    if with_ns3 := fixed.get("engine") == NS3:
        refuse_joules(options)
    if with_ns3 and not messages:
        _beside_ns3(scenario, crossed, fixed, form)
    else:
        _print(_answers(scenario, crossed, fixed, by), form)


def _unnamed(capture: Path | None) -> InputError:
    hint = "`wattlock link --list` lists them: wattlock link adhoc-open"
    if capture is not None:
        hint = f"one that sends its messages, as bss-ccmp; `wattlock capture {capture}` prints its packets"
    return UsageError("name a scenario", hint=hint)


def _changes(texts: list[str], taken: dict[str, str]) -> dict[str, Any]:
    """What --set changes.

    * `taken`: keys that options say, with the option.

    Raises InputError where two of them, or one and an option of its own, say the same key.
    """
    found: dict[str, Any] = {}
    for text in texts:
        key, value = assignment(text, "host.sender_us=300")
        if key in taken or key in found:
            other = "another --set" if key in found else taken[key]
            raise UsageError(f"--set {text} and {other} say the same key", hint="leave one of them out")
        found[key] = value
    return found


def _changed(options: ScenarioOptions, device: str | None) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """What options say that take several values, and what those say that take one, by the scenario's keys."""
    crossed: dict[str, list[Any]] = {}
    fixed: dict[str, Any] = {}
    for name, value in asdict(options).items():
        if value is not None and name in CROSSED:
            crossed[PLACE.get(name, name)] = [_value(name, part.strip()) for part in value.split(",")]
        elif value is not None:
            fixed[PLACE.get(name, name)] = str(value) if name == "file" else value
    return crossed, fixed | (dict.fromkeys(("cost.sender", "cost.receiver"), device) if device else {})


def _value(option: str, text: str) -> Any:
    if option == "rate_Mb_s":
        try:
            return float(text)
        except ValueError:
            raise UsageError(f"--rate-Mb-s {text}: no number", hint="for example 11 or 5.5,11") from None
    return None if option == "cipher" and text == "none" else text


def _refuse_foreign(names: Iterable[str], file: str) -> None:
    """Refuses options that say nothing of a radio that is not 802.11, and two that say the same of one.

    Raises InputError naming them.
    """
    requested = list(names)
    for name in requested:
        if name.startswith("--") and name not in WITH_MESSAGES:
            hint = f"{file} is of a radio that is not 802.11: it goes with {', '.join(WITH_MESSAGES)}"
            raise UsageError(f"{name} and the scenario {file} don't go together", hint=hint)
    for other in ("--data-B", "--file"):
        refuse_pair(requested, "--payload-B", other, "both say how long the message is: leave one of them out")


def _requested(
    files: Sequence[str], crossed: Mapping[str, Sequence[Any]], fixed: Mapping[str, Any]
) -> tuple[list[Named[Any] | RefusedScenario], dict[str, CatalogueRow]]:
    """Each scenario under every combination of values, by path, and what the catalogue knows of their ciphers."""
    from wattlock.link.scenario import ciphers_of, cross
    from wattlock.targets.probe import first_rows

    ciphers = first_rows(chosen(), ciphers_of(files, crossed, fixed))
    return cross(files, crossed, fixed, ciphers), ciphers


def _answers(
    files: Sequence[str], crossed: Mapping[str, Sequence[Any]], fixed: Mapping[str, Any], by: Valuing
) -> list[LinkAnswer | RefusedScenario]:
    """The answer to each scenario under every combination of values, or why it can't be."""
    from wattlock.link import lowpower
    from wattlock.link.scenario import RefusedScenario, messages_among

    requested, ciphers = _requested(files, crossed, fixed)
    if messages_among(files):
        found = lowpower.evaluate_each(requested, user_cards=by.cards, allow_assumed=by.allow_assumed)
        changes = {**crossed, **fixed}
        return [_in_options(answer, changes) if isinstance(answer, RefusedScenario) else answer for answer in found]
    return _transfers([named for named in requested if not isinstance(named, RefusedScenario)], ciphers, by)


def _in_options(refusal: RefusedScenario, changes: Mapping[str, Any]) -> RefusedScenario:
    """A message's refusal that names the option, where one says what is wrong."""
    from wattlock.link.scenario import IN_MESSAGE

    error, message = refusal.error, refusal.reason
    before = error.message.removesuffix(message)
    for path in ("payload.data_B", "payload.payload_B", "payload.file", "payload.cipher"):
        for key in (path, IN_MESSAGE.get(path, path)) if path in changes else ():
            message = f"{OPTION[path]}{message.removeprefix(key)}" if message.startswith(key) else message
    return refusal._replace(error=type(error)(f"{before}{message}", hint=error.hint))


def _transfers(
    requested: list[Named[Scenario]], ciphers: dict[str, CatalogueRow], by: Valuing
) -> list[LinkAnswer | RefusedScenario]:
    from wattlock.link.wifi import evaluate_each, simulated
    from wattlock.targets import toolbox

    packets = simulated(requested, ciphers)
    if packets > MANY_PACKETS:
        echo(
            f"note: {packets:,} packets to simulate take minutes; less data (--data-B) has the same costs an octet",
            err=True,
        )
    if by.device is not None and by.run is None and not any(named.scenario.computes for named in requested):
        hint = "--run names a run, --set cost.cycles_per_B=20 or host.sender_us=300 a figure of your own"
        raise UsageError("--device values what hosts compute, and nothing says what they do", hint=hint)
    if by.run is not None and not ciphers:
        raise UsageError("--run says what a cipher costs, and the plaintext is sent", hint="name one with --cipher")
    return evaluate_each(
        requested,
        toolbox.find(),
        ciphers,
        measured=by.measured(),
        user_cards=by.cards,
        allow_assumed=by.allow_assumed,
    )


def _print(found: list[LinkAnswer | RefusedScenario], form: Format) -> None:
    """One row each; one that can't be says why, and only where none can be it is an error."""
    import polars as pl

    from wattlock.link import ledger
    from wattlock.link.scenario import RefusedScenario

    answers = [answer for answer in found if not isinstance(answer, RefusedScenario)]
    if not answers:
        raise next(answer.error for answer in found if isinstance(answer, RefusedScenario))
    first = answers[0]

    def rows(row: Callable[[LinkAnswer, LinkAnswer], dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            ledger.refused(answer) if isinstance(answer, RefusedScenario) else row(answer, first) for answer in found
        ]

    if form is not Format.table:
        show(pl.DataFrame(rows(ledger.record), infer_schema_length=None), form)
        return
    if len(found) > 1:
        show_filled(rows(ledger.summary))
        if any(answer.positions for answer in answers):
            positions = [(answer, row) for answer in answers for row in ledger.position_rows(answer)]
            show_filled([{"scenario": answer.named.label, **row} for answer, row in positions], SHIFTED)
    else:
        _print_alone(first)
    for note in ledger.notes(answers):
        echo(f"note: {note}")


def _print_alone(answer: LinkAnswer) -> None:
    """All tables of one answer."""
    from wattlock.link import ledger

    if answer.message is not None:
        show_filled(ledger.ledger_rows(answer), f"{answer.named.label}: {answer.named.title}")
        nodes = ledger.node_rows(answer)
        show_filled([{key: value for key, value in row.items() if key not in HIDDEN} for row in nodes], "nodes")
        return
    show_filled(ledger.ledger_rows(answer), answer.named.title)
    show_filled(ledger.node_rows(answer), "nodes: what each radio does and spends")
    show_filled(ledger.hop_rows(answer), "hops")
    if answer.works:
        show_filled(ledger.work_rows(answer), "what hosts compute")
    if answer.positions:
        show_filled(ledger.position_rows(answer), SHIFTED)
    show_filled([ledger.summary(answer, answer)], "in short")


def _beside_ns3(
    files: Sequence[str], crossed: Mapping[str, Sequence[Any]], fixed: Mapping[str, Any], form: Format
) -> None:
    """The simulator's answers and ns-3's, side by side, of each scenario's packets of the commonest size."""
    import polars as pl

    from wattlock.link import ns3, wifi_air
    from wattlock.link.scenario import RefusedScenario
    from wattlock.link.wifi import largest_question
    from wattlock.targets import toolbox

    requested, ciphers = _requested(files, crossed, {**fixed, "engine": "dcf"})
    questions = [
        (named, largest_question(named, ciphers)) for named in requested if not isinstance(named, RefusedScenario)
    ]
    answers = wifi_air.evaluate(toolbox.find(), questions)
    rows = [compared.row() for compared in ns3.compare([question for _, question in questions], answers)]
    show(pl.DataFrame(rows, infer_schema_length=None), form)


def _print_file(files: FileOptions) -> None:
    """A scenario's TOML to start one's own from, or a template, or a schema."""
    from wattlock.cli.options import print_file
    from wattlock.link.scenario import FORMS, SCENARIOS

    if files.template is not None:
        echo(FORMS[files.template].template(), nl=False)
    elif files.schema is not None:
        echo(FORMS[files.schema].schema_text(), nl=False)
    else:
        print_file(SCENARIOS, files.show or "")


def _list_scenarios(form: Format) -> None:
    """Every scenario that comes along."""
    import polars as pl

    from wattlock.link import scenario

    rows = []
    for name in scenario.names():
        _, tables = scenario.read(name)
        keys = ("title", "topology", "phy", "protection", "note")
        rows.append({"scenario": name} | {key: tables.get(key) for key in keys})
    show(pl.DataFrame(rows), form)


def _papers_tables(radio: str | None, by: Valuing, form: Format) -> None:
    """The paper's tables 1 to 3 over every physical layer of their time."""
    import polars as pl

    from wattlock.link import durations
    from wattlock.link.wifi import evaluate
    from wattlock.targets import toolbox

    cells, source = durations.printed(durations.PAPER)
    keys = durations.requested(radio)
    answers = evaluate(
        [key[-1] for key in keys], toolbox.find(), {}, user_cards=by.cards, allow_assumed=by.allow_assumed
    )
    found = durations.layers(keys, answers)
    sentences = durations.sentences(found, cells)
    if form is not Format.table:
        rows = [{"physical_layer": layer.name, **row} for layer in found for row in durations.table_rows(layer, cells)]
        show(pl.DataFrame(rows, infer_schema_length=None), form)
        for sentence in sentences:
            echo(sentence, err=True)
        return
    show_filled(durations.ratio_rows(found, cells), f"ratios of durations ({source}), and which of them a layer gives")
    near = durations.nearest(found, cells)
    show_filled(durations.table_rows(near, cells), f"the tables' plaintext by the nearest layer: {near.name}")
    echo("")
    for sentence in sentences:
        echo(sentence)
