"""What an option writes: whole, into what is there, and no device, pipe, socket or link is ever replaced."""

import os
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from support.captures import pcap
from support.corruptions import sealed_run
from support.counted_runs import RUNS as COUNTED
from wattlock import cli
from wattlock.energy import valuing
from wattlock.run import result

LWC = "submission,variant,primary,implementation,config,flash,enc(0:8)\nascon,ascon128v12,yes,armv6,o3,1234,1000\n"
ADVISE = ["advise", "--message", "64B", "--every", "1s", "--device", "nrf52840", "--allow-assumed"]
FILES: dict[tuple[str, str], tuple[list[str], str]] = {
    ("export", "--out"): (["export", "run"], "csv"),
    ("import", "--out"): (["import", "lwc.csv", "--unit", "us", "--source", "s", "--machine", "uno"], "json"),
    ("report", "--out"): (["report", "run"], "html"),
    ("compare", "--html"): (["compare", "run", "run"], "html"),
    ("papers", "--out"): (["papers", "--run", "run"], "html"),
    ("capture", "--figure"): (["capture", "air.pcap"], "svg"),
    ("battery", "--figure"): (
        ["battery", "cr2032", "--energy-uJ", "100", "--per-second", "1", "--allow-assumed"],
        "svg",
    ),
    ("advise", "--record"): (ADVISE, "json"),
    ("costs", "--out"): (["costs", "--from", str(COUNTED / "m4-stm32f407")], "toml"),
    ("calibrate", "--save"): (["calibrate", "--run", "run"], "toml"),
}
"""Each option that writes a file, with its command line and the file's ending."""
FIGURES = {
    ("report", "--export"): ["report", "run", "--out", "look.html"],
    ("compare", "--export"): ["compare", "run", "run"],
    ("papers", "--export"): ["papers", "--run", "run", "--out", "page.html"],
}
"""Each that writes files into a folder that may be there."""
NEW = {
    ("run", "--out"), ("compare", "--out"), ("publish", "--out"), ("sweep", "--out"), ("energy", "--out"),
    ("pull", "--out"), ("page", "--out"), ("receive", "--into"), ("receive", "--token-file"), ("key", "FILE"),
    ("lab", "--data"),
}  # fmt: skip
"""Those that make something new, and refuse what is there and no folder of theirs."""
READ = {
    "--input", "--stream", "--sys-root", "--libraries", "--key", "--password-file", "--beside", "--capture",
    "--transfers", "--cards", "--costs", "--csv", "--blocks", "--recording",
}  # fmt: skip
READ_BY = {
    ("publish", "FOLDER"), ("import", "FILE"), ("verify", "PATH"), ("capture", "FILE"), ("send", "FILE..."),
    ("send", "--token-file"),
}  # fmt: skip
METAVARS = {"FILE", "FILE...", "FILE-OR-FOLDER", "DIR", "PATH", "SITE", "FOLDER", "SET", "BEFORE AFTER"}

is_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes device nodes")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with all that the command lines read."""
    before = Path.cwd()
    folder = tmp_path_factory.mktemp("inputs")
    sealed_run(folder)
    (folder / "lwc.csv").write_text(LWC)
    (folder / "air.pcap").write_bytes(pcap([b"\x80\0" + bytes(98)]))
    yield folder
    os.chdir(before)


@pytest.fixture
def here(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to write to."""
    monkeypatch.chdir(place)
    return tmp_path


METERED = SimpleNamespace(
    meter={"name": "m", "scope": "s", "gain_source": "ours", "baseline": "idle", "gain_relative_uncertainty": 0.05},
    header={"fingerprint": {"hardware": {"model_name": "a board"}}},
    clock=SimpleNamespace(GHz=1.0),
    plan={"id": "tiny-1"},
    isa="x86_64",
    reasons=[],
)
LOADS = pl.DataFrame(
    {
        "cipher": ["a", "b", "c", "d"],
        "operation": "encrypt",
        "payload_B": 64,
        "cycles": [1e3, 2e3, 3e3, 4e3],
        "energy_uJ": [2.0, 4.0, 6.0, 8.1],
        "energy_random_percent": 1.0,
        "power_baseline_W": 3.0,
    }
)


def written(option: tuple[str, str], to: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """What a verb ends with and says on standard error, where its option names `to`."""
    capsys.readouterr()
    with pytest.MonkeyPatch.context() as patch:
        if option[0] == "calibrate":  # four loads that a meter measured
            patch.setattr(result, "open_one_kind", lambda _: METERED)
            patch.setattr(valuing, "valued", lambda *_, **__: LOADS)
        code = cli.answer([*FILES[option][0], option[1], str(to)])
    return code, capsys.readouterr().err


def node(path: Path, minor: int) -> Path:
    """A node of the device null (3) or full (7)."""
    os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
    return path


def refused(code: int, error: str) -> int:
    """The exit code of what gave one error and one hint."""
    kinds = [line.partition(":")[0] for line in error.splitlines() if line.startswith(("error:", "hint:"))]
    assert kinds == ["error", "hint"], error
    assert "bug" not in error
    return code


def test_every_option_that_names_a_file_is_known_to_write_it_or_to_read_it() -> None:
    named = set()
    for verb in cli.VERBS:
        for parameter in cli.load(verb).params:
            if parameter.metavar in METAVARS:
                named.add((verb, parameter.opts[0] if parameter.opts[0].startswith("-") else parameter.metavar))
    assert {option for option in named if option[1] not in READ} == set(FILES) | set(FIGURES) | NEW | READ_BY - {
        option for option in READ_BY if option[1] in READ
    }


@pytest.mark.parametrize("option", FILES, ids=" ".join)
def test_a_new_file_is_whole_and_nothing_lies_beside_it(
    option: tuple[str, str], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = here / f"n.{FILES[option][1]}"
    code, error = written(option, file, capsys)
    assert code == 0, error
    assert file.stat().st_size > 100
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~umask()
    assert [file] == list(here.iterdir())


def umask() -> int:
    kept = os.umask(0)
    os.umask(kept)
    return kept


@is_root
@pytest.mark.parametrize("option", FILES, ids=" ".join)
def test_a_device_is_written_and_stays_and_a_full_one_is_an_error(
    option: tuple[str, str], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    null, full, link = (here / f"{name}.{FILES[option][1]}" for name in ("null", "full", "link"))
    node(null, 3)
    node(full, 7)
    link.symlink_to(null)
    assert written(option, null, capsys)[0] == 0
    assert written(option, link, capsys)[0] == 0
    assert refused(*written(option, full, capsys)) == 6
    assert [stat.S_ISCHR(path.lstat().st_mode) for path in (null, full)] == [True, True]
    assert link.is_symlink()
    assert len(list(here.iterdir())) == 3


@pytest.mark.parametrize("option", FILES, ids=" ".join)
def test_a_pipe_gets_all_of_it_and_a_socket_is_an_error(
    option: tuple[str, str], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe, whole = (here / f"{name}.{FILES[option][1]}" for name in ("pipe", "whole"))
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    code, error = written(option, pipe, capsys)
    assert code == 0, error
    reader.join(10)
    assert written(option, whole, capsys)[0] == 0
    assert (pipe.is_fifo(), got[0][-40:]) == (True, whole.read_bytes()[-40:])


@pytest.mark.parametrize("option", FILES, ids=" ".join)
def test_a_socket_is_an_error_and_stays(
    option: tuple[str, str], here: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bound = here / f"s.{FILES[option][1]}"
    os.chdir(here)  # a socket's name is short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(bound.name)
    os.chdir(place)
    assert refused(*written(option, bound, capsys)) == 4
    assert bound.is_socket()


@pytest.mark.parametrize("option", FILES, ids=" ".join)
def test_a_link_leads_to_its_file_which_keeps_mode_and_owner(
    option: tuple[str, str], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, link = here / "file", here / f"link.{FILES[option][1]}"
    file.write_text("before")
    file.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(file, 12345, 54321)
    about = file.stat()
    link.symlink_to("file")
    assert written(option, link, capsys)[0] == 0
    now = file.stat()
    assert (link.is_symlink(), file.stat().st_size > 100) == (True, True)
    assert (now.st_mode, now.st_uid, now.st_gid) == (about.st_mode, about.st_uid, about.st_gid)


@pytest.mark.parametrize("option", FILES, ids=" ".join)
def test_a_folder_and_a_missing_parent_are_errors(
    option: tuple[str, str], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ending = FILES[option][1]
    (here / f"folder.{ending}").mkdir()
    for path in (here / f"folder.{ending}", here / "none" / f"n.{ending}", here / ("n" * 300 + f".{ending}")):
        assert refused(*written(option, path, capsys)) == 4
    assert [path.name for path in here.iterdir()] == [f"folder.{ending}"]


@is_root
@pytest.mark.parametrize("option", FIGURES, ids=" ".join)
def test_a_device_in_a_folder_of_figures_stays(
    option: tuple[str, str], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = here / "figures"
    assert cli.answer([*FIGURES[option], option[1], str(folder)]) == 0
    files = sorted(folder.iterdir())
    for file in files[::3]:
        file.unlink()
        node(file, 3)
    capsys.readouterr()
    assert cli.answer([*FIGURES[option], option[1], str(folder)]) == 0
    assert sorted(folder.iterdir()) == files
    assert all(stat.S_ISCHR(file.lstat().st_mode) for file in files[::3])
    files[0].unlink()
    node(files[0], 7)
    capsys.readouterr()
    code = cli.answer([*FIGURES[option], option[1], str(folder)])
    assert refused(code, capsys.readouterr().err) == 6


@is_root
@pytest.mark.parametrize("words", [
    ["key", "new", "n", "--without-password"], ["publish", "run", "--key", "none", "--out", "n"],
    ["energy", "--recording", "none.csv", "--run", "run", "--out", "n"], ["sweep", "coin-cell", "--out", "n"],
    ["pull", "12345678", "--from", "http://127.0.0.1:9", "--out", "n"], ["run", "virtual.toml", "--out", "n"],
    ["receive", "--into", "n"], ["receive", "--token-file", "n"],
], ids=" ".join)  # fmt: skip
def test_what_is_made_anew_takes_no_device(
    words: list[str], here: Path, place: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATTLOCK_PROBE", str(place / "probe" / "wattlock-probe"))
    device = node(here / "n", 3)
    words = [str(device) if word == "n" else word for word in words]
    code = cli.answer(words)
    assert refused(code, capfd.readouterr().err) not in {0, 1, 70}
    assert stat.S_ISCHR(device.lstat().st_mode)
    assert list(here.iterdir()) == [device]
