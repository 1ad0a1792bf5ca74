"""The page of a case through the runs of a device: what it costs in each, and where that changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from wattlock.analysis.change import LEAST_RUNS, Change
from wattlock.lab.layout import also, choice, counted, moment, page, section
from wattlock.lab.over_time import MOST_RUNS, Series
from wattlock.lab.tables import Run
from wattlock.report import chip, formats
from wattlock.report.markup import cell, folded, paragraphs, table, text
from wattlock.report.over_time import Point, picture
from wattlock.report.ratio_strips import ratio_words

HERE = "/change"
UNITS = {"cycles": "cycles for one call", "time_ns": "ns for one call"}
HOW = (
    "Runs of one device and one study are taken in their order. If nothing changed, that order says nothing: a change "
    "is reported where its gain is among the largest 5 % of 2,000 orders, so that a series without a change is given "
    "one in at most one of 20; orders in which each run’s error stays in its place are drawn too, since errors that "
    "change are no change of the cost. Place and size have 95 % intervals from the posterior over both, with each "
    "run’s own error beside the spread between runs. There is no threshold on the size.",
    f"It takes {LEAST_RUNS} runs to tell of a change, and two on either side of it. Runs that drift, as with the "
    "room’s temperature, are not told from runs that step.",
)


def over_time(known: Mapping[str, Sequence[Run]], shown: Series | None) -> str:
    """The page; without a series it says what it takes."""
    if shown is None:
        body = '<p>A series takes valid runs of one study on one device. <a href="/">The first page</a> has how.</p>'
        return page("Over time", "No series is here yet", body, here=HERE)
    wanted = f"{shown.device}/{shown.study}"
    named = {name: f"{runs[0].study}, {runs[0].device_name} ({len(runs)})" for name, runs in known.items()}
    fields = choice("series", "Study and device", named, wanted, none="")
    fields += choice("case", "Case", shown.cases, shown.case, none="")
    form = f'<form class="filter" action="{HERE}">{fields}<button>Show</button></form>'
    data = also(HERE, urlencode({"series": wanted, "case": shown.case}))
    body = form + section("series", text(shown.cases[shown.case]), _figure(shown) + _told(shown))
    body += _changes(shown) + section("runs", "The runs", _runs(shown) + data)
    body += section("method", "How a change is told", paragraphs(HOW))
    line = f"{counted(shown.points.height, 'run')} of {shown.study} on {shown.device_name}"
    return page("Over time", line, body, here=HERE)


def _told(shown: Series) -> str:
    runs = shown.points.height
    if shown.changes:
        words = f"{counted(len(shown.changes), 'change')} in {runs} runs."
    elif runs < LEAST_RUNS:
        words = f"{counted(runs, 'run')}: it takes {LEAST_RUNS} to tell of a change."
    else:
        words = f"No change was found in {runs} runs."
    more = f" Of more runs the latest {MOST_RUNS} are shown." if runs == MOST_RUNS else ""
    return f"<p>{text(words + more)}</p>"


def _figure(shown: Series) -> str:
    rows = list(shown.points.iter_rows(named=True))
    points = [Point(_day(row["created"]), *(_end(row, name) for name in ("cost", "low", "high"))) for row in rows]
    title = UNITS[rows[0]["quantity"]].capitalize()
    drawn = [picture(points, shown.changes, title, width_px) for width_px in (720, 360)]
    caption = (
        f"<figcaption><strong>What it costs in each run {chip.chip(shown.evidence)}</strong> "
        '<span class="quiet">A dot is a run, the bar through it its 95 % interval; a line is the mean between changes, '
        "a dashed band where a change may lie. The axis does not begin at 0.</span></figcaption>"
    )
    return f'<figure>{caption}<div class="wide">{drawn[0]}</div><div class="narrow">{drawn[1]}</div></figure>'


def _end(row: Mapping[str, Any], name: str) -> float:
    return float(row["cost"] if row[name] is None else row[name])


def _day(iso: str) -> str:
    when = datetime.fromisoformat(iso)
    return f"{when.day} {when:%b %Y}"


def _changes(shown: Series) -> str:
    if not shown.changes:
        return ""
    rows = "".join(_change(shown, change) for change in shown.changes)
    head = ["First run after it", "Where it may lie, 95 %", "#Cost, times", "#95 %", "#p", "Changed there too"]
    drawn = table("The changes", head, [f"<tbody>{rows}</tbody>"])
    note = (
        "<p>What changed at the same place may be its cause. Two builds of the probe from one source were seen to "
        "differ by up to 16 % in a short case.</p>"
    )
    return section("changes", "Changes", drawn + note)


def _change(shown: Series, change: Change) -> str:
    runs, hashes = shown.points["run"], shown.points["hash"]
    between = "from this run on" if change.first == change.last else f"{runs[change.first]} to {runs[change.last]}"
    low, high = (ratio_words(end) for end in (change.low, change.high))
    return (
        f'<tr><th scope="row"><a href="/runs/{hashes[change.place]}">{text(runs[change.place])}</a></th>'
        f'<td class="reason">{text(between)}</td>{cell(ratio_words(change.ratio), True)}'
        f"{cell(f'{low} to {high}', True)}{cell(f'{change.p_value:.3g}', True)}"
        f'<td class="reason">{text(", ".join(shown.beside(change)) or "nothing that is known")}</td></tr>'
    )


def _runs(shown: Series) -> str:
    rows = "".join(
        f'<tr><th scope="row"><a href="/runs/{row["hash"]}">{text(row["run"])}</a></th>{cell(moment(row["created"]))}'
        f"{cell(formats.number(row['cost'], 4), True)}"
        f"{cell(formats.interval(row['cost'], row['low'], row['high']), True)}"
        f"{cell(row['version'] or formats.MISSING)}{cell(row['path'] or formats.MISSING)}"
        f"<td><code>{text(row['probe_sha256'][:8])}</code></td></tr>"
        for row in reversed(list(shown.points.iter_rows(named=True)))
    )
    unit = UNITS[shown.points["quantity"][0]].capitalize()
    head = ["Run", "Begun", f"#{unit}", "#95 %", "Version", "Path", "Probe"]
    drawn = table("The runs, the latest first", head, [f"<tbody>{rows}</tbody>"], kind="sortable")
    return folded(counted(shown.points.height, "run"), drawn, is_open=shown.points.height <= LEAST_RUNS)
