"""A small measured run as if it had been measured again and again, for tests of pages over time."""

import json
import shutil
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl

from support.labs import MEASURED
from wattlock.store import run_folder

SPREAD = 0.005


def repeated(place: Path, runs: int, step_at: int, step: float) -> list[Path]:
    """Sealed runs an hour apart, the cost of each case from `step_at` on `step` times what it was before."""
    draws = np.random.default_rng(11)
    made = []
    for number in range(runs):
        run = shutil.copytree(MEASURED, place / f"again-{number:02}", copy_function=shutil.copy)
        lines = (run / "plan.jsonl").read_text().splitlines()
        plan = json.loads(lines[0])
        begun = datetime.fromisoformat(plan["created"]) + timedelta(hours=number)
        # Another build of the probe from there on.
        build = {"probe_sha256": "b" * 64} if number >= step_at else {}
        first = json.dumps(plan | {"id": run.name, "created": begun.isoformat()} | build)
        text = "\n".join([first, *lines[1:-1]]) + "\n"
        total = json.dumps({"kind": "sum", "sha256": sha256(text.encode()).hexdigest()}, separators=(",", ":"))
        (run / "plan.jsonl").write_text(f"{text}{total}\n")
        factor = float(np.exp(draws.normal(0, SPREAD))) * (step if number >= step_at else 1.0)
        slower = ((pl.col(name) * factor).round().cast(pl.Int64) for name in ("ticks", "wall_ns", "cpu_ns"))
        batches = pl.read_parquet(run / run_folder.BATCHES).with_columns(*slower)
        batches.write_parquet(run / run_folder.BATCHES)
        run_folder.write_sums(run)
        made.append(run)
    return made
