"""What no verb is meant for: missing and read-only folders, empty and huge values, spaces, a reader that leaves.

Whatever comes, the program ends with a code of its table and one line of error, never with a traceback or as a bug.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.scripted_probe import install
from support.tree import PROBE, require_programs
from support.virtual_runs import study_of, write_study
from wattlock import cli
from wattlock.run.begin import measure

HUGE = "9" * 400
LONG = "a" * 5000
ODD = ["", " ", "-", "nan", "inf", "-1", "0", HUGE, LONG, "Жук 虫 \u202e", "a\nb", "%s{}$(x)`", "../..", "/dev/null"]
# No folder of the kernel's takes a file, not even from root.
READ_ONLY = "/proc/wattlock"
MISSING = "missing/folder/file"

RUN_VERBS = [["show"], ["report"], ["compare"], ["export"], ["papers", "--run"], ["run", "--resume"]]
WRITES = [
    ["report", "run", "--out"],
    ["export", "run", "--out"],
    ["papers", "--run", "run", "--out"],
    ["papers", "--run", "run", "--export"],
    ["advise", "sensor", "--allow-assumed", "--record"],
    ["battery", "cr2032", "--energy-uJ", "50", "--allow-assumed", "--figure"],
    ["capture", "air.pcap", "--figure"],
    ["run", "virtual.toml", "--out"],
]
VALUES = [
    ["ciphers", "--show"],
    ["devices"],
    ["devices", "--show"],
    ["devices", "--template"],
    ["devices", "--schema"],
    ["studies", "--show"],
    ["advise", "--show"],
    ["link", "--show"],
    ["link", "--template"],
    ["devices", "--kind"],
    ["devices", "--cards"],
    ["studies", "--format"],
    ["doctor", "--seconds"],
    ["meters", "--read"],
    ["meters", "--sys-root"],
    ["run", "virtual.toml", "--dry-run", "--only"],
    ["run", "virtual.toml", "--dry-run", "--input"],
    ["run", "virtual.toml", "--dry-run", "--library"],
    ["run", "virtual.toml", "--dry-run", "--device"],
    ["show", "run", "--device"],
    ["compare", "run", "run", "--fail-above"],
    ["compare", "run", "--providers"],
    ["battery", "cr2032", "--energy-uJ"],
    ["battery", "cr2032", "--run", "run", "--encrypt-share"],
    ["battery", "--energy-uJ", "5"],
    ["calibrate", "--run", "run", "--published"],
    ["link", "adhoc-open", "--file"],
    ["link", "adhoc-open", "--distance-m"],
    ["link", "adhoc-open", "--set"],
    ["link"],
    ["advise", "sensor", "--set"],
    ["advise", "--every", "1s", "--message"],
    ["advise"],
    ["papers", "--run", "run", "--capture"],
    ["send", "run/plan.jsonl", "--cipher", "aes128-ctr", "--to"],
    ["receive", "--into", "there", "--bind"],
    ["receive", "--bind", "127.0.0.1:0", "--max-size"],
]
SOME = ["", "Жук 虫 \u202e", LONG, "nan"]


def lines() -> list[list[str]]:
    of_runs = [[*verb, odd] for verb in RUN_VERBS for odd in ODD if odd]
    of_writes = [[*verb, place] for verb in WRITES for place in (READ_ONLY, MISSING, "", "run", LONG)]
    of_values = [[*verb, odd] for verb in VALUES for odd in SOME]
    return [*of_runs, *of_writes, *of_values]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a study, and with a run of it in virtual time."""
    require_programs()
    place = tmp_path_factory.mktemp("odd inputs, with spaces")
    program = install(place / "probe")
    write_study(place / "virtual.toml", study_of())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setenv("WATTLOCK_PROBE", str(program))
        measure("virtual.toml", out="run")
    return place


def carry_out(words: list[str], place: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setenv("WATTLOCK_PROBE", str(place / "probe/wattlock-probe" if words[0] in {"run", "papers"} else PROBE))
        capsys.readouterr()
        code = cli.answer(words)
    return code, capsys.readouterr().err


@pytest.mark.parametrize("words", lines(), ids=lambda words: " ".join(words)[:60].encode("unicode_escape").decode())
def test_an_odd_input_ends_with_a_code_of_the_table(
    words: list[str], place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = carry_out(words, place, capsys)
    assert code != cli.BUG, said
    assert "Traceback" not in said
    errors = [line for line in said.splitlines() if line.startswith("error:")]
    assert len(errors) == (code not in (0, 9, 12)), said
    # A value of five thousand letters is not thrown back at its writer.
    assert all(len(line) < 2000 for line in errors), errors


@pytest.mark.parametrize(
    "words",
    [
        ["devices"],
        ["ciphers"],
        ["studies"],
        ["show", "run"],
        ["compare", "run", "run"],
        ["export", "run"],
        ["devices", "--schema", "radio"],
        ["studies", "--template"],
        ["link", "adhoc-open"],
        ["advise", "sensor", "--allow-assumed"],
        ["--help"],
    ],
    ids=" ".join,
)
def test_a_reader_that_leaves_is_no_error_to_speak_of(words: list[str], place: Path) -> None:
    environment = {**os.environ, "WATTLOCK_PROBE": str(PROBE), "PYTHONUNBUFFERED": "1"}
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-c", "from wattlock.__main__ import main; main()", *words],
            stdout=write,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            cwd=place,
            env=environment,
            timeout=120,
        )
    finally:
        os.close(write)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "bug" not in done.stderr
