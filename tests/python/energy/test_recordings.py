"""Recordings of instruments: the exports of four of them, their blocks, and what is refused with line and value."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wattlock import cli
from wattlock.energy import recordings
from wattlock.energy.recordings import Block, Recording, by_quantity, integrate, read
from wattlock.errors import InputError, UsageError

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
    voltage_V = 3.3 if export == "ppk2" else None
    recording = read(written(tmp_path / "it.csv", *EXPORTS[export]), voltage_V=voltage_V)
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
    found = read(path, voltage_V=3.0, units=by_quantity(["time=ms", "current=uA"], "--unit"))
    assert found.time_s.tolist() == pytest.approx([0, 1e-3, 2e-3])
    assert found.power_W.tolist() == pytest.approx([6e-3, 6e-3, 12e-3])
    for wrong in ("current=V", "power=kW"):
        with pytest.raises(InputError, match=f"--unit {wrong}: is no unit"):
            by_quantity([wrong], "--unit")
    for wrong in ("time", "speed=m"):
        with pytest.raises(InputError, match=f"--unit {wrong}: is of no quantity"):
            by_quantity([wrong], "--unit")


def test_a_voltage_is_not_multiplied_with_a_power_that_has_current_in_its_name(tmp_path: Path) -> None:
    path = tmp_path / "it.csv"
    path.write_text("time,power of the current path\n0,2\n1,2\n")
    assert read(path).power_W.tolist() == [2.0, 2.0]


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
    assert cli.answer(["meters", *words]) == UsageError.exit_code
    assert said in capsys.readouterr().err


def rows(form: str, *, step: float, count: int = 50) -> str:
    """Lines of 10 mA at 3 V."""
    return "\n".join(form.format(t=f"{at * step:.9g}", at=at) for at in range(count)) + "\n"


KEYSIGHT = """Keysight N6705C
Date: Thu Jan 01 12:00:00 2026
Sample interval: 0.0002
Trigger sample: 0
Notes: 3,5

Sample,Volt avg 1,Curr avg 1,Volt min 1,Curr min 1
"""
SIGROK = "; CSV generated by libsigrok 0.6\n; from Demo\n; Channels (2/2): V, A\n; Samplerate: 5 kHz\n"
RECORDINGS: dict[str, tuple[str, float | None]] = {
    "ppk2": ("Timestamp(ms),Current(uA),D0,D1\n" + rows("{t},10000,0,1", step=0.2), 3.0),
    "joulescope": ("# Joulescope\n# rate: 5 kHz\n#time (s),current (A),voltage (V),power (W)\n"
                   + rows("{t},0.01,3,0.03", step=2e-4), None),
    "otii": ("Timestamp,Main Current - Arc (A),Main Voltage - Arc (V)\n" + rows("{t},0.01,3", step=2e-4), None),
    "monsoon-python": ("Time(ms),Main(mA),USB(mA),Main Voltage(V),\n" + rows("{t},10,500,3,", step=2e-4), None),
    "monsoon-powertool": ("Time (s),Main Avg Current (mA),Main Max Current (mA),Main Avg Voltage (V)\n"
                          + rows("{t},10,90,3", step=2e-4), None),
    "keysight": (KEYSIGHT + rows("{at},3,0.01,2,0.001", step=1), None),
    "sigrok": (SIGROK + "microseconds,V,A\n" + rows("{t},3,0.01", step=200), None),
    "sigrok by channels": (SIGROK + "Time,Current,Voltage\n" + rows("{t},0.01,3", step=200), None),
    "words": ("Time [sec],Current (Milliamps),Voltage (Volts)\n" + rows("{t},10,3", step=2e-4), None),
    "units below the heads": ("Time,Channel A,Channel B\n(ms),(mA),(V)\n\n" + rows("{t},10,3", step=0.2), None),
    "units alone": ("Time (s),CH1 (V),CH2 (mA)\n" + rows("{t},3,10", step=2e-4), None),
}  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("name", RECORDINGS)
def test_every_instrument_is_read_in_its_own_form_and_in_every_alphabet(
    tmp_path: Path, name: str, encoding: str
) -> None:
    text, voltage_V = RECORDINGS[name]
    path = tmp_path / "it.csv"
    path.write_bytes(text.encode(encoding))
    recording = read(path, voltage_V=voltage_V)
    assert recording.power_W == pytest.approx(0.03)
    assert recording.time_s[-1] - recording.time_s[0] == pytest.approx(49 * 2e-4)
    known = name.split(maxsplit=1)[0]
    assert recording.profile is not None
    assert recording.profile.name == (known if known not in ("words", "units") else "plain")


def test_a_micro_of_windows_is_a_micro(tmp_path: Path) -> None:
    (tmp_path / "it.csv").write_bytes("Timestamp(ms),Current(µA)\n".encode("cp1252") + rows("{t},1e4", step=1).encode())
    assert read(tmp_path / "it.csv", voltage_V=3.0).power_W == pytest.approx(0.03)


def test_samples_of_a_monsoon_that_came_in_a_packet_have_a_time_together(tmp_path: Path) -> None:
    """Its library writes seconds below `Time(ms)`, and three samples with the time of their packet."""
    path = tmp_path / "it.csv"
    lines = [f"{at // 3 * 6e-4:.6f},{10 * (at % 3)},3," for at in range(300)]
    path.write_text("Time(ms),Main(mA),Main Voltage(V),\n" + "\n".join(lines))
    recording = read(path)
    assert len(recording.time_s) == 100
    assert recording.time_s[-1] == pytest.approx(99 * 6e-4)
    assert recording.power_W == pytest.approx(0.03)
    path.write_text("Time(ms),Main(mA),Main Voltage(V),\n" + "\n".join([*lines, "0.0012,500,3,"]))
    with pytest.raises(InputError, match=r"line 302: time 0\.0012 s does not rise"):
        read(path)
    path.write_text("Time(ms),Main(mA),Main Voltage(V),\n" + "\n".join(lines[:3]))
    with pytest.raises(InputError, match="1 samples"):
        read(path)


@pytest.mark.parametrize("kept_of", [10, 100])
def test_a_time_that_fits_its_rate_in_no_unit_is_of_none_unasked(tmp_path: Path, kept_of: int) -> None:
    """Monsoon's library writes each sample, or with a granularity of 100 a sample of a hundred."""
    path = tmp_path / "it.csv"
    path.write_text("Time(ms),Main(mA),Main Voltage(V),\n" + rows("{t},10,3,", step=2e-4 * kept_of))
    told = read(path, units={"time": "s"})
    assert told.time_s[-1] == pytest.approx(49 * 2e-4 * kept_of)
    with pytest.raises(InputError, match="fit 5000 Hz in no unit"):
        read(path)


def test_a_rate_that_is_no_number_tells_nothing(tmp_path: Path) -> None:
    path = tmp_path / "it.csv"
    path.write_text(SIGROK.replace("5 kHz", "1.2.3 kHz") + "seconds,V,A\n" + rows("{t},3,0.01", step=1))
    assert read(path).time_s[-1] == pytest.approx(49)


def test_a_rate_may_be_in_gigahertz(tmp_path: Path) -> None:
    path = tmp_path / "it.csv"
    path.write_text(SIGROK.replace("5 kHz", "1 GHz") + "Time,V,A\n" + rows("{t},3,0.01", step=1))
    assert read(path).time_s[-1] == pytest.approx(49e-9)


@pytest.mark.parametrize(
    ("text", "said", "chosen", "voltage_V"),
    [
        ("time (s),current min (A),current avg (A)\n0,1,0.01\n1,1,0.01\n",
         '2 columns of current: "current min (A)" and "current avg (A)"', "current=current avg (A)", 3.0),
        ("Timestamp(s),Power limit (W),Power (W)\n0,5,0.03\n1,5,0.03\n",
         '2 columns of power: "Power limit (W)" and "Power (W)"', "power=Power (W)", None),
        ("time,Current,Current,voltage\n0,1,0.01,3\n1,1,0.01,3\n",
         '2 columns of current: "Current" and "Current#3"', "current=Current#3", None),
        ("Timestamp,Main current - A (A),Main current - B (A),Main voltage - B (V)\n0,1,0.01,3\n1,1,0.01,3\n",
         "2 columns of current", "current=Main current - B (A)", None),
        ("time,current,voltage\n0,0.01,5\n1,0.01,5\n",
         'the column "voltage" and --voltage 3 both say what fed the circuit', "current=current", 3.0),
        ("time,power,current,voltage\n0,5,0.01,3\n1,5,0.01,3\n", None, "current=current", None),
    ],
)  # fmt: skip
def test_of_two_columns_that_could_be_meant_none_is_taken_unasked(
    tmp_path: Path, text: str, said: str | None, chosen: str, voltage_V: float | None
) -> None:
    path = tmp_path / "it.csv"
    path.write_text(text)
    if said is not None:
        with pytest.raises(InputError) as caught:
            read(path, voltage_V=voltage_V)
        assert said in caught.value.message
        assert "--column" in caught.value.hint
    columns = by_quantity([chosen], "--column")
    assert read(path, voltage_V=voltage_V, chosen=columns).power_W == pytest.approx(0.03)


@pytest.mark.parametrize(
    ("heads", "said"),
    [
        ("Sample,Curr avg 1,Volt avg 2", '"Curr avg 1" and "Volt avg 2" are of two outputs'),
        ("Timestamp,Main current - A (A),Main voltage - B (V)", "are of two outputs"),
    ],
)
def test_the_voltage_of_another_output_is_taken_only_where_it_is_chosen(tmp_path: Path, heads: str, said: str) -> None:
    path = tmp_path / "it.csv"
    path.write_text(f"Sample interval: 0.001\n{heads}\n" + rows("{at},0.01,3", step=1))
    with pytest.raises(InputError, match=said):
        read(path)
    _, current, voltage = heads.split(",")
    with pytest.raises(InputError, match=said):
        read(path, chosen={"current": current})
    assert read(path, chosen={"current": current, "voltage": voltage}).power_W == pytest.approx(0.03)
    assert read(path, chosen={"current": current}, voltage_V=3.0).power_W == pytest.approx(0.03)


def test_a_column_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "it.csv").write_text("time,power\n0,1\n1,1\n")
    with pytest.raises(InputError, match='no column "watts"') as caught:
        read(tmp_path / "it.csv", chosen={"power": "watts"})
    assert caught.value.hint == "there are time, power"


def test_a_keysight_log_without_its_interval_is_refused(tmp_path: Path) -> None:
    (tmp_path / "it.csv").write_text("Sample,Volt avg 1,Curr avg 1\n0,3,1\n1,3,1\n")
    with pytest.raises(InputError, match="no Sample interval above its columns"):
        read(tmp_path / "it.csv")


@pytest.mark.parametrize("current_A", [-0.01, 0.0])
def test_a_mean_that_is_not_above_nought_is_said_and_has_no_joules(
    tmp_path: Path, current_A: float, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "it.csv"
    path.write_text("time_s,current_A,voltage_V\n" + rows(f"{{t}},{current_A},3", step=1e-3))
    assert cli.answer(["meters", "--csv", str(path)]) == 0
    said = f"its mean power is {current_A * 3e3:.4g} mW, not above 0"
    assert said in capsys.readouterr().err
    assert integrate(path)["energy_uJ"].to_list() == [None]


def test_the_verb_takes_units_and_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "it.csv"
    path.write_text("t,i1,i2\n" + rows("{t},1,10", step=1))
    words = [f"--column={word}" for word in ("time=t", "current=i2")] + ["--unit=time=ms", "--unit=current=mA"]
    assert cli.answer(["meters", "--csv", str(path), "--voltage", "3", *words, "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["mean_power_mW"] == pytest.approx(30)
    assert row["end_s"] == pytest.approx(0.049)


@pytest.mark.parametrize(
    "heads",
    [
        "Time (s),Power Factor,Current (mA),Voltage (V)",
        "Time (s),power state,Current (mA),Voltage (V)",
        "Time (s),Power Good,I (mA),U (V)",
        "Time zone,Power Mode,I (mA),U (V),Time (s)",
        "Time (s),Shunt Voltage (mV),Current (mA),Bus Voltage (V)",
        "Time (s),Current Range,I (mA),U (V)",
    ],
)
def test_a_column_that_is_beside_a_quantity_is_not_read_for_it(tmp_path: Path, heads: str) -> None:
    cells = ["7" if name[-1] != ")" or "Shunt" in name else name for name in heads.split(",")]
    form = ",".join(cells).replace("Time (s)", "{t}")
    for name in cells:
        form = form.replace(name, "3") if name.endswith("(V)") else form.replace(name, "10") if "(mA)" in name else form
    path = tmp_path / "it.csv"
    path.write_text(f"{heads}\n{rows(form, step=1e-3)}")
    assert read(path).power_W == pytest.approx(0.03)


def test_a_current_with_its_shunt_s_voltage_wants_the_voltage_of_what_fed_it(tmp_path: Path) -> None:
    path = tmp_path / "it.csv"
    path.write_text("time_s,Shunt Voltage (mV),Current (mA)\n" + rows("{t},1,10", step=1e-3))
    with pytest.raises(InputError, match="current without a voltage"):
        read(path)
    assert read(path, voltage_V=3.0).power_W == pytest.approx(0.03)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("time_ms,power_mW\n0,30,5\n1,30,5\n", "line 2: 3 values below 2 heads"),
        ("time_ms,power_mW\n0,30\n1,30,5\n2,30\n", "line 3: 3 values below 2 heads"),
        ("timestamp,power_mW\n1700000000000,30\n1700000000001,30\n", "time 1.7e+12 s is that of no recording"),
        ("time_s,power_W\r0,1\r1,1\r", "carriage return alone"),
        ("time_s,current_A,voltage_V\n0,1e200,1e200\n1,1e200,1e200\n", "inf W is the power of no recording"),
        ("time_s,power_W\n0,1e308\n1,-1e308\n", "1e+308 W is the power of no recording"),
        ("# a line\n" * 10_000 + "time_s,power_W\n0,1\n1,1\n", "has no heads in its first 64 KiB"),
    ],
)
def test_what_would_be_read_for_other_numbers_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "it.csv"
    path.write_text(text, newline="")
    with pytest.raises(InputError) as caught:
        read(path)
    assert said in caught.value.message
    assert caught.value.hint


def test_lines_that_end_with_a_comma_or_hold_a_carriage_return_are_read(tmp_path: Path) -> None:
    path = tmp_path / "it.csv"
    for text in (
        "time_ms,power_mW\n0,30,\n1,30,\n",
        "time_ms,power_mW\n0,30\n1,30,\n",
        "a\rb\ntime_ms,power_mW\n0,30\n1,30\n",
    ):
        path.write_text(text, newline="")
        assert read(path).power_W.tolist() == pytest.approx([0.03, 0.03])


@pytest.mark.parametrize(
    ("interval", "step_s"), [(": 0.001", 1e-3), (": 1 ms", 1e-3), (" = .5us", 5e-7), (",2E-05", 2e-5)]
)
def test_the_interval_of_a_data_log_is_in_the_unit_behind_it(tmp_path: Path, interval: str, step_s: float) -> None:
    path = tmp_path / "it.csv"
    path.write_text(f"Sample interval{interval}\nSample,Volt avg 1,Curr avg 1\n" + rows("{at},3,0.01", step=1.0))
    assert read(path).time_s[1] == pytest.approx(step_s)
    path.write_text("Sample interval: 1 min\nSample,Volt avg 1,Curr avg 1\n" + rows("{at},3,0.01", step=1.0))
    with pytest.raises(InputError, match='Sample interval 1 is in "min", not in s'):
        read(path)


@pytest.mark.parametrize("interval", [": 0,0002", ": 0", ": -0.0002", ": 1.000,5"])
def test_an_interval_that_is_no_number_above_nought_is_refused(tmp_path: Path, interval: str) -> None:
    path = tmp_path / "it.csv"
    path.write_text(f"Sample interval{interval}\nSample,Volt avg 1,Curr avg 1\n" + rows("{at},3,0.01", step=1.0))
    with pytest.raises(InputError, match="no Sample interval above its columns that is a number above 0"):
        read(path)


def test_utf_16_beyond_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "it.csv"
    path.write_text("time_ms,power_mW\n0,30\n1,30\n", encoding="utf-16")
    assert len(read(path).time_s) == 2
    monkeypatch.setattr(recordings, "MOST_WIDE_B", 50)
    with pytest.raises(InputError, match="of UTF-16"):
        read(path)
