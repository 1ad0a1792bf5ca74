"""Claims on Rijndael by block and key."""

from __future__ import annotations

import math

import numpy as np

from wattlock.analysis.draws import COVERAGE
from wattlock.analysis.effects import mean
from wattlock.analysis.front import front, least_for_each, probability, probability_of_least
from wattlock.analysis.prediction import FEWEST_PAIRS, predict
from wattlock.papers.judges.compose import Judge, judged
from wattlock.papers.judges.evidence import IMPLEMENTATIONS, Case, Evidence, largest
from wattlock.papers.judges.verdict import (
    Bounds,
    Compared,
    Effect,
    Judgement,
    all_hold,
    amount_band,
    effect_band,
    inside,
    percent_band,
    percent_effect,
    ratio_effect,
    within,
)
from wattlock.papers.record import Claim

OPERATIONS = ("encrypt", "decrypt")
SURE = 0.95
Grid = dict[tuple[int, int], Case]
NEEDS = "the nine cases of rijndael by block and key, encrypting and decrypting"


def _grids(claim: Claim, evidence: Evidence, operation: str) -> dict[str, Grid]:
    """Of each provider that has all nine: the cases by block and key, at the largest payload."""
    found: dict[str, Grid] = {}
    cases = evidence.cases(claim, operation=operation, data="random")
    for case in largest(cases, lambda one: one.cipher.startswith("rijndael") and one.row["mode"] == "cbc"):
        found.setdefault(case.provider, {})[case.block_bits, case.key_bits] = case
    return {provider: grid for provider, grid in found.items() if len(grid) == 9}


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


def _own_first(compared: list[Compared]) -> list[Compared]:
    """Code without AES instructions first, as the paper had it; of its two directions the one that fails."""
    return sorted(
        compared, key=lambda one: (IMPLEMENTATIONS.index(one.implementation), (False, None, True).index(one.holds))
    )


def pareto(claim: Claim, evidence: Evidence) -> Judgement:
    """For each key the least energy at a block of equal size: the probability that all three are so, both ways."""
    wanted = {tuple(one) for one in claim.expect["block_of_key"]}
    compared, described = [], []
    for operation in OPERATIONS:
        for provider, grid in _grids(claim, evidence, operation).items():
            places, costs, sigmas = list(grid), [c.cost for c in grid.values()], [c.sigma for c in grid.values()]
            keys = [key for _, key in places]
            chance = probability_of_least(keys, costs, sigmas)
            claimed = [float(chance[number]) for number, place in enumerate(places) if place in wanted]
            whole = float(np.prod(claimed))
            # Key by key: three that can't be told have a small product too.
            holds = all_hold(True if one >= SURE else False if one <= 1 - SURE else None for one in claimed)
            what = f"the probability that the least of each key is where the paper has it, to {operation},"
            case = grid[places[0]]
            effect, bounds = Effect(what, "1", whole, whole, whole), Bounds(SURE, 1, of="of each key by itself")
            compared.append(Compared(case.implementation, provider, effect, holds, bounds))
            least = [f"{b}/{k}" for (b, k), on in zip(places, least_for_each(keys, costs), strict=True) if on]
            chances = probability(costs, sigmas, keys, [block for block, _ in places])
            on_front = [f"{b}/{k}" for (b, k), p in zip(places, chances, strict=True) if p >= 1 / 2]
            described.append(
                f"To {operation} with {provider} the least by block/key are {', '.join(least)}; on the general front "
                f"of energy, key and block are {', '.join(on_front)}"
            )
    return judged(
        claim,
        evidence.rests_on(claim),
        _own_first(compared),
        control="the front by draws, not by a single table; the block as a strength beside the paper's own rule",
        needs=NEEDS,
        also=" ".join([*(f"{one}." for one in described), _printed_least(evidence)]),
    )


def profiles(claim: Claim, evidence: Evidence) -> Judgement:
    """Medium over low and high over medium, in percent."""
    steps = (
        ("medium over low", 192, 128, "medium_vs_low_percent"),
        ("high over medium", 256, 192, "high_vs_medium_percent"),
    )
    compared = []
    for operation in OPERATIONS:
        for provider, grid in _grids(claim, evidence, operation).items():
            effects: list[Effect] = []
            holds: list[bool | None] = []
            bands: list[Bounds] = []
            for name, upper, lower, key in steps:
                found = grid[upper, upper].over(grid[lower, lower])
                effects.append(percent_effect(f"{name}, to {operation},", found))
                bands.append(percent_band(claim.expect[key]))
                holds.append(inside(*found.percent[1:], bands[-1]))
            deciding = next((n for n, one in enumerate(holds) if one is not True), 0)
            implementation = grid[128, 128].implementation
            compared.append(Compared(implementation, provider, effects[deciding], all_hold(holds), bands[deciding]))
    return judged(
        claim,
        evidence.rests_on(claim),
        _own_first(compared),
        control="both directions; an interval for each step; the paper measured battery percentages of two digits",
        needs=NEEDS,
        also=_printed_profiles(evidence),
    )


def decryption(claim: Claim, evidence: Evidence) -> Judgement:
    """Decryption over encryption, and how well it is predicted."""
    encrypting, decrypting = (_grids(claim, evidence, operation) for operation in OPERATIONS)
    compared, described = [], []
    for provider, grid in encrypting.items():
        if provider not in decrypting:
            continue
        places = list(grid)
        sides = [[one[place].cost for place in places] for one in (grid, decrypting[provider])]
        if len(set(sides[0])) < FEWEST_PAIRS:
            continue
        found = predict(*sides)
        fits = _r_squared_holds(found.r_squared, found.pairs, claim.expect["r_squared"])
        more = mean([decrypting[provider][place].over(grid[place]) for place in places])
        band = effect_band(claim.expect["ratio"])
        holds = all_hold([inside(more.low, more.high, band), fits])
        effect = ratio_effect("decryption over encryption", more)
        compared.append(Compared(grid[places[0]].implementation, provider, effect, holds, band))
        described.append(
            f"With {provider} R^2 is {found.r_squared:.3f}; a case left out is predicted within "
            f"{found.left_out_percent:.1f} % (root mean square), {found.worst_left_out_percent:.1f} % at worst"
        )
    return judged(
        claim,
        evidence.rests_on(claim),
        _own_first(compared),
        control="the error of cases left out, which R^2 of the fitted ones hides",
        needs=NEEDS,
        also=" ".join([*(f"{one}." for one in described), _printed_prediction(evidence)]),
    )


def _r_squared_holds(r_squared: float, pairs: int, claimed: float) -> bool | None:
    """Whether R^2 comes near the claimed one, by Fisher's interval of a correlation; more is as good."""
    z = math.atanh(min(math.sqrt(r_squared), 1 - 1e-12))
    low, high = (math.tanh(z + side * COVERAGE / math.sqrt(pairs - 3)) for side in (-1, 1))
    least = amount_band(claimed).low or 0.0
    return within(max(low, 0.0) ** 2, high**2, least, 1.0)


JUDGES: dict[str, Judge] = {
    "rijndael-pareto": pareto,
    "rijndael-profiles": profiles,
    "decrypt-vs-encrypt": decryption,
}
