"""What a narrow terminal shows of a table, and what the command line says where something is left out."""

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.scripted_probe import install
from support.virtual_runs import study_of, write_study
from wattlock import cli
from wattlock.cli.table import Format, TextColumn, laid_out, show

WIDE = pl.DataFrame(
    {
        "cipher": ["aes128-cbc"],
        "title": ["a title that is longer than a column of a narrow terminal"],
        "time_ns": [12340.0],
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


def test_a_long_text_stands_below_its_row(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (head, line, *below), said = printed(60, monkeypatch, capsys)
    assert head.split() == ["cipher", "time_ns", "state"]
    assert line.split() == ["aes128-cbc", "12,340", "resolved"]
    assert " ".join(" ".join(below).split()) == f"title: {WIDE['title'][0]}"
    assert said == ""


@pytest.mark.parametrize("room", [9, 12, 24, 40])
def test_nothing_is_left_out_where_no_column_is_the_answer(
    room: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, said = printed(room, monkeypatch, capsys)
    assert "12,340" in "".join(line.strip() for line in lines)
    assert "resolved" in "".join(line.strip() for line in lines)
    assert said == ""


def test_a_table_that_goes_into_a_file_is_never_cut(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    show(WIDE, Format.table)
    assert str(WIDE["title"][0]) in capsys.readouterr().out


CELLS = st.sampled_from(["-", "a", "1,500", "encrypt", "0.004611", "a reason of several words", "x" * 50])


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, TextColumn], list[str], int]:
    """A table, its answer columns, and the letters of a line."""
    rows = draw(st.integers(0, 12))
    names = draw(
        st.lists(st.from_regex("[a-z]{1,9}(_[a-z]{1,9}){0,3}", fullmatch=True), min_size=1, max_size=9, unique=True)
    )
    columns = {
        name: TextColumn(name, draw(st.lists(CELLS, min_size=rows, max_size=rows)), draw(st.booleans()))
        for name in names
    }
    return columns, draw(st.lists(st.sampled_from(names), unique=True)), draw(st.integers(1, 120))


@given(tables())
def test_a_layout_fits_and_holds_the_answer_and_what_tells_rows_apart(
    table: tuple[dict[str, TextColumn], list[str], int],
) -> None:
    columns, answer, room = table
    layout = laid_out(columns, answer, room)
    widths = list(layout.widths.values())
    assert sum(widths) + 2 * (len(widths) - 1) <= room
    assert [name for name in columns if name in layout.widths] == list(layout.widths)
    first = next((place for place, name in enumerate(columns) if name in answer), len(columns))
    assert not {name for place, name in enumerate(columns) if place < first or name in answer} & {*layout.left_out}
    same = {name for name, column in columns.items() if len({*column.cells}) == 1 and name not in answer}
    assert {*columns} - same <= {*layout.widths, *layout.sections, *layout.below, *layout.left_out}
    assert not {*layout.widths} & {*layout.sections, *layout.below, *layout.left_out}


@pytest.mark.parametrize("room", [60, 80, 120])
def test_the_answer_of_show_and_of_compare_is_there_in_any_width(
    room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WATTLOCK_PROBE", str(install(tmp_path / "probe")))
    write_study(tmp_path / "virtual.toml", study_of())
    assert cli.answer(["run", "virtual.toml", "--out", "made"]) == 0
    capsys.readouterr()
    assert cli.answer(["show", "made", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    monkeypatch.setenv("COLUMNS", str(room))
    assert cli.answer(["show", "made"]) == 0
    shown = capsys.readouterr().out
    assert all(f"{row['time_ns']:.4g}" in shown.replace(",", "") for row in rows if row["time_ns"] < 1e4)
    assert shown.count("resolved") == len(rows)
    assert cli.answer(["compare", "made", "made"]) == 0
    compared = capsys.readouterr().out
    assert compared.count("equivalent") == len(rows)
    assert "ratio" in compared
    assert max(map(len, [*shown.splitlines(), *compared.splitlines()])) <= room


# ---------- what lacks


@pytest.mark.parametrize(
    ("words", "code", "error", "hint"),
    [
        (["compare", "--libraries", "a.so", "b.so"], 2, "--libraries needs a study", "--libraries a.so b.so quick"),
        (["compare"], 2, "name the runs to compare", "wattlock compare before after"),
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
