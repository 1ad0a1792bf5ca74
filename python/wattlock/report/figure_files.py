"""Figures as files: each as PNG, SVG and PDF, and its numbers as CSV."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import altair as alt
import polars as pl

from wattlock.errors import InputError
from wattlock.report.discharge_figure import file_config, resolved, spec
from wattlock.report.drawing import LEADING, SMALL, lines_of, standalone
from wattlock.report.look import FONT, LIGHT, colour
from wattlock.report.markup import text
from wattlock.report.written import csv_text
from wattlock.store.disk import write_out

WIDTH_PX, SHARPNESS = 640, 2.0
MARGIN_PX = 10


class FigureFile(NamedTuple):
    """A figure to be written: its name, the picture as an SVG of its own, and the numbers that it draws."""

    name: str
    svg: str
    rows: pl.DataFrame


def write_figures(folder: Path, figures: Iterable[FigureFile], of: str = "") -> int:
    """Writes each figure into `folder` as NAME.png, .svg, .pdf and .csv, over what is there; gives how many files.

    * `of`: the run, whose name then stands before that of the figure: RUN--NAME.png.

    Raises InputError where the folder can't be written.
    """
    import vl_convert

    written = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--export {folder}: {error.strerror}", hint="name a folder that can be written") from error
    for figure in figures:
        name = f"{of}--{figure.name}" if of else figure.name
        content: dict[str, str | bytes] = {
            "svg": figure.svg,
            "png": vl_convert.svg_to_png(figure.svg, scale=SHARPNESS),
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
