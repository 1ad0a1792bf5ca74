"""An emulator's times: told as such wherever a run is shown, with no joules, and set beside no measured ones."""

import json
from pathlib import Path

import polars as pl
import pytest

from support import papers_run
from support.scripted_probe import direct, install
from support.tree import PROBE, require_programs
from support.virtual_runs import study_of, write_study
from wattlock import cli
from wattlock.errors import EvidenceError
from wattlock.papers.material import MaterialOptions, judge
from wattlock.papers.themes import show_all
from wattlock.run.begin import measure
from wattlock.run.result import open_run
from wattlock.targets.local import Local

CIPHERS = ["aes128-cbc", "rc4-128", "des-cbc", "rc2-128-cbc"]
CASES = 2 * len(CIPHERS)
NOTICED = "the process is called qemu-arm"
TOLD = f"the processor was emulated ({NOTICED})"
OF_NO_DEVICE = "These times are emulated: no real device takes them."


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three runs of one study: `measured`, `emulated` and another one that was emulated."""
    here = tmp_path_factory.mktemp("runs")
    program = install(here / "probe")
    study = here / "virtual.toml"
    write_study(study, study_of(cipher=CIPHERS, payload_B=[64, 1500]))
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("WATTLOCK_PROBE", str(program))
        measure(str(study), out=here / "measured")
        direct(program, emulator=NOTICED)
        for name in ("emulated", "another"):
            measure(str(study), out=here / name)
    return here


@pytest.fixture
def here(runs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(runs)
    return runs


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert cli.answer(list(words)) == code
    printed = capsys.readouterr()
    return printed.out, printed.err


@pytest.mark.usefixtures("here")
def test_a_run_says_by_what_the_emulator_was_noticed() -> None:
    result, other = open_run("emulated"), open_run("measured")
    assert (result.emulator, result.evidence) == (NOTICED, "emulated")
    assert (other.emulator, other.evidence) == (None, "measured")


@pytest.mark.usefixtures("here")
def test_show_has_a_column_for_it_and_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    table, warned = said(capsys, "show", "emulated")
    assert "time_evidence" in table
    assert table.count("emulated") == CASES
    assert TOLD in warned
    table, warned = said(capsys, "show", "measured")
    assert "time_evidence" not in table
    assert "emulated" not in warned
    rows = json.loads(said(capsys, "show", "emulated", "--format", "json")[0])
    assert [(row["time_evidence"], row["energy_uJ"]) for row in rows] == [("emulated", None)] * CASES


def test_its_page_says_so_in_the_answer_the_ranking_the_conditions_and_the_warnings(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys, "report", "emulated")
    page = (here / "emulated" / "report.html").read_text(encoding="utf-8")
    assert OF_NO_DEVICE in page
    assert TOLD in page
    assert 'data-evidence="emulated"' in page
    assert 'data-evidence="measured"' not in page
    assert NOTICED in page.replace(TOLD, "")
    said(capsys, "report", "measured")
    assert OF_NO_DEVICE not in (here / "measured" / "report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("here")
def test_it_is_not_compared_with_a_measured_one(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (("measured", "emulated"), ("emulated", "measured"), ("measured", "measured", "emulated")):
        table, refused = said(capsys, "compare", *words, code=8)
        assert table == ""
        assert "times that are emulated and measured are not compared" in refused


def test_two_emulated_ones_are_compared_as_such_and_judged_by_no_threshold(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, warned = said(capsys, "compare", "emulated", "another", "--html", "compared.html", "--format", "json")
    assert [row["verdict"] for row in json.loads(table.removeprefix("compared.html\n"))] == ["equivalent"] * CASES
    assert warned.count(TOLD) == 2
    page = (here / "compared.html").read_text(encoding="utf-8")
    assert 'data-evidence="emulated"' in page
    assert 'data-evidence="measured"' not in page
    _, refused = said(capsys, "compare", "emulated", "another", "--fail-above", "2%", code=8)
    assert "can't judge emulated times" in refused


def test_it_has_no_joules_by_a_card_and_no_advice_rests_on_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    card = ("--device", "x86-server-assumed", "--allow-assumed")
    _, refused = said(capsys, "show", "emulated", *card, code=8)
    assert "the processor is emulated" in refused
    _, refused = said(capsys, "advise", "sensor", "--run", "emulated", *card, code=8)
    assert "the processor is emulated" in refused
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("WATTLOCK_PROBE", str(here / "probe" / "wattlock-probe"))
        _, refused = said(capsys, "run", "virtual.toml", *card, "--out", "refused", code=8)
    assert NOTICED in refused
    assert not (here / "refused").exists()


def test_its_exported_numbers_say_so(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "export", "emulated", "--out", "estimates.parquet")
    assert pl.read_parquet(here / "estimates.parquet")["time_evidence"].to_list() == ["emulated"] * CASES


def test_no_claim_of_the_papers_is_judged_by_it(here: Path) -> None:
    require_programs()
    probe = Local(PROBE)
    found = judge([here / "emulated"], MaterialOptions(), target=probe)
    own = {one.claim: one.verdict for one in found.judgements if one.basis == "this machine"}
    assert set(own.values()) == {"not tested"}
    assert any("no claim is judged by emulated times" in note for note in found.gathered.notes)
    with pytest.raises(EvidenceError, match="two kinds of evidence: measured and emulated"):
        judge([here / "measured", here / "emulated"], MaterialOptions(), target=probe)


def test_an_exhibit_of_emulated_times_says_that_they_are() -> None:
    times = papers_run.estimates().with_columns(time_evidence=pl.lit("emulated"))
    kinds: dict[str, set[str]] = {}
    for shown in show_all(papers_run.material(estimates=times)):
        for panel in shown.panels:
            if "evidence" in panel.rows.columns:
                kinds.setdefault(shown.exhibit.id, set()).update(panel.rows["evidence"].drop_nulls())
    assert sum("emulated" in found for found in kinds.values()) > 10
    assert [name for name, found in kinds.items() if "measured" in found] == ["prasithsangaree-fig6"], "counted frames"
