"""The report: what it says, what it refuses, and that it stands alone."""

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from html import escape
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from altair.utils.schemapi import SchemaValidationError
from hypothesis import given
from hypothesis import strategies as st

from support import report_frames
from wattlock.analysis.estimate import CanaryClock
from wattlock.energy.device_cards import Device
from wattlock.report import EvidenceMix, NothingToDraw, run_charts
from wattlock.report.charts import bounds_of, spread_labels
from wattlock.report.evidence import with_energy_columns
from wattlock.report.formats import cipher_name, estimate, interval, number, within
from wattlock.report.html import CATEGORY, DARK, EVIDENCE_SHAPES, LIGHT
from wattlock.report.run_answer import answer, side_by_side, usual_payload_B
from wattlock.report.run_charts import drawn, plates
from wattlock.report.run_page import SECTIONS, write_report
from wattlock.report.run_tables import cases_table, ranking_tables
from wattlock.run.result import Result

ESTIMATES = report_frames.estimates()
RANKING = report_frames.ranking(ESTIMATES)
RUN = report_frames.result(ESTIMATES)
CARD = report_frames.card()
MOST_B = 2_500_000
ENERGY = [name for name in ESTIMATES.columns if name.startswith("energy")]


def written(folder: Path, run: Result = RUN, card: Device | None = CARD) -> str:
    """The page as text."""
    path = folder / "report.html"
    write_report(path, run, run.estimates, card)
    return path.read_text(encoding="utf-8")


def without_scripts(html: str) -> str:
    return re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)


def visible(html: str) -> str:
    """The words of the page, tags and scripts taken off."""
    body = re.sub(r"<style.*?</style>", "", without_scripts(html), flags=re.DOTALL)
    return re.sub(r"<[^>]*>", " ", body).replace("\u00a0", " ")


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    return written(tmp_path_factory.mktemp("report"))


def test_the_page_names_no_other_host_outside_its_scripts_and_forbids_every_fetch(html: str) -> None:
    assert "http" not in without_scripts(html).replace("http-equiv", "")
    assert not re.search(r"<(script|img|iframe|object)[^>]*\ssrc=|<link[^>]*stylesheet|@import", without_scripts(html))
    assert "default-src 'none'" in html


def test_the_page_carries_its_charts_drawn_and_stays_below_three_quarters_of_a_megabyte(html: str) -> None:
    assert html.count('<svg class="chart"') == html.count("<figure ") - 1 > 10, "all but the answer's bars"
    assert "vega" not in html
    assert "unsafe-eval" not in html
    assert len(html.encode()) < 750_000


def test_the_ids_of_a_pages_charts_are_told_apart(html: str) -> None:
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))


def test_a_page_of_six_hundred_cases_of_two_libraries_is_no_heavier_than_a_page_may_be(tmp_path: Path) -> None:
    """As papers/quick, which has 510: 1.84 MB."""
    again = ESTIMATES.with_columns(provider=pl.lit("openssl"), case=pl.col("case") + ESTIMATES.height)
    both = pl.concat([ESTIMATES, again])
    page = written(tmp_path, report_frames.result(both))
    assert page.count('<tr data-state="') >= 600
    assert len(page.encode()) <= MOST_B


def test_the_page_has_every_section_in_the_order_a_reader_asks(html: str) -> None:
    titles = re.findall(r"<h2 [^>]*>(.*?)</h2>", html)
    absent = {"battery", "cores"}  # no battery was discharged, and all cores are alike
    assert titles == [title for name, title in SECTIONS.items() if name not in absent]
    for heading in ("The machine", "Inputs", "How to repeat it", "Energy", "Whole files", "CPU time", "Checks"):
        assert f"<h3>{heading}</h3>" in html


def test_no_heading_skips_a_level_and_no_id_stands_twice(html: str) -> None:
    levels = [int(level) for level in re.findall(r"<h([1-6])", without_scripts(html))]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    ids = re.findall(r'\sid="([^"]+)"', html)
    assert len(ids) == len(set(ids))


def test_the_answer_names_the_cheapest_and_the_dearest_with_the_ratio_and_the_kind_of_joules() -> None:
    formatted = " ".join(answer(ESTIMATES, RANKING))
    group = RANKING.filter(operation="encrypt", mode="cbc", payload_B=1500, data="random")
    most_expensive = group.sort("ratio_to_best").row(-1, named=True)
    assert "AES-128 is the cheapest of 13 ciphers" in formatted
    cycles = f"{number(most_expensive['cycles_per_byte'])} cycles per byte"
    assert re.search(
        rf"3DES is the most expensive at [\d.]+ µJ per byte \([\d.]+ to [\d.]+\) and {cycles}: ", formatted
    )
    assert f"{number(most_expensive['ratio_to_best'])} times the cycles (95 % interval " in formatted
    assert "These joules are assumed, not measured." in formatted


def test_ciphers_of_the_first_tie_group_are_named_together_as_not_told_apart() -> None:
    tied = RANKING.with_columns(tie_group=pl.when(pl.col("tie_group") == 2).then(1).otherwise("tie_group"))
    assert "AES-128 and AES-192 are the cheapest of 13 ciphers" in answer(ESTIMATES, tied)[0]
    assert "can’t be told apart" in answer(ESTIMATES, tied)[0]


def test_all_that_was_asked_stands_side_by_side_whatever_its_mode_cheapest_first() -> None:
    asked = ESTIMATES.filter(
        pl.col("payload_B") == usual_payload_B(ESTIMATES),
        pl.col("operation").is_in(["encrypt", "seal"]),
        pl.col("data") == "random",
        pl.col("state").is_in(["resolved", "unresolved"]),
    )
    rows = side_by_side(ESTIMATES)
    assert sorted(rows["time_ns"]) == rows["time_ns"].to_list() == sorted(asked["time_ns"])[: rows.height]
    assert rows.height > 20
    assert asked["mode"].n_unique() > 1
    assert rows["times_cheapest"].to_list() == pytest.approx((rows["time_ns"] / rows["time_ns"].min()).to_list())
    assert side_by_side(ESTIMATES.head(1)).is_empty()


def test_a_run_with_nothing_ranked_says_so() -> None:
    assert answer(ESTIMATES, RANKING.clear()) == ["No two ciphers of this run could be ranked."]


def test_joules_of_different_evidence_are_not_told_in_one_sentence() -> None:
    mixed = ESTIMATES.with_columns(
        energy_evidence=pl.when(pl.col("family") == "3des").then(pl.lit("modelled")).otherwise("energy_evidence")
    )
    formatted = " ".join(answer(mixed, RANKING))
    assert "µJ" not in formatted
    assert "joules" not in formatted
    assert "times as much (95 % interval " in formatted


def test_ciphers_that_share_a_tie_group_share_a_place_in_the_ranking(html: str) -> None:
    for cipher in ("rc6-20-128-cbc", "rc6-20-192-cbc", "rc6-20-256-cbc"):
        assert re.search(
            rf'<tr><th scope="row">{cipher} <span class="quiet">rustcrypto</span></th><td class="n">5=</td>', html
        )


def test_every_case_stands_in_the_table_with_its_state(html: str) -> None:
    states = re.findall(r'<tr data-state="(\w+)">', html)
    assert len(states) == ESTIMATES.height
    for state in ("resolved", "unresolved", "failed", "invalid"):
        assert states.count(state) == ESTIMATES.filter(state=state).height > 0


def test_unresolved_failed_and_invalid_cases_are_listed_with_their_reasons(html: str) -> None:
    listed = re.search(r"<summary>4 unresolved, 2 failed and 1 invalid</summary>(.*?)</details>", html)
    assert listed
    for reason in ESTIMATES["reason"].drop_nulls().unique():
        assert reason in listed[1]


@pytest.mark.parametrize("state", ["failed", "invalid"])
def test_a_case_that_failed_or_is_invalid_shows_no_number_and_is_not_drawn(html: str, state: str) -> None:
    for row in re.findall(rf'<tr data-state="{state}">(.*?)</tr>', html):
        cases = re.findall(r"<td[^>]*>(.*?)</td>", row)
        assert cases[4:12] == ["–"] * 8
    lost = ESTIMATES.filter(state=state).row(0, named=True)
    drawn = run_charts.over_payload(ESTIMATES, lost["mode"], "cycles_per_byte").data
    assert isinstance(drawn, pl.DataFrame)
    assert set(drawn["state"]) <= {"resolved", "unresolved"}


def test_an_unresolved_case_is_drawn_hollow_and_labelled() -> None:
    chart = run_charts.cost_by_cipher(ESTIMATES, "cbc", 16384)
    assert isinstance(chart.data, pl.DataFrame)
    unresolved = chart.data.filter(state="unresolved")
    assert unresolved.height == 1
    assert unresolved["text"].str.ends_with(" unresolved").all()
    points = next(layer for layer in chart.to_dict()["layer"] if layer["mark"]["type"] == "point")
    hollow = points["encoding"]["fillOpacity"]
    assert (hollow["condition"]["test"], hollow["condition"]["value"], hollow["value"]) == (
        "datum.state == 'resolved'",
        1,
        0,
    )


def test_a_figure_of_times_of_two_kinds_of_evidence_is_refused() -> None:
    emulated = pl.when(pl.col("family") == "aes").then(pl.lit("emulated")).otherwise("time_evidence")
    mixed = ESTIMATES.with_columns(time_evidence=emulated)
    draws: list[Callable[[], object]] = [
        lambda: run_charts.cost_by_cipher(mixed, "cbc", 1500),
        lambda: run_charts.over_payload(mixed, "cbc", "cpu_us"),
        lambda: run_charts.encrypt_against_decrypt(mixed, "cbc", 1500),
        lambda: run_charts.key_setup(mixed),
        lambda: run_charts.files(mixed, "cbc", "throughput_MB_s"),
    ]
    for draw in draws:
        with pytest.raises(EvidenceMix, match="time_evidence is emulated and measured"):
            draw()


def test_a_figure_of_joules_of_two_kinds_of_evidence_is_refused_and_one_of_their_times_is_not() -> None:
    modelled = pl.when(pl.col("family") == "aes").then(pl.lit("modelled")).otherwise("energy_evidence")
    mixed = ESTIMATES.with_columns(energy_evidence=modelled)
    with pytest.raises(EvidenceMix, match="energy_evidence is assumed and modelled"):
        run_charts.energy_by_cipher(mixed, "cbc", 1500)
    with pytest.raises(EvidenceMix):
        run_charts.files(mixed, "cbc", "energy_uJ_per_byte")
    run_charts.files(mixed, "cbc", "time_ms")


def test_the_page_gives_each_kind_of_evidence_a_figure_of_its_own() -> None:
    modelled = pl.when(pl.col("family") == "aes").then(pl.lit("modelled")).otherwise("energy_evidence")
    hung, _ = plates(ESTIMATES.with_columns(energy_evidence=modelled))
    titles = [plate.title for plate in hung if plate.heading == "Energy"]
    assert len(titles) == 4
    assert [title.rpartition("(")[2] for title in titles] == ["assumed)", "modelled)"] * 2


def test_the_energy_axis_says_what_its_joules_rest_on() -> None:
    spec = json.dumps(run_charts.energy_by_cipher(ESTIMATES, "cbc", 1500).to_dict(), ensure_ascii=False)
    assert "energy, µJ per byte (assumed)" in spec


def test_the_card_and_what_would_narrow_its_interval_stand_beside_the_joules(html: str) -> None:
    for words in (CARD.name, CARD.card.title, CARD.card.note, CARD.card.narrowed_by):
        assert words
        assert escape(words) in visible(html)


def test_a_run_without_joules_says_why_and_names_the_command(tmp_path: Path) -> None:
    shown = visible(written(tmp_path, replace(RUN, estimates=ESTIMATES.drop(ENERGY)), None))
    assert "no meter was read and no device card was named" in shown
    assert "wattlock run first-look --device CARD" in shown
    assert "µJ" not in shown


def test_a_card_that_could_value_nothing_is_named_as_the_reason(tmp_path: Path) -> None:
    shown = visible(written(tmp_path, replace(RUN, estimates=with_energy_columns(ESTIMATES.drop(ENERGY)))))
    assert "the card x86-server-assumed was named, but no case" in shown


def test_an_invalid_run_says_so_loudly_and_its_numbers_stand_unranked(tmp_path: Path) -> None:
    invalid = replace(RUN, verdicts=[report_frames.FAILED, report_frames.SLOWDOWN])
    html = written(tmp_path, invalid)
    assert re.search(r'role="alert">.*This run is invalid', html)
    assert invalid.reasons[0] in visible(html)
    assert "<figure" not in html
    assert "is the cheapest" not in html
    assert '<tr data-state="resolved"' not in html
    with_number = ESTIMATES.filter(pl.col("state").is_in(["resolved", "unresolved"]))
    assert html.count('<tr data-state="invalid run"') == with_number.height
    assert f'data-v="{with_number["time_ns"][0]:.6g}"' in html
    assert 'id="case-table" class="sortable"' not in html, "sorted they would be ranked"
    assert 'id="case-table" class="sortable"' in written(tmp_path, RUN)


def test_the_page_says_of_each_self_check_whether_it_passed_failed_or_is_not_resolved(tmp_path: Path) -> None:
    checks = [report_frames.PASSED, replace(report_frames.SLOWDOWN, state="not resolved")]
    shown = visible(written(tmp_path, replace(RUN, verdicts=checks)))
    assert "Self-checks: A/A test passed and injected slowdown not resolved." in shown
    assert "Self-checks passed." in visible(written(tmp_path, replace(RUN, verdicts=checks[:1])))


def test_a_core_whose_cycles_are_not_known_is_reported_by_its_times(tmp_path: Path) -> None:
    cycles = [name for name in ESTIMATES.columns if name.startswith("cycles")]
    blind = ESTIMATES.with_columns(pl.lit(None, pl.Float64).alias(name) for name in cycles)
    ranks = RANKING.with_columns(pl.lit(None, pl.Float64).alias(name) for name in RANKING.columns if "cycles" in name)
    shown = visible(
        written(tmp_path, replace(RUN, clocks={None: CanaryClock(256.3, None)}, estimates=blind, ranks=ranks))
    )
    assert "not known on this core, so there are no cycles" in shown
    assert re.search(r"AES-128 is the cheapest of 13 ciphers at [\d.]+ µJ per byte \([^)]*\)\. ", shown)
    assert re.search(r"3DES is the most expensive at [\d.]+ µJ per byte \([^)]*\): \d+ times the time ", shown)
    assert "Time of encrypting a file, CBC" in shown
    assert "not drawn: Encrypting 1,500 B packets, CBC" in shown


def test_every_chart_of_a_report_holds_to_the_schema_of_vega_lite() -> None:
    hung, _ = plates(ESTIMATES)
    assert hung
    for plate in hung:
        plate.chart.to_dict(validate=True)
    wrong = hung[0].chart.copy()
    wrong.layer[0].mark.opacity = "half"
    with pytest.raises(SchemaValidationError):
        wrong.to_dict(validate=True)


def test_files_of_the_users_own_are_drawn_by_label_with_their_sizes() -> None:
    sizes = {"text": 1_000, "image": 2_000, "audio": 3_000, "video": 4_000}
    own = ESTIMATES.filter(pl.col("data").is_in(list(sizes))).with_columns(
        payload_B=pl.col("data").replace_strict(sizes),
        data=pl.col("data").replace_strict({kind: f"input-{place}" for place, kind in enumerate(sizes, 1)}),
    )
    hung, lacking = plates(own)
    time = next(plate for plate in hung if plate.title == "Time of encrypting a file, CBC")
    assert "input-1: 1,000 B; input-2: 2,000 B" in time.note
    assert "Setting up a key" in lacking


@pytest.mark.parametrize(
    "draw",
    [
        lambda frame: run_charts.cost_by_cipher(frame, "cbc", 1500),
        lambda frame: run_charts.energy_by_cipher(frame, "cbc", 1500),
        lambda frame: run_charts.encrypt_against_decrypt(frame, "cbc", 1500),
        lambda frame: run_charts.over_payload(frame, "cbc", "cycles_per_byte"),
        lambda frame: run_charts.files(frame, "cbc", "time_ms"),
        run_charts.key_setup,
    ],
)
def test_a_figure_of_no_cases_is_refused(draw: Callable[[pl.DataFrame], object]) -> None:
    with pytest.raises(NothingToDraw):
        draw(ESTIMATES.clear())


def test_one_cipher_of_two_providers_gets_two_rows_with_their_names() -> None:
    other = ESTIMATES.with_columns(provider=pl.lit("openssl"))
    drawn = run_charts.cost_by_cipher(pl.concat([ESTIMATES, other]), "cbc", 1500).data
    assert isinstance(drawn, pl.DataFrame)
    assert {"AES-128 rustcrypto", "AES-128 openssl"} <= set(drawn["name"])


def test_text_from_a_run_cannot_become_markup(tmp_path: Path) -> None:
    evil = '</script><script>alert("x")</script><b title="'
    bad = ESTIMATES.with_columns(reason=pl.lit(evil), cipher=pl.col("cipher").replace("aes128-cbc", evil))
    run = replace(report_frames.result(bad, RANKING, title=evil), told=(evil,))
    html = written(tmp_path, replace(run, header=report_frames.header(model_name=evil)))
    assert "<script>alert" not in html
    assert "<b title" not in html


def test_the_same_run_gives_the_same_page(html: str, tmp_path: Path) -> None:
    assert written(tmp_path) == html


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (2.371, 3, "2.37"),
        (95_912.4, 3, "95,900"),
        (0.006_08, 2, "0.0061"),
        (9.996, 3, "10.0"),
        (0.0, 3, "0"),
        (None, 3, "–"),
    ],
)
def test_a_number_has_its_significant_digits_and_no_exponent(value: float | None, digits: int, shown: str) -> None:
    assert number(value, digits) == shown


def test_a_wide_interval_takes_a_digit_from_its_value_and_its_ends_differ() -> None:
    assert (estimate(0.7693, 0.38, 1.54), interval(0.7693, 0.38, 1.54)) == ("0.77", "0.38 to 1.5")
    assert interval(300.0, 299.96, 300.04) == "299.96 to 300.04"
    assert within(1.000_23, 0.9991, 1.0013) == "1.0002"


@pytest.mark.parametrize(
    ("cipher", "mode", "name"),
    [
        ("aes128-cbc", "cbc", "AES-128"),
        ("3des2-ctr", "ctr", "3DES two-key"),
        ("rc5-32-12-128-cbc", "cbc", "RC5-32-12-128"),
        ("rc4-40", "stream", "RC4-40"),
        ("sm4-cbc", "cbc", "SM4"),
    ],
)
def test_a_cipher_is_named_without_its_mode(cipher: str, mode: str, name: str) -> None:
    assert cipher_name(cipher, mode) == name


@given(st.lists(st.floats(1, 1000), min_size=1, max_size=12))
def test_labels_of_lines_never_cover_one_another_and_keep_their_order(values: list[float]) -> None:
    places = spread_labels(values, (1.0, 1000.0), 400, 17)
    ordered = sorted(zip(values, places, strict=True), key=lambda pair: pair[1])
    assert all(after[1] - before[1] > 16.99 for before, after in pairwise(ordered))
    assert [value for value, _ in ordered] == sorted(values, reverse=True)


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb (WCAG 2.2, definition)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("side", [LIGHT, DARK])
def test_text_and_marks_stand_out_as_wcag_aa_asks(side: dict[str, str]) -> None:
    for role in ("ink", "muted", "link", "loud"):
        assert contrast(side[role], side["paper"]) >= 4.5, role
    for role in EVIDENCE_SHAPES:
        assert contrast(side[role], side["paper"]) >= 4.5, role
    for role in ("ink", "muted"):
        assert contrast(side[role], side["panel"]) >= 4.5, role
    for role in CATEGORY:
        assert contrast(side[role], side["paper"]) >= 3.0, role


def test_an_aead_is_answered_by_its_sealing_and_its_associated_data_is_a_column() -> None:
    frame = report_frames.estimates().filter(pl.col("operation") == "encrypt", pl.col("mode") == "cbc")
    sealed = frame.with_columns(operation=pl.lit("seal"), mode=pl.lit("aead"))
    both = pl.concat(
        [sealed, sealed.with_columns(aad_B=pl.lit(13, pl.Int64), case=pl.col("case") + 1000)], how="vertical_relaxed"
    )
    sentences = answer(both, report_frames.ranking(both))
    assert sentences[0].startswith("For sealing a packet of 1,500 B with authentication, ")
    assert "Associated data, B" in cases_table(both)
    assert "Associated data, B" not in cases_table(frame)


def test_a_key_for_each_packet_is_ranked_and_answered_apart_from_a_key_that_is_ready() -> None:
    ready = report_frames.estimates()
    each = ready.with_columns(keying=pl.lit("each"), case=pl.col("case") + 1000, time_ns=pl.col("time_ns") / 2)
    both = pl.concat([ready, each])
    assert answer(both, report_frames.ranking(both)) == answer(ready, report_frames.ranking(ready))
    (formatted, *_) = answer(each, report_frames.ranking(each))
    assert "in CBC mode, keying each, AES-128 is the cheapest of 13 ciphers" in formatted
    shown = ranking_tables(report_frames.ranking(both), (), None)
    assert "<summary>CBC, 1,500 B</summary>" in shown
    assert "<summary>CBC, 1,500 B, keying each</summary>" in shown


def test_one_cipher_by_several_codes_is_told_as_implementations_and_steps_back_behind_several_ciphers() -> None:
    frame = report_frames.estimates().filter(pl.col("mode") == "cbc", pl.col("operation") == "encrypt")
    files = frame.filter(pl.col("data") != "random")
    alone = frame.filter(pl.col("cipher") == "aes128-cbc", pl.col("payload_B") == 1500)
    other = alone.with_columns(provider=pl.lit("mine"), case=pl.col("case") + 1000, cycles=pl.col("cycles") * 2)
    (formatted, *_) = answer(both := pl.concat([alone, other]), report_frames.ranking(both))
    assert "of 2 implementations" in formatted
    (formatted, *_) = answer(mixed := pl.concat([files, both]), report_frames.ranking(mixed))
    assert " file of " in formatted


def test_a_group_of_one_is_told_as_what_it_costs_and_not_as_a_ranking() -> None:
    frame = report_frames.estimates().filter(pl.col("cipher") == "des-cbc", pl.col("payload_B") == 1500)
    (first, *_) = answer(frame, report_frames.ranking(frame))
    assert "DES was measured alone at " in first
    assert "cheapest" not in first


@pytest.mark.parametrize(
    ("cipher", "mode", "name"),
    [
        ("aes128-gcm", "aead", "AES-128-GCM"),
        ("aes256-ccm8", "aead", "AES-256-CCM8"),
        ("chacha20-poly1305", "aead", "ChaCha20-Poly1305"),
        ("sm4-ctr", "ctr", "SM4"),
        ("ml-kem-768", "establish", "ML-KEM-768"),
        ("rijndael256-192-cbc", "cbc", "Rijndael-256-192"),
    ],
)
def test_a_cipher_has_the_name_that_its_field_gives_it(cipher: str, mode: str, name: str) -> None:
    assert cipher_name(cipher, mode) == name


def test_a_case_of_one_process_is_drawn_without_the_interval_that_has_no_end(tmp_path: Path) -> None:
    endless = {"time": ("time_low_ns", "time_high_ns"), "cycles": ("cycles_low", "cycles_high")}
    ends = {name: pl.lit(end) for low, high in endless.values() for name, end in ((low, 0.0), (high, math.inf))}
    frame = report_frames.estimates().filter(pl.col("payload_B") == 1500)
    alone = frame.with_columns(**ends, processes=pl.lit(1, frame.schema["processes"]), state=pl.lit("unresolved"))
    shown = drawn(alone.with_columns(name="cipher"), "cycles_per_byte")
    assert shown["low"].null_count() == shown["high"].null_count() == shown.height > 0
    write_report(tmp_path / "page.html", report_frames.result(alone, RANKING.clear()), alone)


def test_an_axis_has_finite_ends_whatever_an_interval_has() -> None:
    rows = pl.DataFrame({"value": [2.0, 3.0], "low": [0.0, 2.5], "high": [math.inf, 3.5]})
    assert bounds_of(rows) == pytest.approx((2.0 / 1.25, 3.5 * 1.25))


def test_the_longest_time_is_the_least_throughput_and_the_shortest_the_greatest() -> None:
    row = {
        "name": "a",
        "family": "a",
        "key_bits": 128,
        "operation": "encrypt",
        "payload_B": 1000,
        "data": "random",
        "state": "resolved",
        "time_ns": 100.0,
        "time_low_ns": 80.0,
        "time_high_ns": 125.0,
        "time_evidence": "measured",
    }
    (speed,) = drawn(pl.DataFrame([row]), "throughput_MB_s").select("value", "low", "high").rows()
    assert speed == (10_000.0, 8_000.0, 12_500.0)


def test_a_run_by_a_way_names_device_core_class_and_way_before_its_figures(tmp_path: Path) -> None:
    far = replace(RUN, header=report_frames.header(model_name="Cortex-A72", core_class="big"))
    page = written(tmp_path, replace(far, plan={**far.plan, "way": "ssh"}))
    assert "Cortex-A72, big, reached by ssh" in page.partition("How it was measured</h2>")[0]
    assert "reached by" not in written(tmp_path, far).partition("How it was measured</h2>")[0]
