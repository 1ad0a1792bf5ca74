"""The exhibit of batteries that empty."""

from __future__ import annotations

import polars as pl

from wattlock.papers.exhibits.cases import NAMES, number
from wattlock.papers.exhibits.shown import BY_ORIGIN, Material, Panel, Shown, frame, of_the_paper
from wattlock.papers.record import Claim, Exhibit

WANTED = ("cast", "idea", "3des")
COMMAND = "wattlock papers --length battery --device x86-server-assumed --allow-assumed"
ANOTHER = "wattlock papers --battery laptop-57wh --device x86-server-assumed --allow-assumed"
MEGABYTES = 5
EMPTY_PERCENT = 1
POINTS, FIRST_POINTS = 40, 5
CLAIM = "3des-battery"
WIDE = 20
"""Encryptions beyond so many times the paper's stand on a logarithmic axis."""


def _name(task: str) -> str:
    """`cast128-cbc` as CAST-128."""
    bare = task.removesuffix("-cbc").removesuffix("128")
    return NAMES.get(bare, bare.upper()) + ("-128" if task.startswith(("aes128", "cast128")) else "")


def _cited(claim: Claim) -> Panel:
    """The papers' one point, where nothing of ours can stand beside it."""
    point = {"encryptions of 5 MB by 3DES": claim.expect["encryptions"], "charge left, %": claim.expect["left_percent"]}
    return Panel("What the papers say", "table", pl.DataFrame([{"of": of_the_paper(BY_ORIGIN[claim.origin]), **point}]))


def _thinned(curves: pl.DataFrame) -> pl.DataFrame:
    """Of each line as many points as a curve needs, its ends among them."""
    count, place = pl.len().over("task"), pl.int_range(pl.len()).over("task")
    every = (count // POINTS).clip(1)
    return curves.filter((place % every == 0) | (place < FIRST_POINTS) | (place == count - 1))


def discharge(exhibit: Exhibit, material: Material) -> Shown:
    """What is left of a battery over encryptions of a 5 MB file, a line a cipher."""
    curves, claim = material.curves, material.papers.claim(CLAIM)
    if curves is None or curves.is_empty():
        if material.no_battery:
            return Shown(exhibit, (_cited(claim),), missing=(f"a battery: {material.no_battery}",), command=ANOTHER)
        lacking = ", ".join(NAMES[one] for one in WANTED)
        return Shown(exhibit, (_cited(claim),), missing=(f"joules of {lacking} and a battery's card",), command=COMMAND)
    printed = float(claim.expect["encryptions"])
    most = curves["operations"].max()
    # Where the fall goes far beyond the paper's, a logarithmic axis shows both; it has no 0.
    is_wide = isinstance(most, int | float) and most > WIDE * printed
    rows = [
        {
            "name": _name(row["task"]),
            "variant": row["battery"],
            "x": float(row["operations"]),
            "value": float(row["level_percent"]),
            "evidence": row["evidence"],
        }
        for row in _thinned(curves).iter_rows(named=True)
        if row["operations"] or not is_wide
    ]
    provenance = BY_ORIGIN[claim.origin]
    mark = {"name": NAMES["3des"], "variant": of_the_paper(provenance, "a handheld by 3DES"), "evidence": provenance}
    marks = frame([mark | {"x": printed, "value": float(claim.expect["left_percent"])}])
    title = f"Charge left over encryptions of {MEGABYTES} MB"
    panel = Panel(title, "lines", frame(rows), "charge left, %", "encryptions", marks=marks)
    ends = (
        curves.group_by("task", maintain_order=True)
        .agg(pl.col("operations").max(), first=pl.col("level_percent").first(), last=pl.col("level_percent").last())
        .sort("operations")
    )
    empty, stopped = (ends.filter((pl.col("last") < EMPTY_PERCENT) == is_so) for is_so in (True, False))
    described = []
    if empty.height:
        counts = [f"{number(row['operations'])} with {_name(row['task'])}" for row in empty.iter_rows(named=True)]
        described.append(f"encryptions of 5 MB until it is empty: {', '.join(counts)}")
    described += [
        f"{round(row['operations']):,} encryptions with {_name(row['task'])} took it from {row['first']:.0f} to "
        f"{row['last']:.0f} %"
        for row in stopped.iter_rows(named=True)
    ]
    finding = (
        f"Of {curves['battery'][0]}, {'; '.join(described)}; the papers tell of {printed:.0f} with 3DES that left "
        f"{claim.expect['left_percent']} %."
    )
    tasks = " ".join(ends["task"].to_list()).lower()
    missing = tuple(NAMES[one] for one in WANTED if one not in tasks)
    absent = (f"{', '.join(missing)}: joules of encrypting",) if missing else ()
    return Shown(exhibit, (panel,), finding=finding, missing=absent, command=COMMAND if missing else "")
