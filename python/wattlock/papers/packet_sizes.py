"""The claims and figures on the size of packets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from wattlock.analysis.crossover import FEWEST_SIZES, Crossover, crossover
from wattlock.analysis.distributions import COVERAGE, Array
from wattlock.analysis.effects import Costs, hybrid, ratio
from wattlock.papers.cost_figures import NO_JOULES, Show
from wattlock.papers.exhibit import (
    BY_ORIGIN,
    JOULES,
    QUANTITIES,
    QUICK,
    DrawnExhibit,
    Material,
    Panel,
    chosen,
    drawn,
    frame,
    number,
    of_the_paper,
    one_library,
    sentence,
    variant,
)
from wattlock.papers.implementations import KEY_BITS, CaseCost, ComparableCases, case_of, grounds
from wattlock.papers.judge import (
    NAMES,
    ONE_LIBRARY,
    Bounds,
    ClaimComparison,
    Effect,
    Evidence,
    Ground,
    Judge,
    Judgement,
    PairEffect,
    above,
    amount_band,
    effect_band,
    inside,
    judged,
    judged_by_kind,
    missing,
    of_another_machine,
    on,
    percent_effect,
    ratio_effect,
    together,
)
from wattlock.papers.literature import Claim, Exhibit

DECIDING = "each"
KEYING = {DECIDING: "a key for each packet", "ready": "key ready"}
"""A key for each packet decides: WEP has it, and the claims need it. With the key ready the same stands beside."""
SMALL_B = 64
LARGE_B = 1024
CONTROL = f"the key ready and a key for each packet apart; {ONE_LIBRARY}"
NEEDS = "cases of rc4-128 and aes128-cbc by packet size, with the key ready and with a key for each packet"


def _at(claim: Claim, evidence: Evidence, keying: str, *, small: bool) -> list[ComparableCases]:
    """The grounds at the smallest packet, or the largest."""
    cases = evidence.cases(claim, operation="encrypt", data="random", keying=keying)
    sizes = {case.payload_B for case in cases if case.family == "rc4"}
    sizes &= {case.payload_B for case in cases if case.family == "aes"}
    fit = [size for size in sizes if (size <= SMALL_B if small else size >= LARGE_B)]
    if not fit:
        return []
    size = min(fit) if small else max(fit)
    return grounds([case for case in cases if case.payload_B == size], ["aes", "rc4"])


def small_ratio(claim: Claim, evidence: Evidence) -> Judgement:
    """RC4 over AES at the smallest packet."""
    band = effect_band(claim.expect["ratio"])
    compared = []
    for keying in KEYING:
        for ground in _at(claim, evidence, keying, small=True):
            found = ground.cases["rc4"].over(ground.cases["aes"])
            effect = ratio_effect(f"RC4 over AES at {ground.cases['aes'].payload_B:,} B", found)
            compared.append(
                with_keying(ground, effect, claim.says, keying, holds=inside(found.low, found.high, band), bounds=band)
            )
    return _judge(claim, evidence, compared)


def _order(claim: Claim, evidence: Evidence, *, small: bool) -> list[ClaimComparison]:
    quick, slow = claim.expect["order"]
    compared = []
    for keying in KEYING:
        for ground in _at(claim, evidence, keying, small=small):
            found = ground.cases[slow].over(ground.cases[quick])
            effect = ratio_effect(f"{NAMES[slow]} over {NAMES[quick]} at {ground.cases['aes'].payload_B:,} B", found)
            holds = above(found.low, found.high, 1.0)
            compared.append(with_keying(ground, effect, claim.says, keying, holds=holds, bounds=Bounds(1, None)))
    return compared


def with_keying(
    ground: ComparableCases,
    effect: Effect,
    finding: str,
    keying: str,
    *,
    holds: bool | None,
    bounds: Bounds,
    parts: Sequence[PairEffect] = (),
) -> ClaimComparison:
    """What was found on a ground with this keying: where it is not the deciding one it stands beside."""
    if keying == DECIDING:
        return on(ground, effect, finding, holds=holds, bounds=bounds, where=KEYING[keying], parts=parts)
    return on(ground, effect, "", holds=None, bounds=None, where=KEYING[keying])


def _judge(claim: Claim, evidence: Evidence, compared: Sequence[ClaimComparison], also: str = "") -> Judgement:
    return judged_by_kind(
        claim, evidence.rests_on(claim), [claim.says], compared, control=CONTROL, needs=NEEDS, also=also
    )


def small_order(claim: Claim, evidence: Evidence) -> Judgement:
    """Who costs more on small packets."""
    return _judge(claim, evidence, _order(claim, evidence, small=True))


def large_order(claim: Claim, evidence: Evidence) -> Judgement:
    """Who costs more on large packets."""
    return _judge(claim, evidence, _order(claim, evidence, small=False))


def low_power(claim: Claim, evidence: Evidence) -> Judgement:
    """The same order on a device of low power: a run of a computer says nothing of it."""
    if not evidence.is_of(claim):
        return of_another_machine(claim, evidence, [], control=CONTROL)
    return small_order(claim, evidence)


def crossing(claim: Claim, evidence: Evidence) -> Judgement:
    """From which size on RC4 costs less than AES."""
    band = amount_band(claim.expect["bytes"], claim.tolerance, "B")
    compared, described = [], []
    for keying, words in KEYING.items():
        for ground, rc4, aes in _curves(claim, evidence, keying):
            found = crossover(rc4.payload_B, (rc4.cost, rc4.sigma), (aes.cost, aes.sigma), systematic=rc4.systematic)
            effect = _from_size(found, rc4.payload_B)
            holds = inside(effect.low, effect.high, band)
            if found.payload_B is not None and found.cheaper_above == "b":
                effect = effect._replace(what="the size from which AES is cheaper")
                holds = False if math.isfinite(effect.high) else None
            if found.disagreement:
                described.append(f"{found.by_law_B:.0f} B with {ground.providers}, {words}")
            compared.append(with_keying(ground, effect, claim.says, keying, holds=holds, bounds=band))
    also = f"{BY_LAW} {'; '.join(described)}." if described else ""
    return _judge(claim, evidence, compared, also)


BY_LAW = (
    "These sizes lie between the two measured ones where the cheaper cipher changes. By another method, a straight "
    "line through all of a cipher's sizes, they cross elsewhere where the set-up of a key or a short packet costs more "
    "than its line says:"
)


def _from_size(found: Crossover, sizes_B: Array) -> Effect:
    """From which size on RC4 costs less; where it does at all sizes measured or at none the size lies beyond them.

    Whether they cross at all is for the draws to say: where these are not sure of it the interval is open.
    """
    what = "the size from which RC4 is cheaper"
    least_B, most_B = float(sizes_B[0]), float(sizes_B[-1])
    if found.payload_B is not None and found.low_B is not None and found.high_B is not None:
        is_sure = 1 - found.probability <= MOST_DOUBT
        ends = (found.low_B, found.high_B) if is_sure else (-math.inf, math.inf)
        return Effect(what, "B", found.payload_B, *ends)
    is_sure = found.probability <= MOST_DOUBT
    if found.crossings:  # they cross and cross again: there is no such size, or it is any
        return Effect(what, "B", least_B, least_B, most_B)
    if found.cheaper_above == "a":
        return Effect(what, "B", least_B, -math.inf, least_B if is_sure else most_B)
    return Effect(what, "B", most_B, most_B if is_sure else least_B, math.inf)


MOST_DOUBT = 0.05
"""The share of draws in which two costs may do otherwise than they do."""


def hybrid_policy(claim: Claim, evidence: Evidence) -> Judgement:
    """AES below 100 B and RC4 from there on, over sizes of packets, against the cheaper one alone."""
    from_B = evidence.papers.claim("rc4-aes-crossover").expect["bytes"]
    compared = []
    for keying in KEYING:
        for ground, rc4, aes in _curves(claim, evidence, keying):
            sizes = [float(size) for size in rc4.payload_B if size <= MTU_B]
            alike, costs = [1.0] * len(sizes), {"rc4": rc4, "aes": aes}
            found = hybrid(costs, small="aes", large="rc4", from_B=from_B, payload_B=sizes, weight=alike)
            against = found.against_best
            what = f"what the policy costs over {NAMES[found.best_alone]} alone, at sizes up to {MTU_B} B,"
            saves = above(1.0 - against.high, 1.0 - against.low, 0.0)
            parts = [PairEffect(ALL, percent_effect(what, against), saves), *_at_each_size(rc4, aes, from_B)]
            # All sizes together are told, unless it is a size by itself that decides.
            holds, effect = together(parts, lambda part: math.inf if part.says == ALL else part.effect.value)
            bounds = Bounds(None, 0.0, "%")
            compared.append(with_keying(ground, effect, claim.says, keying, holds=holds, bounds=bounds, parts=parts))
    return judged_by_kind(
        claim,
        evidence.rests_on(claim),
        [claim.says],
        compared,
        control=f"the cheaper cipher alone at the same keying, over all sizes alike and at each by itself; {CONTROL}",
        needs=NEEDS,
        also="802.11 encrypts neither ACKs nor beacons, and two ciphers need separate keys.",
    )


def _at_each_size(rc4: Costs, aes: Costs, from_B: float) -> list[PairEffect]:
    """Whether the policy's cipher is the cheaper one at each size: the claim is of any. About the line neither is."""
    found: list[PairEffect] = []
    for size_B, rc4_cost, aes_cost, *sigmas in zip(
        rc4.payload_B, rc4.cost, aes.cost, rc4.sigma, aes.sigma, strict=True
    ):
        if size_B <= MTU_B and not inside(size_B, size_B, amount_band(from_B)):
            small = size_B < from_B
            quick, slow = ("AES", "RC4") if small else ("RC4", "AES")
            costs = (aes_cost, rc4_cost) if small else (rc4_cost, aes_cost)
            over = ratio(*costs, *sigmas, systematic=rc4.systematic)
            effect = percent_effect(f"what {quick} costs over {slow} at {size_B:,.0f} B", over)
            found.append(PairEffect(f"{quick} at {size_B:,.0f} B", effect, above(1 - over.high, 1 - over.low, 0.0)))
    return found


MTU_B = 1500
ALL = "all sizes"


def _curves(claim: Claim, evidence: Evidence, keying: str) -> list[tuple[ComparableCases, Costs, Costs]]:
    """Of each ground the costs of RC4 and AES by size, where there are enough sizes."""
    cases = evidence.cases(claim, operation="encrypt", data="random", keying=keying)
    by_size: dict[int, list[CaseCost]] = {}
    for case in cases:
        by_size.setdefault(case.payload_B, []).append(case)
    at: dict[tuple[int, bool, str], list[ComparableCases]] = {}
    for size in sorted(by_size):
        for ground in grounds(by_size[size], ["aes", "rc4"]):
            at.setdefault(ground.order, []).append(ground)
    found = []
    for several in at.values():
        if len(several) < FEWEST_SIZES:
            continue
        curves = []
        for family in ("rc4", "aes"):
            line = [ground.cases[family] for ground in several]
            size_B, cost, sigma = (
                np.array([float(getattr(case, name)) for case in line]) for name in ("payload_B", "cost", "sigma")
            )
            curves.append(Costs(size_B, cost, sigma, line[0].systematic))
        found.append((several[0], curves[0], curves[1]))
    return found


KEYINGS = {"ready": "the key ready", "each": "a key for each packet, as in WEP"}
PAIR = ("aes", "rc4")
SERIES = (("AES-128", "aes", 128), ("AES-192", "aes", 192), ("AES-256", "aes", 256), ("RC4-128", "rc4", 128))
"""What the paper draws; RC4's several keys it doesn't name."""
RATIO = "rc4-aes-small"
PACKET = "packet, bytes"
LARGEST_B = 16384


def over_packets(quantity: str) -> Show:
    """A quantity over the packet's size in one library, a panel with the key ready and one with a key a packet."""

    def show(exhibit: Exhibit, material: Material) -> DrawnExhibit:
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
        return DrawnExhibit(
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
        dict(rows.filter(family=side, key_bits=KEY_BITS[side]).select("payload_B", "time_ns").iter_rows())
        for side in PAIR
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


def capture_sizes(exhibit: Exhibit, material: Material) -> DrawnExhibit:
    """Frames by their size in bins that double, of the reader's own capture."""
    if not material.capture:
        return DrawnExhibit(
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
    return DrawnExhibit(exhibit, panels, finding=finding)


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
    kind_words = {int(low).bit_length(): f"most frames, {low} to {high} B: {kinds}"}
    kind_words[int(data_B).bit_length()] = f"data frames, typically about {data_B:,} B"
    head = of_the_paper(BY_ORIGIN[claim.origin]).capitalize()
    made = [
        {"size": row["name"], "frames": row["value"], "share, %": 100 * float(row["value"]) / total}  # type: ignore[arg-type]
        | {head: kind_words.get(int(row["x"]))}  # type: ignore[call-overload]
        for row in rows
    ]
    return pl.DataFrame(made, infer_schema_length=None)


COMMAND = "wattlock papers --capture FILE.pcap"
CAPTURE_CONTROL = (
    "a capture of the reader's own, by kind of frame; the bins double, so that no bin is favoured by its place"
)
LONGER = ("a longer capture: this one can't tell", COMMAND)
WHOLE = ("a whole capture: this one ends within a packet, and what is missing may have been otherwise", COMMAND)

Frames = Mapping[tuple[str, int], int]


def packet_sizes(claim: Claim, evidence: Evidence) -> Judgement:
    """The commonest sizes of all frames, whose frames these are, and how large data frames are: all three must hold."""
    capture = evidence.capture
    if capture is None:
        return missing(claim, "a capture of 802.11 frames", COMMAND, CAPTURE_CONTROL, "a capture")
    frames = capture.of_80211
    others = sum(capture.frames.values()) - sum(frames.values())
    if not frames:
        needs = f"a capture of 802.11: this one's {others:,} packets are of another medium"
        return missing(claim, needs, COMMAND, CAPTURE_CONTROL, "a capture")
    lost = sum(capture.left_out.values())
    low, high = claim.expect["mode_bin"]
    parts = [_commonest(frames, low, high, lost), _whose(frames, low, high, claim.expect["of"], lost)]
    about = amount_band(claim.expect["data_about_B"], claim.tolerance, "B")
    parts += [_data(frames, about, lost)] if any(kind == "data" for kind, _ in frames) else []
    if capture.is_cut:
        parts = [part._replace(holds=None) for part in parts]
    of_another = f"{others:,} packets of another medium are left out." if others else ""
    return judged(
        claim,
        "a capture",
        sorted(parts, key=lambda part: (False, None, True).index(part.holds)),
        control=CAPTURE_CONTROL,
        needs="",
        also=" ".join(sentence for sentence in (capture.left_out_sentence, of_another) if sentence),
        ground=Ground("a capture", WHOLE if capture.is_cut else LONGER),
    )


def _commonest(frames: Frames, low: int, high: int, lost: int) -> ClaimComparison:
    """The lead of the claimed bin over the next, in percent of all frames; of the lost ones each may be of either."""
    bins: dict[int, int] = {}
    for (_, size_B), count in frames.items():
        bins[size_B.bit_length()] = bins.get(size_B.bit_length(), 0) + count
    commonest = bins.pop(low.bit_length(), 0)
    other = max(bins.values(), default=0)
    total = commonest + sum(bins.values())
    # Of two counts of frames the difference is known to the root of their sum (Poisson).
    lead, width = 100 * (commonest - other) / total, 100 * (COVERAGE * math.sqrt(commonest + other) + lost) / total
    effect = Effect(
        f"the lead of {low} to {high} B over the commonest other bin", "%", lead, lead - width, lead + width
    )
    return _compared(f"{total:,} frames of all kinds", effect, Bounds(0, None, "%"))


def _whose(frames: Frames, low: int, high: int, kinds: list[str], lost: int) -> ClaimComparison:
    """What share of the frames in the claimed bin are of these kinds (Wilson's interval, with the lost ones)."""
    inside_bin = {key: count for key, count in frames.items() if low <= key[1] <= high}
    total = sum(inside_bin.values())
    mine = sum(count for (kind, _), count in inside_bin.items() if kind in kinds)
    what = f"the share of {' and '.join(kinds)} among frames of {low} to {high} B"
    ends = (_wilson(mine, total + lost)[0], _wilson(mine + lost, total + lost)[1])
    share = mine / total if total else math.nan
    effect = Effect(what, "%", *(100 * share_end for share_end in (share, *ends)))
    return _compared(f"{total:,} frames", effect, Bounds(50, None, "%"))


def _wilson(successes: int, trials: int) -> tuple[float, float]:
    """E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927)."""
    if not trials:
        return 0.0, 1.0
    share, z = successes / trials, COVERAGE
    middle = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return max(0.0, middle - half), min(1.0, middle + half)


def _data(frames: Frames, about: Bounds, lost: int) -> ClaimComparison:
    """The median size of the data frames, its interval by ranks, with the lost ones at either end."""
    sizes = sorted((size_B, count) for (kind, size_B), count in frames.items() if kind == "data")
    total = sum(count for _, count in sizes)
    half = (COVERAGE * math.sqrt(total) + lost) / 2
    ends = (_at_rank(sizes, total / 2 - half), _at_rank(sizes, total / 2), _at_rank(sizes, total / 2 + half))
    effect = Effect("the median size of the data frames", "B", ends[1], ends[0], ends[2])
    return _compared(f"{total:,} data frames", effect, about)


def _at_rank(sizes: list[tuple[int, int]], rank: float) -> float:
    for size_B, count in sizes:
        rank -= count
        if rank <= 0:
            return float(size_B)
    return float(sizes[-1][0])


def _compared(cases: str, effect: Effect, bounds: Bounds) -> ClaimComparison:
    return ClaimComparison("capture", cases, effect, inside(effect.low, effect.high, bounds), bounds)


JUDGES: dict[str, Judge] = {
    "rc4-aes-small": small_ratio,
    "rc4-small-cpu": small_order,
    "rc4-aes-large": large_order,
    "rc4-aes-crossover": crossing,
    "hybrid-saves": hybrid_policy,
    "aes-low-power-devices": low_power,
    "packet-sizes": packet_sizes,
}
