"""The claim on what an hour of 802.11 holds: judged by a capture, its frames by kind and size."""

from __future__ import annotations

import math
from collections.abc import Mapping

from wattlock.analysis.distributions import COVERAGE
from wattlock.papers.judge import (
    Bounds,
    ClaimComparison,
    Effect,
    Evidence,
    Ground,
    Judge,
    Judgement,
    amount_band,
    inside,
    judged,
    missing,
)
from wattlock.papers.literature import Claim

COMMAND = "wattlock papers --capture FILE.pcap"
CONTROL = "a capture of the reader's own, by kind of frame; the bins double, so that no bin is favoured by its place"
LONGER = ("a longer capture: this one can't tell", COMMAND)
WHOLE = ("a whole capture: this one ends within a packet, and what is missing may have been otherwise", COMMAND)

Frames = Mapping[tuple[str, int], int]


def packet_sizes(claim: Claim, evidence: Evidence) -> Judgement:
    """The commonest sizes of all frames, whose frames these are, and how large data frames are: all three must hold."""
    capture = evidence.capture
    if capture is None:
        return missing(claim, "a capture of 802.11 frames", COMMAND, CONTROL, "a capture")
    frames = capture.of_80211
    others = sum(capture.frames.values()) - sum(frames.values())
    if not frames:
        needs = f"a capture of 802.11: this one's {others:,} packets are of another medium"
        return missing(claim, needs, COMMAND, CONTROL, "a capture")
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
        control=CONTROL,
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


JUDGES: dict[str, Judge] = {"packet-sizes": packet_sizes}
