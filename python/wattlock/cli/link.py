"""`wattlock link`: what sending the ciphertext costs, in seconds and joules, line by line."""

from __future__ import annotations

import tomllib
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wattlock.cli import link_pages
from wattlock.cli.link_pages import table
from wattlock.cli.options import AllowAssumed, Cards
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table
from wattlock.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from wattlock.link.ask import Answer
    from wattlock.link.scenario import Named
    from wattlock.link.work import Measured
    from wattlock.study.cells import CatalogueRow

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
LARGEST_CROSSING = 1_000
NS3 = "ns3"


def link(
    scenario: Annotated[
        list[str] | None, typer.Argument(metavar="SCENARIO...", help="Names (`--list`) or TOML files.")
    ] = None,
    *,
    listing: Annotated[bool, typer.Option("--list", help="List the scenarios that come with wattlock.")] = False,
    show: Annotated[
        str | None, typer.Option("--show", metavar="SCENARIO", help="Print its TOML, to start your own from.")
    ] = None,
    tables: Annotated[
        bool, typer.Option("--tables", help="Hold the air against the transfer times of the paper's tables 1 to 3.")
    ] = False,
    explain: Annotated[
        str | None,
        typer.Option(
            "--explain",
            metavar="NAME|CSV",
            help="Rank hypotheses why ciphertext took longer: elminaam-wlan, or data,cipher,condition,duration_s.",
        ),
    ] = None,
    capture: Annotated[
        Path | None,
        typer.Option("--capture", metavar="FILE", help="Its packet sizes; with a scenario, its messages as traffic."),
    ] = None,
    figure: Annotated[
        Path | None, typer.Option("--figure", metavar="FILE", help="Draw the capture's sizes: .html, .svg or .png.")
    ] = None,
    phy: Annotated[str | None, typer.Option("--phy", help="b, g, a, n, ac or ax; also several: b,g.")] = None,
    topology: Annotated[str | None, typer.Option("--topology", help="adhoc, to-ap or bss.")] = None,
    protection: Annotated[
        str | None, typer.Option("--protection", help="none, wep, tkip, ccmp, ccmp256, gcmp, gcmp256.")
    ] = None,
    transport: Annotated[str | None, typer.Option("--transport", help="udp or tcp.")] = None,
    rate_Mb_s: Annotated[str | None, typer.Option("--rate-Mb-s", help="Of data frames of b, g and a.")] = None,
    cipher: Annotated[
        str | None, typer.Option("--cipher", metavar="ID", help="What encrypts the payload; `none` for plaintext.")
    ] = None,
    encoding: Annotated[str | None, typer.Option("--encoding", help="raw, base64, hex or base64x2.")] = None,
    radio: Annotated[str | None, typer.Option("--radio", metavar="CARD", help="Radio card of all nodes.")] = None,
    data_B: Annotated[int | None, typer.Option("--data-B", min=1, help="Plaintext in all, octets.")] = None,
    file: Annotated[Path | None, typer.Option("--file", help="A file whose size is what is sent.")] = None,
    payload_B: Annotated[int | None, typer.Option("--payload-B", min=1, help="Octets of a packet's payload.")] = None,
    distance_m: Annotated[float | None, typer.Option("--distance-m", help="Between the nodes.")] = None,
    walls_dB: Annotated[float | None, typer.Option("--walls-dB", help="Loss of the walls between.")] = None,
    rssi_dBm: Annotated[
        float | None, typer.Option("--rssi-dBm", help="Received power, in place of a distance.")
    ] = None,
    engine: Annotated[str | None, typer.Option("--engine", help="dcf, closed-form, bianchi; ns3 beside dcf.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Of all that is drawn.")] = None,
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

    One scenario gives its ledger, nodes and hops; several, or values with commas between, stand side by side.
    --set may be given several times.

    Examples: wattlock link adhoc-open --radio intel-5300;
    wattlock link bss-open --protection none,tkip,ccmp --phy b,g;
    wattlock link adhoc-open --cipher aes128-cbc --encoding raw,base64 --data-B 1000000;
    wattlock link adhoc-poor; wattlock link ble-reading --cipher aes128-ccm8;
    wattlock link --tables; wattlock link --explain elminaam-wlan;
    wattlock link --capture hour.pcap --figure sizes.svg; wattlock link bss-ccmp --capture hour.pcap
    """
    if figure is not None and (capture is None or scenario):
        raise InputError("--figure draws a capture's packets", hint="wattlock link --capture FILE --figure sizes.svg")
    if listing:
        return link_pages.list_scenarios(form)
    if show is not None:
        return link_pages.print_scenario(show)
    if tables:
        return link_pages.papers_tables(radio, cards=cards, allow_assumed=allow_assumed, form=form)
    if explain is not None:
        measured = _measured(run, device, cards, allow_assumed=allow_assumed) if run else None
        return link_pages.explanation(explain, measured, form)
    if capture is not None and not scenario:
        return link_pages.packet_sizes(capture, figure, form)
    if not scenario:
        raise InputError("name a scenario", hint="`wattlock link --list` lists them: wattlock link adhoc-open")
    given = {
        "phy": phy,
        "topology": topology,
        "protection": protection,
        "transport": transport,
        "rate_Mb_s": rate_Mb_s,
        "cipher": cipher,
        "encoding": encoding,
        "radio": radio,
    }
    single = {
        "payload.data_B": data_B,
        "payload.file": None if file is None else str(file),
        "payload.payload_B": payload_B,
        "signal.distance_m": distance_m,
        "signal.walls_dB": walls_dB,
        "signal.rssi_dBm": rssi_dBm,
        "engine": engine,
        "seed": seed,
        "cost.sender": device,
        "cost.receiver": device,
    }
    fixed = {key: value for key, value in single.items() if value is not None}
    if capture is not None:
        fixed = _replayed(fixed, capture)
    fixed |= _sources(fixed) | dict(_change(text) for text in changes or [])
    return _carry_out(
        scenario,
        given,
        fixed,
        lambda named: _answers(named, run, device, cards, allow_assumed=allow_assumed),
        cards=cards,
        allow_assumed=allow_assumed,
        form=form,
    )


def _carry_out(
    scenario: list[str],
    given: dict[str, str | None],
    fixed: dict[str, Any],
    answers: Callable[[list[Named]], list[Answer]],
    *,
    cards: Path | None,
    allow_assumed: bool,
    form: Format,
) -> None:
    """Asks the radios that are not 802.11, ns-3 beside the air, or the air alone."""
    linear = _linear(scenario)
    if linear:
        wanted = {SEVERAL[option]: text for option, text in given.items() if text is not None}
        cipher = given["cipher"]
        ciphers = _ciphers([cipher] if cipher and cipher != "none" else [])
        link_pages.linear(linear, wanted | fixed, ciphers, cards=cards, allow_assumed=allow_assumed, form=form)
        return
    beside_ns3 = fixed.get("engine") == NS3
    asked = _scenarios(scenario, given, fixed | ({"engine": "dcf"} if beside_ns3 else {}))
    if beside_ns3:
        link_pages.beside_ns3(asked, _ciphers(_ids(asked)), form)
    else:
        _print(answers(asked), form)


def _replayed(fixed: dict[str, Any], capture: Path) -> dict[str, Any]:
    """The changes that put a capture's messages in place of a scenario's data."""
    for key in ("payload.data_B", "payload.file", "payload.payload_B"):
        if key in fixed:
            raise InputError(f"a capture has its own sizes, and {key} is given too", hint="leave one of them out")
    return fixed | link_pages.replayed(capture)


def _linear(files: list[str]) -> list[str]:
    """The scenarios of radios that are not 802.11: all of them, or none."""
    from wattlock.link.scenario import is_linear

    found = [file for file in files if is_linear(file)]
    if found and len(found) < len(files):
        raise InputError(f"{found[0]} is of another kind of radio than the others", hint="ask for them one by one")
    return found


def _ids(asked: list[Named]) -> list[str]:
    return sorted({one.scenario.payload.cipher for one in asked if one.scenario.payload.cipher})


def _ciphers(ids: list[str]) -> dict[str, CatalogueRow]:
    from wattlock.run import probe

    rows, nearest = probe.catalogue(probe.find(), ids) if ids else ({}, {})
    for name in ids:
        if name not in rows:
            close = f'did you mean "{nearest[name]}"? ' if nearest.get(name) else ""
            raise InputError(f'no cipher "{name}"', hint=f"{close}`wattlock ciphers` lists all of them")
    return {name: of[0] for name, of in rows.items()}


def _sources(fixed: dict[str, Any]) -> dict[str, Any]:
    """What goes when another takes its place: data comes from one source, and a signal from one of two."""
    gone: list[str] = []
    sources = ("payload.data_B", "payload.file", "payload.sizes")
    if any(key in fixed for key in sources):
        gone += [key for key in sources if key not in fixed]
    if "signal.rssi_dBm" in fixed:
        gone += [key for key in ("signal.distance_m", "signal.walls_dB") if key not in fixed]
    elif "signal.distance_m" in fixed:
        gone.append("signal.rssi_dBm")
    return dict.fromkeys(gone)


def _change(text: str) -> tuple[str, Any]:
    key, equals, value = (part.strip() for part in text.partition("="))
    if not (equals and key):
        raise InputError(f'--set "{text}" is not KEY=VALUE', hint="for example host.sender_us=300")
    try:
        return key, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key, value


def _scenarios(files: list[str], given: dict[str, str | None], fixed: dict[str, Any]) -> list[Named]:
    """Every scenario under every combination of the values asked for."""
    from wattlock.link import scenario

    crossed: dict[str, list[Any]] = {}
    for option, text in given.items():
        if text is not None:
            crossed[SEVERAL[option]] = [_value(option, one.strip()) for one in text.split(",")]
    found = []
    for file in files:
        name, raw = scenario.read(file)
        for values in product(*crossed.values()):
            changes = {**dict(zip(crossed, values, strict=True)), **fixed}
            # The rates of one PHY are not those of another.
            if "phy" in changes and changes["phy"] != raw.get("phy"):
                changes = {**dict.fromkeys(_OF_PHY), **changes}
            found.append(scenario.checked(name, raw, changes))
            if len(found) > LARGEST_CROSSING:
                raise InputError(f"more than {LARGEST_CROSSING} scenarios", hint="ask for fewer values at once")
    return found


_OF_PHY = ("rate_Mb_s", "mcs", "band", "preamble", "basic_rates_Mb_s")


def _value(option: str, text: str) -> Any:
    if option == "rate_Mb_s":
        try:
            return float(text)
        except ValueError:
            raise InputError(f"--rate-Mb-s {text}: no number", hint="for example 11 or 5.5,11") from None
    return None if option == "cipher" and text == "none" else text


def _answers(
    asked: list[Named], run: str | None, device: str | None, cards: Path | None, *, allow_assumed: bool
) -> list[Answer]:
    from wattlock.link.ask import ask
    from wattlock.run import probe

    program = probe.find()
    ciphers = _ciphers(_ids(asked))
    measured = _measured(run, device, cards, allow_assumed=allow_assumed) if run else None
    return ask(asked, program, ciphers, measured=measured, own=cards, allow_assumed=allow_assumed)


def _measured(run: str, device: str | None, cards: Path | None, *, allow_assumed: bool) -> Measured:
    from wattlock.cli.facts import asked, valued
    from wattlock.link.work import Measured
    from wattlock.run.result import read
    from wattlock.store import RunFolder, find

    result = read(RunFolder.open(find(run)))
    for reason in result.reasons:
        typer.echo(f"warning: the run is invalid: {reason}", err=True)
    estimates = valued(result, device, allow_assumed=allow_assumed, own=cards)
    valuing = asked(result, device, cards)
    clock = valuing.card.frequency if valuing else None
    counts = bool(valuing and valuing.card.counts_cycles)
    return Measured(estimates, result.isa, counts, clock.in_SI if clock else None)


def _print(answers: list[Answer], form: Format) -> None:
    import polars as pl

    from wattlock.link import rows

    first = answers[0]
    if form is not Format.table:
        records = [rows.record(one, first) for one in answers]
        print_table(pl.DataFrame(records, infer_schema_length=None), form)
        return
    if len(answers) > 1:
        table([rows.summary(one, first) for one in answers])
        if any(one.positions for one in answers):
            every = ({"scenario": one.named.label, **row} for one in answers for row in rows.positions(one))
            table(list(every), "signal: as it is, then 3 dB stronger and 3 dB weaker")
    else:
        table(rows.ledger(first), first.named.scenario.title)
        table(rows.nodes(first), "nodes: what each radio does and spends")
        table(rows.hops(first), "hops")
        if first.works:
            table(rows.works(first), "what hosts compute")
        if first.positions:
            table(rows.positions(first), "signal: as it is, then 3 dB stronger and 3 dB weaker")
        table([rows.summary(first, first)], "in short")
    for said in dict.fromkeys(text for one in answers for text in rows.sentences(one)):
        typer.echo(f"note: {said}", err=True)
