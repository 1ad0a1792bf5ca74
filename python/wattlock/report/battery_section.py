"""The page's section of a battery that was discharged."""

import polars as pl

from wattlock.analysis.discharges import curves
from wattlock.report import chip
from wattlock.report.discharge_figure import discharge as curve
from wattlock.report.discharge_figure import spec
from wattlock.report.figure_files import figure_name
from wattlock.report.formats import number
from wattlock.report.markup import cell, island, paragraphs, table, text
from wattlock.run.result import Result

HEIGHT_PX = 360
LEVELS = "Level over calls"


def level_curves(run: Result) -> pl.DataFrame:
    """The level over calls, as `discharge` draws it; no row where there is no more than one level."""
    several = len({case["provider"] for case in run.cases}) > 1
    names = {
        case["case"]: (f"{case['cipher']} {case['provider']}" if several else case["cipher"], case["payload_B"])
        for case in run.cases
    }
    drawn = curves(run.levels, names)
    return drawn if drawn["operations"].n_unique() > 1 else drawn.clear()


def discharge_section(run: Result) -> str:
    """What a call takes out of the battery, and the level over calls; nothing where none was discharged."""
    if run.battery is None or run.discharges is None:
        return ""
    about = [
        f"Each case was repeated while {run.battery['name']} alone fed the machine, and its level was logged. The "
        "joules are measured and gross: all that the battery fed meanwhile, screen and radio as well, divided by the "
        "calls. The interval holds the gauge’s steps and its gain "
        f"(standard uncertainty {number(100 * run.battery['gain_relative_uncertainty'], 2)} %)."
    ]
    head = ["Case", "#Calls", "#Hours", "#Level, %", "#Calls per %", "#Energy of a call, µJ", "#95 % interval", "State"]
    rows = ("".join(("<tr>", *_cells(row), "</tr>")) for row in run.discharges.iter_rows(named=True))
    rests = f'<p class="rests"><span>Joules {chip.chip("measured")}</span></p>'
    shown = table("What a call takes out of the battery", head, rows)
    return f"{paragraphs(about)}{rests}{_figure(level_curves(run))}{shown}"


def _figure(levels: pl.DataFrame) -> str:
    if levels.is_empty():
        return ""
    chart = curve(levels).properties(
        width="container", height=HEIGHT_PX, description="charge left in percent; over calls, one line a case"
    )
    rests = chip.chips(levels["evidence"])
    return (
        f'<div class="plates"><figure data-name="{figure_name(LEVELS)}"><figcaption><strong>{LEVELS} {rests}</strong> '
        '<span class="quiet">As the battery told it, in its own steps.</span></figcaption>'
        f'<div class="chart" style="min-height:{HEIGHT_PX + 60}px"></div>{island("spec", spec(chart))}'
        "</figure></div>"
    )


def _cells(row: dict[str, object]) -> list[str]:
    def formatted(name: str) -> str:
        value = row[name]
        return number(value, 3) if isinstance(value, float) else ""

    levels = f"{row['from_percent']:.0f} to {row['to_percent']:.0f}" if row["from_percent"] is not None else ""
    bounds = f"{formatted('energy_low_uJ')} to {formatted('energy_high_uJ')}" if row["energy_uJ"] is not None else ""
    state = f"{row['state']}: {row['reason']}" if row["reason"] else str(row["state"])
    name = f"{row['cipher']} {row['provider']} {row['operation']}, {row['payload_B']:,} B"
    return [
        f'<th scope="row">{text(name)}</th>',
        cell(f"{row['calls']:,}", True),
        cell(formatted("hours"), True),
        cell(levels, True),
        cell(formatted("calls_per_percent"), True),
        cell(formatted("energy_uJ"), True),
        cell(bounds, True),
        cell(state, False),
    ]
