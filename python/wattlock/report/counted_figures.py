"""The figures of a run that counted: what each cipher of the group that answers takes, in cycles and by a card."""

from collections.abc import Iterator, Sequence

import polars as pl

from wattlock.report import bars, formats
from wattlock.report.counted_answer import Group, Row, answering, groups_of, unit_words
from wattlock.report.figure_files import FigureFile, drawing_svg
from wattlock.report.main_figure import ANSWER, MainFigure, bar_rows

ENERGY = "energy"
"""What the files of the figure by a card are called."""


def counted_figures(groups: Sequence[Group]) -> Iterator[tuple[str, MainFigure]]:
    """The figures of the page, each with the name of its files: none where nothing is compared."""
    group = answering(groups)
    if group is None:
        return
    of = unit_words(group)
    drawn = tuple(_bar(row, (group.unit, f"{group.unit}_low", f"{group.unit}_high"), 4, group) for row in group.ordered)
    lines = f"Lines: {group.within}." if any(bar.low is not None for bar in drawn) else ""
    yield (
        ANSWER,
        MainFigure(f"{formats.capital(of)} to {group.does}", f"{of} a message", group.evidence, drawn, "", lines),
    )
    valued = sorted(
        (row for row in group.rows if row.get("energy_uJ") is not None), key=lambda row: float(row["energy_uJ"])
    )
    if len(valued) > 1:
        drawn = tuple(_bar(row, ("energy_uJ", "energy_low_uJ", "energy_high_uJ"), 3, group) for row in valued)
        lines = f"Lines: {group.within}, and the card’s uncertainty, which is common to all."
        yield (
            ENERGY,
            MainFigure(f"Energy to {group.does}", "µJ a message", valued[0]["energy_evidence"], drawn, "", lines),
        )


def counted_files(run: str, title: str, estimates: pl.DataFrame, ranking: pl.DataFrame) -> Iterator[FigureFile]:
    """The figures as files, each with the rows that it draws; `run`: its id."""
    for name, figure in counted_figures(groups_of(estimates, ranking)):
        drawn = bars.picture(figure.rows, figure.axis, bars.WIDE)
        yield FigureFile(name, drawing_svg(drawn, figure.title, f"run {run}: {title}"), bar_rows(run, figure))


def _bar(row: Row, names: tuple[str, str, str], digits: int, group: Group) -> bars.Bar:
    value, low, high = (row.get(name) for name in names)
    words = formats.interval(value, low, high) if low is not None else ""
    beside = row["provider"] if group.has_providers else ""
    name, shown = formats.cipher_name(row["cipher"], row["mode"]), formats.number(value, digits)
    return bars.Bar(name, beside, float(value or 0), low, high, shown, words, bars.role_of(row["family"]))
