"""Exhibits over the packet's size: RC4 against AES, and the sizes of a capture's packets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import polars as pl

from wattlock.papers.exhibits.cases import QUANTITIES, chosen, drawn, number, one_library, sentence, variant
from wattlock.papers.exhibits.costs import NO_JOULES, Show
from wattlock.papers.exhibits.shown import (
    BY_ORIGIN,
    JOULES,
    QUICK,
    Material,
    Panel,
    Shown,
    frame,
    of_the_paper,
)
from wattlock.papers.judges.implementations import KEY_BITS, case_of, grounds
from wattlock.papers.record import Claim, Exhibit

KEYINGS = {"ready": "the key ready", "each": "a key for each packet, as in WEP"}
PAIR = ("aes", "rc4")
SERIES = (("AES-128", "aes", 128), ("AES-192", "aes", 192), ("AES-256", "aes", 256), ("RC4-128", "rc4", 128))
"""What the paper draws; RC4's several keys it doesn't name."""
RATIO = "rc4-aes-small"
PACKET = "packet, bytes"
LARGEST_B = 16384


def over_packets(quantity: str) -> Show:
    """A quantity over the packet's size in one library, a panel with the key ready and one with a key a packet."""

    def show(exhibit: Exhibit, material: Material) -> Shown:
        panels, findings, missing = [], [], []
        marks = _thresholds(exhibit, material)
        for keying, words in KEYINGS.items():
            rows = one_library(_cases(material, keying)).sort("family", "key_bits", "payload_B")
            absent = [name for name, family, bits in SERIES if rows.filter(family=family, key_bits=bits).is_empty()]
            if absent:
                missing.append(f"{', '.join(absent)} over packet sizes, {words}")
            if rows["family"].n_unique() < len(PAIR):
                continue
            made = [
                drawn(members, quantity, "payload_B").with_columns(variant=pl.lit(f"{bits} bits"))
                for (bits,), members in rows.group_by("key_bits", maintain_order=True)
            ]
            if pl.concat(made).is_empty():
                missing.append(NO_JOULES)
                continue
            title = f"{sentence(QUANTITIES[quantity].words)} of encrypting a packet, {words} ({rows['library'][0]})"
            unit = QUANTITIES[quantity].unit
            panels.append(Panel(title, "lines", pl.concat(made), unit, PACKET, marks=marks))
            findings.append(_sign(rows, words))
        if RATIO in exhibit.numbers:
            panels += _over_aes(exhibit, material)
        command = JOULES if missing and set(missing) == {NO_JOULES} else QUICK if missing else ""
        return Shown(
            exhibit,
            tuple(panels),
            finding=" ".join(findings),
            missing=tuple(dict.fromkeys(missing)),
            command=command,
        )

    return show


def _cases(material: Material, keying: str) -> pl.DataFrame:
    rows = chosen(material.estimates, operation="encrypt", data="random", keying=keying)
    rows = rows.filter(pl.col("family").is_in(PAIR), pl.col("payload_B") <= LARGEST_B)
    # A size that one of the two alone has compares nothing.
    rows = rows.filter(pl.col("family").n_unique().over("payload_B") == len(PAIR))
    several = pl.col("payload_B").n_unique().over("cipher", "provider") > 1
    return rows.filter(several).sort("family", "cipher", "provider", "payload_B")


def _thresholds(exhibit: Exhibit, material: Material) -> pl.DataFrame:
    """The size from which the paper holds RC4 preferable."""
    claims = [claim for claim in map(material.papers.claim, exhibit.numbers) if "bytes" in claim.expect]
    return frame(
        [
            {"name": "RC4", "variant": of_the_paper(BY_ORIGIN[claim.origin], "RC4 preferable from")}
            | {"x": float(claim.expect["bytes"]), "evidence": BY_ORIGIN[claim.origin]}
            for claim in claims
        ]
    )


def _over_aes(exhibit: Exhibit, material: Material) -> list[Panel]:
    """RC4's time over AES's by packet size, a key for each packet, in each library; what the paper prints beside."""
    claim = material.papers.claim(RATIO)
    rows = _cases(material, "each")
    rows = rows.filter(pl.col("key_bits") == pl.col("family").replace_strict(KEY_BITS, default=-1))
    made: list[dict[str, Any]] = []
    for _, members in rows.group_by("payload_B", maintain_order=True):
        cases = [case_of(row, row["time_ns"], row["half_width_percent"]) for row in members.iter_rows(named=True)]
        for ground in grounds(cases, PAIR):
            value, low, high = ground.cases["rc4"].over(ground.cases["aes"])
            whose = variant(ground.cases["aes"].row)
            found = {
                "name": whose,
                "variant": whose,
                "x": float(members["payload_B"][0]),
                "value": value,
                "low": low,
                "high": high,
            }
            made.append(found | {"evidence": ground.cases["rc4"].row["time_evidence"]})
    if not made:
        return []
    provenance = BY_ORIGIN[claim.origin]
    smallest = min(row["x"] for row in made)
    mark = {"name": "RC4 over AES", "variant": of_the_paper(provenance, claim.about), "evidence": provenance}
    marks = pl.concat([frame([mark | {"x": smallest, "value": claim.expect["ratio"]}]), _thresholds(exhibit, material)])
    title = "RC4's time over AES's, a key for each packet, by library"
    return [Panel(title, "lines", frame(made).sort("name", "x"), "RC4's time over AES's", PACKET, marks=marks)]


def _sign(rows: pl.DataFrame, words: str) -> str:
    """Where RC4-128 gets cheaper than AES-128, or that it doesn't."""
    both = [
        dict(rows.filter(family=one, key_bits=KEY_BITS[one]).select("payload_B", "time_ns").iter_rows()) for one in PAIR
    ]
    aes, rc4 = both
    ratios = [(size, rc4[size] / aes[size]) for size in sorted(aes) if size in rc4]
    if not ratios:
        return ""
    (small, first), (large, last) = ratios[0], ratios[-1]
    turns = [f"{a[0]:,} and {b[0]:,} B" for a, b in pairwise(ratios) if (a[1] > 1) != (b[1] > 1)]
    turn = f"; equal between {' and '.join(turns)}" if turns else ""
    return (
        f"With {words}, RC4-128 takes {number(first)} of AES-128's time at {small:,} B and {number(last)} at "
        f"{large:,} B{turn}."
    )


def capture_sizes(exhibit: Exhibit, material: Material) -> Shown:
    """Frames by their size in bins that double, of the reader's own capture."""
    if not material.capture:
        return Shown(
            exhibit,
            (_said(*map(material.papers.claim, exhibit.numbers)),),
            missing=("a capture of 802.11 frames, pcap or pcapng",),
            command="wattlock papers --capture FILE.pcap",
        )
    bins: dict[int, int] = {}
    for size_B, frames in material.capture.items():
        bins[size_B.bit_length()] = bins.get(size_B.bit_length(), 0) + frames
    total = sum(bins.values())
    rows = [
        {"name": f"{2 ** (bits - 1):,} to {2**bits - 1:,} B", "x": float(bits), "value": float(bins.get(bits, 0))}
        | {"evidence": "measured", "variant": "capture"}
        for bits in range(min(bins), max(bins) + 1)
    ]
    most = max(rows, key=lambda row: float(row["value"]))  # type: ignore[arg-type]
    share = number(100 * float(most["value"]) / total)  # type: ignore[arg-type]
    (claim,) = map(material.papers.claim, exhibit.numbers)
    low, high = claim.expect["mode_bin"]
    here = f"Of {total:,} frames {share} % have {most['name']}"
    finding = f"{here}; the paper's hour of 802.11 had most from {low} to {high} B."
    panels = (
        Panel("Frames by their size", "bars", frame(rows), "frames"),
        Panel("Frames by their size, and what the paper says of them", "table", _beside(rows, total, claim)),
    )
    return Shown(exhibit, panels, finding=finding)


def _said(claim: Claim) -> Panel:
    """What the paper says of sizes, where there is no capture to hold it to."""
    low, high = claim.expect["mode_bin"]
    kinds = " and ".join(claim.expect["of"])
    head = of_the_paper(BY_ORIGIN[claim.origin]).capitalize()
    rows = [
        {"size": f"{low} to {high} B", head: f"most frames: {kinds}"},
        {"size": f"about {claim.expect['data_about_B']:,} B", head: "data frames"},
    ]
    return Panel("What the paper says", "table", pl.DataFrame(rows))


def _beside(rows: Sequence[Mapping[str, object]], total: int, claim: Claim) -> pl.DataFrame:
    """Bins with the paper's words for those that it speaks of."""
    low, high = claim.expect["mode_bin"]
    data_B = claim.expect["data_about_B"]
    kinds = " and ".join(claim.expect["of"])
    said = {int(low).bit_length(): f"most frames, {low} to {high} B: {kinds}"}
    said[int(data_B).bit_length()] = f"data frames, typically about {data_B:,} B"
    head = of_the_paper(BY_ORIGIN[claim.origin]).capitalize()
    made = [
        {"size": row["name"], "frames": row["value"], "share, %": 100 * float(row["value"]) / total}  # type: ignore[arg-type]
        | {head: said.get(int(row["x"]))}  # type: ignore[call-overload]
        for row in rows
    ]
    return pl.DataFrame(made, infer_schema_length=None)
