"""The command line's frame: lazy verbs, errors in words, exit codes."""

import csv
import errno
import io
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
import typer

import wattlock.errors
from support.scripted_probe import install
from support.tree import TREE
from support.virtual_runs import study_of, write_study
from wattlock import cli
from wattlock.cli.table import Format, show
from wattlock.errors import StudyError, WattlockError

HEAVY = {"polars", "altair", "scipy", "numpy", "pydantic", "vl_convert"}


def start(code: str, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(TREE / "python")}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, env=environment, **more
    )


PROGRAM = "from wattlock.__main__ import main; main()"


def with_verb(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    def devices() -> None:
        act()

    monkeypatch.setattr(cli, "import_module", lambda _: SimpleNamespace(devices=devices))


def raising(error: BaseException) -> Callable[[], None]:
    def act() -> None:
        raise error

    return act


def test_help_imports_no_heavy_library_and_no_verb() -> None:
    code = (
        "import sys; from wattlock.cli import answer\n"
        "assert answer(['--help']) == 0\n"
        "print(' '.join(sys.modules), file=sys.stderr)"
    )
    done = start(code)
    loaded = set(done.stderr.split())
    assert done.returncode == 0
    assert not loaded & HEAVY
    assert {f"wattlock.cli.{verb}" for verb in cli.VERBS} & set(loaded) == set()


def test_help_names_every_verb() -> None:
    text = start(PROGRAM, "--help").stdout
    assert all(f" {verb} " in text for verb in cli.VERBS)


@pytest.mark.parametrize("verb", cli.VERBS)
def test_every_verb_has_a_file_and_an_example_in_its_help(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer([verb, "--help"]) == 0
    assert f"wattlock {verb}" in capsys.readouterr().out.split("Example", 1)[1]


def test_an_unknown_verb_is_a_wrong_usage_and_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["device"]) == cli.USAGE
    words = capsys.readouterr()
    assert words.out == ""
    assert words.err.startswith("error: No such command 'device'")
    assert "'devices'" in words.err


def test_an_error_is_told_in_two_lines_with_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_verb(monkeypatch, raising(StudyError("study x.toml: is empty", hint="write a grid")))
    assert cli.answer(["devices"]) == StudyError.exit_code
    assert capsys.readouterr().err == "error: study x.toml: is empty\nhint: write a grid\n"


def test_every_kind_of_error_has_an_exit_code_of_its_own() -> None:
    kinds = [kind for kind in vars(wattlock.errors).values() if isinstance(kind, type)]
    codes = [kind.exit_code for kind in kinds if issubclass(kind, WattlockError)]
    taken = [0, cli.BUG]
    assert cli.USAGE in codes
    assert len({*codes, *taken}) == len(codes) + len(taken)


def test_a_bug_is_one_line_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("WATTLOCK_DEBUG", raising=False)
    with_verb(monkeypatch, raising(ZeroDivisionError("two\nlines")))
    assert cli.answer(["devices"]) == cli.BUG
    first, second = capsys.readouterr().err.splitlines()
    assert first == "error: this is a bug in wattlock: ZeroDivisionError: two lines"
    assert "WATTLOCK_DEBUG=1" in second


def test_a_bug_shows_its_traceback_to_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATTLOCK_DEBUG", "1")
    with_verb(monkeypatch, raising(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        cli.answer(["devices"])


def test_a_keyboard_interrupt_ends_with_130_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_verb(monkeypatch, raising(KeyboardInterrupt()))
    assert cli.answer(["devices"]) == cli.INTERRUPTED
    assert capsys.readouterr().err == ""


def test_a_full_disk_has_its_own_exit_code_wherever_it_shows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_verb(monkeypatch, raising(OSError(errno.ENOSPC, "No space left on device", "records.jsonl")))
    assert cli.answer(["devices"]) == wattlock.errors.DiskFull.exit_code
    assert capsys.readouterr().err.startswith("error: no room left on the disk for records.jsonl\nhint: ")


def test_a_reader_that_goes_away_ends_the_program_quietly() -> None:
    code = (
        "import sys; from types import SimpleNamespace; from wattlock import cli\n"
        "def devices() -> None:\n"
        "    for _ in range(100_000): print('a line that nobody reads')\n"
        "cli.import_module = lambda _: SimpleNamespace(devices=devices)\n"
        "sys.exit(cli.answer(['devices']))"
    )
    program = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(TREE / "python")},
    )
    assert program.stdout is not None
    assert program.stderr is not None
    program.stdout.readline()
    program.stdout.close()
    assert program.stderr.read() == b""
    program.stderr.close()
    assert program.wait(timeout=30) == 1


def test_what_a_verb_gives_back_is_no_exit_code_unless_it_is_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    with_verb(monkeypatch, lambda: None)
    assert cli.answer(["devices"]) == 0
    with_verb(monkeypatch, raising(typer.Exit(9)))
    assert cli.answer(["devices"]) == 9


def test_ctrl_c_while_the_command_line_is_imported_ends_with_its_code_and_no_word(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(5)")
    # A test run in the background may have been told to ignore Ctrl-C, and hands that on.
    code = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    done = start(f"{code}sys.path.insert(0, {str(tmp_path)!r})\nfrom wattlock.__main__ import main; main()", "--help")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


FRAME = pl.DataFrame({"cipher": ["aes128-cbc", "rc4, 128"], "cycles": [1234.5, float("nan")], "rounds": [10, None]})


def test_json_is_one_array_with_null_where_a_number_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    show(FRAME, Format.json)
    assert json.loads(capsys.readouterr().out) == [
        {"cipher": "aes128-cbc", "cycles": 1234.5, "rounds": 10},
        {"cipher": "rc4, 128", "cycles": None, "rounds": None},
    ]


def test_csv_quotes_a_comma_and_has_a_header(capsys: pytest.CaptureFixture[str]) -> None:
    show(FRAME.select("cipher", "rounds"), Format.csv)
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows == [["cipher", "rounds"], ["aes128-cbc", "10"], ["rc4, 128", ""]]


def test_a_table_in_a_pipe_is_not_cut_and_takes_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    show(pl.DataFrame({"x": ["[bold]" + "long" * 60]}), Format.table)
    assert "[bold]" + "long" * 60 in capsys.readouterr().out


def test_an_empty_frame_is_an_empty_array(capsys: pytest.CaptureFixture[str]) -> None:
    show(FRAME.clear(), Format.json)
    assert json.loads(capsys.readouterr().out) == []


def test_devices_lists_every_card_and_its_evidence(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["devices", "--format", "json"]) == 0
    listed = {row["device"]: row for row in json.loads(capsys.readouterr().out)}
    assert listed["x86-server-assumed"]["evidence"] == "assumed"
    assert listed["x86-server-assumed"]["power_W"] == 10.0
    assert listed["nrf52840"]["nJ_per_cycle"] == pytest.approx(0.156)


def test_a_card_of_another_kind_is_named_with_the_option_that_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["devices", "nrf52840-ble"]) == 4
    assert "--kind radio" in capsys.readouterr().err
    assert cli.answer(["devices", "nrf52840-bel"]) == 4
    assert 'did you mean "nrf52840"' in capsys.readouterr().err


def test_devices_shows_the_source_of_each_number_of_a_card(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["devices", "pentium3-mobile-700", "--format", "csv"]) == 0
    words = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(words.out)))
    assert [row["number"] for row in rows] == ["voltage", "current", "frequency"]
    assert all("Prasithsangaree" in row["source"] for row in rows)
    assert "at least ten times too low" in words.err


def test_a_command_that_is_offered_can_be_pasted_though_the_path_has_a_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WATTLOCK_PROBE", str(install(tmp_path / "probe")))
    write_study(tmp_path / "virtual.toml", study_of())
    assert cli.answer(["run", "virtual.toml", "--out", "my first run"]) == 0
    offered = capsys.readouterr().err.partition("The numbers: ")[2].splitlines()[0]
    assert shlex.split(offered) == ["wattlock", "show", "my first run"]
    assert cli.answer(shlex.split(offered)[1:]) == 0
