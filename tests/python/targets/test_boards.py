"""Boards as files: each number checked, every board with its sources; `board:BOARD@PORT` named, tried and refused."""

import json
import os
import tomllib
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from support.counted_runs import M4
from support.tree import require_programs
from wattlock import cli
from wattlock.errors import InputError, WayError
from wattlock.store import RunFolder
from wattlock.targets import named
from wattlock.targets.microcontroller import BOARDS, OnBoard
from wattlock.targets.parts import PARTS
from wattlock.targets.target import CountedCore

DK = "nrf52840-dk"


def changed(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """The nRF52840-DK with one thing changed."""
    tables = tomllib.loads((files("wattlock") / "data" / "boards" / f"{DK}.toml").read_text())
    change(tables)
    return tables


@pytest.mark.parametrize("name", BOARDS.shipped())
def test_a_board_names_its_sources_and_a_real_one_its_part_and_chip(name: str) -> None:
    board = BOARDS.load(name)[1]
    assert len(board.source) > 100
    assert board.emulated == name.startswith("qemu-")
    if not board.emulated:
        assert board.part in PARTS.shipped()
        assert board.chip is not None
        assert board.chip in board.flash_command
        assert board.tried


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda board: board.update(clock="mcycle"), "cortex-m4 has no clock mcycle"),
        (lambda board: board.update(core="cortex-m0", part=None), "has no DWT"),
        (lambda board: board.update(flash_command="probe-rs download"), "{elf}"),
        (lambda board: board.update(part="rp2040"), "rp2040 has no cortex-m4"),
        (lambda board: board["memory"].update(stack_B=262_144), "leaves nothing of 262144 B of RAM"),
        (lambda board: board["uart"].pop("send"), "uart.send"),
        (lambda board: board["start"][0].update(sets=1), "start[0].sets"),
        (lambda board: board["start"][0].update(address=2**32), "start[0].address"),
    ],
)
def test_a_board_with_a_fault_names_the_key_and_the_fault(
    change: Callable[[dict[str, Any]], None], message: str
) -> None:
    with pytest.raises(InputError) as caught:
        BOARDS.checked("board mine.toml", changed(change))
    assert message in f"{caught.value.message} {caught.value.hint}"


def test_a_board_is_named_by_its_name_or_file_and_its_port(tmp_path: Path) -> None:
    require_programs()
    own = tmp_path / "my@board.toml"
    own.write_text((files("wattlock") / "data" / "boards" / f"{DK}.toml").read_text())
    for on, board in ((f"board:{DK}@/dev/ttyACM0", DK), (f"board:{own}@/dev/ttyACM0", "my@board")):
        target = named.target(on)
        assert isinstance(target, OnBoard)
        assert target.counted == CountedCore("cortex-m4", "nrf52840", 64_000_000, board)
        assert (target.name, target.port) == (on, "/dev/ttyACM0")


@pytest.mark.parametrize(
    ("on", "message", "hint"),
    [
        (f"board:{DK}", "names no board and port", f"--on board:{DK}@/dev/ttyACM0"),
        (f"board:{DK}@", "names no board and port", f"--on board:{DK}@/dev/ttyACM0"),
        ("board:nrf52841-dk@/dev/ttyACM0", "there is no board nrf52841-dk", f'did you mean "{DK}"?'),
        ("board:qemu-virt@rtt", "names no chip of probe-rs", "probe-rs chip list"),
        ("board:", "there is no such target", "board:BOARD@PORT"),
    ],
)
def test_a_name_that_says_no_board_or_port_is_refused_with_what_was_meant(on: str, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        named.target(on)
    assert message in caught.value.message
    assert hint in caught.value.hint


PROBE = """#!/bin/sh
echo "$*" >> {here}/words
cat > {here}/plan
{does}
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs in front of all others."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return tmp_path / "bin"


def program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def stub(here: Path, does: str) -> OnBoard:
    """A board whose probe's verb `board` does this."""
    program(here / "probe", PROBE.format(here=here, does=does))
    return OnBoard(here / "probe", CountedCore("cortex-m4", "nrf52840", 64_000_000, DK), DK, "/dev/ttyACM0")


def test_its_facts_come_without_flashing_and_a_case_flashes_by_the_boards_command(
    tmp_path: Path, programs: Path
) -> None:
    program(programs / "probe-rs", "#!/bin/sh\nexit 0\n")
    header = RunFolder.open(M4).headers()[0]
    header["fingerprint"]["virtualisation"]["emulator"] = None
    (tmp_path / "header").write_text(json.dumps(header) + "\n")
    target = stub(tmp_path, f"cat {tmp_path}/header")
    facts = target.facts()
    assert (facts.emulator, facts.counted) == (None, target.counted)
    words = (tmp_path / "words").read_text()
    assert words.startswith("board --serial /dev/ttyACM0 --board ")
    assert "--flash" not in words
    (tmp_path / "words").unlink()
    with target._words(trial=False) as carried_out:
        assert carried_out[-2:] == ["--flash", BOARDS.load(DK)[1].flash_command]


def test_without_the_program_that_flashes_it_the_command_that_installs_it_is_told(
    tmp_path: Path, programs: Path
) -> None:
    assert not any(programs.iterdir())
    (tmp_path / "header").write_text(json.dumps(RunFolder.open(M4).headers()[0]) + "\n")
    with pytest.raises(WayError, match="probe-rs, which flashes it, is not installed") as caught:
        stub(tmp_path, f"cat {tmp_path}/header").facts()
    assert "cargo install probe-rs-tools" in (caught.value.hint or "")
    refused = "printf 'error: no such port\\nhint: look\\n' >&2; exit 10"
    with pytest.raises(WayError, match="no such port"):
        stub(tmp_path, refused).facts()


def test_targets_lists_the_boards_and_what_is_missing(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["targets", "--boards", "--format", "json"]) == 0
    rows = {row["board"]: row for row in json.loads(capsys.readouterr().out)}
    assert set(rows) == {name for name in BOARDS.shipped() if not name.startswith("qemu-")}
    row = rows[DK]
    assert (row["core"], row["clock_MHz"], row["counter"]) == ("cortex-m4", 64, "dwt")
    assert "probe-rs" in row["missing"]
    program(programs / "probe-rs", "#!/bin/sh\nexit 0\n")
    assert cli.answer(["targets", "--boards", "--format", "json"]) == 0
    assert not any("probe-rs" in (row["missing"] or "") for row in json.loads(capsys.readouterr().out))


def test_on_a_debug_probe_its_chip_is_named_and_probe_rs_flashes_it(programs: Path) -> None:
    require_programs()
    assert not any(programs.iterdir())
    target = named.target(f"board:{DK}@rtt")
    assert isinstance(target, OnBoard)
    with pytest.raises(WayError, match="probe-rs doesn't run"):
        target.facts()
    with target._words(trial=False) as words:
        assert words[:3] == ["--rtt", "nRF52840_xxAA", "--board"]
        assert len(words) == 4


def test_targets_says_what_a_board_lacks(
    tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program(programs / "probe-rs", "#!/bin/sh\nexit 0\n")
    does = "echo 'error: /dev/ttyACM0: there is no such port' >&2; echo 'hint: `ls /dev/ttyACM*`' >&2; exit 10"
    monkeypatch.setenv("WATTLOCK_PROBE", os.fspath(stub(tmp_path, does).program))
    assert cli.answer(["targets", f"board:{DK}@/dev/ttyACM0", "--format", "json"]) == WayError.exit_code
    (row,) = json.loads(capsys.readouterr().out)
    assert "/dev/ttyACM0: there is no such port; `ls /dev/ttyACM*`" in row["missing"]
