"""A run that was measured on 2026-11-22 and is kept: it has the numbers that it had then."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from wattlock.run import result
from wattlock.store import RunFolder

KEPT = Path(__file__).with_name("measured_run")
# What `wattlock show` printed when the run was new, of which the estimator of today says 0.2 % less or more at most.
PRINTED = {
    ("aes128-cbc", 64): 150.18085715928515,
    ("aes128-cbc", 1500): 4713.919839322527,
    ("rc4-128", 64): 371.13834089411176,
    ("rc4-128", 1500): 8679.276378462977,
    ("x25519", 0): 150348.14720546603,
}
CYCLES = {
    ("aes128-cbc", 64): 150.28923315717927,
    ("aes128-cbc", 1500): 4708.940272878771,
    ("rc4-128", 64): 370.792350538891,
    ("rc4-128", 1500): 8667.743462295166,
    ("x25519", 0): 150283.2826275198,
}


@pytest.fixture
def unsealed(tmp_path: Path) -> Path:
    """The same run as it lay before it was sealed."""
    folder = Path(shutil.copytree(KEPT, tmp_path / "run"))
    (folder / "SHA256SUMS").unlink()
    batches = pl.read_parquet(folder / "batches.parquet").drop("extra", "complete")
    lines = (folder / "headers.jsonl").read_bytes().splitlines()
    rows = [{"kind": "batch", **row} for row in batches.to_dicts()]
    ends = [line for line in lines if json.loads(line)["kind"] == "end"]
    others = [line for line in lines if line not in ends]
    texts = [json.dumps(row, separators=(",", ":")).encode() for row in rows]
    (folder / "records.jsonl").write_bytes(b"\n".join([*others, *texts, *ends, b""]))
    (folder / "headers.jsonl").unlink()
    (folder / "batches.parquet").unlink()
    return folder


def cycles(run: RunFolder) -> dict[tuple[str, int], float]:
    estimates = result.read(run).estimates
    return {(row["cipher"], row["payload_B"]): row["cycles"] for row in estimates.iter_rows(named=True)}


def test_a_kept_run_has_the_numbers_that_it_had() -> None:
    run = RunFolder.open(KEPT)
    assert cycles(run) == pytest.approx(CYCLES, rel=1e-12)
    assert cycles(run) == pytest.approx(PRINTED, rel=0.002)
    assert [case.role for case in run.cases()] == ["study"] * 5 + ["reference", "aa_test", "injected_slowdown", "empty"]


def test_its_self_checks_are_judged() -> None:
    found = result.read(RunFolder.open(KEPT))
    assert [(one.name, one.state) for one in found.verdicts] == [
        ("A/A test", "passed"),
        ("injected slowdown", "passed"),
    ]


def test_before_its_sealing_it_has_the_same_numbers_and_sealing_keeps_them(unsealed: Path) -> None:
    run = RunFolder.open(unsealed)
    assert cycles(run) == pytest.approx(CYCLES, rel=1e-12)
    run.seal()
    assert cycles(RunFolder.open(unsealed)) == pytest.approx(CYCLES, rel=1e-12)
