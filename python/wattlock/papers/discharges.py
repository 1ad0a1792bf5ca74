"""Batteries that discharge in the papers' runs: discharged ones, and by a card where none was."""

from __future__ import annotations

import math

import polars as pl

from wattlock.analysis.draws import COVERAGE
from wattlock.analysis.effects import Ratio
from wattlock.energy.battery_cards import Battery
from wattlock.papers.judges.evidence import Discharge

FAMILIES = ("3des", "blowfish")
MILLION = 1_000_000


def measured(discharges: pl.DataFrame, battery: str) -> list[Discharge]:
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
            Discharge(row["cipher"], row["payload_B"], row["calls"], left, battery, "measured", row["provider"])
        )
    return found


def modelled(estimates: pl.DataFrame, battery: Battery, *, allow_assumed: bool = False) -> list[Discharge]:
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
        discharges.append(Discharge(row["cipher"], row["payload_B"], calls, left, battery.name, kind, row["provider"]))
    return discharges
