"""`wattlock link`: what sending the ciphertext costs, in seconds and joules, line by line."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wattlock.cli import link_linear, link_pages, option_rules
from wattlock.cli.link_pages import Valuing, table
from wattlock.cli.option_rules import given
from wattlock.cli.options import AllowAssumed, Cards
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table
from wattlock.cli.target import chosen
from wattlock.definitions.changes import change
from wattlock.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from wattlock.link.scenario import Named
    from wattlock.link.wifi.evaluate import Answer, Refused

# Options that take several values with commas between, and the key of the scenario that each changes.
SEVERAL = {
    "phy": "phy",
    "topology": "topology",
    "protection": "protection",
    "transport": "transport",
    "rate_Mb_s": "rate_Mb_s",
    "cipher": "payload.cipher",
    "encoding": "payload.encoding",
    "radio": "radio",
}
# Keys whose options are not called as they are.
OPTIONS = {
    "payload.cipher": "--cipher",
    "payload.encoding": "--encoding",
    "payload.data_B": "--data-B",
    "payload.file": "--file",
    "payload.payload_B": "--payload-B",
    "payload.sizes": "--capture",
    "payload.encrypt": "--capture",
    "signal.distance_m": "--distance-m",
    "signal.walls_dB": "--walls-dB",
    "signal.rssi_dBm": "--rssi-dBm",
    "rate_Mb_s": "--rate-Mb-s",
    "cost.sender": "--device",
    "cost.receiver": "--device",
}
# Beyond these somebody who waits should know why: the simulator sends some million packets a second.
MANY_PACKETS = 50_000_000


@dataclass(frozen=True)
class Several:
    """What may have several values, with commas between."""

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


@dataclass(frozen=True)
class Sent:
    """What is sent."""

    data_B: Annotated[int | None, typer.Option("--data-B", min=1, help="Plaintext in all, octets.")] = None
    file: Annotated[Path | None, typer.Option("--file", help="A file whose size is what is sent.")] = None
    payload_B: Annotated[int | None, typer.Option("--payload-B", min=1, help="Octets of a packet's payload.")] = None


@dataclass(frozen=True)
class Signal:
    """What reaches the other end."""

    distance_m: Annotated[float | None, typer.Option("--distance-m", help="Between the nodes.")] = None
    walls_dB: Annotated[float | None, typer.Option("--walls-dB", help="Loss of the walls between.")] = None
    rssi_dBm: Annotated[float | None, typer.Option("--rssi-dBm", help="Received power, in place of a distance.")] = None


@dataclass(frozen=True)
class Simulated:
    """What answers."""

    engine: Annotated[str | None, typer.Option("--engine", help="dcf, closed-form, bianchi; ns3 beside dcf.")] = None
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Random seed.")] = None


def link(
    context: typer.Context,
    scenario: Annotated[
        list[str] | None, typer.Argument(metavar="SCENARIO...", help="Names (`--list`) or TOML files.")
    ] = None,
    *,
    listing: Annotated[bool, typer.Option("--list", help="List the scenarios that come with wattlock.")] = False,
    show: Annotated[
        str | None, typer.Option("--show", metavar="SCENARIO", help="Print its TOML, to start your own from.")
    ] = None,
    tables: Annotated[
        bool,
        typer.Option(
            "--tables", help="Compare the model of the air with the transfer times of the paper's tables 1 to 3."
        ),
    ] = False,
    capture: Annotated[
        Path | None,
        typer.Option("--capture", metavar="FILE", help="Send the messages of this capture."),
    ] = None,
    several: Several = Several(),
    sent: Sent = Sent(),
    signal: Signal = Signal(),
    simulated: Simulated = Simulated(),
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
    radios than 802.11 the last three. --set may be given several times.

    Examples: wattlock link adhoc-open --radio intel-5300;
    wattlock link bss-open --protection none,tkip,ccmp --phy b,g;
    wattlock link adhoc-open --cipher aes128-cbc --encoding raw,base64 --data-B 1000000;
    wattlock link adhoc-poor; wattlock link ble-reading --cipher aes128-ccm8;
    wattlock link --tables; wattlock link bss-ccmp --capture hour.pcap
    """
    options = given(context)
    option_rules.refuse_link(options, scenario or [])
    pages: list[tuple[bool, Callable[[], None]]] = [
        (listing, lambda: link_pages.list_scenarios(form)),
        (show is not None, lambda: link_pages.print_scenario(show or "")),
        (tables, lambda: link_pages.papers_tables(several.radio, cards=cards, allow_assumed=allow_assumed, form=form)),
    ]
    page = next((page for wanted, page in pages if wanted), None)
    if page:
        page()
        return
    if not scenario:
        hint = "`wattlock link --list` lists them: wattlock link adhoc-open"
        if capture is not None:
            hint = f"one that sends its messages, as bss-ccmp; `wattlock capture {capture}` prints its packets"
        raise InputError("name a scenario", hint=hint)
    single = _single(sent, signal, simulated, device)
    crossed = _crossed(asdict(several))
    fixed = {key: value for key, value in single.items() if value is not None}
    linear = _linear(scenario)
    if linear:
        link_linear.refuse_foreign(options, linear[0])
    if capture is not None:
        fixed |= link_pages.replayed(capture)
    taken = {key: OPTIONS.get(key, f"--{key.replace('_', '-')}") for key in (*fixed, *crossed)}
    fixed |= _changes(changes or [], taken | (link_linear.taken(crossed, fixed) if linear else {}))
    if fixed.get("engine") == option_rules.NS3:
        option_rules.refuse_joules(options)
    by = Valuing(run, device, cards, allow_assumed)
    _carry_out(scenario, crossed, fixed, by, linear=bool(linear), form=form)


def _single(sent: Sent, signal: Signal, simulated: Simulated, device: str | None) -> dict[str, Any]:
    """What options say that take one value, by the scenario's keys."""
    return {
        "payload.data_B": sent.data_B,
        "payload.file": None if sent.file is None else str(sent.file),
        "payload.payload_B": sent.payload_B,
        "signal.distance_m": signal.distance_m,
        "signal.walls_dB": signal.walls_dB,
        "signal.rssi_dBm": signal.rssi_dBm,
        "engine": simulated.engine,
        "seed": simulated.seed,
        "cost.sender": device,
        "cost.receiver": device,
    }


def _carry_out(
    files: list[str],
    crossed: dict[str, list[Any]],
    fixed: dict[str, Any],
    by: Valuing,
    *,
    linear: bool,
    form: Format,
) -> None:
    """Asks the radios that are not 802.11, ns-3 beside the air, or the air alone."""
    from wattlock.link.crossing import ciphers_of, cross
    from wattlock.targets.probe import first_rows

    if linear:
        ids = {*crossed.get("payload.cipher", ()), fixed.get("payload.cipher")} - {None}
        ciphers = first_rows(chosen(), sorted(ids))
        link_linear.linear(files, crossed, fixed, ciphers, cards=by.cards, allow_assumed=by.allow_assumed, form=form)
        return
    beside_ns3 = fixed.get("engine") == option_rules.NS3
    requested = cross(files, crossed, fixed | ({"engine": "dcf"} if beside_ns3 else {}))
    if beside_ns3:
        link_pages.beside_ns3(requested, first_rows(chosen(), ciphers_of(requested)), form)
    else:
        _print(_answers(requested, by), form)


def _linear(files: list[str]) -> list[str]:
    """The scenarios of radios that are not 802.11: all of them, or none."""
    from wattlock.link.scenario import is_linear

    found = [file for file in files if is_linear(file)]
    if found and len(found) < len(files):
        raise InputError(f"{found[0]} is of another kind of radio than the others", hint="ask for them one by one")
    return found


def _changes(texts: list[str], taken: dict[str, str]) -> dict[str, Any]:
    """What --set changes.

    * `taken`: keys that options say, with the option.

    Raises InputError where two of them, or one and an option of its own, say the same key.
    """
    found: dict[str, Any] = {}
    for text in texts:
        key, value = change(text, "host.sender_us=300")
        if key in taken or key in found:
            other = "another --set" if key in found else taken[key]
            raise InputError(f"--set {text} and {other} say the same key", hint="leave one of them out")
        found[key] = value
    return found


def _crossed(several: dict[str, str | None]) -> dict[str, list[Any]]:
    """The values of each option that takes several, by the key that it changes."""
    return {
        SEVERAL[option]: [_value(option, one.strip()) for one in text.split(",")]
        for option, text in several.items()
        if text is not None
    }


def _value(option: str, text: str) -> Any:
    if option == "rate_Mb_s":
        try:
            return float(text)
        except ValueError:
            raise InputError(f"--rate-Mb-s {text}: no number", hint="for example 11 or 5.5,11") from None
    return None if option == "cipher" and text == "none" else text


def _answers(requested: list[Named], by: Valuing) -> list[Answer | Refused]:
    from wattlock.link.crossing import ciphers_of
    from wattlock.link.wifi.evaluate import evaluate_each, simulated
    from wattlock.targets import toolbox
    from wattlock.targets.probe import first_rows

    ids = ciphers_of(requested)
    ciphers = first_rows(chosen(), ids)
    packets = simulated(requested, ciphers)
    if packets > MANY_PACKETS:
        typer.echo(
            f"note: {packets:,} packets to simulate take minutes; less data (--data-B) has the same costs an octet",
            err=True,
        )
    if by.device is not None and by.run is None and not any(one.scenario.computes for one in requested):
        hint = "--run names a run, --set cost.cycles_per_B=20 or host.sender_us=300 a figure of your own"
        raise InputError("--device values what hosts compute, and nothing says what they do", hint=hint)
    if by.run is not None and not ids:
        raise InputError("--run says what a cipher costs, and the plaintext is sent", hint="name one with --cipher")
    return evaluate_each(
        requested,
        toolbox.find(),
        ciphers,
        measured=by.measured(),
        own=by.cards,
        allow_assumed=by.allow_assumed,
    )


def _print(came: list[Answer | Refused], form: Format) -> None:
    """One row each; one that can't be says why, and only where none can be it is an error."""
    import polars as pl

    from wattlock.link.wifi import rows
    from wattlock.link.wifi.evaluate import Refused

    answers = [one for one in came if not isinstance(one, Refused)]
    if not answers:
        raise next(one.error for one in came if isinstance(one, Refused))
    first = answers[0]

    def row(one: Answer | Refused, of: Callable[[Answer, Answer], dict[str, Any]]) -> dict[str, Any]:
        return rows.refused(one) if isinstance(one, Refused) else of(one, first)

    if form is not Format.table:
        records = [row(one, rows.record) for one in came]
        print_table(pl.DataFrame(records, infer_schema_length=None), form)
        return
    if len(came) > 1:
        table([row(one, rows.summary) for one in came])
        if any(one.positions for one in answers):
            every = ({"scenario": one.named.label, **row} for one in answers for row in rows.positions(one))
            table(list(every), "signal: as it is, then 3 dB stronger and 3 dB weaker")
    else:
        table(rows.ledger(first), first.named.title)
        table(rows.nodes(first), "nodes: what each radio does and spends")
        table(rows.hops(first), "hops")
        if first.works:
            table(rows.works(first), "what hosts compute")
        if first.positions:
            table(rows.positions(first), "signal: as it is, then 3 dB stronger and 3 dB weaker")
        table([rows.summary(first, first)], "in short")
    for said in rows.notes(answers):
        typer.echo(f"note: {said}")
