"""The papers' exhibits: one for each of theirs, in their units, with a true sentence, and saying what is missing."""

import math
import re
from pathlib import Path

import polars as pl
import pytest
import vl_convert

from support import papers_run
from support.papers_run import PAPERS, case, material
from wattlock.papers.exhibit import CITED, IN_TEXT, PRINTED, READ_OFF, DrawnExhibit, Panel, frame
from wattlock.papers.themes import EXHIBITS, show_all
from wattlock.report.charts import Pen
from wattlock.report.evidence import EvidenceMix
from wattlock.report.exhibits import bitmap, chart, figure
from wattlock.report.figure_files import write_exhibits
from wattlock.study import load

IDS = [one.id for one in PAPERS.exhibits]
SHOWN = {one.exhibit.id: one for one in show_all(material())}
PROVENANCES = {PRINTED, IN_TEXT, CITED, READ_OFF}
WITHOUT_RUN = {"elminaam-wlan-fig1", "elminaam-perf-fig1", "toldinas-fig1", "toldinas-fig2", "toldinas-fig3"}


def panel(name: str, place: int = 0) -> Panel:
    return SHOWN[name].panels[place]


def value(of: Panel, name: str, variant: str) -> float:
    return float(of.rows.filter(pl.col("name") == name, pl.col("variant") == variant)["value"][0])


def test_every_exhibit_of_the_papers_has_a_function_and_every_function_an_exhibit() -> None:
    assert list(EXHIBITS) == IDS
    assert len(IDS) == 40


@pytest.mark.parametrize("name", IDS)
def test_with_all_its_cases_an_exhibit_shows_something_says_it_in_a_sentence_and_lacks_nothing(name: str) -> None:
    one = SHOWN[name]
    assert one.panels or one.drawings
    assert one.finding.endswith((".", "%."))
    assert "{" not in one.finding
    assert one.missing == ()
    assert one.command == ""


@pytest.mark.parametrize("name", [name for name in IDS if name not in WITHOUT_RUN])
def test_without_its_cases_an_exhibit_names_them_and_the_command_that_measures_them(name: str) -> None:
    empty = material(estimates=papers_run.estimates().clear(), sent=[], curves=None, capture=None)
    one = EXHIBITS[name](PAPERS.exhibits[IDS.index(name)], empty)
    assert one.missing
    assert one.command.startswith("wattlock papers")
    assert not any(kind not in PROVENANCES for of in one.panels for kind in of.evidence)


def test_without_joules_an_exhibit_of_energy_asks_for_them_and_the_others_are_drawn() -> None:
    bare = papers_run.estimates().with_columns(
        [
            pl.lit(None, pl.Float64).alias(name)
            for name in papers_run.estimates().columns
            if name.startswith("energy_") and name != "energy_evidence"
        ]
    )
    shown = {one.exhibit.id: one for one in show_all(material(estimates=bare, sent=papers_run.sent(radio=False)))}
    assert "--device" in shown["elminaam-wlan-fig6"].command
    assert shown["elminaam-wlan-fig6"].panels == ()
    assert [of.form for of in shown["elminaam-wlan-fig2"].panels] == ["dots", "dots", "lines", "dots"]
    assert "radio" in shown["elminaam-wlan-fig3"].missing[0]
    assert shown["prasithsangaree-fig5"].panels[0].unit.startswith("time")


def test_values_are_those_of_the_cases_in_the_units_of_the_paper() -> None:
    one = case("aes", 128, 100_000, data="text")
    tables = "libtomcrypt"
    assert value(panel("elminaam-wlan-fig2"), "AES", tables) == pytest.approx(one["time_ns"] / 1e6)
    assert value(panel("elminaam-wlan-fig2", 1), "AES", tables) == pytest.approx(1e5 / one["time_ns"] * 1e3)
    assert value(panel("elminaam-wlan-fig5"), "AES", tables) == pytest.approx(1e5 / one["time_ns"] * 1e6)
    assert value(panel("elminaam-wlan-fig6"), "AES", tables) == pytest.approx(one["energy_uJ_per_byte"])
    megabyte = panel("prasithsangaree-fig5").rows.filter(pl.col("name") == "AES", pl.col("x") == 128)["value"][0]
    assert megabyte == pytest.approx(case("aes", 128, 16384)["energy_uJ_per_byte"] * 1e6)


def test_a_throughputs_interval_stands_the_right_way_round() -> None:
    for row in panel("elminaam-perf-fig4").rows.iter_rows(named=True):
        assert row["low"] < row["value"] < row["high"]


def test_what_the_paper_prints_stands_beside_as_printed() -> None:
    table = panel("elminaam-wlan-table1", -1).rows
    printed = PAPERS.sending["text"]
    row = table.filter(pl.col("cipher") == "RC2", pl.col("condition") == "ad hoc, WEP, poor signal").row(0, named=True)
    assert row["the paper, s (printed)"] == printed.of("rc2", "adhoc_poor") == 61.31
    assert row["with cipher, s"] == 15.0
    battery = panel("toldinas-table2").rows
    assert battery["the paper (printed): time, s"].to_list()[:3] == [8999, 9607, 10679]
    assert "10,679" in figure(panel("toldinas-table2"), Pen())
    assert "the paper, s (printed)" not in panel("elminaam-wlan-fig7", -1).rows.columns


def test_the_finding_names_the_order_that_the_numbers_have() -> None:
    finding = SHOWN["elminaam-wlan-fig2"].finding
    order = re.findall(r"(AES|RC6|Blowfish|DES|3DES|RC2) [\d.]+", finding)
    assert order == ["AES", "RC6", "Blowfish", "DES", "RC2", "3DES"]
    assert "by software of the papers’ era, libtomcrypt, in ms" in finding
    assert "+40.0 %" in SHOWN["elminaam-perf-fig14"].finding
    assert "cost nothing that can be told within" in SHOWN["elminaam-perf-fig15"].finding


OF_FILMS = ("elminaam-wlan-fig10",)
OVER_SIZE = [one.id for one in PAPERS.exhibits if one.x == "file size"]


@pytest.mark.parametrize("name", OVER_SIZE)
def test_a_figure_over_the_size_of_the_file_has_a_line_of_several_sizes(name: str) -> None:
    lines = [one for one in SHOWN[name].panels if one.form == "lines" and one.x_title.startswith("file size")]
    assert lines
    for line in lines:
        for _, members in line.rows.group_by("name", "variant"):
            assert members["x"].n_unique() >= (2 if name in OF_FILMS else 3)


@pytest.mark.parametrize("name", OVER_SIZE)
def test_with_one_size_of_file_the_figure_says_that_the_line_lacks_and_what_measures_it(name: str) -> None:
    whole = papers_run.estimates()
    few = whole.filter(~pl.col("payload_B").is_in([*papers_run.FILES_B, *papers_run.ENCODED_B[:2]]))
    one = EXHIBITS[name](PAPERS.exhibits[IDS.index(name)], material(estimates=few))
    assert [what for what in one.missing if "over the size of the file" in what]
    assert one.command == "wattlock papers"
    assert all(of.form != "lines" for of in one.panels)


def test_where_the_sizes_end_before_the_papers_the_figure_says_which_length_goes_on() -> None:
    (note,) = SHOWN["elminaam-wlan-fig8"].notes
    assert "end at 5,073 KB, the paper's at 8,262 KB" in note
    assert "wattlock papers --length full" in note
    assert SHOWN["elminaam-wlan-fig10"].notes == ()


def test_the_quick_study_has_the_sizes_that_the_lines_need() -> None:
    sizes = {size for grid in load("papers/quick").grid for size in grid.payload_B or []}
    for kind in ("text", "audio", "image", "video"):
        span = PAPERS.conditions["data"][kind]
        within = [size for size in sizes if 1e3 * span["from_KB"] <= size <= 1e3 * span["to_KB"]]
        assert len(within) >= (2 if kind == "video" else 3)


def test_a_key_for_each_packet_turns_rc4_and_aes_where_the_costs_do() -> None:
    ready, each = SHOWN["prasithsangaree-fig2"].finding.split("With a key for each packet")
    assert "equal between" not in ready
    sizes = papers_run.SIZES_B
    dearer = [700 + size * 7 / 3 > size * 10 / 3 for size in sizes]
    turn = next(place for place, one in enumerate(dearer) if not one)
    assert f"equal between {sizes[turn - 1]:,} and {sizes[turn]:,} B" in each


def test_the_line_of_a_scatter_is_the_least_squares_line_of_its_points() -> None:
    paper = SHOWN["toldinas-fig5"].panels[-1].rows
    points, line = (paper.filter(pl.col("variant") == kind) for kind in ("pairs", "line"))
    assert points.height == 9
    x, y = points["x"].to_list(), points["value"].to_list()
    mean_x, mean_y = sum(x) / 9, sum(y) / 9
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / sum((a - mean_x) ** 2 for a in x)
    assert (line["value"][1] - line["value"][0]) / (line["x"][1] - line["x"][0]) == pytest.approx(slope)
    assert "the paper says 1.14 with R² 0.985, its table gives 1.14 with R² 0.985" in SHOWN["toldinas-fig5"].finding


def test_a_battery_that_was_not_emptied_is_not_said_to_be_empty() -> None:
    curves = papers_run.curves().with_columns(level_percent=60 + 0.4 * pl.col("level_percent"))
    finding = EXHIBITS["prasithsangaree-fig1"](
        PAPERS.exhibits[IDS.index("prasithsangaree-fig1")], material(curves=curves)
    ).finding
    assert "1,000 encryptions with 3DES took it from 100 to 60 %" in finding
    assert "empty" not in finding
    assert "until it is empty: 1,000 with 3DES" in SHOWN["prasithsangaree-fig1"].finding


def test_the_feature_models_sentence_names_the_weakest_the_strongest_and_the_most_expensive_choice() -> None:
    assert (
        "128, key 128, takes 50 % of the battery and the strongest, 256, key 256, 60 %"
        in SHOWN["toldinas-fig1"].finding
    )
    assert "the most expensive is 128, key 256 with 64 %" in SHOWN["toldinas-fig1"].finding


def test_a_capture_is_counted_in_bins_that_double() -> None:
    rows = panel("prasithsangaree-fig6").rows
    assert dict(rows.select("name", "value").iter_rows())["64 to 127 B"] == 500
    assert rows["value"].sum() == 600
    assert "83.3 % have 64 to 127 B" in SHOWN["prasithsangaree-fig6"].finding


def numbers_of(expected: object, key: str = "") -> list[float]:
    """The numbers of a claim; of what costs so many per cent more the ratio, as a chart has it."""
    if isinstance(expected, dict):
        return [one for name, part in expected.items() for one in numbers_of(part, f"{key} {name}")]
    if isinstance(expected, list):
        return [one for part in expected for one in numbers_of(part, key)]
    if not isinstance(expected, int | float):
        return []
    return [1 + expected / 100 if "percent" in key and expected > 0 else float(expected)]


def stands(number: float, one: DrawnExhibit) -> bool:
    """Whether a number of a paper is drawn as a mark, stands in a table's column or in the sentence."""
    marks = [of.marks for of in one.panels if of.marks is not None]
    drawn = [value for of in marks for column in ("x", "value") for value in of[column].drop_nulls()]
    cells = [cell for of in one.panels if of.form == "table" for row in of.rows.rows() for cell in row]
    drawn += [cell for cell in cells if isinstance(cell, int | float)]
    words = " ".join([one.finding, *(cell for cell in cells if isinstance(cell, str))]).replace(",", "")
    per_cent = 100 * (number - 1)
    return any(
        value == pytest.approx(wanted) for value in drawn for wanted in (number, per_cent, 100 + per_cent)
    ) or any(re.search(rf"(?<![\d.]){wanted:g}(?![\d.]*\d)", words) for wanted in (number, per_cent, 100 * number))


BESIDE_NO_FIGURE = {
    # Of the model, of speed and memory, of RSA, of one sentence on a handheld: no figure of the papers shows them.
    *("energy-sample", "throughput-energy", "rc4-cycles", "blowfish-cycles", "asymmetric-vs-symmetric"),
    *("blowfish-battery", "aes-key-size-unnoticeable"),
    # A count over three tables, and what bounds of ours say.
    "ciphertext-faster-than-plaintext",
}
AMOUNTS = {
    *("ratio", "throughput_ratio", "percent", "key192_percent", "medium_vs_low_percent", "encryptions", "bytes"),
    *("text", "mode_bin", "cells", "slope_log_log", "energy_uJ", "cycles_per_byte", "per_64_bits_percent"),
}
"""What a number of a paper is called in the claims' data."""


def test_every_claim_with_a_printed_number_stands_beside_a_figure_or_is_known_to_have_none() -> None:
    beside = {name for one in PAPERS.exhibits for name in one.numbers}
    printing = {claim.id for claim in PAPERS.claims if set(claim.expect) & AMOUNTS}
    assert printing - beside == BESIDE_NO_FIGURE
    assert not beside & BESIDE_NO_FIGURE


@pytest.mark.parametrize("name", [one.id for one in PAPERS.exhibits if one.numbers])
def test_an_exhibit_carries_the_numbers_that_its_paper_prints_with_their_provenance(name: str) -> None:
    one = SHOWN[name]
    data = {"elminaam-wlan-table1": "text", "elminaam-wlan-table2": "audio", "elminaam-wlan-table3": "video"}.get(name)
    for claim in map(PAPERS.claim, one.exhibit.numbers):
        expected = claim.expect
        if data:
            # A claim on sending has a number a kind of data; what was read off the tables is divided anew.
            expected = {key: part for key, part in expected.items() if key == data}
            expected |= {"percent": claim.expect["percent"][data]} if "percent" in claim.expect else {}
        for number in numbers_of(expected):
            assert stands(number, one), (claim.id, number)
        assert claim.source[0] == one.exhibit.id.rpartition("-")[0] or any(
            one.exhibit.id.startswith(source) for source in claim.source
        )
    for of in one.panels:
        if of.marks is not None:
            assert set(of.marks["evidence"]) <= PROVENANCES
            for mark in of.marks.iter_rows(named=True):
                assert mark["evidence"] in mark["variant"]
                assert mark["variant"] in figure(of, Pen())


@pytest.mark.parametrize("name", IDS)
def test_an_exhibit_of_which_no_number_is_kept_says_so(name: str) -> None:
    one = SHOWN[name]
    draws = any(set(of.evidence) & PROVENANCES or of.marks is not None for of in one.panels)
    tables = any("the paper" in head for of in one.panels if of.form == "table" for head in of.rows.columns)
    says = any("No number of this figure" in note for note in one.notes)
    assert says == (one.exhibit.kind == "chart" and not draws and not tables and not one.exhibit.numbers)


SERIES = {
    "cipher": {"AES", "DES", "3DES", "RC2", "Blowfish", "RC6"},
    "RC4 and AES, each with several key sizes": {"AES", "RC4"},
}


@pytest.mark.parametrize("name", [one.id for one in PAPERS.exhibits if one.series and one.id not in WITHOUT_RUN])
def test_an_exhibit_has_all_the_series_of_the_paper(name: str) -> None:
    one = SHOWN[name]
    wanted = SERIES[str(one.exhibit.series)]
    if name == "prasithsangaree-fig1":
        wanted = {"CAST-128", "IDEA", "3DES"}
    if name == "prasithsangaree-fig5":
        wanted = {"AES", "RC4"}
    whole = [of for of in one.panels if of.form in {"dots", "lines"} and " over " not in str(of.rows["name"][0])]
    for of in whole[:1] if name == "prasithsangaree-fig4" else whole:
        assert wanted <= set(of.rows["name"]), of.title
    if "several key sizes" in str(one.exhibit.series):
        for of in [of for of in one.panels if "packet" in of.title and "over AES" not in of.title]:
            aes = of.rows.filter(pl.col("name") == "AES", pl.col("variant").str.contains("bits"))
            assert aes["variant"].n_unique() == 3 or name == "prasithsangaree-fig5"


def scales_of(spec: object) -> list[dict[str, object]]:
    """Every channel of a chart that has a scale, wherever it stands."""
    if isinstance(spec, dict):
        own = [spec] if isinstance(spec.get("scale"), dict) else []
        return own + [one for part in spec.values() for one in scales_of(part)]
    return [one for part in spec for one in scales_of(part)] if isinstance(spec, list) else []


@pytest.mark.parametrize("name", IDS)
def test_a_logarithmic_axis_says_so_and_no_other_does(name: str) -> None:
    for one in SHOWN[name].panels:
        if one.form == "table":
            continue
        for channel in scales_of({key: part for key, part in chart(one).to_dict().items() if key != "datasets"}):
            scale = channel["scale"]
            assert isinstance(scale, dict)
            if "title" in channel and channel.get("type") == "quantitative":
                assert ("log scale" in str(channel["title"])) == (scale.get("type") == "log")


@pytest.mark.parametrize("name", IDS)
def test_panels_of_one_unit_share_their_scale_and_those_of_the_same_names_their_order(name: str) -> None:
    drawn = [one for one in SHOWN[name].panels if one.form in {"dots", "lines", "scatter"}]
    for one in drawn:
        for other in drawn:
            if (one.form, one.unit, one.x_title) == (other.form, other.unit, other.x_title):
                assert (one.ends, one.x_ends) == (other.ends, other.x_ends)
            if one.form == other.form == "dots":
                common = set(one.drawn["name"]) & set(other.drawn["name"])
                orders = [[name for name in of.order if name in common] for of in (one, other)]
                assert orders[0] == orders[1]
                assert len(orders[0]) == len(common)


@pytest.mark.parametrize("name", IDS)
def test_a_panel_rests_on_one_kind_of_evidence_and_its_chart_compiles_with_the_unit_on_an_axis(name: str) -> None:
    for one in SHOWN[name].panels:
        if one.form == "table":
            continue
        assert len(one.evidence) == 1
        drawn = chart(one)
        titled = one.unit if one.evidence == ["measured"] else f"{one.unit} ({one.evidence[0]})"
        assert str(drawn.description).startswith(titled)
        # An axis tells 100 as 100, not as 1e+2.
        picture = vl_convert.vegalite_to_svg(drawn.properties(width=300).to_dict())
        assert re.findall(r">[\d.]+e[+\u2212-]?\d+<", picture) == []


def test_numbers_of_two_kinds_of_evidence_are_not_drawn_as_one() -> None:
    rows = frame([{"name": "a", "variant": "b", "value": 1.0, "evidence": kind} for kind in ("measured", "assumed")])
    with pytest.raises(EvidenceMix):
        chart(Panel("mixed", "dots", rows, "time, ms"))


def test_the_bitmap_has_the_papers_size_and_is_small_as_a_picture() -> None:
    assert PAPERS.toldinas.payload_B == 54 + 3 * 512 * 512
    picture = bitmap(512)
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(picture) < 60_000


def test_an_export_has_four_files_a_panel_which_hold_what_is_drawn(tmp_path: Path) -> None:
    chosen = [SHOWN[name] for name in ("elminaam-wlan-fig6", "toldinas-table1", "toldinas-fig2", "toldinas-fig3")]
    assert write_exhibits(tmp_path, chosen) == 16
    for one in chosen:
        assert (tmp_path / f"{one.exhibit.id}.png").read_bytes()[:4] == b"\x89PNG"
        assert (tmp_path / f"{one.exhibit.id}.pdf").read_bytes()[:4] == b"%PDF"
        svg = (tmp_path / f"{one.exhibit.id}.svg").read_text()
        assert "var(--" not in svg
    written = pl.read_csv(tmp_path / "elminaam-wlan-fig6.csv")
    assert written["value"].to_list() == pytest.approx(panel("elminaam-wlan-fig6").rows["value"].to_list())


def test_an_exhibit_made_twice_is_the_same() -> None:
    def described(one: DrawnExhibit) -> object:
        return one.finding, [(of.title, of.rows.to_dicts()) for of in one.panels]

    assert [described(one) for one in show_all(material())] == [described(one) for one in SHOWN.values()]


def test_sums_in_another_order_make_the_same_panel() -> None:
    rows = [frame([{"name": "a", "value": math.fsum(parts)}]) for parts in ([0.1, 0.2, 0.3], [0.6000000000000001])]
    assert rows[0].equals(rows[1])


@pytest.mark.parametrize(("name", "words"), [("prasithsangaree-fig1", "600"), ("prasithsangaree-fig6", "64 to 127 B")])
def test_without_anything_of_ours_the_papers_number_stands_alone(name: str, words: str) -> None:
    empty = material(estimates=papers_run.estimates().clear(), curves=None, capture=None)
    (only,) = EXHIBITS[name](PAPERS.exhibits[IDS.index(name)], empty).panels
    assert words in figure(only, Pen()).replace("\u00a0", " ").replace("&nbsp;", " ")
    assert "the paper (" in figure(only, Pen()).lower()
