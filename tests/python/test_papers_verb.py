"""`wattlock papers` on a run that is there: its page, its refusals, and that nothing is overwritten by a refusal."""

import os
import sys
from pathlib import Path

import pytest

from scripted_probe import direct, install
from virtual_runs import study_of, write_study
from wattlock import cli
from wattlock.errors import EvidenceError, InputError, StoreError

PROBE = Path(os.environ.get("WATTLOCK_PROBE", Path(sys.prefix, "bin", "wattlock-probe")))
needs_the_air = pytest.mark.skipif(not PROBE.is_file(), reason=f"{PROBE} is not built, and the air is asked of it")


@pytest.fixture
def probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A probe in virtual time that has measured `run`, with files of text by libtomcrypt."""
    monkeypatch.chdir(tmp_path)
    program = install(tmp_path / "probe", providers=["libtomcrypt"])
    monkeypatch.setenv("WATTLOCK_PROBE", str(program))
    ciphers = ["aes128-cbc", "des-cbc", "rc2-64-cbc", "3des-cbc", "blowfish128-cbc", "rc6-20-128-cbc"]
    table = study_of(cipher=ciphers, provider=["libtomcrypt"], payload_B=None, data=["text"])
    write_study(tmp_path / "virtual.toml", table)
    assert cli.answer(["run", "virtual.toml", "--out", "run"]) == 0
    return program


def answer(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert cli.answer(["papers", *words]) == code
    said = capsys.readouterr()
    return said.out, said.err


@needs_the_air
def test_a_run_is_judged_into_a_page_beside_it_and_twice_into_the_same(
    probe: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert probe.is_file()
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    out, errors = answer(capsys, "--run", "run")
    assert Path(out.strip()).name == "papers.html"
    assert "61 claims:" in errors
    page = Path("run/papers.html").read_bytes()
    assert "Time of encrypting text of 350,000 B" in page.decode()
    answer(capsys, "--run", "run", "--out", "again.html")
    assert Path("again.html").read_bytes() == page


@needs_the_air
def test_of_an_invalid_run_nothing_measured_is_judged_or_drawn(
    probe: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    direct(probe, providers=["libtomcrypt"], canaries={"7": 0.7})
    assert cli.answer(["run", "virtual.toml", "--out", "bad"]) == 0
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    errors = answer(capsys, "--run", "bad")[1]
    page = Path("bad/papers.html").read_text(encoding="utf-8")
    assert "warning: run " in errors
    assert "A run is invalid." in page
    assert "Time of encrypting text of 350,000 B" not in page


def test_runs_of_two_builds_are_not_judged_together(probe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    probe.write_text(f"{probe.read_text()}# another build\n")
    assert cli.answer(["run", "virtual.toml", "--out", "other"]) == 0
    errors = answer(capsys, "--run", "run", "--run", "other", code=EvidenceError.exit_code)[1]
    assert "two builds of the probe" in errors
    assert not Path("run/papers.html").exists()


def test_a_run_that_is_none_or_of_an_unknown_schema_is_named_and_nothing_is_written(
    probe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert probe.is_file()
    assert "nowhere" in answer(capsys, "--run", "nowhere", code=StoreError.exit_code)[1]
    Path("kept.html").write_text("mine")
    plan = Path("run/plan.jsonl")
    plan.write_text(plan.read_text().replace('"schema":1', '"schema":99', 1))
    Path("run/SHA256SUMS").unlink()
    errors = answer(capsys, "--run", "run", "--out", "kept.html", code=StoreError.exit_code)[1]
    assert "99" in errors
    assert Path("kept.html").read_text() == "mine"


def test_a_changed_run_is_refused(probe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert probe.is_file()
    headers = Path("run/headers.jsonl")
    headers.write_bytes(headers.read_bytes() + b" ")
    answer(capsys, "--run", "run", code=StoreError.exit_code)
    assert not Path("run/papers.html").exists()


def test_a_capture_that_is_not_there_is_named_before_anything_is_measured(
    probe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert probe.is_file()
    assert "none.pcap" in answer(capsys, "--capture", "none.pcap", code=InputError.exit_code)[1]
    assert not Path("runs").exists()


@needs_the_air
def test_an_invalid_run_takes_nothing_from_a_sound_one_beside_it(
    probe: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    direct(probe, providers=["libtomcrypt"], canaries={"7": 0.7})
    assert cli.answer(["run", "virtual.toml", "--out", "bad"]) == 0
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    answer(capsys, "--run", "run", "--run", "bad", "--out", "both.html")
    page = Path("both.html").read_text(encoding="utf-8")
    assert "A run is invalid." in page
    assert "Time of encrypting text of 350,000 B" in page
