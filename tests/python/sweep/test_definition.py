"""A sweep's file: what is wrong with it is refused before anything is answered, by key and value."""

from pathlib import Path

import pytest

from support.labs import COUNTED
from support.sweeps import ADVICE, LINK, LIVES, NS3, RUNS, write
from support.tree import require_programs
from wattlock import cli
from wattlock.link import ns3
from wattlock.link.ns3 import EXTRA
from wattlock.sweep import plan

GRID = 'title = "t"\n[[grid]]\nlink = ["sensor-readings"]\n'
RUNS_COUNTED = f'title = "t"\n[[grid]]\nrun = ["{COUNTED / "m4"}"]\n'


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_programs()
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "error", "hint"),
    [
        ("title = ", "not TOML", ""),
        ('title = "t"\n', "grid: is missing", ""),
        ('title = "t"\ngrid = []\n', "grid: is empty", ""),
        ('title = "t"\n[[grid]]\n', "grid[0]: has none of link, advise, battery, run", "for example link"),
        (GRID + 'advise = ["sensor"]\n', "grid[0]: has link and advise", ""),
        (GRID + "varies = 1\n", "grid[0].varies: unknown key", 'did you mean "vary"'),
        (GRID + "[grid.vary]\nseed = []\n", "grid[0].vary.seed: is empty", ""),
        (GRID + "[grid.vary]\nseed = 1\n", "grid[0].vary.seed: must be a list, is 1", ""),
        (GRID + "[grid.vary]\nseed = [1, 2, 1]\n", "grid[0].vary.seed[2]: 1 stands there already", "leave one"),
        (
            GRID + "[grid.vary]\npayload.data_B = [1]\n",
            "grid[0].vary.payload: must be a list",
            '"payload.data_B" = [...]',
        ),
        (GRID + "[grid.fixed]\npayload.data_B = 1\n", "fixed.payload: would take the place", '"payload.data_B" = ...'),
        (GRID + "[grid.vary]\nseed = [1]\n[grid.fixed]\nseed = 1\n", "grid[0].fixed.seed: is among what varies", ""),
        (GRID + f"[grid.vary]\nseed = {list(range(1001))}\nmcs = {list(range(1000))}\n", "1,001,000 rows are more", ""),
        (GRID + '[grid.vary]\n"payload.cipher" = ["aes128-ccn"]\n', 'no cipher "aes128-ccn"', "did you mean"),
        (GRID + '[grid.fixed]\n"payload.file" = "x"\n', "payload.file: a sweep reads no file", "payload.data_B"),
        (GRID + '[grid.vary]\n"radio" = ["./mine.toml"]\n', "./mine.toml: a sweep reads no file", "--cards"),
        (GRID + "[grid.vary]\nsede = [1, 2]\n", "none of its first 2 rows can be: sede: unknown key", "seed"),
        (GRID.replace("sensor-readings", "sensor-reading"), "there is no link scenario sensor-reading", "did you mean"),
        (GRID.replace("link", "advise"), "there is no profile sensor-readings", ""),
        (GRID.replace('"]', '", "ble-reading"]'), "is of another kind of radio", ""),
        (ADVICE.replace("10s", "10 parsecs").replace("1h", "2 parsecs"), "none of its first 2 rows can be", ""),
        (ADVICE, "assumed", "--allow-assumed"),
        (ADVICE + '"core" = ["cortex-m5"]\n', "core: no cycles were counted on cortex-m5", 'did you mean "cortex-m4"'),
        (ADVICE + '[grid.fixed]\n"core" = 4\n', "core: no cycles were counted on 4", "cortex-m0plus, cortex-m33"),
        (GRID + '[grid.vary]\n"core" = ["cortex-m4"]\n', "core: is for advise alone", "cost.cycles_per_B"),
        (
            ADVICE + '"device.card" = ["nrf5284O", "nrf528"]\n',
            "none of its first 4 rows can be: there is no device card",
            "did",
        ),
        (ADVICE + '"device.card" = ["nrf5284O", "nrf52840"]\n', "assumed", "--allow-assumed"),
        (LIVES, "battery card cr2032 has numbers that nobody verified", "--allow-assumed"),
        (LIVES.replace("cr2032", "cr2023"), "there is no battery card cr2023", 'did you mean "cr2032"'),
        (LIVES.replace("cr2032", "./mine.toml"), "./mine.toml: a sweep reads no file beside its own", "--cards"),
        (LIVES.replace("per_second", "per_secund"), "per_secund: unknown key", 'did you mean "per_second"'),
        (LIVES.replace('"energy_uJ"', '"seed"'), "has neither energy_uJ nor cycles", '"energy_uJ" = 12.5'),
        (LIVES + '"cycles" = 100\n', "has both energy_uJ and cycles", "energy_uJ"),
        (LIVES + '"device" = "rp2040"\n', "device: values cycles", "leave one of them out"),
        (LIVES + '"duty" = 0.5\n', "duty: is there beside per_second", "leave one of them out"),
        (LIVES + '"duty" = 1.5\n', "duty: must be at most 1", ""),
        (RUNS.replace("measured_run", "no_run"), "there is no run", ""),
        (RUNS.replace('"seed"', '"sede"'), "sede: unknown key", "seed"),
        (RUNS + '[grid.fixed]\n"draws" = 10\n', "draws: must be at least 1000, is 10", ""),
        (RUNS + '"case" = [5, 6]\n', "has no case 5", "it has 5, the first is 0"),
        (RUNS + '[grid.fixed]\n"core" = "cortex-m4"\n', "core: is for advise alone", ""),
        (
            RUNS.replace("[1, 2]", f"{list(range(1000))}\ndraws = {list(range(1000, 1201))}"),
            "1,005,000 rows are",
            "several",
        ),
        (RUNS_COUNTED, "its cycles were counted on", "`wattlock show`"),
        (LIVES + '"model" = "linea"\n"allow" = 1\n', "allow: unknown key", ""),
        (
            NS3.replace('"seed" =', '"engine" = ["ns3"]\n"seed" =').replace('"engine" = "ns3"', ""),
            "among",
            "[grid.fixed]",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_key_and_no_folder_is_made(
    text: str, error: str, hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(["sweep", write(tmp_path, text), "--out", "out"]) in {4, 5, 8}
    said = capsys.readouterr()
    assert said.out == ""
    errors = [line for line in said.err.splitlines() if line.startswith(("error:", "hint:"))]
    assert error in errors[0]
    assert hint in " ".join(errors[1:])
    assert not Path("out").exists()


def test_without_ns3_a_sweep_that_asks_it_is_refused_and_no_folder_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = tmp_path / "bare"
    bare.write_text("#!/bin/sh\nexit 1\n")
    bare.chmod(0o755)
    monkeypatch.setenv("WATTLOCK_NS3_PYTHON", str(bare))
    for python, error in ((ns3.python, "bare has no ns3"), (lambda: None, "ns3, which is not installed")):
        monkeypatch.setattr(ns3, "python", python)
        assert cli.answer(["sweep", write(tmp_path, NS3), "--out", "out"]) != 0
        said = capsys.readouterr().err
        assert error in said
        assert EXTRA in said
        assert not Path("out").exists()


def test_a_sweep_that_comes_along_is_valid_and_is_found_by_its_name() -> None:
    counted = {name: plan.load(name).grid[0].rows for name in plan.SWEEPS.names()}
    assert counted == {"tag-or-cipher": 100_000, "beside-ns3": 64, "coin-cell": 540}


def test_without_a_sweep_or_a_folder_the_line_to_write_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["sweep"], ["sweep", "mine.toml"], ["sweep", "--out", "x"]):
        assert cli.answer(words) == 2
        assert "--out swept" in capsys.readouterr().err
    words = ["sweep", "mine.toml", "--out", "x", "--workers", "2", "--scheduler", "tcp://lab:8786"]
    assert cli.answer(words) == 2
    assert "--workers and --scheduler don't go together" in capsys.readouterr().err


def test_all_mistakes_of_a_file_are_told_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = LINK.replace("[0, 3, 7, 9]", "[0, 3, 0]").replace('link = ["ble-reading", "lorawan-reading"]', "")
    assert cli.answer(["sweep", write(tmp_path, wrong), "--out", "out"]) == 4
    said = capsys.readouterr().err
    assert "grid[0].vary.mcs[2]: 0 stands there already" in said
    assert "also grid[1]: has none of link, advise, battery" in said
