"""What the papers print as ratios between two ciphers, and the same ratios here, library by library."""

from __future__ import annotations

import polars as pl

from wattlock.papers.exhibits.cases import NAMES
from wattlock.papers.exhibits.shown import BY_ORIGIN, Material, Panel, frame, of_the_paper
from wattlock.papers.judges.implementations import ERA, SHORT, Ground, case_of, grounds
from wattlock.papers.record import Claim, Exhibit


def panel(exhibit: Exhibit, material: Material, rows: pl.DataFrame) -> list[Panel]:
    """The ratios that stand beside an exhibit: nothing where the paper prints none.

    * `rows`: the cases that it draws, of the papers' keys. Both ciphers of a ratio are of one library.
    * Energy is read as in the papers' own model, E = V * I * T: as time, but where a meter measured it.
    """
    claims = [claim for claim in map(material.papers.claim, exhibit.numbers) if "numerator" in claim.expect]
    if not claims:
        return []
    metered = "energy_evidence" in rows.columns and rows["energy_evidence"].to_list() == ["measured"] * rows.height
    cost = "energy_uJ" if metered and rows["energy_uJ"].null_count() == 0 else "time_ns"
    cases = [case_of(row, row[cost], row["half_width_percent"]) for row in rows.iter_rows(named=True)]
    made, marks = [], []
    for claim in claims:
        named, printed, upside_down = _named(claim)
        pair = (claim.expect["numerator"], claim.expect["denominator"])
        for ground in grounds(cases, pair):
            over, under = (ground.cases[family] for family in (reversed(pair) if upside_down else pair))
            value, low, high = over.over(under)
            found = {"name": named, "variant": _whose(ground), "value": value, "low": low, "high": high}
            made.append({**found, "evidence": over.row["time_evidence" if cost == "time_ns" else "energy_evidence"]})
        provenance = BY_ORIGIN[claim.origin]
        what = "throughput" if upside_down else claim.about
        mark = {"name": named, "variant": of_the_paper(provenance, what), "value": printed, "evidence": provenance}
        marks.append(mark)
    if not made:
        return []
    of = "energy" if cost == "energy_uJ" else "time"
    title = f"The paper's ratios, and the {of} of the same ciphers here"
    # Of a paper that prints one ratio twice, in two wordings, one mark stands.
    return [
        Panel(
            title,
            "dots",
            frame(made),
            f"one cipher's {of} over the other's",
            marks=frame(marks).unique(maintain_order=True),
        )
    ]


def _named(claim: Claim) -> tuple[str, float, bool]:
    """The row of a ratio, the printed figure, and whether it is one of throughput: of time the other way round."""
    over, under = (NAMES[claim.expect[side]] for side in ("numerator", "denominator"))
    if "throughput_ratio" in claim.expect:
        return f"{under} over {over}", claim.expect["throughput_ratio"], True
    return f"{over} over {under}", claim.expect["ratio"], False


def _whose(ground: Ground) -> str:
    return ground.library if ground.kind == ERA else f"{ground.library}, {SHORT[ground.kind]}"
