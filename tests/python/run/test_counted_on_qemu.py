"""A whole run on an emulated Cortex-M4, where QEMU and what builds its images are installed."""

from pathlib import Path

import polars as pl
import pytest

from support.tools import compiling, needs
from support.tree import require_programs
from wattlock import cli
from wattlock.run.result import read
from wattlock.store import RunFolder

STUDY = """
id = "three"
title = "Three ciphers, an exchange and a frame"
question = "Does a count repeat?"

[[grid]]
cipher = ["ascon-aead128", "chacha20-poly1305"]
operation = ["seal", "open"]
payload_B = [64, 1088, 2112]

[[grid]]
cipher = ["xor"]
operation = ["encrypt"]
payload_B = [64]

[[grid]]
cipher = ["x25519"]
operation = ["agree"]

[[grid]]
cipher = ["ccmp128"]
operation = ["protect", "unprotect"]
payload_B = [64]
"""


@needs(
    compiling("qemu-system-arm", "thumbv7em-none-eabi"),
    "needs qemu-system-arm, a C compiler and `rustup target add thumbv7em-none-eabi`",
)
def test_a_run_on_an_emulated_cortex_m4_is_counted_sealed_and_drawn_and_repeats_bit_for_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_programs()
    monkeypatch.chdir(tmp_path)
    Path("three.toml").write_text(STUDY)
    for name in ("first", "second"):
        assert cli.answer(["run", "three.toml", "--on", "qemu:cortex-m4", "--out", name]) == 0
        assert "takes the fewest core cycles" in Path(name, "report.html").read_text(encoding="utf-8")
    first, second = (read(RunFolder.open(name)) for name in ("first", "second"))
    assert first.is_sealed
    assert first.estimates.equals(second.estimates)
    assert first.estimates["state"].to_list() == ["counted"] * 16
    assert first.error_percent is not None
    rows = first.estimates.filter(pl.col("cipher") == "ascon-aead128", pl.col("operation") == "seal")
    cycles = dict(rows.select("payload_B", "cycles").iter_rows())
    assert cycles[2112] - cycles[1088] == cycles[1088] - cycles[64], "1024 bytes more take as many more"
