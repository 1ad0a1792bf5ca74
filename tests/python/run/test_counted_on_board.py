"""A whole run on a board that a program plays: flashed, counted over its line, reset in its first case."""

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from support.tools import compiling, needs
from support.tree import TREE, require_programs
from wattlock import cli
from wattlock.errors import CasesFailed
from wattlock.run.result import read
from wattlock.store import RunFolder

PLAYED = TREE / "crates" / "probe" / "tests" / "all"

STUDY = """
id = "three"
title = "Three lengths"
question = "Does a reset cost its case alone?"

[[grid]]
cipher = ["xor"]
operation = ["encrypt"]
payload_B = [16, 64, 256]
"""


@needs(compiling("cargo", "thumbv7em-none-eabi"), "needs a C compiler and `rustup target add thumbv7em-none-eabi`")
def test_a_board_that_is_reset_in_its_first_case_loses_that_case_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    require_programs()
    monkeypatch.chdir(tmp_path)
    Path("three.toml").write_text(STUDY)
    played = f"{PLAYED}/start_board.sh {tmp_path} {sys.executable} {PLAYED}/fake_board.py reset"
    text = (files("wattlock") / "data" / "boards" / "nrf52840-dk.toml").read_text()
    command = next(line for line in text.splitlines() if line.startswith("flash_command"))
    Path("mine.toml").write_text(text.replace(command, f'flash_command = "{played} {{elf}}"'))
    # The port is there before anything is flashed.
    subprocess.run([*played.split(), "nothing.elf"], check=True)
    try:
        words = ["run", "three.toml", "--on", f"board:mine.toml@{tmp_path}/port", "--out", "run"]
        assert cli.answer(words) == CasesFailed.exit_code
    finally:
        subprocess.run(["kill", Path("pid").read_text().strip()], check=False)
    assert "the board was reset in this case" in capsys.readouterr().err
    found = read(RunFolder.open("run"))
    assert found.is_sealed
    assert (found.core.board, found.evidence) == ("mine", "measured")
    rows = found.estimates.sort("payload_B")
    assert rows["state"].to_list() == ["failed", "counted", "counted"]
    # Its clock says one more with each call.
    assert [high - low for low, high in rows.select("cycles_low", "cycles_high").rows()[1:]] == [4.0, 4.0]
    assert rows["repetitions"].to_list() == [None, 5, 5]
