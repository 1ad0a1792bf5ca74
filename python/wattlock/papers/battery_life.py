"""The claims and the figure on a battery's life, by discharges or by a model of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from wattlock.analysis.distributions import COVERAGE
from wattlock.analysis.effects import Ratio
from wattlock.energy.battery_cards import Battery
from wattlock.papers.exhibit import BY_ORIGIN, NAMES, DrawnExhibit, Material, Panel, frame, number, of_the_paper
from wattlock.papers.judge import (
    Bounds,
    ClaimComparison,
    DischargeCurve,
    Effect,
    Evidence,
    Ground,
    Judge,
    Judgement,
    amount_band,
    inside,
    judged,
    of_another_machine,
)
from wattlock.papers.literature import Claim, Exhibit

COMMAND = "wattlock papers --length battery --device x86-server-assumed --allow-assumed"

UNSURE = ("a battery and joules that are known better: this interval holds both", COMMAND)

FILE_B = 5_000_000


def three_des(claim: Claim, evidence: Evidence) -> Judgement:
    """What is left after so many encryptions of a file with 3DES."""
    band = amount_band(claim.expect["left_percent"], unit="%")
    compared = []
    for discharge in _of(evidence.discharges, "3des", FILE_B):
        left = _scaled(discharge, claim.expect["encryptions"], FILE_B)
        effect = Effect(f"what is left after {claim.expect['encryptions']} encryptions of 5 MB", "%", *left)
        compared.append(_compared(discharge, effect, band))
    return _judged(
        claim, evidence, compared, "the case of 3DES alone; that the rest goes rapidly needs the whole curve"
    )


def blowfish(claim: Claim, evidence: Evidence) -> Judgement:
    """What one encryption of 13.6 KB takes out of a battery, and by how many orders of magnitude that misses."""
    claimed, size_B = claim.expect["drained_percent"], claim.expect["bytes"]
    band = amount_band(claimed, unit="%")
    compared, also = [], ""
    for discharge in _of(evidence.discharges, "blowfish", size_B):
        left = _scaled(discharge, 1, size_B)
        drained = Ratio(100 - left.value, 100 - left.high, 100 - left.low)
        effect = Effect("what one encryption of 13.6 KB drains", "%", *drained)
        compared.append(_compared(discharge, effect, band))
        if drained.value > 0:
            orders = math.log10(claimed / drained.value)
            also = also or f"The claim is {orders:.1f} orders of magnitude away."
    return _judged(
        claim, evidence, compared, "the same case a million times, so that the discharge can be seen at all", also
    )


def _of(discharges: Iterable[DischargeCurve], family: str, size_B: int) -> list[DischargeCurve]:
    """The falls of a family, measured ones first, the nearest size first."""
    mine = [curve for curve in discharges if curve.cipher.startswith(family)]
    return sorted(
        mine, key=lambda curve: (curve.evidence != "measured", abs(math.log(curve.payload_B / size_B)), curve.battery)
    )


def _scaled(discharge: DischargeCurve, calls: int, size_B: int) -> Ratio:
    """What so many calls leave, in proportion to the bytes; a battery can't hold less than nothing."""
    times = calls * size_B / (discharge.calls * discharge.payload_B)
    return Ratio(*(max(0.0, 100 - times * (100 - percent)) for percent in discharge.left_percent))


def _compared(discharge: DischargeCurve, effect: Effect, band: Bounds) -> ClaimComparison:
    holds = inside(effect.low, effect.high, band)
    return ClaimComparison(f"battery {discharge.battery}, {discharge.evidence}", discharge.case, effect, holds, band)


def _judged(
    claim: Claim, evidence: Evidence, compared: list[ClaimComparison], control: str, also: str = ""
) -> Judgement:
    kinds = sorted({discharge.evidence for discharge in evidence.discharges})
    origin = (
        " and ".join(f"{'an' if kind == 'assumed' else 'a'} {kind} discharge of a battery" for kind in kinds)
        or "nothing"
    )
    if "measured" not in kinds and kinds:
        origin += ", where the paper discharged one"
    needs = "a battery to empty, measured or by its card"
    if not evidence.is_of(claim):
        found = of_another_machine(claim, evidence, compared[:1], control=control, basis="a battery")
        return replace(found, sentence=f"{found.sentence} {also}".strip())
    return judged(
        claim,
        origin,
        compared,
        control=control,
        needs=needs,
        command=COMMAND,
        also=also,
        ground=Ground("a battery", UNSURE, bool(compared) and not compared[0].implementation.endswith(", measured")),
    )


ANOTHER = "wattlock papers --battery laptop-57wh --device x86-server-assumed --allow-assumed"

CLAIM = "3des-battery"

EMPTY_PERCENT = 1

POINTS, FIRST_POINTS = 40, 5

MEGABYTES = 5

WANTED = ("cast", "idea", "3des")

WIDE = 20
"""Encryptions beyond so many times the paper's stand on a logarithmic axis."""


def _cited(claim: Claim) -> Panel:
    """The papers' one point, where nothing of ours can stand beside it."""
    point = {"encryptions of 5 MB by 3DES": claim.expect["encryptions"], "charge left, %": claim.expect["left_percent"]}
    return Panel("What the papers say", "table", pl.DataFrame([{"of": of_the_paper(BY_ORIGIN[claim.origin]), **point}]))


def _name(task: str) -> str:
    """`cast128-cbc` as CAST-128."""
    bare = task.removesuffix("-cbc").removesuffix("128")
    return NAMES.get(bare, bare.upper()) + ("-128" if task.startswith(("aes128", "cast128")) else "")


def _thinned(curves: pl.DataFrame) -> pl.DataFrame:
    """Of each line as many points as a curve needs, its ends among them."""
    count, place = pl.len().over("task"), pl.int_range(pl.len()).over("task")
    step = (count // POINTS).clip(1)
    return curves.filter((place % step == 0) | (place < FIRST_POINTS) | (place == count - 1))


def discharge(exhibit: Exhibit, material: Material) -> DrawnExhibit:
    """What is left of a battery over encryptions of a 5 MB file, a line a cipher."""
    curves, claim = material.curves, material.papers.claim(CLAIM)
    if curves is None or curves.is_empty():
        if material.no_battery:
            return DrawnExhibit(
                exhibit, (_cited(claim),), missing=(f"a battery: {material.no_battery}",), command=ANOTHER
            )
        lacking = ", ".join(NAMES[quantity] for quantity in WANTED)
        return DrawnExhibit(
            exhibit, (_cited(claim),), missing=(f"joules of {lacking} and a battery's card",), command=COMMAND
        )
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
    missing = tuple(NAMES[quantity] for quantity in WANTED if quantity not in tasks)
    absent = (f"{', '.join(missing)}: joules of encrypting",) if missing else ()
    return DrawnExhibit(exhibit, (panel,), finding=finding, missing=absent, command=COMMAND if missing else "")


JUDGES: dict[str, Judge] = {"3des-battery": three_des, "blowfish-battery": blowfish}


FAMILIES = ("3des", "blowfish")
MILLION = 1_000_000


def measured(discharges: pl.DataFrame, battery: str) -> list[DischargeCurve]:
    """The discharges of a battery that was discharged.

    * `discharges`: a run's, with `cipher`, `provider`, `operation`, `payload_B`; what the gauge can't tell is left out.
    * Of each fall the share drawn counts, as if it had begun at a full battery.
    """
    described = discharges.filter(
        (pl.col("state") == "resolved") & (pl.col("operation") == "encrypt") & pl.col("drawn_percent").is_not_null()
    )
    found = []
    for row in described.iter_rows(named=True):
        drawn, half = row["drawn_percent"], row["drawn_percent_half_width"]
        left = Ratio(100 - drawn, 100 - drawn - half, 100 - drawn + half)
        found.append(
            DischargeCurve(row["cipher"], row["payload_B"], row["calls"], left, battery, "measured", row["provider"])
        )
    return found


def modelled(estimates: pl.DataFrame, battery: Battery, *, allow_assumed: bool = False) -> list[DischargeCurve]:
    """What the joules of a run take out of a battery, in proportion to its charge times its voltage.

    * `estimates`: with the energy columns; cases of the papers' battery claims that encrypt with a key that is ready.
    * Of each cipher the largest payload counts, by its byte; a discharge is that of a million calls, or of half a
      battery.
    * The joules are those of the machine that ran, not of the handheld that the battery is from.

    Raises EvidenceError where the card has numbers that nobody verified and `allow_assumed` is not given.
    """
    evidence = battery.require("linear", [], allow_assumed=allow_assumed)
    capacity, voltage = battery.card.capacity, battery.card.voltage
    whole_J = capacity.in_SI * voltage.in_SI
    width = COVERAGE * math.hypot(capacity.log_sigma, voltage.log_sigma)
    rows = estimates.filter(
        pl.col("family").is_in(FAMILIES)
        & (pl.col("operation") == "encrypt")
        & (pl.col("keying") == "ready")
        & (pl.col("encoding") == "raw")
        & pl.col("energy_uJ").is_not_null()
        & (pl.col("payload_B") > 0)
    ).sort("family", "cipher", "provider", "payload_B", maintain_order=True)
    discharges = []
    for row in rows.unique(["cipher", "provider"], keep="last", maintain_order=True).iter_rows(named=True):
        calls = max(1, min(MILLION, int(whole_J / 2 / (row["energy_uJ"] * 1e-6))))
        share = calls * row["energy_uJ"] * 1e-6 / whole_J
        down = math.hypot(width, math.log(row["energy_uJ"] / row["energy_low_uJ"]))
        up = math.hypot(width, math.log(row["energy_high_uJ"] / row["energy_uJ"]))
        left = Ratio(*(100 * (1 - share * math.exp(off)) for off in (0.0, up, -down)))
        kind = "assumed" if "assumed" in {evidence, row["energy_evidence"]} else "modelled"
        discharges.append(
            DischargeCurve(row["cipher"], row["payload_B"], calls, left, battery.name, kind, row["provider"])
        )
    return discharges
