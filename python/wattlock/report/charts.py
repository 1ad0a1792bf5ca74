"""The one engine of charts: Vega-Lite by Altair, made SVG by vl-convert for pages and for files; no page runs it.

Below it what all charts share, logarithmic axes and labels that don't cover each other, and the charts of one call:
a battery's level, days of an answer, packets of a capture.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import polars as pl
from altair.utils import schemapi

from wattlock.errors import InputError
from wattlock.link.capture_file import binned
from wattlock.report.drawings import LEADING, SMALL, lines_of, standalone
from wattlock.report.evidence import NothingToDraw, one_evidence
from wattlock.report.formats import capital
from wattlock.report.html import CATEGORY, FONT, LIGHT, colour, opening, text
from wattlock.report.written import csv_text
from wattlock.store.disk import cache_folder, write_out, write_whole
from wattlock.text import harmless

# To hold each part of a chart to Vega-Lite's schema as it is made takes a quarter of a report's time. Tests do it.
schemapi.disable_debug_mode()

Bounds = tuple[float, float]
SUM_B = 64
"""Letters of the sum that a kept chart begins with."""
MOST_KEPT = 1000
"""Charts in the cache, some 20 kB each; above it the older half leaves."""
CHART_PX = 420
"""As wide a chart is drawn on a page: a phone shrinks it a little, a screen widens it a little."""
PADDING_PX = {"left": 12, "right": 8, "top": 4, "bottom": 4}
"""Words are measured by one font and drawn by the reader's, which may be wider."""


def levels_of(rows: pl.DataFrame, column: str) -> list[str]:
    """The levels of a factor in the order of the frame."""
    return [str(level) for level in rows[column].unique(maintain_order=True)]


def bounds_of(rows: pl.DataFrame) -> Bounds:
    """The ends of a logarithmic axis that holds every `value` and every interval that has an end, with some air."""
    rows = rows.select(pl.when(pl.col(name).is_finite()).then(name) for name in ("value", "low", "high"))
    low = min(end for end in (rows["low"].min(), rows["value"].min()) if isinstance(end, float) and end > 0)
    high = max(end for end in (rows["high"].max(), rows["value"].max()) if isinstance(end, float))
    return roomy((low, high))


def roomy(ends: Bounds) -> Bounds:
    """The ends of a logarithmic axis with some air beyond these."""
    low, high = ends
    air = max(1.25, (high / low) ** 0.05)
    return low / air, high * air


def log_scale(bounds: Bounds) -> alt.Scale:
    """A logarithmic scale with exactly these ends."""
    return alt.Scale(type="log", domain=list(bounds), nice=False)


def ticks(bounds: Bounds) -> alt.Axis:
    """An axis with a tick at 1, 2 and 5 of each decade; at the powers of ten alone where there are many decades."""
    low, high = bounds
    few = (1, 2, 5) if high / low > 12 else (1, 2, 3, 5)
    steps = (1,) if high / low > 400 else few if high / low > 4 else (1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = [float(f"{step * 10.0**decade:.2g}") for decade in decades for step in steps]
    return alt.Axis(values=[value for value in values if low <= value <= high], format=",~r")


def spread_labels(values: list[float], bounds: Bounds, height_px: int, label_px: int) -> list[float]:
    """Heights in px from the top for labels at these values of a logarithmic axis, at least `label_px` apart.

    Labels keep the order of their values; each moves as little as the ones around it allow.
    """
    low, high = (math.log(end) for end in bounds)
    wanted = [height_px * (high - math.log(value)) / (high - low) for value in values]
    order = sorted(range(len(values)), key=values.__getitem__, reverse=True)
    places: list[list[int]] = []
    for label in order:
        places.append([label])
        while (
            len(places) > 1
            and _middle(places[-1], wanted) - _middle(places[-2], wanted)
            < label_px * (len(places[-1]) + len(places[-2])) / 2
        ):
            places[-2:] = [places[-2] + places[-1]]
    spread = [0.0] * len(values)
    for group in places:
        top = _middle(group, wanted) - label_px * (len(group) - 1) / 2
        for place, label in enumerate(group):
            spread[label] = top + place * label_px
    return spread


def _middle(group: list[int], wanted: list[float]) -> float:
    """The mean height that the labels of a group ask for."""
    return sum(wanted[label] for label in group) / len(group)


WIDTH_PX, HEIGHT_PX, SHARPNESS = 720, 420, 2.0
NAMES_A_COLUMN = 24


def discharge(curves: pl.DataFrame) -> alt.LayerChart:
    """Level in percent over operations, one line a task, with a point where the battery is empty.

    * `curves`: `task`, `payload_B`, `operations`, `level_percent` and `evidence`, rising in operations.

    Raises EvidenceMix where the lines rest on several kinds of evidence.
    """
    kind = one_evidence(curves, "evidence")
    sizes = curves["payload_B"].drop_nulls().unique().to_list()
    sizes_words = f" on {sizes[0]:,} B" if len(sizes) == 1 else ""
    operations = alt.X("operations:Q", title=f"operations{sizes_words} ({kind})", scale=alt.Scale(zero=True))
    axis = alt.Axis(title="charge left, %", titleY=-12)
    level = alt.Y("level_percent:Q", axis=axis, scale=alt.Scale(domain=[0, 100]))
    # Vega names 30 lines and leaves the others out; all are named, in as many columns as the height asks for.
    columns = math.ceil(curves["task"].n_unique() / NAMES_A_COLUMN)
    task = alt.Color("task:N", sort=None, legend=alt.Legend(title=None, offset=30, symbolLimit=0, columns=columns))
    lines = alt.Chart().mark_line().encode(operations, level, task)
    ends = curves.group_by("task", maintain_order=True).last()
    points = alt.Chart(ends).mark_point(filled=True, size=60, opacity=1).encode(operations, level, task)
    return alt.LayerChart(data=curves, layer=[lines, points])


def spec(chart: alt.LayerChart | alt.Chart) -> dict[str, Any]:
    """The chart as Vega-Lite, no text of others acting in it, and whole.

    Altair refuses more than 5,000 rows, which a run of 25 ciphers has.
    """
    with alt.data_transformers.enable("default", max_rows=None):
        shown: dict[str, Any] = _texts(chart.to_dict(validate=False), harmless)
        return shown


class Pen:
    """Draws a page's charts as SVG while the page is made: the engine runs beside Python, in a thread.

    `draw` gives a mark that stands for a chart, `finished` puts the drawings in the place of the marks.
    """

    def __init__(self) -> None:
        self._engine = ThreadPoolExecutor(1)
        self._drawn: list[tuple[str, str, Future[str]]] = []

    def start(self) -> None:
        """Starts the engine, which takes half a second, before there is a chart; not where charts are kept."""
        with suppress(OSError, RuntimeError):
            if _cache().is_dir():
                return
        self._engine.submit(_svg, {"data": {"values": []}, "mark": "point"})

    def draw(self, chart: alt.LayerChart | alt.Chart, name: str) -> str:
        """A mark for the chart; `name`: of the figure, told apart on its page, and part of every id in the drawing."""
        words = chart.description if isinstance(chart.description, str) else name
        self._drawn.append((name, words, self._engine.submit(_svg, spec(_sized(chart)) | {"config": page_config()})))
        return f"\0{len(self._drawn) - 1}\0"

    def finished(self, page: str) -> str:
        """The page with its drawings."""
        self._engine.shutdown()
        return re.sub("\0(\\d+)\0", lambda mark: _inline(*self._drawn[int(mark[1])]), page)


def _svg(drawn: dict[str, Any]) -> str:
    """The engine's SVG of a chart, which is the same each time and so kept in this user's cache."""
    place = None
    with suppress(OSError, RuntimeError):  # no home, nothing to be read there
        place = _cache() / sha256(json.dumps(drawn, sort_keys=True).encode()).hexdigest()
        if kept := _kept(place):
            return kept
    import vl_convert

    made = str(vl_convert.vegalite_to_svg(drawn))
    if place:
        with suppress(OSError):  # a full disk
            _keep(place, made)
    return made


def _cache() -> Path:
    return cache_folder() / "charts" / version("vl-convert-python")


def _kept(place: Path) -> str | None:
    """What was kept: this user's own file, whole by the sum that it begins with."""
    if not place.is_file():
        return None
    octets = place.read_bytes()
    is_whole = octets[:SUM_B].decode("latin-1") == sha256(octets[SUM_B:]).hexdigest()
    return octets[SUM_B:].decode() if is_whole and place.stat().st_uid == os.getuid() else None


def _keep(place: Path, made: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    write_whole(place, [sha256(made.encode()).hexdigest().encode(), made.encode()])
    known = list(place.parent.iterdir())
    if len(known) > MOST_KEPT:
        for old in sorted(known, key=lambda path: path.stat().st_mtime)[: -MOST_KEPT // 2]:
            old.unlink(missing_ok=True)


def _sized(chart: alt.LayerChart | alt.Chart) -> alt.LayerChart | alt.Chart:
    sized: alt.LayerChart | alt.Chart = chart.properties(
        width=CHART_PX, autosize=alt.AutoSizeParams(type="fit-x", contains="padding"), padding=PADDING_PX
    )
    return sized


def _inline(name: str, words: str, drawing: Future[str]) -> str:
    """A drawing as a page holds it: colours are the page's variables, the font is the page's."""
    size, _, inside = drawing.result().partition(">")
    inside = re.sub(r"<[^>]+>", lambda tag: _tag(tag[0], name), inside)
    box = size[size.index("viewBox") :]
    return f'<svg class="chart" {box} role="img" font-family="{text(FONT)}"><title>{text(words)}</title>{inside}'


NOISE = re.compile(
    r'<path class="(?:background|foreground)"[^>]*? d="(?:M0,0h0v0h0Z)?"[^>]*>|'
    r' (?:aria-hidden|aria-roledescription|role|pointer-events|font-family)="[^"]*"| opacity="1"'
)
"""What Vega writes of each mark and a page doesn't need."""


def _tag(tag: str, name: str) -> str:
    """A tag of a drawing without what a page doesn't need, its ids those of the figure, to a hundredth of a pixel."""
    tag = re.sub(r"(\.\d\d)\d+", r"\1", NOISE.sub("", tag))
    return re.sub(r'(id="|url\(#)(clip|gradient)', rf"\1{name}-\2", tag)


def write_figure(chart: alt.LayerChart | alt.Chart, path: Path) -> None:
    """Write a chart as HTML, SVG or PNG by the ending of `path`.

    Raises InputError where the ending is another one or the file can't be written, DiskFull.
    """
    import vl_convert

    drawn = spec(chart.properties(width=WIDTH_PX, height=HEIGHT_PX)) | {"config": file_config()}
    match path.suffix:
        case ".svg":
            written: str | bytes = vl_convert.vegalite_to_svg(drawn)
        case ".png":
            written = vl_convert.vegalite_to_png(drawn, scale=SHARPNESS)
        case ".html":
            title, pen = capital(chart.description if isinstance(chart.description, str) else path.stem), Pen()
            page = f"{opening(title)}<main><h1>{text(title)}</h1>{pen.draw(chart, 'figure')}</main></body></html>"
            written = pen.finished(page)
        case other:
            raise InputError(f'--figure {path}: no format "{other}"', hint="end it in .html, .svg or .png")
    write_out(path, written, "--figure")


def file_config(colours: Mapping[str, str] = LIGHT) -> dict[str, object]:
    """The page's look with its colours resolved: a file of its own has no style sheet."""
    return {key: resolved(value, colours) for key, value in page_config().items()} | {"background": colours["paper"]}


def resolved(value: Any, colours: Mapping[str, str] = LIGHT) -> Any:
    """A specification with the page's colours resolved: to those of light paper, or to `look.DARK`."""

    def plain(text: str) -> str:
        return colours[text.removeprefix("var(--").removesuffix(")")] if text.startswith("var(--") else text

    return _texts(value, plain)


def _texts(value: Any, change: Callable[[str], str]) -> Any:
    """A specification with each of its texts changed."""
    if isinstance(value, dict):
        return {key: _texts(part, change) for key, part in value.items()}
    if isinstance(value, list):
        return [_texts(part, change) for part in value]
    return change(value) if isinstance(value, str) else value


def page_config() -> dict[str, Any]:
    """The Vega configuration of every chart on the page."""
    words = {"labelColor": colour("muted"), "titleColor": colour("ink"), "labelFontSize": 12, "titleFontSize": 12}
    return {
        "background": None,
        "font": FONT,
        "view": {"stroke": None},
        "mark": {"aria": False, "color": colour("ink")},
        "range": {"category": [colour(role) for role in CATEGORY]},
        "axis": words
        | {
            "aria": False,
            "titleFontWeight": "normal",
            "titlePadding": 10,
            "labelPadding": 6,
            "domain": False,
            "ticks": False,
            "gridColor": colour("rule"),
        },
        "axisY": {"titleAnchor": "end", "titleAlign": "left", "titleAngle": 0, "titleBaseline": "bottom"},
        "legend": words
        | {"aria": False, "orient": "top", "titleFontWeight": "normal", "symbolFillColor": colour("muted")}
        # Legends stand below each other: two side by side are wider than a phone.
        | {"layout": {"top": {"anchor": "start", "direction": "vertical"}}},
        "text": {"color": colour("ink"), "fontSize": 12},
        "style": {"value": {"fill": colour("ink")}},
    }


FIGURE_PX, FILE_SHARPNESS = 640, 2.0
MARGIN_PX = 10


class FigureFile(NamedTuple):
    """A figure to be written: its name, the picture as an SVG of its own, and the numbers that it draws."""

    name: str
    svg: str
    rows: pl.DataFrame


def write_figures(folder: Path, figures: Iterable[FigureFile], run: str = "") -> int:
    """Writes each figure into `folder` as NAME.png, .svg, .pdf and .csv, over what is there; gives how many files.

    * `run`: its id, whose name then stands before that of the figure: RUN--NAME.png.

    Raises InputError where the folder can't be written.
    """
    import vl_convert

    written = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--export {folder}: {error.strerror}", hint="name a folder that can be written") from error
    for figure in figures:
        name = f"{run}--{figure.name}" if run else figure.name
        content: dict[str, str | bytes] = {
            "svg": figure.svg,
            "png": vl_convert.svg_to_png(figure.svg, scale=FILE_SHARPNESS),
            "pdf": vl_convert.svg_to_pdf(figure.svg),
            "csv": csv_text(figure.rows),
        }
        for ending, data in content.items():
            write_out(folder / f"{name}.{ending}", data, "--export")
        written += len(content)
    return written


def chart_svg(
    chart: alt.LayerChart | alt.Chart, title: str, subtitle: str = "", colours: Mapping[str, str] = LIGHT
) -> str:
    """A chart as an SVG of its own under its title, on light paper, or on dark by `look.DARK`."""
    import vl_convert

    ink = colours["ink"]
    words = alt.Title(
        title,
        subtitle=subtitle or alt.Undefined,
        anchor="start",
        fontSize=14,
        subtitleFontSize=12,
        color=ink,
        subtitleColor=ink,
    )
    titled = chart.properties(title=words)
    return str(vl_convert.vegalite_to_svg(resolved(spec(titled), colours) | {"config": file_config(colours)}))


def drawing_svg(drawn: str, title: str, subtitle: str = "") -> str:
    """A drawing of ours as an SVG of its own, on white, under its title; colours by role become those of paper."""
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawn)
    if box is None:
        raise ValueError("a drawing without a viewBox")
    below = lines_of(subtitle, float(box[1]), SMALL) if subtitle else []
    head_px = 20 + LEADING * len(below) + MARGIN_PX
    width, height = float(box[1]) + 2 * MARGIN_PX, float(box[2]) + head_px + MARGIN_PX
    inside = drawn.partition(">")[2].removesuffix("</svg>")
    lines = [(title, 20, 14.0, "ink", ' font-weight="bold"')]
    lines += [(words, 20 + LEADING * place, SMALL, "muted", "") for place, words in enumerate(below, 1)]
    head = "".join(
        f'<text x="{MARGIN_PX}" y="{y}" font-size="{size}" fill="{colour(role)}"{weight}>{text(words)}</text>'
        for words, y, size, role, weight in lines
    )
    return standalone(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" font-family="{text(FONT)}" xml:space="preserve">{head}'
        f'<g transform="translate({MARGIN_PX} {head_px})">{inside}</g></svg>'
    )


def figure_name(title: str) -> str:
    """A title as the name of a file: `Encrypting 1,500 B packets, CBC` as `encrypting-1500-b-packets-cbc`."""
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"(?<=\d),(?=\d)", "", title.lower())).strip("-")


MOST_CHOICES = 20
DAYS_ROW_PX = 18


def days(ranked: pl.DataFrame, most: int = MOST_CHOICES) -> alt.LayerChart:
    """Days of battery of the first choices: a dot for the median, a bar for the 95 % interval.

    * `ranked`: of an advice, with `rank`, `choice`, `provider`, `days`, `days_low`, `days_high` and `evidence`.

    Raises EvidenceMix where the choices rest on several kinds of evidence.
    """
    shown = ranked.head(most).with_columns(
        name=pl.format("{}. {}, {}", "rank", "choice", "provider"), group=pl.format("place {}", "rank")
    )
    kind = one_evidence(shown, "evidence")
    choice = alt.Y("name:N", sort=None, title=None, axis=alt.Axis(labelLimit=320))
    place = alt.Color("group:N", sort=None, legend=alt.Legend(title=None))
    base = alt.Chart(shown).encode(y=choice, color=place)
    bars = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("days_low:Q", title=f"days of battery ({kind})"), x2="days_high:Q"
    )
    dots = base.mark_point(filled=True, size=50, opacity=1).encode(x=alt.X("days:Q"))
    return alt.LayerChart(layer=[bars, dots]).properties(height=DAYS_ROW_PX * shown.height)


PACKETS_PX = 260
# The words are measured by one font and drawn by the reader's, which may be wider.
PACKETS_LEGEND = alt.Legend(columnPadding=28, offset=32)


def packet_sizes(sizes: Sequence[dict[str, Any]]) -> alt.Chart:
    """Packets of a capture by size in bins that double from 64 octets, stacked by kind.

    * `sizes`: rows of `frame`, `protected`, `size_B`, `count`, as `wattlock.link.capture_file.census` gives them.

    Raises NothingToDraw where no packet was counted.
    """
    if not sizes:
        raise NothingToDraw("packets of a capture")
    rows = binned(sizes)
    order = rows.sort("from_B")["bin"].unique(maintain_order=True).to_list()
    kinds = rows["kind"].unique(maintain_order=True).sort().to_list()
    chart: alt.Chart = (
        alt.Chart(rows)
        .mark_bar()
        .encode(
            x=alt.X("bin:N", title="packet, bytes", sort=order, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("count:Q", title="packets", axis=alt.Axis(format=",d", titleY=-14)),
            color=alt.Color("kind:N", title=None, scale=alt.Scale(domain=kinds), legend=PACKETS_LEGEND),
        )
        .properties(height=PACKETS_PX, padding=4, description="packets of a capture by their size, by kind")
    )
    return chart
