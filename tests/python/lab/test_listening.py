"""What a lab with a fleet listens on: all sockets of all of its processes, by the kernel's own tables."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support import scripted_probe

LISTENS, LIMIT_S = "0A", 120.0
NAMED = ("first", "second")
TARGETS = 1 + len(NAMED)
"""The lab's own host is another."""
# What the guide names: the lab's port, and on loopback, by TLS with certificates of this process alone, one of the
# scheduler, one of each worker and one of what starts that worker anew.
SCHEDULERS, OF_A_TARGET = 1, 2


def tree(root: int) -> set[int]:
    """A process and all that came of it."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(status.parent.name)] = int(words[1])
    found = {root}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def listeners(root: int) -> dict[str, str]:
    """The listening sockets of a process and of all below it: by inode the address as the kernel has it."""
    inodes = set()
    for process in tree(root):
        for handle in Path(f"/proc/{process}/fd").glob("*"):
            try:
                inodes |= set(re.findall(r"socket:\[(\d+)\]", str(handle.readlink())))
            except OSError:
                continue
    found = {}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == LISTENS and words[9] in inodes:
                found[words[9]] = words[1]
    return found


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux lists them there")
def test_a_lab_with_a_fleet_listens_where_the_guide_says_and_nowhere_else(tmp_path: Path) -> None:
    program = scripted_probe.install(tmp_path / "probe")
    (tmp_path / "targets.toml").write_text("".join(f'[{name}]\nway = "local"\n' for name in NAMED))
    named = {"WATTLOCK_PROBE": str(program), "WATTLOCK_TARGETS": str(tmp_path / "targets.toml")}
    command = [sys.executable, "-m", "wattlock", "lab", "--data", "lab", "--bind", "127.0.0.1:0", "--fleet"]
    lab = subprocess.Popen(command, cwd=tmp_path, env={**os.environ, **named}, stderr=subprocess.DEVNULL)
    wanted, found = 1 + SCHEDULERS + OF_A_TARGET * TARGETS, dict[str, str]()
    try:
        until = time.monotonic() + LIMIT_S
        while len(found) < wanted and time.monotonic() < until:
            time.sleep(0.5)
            found = listeners(lab.pid)
        time.sleep(3.0)
        found = listeners(lab.pid)
    finally:
        lab.send_signal(signal.SIGINT)
        lab.wait(30)
    assert len(found) == wanted, found
    assert {address.partition(":")[0] for address in found.values()} == {"0100007F"}
