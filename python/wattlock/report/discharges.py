"""The page's section of a battery that was discharged."""

from wattlock.report import chip
from wattlock.report.discharge import discharge as curve
from wattlock.report.discharge import spec
from wattlock.report.facts import DischargeFacts
from wattlock.report.figure_files import figure_name
from wattlock.report.formats import number
from wattlock.report.markup import cell, island, paragraphs, table, text

HEIGHT_PX = 360
LEVELS = "Level over calls"


def discharge_section(discharge: DischargeFacts) -> str:
    """What a call takes out of the battery, and the level over calls."""
    about = [
        f"Each case was repeated while {discharge.name} alone fed the machine, and its level was logged. The joules "
        "are measured and gross: all that the battery fed meanwhile, screen and radio as well, divided by the calls. "
        "The interval holds the gauge’s steps and its gain "
        f"(standard uncertainty {number(discharge.gain_percent, 2)} %)."
    ]
    head = ["Case", "#Calls", "#Hours", "#Level, %", "#Calls per %", "#Energy of a call, µJ", "#95 % interval", "State"]
    rows = ("".join(("<tr>", *_cells(row), "</tr>")) for row in discharge.rows.iter_rows(named=True))
    rests = f'<p class="rests"><span>Joules {chip.chip("measured")}</span></p>'
    return f"{paragraphs(about)}{rests}{_figure(discharge)}{table('What a call takes out of the battery', head, rows)}"


def _figure(discharge: DischargeFacts) -> str:
    if not discharge.is_drawn:
        return ""
    chart = curve(discharge.curves).properties(
        width="container", height=HEIGHT_PX, description="charge left in percent; over calls, one line a case"
    )
    rests = chip.chips(discharge.curves["evidence"])
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
