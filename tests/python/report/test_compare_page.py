"""The page of a comparison: what it answers, what it draws, what it does not claim, and how readers meet it."""

import html
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.compared_runs import CASES, MACHINES, measured
from support.tools import needs
from support.tree import TESTS
from wattlock import cli
from wattlock.errors import EvidenceError, InputError
from wattlock.report.compare_page import SECTIONS, answer, by, compare_page
from wattlock.report.compared import MOST_SIDES, RunComparison, run_comparison
from wattlock.report.drawings import LOOKS, Mark, RatioRow, ratio_axis, ratio_rows, ratio_words, ratios_described
from wattlock.report.figure_files import write_compare_figures
from wattlock.report.ratios import COST, ENERGY, figures, measures
from wattlock.run.result import open_run
from wattlock.run.run_comparison import compare

LIMIT_S = 240
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
AXE = files("axe_playwright_python") / "axe.min.js"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The folder of each machine's run."""
    return dict(zip(MACHINES, measured(tmp_path_factory.mktemp("machines")), strict=True))


def compared(runs: dict[str, str], names: Sequence[str]) -> RunComparison:
    folders = [runs[name] for name in names]
    results = [open_run(folder) for folder in folders]
    return run_comparison(folders, compare(results[0], results[1:]))


@pytest.fixture(scope="module")
def two(runs: dict[str, str]) -> RunComparison:
    return compared(runs, ["laptop", "pi4"])


@pytest.fixture(scope="module")
def five(runs: dict[str, str]) -> RunComparison:
    return compared(runs, list(MACHINES))


def with_energy(found: RunComparison) -> RunComparison:
    """The same with joules that alike meters measured: half of the time's ratio."""
    halves = {f"energy_{name}": pl.col(name) / 2 for name in ("ratio", "ratio_low", "ratio_high")}
    judged = pl.when(pl.col("ratio").is_not_null()).then(
        pl.when(pl.col("ratio") > 2).then(pl.lit("more")).otherwise(pl.lit("less"))
    )
    others = [replace(one, rows=one.rows.with_columns(**halves, energy_verdict=judged)) for one in found.others]
    return replace(found, others=others)


def words_of(page: str) -> str:
    body = re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).replace("\u00a0", " ").split())


def test_the_answer_says_which_machine_by_how_much_and_for_which_ciphers(two: RunComparison) -> None:
    (sentence,) = answer(two, COST)
    assert sentence.startswith("B (pi4) is slower than A (laptop) in all 15 cases, by a factor of 2.54 at the median")
    assert "most for AES-256-CBC (decrypt 1,500 B, a factor of 11.7)" in sentence
    assert "least for RC4-128 (encrypt 64 B, a factor of 1.90)" in sentence


def test_several_runs_are_put_in_order_by_the_cases_that_all_have(five: RunComparison) -> None:
    first, *each = answer(five, COST)
    order = [re.search(rf"{side.label} \(([\d.]+)\)", first) for side in five.sides]
    assert all(order)
    medians = {side.name: float(found[1]) for side, found in zip(five.sides, order, strict=True) if found}
    assert medians["laptop"] == 1
    assert sorted(medians, key=medians.__getitem__) == sorted(
        medians, key=lambda name: first.index(f"{name} ({'1' if name == 'laptop' else ''}")
    )
    assert "over the 15 cases that all have" in first
    assert len(each) == 4
    assert "It is faster in 4 (RC4-128; by 33 %), equivalent in 1 and undecided in 1." in each[3]
    # The first figure prints the same medians.
    drawn = {row.label: row.words for row in figures(five, COST)[0].rows}
    assert drawn["B server"] == f"median {ratio_words(medians['server'])}"


def test_medians_that_differ_by_less_than_what_is_claimed_are_put_in_no_order(five: RunComparison) -> None:
    near = pl.when(pl.col("ratio").is_not_null()).then(1.004)
    others = [replace(one, rows=one.rows.with_columns(ratio=near)) for one in five.others]
    first = answer(replace(five, others=others), COST)[0]
    assert first == "At the median of the 15 cases that all have, no run differs from another by more than 1.0 %."
    assert "Medians that differ by less than 1.0 % are no order." in answer(five, COST)[0]


def test_a_long_name_is_left_out_of_the_order(five: RunComparison) -> None:
    other = five.others[0]
    named = replace(other, side=replace(other.side, name="a-name-that-is-far-too-long-for-a-list"))
    assert answer(replace(five, others=[named, *five.others[1:]]), COST)[0].startswith(
        "From the fastest on: B (0.800),"
    )


def test_a_run_beside_itself_is_equivalent_and_nothing_is_called_faster(runs: dict[str, str]) -> None:
    found = compared(runs, ["laptop", "laptop"])
    assert answer(found, COST) == [
        f"B ({found.others[0].side.name}) is equivalent to A ({found.first.name}) in all {CASES} cases, within 1.0 %."
    ]
    many = compared(runs, ["laptop", "laptop", "laptop"])
    assert answer(many, COST)[0] == f"None of the runs is shown to differ from A ({many.first.name})."


def test_of_runs_that_mostly_cost_the_same_that_is_said_first(two: RunComparison) -> None:
    place = pl.int_range(pl.len())
    judged = pl.when(place > 2).then(pl.lit("equivalent")).otherwise("verdict")
    rows = two.others[0].rows.with_columns(verdict=judged, ratio=pl.when(place > 2).then(1.0).otherwise("ratio"))
    (sentence,) = answer(replace(two, others=[replace(two.others[0], rows=rows)]), COST)
    assert sentence.startswith("B (pi4) is equivalent to A (laptop) in 13 of 15 cases, within 1.0 %. It is slower in 2")


def test_nothing_is_claimed_of_an_invalid_run_and_the_page_says_so_first(two: RunComparison) -> None:
    other = two.others[0]
    failed = replace(other.side.result.verdicts[0], measured=1.03, low=1.02, high=1.04, state="failed")
    side = replace(other.side, result=replace(other.side.result, verdicts=[failed]))
    pair = replace(other.pair, unclaimed="an invalid run has no results")
    page = compare_page(replace(two, others=[replace(other, side=side, pair=pair)]))
    assert "Nothing is claimed of B (pi4) beside A (laptop): an invalid run has no results." in words_of(page)
    assert "⊘ Run B (pi4) is invalid." in words_of(page)
    assert page.index('role="alert"') < page.index('id="answer"')


def test_an_amount_is_a_factor_where_it_is_large_and_percent_where_it_is_small() -> None:
    assert [by(ratio) for ratio in (2.1, 1 / 2.1, 1.052, 0.948, 1.0104)] == [
        "a factor of 2.10",
        "a factor of 2.10",
        "5.2 %",
        "5.2 %",
        "1.04 %",
    ]


def test_joules_stand_before_times_in_sentences_figures_and_the_table(two: RunComparison) -> None:
    found = with_energy(two)
    assert measures(found) == [ENERGY, COST]
    assert measures(two) == [COST]
    assert answer(found, ENERGY)[0].startswith("B (pi4) takes more energy than A (laptop) in 12 of 15 cases")
    assert answer(found, ENERGY)[0].endswith("It takes less energy in 3 (RC4-128; by 3.1 %).")
    page = compare_page(found)
    assert page.index('data-name="energy-all-cases"') < page.index('data-name="cost-all-cases"')
    assert page.index('<h3>Energy</h3><div class="strips">') < page.index('<h3>Time</h3><div class="strips">')
    heads = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', page.partition('id="case-table"')[2])
    assert heads.index("Energy ratio") < heads.index("Ratio")


def test_cases_are_grouped_by_cipher_and_by_what_is_done_where_each_cipher_has_one_case(two: RunComparison) -> None:
    titles = ["AES-128-CBC", "AES-256-CBC", "DES-CBC", "RC4-128"]
    assert [figure.title for figure in figures(two, COST)[1:]] == titles
    rows = two.others[0].rows.filter(operation="encrypt", payload_B=1500)
    (figure,) = figures(replace(two, others=[replace(two.others[0], rows=rows)]), COST)[1:]
    assert figure.title == "Encrypt 1,500 B"
    assert [row.label for row in figure.rows] == titles


def test_of_several_runs_each_case_heads_a_row_a_run_and_one_without_a_ratio_says_so(five: RunComparison) -> None:
    figure = figures(five, COST)[1]
    assert [row.label for row in figure.rows[:6]] == [
        "encrypt 64 B",
        "B server",
        "C pi4",
        "D pi5",
        "E phone",
        "encrypt 1,500 B",
    ]
    assert [row.is_head for row in figure.rows[:6]] == [True, False, False, False, False, True]
    assert [row.words for row in figure.rows if row.label == "C pi4"][2] == "no ratio"


def test_a_verdict_is_told_by_shape_and_colour_and_word() -> None:
    marks = [Mark(2.0, 1.9, 2.1, verdict) for verdict in ("slower", "faster", "equivalent", "undecided")]
    axis = ratio_axis(marks)
    drawn = [ratio_rows([RatioRow("x", [mark], f"2.00 {mark.verdict}")], axis, "time") for mark in marks]
    outlines = [re.findall(r'<path d="M[\d.]+ [\d.]+([^"]*)Z"', one) for one in drawn]
    assert [len(one) for one in outlines] == [1] * 4
    assert len({one[0] for one in outlines}) == 4
    assert len({LOOKS[mark.verdict].role for mark in marks}) == 4
    for mark, one in zip(marks, drawn, strict=True):
        assert f"2.00 {mark.verdict}</text>" in one
        assert f"var(--{LOOKS[mark.verdict].role})" in one


def test_all_figures_of_a_kind_share_an_axis_that_holds_every_interval_and_one(five: RunComparison) -> None:
    drawn = figures(five, COST)
    assert len({figure.axis for figure in drawn}) == 1
    axis = drawn[0].axis
    rows = pl.concat([other.rows for other in five.others])
    low, high = rows["ratio_low"].min(), rows["ratio_high"].max()
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert axis.low < min(low, 1) < max(high, 1) < axis.high


def test_conditions_that_differ_are_marked_and_the_others_are_folded_away(five: RunComparison) -> None:
    page = compare_page(five)
    differing = page.partition('class="runs"')[2].partition("</table>")[0]
    machine = re.search(r'<tr><th scope="row">Machine</th>(.*?)</tr>', differing)
    assert machine
    cells = re.findall(r"<td( data-differs)?>(.*?)</td>", machine[1])
    assert [bool(marked) for marked, _ in cells] == [False, True, True, True, True]
    assert cells[2][1] == "≠ Cortex-A72"
    assert "Study" not in differing
    folded = page.partition("<summary>The same in all")[2].partition("</details>")[0]
    assert '<th scope="row">Study</th><td>virtual</td>' in folded
    assert "Of A and C, cases with a number that are not compared: 1 in A alone." in words_of(page)


def test_the_page_stands_alone_and_its_headings_and_ids_are_in_order(five: RunComparison) -> None:
    page = compare_page(with_energy(five))
    outside = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "http" not in outside.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    assert "vegaEmbed" not in page
    assert len(page.encode()) < 400_000
    assert re.findall(r"<h2 [^>]*>(.*?)</h2>", page) == list(SECTIONS.values())
    ids = re.findall(r'\sid="([^"]+)"', outside)
    assert len(ids) == len(set(ids))


def test_every_figure_of_the_page_has_its_four_files_with_the_numbers_that_it_draws(
    five: RunComparison, tmp_path: Path
) -> None:
    found = with_energy(five)
    written = write_compare_figures(tmp_path, found)
    page = compare_page(found)
    names = re.findall(r'<figure data-name="([a-z0-9-]+)"', page)
    assert len(names) == page.count("<figure") == len(set(names)) == 10
    expected = {f"{found.files_of}--{name}.{kind}" for name in names for kind in ("png", "svg", "pdf", "csv")}
    assert {file.name for file in tmp_path.iterdir()} == expected
    assert written == len(expected)
    for measure in (ENERGY, COST):
        for figure in figures(found, measure):
            stem = tmp_path / f"{found.files_of}--{figure.name}"
            numbers = pl.read_csv(f"{stem}.csv")
            drawn = sorted(mark.ratio for row in figure.rows for mark in row.marks if row.label != "A laptop")
            alone = sum(len(row.marks) for row in figure.rows if row.label == "A laptop")
            assert numbers["ratio"].drop_nulls().sort().to_list() == pytest.approx(drawn, rel=1e-12)
            assert set(numbers["evidence"]) == {"measured"}
            svg = Path(f"{stem}.svg").read_text(encoding="utf-8")
            assert "var(--" not in svg
            assert not re.search("[▶◀◆○]", svg), "signs that few fonts have change the font of a whole line"
            marks = "".join(re.findall(r'<path d="([^"]*)"', svg))
            assert 0.9 * len(drawn) <= marks.count("M") - alone <= len(drawn), (
                "a mark a case, but for those in one place"
            )


def test_a_comparison_without_a_ratio_has_nothing_to_export(two: RunComparison, tmp_path: Path) -> None:
    rows = two.others[0].rows.with_columns(ratio=pl.lit(None, pl.Float64))
    with pytest.raises(EvidenceError, match="no case has a ratio"):
        write_compare_figures(tmp_path / "none", replace(two, others=[replace(two.others[0], rows=rows)]))
    assert not (tmp_path / "none").exists()


def test_the_verb_writes_page_and_figures_and_prints_the_table_only_where_it_is_asked_for(
    runs: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    capsys.readouterr()
    assert cli.answer(["compare", runs["laptop"], runs["pi4"], "--html", str(page)]) == 0
    assert capsys.readouterr().out.strip() == str(page)
    assert "pi4 compared with laptop" in page.read_text(encoding="utf-8")
    words = ["compare", runs["laptop"], runs["pi4"], "--export", str(tmp_path / "figures"), "--format", "json"]
    assert cli.answer(words) == 0
    said = capsys.readouterr()
    assert len(json.loads(said.out)) == CASES
    assert "wrote 20 files into" in said.err
    nowhere = str(tmp_path / "no" / "page.html")
    assert cli.answer(["compare", runs["laptop"], runs["pi4"], "--html", nowhere]) == InputError.exit_code
    assert "--html" in capsys.readouterr().err
    assert cli.answer(["compare", runs["laptop"], runs["pi4"], "--export", str(page)]) == InputError.exit_code
    assert f"--export {page}: File exists" in capsys.readouterr().err


def test_implementations_are_named_where_they_are_what_is_compared(
    runs: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    words = ["--providers", "rustcrypto", "rustcrypto", "--html", str(page)]
    assert cli.answer(["compare", runs["laptop"], *words]) == 0
    assert "Both were measured in one run." in words_of(page.read_text(encoding="utf-8"))
    assert "comparison of 2 implementations" in words_of(page.read_text(encoding="utf-8"))
    assert cli.answer(["compare", runs["laptop"], runs["pi4"], *words]) == 0
    assert "A is laptop, rustcrypto, B is pi4, rustcrypto" in words_of(page.read_text(encoding="utf-8"))
    assert capsys.readouterr().out.splitlines() == [str(page)] * 2


def test_a_page_holds_eight_runs_and_refuses_nine(runs: dict[str, str], tmp_path: Path) -> None:
    page, folders = tmp_path / "page.html", [runs["laptop"]] * MOST_SIDES
    assert cli.answer(["compare", *folders, "--html", str(page)]) == 0
    assert page.read_text(encoding="utf-8").count("<figure data-name=") == 5
    page.unlink()
    assert cli.answer(["compare", *folders, runs["pi4"], "--html", str(page)]) == InputError.exit_code
    assert not page.exists()


MOST_B = 2_500_000


def test_a_page_of_eight_runs_of_four_hundred_cases_is_no_heavier_than_a_page_may_be(five: RunComparison) -> None:
    """As eight runs of papers/quick: 407 cases, of which each has a row a run in the table and in a figure."""
    rows = five.others[0].rows.filter(pl.col("ratio").is_not_null())
    many = pl.concat([rows.with_columns(payload_B=pl.lit(64 + step).cast(pl.Int64)) for step in range(32)])[:407]
    name = "papers-quick-20261122-2100-a4c2"
    others = [
        replace(one, rows=many, side=replace(one.side, name=name, letter=letter))
        for one, letter in zip([five.others[0]] * 7, "BCDEFGH", strict=True)
    ]
    page = compare_page(replace(five, others=others))
    assert page.count("<tr data-state=") == 7 * 407
    assert len(page.encode()) <= MOST_B
    assert page.count(name) < 50, "a long name stands in the head, and its letter elsewhere"


def test_a_picture_of_many_rows_says_what_they_span_and_one_of_few_says_each() -> None:
    few = [RatioRow(f"case {place}", [Mark(2.0, 1.9, 2.1, "slower")], "2.00 slower") for place in range(3)]
    assert ratios_described(few, "time").count("2.00 slower") == 3
    many = [RatioRow(str(place), [Mark(1 + place / 10, 1, 9, "slower")], "x") for place in range(30)]
    assert ratios_described(many, "time") == "time. 30 ratios, 1.000 to 3.90; each stands in the table of every case."


def test_marks_in_one_place_are_drawn_once_and_those_of_one_look_in_one_path() -> None:
    marks = [Mark(2.0, 1.9, 2.1, "slower")] * 3 + [Mark(3.0, 2.9, 3.1, "slower"), Mark(0.5, 0.4, 0.6, "faster")]
    drawn = ratio_rows([RatioRow("x", marks, "median 2.00")], ratio_axis(marks), "time")
    paths = re.findall(r'<path d="([^"]*)"', drawn)
    assert sorted(path.count("M") for path in paths) == [1, 2]


def test_the_page_says_why_joules_by_cards_are_not_compared(two: RunComparison) -> None:
    assert "Joules by a device card are not compared: by one card they are the cycles" in words_of(compare_page(two))


Seen = list[dict[str, Any]]


@pytest.fixture(scope="module")
def visits(five: RunComparison, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """What each of four readers saw."""
    page = tmp_path_factory.mktemp("browser") / "compare.html"
    page.write_text(compare_page(with_energy(five)), encoding="utf-8")
    command = [sys.executable, "-m", "support.compare_browser", str(CHROMIUM), str(page), str(AXE)]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    seen: Seen = json.loads(done.stdout)
    return seen


needs_a_browser = needs(CHROMIUM, "no chromium was found on the PATH")


@needs_a_browser
def test_nothing_is_wider_than_the_window_and_no_word_leaves_its_picture(visits: Seen) -> None:
    assert [visit["overflow_px"] for visit in visits] == [0] * 4
    assert all(visit["words_out_px"] <= 1 for visit in visits)
    # The first figures have a picture for a screen and one for a phone, of which one is seen.
    assert [visit["pictures"] for visit in visits] == [visit["figures"] for visit in visits] == [10] * 4


@needs_a_browser
def test_the_first_figure_is_in_the_first_screen(visits: Seen) -> None:
    for visit in visits:
        assert visit["first_figure_px"] < (900 if visit["width"] == 1440 else 1000)


@needs_a_browser
def test_axe_finds_nothing_the_console_is_silent_and_nothing_is_fetched(visits: Seen) -> None:
    for visit in visits:
        assert visit["violations"] == []
        assert visit["complaints"] == []
        assert len(visit["requests"]) == 1


@needs_a_browser
def test_the_filter_is_reached_by_keyboard_and_figures_follow_it(visits: Seen) -> None:
    for visit in visits:
        assert (visit["first_focus"], visit["focus"]) == ("Skip to the answer", "filter")
        groups, rows = visit["typed"]
        assert groups == ["RC4-128"] * 2
        assert rows == ["rc4-128"] * 8
        groups, rows = visit["chosen"]
        assert set(groups) == {"AES-128-CBC", "DES-CBC"}
        assert rows == ["aes128-cbc", "des-cbc", "des-cbc"]
        assert len(visit["all"]) == 8


@needs_a_browser
def test_links_land_and_the_first_column_stays_and_the_table_is_left_out_of_print(visits: Seen) -> None:
    for visit in visits:
        assert all(abs(top) <= 40 or ends for _, top, ends in visit["landed"])
        assert len(visit["landed"]) == len(SECTIONS)
        scrolled, left = visit["frozen"]
        assert scrolled == 0 or abs(left) <= 1
        assert visit["printed_table"] is False
        assert visit["printed_pictures"] >= 10
