"""The report's figures as files: none forgotten, each of its four kinds, and the numbers those that the page draws."""

import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from support import report_frames
from wattlock.errors import EvidenceError, InputError
from wattlock.report.charts import drawing_svg, figure_name
from wattlock.report.drawings import SMALL, width_of
from wattlock.report.evidence import with_energy_columns
from wattlock.report.figure_files import write_report_figures
from wattlock.report.main_figure import main_figure
from wattlock.report.run_charts import drawn_by, plates
from wattlock.report.run_page import write_report

ESTIMATES = report_frames.estimates()
RANKING = report_frames.ranking(ESTIMATES)
ALONE = report_frames.result(ESTIMATES)
RUN = report_frames.discharged(ALONE)
SIGNATURES = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<svg"}


def page(folder: Path) -> str:
    write_report(folder / "report.html", RUN, ESTIMATES, report_frames.card())
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, int]:
    """The page, the folder of its files, and how many were said to be written."""
    folder = tmp_path_factory.mktemp("exported")
    return page(folder), folder / "figures", write_report_figures(folder / "figures", RUN, ESTIMATES)


def test_every_picture_of_the_page_is_a_figure_with_a_name_of_its_own(exported: tuple[str, Path, int]) -> None:
    html = re.sub(r"<script.*?</script>", "", exported[0], flags=re.DOTALL)
    names = re.findall(r'<figure data-name="([a-z0-9-]+)"', html)
    assert len(names) == html.count("<figure") == len(set(names)) > 10
    beside = re.sub(r"<figure.*?</figure>", "", html, flags=re.DOTALL)
    assert not re.search(r'role="img"|<img|class="chart"', beside)


def test_every_figure_of_the_page_has_its_four_files_and_no_other_is_there(exported: tuple[str, Path, int]) -> None:
    html, folder, written = exported
    names = re.findall(r'<figure data-name="([a-z0-9-]+)"', html)
    expected = {f"{RUN.id}--{name}.{kind}" for name in names for kind in ("png", "svg", "pdf", "csv")}
    assert {file.name for file in folder.iterdir()} == expected
    assert written == len(expected)
    for name in names:
        for kind, begins in SIGNATURES.items():
            assert (folder / f"{RUN.id}--{name}.{kind}").read_bytes().startswith(begins)
        svg = (folder / f"{RUN.id}--{name}.svg").read_text(encoding="utf-8")
        assert RUN.id in svg
        assert "var(--" not in svg


def test_a_files_numbers_are_those_that_the_page_draws(exported: tuple[str, Path, int]) -> None:
    html, folder, _ = exported
    figures = re.findall(r'<figure data-name="([a-z0-9-]+)"(.*?)</figure>', html, re.DOTALL)
    hung, _ = plates(with_energy_columns(ESTIMATES))
    drawn = {plate.name: drawn_by(plate.chart) for plate in hung}
    charts = [name for name, inside in figures if '<svg class="chart"' in inside]
    assert set(charts) >= set(drawn)
    assert len(charts) == len(figures) - 1 > 10, "all but the answer's bars"
    for name, rows in drawn.items():
        written = pl.read_csv(folder / f"{RUN.id}--{name}.csv")
        assert written["value"].to_list() == pytest.approx(rows["value"].to_list(), rel=1e-12)
        assert set(written["run"]) == {RUN.id}
        assert set(written["evidence"]) == set(rows["evidence"])


def test_the_answers_file_has_every_mark_also_those_that_the_page_has_no_room_for(
    exported: tuple[str, Path, int],
) -> None:
    figure = main_figure(ESTIMATES, RANKING)
    assert figure is not None
    written = pl.read_csv(exported[1] / f"{RUN.id}--answer.csv")
    assert written["value"].to_list() == pytest.approx([mark.value for mark in figure.rows], rel=1e-12)
    assert set(written["evidence"]) == {figure.evidence}
    # The page says a card's factor once; the file has it in each interval.
    asked = ESTIMATES.filter(pl.col("energy_uJ_per_byte").is_in(written["value"].implode()))
    assert sorted(written["low"]) == pytest.approx(sorted(asked["energy_low_uJ_per_byte"]), rel=1e-12)
    svg = (exported[1] / f"{RUN.id}--answer.svg").read_text(encoding="utf-8")
    assert svg.count("<circle") == len(figure.rows)


def test_joules_of_two_kinds_are_two_figures_with_files_of_their_own(tmp_path: Path) -> None:
    mixed = ESTIMATES.with_columns(
        energy_evidence=pl.when(pl.col("family") == "3des").then(pl.lit("modelled")).otherwise("energy_evidence")
    )
    write_report_figures(tmp_path, RUN, mixed)
    energy = [file for file in tmp_path.glob("*.csv") if "energy-of-encrypting-1500" in file.name]
    assert sorted(kind for file in energy for kind in set(pl.read_csv(file)["evidence"])) == ["assumed", "modelled"]


def test_an_invalid_run_has_no_figure_to_write(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match="it is invalid, so that its numbers are not results"):
        write_report_figures(tmp_path / "figures", replace(ALONE, verdicts=[report_frames.FAILED]), ESTIMATES)
    with pytest.raises(EvidenceError, match="no case has a number to draw"):
        write_report_figures(tmp_path / "figures", report_frames.result(ESTIMATES, RANKING.clear()), ESTIMATES.clear())
    assert not (tmp_path / "figures").exists()
    # What a battery's gauge logged needs none of the run's self-checks, and stands on the page of an invalid run too.
    assert write_report_figures(tmp_path / "figures", replace(RUN, verdicts=[report_frames.FAILED]), ESTIMATES) == 4


def test_a_folder_that_can_not_be_written_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match=r"--export .*/file/figures: Not a directory"):
        write_report_figures(tmp_path / "file" / "figures", RUN, ESTIMATES)


def test_files_of_an_earlier_export_are_written_over(tmp_path: Path) -> None:
    stem = tmp_path / f"{RUN.id}--setting-up-a-key.csv"
    stem.write_text("old")
    write_report_figures(tmp_path, RUN, ESTIMATES)
    assert pl.read_csv(stem)["name"].len() > 1


def test_a_long_line_under_a_drawings_title_is_broken_where_the_picture_ends() -> None:
    drawn = drawing_svg('<svg viewBox="0 0 300 50"><path d="M0 0"/></svg>', "Title", "word " * 60)
    lines = re.findall(r'fill="[^"]*">(word[^<]*)<', drawn)
    assert len(lines) > 3
    assert all(width_of(line, SMALL) <= 300 for line in lines)
    height = re.search(r'viewBox="0 0 320 ([\d.]+)"', drawn)
    moved = re.search(r"translate\(10 ([\d.]+)\)", drawn)
    assert height
    assert moved
    assert float(height[1]) == float(moved[1]) + 50 + 10


def test_a_figures_name_is_its_title_without_what_a_file_should_not_have() -> None:
    assert figure_name("Encrypting 1,500 B packets, CBC (assumed)") == "encrypting-1500-b-packets-cbc-assumed"
