"""What a narrow terminal shows of a table, and what the command line says where something is left out."""

import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.scripted_probe import install
from support.virtual_runs import study_of, write_study
from wattlock import cli
from wattlock.cli.table import Format, narrowed, show

WIDE = pl.DataFrame(
    {
        "cipher": ["aes128-cbc"],
        "title": ["a title that is longer than a column of a narrow terminal"],
        "time_ns": [12345.0],
        "state": ["resolved"],
    }
)


def printed(columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[list[str], str]:
    monkeypatch.setenv("COLUMNS", str(columns))
    show(WIDE, Format.table)
    out, err = capsys.readouterr()
    return out.splitlines(), err


def test_a_table_that_fits_is_shown_whole(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (head, line), said = printed(120, monkeypatch, capsys)
    assert head.split() == WIDE.columns
    assert str(WIDE["title"][0]) in line
    assert said == ""


def test_a_long_cell_is_cut_with_a_mark(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (head, line), said = printed(60, monkeypatch, capsys)
    assert head.split() == WIDE.columns
    assert re.search(r"a title that .*…", line)
    assert "resolved" in line
    assert said == ""


def test_columns_that_do_not_fit_are_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (head, line), said = printed(40, monkeypatch, capsys)
    assert head.split() == ["cipher", "title"]
    assert max(map(len, (head, line))) <= 40
    assert said == "not shown in 40 columns: time_ns, state; --format json has all\n"


def test_a_table_that_goes_into_a_file_is_never_cut(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    show(WIDE, Format.table)
    assert str(WIDE["title"][0]) in capsys.readouterr().out


@given(st.lists(st.integers(1, 90), min_size=1, max_size=9), st.integers(1, 200))
def test_what_is_shown_fits_and_nothing_is_left_out_that_would(widths: list[int], room: int) -> None:
    named = {str(place): width for place, width in enumerate(widths)}
    found = narrowed(named, room)
    assert list(found) == list(named)[: len(found)]
    assert sum(found.values()) + 2 * (len(found) - 1) <= room
    assert all(width <= named[name] for name, width in found.items())
    if sum(widths) + 2 * (len(widths) - 1) <= room:
        assert found == named


# ---------- what lacks


@pytest.mark.parametrize(
    ("words", "code", "error", "hint"),
    [
        (["compare", "--libraries", "a.so", "b.so"], 4, "--libraries needs a study", "--libraries a.so b.so quick"),
        (["compare"], 4, "name the runs to compare", "wattlock compare before after"),
        (["link", "--template"], 2, "--template needs one of wifi, ble, 802154, lorawan", "--help` lists its options"),
        (
            ["devices", "--schema"],
            2,
            "--schema needs one of device, radio, battery, costs",
            "--help` lists its options",
        ),
        (["run", "--only"], 2, "Option '--only' requires an argument", "--help` lists its options"),
    ],
)
def test_what_lacks_is_named_with_its_choices(
    words: list[str], code: int, error: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(words) == code
    said = capsys.readouterr().err.splitlines()
    assert error in said[0]
    assert hint in said[1]


@pytest.mark.parametrize(
    "words",
    [
        ["run", "nosuch", "--dry-run"],
        ["studies", "--show", "nosuch"],
        ["advise", "nosuch"],
        ["link", "nosuch"],
        ["devices", "nosuch"],
        ["devices", "--kind", "radio", "nosuch"],
        ["devices", "--kind", "battery", "--show", "nosuch"],
        ["battery", "nosuch", "--energy-uJ", "5"],
    ],
)
def test_a_name_that_there_is_not_has_one_exit_code_of_whatever_kind(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.answer(words) == 4


# ---------- where runs lie


def test_a_run_that_lies_elsewhere_is_the_last_one_and_is_known_by_its_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WATTLOCK_PROBE", str(install(tmp_path / "probe")))
    write_study(tmp_path / "virtual.toml", study_of())
    assert cli.answer(["run", "virtual.toml", "--out", "far/away"]) == 0
    (link,) = (tmp_path / "runs").iterdir()
    assert link.is_symlink()
    assert link.samefile("far/away")
    capsys.readouterr()
    shown = []
    for name in ("last", link.name, "far/away"):
        assert cli.answer(["show", name, "--format", "json"]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] == shown[2] != ""
    (tmp_path / "far").rename(tmp_path / "gone")
    assert cli.answer(["show", "last"]) == 5
    assert "there is no run under runs" in capsys.readouterr().err


def test_where_no_link_can_be_made_the_run_is_there_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WATTLOCK_PROBE", str(install(tmp_path / "probe")))
    write_study(tmp_path / "virtual.toml", study_of())
    (tmp_path / "runs").write_text("a file where the folder would be")
    assert cli.answer(["run", "virtual.toml", "--out", "there"]) == 0
    assert (tmp_path / "there" / "SHA256SUMS").is_file()


def test_costs_in_a_folder_of_ones_own_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(["devices", "--template", "costs"]) == 0
    (tmp_path / "costs").mkdir()
    (tmp_path / "costs" / "mine.toml").write_text(capsys.readouterr().out)
    monkeypatch.setenv("WATTLOCK_CARDS", str(tmp_path))
    assert cli.answer(["devices", "--kind", "costs", "--format", "csv"]) == 0
    assert "\nmine," in capsys.readouterr().out
