"""What `wattlock link` prints beside scenarios of 802.11: its list, the tables, a capture's messages."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from wattlock.cli.echo import echo
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wattlock.definitions import Form
    from wattlock.link.wifi.work import Measured


class Radio(StrEnum):
    """By what is sent."""

    wifi = "wifi"
    ble = "ble"
    ieee802154 = "802154"
    lorawan = "lorawan"


@dataclass(frozen=True)
class Files:
    """What is printed of scenarios' files."""

    show: Annotated[
        str | None, typer.Option("--show", metavar="SCENARIO", help="Print its TOML, to start your own from.")
    ] = None
    template: Annotated[Radio | None, typer.Option("--template", help="Print an annotated scenario to fill.")] = None
    schema: Annotated[
        Radio | None, typer.Option("--schema", help="Print the JSON Schema of such a scenario, for editors.")
    ] = None


class Valuing(NamedTuple):
    """What gives joules: a run and the card that values it, a folder of cards, and whether assumed numbers may."""

    run: str | None
    device: str | None
    cards: Path | None
    allow_assumed: bool

    def measured(self) -> Measured | None:
        """The run's cases, in joules as far as they can be; None without a run."""
        from wattlock.link.wifi.work import measured
        from wattlock.run.result import open_one_kind

        if self.run is None:
            return None
        result = open_one_kind(self.run)
        for line in result.explained:
            echo(f"warning: {line}", err=True)
        return measured(result, self.device, own=self.cards, allow_assumed=self.allow_assumed)


def table(found: Sequence[dict[str, Any]], title: str = "") -> None:
    """A table for eyes, without columns in which nothing stands."""
    import polars as pl

    frame = pl.DataFrame(found, infer_schema_length=None)
    kept = [name for name in frame.columns if frame[name].null_count() < frame.height]
    if title:
        echo(f"\n{title}")
    print_table(frame.select(kept), Format.table)


def print_file(files: Files) -> None:
    """A scenario's TOML to start one's own from, or a template, or a schema."""
    from wattlock.cli import definition
    from wattlock.link.scenario import SCENARIOS

    if files.template is not None:
        echo(_form(files.template).template(), nl=False)
    elif files.schema is not None:
        echo(_form(files.schema).schema_text(), nl=False)
    else:
        definition.print_file(SCENARIOS, files.show or "")


def _form(radio: Radio) -> Form:
    from wattlock.link import scenario
    from wattlock.link.lowpower import linear

    return scenario.FORM if radio is Radio.wifi else linear.FORMS[radio]


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


def papers_tables(radio: str | None, by: Valuing, form: Format) -> None:
    """The paper's tables 1 to 3 over every physical layer of their time."""
    import polars as pl

    from wattlock.link import durations
    from wattlock.link.wifi import tables
    from wattlock.link.wifi.evaluate import evaluate
    from wattlock.targets import toolbox

    cells, source = durations.printed(tables.PAPER)
    keys = tables.requested(radio)
    answers = evaluate([key[-1] for key in keys], toolbox.find(), {}, own=by.cards, allow_assumed=by.allow_assumed)
    found = tables.layers(keys, answers)
    sentences = tables.sentences(found, cells)
    if form is not Format.table:
        rows = [{"physical_layer": one.name, **row} for one in found for row in tables.table_rows(one, cells)]
        print_table(pl.DataFrame(rows, infer_schema_length=None), form)
        for sentence in sentences:
            echo(sentence, err=True)
        return
    table(tables.ratio_rows(found, cells), f"ratios of durations ({source}), and which of them a layer gives")
    near = tables.nearest(found, cells)
    table(tables.table_rows(near, cells), f"the tables' plaintext by the nearest layer: {near.name}")
    echo("")
    for sentence in sentences:
        echo(sentence)


def say_if_cut(summary: dict[str, Any]) -> None:
    """A warning where a capture does not go on to its end."""
    if summary["cut"]:
        echo("warning: the capture is cut short or corrupt: what follows is not counted", err=True)


def replayed(file: Path) -> dict[str, Any]:
    """The changes of a scenario whose traffic is a capture's."""
    from wattlock.link.capture import census, refuse_nothing, traffic
    from wattlock.targets import toolbox

    counted = census(toolbox.find(), file)
    refuse_nothing(counted, file)
    found = traffic(counted)
    say_if_cut(counted.summary)
    if found.left_out:
        echo(f"note: {found.left_out:,} packets carry no message and are left out", err=True)
    return {
        "payload.sizes": [list(pair) for pair in found.sizes],
        "payload.encrypt": "packet",
        "payload.payload_B": None,
    }
