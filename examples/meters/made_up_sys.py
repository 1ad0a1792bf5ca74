r"""A made-up `/sys` with an energy counter and a battery whose truth is known, for as long as a command runs.

    python examples/meters/made_up_sys.py TREE -- \
        wattlock run quick --meter powercap:package-0 --sys-root TREE
    python examples/meters/made_up_sys.py TREE --battery-Wh 0.5 -- \
        wattlock run quick --only 'des-cbc' --battery BAT0 --until-percent 50 --log-every-s 1 --sys-root TREE

The counter of `TREE/class/powercap/intel-rapl:0` rises by the idle power all the time and by the busy power for the CPU
time of every `wattlock-probe` below the command: a call costs its CPU time in seconds times the busy watts, net, and
what is measured can be compared with that. The battery BAT0 is fed to the same load and falls by the same joules.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import subprocess
import sys
import time
from pathlib import Path

RANGE_UJ = 262_143_328_850
"""Of most processors: 2^32 units of 61 uJ."""
UPDATE_S, JITTER_S = 1e-3, 5e-5
QUANTUM_UJ = 61
LOOK_FOR_PROBES_S = 0.02


class Tree:
    """A package's counter in files below `root`, as the kernel would show it."""

    def __init__(self, root: Path, start_uJ: int = 0) -> None:
        zone = root / "class" / "powercap" / "intel-rapl:0"
        zone.mkdir(parents=True, exist_ok=True)
        for name, text in {
            "name": "package-0",
            "max_energy_range_uj": str(RANGE_UJ),
            "constraint_0_max_power_uw": "65000000",
        }.items():
            (zone / name).write_text(text + "\n")
        self._start_uJ = start_uJ
        self._file = os.open(zone / "energy_uj", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        self.show(0.0)

    def show(self, energy_J: float) -> None:
        """Shows the energy since the start: in quanta, wrapped, in one write of a fixed length."""
        counter = (self._start_uJ + int(energy_J * 1e6) // QUANTUM_UJ * QUANTUM_UJ) % RANGE_UJ
        os.pwrite(self._file, f"{counter:020}\n".encode(), 0)


class Battery:
    """A battery in files below `root`: it counts in steps, once a second, and its level in whole percents."""

    STEP_UWH = 10_000
    VOLTAGE_UV = 3_700_000

    def __init__(self, root: Path, capacity_Wh: float) -> None:
        self._folder = root / "class" / "power_supply" / "BAT0"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._capacity_uWh = capacity_Wh * 1e6
        self._updated_s = -1.0
        for name, text in {"type": "Battery", "scope": "System", "voltage_now": str(self.VOLTAGE_UV)}.items():
            (self._folder / name).write_text(text + "\n")
        self.show(0.0)

    def show(self, energy_J: float) -> None:
        """Shows what is left after `energy_J` were drawn; each file is replaced whole."""
        now = time.monotonic()
        if now - self._updated_s < 1.0:
            return
        self._updated_s = now
        left_uWh = max(0.0, self._capacity_uWh - energy_J / 3600e-6)
        shown = {
            "energy_now": int(left_uWh) // self.STEP_UWH * self.STEP_UWH,
            "capacity": math.ceil(100 * left_uWh / self._capacity_uWh),
            "status": "Discharging",
        }
        for name, value in shown.items():
            (self._folder / f".{name}").write_text(f"{value}\n")
            (self._folder / f".{name}").replace(self._folder / name)


class Load:
    """Joules by idle power, and by the CPU time of all probes below a process."""

    def __init__(self, idle_W: float, busy_W: float) -> None:
        self._idle_W, self._busy_W = idle_W, busy_W
        self._start = self._looked = time.monotonic()
        self._busy_s: dict[int, float] = {}

    def energy_J(self, above: int) -> float:
        """Joules since the start; the probes are those below the process `above`."""
        now = time.monotonic()
        if now - self._looked > LOOK_FOR_PROBES_S:
            self._looked = now
            for pid in probes_below(above):
                self._busy_s.setdefault(pid, 0.0)
        for pid, known_s in self._busy_s.items():
            self._busy_s[pid] = max(known_s, cpu_time_s(pid))
        return self._idle_W * (now - self._start) + self._busy_W * sum(self._busy_s.values())


def cpu_time_s(pid: int) -> float:
    """CPU time of a process; 0 where it ended. Its clock's number is as clock_getcpuclockid of Linux makes it."""
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return 0.0


def probes_below(above: int) -> list[int]:
    """The processes named wattlock-probe whose ancestors include `above`."""
    parents: dict[int, tuple[int, str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                text = (entry / "stat").read_text()
            except OSError:
                continue
            name = text[text.index("(") + 1 : text.rindex(")")]
            parents[int(entry.name)] = (int(text[text.rindex(")") + 2 :].split()[1]), name)

    def is_below(pid: int) -> bool:
        while pid in parents:
            if pid == above:
                return True
            pid = parents[pid][0]
        return False

    return [pid for pid, (_, name) in parents.items() if name == "wattlock-probe" and is_below(pid)]


def follow(tree: Tree, battery: Battery, load: Load, command: subprocess.Popen[bytes], above: int) -> int:
    """Keeps counter and battery current until the command ends; gives its exit code."""
    draw = random.Random(1)  # noqa: S311 -- the counter's jitter
    while command.poll() is None:
        energy_J = load.energy_J(above)
        tree.show(energy_J)
        battery.show(energy_J)
        time.sleep(UPDATE_S + draw.uniform(-JITTER_S, JITTER_S))
    return command.returncode


def main() -> int:
    """Makes the tree, starts the command, keeps the counter current."""
    parser = argparse.ArgumentParser(description="A made-up /sys with an energy counter whose truth is known.")
    parser.add_argument("tree", type=Path, metavar="TREE", help="the folder to make; what --sys-root names")
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="what is run meanwhile, after --")
    parser.add_argument("--idle-W", type=float, default=3.0, metavar="W", help="drawn all the time (3)")
    parser.add_argument("--busy-W", type=float, default=8.0, metavar="W", help="drawn while a probe computes (8)")
    parser.add_argument("--start-uJ", type=int, default=RANGE_UJ - 20_000_000, metavar="N", help="first value shown")
    parser.add_argument("--battery-Wh", type=float, default=2.0, metavar="Wh", help="what BAT0 holds (2)")
    parser.add_argument("--below", type=int, metavar="PID", help="follow the probes below this process, not COMMAND's")
    asked = parser.parse_args()
    tree = Tree(asked.tree, asked.start_uJ)
    battery = Battery(asked.tree, asked.battery_Wh)
    load = Load(asked.idle_W, asked.busy_W)
    with subprocess.Popen(asked.command) as command:
        return follow(tree, battery, load, command, asked.below or command.pid)


if __name__ == "__main__":
    sys.exit(main())
