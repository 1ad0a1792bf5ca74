"""What a way to a device costs and survives: `make bench-ways`, or `python benchmarks/ways.py [PART]...`.

Parts are `kills`, `cut`, `same` and `cost`; README.md beside this file says what each asks. OpenSSH's server is started
on this machine for the purpose. Where something is lost or doubled it ends with an error; times are only printed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import polars as pl
from network_cut import cut
from way_runs import LOST, Run, clients, gone_s, orphans

from support.ssh_server import SSHD, served
from wattlock.run import begin
from wattlock.run.result import open_run
from wattlock.run.run_comparison import compare
from wattlock.targets import Target, local
from wattlock.targets.remote import SSH_VARIABLE, Remote, Ssh
from wattlock.targets.target import Limits

SEED = 16
KILLS, KILLS_A_RUN = 50, 5
COMMANDS = 30

FORTY = """
id = "forty"
title = "Forty cases by two ways"
question = "Does ssh move a number?"
looks = [5, 10, 20]
target_percent = 1

[[grid]]
cipher = ["aes128-cbc", "aes256-cbc", "aes128-ctr", "des-cbc", "3des-cbc",
    "rc4-128", "blowfish128-cbc", "cast128-cbc", "chacha20", "camellia128-cbc"]
provider = ["rustcrypto"]
operation = ["encrypt"]
payload_B = [16, 64, 1500, 16384]
"""


def kills(folder: Path, ssh: str) -> list[str]:
    """Ends ssh clients by SIGKILL at seeded moments, goes on each time, and looks at what came of it."""
    rng = random.Random(SEED)  # noqa: S311 - moments, no secret
    length_s = _undisturbed_s(Run(folder, "whole", ssh), ssh)
    sessions, runs = Counter[bool](), 0
    gone: list[float] = []
    while len(gone) < KILLS:
        run, runs = Run(folder, f"run-{runs}", ssh), runs + 1
        code = LOST
        for _ in range(min(KILLS_A_RUN, KILLS - len(gone))):
            session = run.begin()
            killed_s = _kill(rng, rng.uniform(0, length_s), ssh, session)
            code = run.ended(session)
            if code not in {0, LOST}:
                raise AssertionError(f"{run.path}: ended with {code}:\n{run.words()}")
            if killed_s is not None:
                gone.append(max(killed_s, gone_s(folder / "home")))
                sessions[code == LOST] += 1
            print(f"{len(gone)} kills", file=sys.stderr)
            if code == 0:
                break
        if code == LOST:
            run.finish()
        if faults := run.faults():
            raise AssertionError(f"{run.path}: {faults}")
    return [
        f"| kills of ssh clients (SIGKILL, seed {SEED}) | {len(gone)}, in {runs} runs |",
        f"| sessions that ended with {LOST}, and `--resume` went on | {sessions[True]} |",
        f"| sessions that came to their end all the same | {sessions[False]} |",
        f"| runs sealed at the end, with nothing lost or doubled | {runs} |",
        f"| instruments gone after a kill | median {statistics.median(gone):.2f} s, at most {max(gone):.2f} s |",
        f"| from the first to the last command of a run that nobody disturbs | {length_s:.1f} s |",
    ]


def _kill(rng: random.Random, moment_s: float, ssh: str, session: subprocess.Popen[bytes]) -> float | None:
    """Ends clients at a moment of a session: one of them, or more.

    Gives the seconds until the instruments that ran then are gone; null where the session ended before the moment.
    """
    victims = _clients_at(moment_s, ssh, session)
    if not victims:
        return None
    home = Path(ssh.rpartition(" ")[2]).parent / "home"
    measuring = orphans(home)
    for victim in rng.sample(victims, rng.randint(1, len(victims))):
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
    return gone_s(home, measuring)


def _undisturbed_s(run: Run, ssh: str) -> float:
    """Seconds from the first to the last command that a whole run gives to ssh."""
    session, seen = run.begin(), list[float]()
    while session.poll() is None:
        if clients(ssh, "ControlMaster=no"):
            seen.append(time.monotonic())
        time.sleep(0.02)
    if run.ended(session) or run.faults():
        raise AssertionError(f"{run.path}: {run.words()}")
    return seen[-1] - seen[0]


def _clients_at(moment_s: float, ssh: str, session: subprocess.Popen[bytes]) -> list[int]:
    """The clients so long after the first of them, or as soon as there are any; none where the session ended before."""
    due: float | None = None
    while session.poll() is None:
        if found := clients(ssh):
            due = due or time.monotonic() + moment_s
            if time.monotonic() >= due:
                return found
        time.sleep(0.005)
    return []


def same(folder: Path, ssh: str) -> list[str]:
    """Measures forty cases by both ways, and counts those that are told apart."""
    study = folder / "forty.toml"
    study.write_text(FORTY)
    log = folder / "commands"
    with environment({SSH_VARIABLE: str(_logging(folder, ssh, log))}):
        begin.measure(str(study), target=Remote(Ssh("board")), out=folder / "by-ssh")
    begin.measure(str(study), out=folder / "by-hand")
    here, there = open_run(str(folder / "by-hand")), open_run(str(folder / "by-ssh"))
    table = compare(here, [there], None).table
    verdicts = Counter(table["verdict"].to_list())
    apart = verdicts["slower"] + verdicts["faster"]
    outside = table.filter((pl.col("ratio_low") > 1) | (pl.col("ratio_high") < 1)).height
    ratios = table["ratio"].drop_nulls().to_list()
    pushes = sum("&& cat >" in line for line in log.read_text().splitlines())
    counted = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    return [
        f"| cases compared | {table.height} |",
        f"| told apart, of 1 % and more (aim: at most 5 %) | {apart} ({100 * apart / table.height:.1f} %) |",
        f"| verdicts | {counted} |",
        f"| 95 % intervals of the ratio without 1 | {outside} ({100 * outside / table.height:.1f} %) |",
        f"| ratio of ssh to local, median | {statistics.median(ratios):.4f} |",
        f"| the same, least and most | {min(ratios):.4f} and {max(ratios):.4f} |",
        f"| processes, local and by ssh | {here.processes} and {there.processes} |",
        f"| wall time a process, local and by ssh | {here.wall_s / here.processes:.2f} s and "
        f"{there.wall_s / there.processes:.2f} s |",
        f"| programs pushed | {pushes} |",
    ]


def cost(_: Path, ssh: str) -> list[str]:
    """How many seconds ssh adds to a process, and what the first contact takes."""
    with environment({SSH_VARIABLE: ssh}):
        first_s = _took_s(lambda: Remote(Ssh("other")).facts())
        again_s = statistics.median(_took_s(lambda: Remote(Ssh("other")).facts()) for _turn in range(5))
        ways: dict[str, Target] = {"local": local.find(), "ssh": Remote(Ssh("other"))}
        took: dict[str, list[float]] = {name: [] for name in ways}
        for _turn in range(COMMANDS):
            for name, target in ways.items():
                took[name].append(_took_s(partial(_starts, target)))
    middle = {name: statistics.median(times) for name, times in took.items()}
    added_s = middle["ssh"] - middle["local"]
    return [
        f"| a process that ssh starts takes longer by (median of {COMMANDS}; aim: at most 1 s) | {added_s:.3f} s |",
        f"| connecting, looking for the instrument there, its facts | {again_s:.2f} s |",
        f"| the same at the first time, with the push | {first_s:.2f} s |",
    ]


def _starts(target: Target) -> None:
    target.start(["schema"], b"", Limits(60, 60, 60, 2**24), lambda _: None, who="the probe")


def _took_s(call: Callable[[], object]) -> float:
    begun = time.monotonic()
    call()
    return time.monotonic() - begun


def _logging(folder: Path, ssh: str, log: Path) -> str:
    """An ssh that notes each of its commands."""
    program = folder / "noting-ssh"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >>{log}\nexec {ssh} "$@"\n')
    program.chmod(0o755)
    return str(program)


@contextlib.contextmanager
def environment(changed: Mapping[str, str]) -> Iterator[None]:
    """Other variables for as long as this lasts."""
    before = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


PARTS: dict[str, Callable[[Path, str], list[str]]] = {"kills": kills, "same": same, "cost": cost}


def main(words: Sequence[str] | None = None) -> None:
    """Carries out the parts asked for, each in a folder of its own, and prints their tables."""
    parser = argparse.ArgumentParser(description="What a way to a device costs and survives.")
    parser.add_argument("parts", nargs="*", metavar="PART", help="kills, cut, same, cost; all without")
    chosen = parser.parse_args(words).parts or [*PARTS, "cut"]
    if not (SSHD and shutil.which("ssh")):
        sys.exit("error: needs OpenSSH's server and client; Debian has them as openssh-server and openssh-client")
    for part in chosen:
        with tempfile.TemporaryDirectory(prefix="wattlock-ways-") as name:
            folder = Path(name)
            print(f"\n| {part} | |\n|---|---|", flush=True)
            if part == "cut":
                lines = cut(folder)
            else:
                with served(folder) as ssh:
                    lines = PARTS[part](folder, ssh)
            print("\n".join(lines), flush=True)


if __name__ == "__main__":
    main()
