"""Counting on a Dask scheduler: the records of one machine, nothing lost or doubled, each refusal named."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from support.counted_runs import CASES, M4, STUDY, recorded
from support.counting_probe import asked, install, waiting
from support.tools import missing
from support.tree import PROBE, require_programs
from wattlock import cli
from wattlock.run.result import read
from wattlock.store import RunFolder
from wattlock.targets import cluster
from wattlock.targets import cluster as scheduling

distributed = pytest.importorskip("distributed", reason="needs the extra cluster")

LONGEST_S = 300.0
ON = ("--on", "qemu:cortex-m4", "--scheduler")


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs are there, the study too, and the folder of runs is the test's own."""
    require_programs()
    monkeypatch.chdir(tmp_path)
    Path("counted.toml").write_text(STUDY)


@pytest.fixture
def probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A probe that says again what was counted once, in the place of this machine's."""
    program = install(tmp_path / "probe", PROBE, recorded(M4))
    monkeypatch.setenv("WATTLOCK_PROBE", str(program))
    return program


@contextmanager
def scheduler(workers: int = 0) -> Iterator[Any]:
    """A scheduler in this process, with so many workers of one thread in it."""
    with distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address=":0"
    ) as found:
        yield found


@contextmanager
def worker(address: str, name: str, probe: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A worker of its own process, by its name and its probe."""
    words = ["--name", name, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, *words]
    environment = os.environ | {"WATTLOCK_PROBE": str(probe)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        try:
            yield child
        finally:
            child.kill()


@pytest.fixture
def two() -> Iterator[str]:
    """The address of a scheduler with two workers, which take the probe that this process would take."""
    program = Path(os.environ.get("WATTLOCK_PROBE", PROBE))
    with (
        scheduler() as found,
        worker(found.scheduler_address, "first", program),
        worker(found.scheduler_address, "second", program),
    ):
        wait_for(lambda: len(found.scheduler.workers) == 2)
        yield found.scheduler_address


def wait_for(condition: Callable[[], object]) -> None:
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < LONGEST_S
        time.sleep(0.05)


def refused(capsys: pytest.CaptureFixture[str], *words: str, code: int) -> list[str]:
    """The lines of an error; no folder was made."""
    capsys.readouterr()
    assert cli.answer(["run", *words, "--out", "refused"]) == code
    assert not Path("refused").exists()
    return capsys.readouterr().err.splitlines()


def records(name: str) -> dict[str, list[dict[str, Any]]]:
    """What a run holds but for its times, in the order of processes and cases."""
    folder = RunFolder.open(name)
    kinds = {kind: folder.records(kind) for kind in ("count", "failure")} | {"header": folder.headers()}
    return {kind: sorted(found, key=lambda one: (one["process"], one.get("case", 0))) for kind, found in kinds.items()}


def test_a_run_on_a_scheduler_has_the_records_of_one_on_this_machine(
    probe: Path, two: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(["run", "counted.toml", *ON[:2], "--out", "alone"]) == 0
    alone = len(asked(probe))
    assert cli.answer(["run", "counted.toml", *ON, two, "--out", "shared"]) == 0
    assert f"{CASES} counted" in capsys.readouterr().err
    assert len(asked(probe)) == 2 * alone
    assert records("alone") == records("shared")
    assert RunFolder.open("shared").is_sealed
    plans = [RunFolder.open(name).plan() for name in ("alone", "shared")]
    own = {"id", "created", "seed"}
    first, second = ({name: value for name, value in plan[0].items() if name not in own} for plan in plans)
    assert first == second
    assert plans[0][1:] == plans[1][1:]


def test_what_a_dead_worker_had_begun_is_counted_by_another_once(tmp_path: Path) -> None:
    program = install(tmp_path / "probe", PROBE, recorded(M4), waits="aes128-ccm", once=True)
    with (
        scheduler() as found,
        pytest.MonkeyPatch.context() as monkeypatch,
        worker(found.scheduler_address, "first", program) as first,
        worker(found.scheduler_address, "second", program) as second,
    ):
        monkeypatch.setenv("WATTLOCK_PROBE", str(program))
        wait_for(lambda: len(found.scheduler.workers) == 2)
        words = ["run", "counted.toml", *ON, found.scheduler_address, "--out", "shared"]
        run = subprocess.Popen([sys.executable, "-m", "wattlock", *words], stderr=subprocess.PIPE)
        wait_for(lambda: waiting(program))
        held, by = waiting(program) or (0, 0)
        killed = next(one for one in (first, second) if one.pid == by)
        killed.kill()
        os.kill(held, signal.SIGKILL)
        _, told = run.communicate(timeout=LONGEST_S)
    assert run.returncode == 0, told
    assert sorted(count["case"] for count in RunFolder.open("shared").records("count")) == list(range(CASES))
    again = [plan for plan in asked(program) if plan[1]["cipher"] == "aes128-ccm"]
    assert len(again) == 2
    assert again[0] == again[1]
    assert read(RunFolder.open("shared")).estimates.equals(read(RunFolder.open(M4)).estimates)


def test_a_worker_that_differs_or_lacks_something_is_refused_by_its_name(
    probe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    newer = install(tmp_path / "newer", PROBE, recorded(M4), emulator="QEMU emulator version 10.0.2")
    without = "error: qemu-system-arm doesn't run\nhint: get it with `apt install qemu-system-arm`\n"
    lacking = install(tmp_path / "lacking", PROBE, recorded(M4), missing=without)
    with scheduler() as found, worker(found.scheduler_address, "good", probe):
        words = ("counted.toml", *ON, found.scheduler_address)
        with worker(found.scheduler_address, "newer", newer):
            wait_for(lambda: len(found.scheduler.workers) == 2)
            error, hint = refused(capsys, *words, code=13)
        assert error.startswith("error: worker ")
        assert "has another emulator than worker " in error
        assert "10.0.2" in error
        assert hint == "hint: install the same version of QEMU on both"
        wait_for(lambda: len(found.scheduler.workers) == 1)
        with worker(found.scheduler_address, "lacking", lacking):
            wait_for(lambda: len(found.scheduler.workers) == 2)
            error, hint = refused(capsys, *words, code=13)
        assert error.startswith("error: worker lacking (tcp://")
        assert error.endswith("qemu:cortex-m4: qemu-system-arm doesn't run")
        assert hint == "hint: get it with `apt install qemu-system-arm`"


def test_another_version_of_wattlock_on_a_worker_is_refused(
    probe: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = cluster._kit.__wrapped__
    monkeypatch.setattr(cluster, "_kit", lru_cache(lambda name: _older(real(name))))
    with scheduler(2) as found:
        error, hint = refused(capsys, "counted.toml", *ON, found.scheduler_address, code=13)
    assert "has another wattlock than this machine: 0.0.9, not " in error
    assert hint == "hint: install the same version on both"
    assert asked(probe) == []


def _older(kit: cluster.Kit) -> cluster.Kit:
    return kit._replace(decides=kit.decides | {"wattlock": "0.0.9"})


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("lab", "--scheduler lab: is no address"),
        ("tcp://127.0.0.1", "is no address"),
        ("tcp://127.0.0.1:99999", "is no address"),
        ("tls://127.0.0.1:9", "names no certificates of a client"),
        ("tcp://127.0.0.1:9", "trying to connect"),
        ("tcp://no-such-host.invalid:8786", "its host is not found"),
    ],
)
def test_a_scheduler_that_is_not_there_is_told_in_two_lines(
    address: str, words: str, probe: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scheduling, "CONNECT_S", 0.5)
    error, hint = refused(capsys, "counted.toml", *ON, address, code=4 if "no address" in words else 13)
    assert error.startswith("error: --scheduler ")
    assert words in error
    assert hint.startswith("hint: ")
    assert asked(probe) == []


def test_a_listener_that_is_no_scheduler_or_wants_certificates_is_told_in_two_lines(
    probe: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scheduling, "CONNECT_S", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        error, hint = refused(capsys, "counted.toml", *ON, address, code=13)
    assert address in error
    assert "tls://HOST:8786" in hint
    assert asked(probe) == []


def test_what_a_scheduler_can_not_do_is_refused_before_it_is_asked(
    probe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error, hint = refused(capsys, "counted.toml", "--scheduler", "tcp://127.0.0.1:9", code=2)
    assert "its workers count on emulated cores" in error
    assert hint == "hint: name a core: --on qemu:cortex-m4"
    own = Path("own")
    own.mkdir()
    (own / "adapter.toml").write_text('version = "1"\nciphers = ["xtea-ctr"]\n')
    error, hint = refused(capsys, "counted.toml", *ON, "tcp://127.0.0.1:9", "--library", "own=own", code=2)
    assert error.startswith("error: --library own: ")
    assert hint.startswith("hint: leave --scheduler out")
    assert asked(probe) == []


def test_without_a_worker_nothing_is_begun_and_the_command_that_starts_one_is_told(
    probe: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scheduling, "CONNECT_S", 1.0)
    with scheduler() as found:
        error, hint = refused(capsys, "counted.toml", *ON, found.scheduler_address, code=13)
    assert error.endswith("has no worker")
    assert hint.startswith(f"hint: `dask worker {found.scheduler_address}` starts one")
    assert asked(probe) == []


@pytest.mark.parametrize("ends", ["workers", "scheduler"])
def test_where_the_last_worker_or_the_scheduler_ends_what_was_counted_is_kept_and_the_run_goes_on(
    ends: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = install(tmp_path / "probe", PROBE, recorded(M4), waits="aes128-ccm", once=True)
    code = "import sys; from wattlock import cli; from wattlock.targets import cluster; cluster.ALONE_S = 1.0; "
    code += "sys.exit(cli.answer(sys.argv[1:]))"
    words = ["-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    places = ["--scheduler-file", "place.json"]
    with subprocess.Popen(
        [sys.executable, *words, *places], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as one:
        try:
            wait_for(Path("place.json").exists)
            address = json.loads(Path("place.json").read_text())["address"]
            with worker(address, "only", program) as only:
                monkeypatch.setenv("WATTLOCK_PROBE", str(program))
                told = [sys.executable, "-c", code, "run", "counted.toml", *ON, address, "--out", "cut"]
                run = subprocess.Popen(told, stderr=subprocess.PIPE, text=True)
                # With one thread, those that are asked for before it are counted.
                wait_for(lambda: waiting(program))
                (only if ends == "workers" else one).kill()
                _, complained = run.communicate(timeout=LONGEST_S)
                os.kill((waiting(program) or (0, 0))[0], signal.SIGKILL)
        finally:
            one.kill()
    assert run.returncode == 13, complained
    lines = complained.splitlines()
    assert sum(line.startswith("error: ") for line in lines) == 1
    assert any(line.startswith("hint: what was measured is kept; `wattlock run --resume last") for line in lines)
    assert "Traceback" not in complained, complained
    assert cli.answer(["run", "--resume", "cut", *ON[:2]]) == 0
    assert sorted(count["case"] for count in RunFolder.open("cut").records("count")) == list(range(CASES))
    assert read(RunFolder.open("cut")).estimates.equals(read(RunFolder.open(M4)).estimates)


def test_ctrl_c_ends_what_workers_have_under_way_and_keeps_what_was_counted(tmp_path: Path) -> None:
    program = install(tmp_path / "probe", PROBE, recorded(M4), waits="aes128-ccm")
    with (
        scheduler() as found,
        pytest.MonkeyPatch.context() as monkeypatch,
        worker(found.scheduler_address, "first", program),
        worker(found.scheduler_address, "second", program),
    ):
        monkeypatch.setenv("WATTLOCK_PROBE", str(program))
        wait_for(lambda: len(found.scheduler.workers) == 2)
        words = ["run", "counted.toml", *ON, found.scheduler_address, "--out", "cut"]
        run = subprocess.Popen([sys.executable, "-m", "wattlock", *words], stderr=subprocess.PIPE)
        wait_for(lambda: waiting(program) and len(asked(program)) == 4)
        time.sleep(2.0)
        run.send_signal(signal.SIGINT)
        _, told = run.communicate(timeout=LONGEST_S)
        held, _ = waiting(program) or (0, 0)
        wait_for(lambda: not Path(f"/proc/{held}/cmdline").exists() or not Path(f"/proc/{held}/cmdline").read_bytes())
    assert run.returncode == 130, told
    assert b"what was measured is kept" in told
    assert {count["case"] for count in RunFolder.open("cut").records("count")}
    assert not RunFolder.open("cut").is_sealed


def _can_count() -> bool:
    done = subprocess.run([PROBE, "board", "--qemu", "cortex-m4"], input=b"", capture_output=True, check=False)
    return done.returncode != 10


def test_two_workers_count_on_a_real_emulator_as_this_machine_does(two: str) -> None:
    if not _can_count():
        missing("needs qemu-system-arm, a C compiler and `rustup target add thumbv7em-none-eabi`")
    only = ("--only", "ascon*", "--only", "rc4*")
    assert cli.answer(["run", "counted.toml", *only, *ON[:2], "--out", "alone"]) == 0
    assert cli.answer(["run", "counted.toml", *only, *ON, two, "--out", "shared"]) == 0
    assert len(records("alone")["count"]) == 7
    assert records("alone")["failure"] == []
    assert records("alone") == records("shared")
