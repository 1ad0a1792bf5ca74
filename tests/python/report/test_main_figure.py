"""The answer's figure, and the chips that say what each number rests on."""

import math
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from support import report_frames
from wattlock.energy.device_cards import Device
from wattlock.report.charts import Pen
from wattlock.report.formats import estimate, number
from wattlock.report.html import DARK, EVIDENCE_SHAPES, LIGHT, chip, chips, stylesheet
from wattlock.report.main_figure import MOST, MOST_ON_A_PHONE, Scale, chosen, drawn_figure, main_figure
from wattlock.report.run_answer import answer
from wattlock.report.run_page import write_report
from wattlock.report.run_tables import cases_table, discharge_section

ESTIMATES = report_frames.estimates()
RANKING = report_frames.ranking(ESTIMATES)
RUN = report_frames.result(ESTIMATES)
CARD = report_frames.card()
ENERGY = [name for name in ESTIMATES.columns if name.startswith("energy")]


def written(folder: Path, estimates: pl.DataFrame = ESTIMATES, card: Device | None = CARD) -> str:
    """The page as text."""
    path = folder / "report.html"
    write_report(path, replace(RUN, estimates=estimates), estimates, card)
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("report"))


def test_each_kind_of_evidence_has_a_word_a_shape_and_a_colour_of_its_own() -> None:
    assert set(EVIDENCE_SHAPES) == {"measured", "emulated", "modelled", "assumed", "published"}
    assert len(set(EVIDENCE_SHAPES.values())) == len(EVIDENCE_SHAPES)
    for side in (LIGHT, DARK):
        assert len({side[kind] for kind in EVIDENCE_SHAPES}) == len(EVIDENCE_SHAPES)
    for kind, shape in EVIDENCE_SHAPES.items():
        assert re.sub(r"<[^>]*>", "", chip(kind)) == kind
        assert f'[data-evidence={kind}]::before{{content:"{shape}' in stylesheet()


def test_chips_name_each_kind_once_best_evidence_first_and_none_for_no_number() -> None:
    assert re.findall(r">([a-z]+)<", chips(["assumed", None, "measured", "assumed"])) == ["measured", "assumed"]
    assert not chip(None)


def test_every_figure_carries_the_chip_of_its_evidence(html: str) -> None:
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", html)
    assert len(captions) >= 10
    for caption in captions:
        (kind,) = re.findall(r'class="chip" data-evidence="(\w+)"', caption)
        assert kind == ("assumed" if "Energy" in caption else "measured")


def bars_of(html: str) -> tuple[list[str], str]:
    """The main figure's wide picture as its label reads it, bar by bar, and its caption."""
    figure = re.search(r'<figure data-name="answer" class="main-figure">(.*?)</figure>', html)
    assert figure
    label = re.search(r'aria-label="([^"]*)"', figure[1])
    assert label
    return label[1].split("; "), re.sub(r"<[^>]*>", " ", figure[1]).replace("\u00a0", " ")


def test_the_main_figure_draws_joules_cheapest_first_with_their_intervals_and_the_chip(html: str) -> None:
    marks, caption = bars_of(html)
    asked = (pl.col("operation") == "encrypt", pl.col("payload_B") == 1500, pl.col("data") == "random")
    group = ESTIMATES.filter(*asked, keying="ready", state="resolved").sort("energy_uJ_per_byte")
    assert group["mode"].n_unique() > 1
    cheapest = group["energy_uJ_per_byte"][0]
    expected = []
    for limits in group.select("energy_uJ_per_byte", "energy_low_uJ_per_byte", "energy_high_uJ_per_byte").rows():
        times = f" {limits[0] / cheapest:.3g}×" if limits[0] > cheapest else ""
        expected.append(f"{estimate(*limits)}{times}")
    shown = [re.sub(r"^.*? (?=[\d.]+( |$))", "", mark) for mark in marks]
    assert shown == [*expected[: MOST - 1], expected[-1]]
    assert "Energy of encrypting a packet of 1,500 B assumed" in " ".join(caption.split())
    assert "The device card may be wrong by a factor of 2," in " ".join(caption.split())


def test_without_joules_the_main_figure_draws_cpu_time(tmp_path: Path) -> None:
    bars, caption = bars_of(written(tmp_path, ESTIMATES.drop(ENERGY), None))
    assert bars[0].startswith("µs a call, at the median clock. AES-128-CTR ")
    assert "CPU time of encrypting" in caption
    assert "measured" in caption
    assert "assumed" not in caption


def test_joules_of_two_kinds_are_not_drawn_as_the_main_figure(tmp_path: Path) -> None:
    mixed = ESTIMATES.with_columns(
        energy_evidence=pl.when(pl.col("family") == "3des").then(pl.lit("modelled")).otherwise("energy_evidence")
    )
    _, caption = bars_of(written(tmp_path, estimates=mixed))
    assert "CPU time of encrypting" in caption


def test_of_more_ciphers_than_fit_the_cheapest_and_the_most_expensive_are_drawn_and_the_caption_counts_them() -> None:
    frame = ESTIMATES.filter(pl.col("operation") == "encrypt", pl.col("payload_B") == 1500, pl.col("mode") == "cbc")
    both = pl.concat(
        frame.with_columns(
            cipher="x" * turn + pl.col("cipher"),
            case=pl.col("case") + 1000 * turn,
            cycles=pl.col("cycles") * 1.5**turn,
            energy_uJ_per_byte=pl.col("energy_uJ_per_byte") * 1.5**turn,
        )
        for turn in range(4)
    )
    figure = main_figure(both, report_frames.ranking(both))
    assert figure
    total = len(figure.rows)
    assert total > MOST
    shown = chosen(figure.rows, MOST)
    assert (len(shown), shown[-2], shown[-1]) == (MOST + 1, None, figure.rows[-1])
    assert f"Shown are {MOST} of {total}" in drawn_figure(figure)
    assert f"Shown are {MOST_ON_A_PHONE} of {total}" in drawn_figure(figure)


def test_implementations_of_many_ciphers_are_drawn_by_the_cheapest_of_each() -> None:
    frame = ESTIMATES.filter(pl.col("operation") == "encrypt", pl.col("payload_B") == 1500, pl.col("mode") == "cbc")
    slower = (
        frame.with_columns(
            provider=pl.lit(f"mine{times}"),
            case=pl.col("case") + 1000 * times,
            energy_uJ_per_byte=pl.col("energy_uJ_per_byte") * times,
        )
        for times in (2, 3)
    )
    figure = main_figure(both := pl.concat([frame, *slower]), report_frames.ranking(both))
    assert figure
    assert len(figure.rows) == 13
    assert {mark.beside for mark in figure.rows} == {""}
    assert figure.of.endswith(" Each of 13 ciphers by the cheapest of its implementations.")


def test_where_another_cipher_than_the_quickest_takes_the_least_energy_the_answer_begins_with_it() -> None:
    is_des = (pl.col("cipher") == "des-cbc") & (pl.col("payload_B") == 1500)
    thrifty = ESTIMATES.with_columns(
        pl.when(is_des).then(pl.col(name) / 1000).otherwise(name).alias(name) for name in ENERGY if "uJ" in name
    )
    first, second, *_ = answer(thrifty, RANKING)
    assert first.startswith(
        "For encrypting a packet of 1,500 B in CBC mode, DES takes the least energy of 13 ciphers: "
    )
    assert second.startswith("In time AES-128 is the cheapest of 13 ciphers at 2.")


def test_joules_stand_before_cycles_and_times_in_tables_and_figures(html: str) -> None:
    heads = [
        re.findall(r"<th scope=\"col\"[^>]*>(.*?)</th>", table) for table in re.findall(r"<thead>(.*?)</thead>", html)
    ]
    both = [head for head in heads if "µJ per byte" in head and "Cycles per byte" in head]
    assert len(both) > 20, "every ranking, and every case"
    for head in both:
        costs = [name for name in head if re.search("µJ|Cycles|[Tt]ime|MB/s", name)]
        assert costs[0].startswith("µJ"), head
    headings = re.findall(
        r"<h3>(.*?)</h3>", html[html.index('<section id="figures"') : html.index('<section id="ranking"')]
    )
    assert headings[0] == "Energy"
    assert {"What a byte costs", "CPU time"} < set(headings)


def test_what_numbers_rest_on_stands_at_rankings_and_cases_and_in_a_row_of_its_own_where_it_differs() -> None:
    emulated = pl.when(pl.col("family") == "aes").then(pl.lit("emulated")).otherwise("time_evidence")
    table = cases_table(ESTIMATES.with_columns(time_evidence=emulated))
    row = re.search(r'<tr [^>]*><th scope="row">aes192-ctr</th>.*?</tr>', table)
    assert row
    assert 'data-evidence="emulated">emulated</span>' in row[0]
    assert "Times are" not in cases_table(ESTIMATES), "said once, above the table"


def test_rankings_and_cases_carry_the_chips_of_their_numbers(html: str) -> None:
    chips_of = r'<p class="rests"><span>Joules <span class="chip" data-evidence="assumed">assumed</span></span>'
    ranking = html[html.index('<section id="ranking"') : html.index('<section id="cases"')]
    assert len(re.findall(f"</h3>{chips_of}", ranking)) == ranking.count("<h3>") - ranking.count("<h3>Key set-up</h3>")
    cases = html[html.index('<section id="cases"') : html.index('<section id="method"')]
    assert re.search(chips_of, cases)


def test_a_mark_that_is_not_resolved_is_hollow_and_the_caption_says_so() -> None:
    figure = main_figure(ESTIMATES, RANKING)
    assert figure
    assert all(mark.is_solid for mark in figure.rows)
    assert "hollow" not in drawn_figure(figure)
    first = pl.col("case") == RANKING.filter(operation="encrypt", mode="cbc", payload_B=1500)["case"][0]
    doubtful = ESTIMATES.with_columns(state=pl.when(first).then(pl.lit("unresolved")).otherwise("state"))
    figure = main_figure(doubtful, RANKING)
    assert figure
    assert [mark.is_solid for mark in figure.rows].count(False) == 1
    assert "A hollow mark is not resolved." in drawn_figure(figure)
    assert drawn_figure(figure).count('fill-opacity="0.15"') == 2, "in the wide picture and in the narrow one"


def test_the_levels_of_a_battery_and_its_joules_carry_their_chip() -> None:
    section = discharge_section(report_frames.discharged(RUN), Pen())
    caption = section[section.index("<figcaption>") : section.index("</figcaption>")]
    assert chip("measured") in caption
    assert f"Joules {chip('measured')}" in section[: section.index("<figcaption>")]


@pytest.mark.parametrize(("least", "most"), [(0.8, 40.0), (0.001, 0.75), (1.0, 1.3), (3.0, 3.05), (1e-6, 1e6)])
@pytest.mark.parametrize("span_px", [120.0, 300.0, 700.0])
def test_ticks_lie_on_the_axis_in_their_order_and_have_room(least: float, most: float, span_px: float) -> None:
    scale = Scale(least, most, 100.0, span_px)
    ticks = scale.ticks()
    assert ticks == sorted(set(ticks))
    assert all(least <= tick <= most for tick in ticks)
    assert len(ticks) <= max(2, span_px / 74)
    assert scale.x(least) == 100.0
    assert scale.x(most) == pytest.approx(100.0 + span_px)
    assert scale.x(math.sqrt(least * most)) == pytest.approx(100.0 + span_px / 2)
    if most / least > 10:
        assert len(ticks) >= 1


def test_what_was_asked_in_another_mode_is_drawn_and_said() -> None:
    alone = ESTIMATES.filter(operation="encrypt", payload_B=1500, data="random", keying="ready")
    few = alone.filter((pl.col("mode") == "cbc") | (pl.col("cipher") == "rc4-128"))
    figure = main_figure(few, report_frames.ranking(few))
    assert figure
    assert {"RC4-128", "AES-128-CBC"} < {mark.name for mark in figure.rows}
    times = few.filter(cipher="rc4-128")["time_ns"][0] / few.filter(mode="cbc")["time_ns"].min()
    assert f"Beside them RC4-128 takes {number(times)} times as long as " in " ".join(
        answer(few, report_frames.ranking(few))
    )
    assert "Beside" not in " ".join(answer(alone.filter(mode="cbc"), report_frames.ranking(alone.filter(mode="cbc"))))
