"""Writes what runs of `mcu-costs` counted: `tools/mcu_costs.py RUN ...`, a run a core.

The tables of docs/results/mcu-counts.md between its marks, and a file in data/costs a run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import polars as pl

from wattlock.advise.counted_costs import costs_file, isa_of
from wattlock.run.result import Result, open_run
from wattlock.targets import or_this_machine

RESULTS = Path(__file__).parents[1] / "docs" / "results"
BEGIN, END = "<!-- tables -->", "<!-- end of tables -->"
COSTS = Path(str(files("wattlock") / "data" / "costs"))
SEALED_B, OPENED_B = (16, 64, 65, 256, 1024), 1024
HEAD = "| cipher | key setup | {sizes} | flash, B | RAM, B | stack, B |"


def main(names: Sequence[str]) -> None:
    """Writes the page's tables and the files of costs."""
    runs = [run for run in map(open_run, names) if "time" not in run.quantities]
    if len(runs) != len(names) or not runs:
        raise SystemExit("error: name runs that counted\nhint: wattlock run mcu-costs --on qemu:cortex-m4")
    write(runs, RESULTS / "mcu-counts.md", "\n\n".join("\n".join(table(run)) for run in runs))


def write(runs: Iterable[Result], page: Path, tables: str) -> None:
    """A page's tables, and a file a run."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}", encoding="utf-8")
    for run in runs:
        text = costs_file(run, or_this_machine(None), f"docs/results/{page.name}")
        (COSTS / f"{name_of(run)}.toml").write_text(text, encoding="utf-8")


def name_of(run: Result) -> str:
    """The name of its core's file of costs."""
    return f"{isa_of(run)}-counted" + (f"-{run.core.part[0]}" if run.core.part else "")


def table(run: Result) -> Iterator[str]:
    """The rows of one run: a cipher's cycles by the octets of a message, key setup and memory."""
    column = "part_cycles" if run.core.part else "cycles"
    seals = run.estimates.filter(pl.col("operation") == "seal", pl.col("payload_B").is_in(SEALED_B))
    keys = run.estimates.filter(pl.col("operation") == "key_setup")
    setup = dict(keys.select("cipher", column).iter_rows())
    opens = run.estimates.filter(pl.col("operation") == "open", pl.col("payload_B") == OPENED_B)
    opened = dict(opens.select("cipher", column).iter_rows())
    what = "Part cycles, through the flash" if run.core.part else "Core cycles"
    yield f"### {run.core.target}"
    yield ""
    yield f"{what}; the core's rules are within {run.error_percent:g} %. {run.emulator}; {run.compiler}."
    yield ""
    yield HEAD.format(sizes=" | ".join([*(f"seal {size_B:,} B" for size_B in SEALED_B), f"open {OPENED_B:,} B"]))
    yield "|---|" + "---:|" * (len(SEALED_B) + 5)
    for (cipher,), rows in seals.sort("payload_B").group_by("cipher", maintain_order=True):
        cycles = rows[column].to_list()
        memory = rows.select("flash_B", "ram_B", "stack_B").row(-1)
        values = [setup.get(cipher), *cycles, opened.get(cipher), *memory]
        yield f"| `{cipher}` | " + " | ".join("" if one is None else f"{one:,}" for one in values) + " |"


if __name__ == "__main__":
    main(sys.argv[1:])
