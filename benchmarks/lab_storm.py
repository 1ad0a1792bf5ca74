"""A fleet in a storm: targets by ssh on loopback, while its programs are killed by -9 at random moments.

Call: `PYTHONPATH=tests/python .venv/bin/python benchmarks/lab_storm.py [TARGETS] [TASKS] [KILLS] [SEED]`, else 20
targets, 2000 tasks and 200 kills. The probe is one in virtual time, so that a task takes milliseconds beside what ssh
takes.

Of 20 kills one is of the server, one of the fleet's process with its scheduler, 9 of a worker and 9 of an ssh client:
the first two end all workers too. Each kill waits until a task has ended since the last one. The moments are random.
At the end, for every job: its run is sealed and in the lab, each process is in it once, and each has one task that is
done.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from support.scripted_probe import install
from support.ssh_server import served
from support.virtual_runs import study_of, write_study
from wattlock.errors import WattlockError
from wattlock.lab.collection import RUNS, Collection
from wattlock.lab.database import session
from wattlock.lab.fleet.queue import OPEN, Job, Queue, State
from wattlock.store import RunFolder

KINDS = ["server", "scheduler", *["worker"] * 9, *["ssh"] * 9]
LONGEST_PAUSE_S = 0.5
MOST_S = 3600.0


def processes() -> dict[int, tuple[int, str]]:
    """The parent and the command of each process of this machine."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except (OSError, ValueError):
                continue
            found[int(folder.name)] = parent, command
    return found


def below(root: int) -> dict[str, list[int]]:
    """The programs of the lab whose server is `root`, by kind."""
    known, kinds = processes(), {"server": [root], "scheduler": [], "worker": [], "ssh": []}
    reached, inside = [root], {root}
    while reached:
        parent = reached.pop()
        for pid in [one for one, (above, _) in known.items() if above == parent and one not in inside]:
            inside.add(pid)
            reached.append(pid)
    for pid in inside:
        above, command = known.get(pid, (0, ""))
        if "fleet.conductor" in command and above == root:
            kinds["scheduler"].append(pid)
        elif command.startswith("ssh "):
            kinds["ssh"].append(pid)
        elif "forkserver" in command and "forkserver" in known.get(above, (0, ""))[1]:
            kinds["worker"].append(pid)
    return kinds


def started(data: Path, targets: list[str]) -> subprocess.Popen[bytes]:
    """The lab with its fleet."""
    named = [word for one in targets for word in ("--target", one)]
    command = [sys.executable, "-m", "wattlock", "lab", "--data", str(data), "--bind", "127.0.0.1:0", *named]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


def storm(
    queue: Queue, start: Callable[[], subprocess.Popen[bytes]], kills: int, chance: random.Random
) -> Counter[str]:
    """Kills until there were so many, and waits until no job is open; gives how many of each kind were killed."""
    killed: Counter[str] = Counter()
    server, before, due = start(), -1, time.monotonic() + MOST_S
    try:
        while any(job.state in OPEN for job in queue.jobs()):
            if time.monotonic() > due:
                break
            time.sleep(chance.uniform(0.0, LONGEST_PAUSE_S))
            ended = sum(of.get(State.done, 0) for of in queue.counted().values())
            if killed.total() >= kills or ended == before:
                continue
            kind = chance.choice(KINDS)
            alive = below(server.pid)[kind]
            if not alive:
                continue
            before = ended
            os.kill(chance.choice(alive), signal.SIGKILL)
            killed[kind] += 1
            if kind == "server":
                server.wait()
                server = start()
    finally:
        server.terminate()
        server.wait()
    return killed


def faults(lab: Collection, queue: Queue, processes_a_job: int) -> list[str]:
    """What was lost or doubled."""
    found = []
    for job in queue.jobs():
        if job.state != State.done:
            found.append(f"job {job.number} is {job.state}: {job.reason}")
            continue
        try:
            run = RunFolder.open(lab.data / RUNS / str(job.hash))
        except WattlockError as error:
            found.append(f"job {job.number}: {error.message}")
            continue
        headers = Counter(header["process"] for header in run.headers())
        done = Counter(task["process"] for task in queue.tasks(job.number) if task["state"] == State.done)
        complete = run.complete()
        found += [
            f"job {job.number}: process {one} is there {number} times" for one, number in headers.items() if number > 1
        ]
        found += [f"job {job.number}: process {one} has {done[one]} tasks done" for one in complete if done[one] != 1]
        if len(complete) < processes_a_job:
            found.append(f"job {job.number} has {len(complete)} processes")
    return found


def main(targets: int, tasks: int, kills: int, seed: int) -> None:
    """Prints what was killed, and what of the tasks was lost or doubled."""
    base = Path(tempfile.mkdtemp(prefix="storm-"))
    (base / "sshd").mkdir()
    with served(base / "sshd") as ssh:
        os.environ |= {"WATTLOCK_SSH": ssh, "WATTLOCK_PROBE": str(install(base / "probe"))}
        os.environ["WATTLOCK_FLEET_BACKOFF_S"] = "0.2"
        each = tasks // targets
        write_study(base / "storm.toml", study_of(looks=[each], cipher=["aes128-cbc"]))
        lab = Collection.open(base / "lab")
        queue, names = Queue(lab.engine), [f"ssh:device{number}" for number in range(targets)]
        with session(lab.engine) as opened:  # a study's file is not for who asks by the page
            for name in names:
                given = {"study": str(base / "storm.toml"), "options": {}, "state": State.queued, "asked": ""}
                opened.add(Job(batch="storm", target=name, **given))
        begun = time.monotonic()
        killed = storm(queue, lambda: started(lab.data, names), kills, random.Random(seed))  # noqa: S311 - moments, no secret
        took_s = time.monotonic() - begun
        found, every = faults(lab, queue, each), queue.tasks()
        states = Counter(task["state"] for task in every)
        print(f"targets {targets}, tasks {len(every)}, states {dict(states)}, seed {seed}, {took_s:.0f} s")
        again = sum(task["attempts"] > 0 for task in every)
        print(f"killed by -9: {killed.total()}: {dict(killed)}; tasks begun again: {again}")
        print(f"lost or doubled: {len(found)}")
        print("\n".join(found))
    shutil.rmtree(base)
    sys.exit(bool(found))


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*[*given, *[20, 2000, 200, 1][len(given) :]])
