"""Exhibits over the packet's size: RC4 against AES, and the sizes of a capture's packets."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import polars as pl

from wattlock.papers.exhibits.cases import QUANTITIES, chosen, drawn, number, sentence, variant
from wattlock.papers.exhibits.costs import NO_JOULES, Show
from wattlock.papers.exhibits.shown import JOULES, QUICK, Material, Panel, Shown, frame
from wattlock.papers.judges.implementations import KEY_BITS
from wattlock.papers.record import Exhibit

KEYINGS = {"ready": "the key ready", "each": "a key for each packet, as in WEP"}
PAIR = ("aes", "rc4")
LARGEST_B = 16384


def over_packets(quantity: str) -> Show:
    """A quantity over the packet's size, a panel with the key ready and one with a key for each packet."""

    def show(exhibit: Exhibit, material: Material) -> Shown:
        panels, findings, missing = [], [], []
        for keying, words in KEYINGS.items():
            rows = _cases(material, keying)
            made = drawn(rows, quantity, "payload_B")
            named = rows.select(named=pl.concat_str(pl.col("family").str.to_uppercase(), pl.lit("-"), "key_bits"))
            if rows["payload_B"].n_unique() < 2 or rows["family"].n_unique() < 2:
                missing.append(f"RC4 and AES over packet sizes, {words}")
                continue
            if made.is_empty():
                missing.append(NO_JOULES)
                continue
            made = made.with_columns(name=named["named"])
            what = sentence(QUANTITIES[quantity].words)
            title = f"{what} of encrypting a packet, {words}"
            panels.append(Panel(title, "lines", made, QUANTITIES[quantity].unit, "packet, bytes"))
            findings.append(_sign(rows, words))
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
    several = pl.col("payload_B").n_unique().over("cipher", "provider") > 1
    return rows.filter(several).sort("family", "cipher", "provider", "payload_B")


def _sign(rows: pl.DataFrame, words: str) -> str:
    """Of each AES-128 where RC4-128 gets cheaper, or that it doesn't."""
    rc4 = rows.filter(pl.col("family") == "rc4", pl.col("key_bits") == KEY_BITS["rc4"]).sort("provider")
    if rc4.is_empty():
        return ""
    own = rc4.filter(pl.col("provider") == rc4["provider"][0])
    cost = dict(own.select("payload_B", "time_ns").iter_rows())
    aes = rows.filter(pl.col("family") == "aes", pl.col("key_bits") == KEY_BITS["aes"])
    sentences = [
        described
        for _, members in aes.group_by("provider", maintain_order=True)
        if (described := _against(members, cost))
    ]
    return f"With {words}, RC4-128's time over AES-128's: {'; '.join(sentences)}." if sentences else ""


def _against(members: pl.DataFrame, cost: Mapping[int, float]) -> str:
    """The ratio at the smallest and the largest packet, and between which sizes it passes 1."""
    pairs = members.select("payload_B", "time_ns").iter_rows()
    ratios = [(size, cost[size] / time) for size, time in pairs if size in cost]
    if not ratios:
        return ""
    (small, first), (large, last) = ratios[0], ratios[-1]
    turns = [f"{a[0]:,} and {b[0]:,} B" for a, b in pairwise(ratios) if (a[1] > 1) != (b[1] > 1)]
    turn = f", equal between {' and '.join(turns)}" if turns else ""
    return f"{variant(members.row(0, named=True))} {number(first)} at {small:,} B, {number(last)} at {large:,} B{turn}"


def capture_sizes(exhibit: Exhibit, material: Material) -> Shown:
    """Frames by their size in bins that double, of the reader's own capture."""
    if not material.capture:
        return Shown(
            exhibit,
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
    finding = (
        f"Of {total:,} frames {share} % have {most['name']}; the paper's hour of 802.11 had most from 64 to 127 B."
    )
    return Shown(exhibit, (Panel("Frames by their size", "bars", frame(rows), "frames"),), finding=finding)
