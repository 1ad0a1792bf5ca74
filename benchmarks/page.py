"""Whether the ratios of ten ciphers in a browser agree over ten loads: `make bench-page`.

A load is a fresh worker with a fresh module: one process of the run. In each load every cipher's time is taken as a
ratio to that of the first cipher; how far the loads are from their median is printed beside the run's own ratio with
its 95 % interval. A cipher that the run does not resolve is called so, and has no spread. Aims: within 3 % on an idle
machine, within 5 % beside four busy loops. Wanted are a browser on the path and `make page`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl

from support.report_browser import QUIET
from wattlock.analysis.comparison import log_ratio
from wattlock.run.result import Result, read
from wattlock.store import RunFolder

LOADS, LONGEST_S = 10, 1_200
IDLE_PERCENT, BUSY_PERCENT = 3.0, 5.0
STUDY = f"""id = "loads"
title = "Ten ciphers over ten loads"
question = "Do their ratios agree?"
target_percent = 2.0
smallest_effect_percent = 3.0
looks = [{LOADS}]

[[grid]]
cipher = ["aes128-cbc", "aes256-cbc", "aes128-ctr", "des-cbc", "3des-cbc", "blowfish128-cbc", "rc4-128"]
operation = ["encrypt"]
payload_B = [1500]

[[grid]]
cipher = ["aes128-gcm", "chacha20-poly1305", "ascon-aead128"]
operation = ["seal"]
payload_B = [1500]
"""
VISIT = """
import sys
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=sys.argv[1], args=sys.argv[3:])
    page = browser.new_page()
    page.set_default_timeout(1_200_000)
    page.goto(sys.argv[2])
    page.click("#start:enabled")
    page.locator("#start:disabled").wait_for()
    page.locator("#start:enabled").wait_for()
"""
"""In a process of its own, which the server's end outlives."""


@contextmanager
def beside(loops: int) -> Iterator[None]:
    """So many busy loops beside what is measured."""
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def measured(scratch: Path, visit: Callable[[str], list[str]]) -> Result:
    """A run of ten loads; `visit`: the command by which a browser opens an address and is measured."""
    (scratch / "loads.toml").write_text(STUDY)
    command = [sys.executable, "-m", "wattlock", "page", "--once", "--bind", "127.0.0.1:0"]
    command += ["--study", str(scratch / "loads.toml"), "--out", str(scratch / "runs")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            address = server.stdout.readline().strip() if server.stdout else ""
            subprocess.run(visit(address), stdout=subprocess.DEVNULL, check=True, timeout=LONGEST_S)
            _, said = server.communicate(timeout=30)
        finally:
            server.kill()
    if server.returncode:
        sys.exit(said)
    [folder] = (scratch / "runs").iterdir()
    return read(RunFolder.open(folder))


def visit_by(browser: str) -> Callable[[str], list[str]]:
    """The command by which this browser opens an address and is measured."""
    others = {"chromium": ("chromium-browser", "google-chrome"), "firefox-esr": ("firefox",)}
    found = next(filter(None, map(shutil.which, (browser, *others[browser]))), None)
    if found is None:
        sys.exit(f"error: no {browser} is on the path\nhint: apt-get install {browser}")
    if browser == "chromium":
        return lambda address: [sys.executable, "-c", VISIT, found, address, *QUIET]
    return lambda address: [sys.executable, "-m", "support.firefox_browser", found, address, "measure"]


def table(result: Result, aim_percent: float) -> pl.DataFrame:
    """A row a cipher: the run's ratio to the first one, and the farthest of the loads from their median."""
    logs = result.summaries.pivot(on="case", index="process", values="log_canaries").sort("process")
    cases = result.estimates.join(result.across.select("case", "deviation"), on="case", how="left").to_dicts()
    first = cases[0]
    rows = []
    for case in cases[1:]:
        is_resolved = first["state"] == case["state"] == "resolved" and not result.reasons
        row = {"cipher": case["cipher"], "state": case["state"], "loads": 0}
        names = [str(one["case"]) for one in (first, case)]
        if all(name in logs.columns for name in names):
            each = (logs[names[1]] - logs[names[0]]).drop_nulls().drop_nans().to_numpy()
            row["loads"] = len(each)
            if len(each):
                row["farthest_percent"] = 100 * float(np.expm1(np.max(np.abs(each - np.median(each)))))
        if is_resolved:
            gap, half = log_ratio(*({**one, "log_cost": np.log(one["time_ns"])} for one in (first, case)))
            row |= {"ratio": float(np.exp(gap)), "half_width_percent": 100 * float(np.expm1(half))}
        within = row.get("farthest_percent", np.inf) <= aim_percent
        row["verdict"] = "unresolved" if not is_resolved else f"within {aim_percent:g} %" if within else "MISSED"
        rows.append(row)
    schema = {"cipher": pl.String, "state": pl.String, "loads": pl.Int64, "ratio": pl.Float64}
    schema |= {"half_width_percent": pl.Float64, "farthest_percent": pl.Float64, "verdict": pl.String}
    return pl.DataFrame(rows, schema=schema)


def main() -> None:
    """Both conditions, a table each."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--loops", type=int, nargs="*", default=[0, 4], help="busy loops beside each run")
    arguments.add_argument("--firefox", action="store_true", help="in Firefox, in place of Chromium")
    options = arguments.parse_args()
    visit = visit_by("firefox-esr" if options.firefox else "chromium")
    for loops in options.loops:
        start, load = time.monotonic(), os.getloadavg()[0]
        with tempfile.TemporaryDirectory() as scratch, beside(loops):
            result = measured(Path(scratch), visit)
        print(f"beside {loops} busy loops; {load:.1f} programs were busy before; {time.monotonic() - start:.0f} s")
        print(f"{result.processes} loads, {result.batches:,} batches, {100 * result.clean_share:.0f} % of them count")
        print("disturbed: " + ", ".join(f"{count:,} by {cause}" for cause, count in result.causes.items() if count))
        for one in result.verdicts:
            print(f"{one.named}: {one.measured:.4f} ({one.low:.4f} to {one.high:.4f}), truth {one.truth:.4f}")
        for reason in result.reasons:
            print(f"the run is invalid: {reason}")
        with pl.Config(tbl_rows=-1, tbl_cols=-1, tbl_width_chars=140, float_precision=4, tbl_hide_dataframe_shape=True):
            print(table(result, BUSY_PERCENT if loops else IDLE_PERCENT), flush=True)


if __name__ == "__main__":
    main()
