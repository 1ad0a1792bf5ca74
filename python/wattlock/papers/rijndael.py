"""The claims and exhibits on Rijndael with blocks and keys of 128 to 256 bits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from wattlock.analysis.distributions import COVERAGE, ends
from wattlock.analysis.effects import FEWEST_PAIRS, least_r_squared, mean, predict
from wattlock.analysis.front import front, least_for_each, probability
from wattlock.energy.published_power import Operation
from wattlock.papers.cost_figures import Show
from wattlock.papers.exhibit import (
    BY_ORIGIN,
    PRINTED,
    QUICK,
    READ_OFF,
    DrawnExhibit,
    Material,
    Panel,
    chosen,
    frame,
    number,
    of_the_paper,
    variant,
)
from wattlock.papers.implementations import ERA, CaseCost, Kind, by_library, kind_of, largest, place_of
from wattlock.papers.judge import (
    Bounds,
    ClaimComparison,
    Effect,
    Evidence,
    Judge,
    Judgement,
    PairEffect,
    above,
    amount_band,
    effect_band,
    inside,
    judged_by_kind,
    percent_band,
    percent_effect,
    ratio_effect,
    together,
)
from wattlock.papers.literature import Claim, Exhibit

OPERATIONS = ("encrypt", "decrypt")

SIZES = (128, 192, 256)
"""Bits of blocks and keys."""

Grid = dict[tuple[int, int], CaseCost]

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
        self, effect: Effect, finding: str, *, holds: bool | None, bounds: Bounds, parts: Sequence[PairEffect] = ()
    ) -> ClaimComparison:
        """What was found for a finding."""
        return ClaimComparison(self.kind, self.provider, effect, holds, bounds, self.library, finding, tuple(parts))


def _grids(claim: Claim, evidence: Evidence, operation: str) -> list[Nine]:
    """Of each library and kind that has all nine: the cases by block and key, at the largest payload."""
    found = []
    cases = evidence.cases(claim, operation=operation, data="random")
    mine = largest(cases, lambda case: case.cipher.startswith("rijndael") and case.row["mode"] == "cbc")
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
    return {(row.block_bits, row.key_bits): getattr(row, f"{operation}_battery_percent") for row in rows}


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
        also=" ".join([*(f"{sentence}." for sentence in described), _printed_least(evidence)]),
    )


def _block(grid: Grid, place: tuple[int, int], claimed: int, operation: str) -> PairEffect:
    """Whether another block than the claimed one costs more with the same key."""
    block, key = place
    found = grid[place].over(grid[claimed, key])
    effect = ratio_effect(f"block {block} over block {claimed} with a key of {key} bits, to {operation},", found)
    return PairEffect(f"key {key}: block {claimed} before {block}", effect, above(found.low, found.high, 1.0))


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
        sides = [[side[place].cost for place in grid] for side in (grid, back)]
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
        also=" ".join([*(f"{sentence}." for sentence in described), _printed_prediction(evidence)]),
    )


def _predicted(nine: Nine, back: Grid, claimed: float) -> ClaimComparison:
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


FIRST = (128, 128)

NINE = "Rijndael with blocks and keys of 128, 192 and 256 bits"

Place = tuple[int, int]


def _cases(material: Material, operation: str) -> dict[str, dict[Place, dict[str, object]]]:
    """By provider the nine cases, at the largest payload of each."""
    rows = chosen(material.estimates, operation=operation, data="random", mode="cbc").filter(
        pl.col("cipher").str.starts_with("rijndael")
    )
    rows = rows.filter(pl.col("payload_B") == pl.col("payload_B").max().over("provider"))
    found: dict[str, dict[Place, dict[str, object]]] = {}
    for row in rows.sort("provider", "block_bits", "key_bits").iter_rows(named=True):
        found.setdefault(row["provider"], {})[row["block_bits"], row["key_bits"]] = row
    whole = [(provider, grid) for provider, grid in found.items() if len(grid) == 9]
    return dict(sorted(whole, key=lambda grid: place_of(grid[1][FIRST])))


def _most_expensive(grids: dict[str, dict[Place, dict[str, object]]], material: Material, operation: Operation) -> str:
    paper = {
        (row.block_bits, row.key_bits): getattr(row, f"{operation}_battery_percent")
        for row in material.papers.toldinas.rijndael
    }
    theirs = max(paper, key=lambda place: paper[place])
    comparisons = [f"the paper {number(paper[theirs] / paper[FIRST])} ({theirs[0]}/{theirs[1]})"]
    for provider, grid in grids.items():
        costs, _, _ = _relative(grid)
        most = max(costs, key=lambda place: costs[place])
        comparisons.append(f"{provider} {number(costs[most])} ({most[0]}/{most[1]})")
    return f"The most expensive block/key over 128/128: {', '.join(comparisons)}." if grids else ""


def _relative(grid: dict[Place, dict[str, object]]) -> tuple[dict[Place, float], str, str]:
    """Costs over that of block and key of 128 bits: joules where there are some, else time; their name, evidence."""
    unit = "energy_uJ" if all(row.get("energy_uJ") for row in grid.values()) else "time_ns"
    first = float(grid[FIRST][unit])  # type: ignore[arg-type]
    column = "energy_evidence" if unit == "energy_uJ" else "time_evidence"
    costs = {place: float(row[unit]) / first for place, row in grid.items()}  # type: ignore[arg-type]
    return costs, "energy" if unit == "energy_uJ" else "time", str(grid[FIRST][column])


def table(operation: Operation) -> Show:
    """Time and battery as printed, and here the time of the same work and its ratio to block and key of 128 bits."""

    def show(exhibit: Exhibit, material: Material) -> DrawnExhibit:
        paper = material.papers.toldinas
        grids = _cases(material, operation)
        work = paper.iterations * paper.payload_B
        printed = {(row.block_bits, row.key_bits): row for row in paper.rijndael}
        base = getattr(printed[FIRST], f"{operation}_battery_percent")
        rows = []
        for place, row in sorted(printed.items()):
            made: dict[str, object] = {"block, bits": place[0], "key, bits": place[1]}
            made["the paper (printed): time, s"] = getattr(row, f"{operation}_s")
            made["the paper (printed): battery, %"] = getattr(row, f"{operation}_battery_percent")
            made["the paper (read off): battery over 128/128"] = getattr(row, f"{operation}_battery_percent") / base
            for provider, grid in grids.items():
                case = grid[place]
                costs, unit, _ = _relative(grid)
                made[f"{provider}: time, s"] = float(case["time_ns"]) / float(case["payload_B"]) * work * 1e-9  # type: ignore[arg-type]
                if case.get("energy_uJ_per_byte") is not None:
                    made[f"{provider}: energy, J ({case['energy_evidence']})"] = (
                        float(case["energy_uJ_per_byte"]) * work * 1e-6  # type: ignore[arg-type]
                    )
                made[f"{provider}: {unit} over 128/128"] = costs[place]
            rows.append(made)
        title = f"{operation.capitalize()}ion of {paper.payload_B:,} B, {paper.iterations:,} times"
        panel = Panel(title, "table", pl.DataFrame(rows, infer_schema_length=None))
        missing = () if grids else (f"{NINE}, to {operation}",)
        notes = (
            "Times here are a measured case's, scaled to the paper's bytes. What makes the paper's suspect: "
            "8821 s stands three times among its encryptions.",
        )
        return DrawnExhibit(
            exhibit,
            (panel,),
            finding=_most_expensive(grids, material, operation),
            notes=notes,
            missing=missing,
            command=QUICK if missing else "",
        )

    return show


JUDGES: dict[str, Judge] = {
    "rijndael-pareto": pareto,
    "rijndael-profiles": profiles,
    "decrypt-vs-encrypt": decryption,
}

DRAWN_OPERATIONS: tuple[Operation, ...] = ("encrypt", "decrypt")

PROFILES = {(128, 128): "low", (192, 192): "medium", (256, 256): "high"}

PROFILE_CLAIM = "rijndael-profiles"

STEP_NAMES = ("medium over low, %", "high over medium, %")


def draw_profiles(exhibit: Exhibit, material: Material) -> DrawnExhibit:
    """Cost by block and key over that of 128/128, both ways, the profiles named; the paper's marked beside."""
    panels, steps = [], []
    order = tuple(_called(place) for place in sorted(_printed(material, "encrypt")))
    for operation in DRAWN_OPERATIONS:
        rows = []
        unit = "cost"
        percents = _printed(material, operation)
        theirs = {place: percent / percents[FIRST] for place, percent in percents.items()}
        steps.append(_step(f"{operation}ion", of_the_paper(READ_OFF), theirs, READ_OFF))
        for grid in _cases(material, operation).values():
            costs, unit, evidence = _relative(grid)
            whose = _whose(grid)
            rows += [_point(place, whose, value, evidence) for place, value in costs.items()]
            steps.append(_step(f"{operation}ion", whose, costs, evidence))
        points = frame(
            [_point(place, of_the_paper(PRINTED, "battery"), value, PRINTED) for place, value in theirs.items()]
        )
        doing = f"{operation.capitalize()}ion"
        if rows:
            axis = f"{unit} over that of 128/128"
            panels.append(Panel(f"{doing}: {unit} by block/key", "dots", frame(rows), axis, marks=points, order=order))
        else:
            axis = "battery over that of 128/128"
            title = f"{doing}: battery by block/key, as the paper prints it"
            panels.append(Panel(title, "dots", points, axis, order=order))
    claim = material.papers.claim(PROFILE_CLAIM)
    keys = ("medium_vs_low_percent", "high_vs_medium_percent")
    stated = dict(zip(STEP_NAMES, (float(claim.expect[key]) for key in keys), strict=True))
    steps.insert(0, {"way": "both", "of": of_the_paper(BY_ORIGIN[claim.origin]), **stated, "evidence": "in the text"})
    panels.append(Panel("Steps between the profiles", "table", pl.DataFrame(steps)))
    missing = () if _cases(material, "encrypt") else (NINE,)
    return DrawnExhibit(
        exhibit, tuple(panels), finding=_steps(material), missing=missing, command=QUICK if missing else ""
    )


def _printed(material: Material, operation: str) -> dict[Place, float]:
    """The paper's table: per cent of the battery by block and key."""
    key = f"{operation}_battery_percent"
    return {(row.block_bits, row.key_bits): float(getattr(row, key)) for row in material.papers.toldinas.rijndael}


def _called(place: Place) -> str:
    profile = f" ({PROFILES[place]})" if place in PROFILES else ""
    return f"{place[0]}/{place[1]}{profile}"


def _whose(grid: dict[Place, dict[str, object]]) -> str:
    return variant(grid[FIRST])


def _point(place: Place, variant: str, value: float, evidence: str) -> dict[str, object]:
    return {"name": _called(place), "variant": variant, "value": value, "evidence": evidence}


def _step(way: str, quantity: str, costs: Mapping[Place, float], evidence: str) -> dict[str, object]:
    """What a profile costs over the one below."""
    percents = [100 * (costs[a, a] / costs[b, b] - 1) for a, b in ((192, 128), (256, 192))]
    return {"way": way, "of": quantity, **dict(zip(STEP_NAMES, percents, strict=True)), "evidence": evidence}


def _steps(material: Material) -> str:
    """The profiles' steps by the code that decides, to encrypt and to decrypt."""
    claim = material.papers.claim(PROFILE_CLAIM)
    findings = []
    for operation in DRAWN_OPERATIONS:
        for grid in list(_cases(material, operation).values())[:1]:
            costs, unit, _ = _relative(grid)
            medium, high = (100 * (costs[a, a] / costs[b, b] - 1) for a, b in ((192, 128), (256, 192)))
            findings.append(
                f"to {operation} medium {medium:+.1f} % over low and high {high:+.1f} % over medium ({unit})"
            )
            whose = _whose(grid)
    theirs = " and ".join(f"+{percent} %" for percent in claim.expect.values())
    return f"Profiles, {whose}: {'; '.join(findings)}; the paper says {theirs}." if findings else ""


def prediction(exhibit: Exhibit, material: Material) -> DrawnExhibit:
    """Decryption over encryption with the line of least squares, here by library and of the paper's table.

    Both are over the cost of encrypting with 128/128, so that all stand on one scale.
    """
    grids = {operation: _cases(material, operation) for operation in DRAWN_OPERATIONS}
    panels, findings = [], []
    for provider, grid in grids["encrypt"].items():
        back = grids["decrypt"].get(provider, {})
        places = sorted(back)
        if len(places) < FEWEST_PAIRS:
            continue
        energy = all(side[place].get("energy_uJ") for side in (grid, back) for place in places)
        column = "energy_uJ_per_byte" if energy else "time_ns"
        evidence = str(grid[FIRST]["energy_evidence" if energy else "time_evidence"])
        first = float(grid[FIRST][column])  # type: ignore[arg-type]
        x, y = ([float(side[place][column]) / first for place in places] for side in (grid, back))  # type: ignore[arg-type]
        whose = _whose(grid)
        findings.append(f"{whose} {_fit(x, y)}")
        # Other code of today, whose decryption runs in parallel, would flatten the others: a sentence tells of it.
        if kind_of(grid[FIRST]) == ERA:
            title = f"Decrypting against encrypting, {whose} ({'energy' if energy else 'time'})"
            panels.append(_scatter(title, places, x, y, evidence))
    percents = {operation: _printed(material, operation) for operation in DRAWN_OPERATIONS}
    places = sorted(percents["encrypt"])
    x, y = (
        [percents[operation][place] / percents["encrypt"][FIRST] for place in places] for operation in DRAWN_OPERATIONS
    )
    panels.append(_scatter("Decrypting against encrypting, as the paper prints it (battery)", places, x, y, PRINTED))
    missing = () if findings else (f"{NINE}, encrypting and decrypting",)
    claim = material.papers.claim("decrypt-vs-encrypt")
    says = f"the paper says {claim.expect['ratio']:g} with R² {claim.expect['r_squared']:g}"
    theirs = f"{says}, its table gives {_fit(x, y)}"
    finding = f"Decryption over encryption: {'; '.join([*findings, theirs])}." if findings else ""
    return DrawnExhibit(exhibit, tuple(panels), finding=finding, missing=missing, command=QUICK if missing else "")


def _fit(x: list[float], y: list[float]) -> str:
    found = predict(x, y)
    return f"{number(found.ratio)} with R² {found.r_squared:.3f}"


def _scatter(title: str, places: list[Place], x: list[float], y: list[float], evidence: str) -> Panel:
    rows = [
        {"name": f"{place[0]}/{place[1]}", "variant": "pairs", "x": value, "value": other, "evidence": evidence}
        for place, value, other in zip(places, x, y, strict=True)
    ]
    found = predict(x, y)
    rows += [
        {"name": "least squares", "variant": "line", "x": end, "value": found.intercept + found.slope * end}
        | {"evidence": evidence}
        for end in (min(x), max(x))
    ]
    return Panel(
        title, "scatter", frame(rows), "decryption over encryption with 128/128", "encryption over that with 128/128"
    )
