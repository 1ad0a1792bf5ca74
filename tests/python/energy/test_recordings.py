"""Recordings of instruments: the exports of four of them, their blocks, and what is refused with line and value."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wattlock import cli
from wattlock.energy.recordings import Block, Recording, integrate, parse_units, read
from wattlock.errors import InputError

BLOCK_UJ = 2e6


def load_W(at_ms: int) -> float:
    """2 W, and from 0.3 to 0.7 s 5 W."""
    return 5.0 if 300 <= at_ms < 700 else 2.0


def written(place: Path, header: str, row: Callable[[int, float], str]) -> Path:
    """A recording of a second at 1 kHz."""
    place.write_text("\n".join([header, *(row(at_ms, load_W(at_ms)) for at_ms in range(1000))]) + "\n")
    return place


EXPORTS: dict[str, tuple[str, Callable[[int, float], str]]] = {
    "otii": (
        "Timestamp,Main Current - Arc (A),Main Voltage - Arc (V)",
        lambda ms, watts: f"{ms / 1e3},{watts / 3.3},3.3",
    ),
    "joulescope": (
        "#time (s),current (A),voltage (V),power (W)",
        lambda ms, watts: f"{ms / 1e3},{watts / 3.3},3.3,{watts}",
    ),
    "ppk2": ("Timestamp(ms),Current(uA),D0-D7", lambda ms, watts: f"{ms},{watts / 3.3 * 1e6},{int(watts > 3)}0000000"),
    "generic": ("time_us,power_mW", lambda ms, watts: f"{ms * 1000},{watts * 1e3}"),
}


@pytest.mark.parametrize("export", EXPORTS)
def test_the_exports_of_four_instruments_hold_the_same_joules(tmp_path: Path, export: str) -> None:
    recording = read(written(tmp_path / "it.csv", *EXPORTS[export]), voltage_V=3.3)
    assert recording.energy_J(Block("", 0.2, 0.4)) == pytest.approx(0.2 + 0.5, rel=0.01)
    assert recording.row(recording.whole())["energy_uJ"] == pytest.approx((0.6 * 2 + 0.4 * 5) * 1e6, rel=0.01)


@pytest.mark.parametrize("text", ["{}0000000", "{}"])
def test_a_logic_channel_marks_the_blocks_also_where_a_spreadsheet_took_its_zeros(tmp_path: Path, text: str) -> None:
    digit = "D0" if text != "{}" else "D7"
    header, row = EXPORTS["ppk2"]
    rows = lambda ms, watts: row(ms, watts).rpartition(",")[0] + "," + text.format(int(watts > 3))  # noqa: E731
    found = integrate(written(tmp_path / "ppk2.csv", header, rows), marker=digit, voltage_V=3.3)
    (block,) = found.to_dicts()
    assert (block["block"], block["samples"], block["error"]) == ("0", 401, None)
    assert (block["start_s"], block["end_s"]) == pytest.approx((0.3, 0.7))
    assert block["energy_uJ"] == pytest.approx(BLOCK_UJ, rel=0.01)
    assert block["mean_power_mW"] == pytest.approx(BLOCK_UJ / 0.4 / 1e3, rel=0.01)


def test_a_marker_is_on_where_it_is_not_0_and_blocks_that_the_recording_cuts_are_left_out(tmp_path: Path) -> None:
    marks = ["1", "0", "true", "2", "false", "", "0.0", "-1", "0", "1"]
    rows = [f"{at},1,{mark}" for at, mark in enumerate(marks)]
    (tmp_path / "it.csv").write_text("\n".join(["time,power,on", *rows]))
    found = read(tmp_path / "it.csv", marker="on").marked()
    assert found == [Block("0", 2.0, 4.0), Block("1", 7.0, 8.0)]


def test_blocks_by_time_have_a_row_each_and_one_that_cannot_be_told_says_why(tmp_path: Path) -> None:
    recording = written(tmp_path / "it.csv", *EXPORTS["generic"])
    (tmp_path / "blocks.csv").write_text("block,start_s,end_s\nfirst, 0.3, 0.7\n\nlate,0.5,2\n")
    found = integrate(recording, blocks=tmp_path / "blocks.csv")
    assert found["block"].to_list() == ["first", "late"]
    assert found["energy_uJ"].to_list() == [pytest.approx(BLOCK_UJ, rel=0.01), None]
    assert found["error"].to_list() == [None, "the recording is from 0 to 0.999 s"]


@pytest.mark.parametrize(
    ("start_s", "end_s", "said"),
    [
        (0.5, 2.0, "from 0 to 0.999 s"),
        (-0.1, 0.5, "from 0 to 0.999 s"),
        (0.4, 0.4, "it ends at 0.4 s, before it begins at 0.4 s"),
        (0.2, 0.202, "shorter than 5 samples of 0.001 s"),
    ],
)
def test_what_a_recording_cannot_tell_is_an_error_and_never_zero(
    tmp_path: Path, start_s: float, end_s: float, said: str
) -> None:
    row = read(written(tmp_path / "it.csv", *EXPORTS["generic"])).row(Block("", start_s, end_s))
    assert row["energy_uJ"] is row["mean_power_mW"] is None
    assert said in row["error"]


def test_a_hole_in_the_block_is_an_error_and_one_beside_it_is_none(tmp_path: Path) -> None:
    path = written(tmp_path / "it.csv", *EXPORTS["otii"])
    path.write_text("\n".join(line for line in path.read_text().splitlines() if not line.startswith("0.25")))
    recording = read(path)
    assert recording.energy_J(Block("", 0.3, 0.7)) == pytest.approx(2.0, rel=0.01)
    with pytest.raises(InputError, match=r"samples are missing between 0\.249 and 0\.26 s"):
        recording.energy_J(Block("", 0.2, 0.4))


@given(st.floats(0, 4), st.floats(2, 5), st.lists(st.floats(0, 1e3), min_size=101, max_size=101))
def test_two_halves_of_a_block_hold_the_joules_of_the_whole(
    start_s: float, long_s: float, power_W: list[float]
) -> None:
    recording = Recording(np.linspace(0, 10, 101), np.array(power_W))
    ends = start_s, start_s + long_s / 2, start_s + long_s
    halves = [recording.energy_J(Block("", *pair)) for pair in (ends[:2], ends[1:])]
    whole_J = recording.energy_J(Block("", ends[0], ends[2]))
    assert sum(halves) == pytest.approx(whole_J, rel=1e-9, abs=1e-9)
    assert 0 <= whole_J <= max(power_W) * long_s * 1.001


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,power_W\n0,1\n1,1\n", "no column of time in a, power_W"),
        ("time,b\n0,1\n1,1\n", "no column of current or power in time, b"),
        ("time,current\n0,1\n1,1\n", "current without a voltage"),
        ("time,power (dBm)\n0,1\n1,1\n", 'column "power (dBm)" is in "dBm", not in W, mW, uW or nW'),
        ("time,my_power (kW)\n0,1\n1,1\n", 'column "my_power (kW)" is in "kW"'),
        ("Timestamp(ms);Current(uA)\n0;1\n1;1\n", "separated by semicolons"),
        ("time_s\tpower_W\n0\t1\n1\t1\n", "separated by tabs"),
        ("time,power\n0,1\n0,1\n", "line 3: time 0 s does not rise"),
        ("time,power\n0,1\n\n1,1\n1,x\n", 'line 5: "x" is no number'),
        ("time,power\n0,1\n1\n", 'line 3: "" is no number'),
        ("time,power\n0,1\n1,nan\n2,x\n", "line 3: nan"),
        ("time,power\n0,1\n1,1_0\n", 'line 3: "1_0" is no number'),
        ("time,power\n0,1\n", "1 samples"),
        ("", "is empty"),
    ],
)
def test_what_does_not_fit_is_named_with_its_line_and_value(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "it.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read(path)
    assert caught.value.message.startswith(f"{path}: ")
    assert said in caught.value.message


def test_units_that_no_head_tells_are_told_and_go_before_the_head(tmp_path: Path) -> None:
    path = tmp_path / "it.csv"
    path.write_text("time,current_A\n0,2000\n1,2000\n2,4000\n")
    found = read(path, voltage_V=3.0, units=parse_units(["time=ms", "current=uA"]))
    assert found.time_s.tolist() == pytest.approx([0, 1e-3, 2e-3])
    assert found.power_W.tolist() == pytest.approx([6e-3, 6e-3, 12e-3])
    for wrong in ("time", "current=V", "speed=m", "power=kW"):
        with pytest.raises(InputError, match=f"--unit {wrong}: is no unit"):
            parse_units([wrong])


def test_a_voltage_is_not_multiplied_with_a_power_that_has_current_in_its_name(tmp_path: Path) -> None:
    path = tmp_path / "it.csv"
    path.write_text("time,power of the current path\n0,2\n1,2\n")
    assert read(path, voltage_V=3.0).power_W.tolist() == [2.0, 2.0]


def test_a_joulescope_file_that_is_no_csv_is_refused_with_the_way_to_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="JLS is not read") as caught:
        read(tmp_path / "it.jls")
    assert "Joulescope UI" in caught.value.hint


def test_a_marker_that_is_no_column_or_never_on_and_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    path = tmp_path / "it.csv"
    path.write_text("time,power,on\n0,1,0\n1,1,0\n")
    for marker, said in (("D9", 'no column "D9"'), ("D0", 'no column "D0"'), ("on", "the marker is never on")):
        with pytest.raises(InputError, match=said):
            integrate(path, marker=marker)
    (tmp_path / "blocks.csv").write_text("block,start_s\na,0\n")
    with pytest.raises(InputError, match=r"blocks\.csv: no column end_s"):
        integrate(path, blocks=tmp_path / "blocks.csv")
    for wrong in (tmp_path / "nowhere.csv", tmp_path):
        with pytest.raises(InputError, match=str(wrong)):
            integrate(wrong)
    path.write_bytes(b"time,power\n0,\xff\n1,1\n")
    with pytest.raises(InputError, match=r"it\.csv: "):
        integrate(path)


def test_the_verb_integrates_a_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "ppk2.csv", *EXPORTS["ppk2"])
    assert cli.answer(["meters", "--csv", str(path), "--voltage", "3.3", "--marker", "D0", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == integrate(path, voltage_V=3.3, marker="D0").to_dicts()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--csv", "a.csv", "--read", "ppk2"], "--csv and --read don't go together"),
        (["--csv", "a.csv", "--blocks", "b.csv", "--marker", "D0"], "--blocks and --marker don't go together"),
        (["--marker", "D0"], "--marker needs --csv"),
        (["--stream", "a.bin"], "--stream needs --read"),
    ],
)
def test_options_that_say_nothing_together_are_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(["meters", *words]) == InputError.exit_code
    assert said in capsys.readouterr().err
