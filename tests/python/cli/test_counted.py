"""A run that counted: shown, exported, drawn and compared as what it is, and set beside nothing that was measured."""

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.counted_runs import C3, CASES, M0PLUS, M4, M4_L476, M4_PART, STUDY, Replayed
from support.scripted_probe import install
from support.tree import require_programs
from support.virtual_runs import study_of, write_study
from wattlock import cli, notebook
from wattlock.errors import CasesFailed, EvidenceError, InputError, Slower, StoreError, StudyError
from wattlock.run.begin import measure
from wattlock.targets import named

EVIDENCE = EvidenceError.exit_code


def said(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert cli.answer([str(word) for word in words]) == code
    printed = capsys.readouterr()
    return printed.out, printed.err


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that measured time."""
    monkeypatch.setenv("WATTLOCK_PROBE", str(install(tmp_path / "probe")))
    monkeypatch.chdir(tmp_path)
    study = tmp_path / "virtual.toml"
    write_study(study, study_of(cipher=["aes128-cbc"], payload_B=[64]))
    measure(str(study), out=tmp_path / "measured")
    return tmp_path / "measured"


def test_show_has_cycles_and_memory_and_no_time(capsys: pytest.CaptureFixture[str]) -> None:
    table, told = said(capsys, "show", M4)
    head = table.splitlines()[0].split()
    assert {"instructions", "cycles", "cycles_per_byte", "cycles_error_percent", "flash_B", "ram_B", "stack_B"} <= set(
        head
    )
    assert not [name for name in head if name.startswith(("time", "energy", "part"))]
    assert "emulated: cortex-m4, QEMU emulator version 7.2" in told
    rows = json.loads(said(capsys, "show", M4, "--format", "json")[0])
    assert len(rows) == CASES
    assert {(row["evidence"], row["time_ns"], row["state"]) for row in rows} == {("emulated", None, "counted")}
    assert all(row["cycles_low"] < row["cycles"] < row["cycles_high"] for row in rows)


def test_part_cycles_stand_beside_core_cycles_where_a_part_was_named(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(said(capsys, "show", M4_PART, "--format", "json")[0])
    assert all(row["part_cycles"] > row["cycles"] for row in rows)
    assert "cortex-m4 in stm32f407 at 168 MHz" in said(capsys, "show", M4_PART)[1]


def test_a_core_without_rules_has_instructions_and_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(said(capsys, "show", C3, "--format", "json")[0])
    assert {row["cycles"] for row in rows} == {None}
    assert {row["reason"] for row in rows} == {"no cycles: esp32-c3 has no rules"}
    assert all(row["instructions"] > 0 for row in rows)
    assert "there are instructions alone" in said(capsys, "show", C3)[1]


def test_its_numbers_are_exported_with_what_counted_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "export", M4_PART, "--out", tmp_path / "counts.parquet")
    frame = pl.read_parquet(tmp_path / "counts.parquet")
    assert frame.height == CASES
    first = frame.row(0, named=True)
    assert (first["core"], first["part"], first["part_clock_Hz"]) == ("cortex-m4", "stm32f407", "168000000")
    assert first["compiler"].startswith("rustc ")
    assert set(frame["evidence"]) == {"emulated"}
    assert said(capsys, "export", M4)[0].count("\n") == CASES + 1
    tables = said(capsys, "export", M4_PART, "--format", "latex")[0]
    assert r"\caption{Seal, 64 B; counts emulated.}" in tables
    assert (
        "Cipher & Code & cycles & within & cycles/B & part cycles & instructions & flash, B & RAM, B & stack, B"
        in tables
    )
    sealed = frame.filter(operation="seal", payload_B=64).sort("cycles")
    row = sealed.row(0, named=True)
    assert f"ChaCha20-Poly1305 & portable & {row['cycles']:,} & " in tables
    assert f" & {row['part_cycles']:,} & {row['instructions']:,} & {row['flash_B']:,} & " in tables
    assert "dagger" not in tables
    assert "cycles" not in said(capsys, "export", C3, "--format", "latex")[0].partition(r"\begin{tabular}")[2]


def test_its_page_says_what_the_numbers_are_and_what_they_are_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys, "report", M4_PART, "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert 'data-evidence="emulated"' in page
    assert 'data-evidence="measured"' not in page
    for words in (
        "ChaCha20-Poly1305 takes the fewest core cycles of 3 to seal",
        "Cycles that were counted are no time and no energy",
        "QEMU emulator version 7.2",
        "rustc 1.",
        "On an emulated Cortex-M4 in STM32F407 at 168 MHz",
        "45 figures that others published",
        "within 9.9\u00a0%",
        "floating-point instructions, which count as one cycle",
        "Part cycles",
        "wattlock run counted --on qemu:cortex-m4/stm32f407@168MHz",
    ):
        assert words in page, words
    said(capsys, "report", C3, "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "takes the fewest instructions" in page
    assert "There are no rules of this core that make cycles of them." in page
    assert "Instructions that were counted are no time" in page
    assert "Place" not in page
    assert "Core cycles" not in page
    assert "Part cycles" not in page.partition("What these numbers are")[0]


def test_two_runs_of_one_core_are_compared_by_cycles(capsys: pytest.CaptureFixture[str]) -> None:
    table, told = said(capsys, "compare", M4, M4_PART, "--format", "json")
    assert {row["verdict"] for row in json.loads(table)} == {"alike"}
    assert "differ in their part" in told
    assert "Kendall" not in told


def test_two_cores_are_compared_by_how_they_order_the_ciphers(capsys: pytest.CaptureFixture[str]) -> None:
    table, told = said(capsys, "compare", M4, M0PLUS)
    assert "how alike the cores order the ciphers (Kendall's tau" in told
    assert "more" in table
    assert "are of two cores" in told
    assert "instructions" in said(capsys, "compare", M4, C3)[1]


def test_more_than_two_runs_are_compared_with_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    table, told = said(capsys, "compare", M4, M0PLUS, C3, "--format", "json")
    assert {row["core_b"] for row in json.loads(table)} == {"cortex-m0plus", "esp32-c3"}
    assert told.count("are of two cores") == 2


def test_several_cores_are_drawn_with_how_alike_they_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "cores.html"
    table, _ = said(capsys, "compare", M4, M0PLUS, C3, "--html", page)
    assert table.strip() == str(page)
    drawn = page.read_text(encoding="utf-8")
    for words in (
        "Kendall’s tau of two cores’ orders. Cortex-M4 and Cortex-M0+: ",
        "by instructions on Espressif ESP32-C3",
        "5,710",
    ):
        assert words in drawn, words
    assert 'data-evidence="measured"' not in drawn
    assert "How alike two cores order the ciphers to seal 64 B" in drawn
    assert ">cortex-" not in drawn


def test_a_comparison_of_cores_has_part_cycles_and_joules_by_the_card_of_each_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, card = tmp_path / "cores.html", ("--device", "stm32l476", "--allow-assumed")
    rows = json.loads(
        said(capsys, "compare", M0PLUS, M4_L476, *card, "--format", "json", "--html", page)[0].partition("\n")[2]
    )
    assert all(row["energy_uJ_b"] == pytest.approx(row["part_cycles_b"] * 330e-6) for row in rows)
    assert {row["energy_uJ_a"] for row in rows} == {None}
    drawn = page.read_text(encoding="utf-8")
    for words in (
        "Part cycles",
        "µJ by the card",
        'data-evidence="assumed"',
        "--device stm32l476 --allow-assumed --html",
    ):
        assert words in drawn, words
    refused = said(capsys, "compare", M0PLUS, M4_PART, *card, code=EVIDENCE)[1]
    assert "is of no part whose cycles were counted" in refused


def test_a_run_of_one_case_and_one_in_which_all_failed_say_so(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = STUDY.partition("[[grid]]")[0]
    words = ["cipher = ['aes128-ccm']", "operation = ['seal']", "payload_B = [64]"]
    study.write_text(f"{head}[[grid]]\n{chr(10).join(words)}\n")
    told = said(capsys, "run", study, "--on", "qemu:cortex-m4", "--out", "one")[1]
    assert "On an emulated Cortex-M4, AES-128-CCM takes 43,550 core cycles (seal 64 B). No two cases can be" in told
    study.write_text(study.read_text().replace("[64]", "[65]"))
    said(capsys, "run", study, "--on", "qemu:cortex-m4", "--out", "none", code=CasesFailed.exit_code)
    page = Path("none", "report.html").read_text(encoding="utf-8")
    assert "1 of 1 cases have no count" in page
    assert "No case was counted." in page
    assert "has no rules" not in page


def test_versions_of_one_core_are_drawn_by_their_ratios(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    require_programs()
    measure(_study(tmp_path), target=Replayed(changed=_more), out=tmp_path / "slower")
    page = tmp_path / "versions.html"
    said(capsys, "compare", M4, tmp_path / "slower", "--html", page, "--export", tmp_path / "figures")
    drawn = page.read_text(encoding="utf-8")
    for words in (
        "slower compared with m4",
        "all on an emulated Cortex-M4",
        "Of 17 cases B (slower) takes more core cycles than A (m4) in each; the greatest difference is",
    ):
        assert words in drawn, words
    # The same instructions on both sides: the error of the rules is on both, and cancels.
    assert "Within the error of the core’s rules" not in drawn
    said(capsys, "compare", M4, M4_PART, "--html", page)
    assert "takes as many core cycles as A (Cortex-M4) in all 17 cases" in page.read_text(encoding="utf-8")
    figure = next((tmp_path / "figures").glob("*--cost-all-cases.csv"))
    assert pl.read_csv(figure)["ratio"].min() == pytest.approx(1.03, abs=0.001)


def test_figures_are_files_with_what_they_draw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    card = ("--device", "stm32l476", "--allow-assumed")
    told = said(capsys, "report", M4_L476, *card, "--out", tmp_path / "page.html", "--export", tmp_path / "run")[1]
    assert "wrote 8 files" in told
    drawn = {file.stem.partition("--")[2]: pl.read_csv(file) for file in (tmp_path / "run").glob("*.csv")}
    assert set(drawn) == {"answer", "energy"}
    assert set(drawn["answer"]["evidence"]) == {"emulated"}
    assert set(drawn["energy"]["evidence"]) == {"assumed"}
    said(capsys, "compare", M4, M0PLUS, C3, "--export", tmp_path / "cores")
    (orders,) = (tmp_path / "cores").glob("*--orders.csv")
    assert pl.read_csv(orders).select("core_a", "core_b").rows() == [
        ("cortex-m4", "cortex-m0plus"),
        ("cortex-m4", "esp32-c3"),
        ("cortex-m0plus", "esp32-c3"),
    ]
    assert len(list((tmp_path / "cores").iterdir())) == 4


def test_the_page_says_whose_code_it_is_and_how_it_was_compiled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    require_programs()
    whose = {"title": "AES of others", "language": "C", "source": "https://example.org/aes", "licence": "MIT"}
    adapter = whose | {"compiler": "arm-none-eabi-gcc 12.2", "flags": "-O3 -mcpu=cortex-m4"}

    def adapted(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [one | {"adapter": adapter} if one["kind"] == "count" else one for one in records]

    measure(_study(tmp_path), target=Replayed(changed=adapted), out=tmp_path / "run")
    said(capsys, "report", tmp_path / "run", "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert [value for value in adapter.values() if value not in page] == []
    said(capsys, "report", M4, "--out", tmp_path / "page.html")
    assert "Code of others" not in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_fail_above_judges_by_the_counts_and_refuses_two_cores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slower = tmp_path / "slower"
    require_programs()
    measure(_study(tmp_path), target=Replayed(changed=_more), out=slower)
    said(capsys, "compare", M4, M4_PART, "--fail-above", "0%")
    said(capsys, "compare", M4, slower, "--fail-above", "5%")
    _, told = said(capsys, "compare", M4, slower, "--fail-above", "2%", code=Slower.exit_code)
    assert "17 of 17 cases take more by more than 2 %" in told
    assert "cycles of two cores" in said(capsys, "compare", M4, M0PLUS, "--fail-above", "2%", code=EVIDENCE)[1]


def test_a_case_that_is_counted_no_more_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    require_programs()
    study = _study(tmp_path, STUDY.replace("[16, 64]", "[16]"))
    measure(study, target=Replayed(), out=tmp_path / "fewer")
    _, told = said(capsys, "compare", M4, tmp_path / "fewer", "--fail-above", "2%", code=Slower.exit_code)
    assert "6 cases have a number in the first and none in the second" in told


def test_providers_without_a_case_in_common_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    _, refused = said(capsys, "compare", M4, "--providers", "rustcrypto", "nobody", code=InputError.exit_code)
    assert 'no case is by the provider "nobody"' in refused
    assert "its providers are rustcrypto" in refused


def _study(tmp_path: Path, words: str = STUDY) -> str:
    place = tmp_path / "counted.toml"
    place.write_text(words)
    return str(place)


def _more(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Counts of a version that takes 3 % more cycles."""
    return [
        record | {"core_cycles": math.ceil(record["core_cycles"] * 1.03)} if record["kind"] == "count" else record
        for record in records
    ]


def test_counted_and_measured_runs_are_never_compared(measured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for runs in ((M4, measured), (measured, M4)):
        table, refused = said(capsys, "compare", *runs, code=EVIDENCE)
        assert table == ""
        assert "were counted on an emulated cortex-m4, and no time was measured" in refused


@pytest.mark.parametrize(
    "words",
    [
        ("advise", "sensor", "--device", "nrf52840", "--run", M4),
        ("papers", "--run", M4),
    ],
    ids=lambda words: words[0],
)
def test_nothing_that_needs_times_or_joules_takes_it(
    words: tuple[object, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    _, refused = said(capsys, *words, code=EVIDENCE)
    assert "counted" in refused


@pytest.mark.parametrize(
    ("run", "card", "words"),
    [
        (M4, "stm32l476", "core cycles are no part's"),
        (M4_L476, "nrf52840", "is none of stm32l476"),
        (M4_PART, "stm32l476", "is none of stm32f407"),
        (M4_L476, "stm32l476", "allow-assumed"),
    ],
)
@pytest.mark.parametrize("verb", ["show", "report", "export"])
def test_no_card_values_it_but_one_of_the_part_whose_cycles_were_counted(
    verb: str, run: Path, card: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table, refused = said(capsys, verb, run, "--device", card, code=EVIDENCE)
    assert table == ""
    assert words in refused


@pytest.mark.parametrize(
    ("run", "card", "hint"),
    [
        (M4, "stm32l476-smps", "wattlock run STUDY --on qemu:cortex-m4/stm32l476"),
        (M4, "nrf52840", "nRF52840 has no part cycles: not published are the size, the lines and the ways"),
        (M4, "pxa270-520", "those with part cycles are samd21, stm32f103, stm32f407, stm32l476, stm32u575"),
        (M4_L476, "nrf52840", "its cards: stm32l476, stm32l476-smps"),
        (M4_PART, "nrf52840", "no card of STM32F407 came along"),
    ],
)
def test_what_to_do_for_joules_can_be_done(run: Path, card: str, hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert hint in said(capsys, "show", run, "--device", card, code=EVIDENCE)[1]


def test_a_card_of_the_part_values_part_cycles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    card = ("--device", "stm32l476", "--allow-assumed")
    rows = json.loads(said(capsys, "show", M4_L476, "--format", "json", *card)[0])
    for row in rows:
        # 3.3 V and 100 uA/MHz: 330 pJ a cycle.
        assert row["energy_uJ"] == pytest.approx(row["part_cycles"] * 330e-6)
        assert row["energy_low_uJ"] < row["energy_uJ"] / 1.099
        assert (row["energy_evidence"], row["time_ns"]) == ("assumed", None)
    assert "energy_uJ" in said(capsys, "show", M4_L476, *card)[0]
    said(capsys, "export", M4_L476, *card, "--out", tmp_path / "counts.parquet")
    assert pl.read_parquet(tmp_path / "counts.parquet")["joules_by"].to_list() == ["stm32l476"] * CASES
    said(capsys, "report", M4_L476, *card, "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "µJ by the card" in page
    assert 'data-evidence="assumed"' in page


def test_it_discharged_no_battery(capsys: pytest.CaptureFixture[str]) -> None:
    assert "counted" in said(capsys, "show", M4, "--battery", code=StoreError.exit_code)[1]


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The study's file in the current folder, where `--on qemu:cortex-m4` is what was recorded."""
    require_programs()
    monkeypatch.setattr(named, "target", lambda _: Replayed())
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "counted.toml"
    place.write_text(STUDY)
    return place


def test_run_counts_seals_and_draws(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, told = said(capsys, "run", study, "--on", "qemu:cortex-m4", "--out", "run")
    assert "17 cases in " in told
    assert "17 counted" in told
    assert "warning" not in told
    assert Path("run", "SHA256SUMS").is_file()
    assert "fewest core cycles" in Path("run", "report.html").read_text(encoding="utf-8")
    assert json.loads(Path("run", "plan.jsonl").read_text().splitlines()[0])["counted"]["core"] == "cortex-m4"


def test_run_ends_with_12_where_a_case_failed(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study.write_text(STUDY.replace("[16, 64]", "[16, 65]"))
    _, told = said(capsys, "run", study, "--on", "qemu:cortex-m4", "--out", "run", code=CasesFailed.exit_code)
    assert "6 of 17 cases failed" in told
    assert "6 failed: no image holds it\n" in told
    assert "no image holds it" in told


def test_a_dry_run_counts_nothing(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, told = said(capsys, "run", study, "--on", "qemu:cortex-m4", "--dry-run")
    assert table.count("ascon-aead128") == 5
    assert "17 cases, counted once on an emulated cortex-m4" in told


@pytest.mark.parametrize(
    ("option", "code"),
    [
        (("--meter", "powercap:package-0"), StudyError.exit_code),
        (("--battery", "BAT0", "--repeats", "10"), StudyError.exit_code),
        (("--device", "stm32l476"), EVIDENCE),
    ],
)
def test_meters_batteries_and_cards_are_refused_with_what_to_do(
    option: tuple[str, ...], code: int, study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, refused = said(capsys, "run", study, "--on", "qemu:cortex-m4", *option, code=code)
    assert "hint: " in refused


def test_a_notebook_runs_reads_and_compares_counts(study: Path) -> None:
    found = notebook.run(str(study), target=Replayed(), out="run")
    assert found.estimates["state"].to_list() == ["counted"] * CASES
    assert found.ranking.height == CASES
    assert set(notebook.compare(found, M4)["verdict"]) == {"alike"}
    assert notebook.read(M4_L476, device="stm32l476", allow_assumed=True).estimates["energy_uJ"].null_count() == 0
    with pytest.raises(EvidenceError, match="no time was measured"):
        _ = found.batches
    with pytest.raises(EvidenceError, match="no time was measured"):
        notebook.battery("cr2032", found)
