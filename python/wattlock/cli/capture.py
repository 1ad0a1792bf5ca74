"""`wattlock capture`: the packets of a capture by size and kind."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from wattlock.cli.echo import echo
from wattlock.cli.table import Format, show, show_filled


def capture(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A pcap or pcapng, gzipped or not.")],
    figure: Annotated[
        Path | None, typer.Option("--figure", metavar="FILE", help="Draw the sizes: .html, .svg or .png.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """Say how many packets of which size and kind a capture holds, and what of it could not be counted.

    `wattlock link SCENARIO --capture FILE` sends its messages.

    Example: wattlock capture hour.pcap --figure sizes.svg
    """
    import polars as pl

    from wattlock.link.capture_file import census, refuse_nothing
    from wattlock.targets import toolbox

    counted = census(toolbox.find(), file)
    refuse_nothing(counted, file)
    if form is Format.table:
        show_filled(_shares(counted.sizes, counted.summary["counted"]), f"packets of {file.name} by size")
    else:
        show(pl.DataFrame(counted.sizes, infer_schema_length=None), form)
    lost = {key: counted.summary[key] for key in ("truncated", "damaged", "malformed", "unknown_link")}
    described = ", ".join(f"{count:,} {key.replace('_', ' ')}" for key, count in lost.items() if count)
    echo(
        f"{counted.summary['counted']:,} of {counted.summary['packets']:,} packets counted"
        + (f"; {described}" if described else ""),
        err=True,
    )
    _say_if_cut(counted.summary)
    if figure is not None:
        from wattlock.report.charts import packet_sizes, write_figure

        write_figure(packet_sizes(counted.sizes), figure)
        echo(f"drew {figure}", err=True)


def _shares(sizes: list[dict[str, Any]], total: int) -> list[dict[str, Any]]:
    """The sizes in bins, with each bin's share of all packets."""
    import polars as pl

    from wattlock.link.capture_file import binned

    return [
        {"bytes": row["bin"], "kind": row["kind"], "packets": row["count"], "percent": 100 * row["count"] / total}
        for row in binned(sizes).filter(pl.col("count") > 0).iter_rows(named=True)
    ]


def replayed(file: Path) -> dict[str, Any]:
    """The changes of a scenario whose traffic is a capture's."""
    from wattlock.link.capture_file import census, refuse_nothing, traffic
    from wattlock.targets import toolbox

    counted = census(toolbox.find(), file)
    refuse_nothing(counted, file)
    found = traffic(counted)
    _say_if_cut(counted.summary)
    if found.left_out:
        echo(f"note: {found.left_out:,} packets carry no message and are left out", err=True)
    return {
        "payload.sizes": [list(pair) for pair in found.sizes],
        "payload.encrypt": "packet",
        "payload.payload_B": None,
    }


def _say_if_cut(summary: dict[str, Any]) -> None:
    """A warning where a capture does not go on to its end."""
    if summary["cut"]:
        echo("warning: the capture is cut short or corrupt: what follows is not counted", err=True)
