"""A study from the browser to the comparisons: a lab with this machine, two devices by ssh and two emulated cores."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from support.ssh_server import SSHD, served
from support.tools import compiling, needs
from support.tree import TESTS, require_programs
from wattlock.lab import tokens
from wattlock.lab.collection import Collection
from wattlock.lab.tokens import Scope

LIMIT_S = 480
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
AXE = files("axe_playwright_python") / "axe.min.js"
MEASURED, COUNTED = ("local", "one", "two"), ("qemu:cortex-m0", "qemu:cortex-m4")
ONLY = "cipher=rc4-128,payload_B=64"
ADDRESS = re.compile(r"the lab: (http://\S+)")


@contextmanager
def lab_with_a_fleet(data: Path, home: Path) -> Iterator[str]:
    """The address of `wattlock lab`, started as by a person, with five targets."""
    (home / "targets.toml").write_text("".join(f'[{name}]\nway = "ssh:{name}"\n' for name in MEASURED[1:]))
    cores = [word for core in COUNTED for word in ("--target", core)]
    words = ["lab", "--data", str(data), "--bind", "127.0.0.1:0", "--fleet", *cores]
    with served(home) as ssh, (home / "lab.log").open("w+") as log:
        environment = os.environ | {"WATTLOCK_SSH": ssh, "WATTLOCK_TARGETS": str(home / "targets.toml")}
        command = [sys.executable, "-m", "wattlock", *words]
        with subprocess.Popen(command, env=environment, stderr=log, stdout=log, cwd=home) as lab:
            try:
                due = time.monotonic() + 60
                while not (found := ADDRESS.search((home / "lab.log").read_text())):
                    assert lab.poll() is None, (home / "lab.log").read_text()
                    assert time.monotonic() < due, (home / "lab.log").read_text()
                    time.sleep(0.1)
                yield found[1]
            finally:
                lab.terminate()


@needs(CHROMIUM, "there is no Chromium")
@needs(SSHD and shutil.which("ssh"), "needs OpenSSH's server and client")
@needs(
    compiling("qemu-system-arm", "thumbv6m-none-eabi", "thumbv7em-none-eabi"),
    "needs qemu-system-arm, a C compiler and `rustup target add thumbv6m-none-eabi thumbv7em-none-eabi`",
)
def test_a_person_measures_on_five_targets_from_the_browser_and_opens_both_comparisons(tmp_path: Path) -> None:
    require_programs()
    lab = Collection.open(tmp_path / "lab")
    token = tokens.make(lab.engine, Scope.plan, 1)
    (tmp_path / "home-of-the-lab").mkdir()
    with lab_with_a_fleet(tmp_path / "lab", tmp_path / "home-of-the-lab") as address:
        command = [sys.executable, "-m", "support.fleet_browser", str(CHROMIUM), str(AXE), address, token, ONLY]
        words = [*command, COUNTED[0]]
        done = subprocess.run(words, cwd=TESTS, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    assert (seen["asked"], seen["targets"], seen["complaints"]) == ("Log in: wattlock lab", 5, [])
    # By server-sent events: the page was there once, and changed with each of them.
    assert f"{address}/queue/events" in seen["requests"]
    assert seen["same"]
    assert seen["changes"] >= 5
    assert seen["live"]["kept_focus"]
    assert all(seen["live"]["kept_focus"])
    assert {"under way", "done"} <= set(seen["live"]["states"])
    assert "1 of 1" in seen["live"]["settled"]
    for part in ("live", "ended"):
        assert (seen[part]["violations"], seen[part]["overflow_px"] > 0) == ([], False), part
    rows = {row["target"]: row["state"] for row in seen["ended"]["rows"]}
    assert rows == dict.fromkeys((*MEASURED, *COUNTED), "done")
    assert sorted(len(one["sides"]) for one in seen["compared"]) == [len(COUNTED), len(MEASURED)]
    kinds = {len(one["sides"]): set(one["sides"]) for one in seen["compared"]}
    assert kinds == {2: {"emulated"}, 3: {"measured"}}
    for one in seen["compared"]:
        assert (one["refused"], one["violations"], one["overflow_px"] > 0) == (0, [], False), one["title"]
    assert {run.evidence for run in lab.runs()} == {"emulated", "measured"}
