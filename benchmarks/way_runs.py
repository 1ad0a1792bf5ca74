"""Runs of a small study by a way that is about to break: started, watched, gone on with, and counted at the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wattlock.errors import WayError
from wattlock.store import RunFolder

STUDY = """
id = "small"
title = "A small study"
question = "Is anything lost where the way breaks?"
looks = [5]
target_percent = 50

[[grid]]
cipher = ["aes128-cbc", "des-cbc", "rc4-128"]
operation = ["encrypt"]
payload_B = [64, 1500]
"""
LOOK = 5

ORPHAN_S = 5.0
END_S = 300.0
BATCH = ["case", "round", "segment", "attempt", "calls"]
"""What names a batch within its process."""


@dataclass
class Run:
    """One run in `folder`/`name`, by sessions one after the other.

    * `before`: a command that carries out wattlock where its network is; `ssh`: the value of WATTLOCK_SSH.
    * `whole`: numbers of the processes that were complete at the end of a session, all of which have to stay.
    """

    folder: Path
    name: str
    ssh: str
    before: Sequence[str] = ()
    whole: set[int] = field(default_factory=set)

    @property
    def path(self) -> Path:
        """Of the run's folder."""
        return self.folder / self.name

    def begin(self) -> subprocess.Popen[bytes]:
        """A session: the first one, or one that goes on."""
        (self.folder / "small.toml").write_text(STUDY)
        words = ["--resume", self.name] if (self.path / "plan.jsonl").exists() else ["small.toml", "--out", self.name]
        command = [*self.before, sys.executable, "-m", "wattlock", "run", *words, "--on", "ssh:board"]
        with self._log.open("ab") as log:
            return subprocess.Popen(
                command, cwd=self.folder, env=os.environ | {"WATTLOCK_SSH": self.ssh}, stdout=log, stderr=log
            )

    def ended(self, session: subprocess.Popen[bytes]) -> int:
        """Waits for a session's end; gives its exit code. What was complete before has to be there."""
        code = session.wait(END_S)
        if (self.path / "plan.jsonl").exists():
            complete = set(RunFolder.open(self.path).complete())
            if lost := self.whole - complete:
                raise AssertionError(f"{self.path}: processes {sorted(lost)} are lost")
            self.whole = complete
        return code

    def finish(self) -> None:
        """Sessions that nobody disturbs, to the run's end."""
        if (code := self.ended(self.begin())) != 0:
            raise AssertionError(f"{self.path}: ended with {code}:\n{self.words()}")

    def words(self) -> str:
        """What its sessions said."""
        return self._log.read_text(errors="replace")

    def faults(self) -> list[str]:
        """What is lost, doubled or missing of what the plan demands; empty where nothing is."""
        run = RunFolder.open(self.path)
        complete = run.complete()
        found = [] if run.is_sealed else ["it is not sealed"]
        numbers = Counter(header["process"] for header in run.headers())
        found += [f"process {number} is there {count} times" for number, count in numbers.items() if count > 1]
        ends = {record["process"]: record["batches"] for record in run.records("end")}
        found += [f"process {number} ended, and is not complete" for number in sorted(ends.keys() - complete)]
        visited: Counter[int] = Counter()
        for header in run.headers():
            number = header["process"]
            if number not in complete:
                continue
            batches = run.batches_of(number)
            if batches.height != ends.get(number) or batches.select(BATCH).n_unique() != batches.height:
                found.append(f"process {number} has {batches.height} batches, and {ends.get(number)} were written")
            visited.update(case["case"] for case in header["cases"])
        wanted = [case.case for case in run.cases() if case.role == "study"]
        return found + [f"case {case}: {visited[case]} processes" for case in wanted if visited[case] < LOOK]

    def processes(self) -> int:
        """Those that are complete."""
        return len(RunFolder.open(self.path).complete())

    @property
    def _log(self) -> Path:
        return self.folder / f"{self.name}.log"


LOST = WayError.exit_code


def clients(ssh: str, word: str = "") -> list[int]:
    """The ssh clients by a value of WATTLOCK_SSH, or those with a word: the connection's, and those of commands."""
    config = ssh.rpartition(" ")[2]
    return [pid for pid, words in processes() if words.startswith("ssh ") and config in words and word in words]


def orphans(home: Path, verb: str = "") -> list[int]:
    """The instruments that run from a home's cache, or those of them that carry out a verb."""
    here = f"{home}/.cache/wattlock/"
    return [pid for pid, words in processes() if words.startswith(here) and words.endswith(verb)]


def gone_s(home: Path, those: Sequence[int] | None = None) -> float:
    """Seconds until instruments are gone: those, or all there are. Raises AssertionError where one stays."""
    begun = time.monotonic()
    while left := [pid for pid in orphans(home) if those is None or pid in those]:
        if time.monotonic() - begun > ORPHAN_S:
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            raise AssertionError(f"{len(left)} instruments outlived their connection by {ORPHAN_S:.0f} s")
        time.sleep(0.02)
    return time.monotonic() - begun


def processes() -> list[tuple[int, str]]:
    """All there are, with their words."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ")
            found.append((int(process.name), words.decode(errors="replace")))
        except OSError:
            continue
    return found
