"""Claims on Rijndael by block and key."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from wattlock.analysis.draws import COVERAGE, ends
from wattlock.analysis.effects import mean
from wattlock.analysis.front import front, least_for_each, probability
from wattlock.analysis.prediction import FEWEST_PAIRS, least_r_squared, predict
from wattlock.papers.judges.compose import Judge, judged_by_kind
from wattlock.papers.judges.evidence import Evidence
from wattlock.papers.judges.implementations import ERA, Case, Kind, by_library, largest
from wattlock.papers.judges.verdict import (
    Bounds,
    Compared,
    Effect,
    Judgement,
    Part,
    above,
    amount_band,
    effect_band,
    inside,
    percent_band,
    percent_effect,
    ratio_effect,
    together,
)
from wattlock.papers.record import Claim

OPERATIONS = ("encrypt", "decrypt")
SIZES = (128, 192, 256)
"""Bits of blocks and keys."""
Grid = dict[tuple[int, int], Case]
NEEDS = "the nine cases of rijndael by block and key, encrypting and decrypting"


class Nine(NamedTuple):
    """The nine cases of a library's code of one kind, by block and key."""

    kind: Kind
    library: str
    grid: Grid

    @property
    def provider(self) -> str:
        """Whose code it is."""
        return next(iter(self.grid.values())).provider

    @property
    def systematic(self) -> bool:
        """Whether the errors of the nine have one cause."""
        return next(iter(self.grid.values())).systematic

    def compared(
        self, effect: Effect, finding: str, *, holds: bool | None, bounds: Bounds, parts: Sequence[Part] = ()
    ) -> Compared:
        """What was found for a finding."""
        return Compared(self.kind, self.provider, effect, holds, bounds, self.library, finding, tuple(parts))


def _grids(claim: Claim, evidence: Evidence, operation: str) -> list[Nine]:
    """Of each library and kind that has all nine: the cases by block and key, at the largest payload."""
    found = []
    cases = evidence.cases(claim, operation=operation, data="random")
    mine = largest(cases, lambda one: one.cipher.startswith("rijndael") and one.row["mode"] == "cbc")
    for (kind, library), several in by_library(mine).items():
        grid: Grid = {}
        for case in several:
            grid.setdefault((case.block_bits, case.key_bits), case)
        grid = {place: case for place, case in grid.items() if set(place) <= set(SIZES)}
        if len(grid) == len(SIZES) ** 2:
            found.append(Nine(kind, library, grid))
    return found


def printed(evidence: Evidence, operation: str) -> dict[tuple[int, int], float]:
    """The paper's own battery percentages by block and key."""
    rows = evidence.papers.toldinas.rijndael
    return {(one.block_bits, one.key_bits): getattr(one, f"{operation}_battery_percent") for one in rows}


def _printed_least(evidence: Evidence) -> str:
    described = []
    for operation in OPERATIONS:
        table = printed(evidence, operation)
        places, costs = list(table), list(table.values())
        keys, blocks = [key for _, key in places], [block for block, _ in places]
        least = [f"{b}/{k}" for (b, k), on in zip(places, least_for_each(keys, costs), strict=True) if on]
        on_front = [f"{b}/{k}" for (b, k), on in zip(places, front(costs, keys, blocks), strict=True) if on]
        described.append(f"to {operation} {', '.join(least)} (on the general front {', '.join(on_front)})")
    return f"The paper's own tables have {'; '.join(described)}."


def _printed_profiles(evidence: Evidence) -> str:
    described = []
    for operation in OPERATIONS:
        table = printed(evidence, operation)
        steps = (100 * (table[upper, upper] / table[lower, lower] - 1) for lower, upper in ((128, 192), (192, 256)))
        described.append(f"to {operation} {' and '.join(f'{step:+.1f} %' for step in steps)}")
    return f"The paper's own tables give {'; '.join(described)}."


def _printed_prediction(evidence: Evidence) -> str:
    found = predict(*(list(printed(evidence, operation).values()) for operation in OPERATIONS))
    return (
        f"The paper's own tables give a ratio of {found.ratio:.3f} and R^2 = {found.r_squared:.3f}; a case left out is "
        f"predicted within {found.left_out_percent:.1f} %, {found.worst_left_out_percent:.1f} % at worst."
    )


def pareto(claim: Claim, evidence: Evidence) -> Judgement:
    """For each key the least energy at a block of equal size: before each other block, both ways."""
    wanted = {key: block for block, key in claim.expect["block_of_key"]}
    findings = {operation: f"to {operation}" for operation in OPERATIONS}
    compared, described = [], []
    for operation, finding in findings.items():
        for nine in _grids(claim, evidence, operation):
            grid = nine.grid
            parts = [_block(grid, place, wanted[place[1]], operation) for place in grid if place[0] != wanted[place[1]]]
            holds, effect = together(parts, lambda part: -part.effect.value)
            compared.append(nine.compared(effect, finding, holds=holds, bounds=Bounds(1, None), parts=parts))
            if nine.kind != ERA:
                continue
            places, costs, sigmas = list(grid), [c.cost for c in grid.values()], [c.sigma for c in grid.values()]
            keys = [key for _, key in places]
            least = [f"{b}/{k}" for (b, k), on in zip(places, least_for_each(keys, costs), strict=True) if on]
            chances = probability(costs, sigmas, keys, [block for block, _ in places])
            on_front = [f"{b}/{k}" for (b, k), p in zip(places, chances, strict=True) if p >= 1 / 2]
            described.append(
                f"To {operation} with {nine.provider} the least by block/key are {', '.join(least)}; on the general "
                f"front of energy, key and block are {', '.join(on_front)}"
            )
    return judged_by_kind(
        claim,
        evidence.rests_on(claim),
        list(findings.values()),
        compared,
        control="an interval for each block over the claimed one; the block as a strength beside the paper's own rule",
        needs=NEEDS,
        also=" ".join([*(f"{one}." for one in described), _printed_least(evidence)]),
    )


def _block(grid: Grid, place: tuple[int, int], claimed: int, operation: str) -> Part:
    """Whether another block than the claimed one costs more with the same key."""
    block, key = place
    found = grid[place].over(grid[claimed, key])
    effect = ratio_effect(f"block {block} over block {claimed} with a key of {key} bits, to {operation},", found)
    return Part(f"key {key}: block {claimed} before {block}", effect, above(found.low, found.high, 1.0))


STEPS = (
    ("medium over low", 192, 128, "medium_vs_low_percent"),
    ("high over medium", 256, 192, "high_vs_medium_percent"),
)


def profiles(claim: Claim, evidence: Evidence) -> Judgement:
    """Medium over low and high over medium, in percent, both ways."""
    compared = []
    steps = [(f"{step[0]}, to {operation}", operation, step) for operation in OPERATIONS for step in STEPS]
    for finding, operation, (_, upper, lower, key) in steps:
        band = percent_band(claim.expect[key])
        for nine in _grids(claim, evidence, operation):
            found = nine.grid[upper, upper].over(nine.grid[lower, lower])
            holds = inside(*found.percent[1:], band)
            compared.append(nine.compared(percent_effect(f"{finding},", found), finding, holds=holds, bounds=band))
    return judged_by_kind(
        claim,
        evidence.rests_on(claim),
        [finding for finding, *_ in steps],
        compared,
        control="both directions; an interval for each step; the paper measured battery percentages of two digits",
        needs=NEEDS,
        also=_printed_profiles(evidence),
    )


MORE, PREDICTED = "decryption takes about 14 % more", "it is predicted from encryption"


def decryption(claim: Claim, evidence: Evidence) -> Judgement:
    """Decryption over encryption, and how well it is predicted."""
    encrypting, decrypting = (
        {(nine.kind, nine.library): nine for nine in _grids(claim, evidence, operation)} for operation in OPERATIONS
    )
    compared, described = [], []
    for name, nine in encrypting.items():
        if name not in decrypting:
            continue
        grid, back = nine.grid, decrypting[name].grid
        sides = [[one[place].cost for place in grid] for one in (grid, back)]
        if len(set(sides[0])) < FEWEST_PAIRS:
            continue
        more = mean([back[place].over(grid[place]) for place in grid], systematic=nine.systematic)
        band = effect_band(claim.expect["ratio"])
        effect = ratio_effect("decryption over encryption", more)
        compared.append(nine.compared(effect, MORE, holds=inside(more.low, more.high, band), bounds=band))
        compared.append(_predicted(nine, back, claim.expect["r_squared"]))
        found = predict(*sides)
        described.append(
            f"With {nine.provider} a case left out is predicted within {found.left_out_percent:.1f} % (root mean "
            f"square), {found.worst_left_out_percent:.1f} % at worst"
        )
    return judged_by_kind(
        claim,
        evidence.rests_on(claim),
        [MORE, PREDICTED],
        compared,
        control="the error of cases left out, which R^2 of the fitted ones hides",
        needs=NEEDS,
        also=" ".join([*(f"{one}." for one in described), _printed_prediction(evidence)]),
    )


def _predicted(nine: Nine, back: Grid, claimed: float) -> Compared:
    """Whether R^2 comes near the claimed one; more is as good."""
    sides = [[grid[place] for place in nine.grid] for grid in (nine.grid, back)]
    found = predict(*([case.cost for case in side] for side in sides))
    if nine.systematic:
        both_ends = (ends([case.cost for case in side], [case.sigma for case in side]) for side in sides)
        low_high = (least_r_squared(*((low, high) for low, high in both_ends)), 1.0)
    else:
        low_high = _fisher(found.r_squared, found.pairs)
    effect = Effect("R^2 of decryption by encryption", "1", found.r_squared, *low_high)
    bounds = Bounds(amount_band(claimed).low, 1)
    holds = inside(effect.low, effect.high, bounds)
    return nine.compared(effect, PREDICTED, holds=holds, bounds=bounds)


def _fisher(r_squared: float, pairs: int) -> tuple[float, float]:
    """Fisher's 95 % interval of a correlation, squared; one that may be none reaches down to none."""
    z = math.atanh(min(math.sqrt(r_squared), 1 - 1e-12))
    low, high = (math.tanh(z + side * COVERAGE / math.sqrt(pairs - 3)) for side in (-1, 1))
    return max(low, 0.0) ** 2, high**2


JUDGES: dict[str, Judge] = {
    "rijndael-pareto": pareto,
    "rijndael-profiles": profiles,
    "decrypt-vs-encrypt": decryption,
}
