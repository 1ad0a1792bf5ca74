"""`wattlock link`: what sending the ciphertext costs, in seconds and joules, line by line."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wattlock.cli import link_designs, link_linear, link_pages, link_wifi, option_rules
from wattlock.cli.link_pages import Files, Valuing
from wattlock.cli.option_rules import given
from wattlock.cli.options import AllowAssumed, Cards
from wattlock.cli.table import Format
from wattlock.definitions.changes import change
from wattlock.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable


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
class Compared:
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
    files: Files = Files(),
    compared: Compared = Compared(),
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
    wattlock link --tables; wattlock link --compare tracker; wattlock link bss-ccmp --capture hour.pcap;
    wattlock link --template wifi > mine.toml; wattlock link --schema ble > ble.schema.json
    """
    from wattlock.link.scenario import linear_ones

    options = given(context)
    option_rules.refuse_link(options, scenario or [])
    by = Valuing(run, device, cards, allow_assumed)
    pages: list[tuple[bool, Callable[[], None]]] = [
        (listing, lambda: link_pages.list_scenarios(form)),
        (files != Files(), lambda: link_pages.print_file(files)),
        (compared.tables, lambda: link_pages.papers_tables(several.radio, by, form)),
        (compared.compare is not None, lambda: link_designs.compare(compared.compare or "", sent.payload_B, by, form)),
    ]
    page = next((page for wanted, page in pages if wanted), None)
    if page:
        page()
        return
    if not scenario:
        raise _unnamed(capture)
    crossed, fixed = _crossed(asdict(several)), _single(sent, signal, simulated, device)
    linear = linear_ones(scenario)
    if linear:
        link_linear.refuse_foreign(options, linear[0])
    if capture is not None:
        fixed |= link_pages.replayed(capture)
    taken = {key: OPTIONS.get(key, f"--{key.replace('_', '-')}") for key in (*fixed, *crossed)}
    fixed |= _changes(changes or [], taken | (link_linear.taken(crossed, fixed) if linear else {}))
    if fixed.get("engine") == option_rules.NS3:
        option_rules.refuse_joules(options)
    if linear:
        link_linear.linear(scenario, crossed, fixed, by, form)
    else:
        link_wifi.wifi(scenario, crossed, fixed, by, form)


def _unnamed(capture: Path | None) -> InputError:
    hint = "`wattlock link --list` lists them: wattlock link adhoc-open"
    if capture is not None:
        hint = f"one that sends its messages, as bss-ccmp; `wattlock capture {capture}` prints its packets"
    return InputError("name a scenario", hint=hint)


def _single(sent: Sent, signal: Signal, simulated: Simulated, device: str | None) -> dict[str, Any]:
    """What options say that take one value, by the scenario's keys."""
    values = {
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
    return {key: value for key, value in values.items() if value is not None}


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
