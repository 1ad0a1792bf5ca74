"""Small sweeps for tests: definitions as text, and how one is carried out by the command line."""

from pathlib import Path

import polars as pl

from support.tree import TESTS
from wattlock import cli

LINK = """
title = "Tags over rates"

[[grid]]
link = ["sensor-readings"]
[grid.vary]
"payload.cipher" = ["aes128-ccm", "aes128-ccm8", "none"]
"mcs" = [0, 3, 7, 9]
"signal.rssi_dBm" = [-60, -75]
"seed" = [1, 2]
[grid.fixed]
"payload.data_B" = 1600

[[grid]]
link = ["ble-reading", "lorawan-reading"]
[grid.vary]
"payload_B" = [16, 500]
"""
"""48 rows over Wi-Fi, a quarter of which have no such rate; 4 of other radios."""

ADVICE = """
title = "How often"

[[grid]]
advise = ["sensor"]
[grid.vary]
"flow.every" = ["10s", "1h"]
"""

LIVES = """
title = "Batteries"

[[grid]]
battery = ["cr2032", "lipo-1000"]
[grid.vary]
"energy_uJ" = [10, 100.5, 1e9]
"without" = [[], ["temperature"]]
[grid.fixed]
"per_second" = 1
"draws" = 500
"""
"""12 rows, a third of which draw too much."""

NS3 = """
title = "Both engines"

[[grid]]
link = ["sensor-readings"]
[grid.vary]
"mcs" = [0, 9]
"seed" = [1, 2]
[grid.fixed]
"payload.data_B" = 1600
"engine" = "ns3"
"""
"""4 rows, two of which have no such rate."""

RUNS = f"""
title = "Processes drawn again"

[[grid]]
run = ["{TESTS / "store" / "measured_run"}"]
[grid.vary]
"seed" = [1, 2]
"""
"""10 rows: a run of five cases, each drawn twice."""

LONG_LIVES = """
title = "Lives long enough to be killed"

[[grid]]
battery = ["cgr18650da"]
[grid.vary]
"energy_uJ" = [100, 200, 300, 400]
"seed" = {seeds}
[grid.fixed]
"per_second" = 1
"model" = "tremblay"
"""
"""500 rows, five chunks."""

LONG = """
title = "Long enough to be killed"

[[grid]]
link = ["sensor-readings"]
[grid.vary]
"mcs" = [0, 1, 2, 3, 4, 5, 6, 7]
"seed" = {seeds}
[grid.fixed]
"payload.data_B" = 50_000
"""
"""1,000 rows, five chunks."""


def write(place: Path, text: str) -> str:
    """The path of a sweep's file."""
    file = place / "sweep.toml"
    file.write_text(text.replace("{seeds}", str(list(range(125)))))
    return str(file)


def swept(file: str, out: str, *words: str) -> bytes:
    """The octets of the table that a sweep comes to."""
    assert cli.answer(["sweep", file, "--out", out, *words]) == 0
    return (Path(out) / "sweep.parquet").read_bytes()


def rows(out: str) -> pl.DataFrame:
    """The rows of a folder."""
    return pl.read_parquet(Path(out) / "sweep.parquet")
