"""Standard streams that are closed, full or pipes: what is whole stays so, and nothing is called a bug."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.corruptions import sealed_run
from support.tree import TREE

PROGRAM = f"{sys.executable} -m wattlock"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a sealed run."""
    before = Path.cwd()
    folder = tmp_path_factory.mktemp("streams")
    sealed_run(folder)
    os.chdir(before)
    return folder


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(TREE / "python"),
        "WATTLOCK_PROBE": str(folder / "probe" / "wattlock-probe"),
    }
    command = ["bash", "-c", line.replace("wattlock ", f"{PROGRAM} ", 1)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("closed", [">&-", "<&- 2>&-"])
def test_a_closed_stream_is_no_bug_also_after_a_whole_run(closed: str, place: Path) -> None:
    name = f"run{len(closed)}"
    done = shell(f"wattlock run virtual.toml --out {name} {closed}", place)
    assert (done.returncode, "bug" in done.stderr) == (0, False), done.stderr
    assert (place / name / "SHA256SUMS").is_file()
    assert (place / name / "report.html").is_file()


def test_standard_output_by_any_name_is_the_export_alone(place: Path) -> None:
    whole = shell("wattlock export run", place).stdout
    assert whole.count("\n") > 3
    (place / "link.csv").symlink_to("/proc/self/fd/1")
    for name in ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link.csv"):
        done = shell(f"wattlock export run --out {name} | cat", place)
        assert (done.stdout, done.returncode) == (whole, 0), name
    assert shell("wattlock export run --out /dev/fd/7 7>seventh.csv", place).returncode == 0
    assert (place / "seventh.csv").read_text() == whole
    done = shell("wattlock report run --out - | cat", place)
    assert done.stdout.rstrip().endswith("</html>")
    assert sorted(path.name for path in place.glob("*.part")) == []


def test_a_redirected_file_is_gone_on_with_and_not_replaced(place: Path) -> None:
    whole = shell("wattlock export run", place).stdout
    (place / "log.csv").write_text("before\n")
    shell("wattlock export run --out /dev/stdout >>log.csv", place)
    assert (place / "log.csv").read_text() == f"before\n{whole}"


def test_a_closed_or_full_output_that_was_asked_for_is_an_error(place: Path) -> None:
    closed = shell("wattlock export run --out - >&-", place)
    assert (closed.returncode, closed.stderr.count("error: "), closed.stderr.count("hint: ")) == (4, 1, 1)
    if os.geteuid() == 0:
        subprocess.run(["mknod", place / "full", "c", "1", "7"], check=True)
        full = shell("wattlock export run --out - >full", place)
        assert (full.returncode, full.stderr.count("error: "), full.stderr.count("hint: ")) == (6, 1, 1)
