"""What `wattlock link` prints beside scenarios of 802.11: its list, linear radios, the tables, explanations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table
from wattlock.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wattlock.link.scenario import Named
    from wattlock.link.work import Measured
    from wattlock.study.cells import CatalogueRow

# Of a scenario of 802.11, its place in one of a linear radio.
OF_LINEAR = {"payload.data_B": "payload_B", "payload.payload_B": "payload_B", "radio": "sender"}


def table(found: Sequence[dict[str, Any]], title: str = "") -> None:
    """A table for eyes, without columns in which nothing stands."""
    import polars as pl

    frame = pl.DataFrame(found, infer_schema_length=None)
    kept = [name for name in frame.columns if frame[name].null_count() < frame.height]
    if title:
        typer.echo(f"\n{title}")
    print_table(frame.select(kept), Format.table)


def print_scenario(name: str) -> None:
    """A scenario's TOML, to start one's own from."""
    from wattlock.link.scenario import text

    typer.echo(text(name), nl=False)


def list_scenarios(form: Format) -> None:
    """Every scenario that comes along."""
    import polars as pl

    from wattlock.link import scenario

    rows = []
    for name in scenario.names():
        _, raw = scenario.read(name)
        keys = ("title", "topology", "phy", "protection", "note")
        rows.append({"scenario": name} | {key: raw.get(key) for key in keys})
    print_table(pl.DataFrame(rows), form)


def linear(
    files: list[str],
    changes: dict[str, Any],
    ciphers: dict[str, CatalogueRow],
    *,
    cards: Path | None,
    allow_assumed: bool,
    form: Format,
) -> None:
    """Answers of radios that are not 802.11.

    * `changes`: by path, as for scenarios of 802.11; `payload.cipher` and `payload.encoding` become octets.
    """
    import polars as pl

    from wattlock.link import linear as radios

    records = []
    for file in files:
        message = radios.message_of(_changed(file, changes, ciphers), f"link {file}")
        answer = radios.ask(message, allow_assumed=allow_assumed, own=cards)
        energies = [one._asdict() for one in answer.energies]
        records.append({"scenario": file, "frames": answer.ledger.frames, "ledger": answer.rows(), "nodes": energies})
        if form is Format.table:
            table(answer.rows(), f"{file}: {message.title}")
            hidden = {"by_line_uJ", "assumed"}
            table([{key: value for key, value in one.items() if key not in hidden} for one in energies], "nodes")
    if form is not Format.table:
        print_table(pl.DataFrame(records, infer_schema_length=None), form)


def _changed(file: str, changes: dict[str, Any], ciphers: dict[str, CatalogueRow]) -> dict[str, Any]:
    from typing import get_args

    from wattlock.link import scenario
    from wattlock.link.payload import Encoding, expanded
    from wattlock.study.problems import suggestion

    _, raw = scenario.read(file)
    # For the list alone.
    raw.pop("note", None)
    own = {OF_LINEAR.get(path, path): value for path, value in changes.items() if value is not None}
    cipher, encoding = own.pop("payload.cipher", None), own.pop("payload.encoding", None)
    if encoding is not None and encoding not in get_args(Encoding):
        hint = suggestion(str(encoding), get_args(Encoding), "there are")
        raise InputError(f'link {file}: encoding: no encoding "{encoding}"', hint=hint)
    for path, value in own.items():
        inside, *rest = path.split(".")
        if rest:
            raw.setdefault(inside, {})[rest[0]] = value
        else:
            raw[inside] = value
    if cipher or encoding:
        plain_B = raw.get("payload_B")
        if not isinstance(plain_B, int):
            raise InputError(f"link {file}: payload_B: is missing", hint="--payload-B says how long the message is")
        parts = expanded(plain_B, ciphers.get(cipher) if cipher else None, encoding or "raw")
        raw["cipher_B"] = parts.iv_B + parts.padding_B + parts.tag_B
        raw["encoding_B"] = parts.encoding_B
    return raw


def beside_ns3(asked: Sequence[Named], ciphers: dict[str, CatalogueRow], form: Format) -> None:
    """The simulator's answers and ns-3's, side by side, of each scenario's packets of the commonest size."""
    import polars as pl

    from wattlock.link import air, ns3
    from wattlock.link.ask import largest_question
    from wattlock.run import probe

    questions = [(named, largest_question(named, ciphers)) for named in asked]
    answers = air.ask(probe.find(), questions)
    rows = [one.row() for one in ns3.beside([question for _, question in questions], answers)]
    print_table(pl.DataFrame(rows, infer_schema_length=None), form)


def papers_tables(radio: str | None, *, cards: Path | None, allow_assumed: bool, form: Format) -> None:
    """The paper's tables 1 to 3 over every physical layer of their time."""
    import polars as pl

    from wattlock.link import durations, tables
    from wattlock.link.ask import ask
    from wattlock.run import probe

    cells, source = durations.printed(tables.PAPER)
    keys = tables.asked(radio)
    answers = ask([key[-1] for key in keys], probe.find(), {}, own=cards, allow_assumed=allow_assumed)
    found = tables.layers(keys, answers)
    said = tables.sentences(found, cells)
    if form is not Format.table:
        rows = [{"physical_layer": one.name, **row} for one in found for row in tables.table_rows(one, cells)]
        print_table(pl.DataFrame(rows, infer_schema_length=None), form)
        for sentence in said:
            typer.echo(sentence, err=True)
        return
    table(tables.ratio_rows(found, cells), f"ratios of durations ({source}), and which of them a layer gives")
    near = tables.nearest(found, cells)
    table(tables.table_rows(near, cells), f"the tables' plaintext by the nearest layer: {near.name}")
    typer.echo("")
    for sentence in said:
        typer.echo(sentence)


def explanation(name_or_path: str, measured: Measured | None, form: Format) -> None:
    """Hypotheses why ciphertext took longer, ranked.

    * `measured`: a run, for the ciphers' speeds; then the durations' ciphers are called as in the run.
    """
    import polars as pl

    from wattlock.link import durations
    from wattlock.link.explain import explain

    cells, source = durations.of(name_or_path)
    speeds = None if measured is None else _speeds(measured.estimates)
    told = explain(cells, source, speeds_B_per_s=speeds, speeds_from="the run")
    if form is not Format.table:
        print_table(pl.DataFrame(told.rows(), infer_schema_length=None), form)
        for sentence in told.sentences():
            typer.echo(sentence, err=True)
        return
    shown = ("hypothesis", "behind", "weight", "spread_percent", "worst_percent", "parameters", "bic", "share")
    table([{key: row[key] for key in shown} for row in told.rows()])
    typer.echo("")
    for sentence in told.sentences():
        typer.echo(sentence)


def _speeds(estimates: Any) -> dict[str, float]:
    """Octets a second of each cipher that a run encrypted with, in its largest payload."""
    import polars as pl

    rows = estimates.filter(pl.col("operation").is_in(["encrypt", "seal"]), pl.col("time_ns") > 0)
    largest = rows.sort("payload_B").group_by("cipher", maintain_order=True).last()
    return {row["cipher"]: row["payload_B"] / row["time_ns"] * 1e9 for row in largest.iter_rows(named=True)}


def packet_sizes(file: Path, figure: Path | None, form: Format) -> None:
    """How many packets of which size and kind a capture holds."""
    import polars as pl

    from wattlock.link.capture import census
    from wattlock.report.traffic import binned
    from wattlock.run import probe

    counted = census(probe.find(), file)
    if form is not Format.table:
        print_table(pl.DataFrame(counted.sizes, infer_schema_length=None), form)
    else:
        rows = binned(counted.sizes) if counted.sizes else pl.DataFrame()
        total = max(1, counted.summary["counted"])
        shown = rows.filter(pl.col("count") > 0) if rows.height else rows
        table(
            [
                {
                    "bytes": row["bin"],
                    "kind": row["kind"],
                    "packets": row["count"],
                    "percent": 100 * row["count"] / total,
                }
                for row in shown.iter_rows(named=True)
            ],
            f"packets of {file.name} by size",
        )
    lost = {key: counted.summary[key] for key in ("truncated", "damaged", "malformed", "unknown_link")}
    told = ", ".join(f"{count:,} {key.replace('_', ' ')}" for key, count in lost.items() if count)
    typer.echo(
        f"{counted.summary['counted']:,} of {counted.summary['packets']:,} packets counted"
        + (f"; {told}" if told else ""),
        err=True,
    )
    _say_if_cut(counted.summary)
    if figure is not None:
        from wattlock.report.discharge import write_figure
        from wattlock.report.traffic import packet_sizes as drawn

        write_figure(drawn(counted.sizes), figure)
        typer.echo(f"drew {figure}", err=True)


def _say_if_cut(summary: dict[str, Any]) -> None:
    if summary["cut"]:
        typer.echo("warning: the capture is cut short or corrupt: what follows is not counted", err=True)


def replayed(file: Path) -> dict[str, Any]:
    """The changes of a scenario whose traffic is a capture's."""
    from wattlock.link.capture import census, traffic
    from wattlock.run import probe

    counted = census(probe.find(), file)
    found = traffic(counted)
    _say_if_cut(counted.summary)
    if found.left_out:
        typer.echo(f"note: {found.left_out:,} packets carry no message and are left out", err=True)
    return {
        "payload.sizes": [list(pair) for pair in found.sizes],
        "payload.encrypt": "packet",
        "payload.payload_B": None,
    }
