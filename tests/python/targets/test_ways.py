"""The ways to a device: OpenSSH's client against its own server here, adb's against a stub that keeps its semantics."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.ssh_server import SSHD, served
from support.tools import needs
from wattlock.errors import WayError
from wattlock.targets import local, named
from wattlock.targets.remote import Adb, Remote, Ssh

STUDY = """
id = "two"
title = "Two ciphers"
question = "Does a run by ssh come to its end?"
looks = [5]
target_percent = 50

[[grid]]
cipher = ["aes128-cbc", "rc4-128"]
operation = ["encrypt"]
payload_B = [64]
"""

NEEDS_SSHD = needs(SSHD and shutil.which("ssh"), "needs OpenSSH's server and client")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("sshd")) as ssh:
        yield ssh


@NEEDS_SSHD
def test_a_device_by_ssh_says_what_this_machine_says(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATTLOCK_SSH", server)
    here, there = local.find().facts(), Remote(Ssh("board")).facts()
    assert (there.probe_sha256, there.isa, there.processors) == (here.probe_sha256, here.isa, here.processors)


@NEEDS_SSHD
def test_a_study_by_ssh_is_a_run_that_names_the_way_and_survives_a_lost_connection(server: str, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(STUDY)
    environment = os.environ | {"WATTLOCK_SSH": server}
    command = [sys.executable, "-m", "wattlock", "run"]
    first = subprocess.Popen([*command, "two.toml", "--on", "ssh:board", "--out", "run"], cwd=tmp_path, env=environment)
    due = time.monotonic() + 60
    clients: list[int] = []
    while not clients and time.monotonic() < due:
        measuring = [pid for pid, words in _processes() if "ssh_config" in words and " measure" in words]
        # Before the first process of the run the catalogue and its plan are asked for; its folder is there then.
        clients = measuring if (tmp_path / "run" / "plan.jsonl").exists() else []
    for pid in clients:
        os.kill(pid, signal.SIGKILL)
    assert first.wait(60) == 13, "the way was lost"
    again = [*command, "--resume", "run", "--on", "ssh:board"]
    subprocess.run(again, cwd=tmp_path, env=environment, check=True, timeout=120)
    shown = subprocess.run(
        [sys.executable, "-m", "wattlock", "show", "run", "--format", "json"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    rows = json.loads(shown.stdout)
    assert {row["cipher"] for row in rows} == {"aes128-cbc", "rc4-128"}
    assert all(row["time_ns"] for row in rows)
    plan = json.loads((tmp_path / "run" / "plan.jsonl").read_text().splitlines()[0])
    assert plan["way"] == "ssh"
    assert not [one for one in _processes() if "supervise" in one[1] and ".cache/wattlock" in one[1]]


@NEEDS_SSHD
def test_a_host_that_is_not_there_or_lets_nobody_in_is_named_with_what_to_do(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = server.rpartition(" ")[2]
    stranger = tmp_path / "stranger"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(stranger)], check=True)
    changed = tmp_path / "changed"
    port = next(line.split()[1] for line in Path(config).read_text().splitlines() if "Port" in line)
    changed.write_text(f"[127.0.0.1]:{port} {stranger.with_suffix('.pub').read_text()}")
    keyless = tmp_path / "keyless"
    lines = Path(config).read_text().splitlines()
    keyless.write_text(
        "".join(f"{line}\n" for line in lines if "IdentityFile" not in line) + f"  IdentityFile {stranger}\n"
    )
    for options, named_so in [
        (f"-F {keyless}", "lets nobody in"),
        (f"-o Port=1 -F {config}", "nobody listens"),
        (f"-o UserKnownHostsFile={changed} -F {config}", "host key changed"),
        (f"-o HostName=nowhere.invalid -F {config}", "no host of this name"),
        (f"-o UserKnownHostsFile={tmp_path}/none -o StrictHostKeyChecking=yes -F {config}", "host key is not known"),
    ]:
        monkeypatch.setenv("WATTLOCK_SSH", f"ssh {options}")
        with pytest.raises(WayError, match=named_so) as caught:
            Remote(Ssh("board")).facts()
        assert caught.value.hint


ADB = """#!/bin/sh
# Keeps to adb's shell v2: -s SERIAL shell -T COMMAND; output, errors and the exit code are the command's.
case "$2" in
    R58M) ;;
    LOCKED) echo "error: device unauthorized." >&2; exit 1 ;;
    *) echo "adb: device '$2' not found" >&2; exit 1 ;;
esac
test "$3 $4" = "shell -T" || exit 2
shift 4
exec env HOME={home} sh -c "$*"
"""


@pytest.fixture
def adb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "adb"
    program.write_text(ADB.format(home=tmp_path))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return tmp_path


@pytest.mark.usefixtures("adb")
def test_a_device_by_adb_is_given_its_probe() -> None:
    assert Remote(Adb("R58M")).facts().probe_sha256 == local.find().facts().probe_sha256


@pytest.mark.usefixtures("adb")
@pytest.mark.parametrize(("serial", "said"), [("LOCKED", "does not trust"), ("R00", "there is no such device")])
def test_a_phone_that_is_locked_or_missing_is_named_with_what_to_do(serial: str, said: str) -> None:
    with pytest.raises(WayError, match=said) as caught:
        Remote(Adb(serial)).facts()
    assert caught.value.hint


def test_targets_of_the_users_file_are_found_by_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "targets.toml"
    monkeypatch.setenv("WATTLOCK_TARGETS", str(place))
    place.write_text('[pi4]\nway = "ssh:pi4"\ndevice = "cortex-a72"\n\n[here]\nway = "local"\n')
    assert named.target("pi4") == Remote(Ssh("pi4"))
    assert named.target("here") == local.find()
    assert named.target("adb:X") == Remote(Adb("X"))
    for on in ("pi5", "ssh:", "ssh:-oProxyCommand=x", "telnet:pi4", ""):
        with pytest.raises(Exception, match="there is no such target"):
            named.target(on)
    for text in ('[pi4]\nway = "ftp:x"\n', "[pi4]\n", 'pi4 = "ssh:x"\n', "[pi4\n", '[pi4]\nway = "local"\nport = 1\n'):
        place.write_text(text)
        with pytest.raises(Exception, match=r"targets\.toml"):
            named.target("pi4")


def _processes() -> list[tuple[int, str]]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            found.append((int(process.name), (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()))
        except (OSError, UnicodeDecodeError):
            continue
    return found
