"""A library of the user's own that crashes or hangs beside another provider, from the command line to the table."""

import json
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from support.tools import needs
from support.tree import PROBE, TREE, require_programs
from support.virtual_runs import study_of, write_study
from wattlock import cli

CTR = "        ctr(context, iv, input, input_B, output);"
LIMIT_S = 5
"""The least time that a case has."""

pytestmark = needs(shutil.which("cc"), "no cc, so that there is no library to build: install gcc or clang")


@pytest.fixture(autouse=True, scope="module")
def program() -> None:
    """A missing probe is a failure, not a reason to skip."""
    require_programs()


def library(place: Path, act: str) -> Path:
    """The example, which does `act` for messages of 1000 B once proof and preparation are over."""
    source = (TREE / "examples" / "library" / "xtea.c").read_text()
    assert CTR in source
    # Each visit begins with buffers in another place; before the first one there are few.
    late = f"""        static const uint8_t *last;
        static int moves;
        if (input_B == 1000 && input != last) {{ moves++; last = input; }}
        if (input_B == 1000 && moves > 14) {{ {act} }}
{CTR}"""
    (place / "xtea.c").write_text(source.replace(CTR, late))
    built = place / "libmine.so"
    include = str(TREE / "crates" / "providers" / "include")
    words = ["cc", "-O2", "-shared", "-fPIC", "-I", include, "-o", str(built), str(place / "xtea.c")]
    subprocess.run(words, check=True)
    return built


@pytest.mark.parametrize(
    ("act", "described"),
    [
        ("abort();", "library mine crashed with signal 6 (SIGABRT) in xtea-ctr encrypt 1000 B"),
        ("for (volatile int on = 1; on;) {}", "library mine did not come back within 5 s in xtea-ctr encrypt 1000 B"),
    ],
)
def test_a_library_that_crashes_or_hangs_costs_one_case_and_all_others_have_their_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], act: str, described: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    write_study(tmp_path / "study.toml", study_of((5, 6), cipher=["xtea-ctr", "xtea-ecb"], payload_B=[64, 1000]))
    start = time.monotonic()
    assert cli.answer(["run", "study.toml", "--out", "alone"]) == 0
    alone_s, start = time.monotonic() - start, time.monotonic()
    words = ["run", "study.toml", "--library", str(library(tmp_path, act)), "--out", "beside"]
    assert cli.answer(words) == 12
    beside_s = time.monotonic() - start
    capsys.readouterr()
    assert cli.answer(["show", "beside", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 8
    failed = [row for row in rows if row["state"] == "failed"]
    assert [(row["provider"], row["cipher"], row["payload_B"]) for row in failed] == [("mine", "xtea-ctr", 1000)]
    assert failed[0]["reason"] == described
    assert all(row["time_ns"] is not None for row in rows if row not in failed)
    # Half of the cases are the library's: they are measured too, and the one that fails has its limit.
    assert beside_s < 3 * alone_s + LIMIT_S
