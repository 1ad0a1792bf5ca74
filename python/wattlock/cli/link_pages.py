"""What `wattlock link` prints beside scenarios of 802.11: its list, captures, the tables, explanations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wattlock.link.scenario import Named
    from wattlock.link.work import Measured
    from wattlock.study.cells import CatalogueRow


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


def beside_ns3(asked: Sequence[Named], ciphers: dict[str, CatalogueRow], form: Format) -> None:
    """The simulator's answers and ns-3's, side by side, of each scenario's packets of the commonest size."""
    import polars as pl

    from wattlock.link import air, ns3
    from wattlock.link.ask import largest_question
    from wattlock.targets import toolbox

    questions = [(named, largest_question(named, ciphers)) for named in asked]
    answers = air.ask(toolbox.find(), questions)
    rows = [one.row() for one in ns3.beside([question for _, question in questions], answers)]
    print_table(pl.DataFrame(rows, infer_schema_length=None), form)


def papers_tables(radio: str | None, *, cards: Path | None, allow_assumed: bool, form: Format) -> None:
    """The paper's tables 1 to 3 over every physical layer of their time."""
    import polars as pl

    from wattlock.link import durations, tables
    from wattlock.link.ask import ask
    from wattlock.targets import toolbox

    cells, source = durations.printed(tables.PAPER)
    keys = tables.asked(radio)
    answers = ask([key[-1] for key in keys], toolbox.find(), {}, own=cards, allow_assumed=allow_assumed)
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

    from wattlock.link.capture import census, refuse_nothing
    from wattlock.report.traffic import binned
    from wattlock.targets import toolbox

    counted = census(toolbox.find(), file)
    refuse_nothing(counted, file)
    if form is not Format.table:
        print_table(pl.DataFrame(counted.sizes, infer_schema_length=None), form)
    else:
        total = counted.summary["counted"]
        shown = binned(counted.sizes).filter(pl.col("count") > 0)
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
    from wattlock.link.capture import census, refuse_nothing, traffic
    from wattlock.targets import toolbox

    counted = census(toolbox.find(), file)
    refuse_nothing(counted, file)
    found = traffic(counted)
    _say_if_cut(counted.summary)
    if found.left_out:
        typer.echo(f"note: {found.left_out:,} packets carry no message and are left out", err=True)
    return {
        "payload.sizes": [list(pair) for pair in found.sizes],
        "payload.encrypt": "packet",
        "payload.payload_B": None,
    }
