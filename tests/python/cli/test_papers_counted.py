"""`wattlock papers --counted`: what emulated cores say stands beside the host's verdicts, and what is refused."""

import json
import shlex
from pathlib import Path

import polars as pl
import pytest

from support.counted_runs import C3, M0PLUS, M4, M4_PART
from support.scripted_probe import install
from support.tree import PROBE, require_programs
from support.virtual_runs import study_of, write_study
from wattlock import cli, notebook
from wattlock.errors import EvidenceError, InputError, StoreError
from wattlock.run.begin import measure


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that measured in virtual time, judged with the real probe."""
    require_programs()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WATTLOCK_PROBE", str(install(tmp_path / "probe", providers=["libtomcrypt"])))
    table = study_of(cipher=["aes128-cbc", "des-cbc"], provider=["libtomcrypt"], payload_B=None, data=["text"])
    write_study(tmp_path / "virtual.toml", table)
    measure("virtual.toml", out="run")
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    return tmp_path / "run"


def said(capsys: pytest.CaptureFixture[str], *words: object, code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert cli.answer(["papers", *map(str, words)]) == code
    printed = capsys.readouterr()
    return printed.out, printed.err


def test_cores_stand_beside_the_hosts_verdicts_on_screen_in_json_and_on_the_page(
    host: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--run", "run", "--counted", M4, "--counted", M0PLUS, "--counted", C3]
    table, told = said(capsys, *given, "--format", "table")
    head = table.splitlines()[0].split()
    assert head[:5] == ["claim", "verdict", "cortex-m4", "cortex-m0plus", "esp32-c3"]
    assert "counted on cortex-m4 (rules within 9.9 %): 29 claims: 29 undecided" in told
    assert "counted on esp32-c3: no cycles: instructions only" in told
    rows = {row["claim"]: row["counted"] for row in json.loads(said(capsys, *given, "--format", "json")[0])}
    assert [one["core"] for one in rows["rc4-cycles"]] == ["cortex-m4", "cortex-m0plus", "esp32-c3"]
    assert rows["rc4-cycles"][0]["effect_unit"] == "cycles/B"
    assert rows["rc4-cycles"][2]["sentence"] == "no cycles: instructions only"
    assert rows["video-ranking"] == rows["tkip-vs-open"] == []
    page = (host / "papers.html").read_text(encoding="utf-8")
    section = page.partition('<section id="counted"')[2].partition("</section>")[0]
    assert '<th scope="col">cortex-m0plus</th>' in section
    assert '<th scope="col">esp32-c3</th>' not in section
    assert "14 claims: a count holds random bytes, no text, audio, image or video." in section
    assert section.count("a count holds random bytes") == 1
    said(capsys, *given)
    assert (host / "papers.html").read_text(encoding="utf-8") == page


def test_a_notebook_has_the_answers_of_cores_too(host: Path) -> None:
    assert host.is_dir()
    found = notebook.papers("run", counted=[M4])
    (told,) = found.filter(pl.col("claim") == "rc4-cycles")["counted"].to_list()
    assert [one["core"] for one in told] == ["cortex-m4"]


def test_without_a_run_that_counted_there_is_no_section_of_it(host: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "--run", "run")
    assert 'id="counted"' not in (host / "papers.html").read_text(encoding="utf-8")


def test_to_repeat_it_names_the_runs_that_counted_and_how_they_are_made(
    host: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said(capsys, "--run", "run", "--counted", M4)
    page = (host / "papers.html").read_text(encoding="utf-8")
    lines = page.partition("How to repeat it")[2].partition("</pre>")[0].splitlines()
    assert "wattlock run counted --on qemu:cortex-m4" in "\n".join(lines)
    assert f"--counted {shlex.quote(str(M4))}" in lines[-1]


def test_a_run_that_measured_is_refused_before_anything_is_measured(
    host: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert host.is_dir()
    told = said(capsys, "--counted", "run", code=EvidenceError.exit_code)[1]
    assert "error: --counted run: it measured on a machine, and counted no cycles" in told
    assert "hint: give it with --run" in told


def refused(capsys: pytest.CaptureFixture[str], *runs: object, code: int) -> str:
    told = said(capsys, *(word for run in runs for word in ("--counted", run)), code=code)[1]
    assert "hint: " in told
    return told


def test_what_can_not_be_taken_is_named_and_nothing_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "are of the same core, cortex-m4" in refused(capsys, M4, M4_PART, code=InputError.exit_code)
    assert "nowhere" in refused(capsys, "nowhere", code=StoreError.exit_code)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_counted_is_no_host(capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys, "--run", M4, code=EvidenceError.exit_code)[1]
    assert "hint: " in told
