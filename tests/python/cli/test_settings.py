"""`wattlock.toml`: options that are always given, from the working folder or the user's, behind the command line."""

import json
from pathlib import Path

import pytest

from support.tree import PROBE, require_programs
from wattlock import cli

ASK = ["advise", "--message", "64B", "--every", "1s", "--radio", "nrf52840-ble", "--format", "json"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    require_programs()
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("WATTLOCK_CARDS", "")  # what the settings set is taken back after the test
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, str]:
    """The device card of an answer, and what was said."""
    assert cli.answer([*ASK, *words]) == 0
    out, err = capsys.readouterr()
    return json.loads(out)["question"]["device"]["card"], err


def test_an_option_of_the_file_is_taken_and_said_and_the_command_line_goes_before_it(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "wattlock.toml").write_text('[advise]\ndevice = "nrf52840"\nallow-assumed = true\n')
    card, said = asked(capsys)
    assert card == "nrf52840"
    assert "wattlock.toml: --device nrf52840, --allow-assumed" in said
    card, said = asked(capsys, "--device", "stm32l476")
    assert card == "stm32l476"
    assert "nrf52840" not in said


def test_the_file_of_the_working_folder_stands_for_the_users(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    users = here / "config" / "wattlock" / "wattlock.toml"
    users.parent.mkdir(parents=True)
    users.write_text('[advise]\ndevice = "stm32l476"\nallow-assumed = true\n')
    assert asked(capsys)[0] == "stm32l476"
    (here / "wattlock.toml").write_text('[advise]\ndevice = "nrf52840"\nallow-assumed = true\n')
    assert asked(capsys)[0] == "nrf52840"


def test_a_folder_of_ones_own_has_studies_too(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("WATTLOCK_CARDS")
    (here / "own" / "studies").mkdir(parents=True)
    assert cli.answer(["studies", "--template"]) == 0
    (here / "own" / "studies" / "bench.toml").write_text(capsys.readouterr().out)
    (here / "wattlock.toml").write_text('cards = "own"\n')
    assert cli.answer(["studies", "--format", "json"]) == 0
    assert "bench" in {row["study"] for row in json.loads(capsys.readouterr().out)}
    assert cli.answer(["run", "bench", "--dry-run"]) == 0


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('[advise]\ndevise = "x"\n', "advise.devise"),
        ("[advize]\n", "advize"),
        ("advise = 3\n", "advise"),
        ("a = \n", "not TOML"),
        ("[advise]\nstrength = 'many'\n", "--strength"),
    ],
)
def test_what_is_wrong_in_the_file_is_one_error_with_its_place(
    text: str, place: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "wattlock.toml").write_text(text)
    assert cli.answer(ASK) in {2, 4}
    error, hint = capsys.readouterr().err.splitlines()
    assert error.startswith("error: ")
    assert place in error
    assert hint.startswith("hint: ")
