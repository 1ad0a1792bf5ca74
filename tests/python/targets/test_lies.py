"""Ten lies of a device or of the way to it, each refused, or told, by its name and with what to do."""

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from support.ssh_server import SSHD, served
from support.tools import needs
from wattlock.errors import ProbeError, StoreError, WattlockError, WayError
from wattlock.run import begin, process
from wattlock.run.begin import Silent
from wattlock.run.process import Bench, carry_out
from wattlock.store import RunFolder
from wattlock.targets import local
from wattlock.targets.remote import Remote, Ssh, Way

STUDY = """
id = "one"
title = "One cipher"
question = "Is a lie noticed?"
looks = [5]
target_percent = 50

[[grid]]
cipher = ["aes128-cbc"]
operation = ["encrypt"]
payload_B = [64]
"""

TEMPORARY = ("/var/tmp", "/tmp")  # noqa: S108 - where a probe is put too
READ_ONLY = "mount -o remount,bind,ro /"


def _can_mount() -> str | None:
    """The program that makes a name space of mounts, where it may."""
    unshare = shutil.which("unshare")
    if unshare is None or subprocess.run([unshare, "-rm", "sh", "-c", READ_ONLY], check=False).returncode:
        return None
    return unshare


@dataclass(frozen=True)
class Shell:
    """A way to this machine by a shell with a home of its own; `around`: a command that carries the shell out."""

    home: Path
    before: str = ""
    around: tuple[str, ...] = ()

    name = "shell:here"

    def command(self, words: str) -> list[str]:
        return ["env", f"HOME={self.home}", *self.around, "sh", "-c", 'sh -c "$0"; exit $?', self.before + words]

    def trouble(self, code: int, complaints: bytes) -> WayError | None:
        del code, complaints
        return None


@dataclass
class Stage:
    """What a lie is made with: a folder of the test's own, and the environment."""

    folder: Path
    environment: pytest.MonkeyPatch

    def probe_by(self, filters: str) -> Shell:
        """The way to a device whose probe says what the real one does, changed by `sed`, and the hash of the change."""
        program = self.folder / "probe"
        real, said = shlex.quote(str(local.find().program)), r"\"executable_sha256\":\""
        own = f'sed -u -e "s/{said}[0-9a-f]*/{said}$hash/" {filters}'
        head = '#!/bin/bash\nset -o pipefail\nhash=$(sha256sum "$0" | cut -c1-64)\n'
        program.write_text(f'{head}{real} "$@" | {own}\n')
        program.chmod(0o755)
        self.environment.setenv(local.VARIABLE, str(program))
        return Shell(self.folder)

    def mounted(self, commands: str) -> Shell:
        """The way to a device whose folders are mounted otherwise, really: in a name space of each command's own."""
        folder = shlex.quote(str(self.folder))
        mounts = f'mkdir -p {folder}/.cache && {commands} && exec "$@"'.replace("HOME", folder)
        return Shell(self.folder, around=("unshare", "-rm", "sh", "-ec", mounts, "sh"))


def from_the_second_process_on(was: str, becomes: str) -> str:
    return "-e " + shlex.quote('/^{"kind":"header"/{/"process":0,/!s/' + f"{was}/{becomes}/" + "}")


def another_hash(stage: Stage) -> Way:
    return stage.probe_by("""-e 's/"executable_sha256":"../&00/; s/\\("executable_sha256":".\\{64\\}\\)../\\1/'""")


def another_machine_in_the_middle_of_a_run(stage: Stage) -> Way:
    return stage.probe_by(from_the_second_process_on('"model_name":"[^"]*"', '"model_name":"Z80"'))


def a_cut_line(stage: Stage) -> Way:
    return stage.probe_by('| { if [ "${!#}" = measure ]; then head -c 20000; cat >/dev/null; else cat; fi; }')


def a_banner(stage: Stage) -> Way:
    return Shell(stage.folder, before="echo 'Welcome to the board'; ")


def a_full_folder(stage: Stage) -> Way:
    return stage.mounted("mount -t tmpfs -o size=64k none HOME/.cache")


def a_folder_that_starts_no_programs(stage: Stage) -> Way:
    mounts = (f"mount -t tmpfs -o noexec none {place}" for place in ("HOME/.cache", *TEMPORARY))
    return stage.mounted(" && ".join([READ_ONLY, *mounts]))


def a_read_only_device(stage: Stage) -> Way:
    binds = (f"mount --bind {place} {place} && mount -o remount,bind,ro {place}" for place in TEMPORARY)
    return stage.mounted(" && ".join([READ_ONLY, *binds]))


def a_clock_an_hour_off(stage: Stage) -> Way:
    return stage.probe_by('-e "s/\\"unix_ns\\":[0-9]*/\\"unix_ns\\":$(($(date +%s) - 3600))000000000/"')


def a_changed_host_key(stage: Stage) -> Way:
    config = stage.folder / "sshd" / "ssh_config"
    stranger = stage.folder / "stranger"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(stranger)], check=True)
    port = next(line.split()[1] for line in config.read_text().splitlines() if "Port" in line)
    known = stage.folder / "known"
    known.write_text(f"[127.0.0.1]:{port} {stranger.with_suffix('.pub').read_text()}")
    stage.environment.setenv("WATTLOCK_SSH", f"ssh -o UserKnownHostsFile={known} -F {config}")
    return Ssh("board")


def another_core_class(stage: Stage) -> Way:
    return stage.probe_by(from_the_second_process_on('"core_class":[^,]*', '"core_class":"little"'))


MOUNTS = needs(_can_mount(), "needs a name space of mounts (unshare -rm)")
SERVER = needs(SSHD and shutil.which("ssh"), "needs OpenSSH's server and client")

LIES = [
    pytest.param(another_hash, ProbeError, "says that it is .*, and .* was pushed"),
    pytest.param(another_machine_in_the_middle_of_a_run, StoreError, "was begun on .*, this is Z80"),
    pytest.param(a_cut_line, ProbeError, "without all of its records"),
    pytest.param(a_banner, WayError, "its login writes 'Welcome to the board'"),
    pytest.param(a_full_folder, WayError, "can't be put into .*No space left on device", marks=MOUNTS),
    pytest.param(
        a_folder_that_starts_no_programs,
        WayError,
        "no folder for the probe: .*wattlock starts no programs",
        marks=MOUNTS,
    ),
    pytest.param(a_read_only_device, WayError, "no folder for the probe: .*can't be", marks=MOUNTS),
    pytest.param(a_changed_host_key, WayError, "its host key changed", marks=SERVER),
    pytest.param(another_core_class, StoreError, "this is .*, a little core"),
]


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    (tmp_path / "one.toml").write_text(STUDY)
    return Stage(tmp_path, monkeypatch)


@pytest.fixture
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[None]:
    """OpenSSH's server, for the lie that needs one."""
    if request.node.callspec.params["lie"] is not a_changed_host_key:
        yield
        return
    (tmp_path / "sshd").mkdir()
    with served(tmp_path / "sshd"):
        yield


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(("lie", "kind", "named"), LIES)
def test_a_lie_is_refused_by_its_name_with_what_to_do(
    lie: Callable[[Stage], Way], kind: type[WattlockError], named: str, stage: Stage
) -> None:
    target = Remote(lie(stage))
    with pytest.raises(kind, match=named) as caught:
        begin.measure(str(stage.folder / "one.toml"), target=target, out=stage.folder / "run")
    assert caught.value.hint
    if (stage.folder / "run").exists():
        folder = RunFolder.open(stage.folder / "run")
        assert not folder.is_sealed
        assert all(
            "Z80" not in json.dumps(header) and "little" not in json.dumps(header) for header in folder.headers()
        )


def test_a_clock_an_hour_off_is_told_and_changes_no_number_of_the_run(stage: Stage) -> None:
    """The tenth: nothing is refused, since no number of a run is a difference of two clocks."""
    target = Remote(a_clock_an_hour_off(stage))
    planned = begin.plan(begin.Request(str(stage.folder / "one.toml")), target)
    (told,) = [line for line in planned.warnings() if "clock" in line]
    assert re.search(r"its clock is 3[56]\d\d s behind this machine's: set it; the run is dated by this machine", told)
    begun = planned.create(stage.folder / "run")
    created = datetime.fromisoformat(begun.folder.plan()[0]["created"])
    assert abs((datetime.now(UTC) - created).total_seconds()) < 600
    begun.measure(Silent())
    assert begun.folder.is_sealed


def test_a_run_is_not_gone_on_with_on_another_machine(stage: Stage) -> None:
    moved = stage.folder / "moved"
    when_moved = f"$(test -e {shlex.quote(str(moved))} && echo Z80 || echo 8051)"
    way = stage.probe_by(f'-e "s/\\"model_name\\":\\"[^\\"]*/\\"model_name\\":\\"{when_moved}/"')
    folder = begin.plan(begin.Request(str(stage.folder / "one.toml")), Remote(way)).create(stage.folder / "run").folder
    assert begin.resume(str(folder.path), Remote(way), libraries={}).folder.path == folder.path
    order = process.Order(0, 1, folder.cases()[:1], None, process.self_checks(1))
    carry_out(Bench(folder, Remote(way), {}), order)
    assert begin.resume(str(folder.path), Remote(way), libraries={}).folder.path == folder.path
    moved.touch()
    with pytest.raises(StoreError, match="was begun on 8051, this is Z80"):
        begin.resume(str(folder.path), Remote(way), libraries={})
