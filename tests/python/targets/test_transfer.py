"""The verbs `send` and `receive` as a pair on loopback, with the real probe."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.tree import NET, TREE, require_programs
from wattlock import cli, errors
from wattlock.targets.toolbox import ERROR_OF_EXIT_CODE, row

WATTLOCK = [sys.executable, "-c", "from wattlock.cli import main; main()"]
PATIENCE_s = 60.0


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in an empty folder of its own; a missing probe is a failure, not a reason to skip."""
    require_programs()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WATTLOCK_NET", str(NET))
    return tmp_path


@pytest.fixture(autouse=True)
def hang_up() -> Iterator[None]:
    """SIGHUP ends programs that are started here, also where the tests themselves run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@contextmanager
def receiver(*words: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """`wattlock receive` under way, with the address and the token that it printed."""
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([*WATTLOCK, "receive", "--format", "json", *words], **pipes) as child:
        try:
            assert child.stderr is not None
            described = child.stderr.readline() + child.stderr.readline()
            found = re.fullmatch(r"listening on (\S+)\ntoken: ([0-9a-f]{32})\n", described)
            assert found, described + child.stderr.read()
            yield child, found[1], found[2]
        finally:
            child.kill()


def send(token: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [*WATTLOCK, "send", *words]
    return subprocess.run(command, input=f"{token}\n", capture_output=True, text=True, check=False, timeout=PATIENCE_s)


@pytest.mark.parametrize("extra", [[], ["--udp"]])
def test_a_pair_of_verbs_carries_files_and_tells_what_both_sides_took(here: Path, extra: list[str]) -> None:
    contents = {"first.txt": b"a" * 10_000, "second.bin": bytes(range(256)) * 3}
    for name, content in contents.items():
        (here / name).write_bytes(content)
    with receiver("--into", "there") as (child, address, token):
        assert address.startswith("127.0.0.1:")
        words = [*contents, "--to", address, "--cipher", "aes128-cbc", "--encoding", "base64", *extra]
        done = send(token, *words, "--format", "json")
        assert (done.returncode, done.stderr) == (0, "")
        received = json.loads(child.communicate(timeout=PATIENCE_s)[0])
        assert child.returncode == 0
    assert {path.name: path.read_bytes() for path in (here / "there").iterdir()} == contents
    rows = json.loads(done.stdout)
    assert [(one["side"], one["file"]) for one in rows] == [("send", 0), ("receive", 0), ("send", 1), ("receive", 1)]
    assert [one for one in rows if one["side"] == "receive"] == received
    for sent, came in zip(rows[::2], rows[1::2], strict=True):
        same = ["session", "plain_sha256", "plain_B", "sealed_B", "encoded_B", "encoding", "cipher", "transport"]
        assert {name: sent[name] for name in same} == {name: came[name] for name in same}
        assert sent["sealed_B"] == sent["plain_B"] // 16 * 16 + 16
        assert sent["encoded_B"] == (sent["sealed_B"] + 2) // 3 * 4
        assert sent["transfer_ns"] > 0 < came["cipher_ns"]
        assert (sent["lost_datagrams"] is None) == (not extra)
    assert token not in done.stdout + json.dumps(received)
    assert "first.txt" not in done.stdout


def test_a_wrong_token_is_named_by_the_sender_and_the_receiver_goes_on_waiting(here: Path) -> None:
    (here / "file").write_bytes(b"content")
    with receiver("--into", "there") as (child, address, token):
        words = ["file", "--to", address, "--cipher", "null"]
        wrong = send("0" * 32, *words)
        assert (wrong.returncode, wrong.stdout) == (10, "")
        assert re.search("^error: .*token.*\nhint: .*token", wrong.stderr, re.MULTILINE)
        assert not list((here / "there").iterdir())
        time.sleep(0.2)  # it turns the stranger away and waits again
        assert send(token, *words).returncode == 0
        assert child.wait(PATIENCE_s) == 0
    assert (here / "there" / "file").read_bytes() == b"content"


def test_a_file_that_exists_there_is_refused_on_both_sides_and_kept(here: Path) -> None:
    (here / "file").write_bytes(b"new")
    (here / "there").mkdir()
    (here / "there" / "file").write_bytes(b"old")
    with receiver("--into", "there") as (child, address, token):
        done = send(token, "file", "--to", address, "--cipher", "rc4-128")
        assert done.returncode == 10
        assert "a file of that name exists" in done.stderr
        assert "never overwritten" in child.communicate(timeout=PATIENCE_s)[1]
        assert child.returncode == 10
    assert [(path.name, path.read_bytes()) for path in (here / "there").iterdir()] == [("file", b"old")]


def test_joules_are_net_of_the_machine_at_rest_and_missing_ones_stay_missing() -> None:
    def window(gross: int | None, time: int | None) -> dict[str, Any]:
        return {"gross_nJ": gross, "window_ns": time, "error": None if gross is not None else "too short"}

    energy = {
        "idle": window(2_000_000, 1_000_000),
        "process": window(None, None),
        "transfer": window(9_000_000, 2_000_000),
    }
    found = row({"energy": {**energy, "gain_relative_uncertainty": 0.05}, "datagrams": None})
    assert (found["process_uJ"], found["transfer_uJ"], found["gain_percent"]) == (None, 5000.0, 5.0)
    without = row({"energy": None, "datagrams": {"lost": 3}})
    assert (without["process_uJ"], without["transfer_uJ"], without["lost_datagrams"]) == (None, None, 3)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_receiver_that_is_ended_listens_no_longer_and_leaves_no_half_file(here: Path, number: int) -> None:
    with receiver("--into", "there") as (child, address, token):
        host, _, port = address.rpartition(":")
        # A sender of whom only the offer came: the receiver has reserved its file.
        (here / "file").write_bytes(b"x" * 1000)
        proxy = socket.create_server(("127.0.0.1", 0))
        sent = [*WATTLOCK, "send", "file", "--to", f"127.0.0.1:{proxy.getsockname()[1]}", "--cipher", "null"]
        with subprocess.Popen(sent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as sender:
            assert sender.stdin
            sender.stdin.write(f"{token}\n".encode())
            sender.stdin.close()
            taken = proxy.accept()[0]
            through = socket.create_connection((host, int(port)))
            try:
                until(lambda: any((here / "there").iterdir()) or relayed(taken, through), "an offer")
                child.send_signal(number)
                child.wait(PATIENCE_s)
                until(lambda: refused(host, int(port)), "the port is free")
                assert not any((here / "there").iterdir())
            finally:
                for end in (taken, through, proxy):
                    end.close()
                sender.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_sender_that_is_ended_hangs_up(here: Path, number: int) -> None:
    (here / "file").write_bytes(b"content")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        words = ["file", "--to", f"127.0.0.1:{silent.getsockname()[1]}", "--cipher", "null", "--timeout", "3600"]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen([*WATTLOCK, "send", *words], **pipes) as child:
            assert child.stdin
            child.stdin.write(b"0" * 32 + b"\n")
            child.stdin.flush()
            with silent.accept()[0] as caller:
                child.send_signal(number)
                child.wait(PATIENCE_s)
                caller.settimeout(PATIENCE_s)
                assert caller.recv(1000) == b""  # it waits for the receiver's greeting; now it has gone


def until(happens: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE_s
    while not happens():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def refused(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=5).close()
    except ConnectionRefusedError:
        return True
    return False


def relayed(one: socket.socket, other: socket.socket) -> bool:
    """What has come on either side goes to the other one."""
    for here, there in ((one, other), (other, one)):
        here.setblocking(False)
        try:
            came = here.recv(1 << 16)
        except BlockingIOError:
            continue
        finally:
            here.setblocking(True)
        there.sendall(came)
    return False


WATTS = {0: 3.0, 1: 5.0}


@contextmanager
def two_packages(root: Path) -> Iterator[Path]:
    """A made-up `/sys` with two packages, each of a constant power, whatever anybody computes."""
    files = {}
    for number in WATTS:
        zone = root / "class" / "powercap" / f"intel-rapl:{number}"
        zone.mkdir(parents=True)
        texts = {"name": f"package-{number}", "max_energy_range_uj": "262143328850"}
        for name, text in (texts | {"constraint_0_max_power_uw": "65000000"}).items():
            (zone / name).write_text(f"{text}\n")
        files[number] = os.open(zone / "energy_uj", os.O_WRONLY | os.O_CREAT)
    ends = threading.Event()
    began = time.monotonic()

    def count() -> None:
        while not ends.wait(1e-3):
            for number, file in files.items():
                energy_uJ = 1_000_000 + int(WATTS[number] * 1e6 * (time.monotonic() - began))
                os.pwrite(file, f"{energy_uJ:020}\n".encode(), 0)

    follower = threading.Thread(target=count)
    follower.start()
    try:
        yield root
    finally:
        ends.set()
        follower.join()


def test_meters_that_share_no_energy_are_added_up_on_both_sides_of_a_transfer(here: Path) -> None:
    (here / "file").write_bytes(bytes(1_000_000))
    both = "powercap:package-0+powercap:package-1"
    with two_packages(here / "sys") as tree:
        meter = ["--meter", both, "--sys-root", str(tree)]
        with receiver("--into", "there", *meter) as (child, address, token):
            done = send(token, "file", "--to", address, "--cipher", "des-cbc", *meter, "--format", "json")
            assert (done.returncode, done.stderr) == (0, "")
            child.communicate(timeout=PATIENCE_s)
        rows = json.loads(done.stdout)
        assert [one["side"] for one in rows] == ["send", "receive"]
        for one in rows:
            idle = one["energy"]["idle"]
            assert one["energy"]["meter"] == both
            # nJ over ns are watts.
            assert idle["gross_nJ"] / idle["window_ns"] == pytest.approx(sum(WATTS.values()), rel=0.05)
        twice = ["--meter", "powercap:package-0+powercap:package-0", "--sys-root", str(tree)]
        refused = send("0" * 32, "file", "--to", "127.0.0.1:9", "--cipher", "null", *twice)
    assert refused.returncode == 4
    assert "count the same energy" in refused.stderr


@pytest.mark.parametrize(
    ("words", "one", "other"),
    [
        (["send", "file", "--to", "127.0.0.1:9", "--cipher", "null", "--datagram-B", "99"], "--datagram-B", "--udp"),
        (["send", "file", "--to", "127.0.0.1:9", "--cipher", "null", "--sys-root", "x"], "--sys-root", "--meter"),
        (["send", "file", "--to", "127.0.0.1:9", "--cipher", "null", "--stream", "x"], "--stream", "--meter"),
        (["receive", "--sys-root", "x"], "--sys-root", "--meter"),
        (["receive", "--stream", "x"], "--stream", "--meter"),
    ],
)
def test_an_option_that_needs_another_is_refused_by_both_names(
    words: list[str], one: str, other: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(words) == 2
    assert f"error: {one} needs {other}\nhint: " in capsys.readouterr().err


@pytest.mark.parametrize("bind", ["localhost:7400", "127.0.0.1", ":7400", "::1:7400", "127.0.0.1:70000", "here"])
def test_an_address_to_bind_to_is_one_in_numbers_with_a_port(bind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["receive", "--bind", bind]) == 2
    assert f"error: --bind {bind}: " in capsys.readouterr().err


def test_limits_beyond_those_of_the_probe_are_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    for option, value in (("--max-size", 2 << 30), ("--max-time", 700_000), ("--timeout", 90_000)):
        assert cli.answer(["receive", option, str(value)]) == 2
        assert f"'{option}'" in capsys.readouterr().err


def test_an_unknown_cipher_points_to_the_verb_that_lists_them(here: Path) -> None:
    (here / "file").write_bytes(b"content")
    done = send("0" * 32, "file", "--to", "127.0.0.1:9", "--cipher", "WRONG")
    assert done.returncode == 4
    assert "`wattlock ciphers`" in done.stderr
    assert "wattlock-probe" not in done.stderr


def test_the_documented_exit_codes_are_those_of_both_programs() -> None:
    page = TREE / "docs" / "transfer.md"
    rows = re.findall(r"^\|[^|]+\| (\d+) \| ([\d, ]+) \|$", page.read_text(), flags=re.MULTILINE)
    described = {int(theirs): int(ours) for ours, all_theirs in rows for theirs in all_theirs.split(",")}
    assert described.pop(0) == 0
    assert described == {
        code: ERROR_OF_EXIT_CODE.get(code, errors.ProbeError).exit_code for code in (2, 3, 4, 9, 10, 11, 12)
    }
    assert errors.TransferRefused.exit_code == described[4] == 10
    help_text = subprocess.run([NET, "transfer", "send", "--help"], capture_output=True, text=True, check=True).stdout
    of_probe = re.findall(r"^  (\d+) +\w", help_text.partition("Exit codes:")[2], flags=re.MULTILINE)
    assert {int(code) for code in of_probe} == set(described)
