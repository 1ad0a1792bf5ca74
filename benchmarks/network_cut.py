"""A network that is slow, loses packets and is cut: two name spaces, joined by a relay between two TUN devices.

The kernel's own netem would do it, where there is one; this needs root, `ip`, `nsenter` and /dev/net/tun.
"""

from __future__ import annotations

import ctypes
import fcntl
import heapq
import os
import random
import select
import shutil
import struct
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from way_runs import LOST, Run, gone_s, orphans

from support.ssh_server import served

SEED = 40
DELAY_S, LOSS = 0.04, 0.02
CUTS, CUT_S = 5, 10.0
NEAR, FAR = "10.77.0.1", "10.77.0.2"

TUN = Path("/dev/net/tun")
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
CLONE_NEWNET = 0x40000000
PACKET_B = 2**16


class Relay(threading.Thread):
    """Carries packets between two TUN devices, late and not all of them; while `is_cut` is set, none.

    * `spaces`: a process in each of the two name spaces, whose devices are made there.
    """

    def __init__(self, spaces: Sequence[int]) -> None:
        super().__init__(daemon=True)
        self.is_cut, self.over, self.is_up = threading.Event(), threading.Event(), threading.Event()
        self.carried = self.lost = 0
        self._spaces = spaces

    def run(self) -> None:
        """Until `over` is set."""
        devices = [_device(pid) for pid in self._spaces]
        other = dict(zip(devices, reversed(devices), strict=True))
        rng = random.Random(SEED)  # noqa: S311 - which packets and moments, no secret
        late: list[tuple[float, int, int, bytes]] = []
        self.is_up.set()
        while not self.over.is_set():
            wait_s = min(0.05, max(0.0, late[0][0] - time.monotonic())) if late else 0.05
            for device in select.select(devices, [], [], wait_s)[0]:
                packet = os.read(device, PACKET_B)
                if self.is_cut.is_set() or rng.random() < LOSS:
                    self.lost += 1
                    continue
                self.carried += 1
                heapq.heappush(late, (time.monotonic() + DELAY_S, self.carried, other[device], packet))
            while late and late[0][0] <= time.monotonic():
                _, _, device, packet = heapq.heappop(late)
                with suppress(OSError):  # a device that is not up yet takes none
                    if not self.is_cut.is_set():
                        os.write(device, packet)
        for device in devices:
            os.close(device)


def _device(pid: int) -> int:
    """A TUN device in the name space of a process; this thread is there from now on."""
    space = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).setns(space, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")
    os.close(space)
    device = os.open(TUN, os.O_RDWR)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", b"way0", IFF_TUN | IFF_NO_PI))
    return device


def lacking() -> str | None:
    """Why there can be no such network here; null where there can."""
    if os.geteuid() != 0 or not TUN.exists():
        return "needs root and /dev/net/tun"
    absent = [program for program in ("ip", "nsenter", "unshare") if shutil.which(program) is None]
    return f"needs {', '.join(absent)}" if absent else None


@contextmanager
def network() -> Iterator[tuple[Relay, list[str], list[str]]]:
    """The relay, and the commands that carry out others on the near and on the far side."""
    spaces = [subprocess.Popen(["unshare", "-n", "sleep", "infinity"]) for _ in range(2)]
    relay = Relay([space.pid for space in spaces])
    try:
        own = Path("/proc/self/ns/net").readlink()
        while any(Path(f"/proc/{space.pid}/ns/net").readlink() == own for space in spaces):
            time.sleep(0.01)
        relay.start()
        relay.is_up.wait(10)
        within = [["nsenter", "-t", str(space.pid), "-n"] for space in spaces]
        for inside, mine, peer in zip(within, (NEAR, FAR), (FAR, NEAR), strict=True):
            for words in (f"addr add {mine} peer {peer} dev way0", "link set way0 up", "link set lo up"):
                subprocess.run([*inside, "ip", *words.split()], check=True)
        yield relay, within[0], within[1]
    finally:
        relay.over.set()
        relay.join()
        for space in spaces:
            space.kill()
            space.wait()


def cut(folder: Path) -> list[str]:
    """Cuts the network for some seconds amid a run, five times, goes on each time, and looks at what came of it."""
    if (why := lacking()) is not None:
        return [f"| skipped | {why} |"]
    rng = random.Random(SEED)  # noqa: S311 - which packets and moments, no secret
    gone: list[float] = []
    ended_s: list[float] = []
    with network() as (relay, near, far), served(folder, FAR, far) as ssh:
        begun = time.monotonic()
        whole = Run(folder, "whole", ssh, near)
        whole.finish()
        length_s = time.monotonic() - begun
        for number in range(CUTS):
            run = Run(folder, f"run-{number}", ssh, near)
            session = run.begin()
            _until_it_measures(run, folder / "home", session, rng)
            relay.is_cut.set()
            since = time.monotonic()
            gone.append(gone_s(folder / "home"))
            while time.monotonic() - since < CUT_S:
                if session.poll() is not None and len(ended_s) == number:
                    ended_s.append(time.monotonic() - since)
                time.sleep(0.02)
            relay.is_cut.clear()
            code = run.ended(session)
            ended_s[number:] = ended_s[number:] or [time.monotonic() - since]
            if code != LOST:
                raise AssertionError(f"{run.path}: ended with {code}:\n{run.words()}")
            run.finish()
            if faults := run.faults():
                raise AssertionError(f"{run.path}: {faults}")
    return [
        f"| cuts of {CUT_S:.0f} s amid a run ({1000 * DELAY_S:.0f} ms each way, {100 * LOSS:.0f} % lost) | {CUTS} |",
        "| runs gone on with to their end, with nothing lost or doubled | all |",
        f"| instruments gone after the cut | {', '.join(f'{each:.1f} s' for each in gone)} |",
        f"| `wattlock run` ended with {LOST} after the cut | {', '.join(f'{each:.1f} s' for each in ended_s)} |",
        f"| packets carried and lost | {relay.carried} and {relay.lost} |",
        f"| a whole run by this network, push included | {length_s:.0f} s |",
    ]


def _until_it_measures(run: Run, home: Path, session: subprocess.Popen[bytes], rng: random.Random) -> None:
    """Waits for a moment at which an instrument measures for the run."""
    while session.poll() is None:
        time.sleep(rng.uniform(0.0, 1.0))
        # Before the run's folder is there they are asked for the plan's cost.
        if (run.path / "plan.jsonl").exists() and orphans(home, " measure"):
            return
    raise AssertionError(f"{run.path}: ended before it could be cut:\n{run.words()}")
