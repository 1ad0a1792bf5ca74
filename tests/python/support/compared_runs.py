"""Runs of several made-up machines, to be compared: in virtual time, by the scripted probe."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from support.scripted_probe import direct, install, truth
from support.virtual_runs import study_of, write_study
from wattlock.run.begin import measure

CIPHERS = ["aes128-cbc", "aes256-cbc", "des-cbc", "rc4-128"]
OPERATIONS = ["encrypt", "decrypt"]
PAYLOADS_B = [64, 1500]
CASES = len(CIPHERS) * len(OPERATIONS) * len(PAYLOADS_B)

MACHINES: Mapping[str, tuple[str, Sequence[float]]] = {
    "laptop": ("Intel(R) Core(TM) i7-1165G7 CPU @ 2.80GHz", (1.0,)),
    "server": ("AMD EPYC 9354", (0.62, 0.6, 0.8, 0.9)),
    "pi4": ("Cortex-A72", (9.0, 11.0, 2.4, 1.9)),
    "pi5": ("Cortex-A76", (1.3, 1.25, 1.01, 0.7)),
    "phone": ("Cortex-X1", (1.12, 1.4, 1.003, 0.65)),
}
"""Each machine's processor, and by how much it costs more than the first, cipher by cipher."""


def measured(folder: Path, machines: Sequence[str] = tuple(MACHINES)) -> list[str]:
    """Measures the machines, each into a folder of its name below `folder`; gives the folders."""
    program = install(folder / "probe")
    before = os.environ.get("WATTLOCK_PROBE")
    os.environ["WATTLOCK_PROBE"] = str(program)
    write_study(folder / "virtual.toml", study_of(cipher=CIPHERS, operation=OPERATIONS, payload_B=PAYLOADS_B))
    try:
        for name in machines:
            processor, factors = MACHINES[name]
            by_case = CASES // len(CIPHERS)
            costs = {
                str(case): truth(case) * factors[case // by_case % len(factors)] * (1 + 0.02 * (case % by_case))
                for case in range(CASES)
            }
            if name == "laptop":
                costs = {}
            # One case of the phone is noisy, and one of the pi4 fails.
            between = {"9": 0.2} if name == "phone" else {}
            fails = {"2": "no such key"} if name == "pi4" else {}
            direct(program, processor=processor, canaries=costs, between=between, fails=fails)
            measure(str(folder / "virtual.toml"), out=folder / name)
    finally:
        if before is None:
            del os.environ["WATTLOCK_PROBE"]
        else:
            os.environ["WATTLOCK_PROBE"] = before
    return [str(folder / name) for name in machines]
