"""Kinds of core as a factor: each case on each kind, by the canary and the self-checks of that kind alone."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support import scripted_probe
from support.scripted_probe import install, requested
from support.virtual_runs import study_of, write_study
from wattlock.analysis.comparison import compare_core_classes
from wattlock.cli.table import short
from wattlock.energy.valuing import without_card
from wattlock.errors import InputError, ProbeError, StudyError
from wattlock.report.evidence import drawable
from wattlock.report.run_page import write_report
from wattlock.run import begin
from wattlock.run.begin import Request, Silent
from wattlock.run.result import Result, open_one_kind, open_run, read
from wattlock.run.run_comparison import compare
from wattlock.targets.local import Local

BIG, LITTLE = "big", "little"
HYBRID = [
    {"class": BIG, "part": None, "capacity": None, "processors": [0, 1]},
    {"class": LITTLE, "part": None, "capacity": None, "processors": [2, 3]},
]
SLOWER = {LITTLE: {"ticks": 1.5, "canaries": 2.0, "canary_cycles": 30_000}}
"""Three times slower: its canary takes one and a half times as long, and a call twice as many of them."""

CANARIES = {str(case): 0.01 * (1 + case // 2) for case in range(8)}
"""A call's, by case: those of one cipher on either kind follow each other."""


def begun(tmp_path: Path, *core_classes: str, grid: dict[str, Any] | None = None, **script: Any) -> begin.Begun:
    usable = {"processors": [0, 1, 2, 3], "core_classes": HYBRID, "kinds": SLOWER, "canaries": CANARIES}
    probe = install(tmp_path / "probe", **(usable | script))
    write_study(tmp_path / "virtual.toml", study_of(**(grid or {})))
    request = Request(str(tmp_path / "virtual.toml"), core_classes=core_classes)
    return begin.plan(request, Local(probe)).create(tmp_path / "run")


def measured(tmp_path: Path, *core_classes: str, **more: Any) -> Result:
    run = begun(tmp_path, *core_classes, **more)
    run.measure(Silent())
    return read(run.folder)


@pytest.fixture(scope="module")
def hybrid(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """A run of both kinds, and the folder that it and its probe are in."""
    place = tmp_path_factory.mktemp("hybrid")
    return place, measured(place, BIG, LITTLE)


def processors(tmp_path: Path) -> list[int]:
    return [plan[0]["cpu"] for plan in requested(tmp_path / "probe" / "wattlock-probe") if plan[0]["rounds"]]


def test_where_little_cores_are_three_times_slower_the_ratio_is_three(hybrid: tuple[Path, Result]) -> None:
    _, result = hybrid
    assert result.core_classes == [BIG, LITTLE]
    assert result.reasons == []
    compared = compare_core_classes(result.estimates, result.across)
    assert compared.height == 4
    assert set(compared["core_class_a"]) == {BIG}
    for row in compared.iter_rows(named=True):
        assert row["ratio"] == pytest.approx(3.0, rel=0.003)
        assert row["ratio_low"] < row["ratio"] < row["ratio_high"]
        assert row["verdict"] == "slower"


def test_each_kind_of_core_has_the_time_and_the_cycles_of_its_own_canary(hybrid: tuple[Path, Result]) -> None:
    _, result = hybrid
    big, little = (result.clocks[name] for name in (BIG, LITTLE))
    assert little.canary_ns == pytest.approx(1.5 * big.canary_ns)
    assert (big.cycles, little.cycles) == (scripted_probe.CANARY_CYCLES, 30_000)
    rows = {(row["cipher"], row["core_class"]): row for row in result.estimates.iter_rows(named=True)}
    of = "aes128-cbc"
    expected = 2.0 * 30_000 / scripted_probe.CANARY_CYCLES
    assert rows[of, LITTLE]["cycles"] / rows[of, BIG]["cycles"] == pytest.approx(expected, rel=0.003)


def test_the_self_checks_are_judged_and_the_ciphers_ranked_by_kind_of_core(hybrid: tuple[Path, Result]) -> None:
    _, result = hybrid
    named = [(verdict.name, verdict.core_class) for verdict in result.verdicts]
    assert named == [(name, kind) for kind in (BIG, LITTLE) for name in ("A/A test", "injected slowdown")]
    for _, group in result.ranking.group_by("core_class"):
        assert group["ratio_to_best"][0] == 1.0
        assert group.height == 4
    assert set(result.ranking["core_class"]) == {BIG, LITTLE}


def test_the_report_compares_the_kinds_and_draws_the_first(hybrid: tuple[Path, Result], tmp_path: Path) -> None:
    _, result = hybrid
    write_report(tmp_path / "report.html", result, without_card(result.estimates))
    page = (tmp_path / "report.html").read_text()
    section = page[page.index('<section id="cores"') : page.index('<section id="ranking"')]
    assert "At the median of 4 cases the little cores take 3.00 times the time of the big ones" in section
    assert section.count("▶ slower") == 4
    assert "Drawn are the big cores" in page
    drawn = drawable(result.estimates)
    assert set(drawn["core_class"]) == {BIG}
    assert "A/A test on little cores" in page


def test_joules_of_the_kinds_are_compared_and_go_with_their_kind(hybrid: tuple[Path, Result]) -> None:
    _, result = hybrid
    little = set(result.estimates.filter(core_class=LITTLE)["case"])
    joules = [5.0 * (0.6 if case in little else 1.0) for case in result.estimates["case"]]
    energies = pl.DataFrame({"case": result.estimates["case"], "energy_uJ": joules}).with_columns(
        energy_low_uJ=0.99 * pl.col("energy_uJ"), energy_high_uJ=1.01 * pl.col("energy_uJ"), energy_random_percent=1.0
    )
    metered = replace(result, energies=energies)
    ratios = metered.core_class_ratios
    assert ratios is not None
    assert ratios["energy_ratio"].to_list() == pytest.approx([0.6] * 4)
    assert ((ratios["energy_ratio_low"] < 0.6) & (ratios["energy_ratio_high"] > 0.6)).all()
    own = metered.on(LITTLE).energies
    assert own is not None
    assert set(own["case"]) == little


def test_a_table_for_eyes_names_the_kinds_where_there_are_several(hybrid: tuple[Path, Result]) -> None:
    _, result = hybrid
    columns = ["cipher", "payload_B", "time_ns"]
    assert short(columns, result.estimates) == ["cipher", "payload_B", "core_class", "time_ns"]
    assert short(columns, result.estimates.filter(core_class=BIG)) == columns


def test_two_runs_are_compared_kind_by_kind_where_one_has_several(hybrid: tuple[Path, Result]) -> None:
    _, result = hybrid
    same = compare(result, [result]).table
    assert same.height == 8
    assert (same["core_class_a"] == same["core_class_b"]).all()


def test_one_kind_of_a_run_is_named_behind_it(hybrid: tuple[Path, Result]) -> None:
    place, whole = hybrid
    little = open_run(f"{place / 'run'}:little")
    assert little.core_classes == [LITTLE]
    assert little.clock == whole.clocks[LITTLE]
    assert little.estimates.equals(whole.estimates.filter(core_class=LITTLE))
    assert {verdict.core_class for verdict in little.verdicts} == {LITTLE}
    assert little.core_class_ratios is None
    with pytest.raises(InputError, match="was not measured on middle cores"):
        open_run(f"{place / 'run'}:middle")


def test_two_kinds_of_one_run_are_compared_by_time(hybrid: tuple[Path, Result]) -> None:
    _, whole = hybrid
    table = compare(whole.on(BIG), [whole.on(LITTLE)]).table
    assert set(table["quantity"]) == {"time"}
    assert table["ratio"].to_list() == pytest.approx([3.0] * 4, rel=0.003)


def test_who_needs_one_cost_a_cipher_is_told_to_name_a_kind(hybrid: tuple[Path, Result]) -> None:
    place, _ = hybrid
    run = str(place / "run")
    with pytest.raises(InputError, match="was measured on big and little cores") as caught:
        open_one_kind(run)
    assert caught.value.hint == f"name one kind: {run}:big"
    assert open_one_kind(f"{run}:big").core_classes == [BIG]


def test_a_process_is_of_one_kind_of_core_with_the_self_checks_of_that_kind(hybrid: tuple[Path, Result]) -> None:
    place, _ = hybrid
    for plan in requested(place / "probe" / "wattlock-probe"):
        cases = [line for line in plan if line["kind"] == "case"]
        (kind,) = {case["core_class"] for case in cases}
        assert plan[0]["cpu"] in {BIG: (0, 1), LITTLE: (2, 3)}[kind]
        assert [case["role"] for case in cases][:4] == ["reference", "aa_test", "injected_slowdown", "empty"]


def test_a_move_away_from_a_neighbour_stays_within_the_kind_and_the_run_ends(tmp_path: Path) -> None:
    result = measured(tmp_path, BIG, LITTLE, loud=[1, 3])
    assert result.is_sealed
    assert set(result.estimates["state"]) == {"resolved"}
    assert processors(tmp_path)[:4] == [1, 3, 0, 2]
    assert {1, 3}.isdisjoint(processors(tmp_path)[4:])


def test_a_hybrid_machine_is_measured_on_its_big_cores_where_no_kind_is_named(tmp_path: Path) -> None:
    result = measured(tmp_path, loud=[1])
    assert set(processors(tmp_path)) == {0, 1}
    assert result.core_classes == [BIG]
    assert set(result.estimates["core_class"]) == {BIG}


def test_the_quiet_level_of_one_kind_says_nothing_of_the_other(tmp_path: Path) -> None:
    quieter = {str(process): 300_000 for process in range(0, 100, 2)}
    result = measured(tmp_path, BIG, LITTLE, bursts=quieter)
    assert result.clean_share == 1.0
    plans = requested(tmp_path / "probe" / "wattlock-probe")
    assert {plan[0]["quiet_ppm"] for plan in plans if plan[0]["cpu"] in (2, 3)} == {None, scripted_probe.QUIET_PPM}


def test_a_study_names_the_kinds_of_core_in_its_grid_and_the_request_others(tmp_path: Path) -> None:
    grid = {"core_class": [LITTLE, BIG]}
    assert measured(tmp_path / "grid", grid=grid).core_classes == [LITTLE, BIG]
    assert measured(tmp_path / "request", LITTLE, grid=grid).core_classes == [LITTLE]


def test_a_kind_of_core_that_the_device_lacks_is_named_before_anything_is_measured(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="--core-class middle: the device has no middle cores") as caught:
        begun(tmp_path / "request", "middle")
    assert caught.value.hint == "it has big, little"
    with pytest.raises(StudyError, match=r"grid\[0\].core_class\[1\]: the device has no little cores") as caught:
        begun(tmp_path / "grid", grid={"core_class": [BIG, LITTLE]}, core_classes=HYBRID[:1])
    assert caught.value.hint == "it has big; `--core-class` measures on others"


def test_a_probe_that_ran_on_another_kind_of_core_is_refused_by_name(tmp_path: Path) -> None:
    run = begun(tmp_path, LITTLE, claims=BIG)
    with pytest.raises(ProbeError, match="measured case 4 with core_class 'big' in process 0"):
        run.measure(Silent())


def test_a_run_on_two_kinds_of_core_goes_on_where_it_was_cut_off(tmp_path: Path) -> None:
    run = begun(tmp_path, BIG, LITTLE, dies={"3": 9})
    with pytest.raises(ProbeError):
        run.measure(Silent())
    run.folder.close()
    script = {"core_classes": HYBRID, "processors": [0, 1, 2, 3], "kinds": SLOWER, "canaries": CANARIES}
    scripted_probe.direct(tmp_path / "probe" / "wattlock-probe", **script)
    resumed = begin.resume(str(tmp_path / "run"), run.session.target, libraries={})
    resumed.measure(Silent())
    result = read(resumed.folder)
    assert result.processes == 10
    assert set(result.estimates["state"]) == {"resolved"}
