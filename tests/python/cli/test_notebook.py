"""What the command line can do, a notebook can do by one call."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import wattlock
from support.scripted_probe import direct, install, truth
from support.tree import PROBE, TREE, require_programs
from support.virtual_runs import study_of, write_study
from wattlock import cli
from wattlock.errors import InputError, Slower
from wattlock.papers import literature
from wattlock.run.libraries import named_libraries
from wattlock.run.result import open_run
from wattlock.run.run_comparison import compare

# A room that is a call is no module to a type checker.
wl: Any = wattlock


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs in virtual time, `before` and `after`; one cipher became 5 % slower."""
    monkeypatch.chdir(tmp_path)
    program = install(tmp_path / "probe")
    monkeypatch.setenv("WATTLOCK_PROBE", str(program))
    write_study(tmp_path / "virtual.toml", study_of())
    for name, canaries in {"before": {}, "after": {"1": truth(1) * 1.05}}.items():
        direct(program, canaries=canaries)
        wl.run("virtual.toml", out=name)
    return tmp_path


def test_a_study_is_carried_out_by_one_call_and_is_the_run_that_the_verb_shows(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    direct(runs / "probe" / "wattlock-probe")
    found = wl.run("virtual.toml", only=["des*"], out="one")
    assert (runs / "one" / "SHA256SUMS").is_file()
    assert set(found.estimates["cipher"]) == {"des-cbc"}
    assert cli.answer(["show", "one", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [row["time_ns"] for row in shown] == found.estimates["time_ns"].to_list()


def test_a_run_is_read_with_its_batches_and_their_factors(runs: Path) -> None:
    found = wl.read("before")
    batches = found.batches
    assert batches.height == found.folder.scan().collect().height == found.result.batches
    study = batches.filter(role="study")
    assert study.group_by("cipher", "operation").len().height == found.estimates.height
    assert study["cipher"].null_count() == study["provider"].null_count() == 0
    assert wl.read(runs / "before").ranking.equals(found.ranking)


def test_one_pattern_is_no_list_of_letters(runs: Path) -> None:
    direct(runs / "probe" / "wattlock-probe")
    assert set(wl.run("virtual.toml", only="des*", out="one").estimates["cipher"]) == {"des-cbc"}


def test_a_run_is_valued_by_a_device_card(runs: Path) -> None:
    assert (runs / "before").is_dir()
    plain = wl.read("before").estimates
    valued = wl.read("before", device="x86-server-assumed", allow_assumed=True).estimates
    assert plain["energy_uJ"].null_count() == plain.height
    assert valued["energy_uJ"].null_count() == 0


def test_the_papers_are_judged_by_one_call(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_programs()
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    found = wl.papers(runs / "before")
    assert found["claim"].to_list() == [claim.id for claim in literature.load().claims]


def test_two_runs_are_compared_as_the_verb_compares_them(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = wl.compare("before", wl.read(runs / "after"))
    capsys.readouterr()
    assert cli.answer(["compare", "before", "after", "--format", "json"]) == 0
    assert found.to_dicts() == json.loads(capsys.readouterr().out)


def test_what_differs_between_compared_runs_is_a_warning(runs: Path) -> None:
    direct(runs / "probe" / "wattlock-probe")
    wl.run("virtual.toml", only=["des*"], out="fewer")
    with pytest.warns(UserWarning, match="cases have a number in the first run alone"):
        assert set(wl.compare("before", "fewer")["cipher"]) == {"des-cbc"}


def test_a_slower_run_is_refused_by_what_the_verb_asks(runs: Path) -> None:
    before, after = open_run("before"), open_run(runs / "after")
    found = compare(before, [after], margin=0.02)
    assert found.undecided == ""
    with pytest.raises(Slower, match="1 of 4 cases"):
        found.refuse_slower()
    compare(before, [after], margin=0.2).refuse_slower()


def test_a_battery_carries_as_much_as_the_verb_says(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (runs / "before").is_dir()
    card = {"device": "x86-server-assumed", "allow_assumed": True}
    carried = wl.battery("laptop-57wh", "before", **card)
    words = ["battery", "laptop-57wh", "--run", "before", "--device", "x86-server-assumed", "--allow-assumed"]
    assert cli.answer([*words, "--format", "json"]) == 0
    assert carried.to_dicts() == json.loads(capsys.readouterr().out)


def test_a_question_is_answered_as_the_verb_answers_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    require_programs()
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    found = wl.advise(message="64B", every="1min", device="nrf52840", allow_assumed=True)
    words = ["--message", "64B", "--every", "1min", "--device", "nrf52840", "--allow-assumed", "--format", "json"]
    assert cli.answer(["advise", *words]) == 0
    answered = json.loads(capsys.readouterr().out)["ranked"]
    assert [row["days"] for row in answered] == pytest.approx(found["days"].to_list())
    changed = wl.advise("sensor", {"floor.approved": "nist"}, allow_assumed=True)
    assert set(changed["rank"]) >= {1}
    with pytest.raises(InputError, match="no_such"):
        wl.advise("sensor", {"floor.no_such": 1})


@pytest.mark.parametrize(
    ("scenario", "changes", "words"),
    [
        (
            "bss-open",
            {"protection": ["none", "ccmp"], "payload.data_B": 20_000},
            ["--protection", "none,ccmp", "--data-B", "20000"],
        ),
        ("ble-reading", {"payload.cipher": "aes128-ccm8"}, ["--cipher", "aes128-ccm8"]),
    ],
)
def test_sending_takes_what_the_verb_says(
    scenario: str,
    changes: dict[str, object],
    words: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    require_programs()
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    assert cli.answer(["link", scenario, *words, "--allow-assumed", "--format", "json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert json.loads(wl.link(scenario, changes=changes, allow_assumed=True).write_json()) == said
    with pytest.raises(InputError):
        wl.link(scenario, changes={"no_such": 1}, allow_assumed=True)


def test_a_sweep_gives_its_rows_and_goes_on_with_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_programs()
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    definition = tmp_path / "mine.toml"
    definition.write_text(
        'title = "two"\n[[grid]]\nlink = ["bss-open"]\n'
        'fixed = {"payload.data_B" = 2000}\nvary = {protection = ["none", "ccmp"]}\n'
    )
    rows = wl.sweep(definition, tmp_path / "swept", workers=1)
    assert rows.height == 2
    assert rows["error"].null_count() == 2
    assert wl.sweep(definition, tmp_path / "swept", workers=1).equals(rows)


def test_the_calls_that_are_rooms_too_stay_callable_whatever_was_imported_first() -> None:
    code = (
        "import wattlock as wl; from wattlock.run import begin; import wattlock.papers.literature, wattlock.advise;"
        "print(callable(wl.run), callable(wl.papers), callable(wl.advise), wl.run.begin is begin);"
        "from wattlock import compare, read; print(compare.__module__, read.__module__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True True True True\nwattlock.notebook wattlock.notebook\n"


def test_every_call_that_the_page_shows_is_there() -> None:
    shown = set(re.findall(r"wl\.(\w+)\(", (TREE / "docs/reference/verbs.md").read_text(encoding="utf-8")))
    assert shown == set(wl.CALLS)
    assert all(callable(getattr(wl, name)) for name in shown)


def test_a_name_that_the_package_lacks_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'weigh'"):
        _ = wl.weigh


def test_the_notebook_of_the_examples_runs_through() -> None:
    require_programs()
    notebook = TREE / "examples" / "notebooks" / "advise.py"
    done = subprocess.run([sys.executable, str(notebook)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("libraries", [["mine=none.so"], {"mine": "none.so"}, [Path("libmine.so")]])
def test_libraries_are_named_as_the_verb_names_them(libraries: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"--library (mine=none|libmine)\.so: there is no file"):
        wl.run("quick", libraries=libraries)


def test_a_library_given_by_its_path_alone_has_its_files_name(tmp_path: Path) -> None:
    (tmp_path / "libmine.so").write_bytes(b"a library")
    for given in ([tmp_path / "libmine.so"], [f"mine={tmp_path}/libmine.so"]):
        assert named_libraries(given) == {"mine": tmp_path / "libmine.so"}


@pytest.mark.parametrize("providers", [("rustcrypto",), ("a", "b", "c"), "openssl", None])
def test_a_comparison_is_of_two_providers_or_two_runs(providers: Any, runs: Path) -> None:
    assert (runs / "before").is_dir()
    with pytest.raises(InputError, match="of two" if providers else "nothing to compare"):
        wl.compare("before", providers=providers)
