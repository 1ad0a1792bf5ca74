"""Exhibits of Rijndael by block and key, beside the paper's tables."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from wattlock.analysis.prediction import FEWEST_PAIRS, predict
from wattlock.energy.published import Operation
from wattlock.papers.exhibits.cases import chosen, number, variant
from wattlock.papers.exhibits.costs import Show
from wattlock.papers.exhibits.shown import (
    BY_ORIGIN,
    PRINTED,
    QUICK,
    READ_OFF,
    Material,
    Panel,
    Shown,
    frame,
    of_the_paper,
)
from wattlock.papers.judges.implementations import ERA, kind_of, place_of
from wattlock.papers.record import Exhibit

OPERATIONS: tuple[Operation, ...] = ("encrypt", "decrypt")
PROFILES = {(128, 128): "low", (192, 192): "medium", (256, 256): "high"}
FIRST = (128, 128)
NINE = "Rijndael with blocks and keys of 128, 192 and 256 bits"
PROFILE_CLAIM = "rijndael-profiles"
STEPS = ("medium over low, %", "high over medium, %")
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
    return dict(sorted(whole, key=lambda one: place_of(one[1][FIRST])))


def _relative(grid: dict[Place, dict[str, object]]) -> tuple[dict[Place, float], str, str]:
    """Costs over that of block and key of 128 bits: joules where there are some, else time; their name, evidence."""
    unit = "energy_uJ" if all(row.get("energy_uJ") for row in grid.values()) else "time_ns"
    first = float(grid[FIRST][unit])  # type: ignore[arg-type]
    column = "energy_evidence" if unit == "energy_uJ" else "time_evidence"
    costs = {place: float(row[unit]) / first for place, row in grid.items()}  # type: ignore[arg-type]
    return costs, "energy" if unit == "energy_uJ" else "time", str(grid[FIRST][column])


def table(operation: Operation) -> Show:
    """Time and battery as printed, and here the time of the same work and its ratio to block and key of 128 bits."""

    def show(exhibit: Exhibit, material: Material) -> Shown:
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
        return Shown(
            exhibit,
            (panel,),
            finding=_most_expensive(grids, material, operation),
            notes=notes,
            missing=missing,
            command=QUICK if missing else "",
        )

    return show


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


def profiles(exhibit: Exhibit, material: Material) -> Shown:
    """Cost by block and key over that of 128/128, both ways, the profiles named; the paper's marked beside."""
    panels, steps = [], []
    order = tuple(_called(place) for place in sorted(_printed(material, "encrypt")))
    for operation in OPERATIONS:
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
    stated = dict(zip(STEPS, (float(claim.expect[key]) for key in keys), strict=True))
    steps.insert(0, {"way": "both", "of": of_the_paper(BY_ORIGIN[claim.origin]), **stated, "evidence": "in the text"})
    panels.append(Panel("Steps between the profiles", "table", pl.DataFrame(steps)))
    missing = () if _cases(material, "encrypt") else (NINE,)
    return Shown(exhibit, tuple(panels), finding=_steps(material), missing=missing, command=QUICK if missing else "")


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


def _step(way: str, of: str, costs: Mapping[Place, float], evidence: str) -> dict[str, object]:
    """What a profile costs over the one below."""
    percents = [100 * (costs[a, a] / costs[b, b] - 1) for a, b in ((192, 128), (256, 192))]
    return {"way": way, "of": of, **dict(zip(STEPS, percents, strict=True)), "evidence": evidence}


def _steps(material: Material) -> str:
    """The profiles' steps by the code that decides, to encrypt and to decrypt."""
    claim = material.papers.claim(PROFILE_CLAIM)
    findings = []
    for operation in OPERATIONS:
        for grid in list(_cases(material, operation).values())[:1]:
            costs, unit, _ = _relative(grid)
            medium, high = (100 * (costs[a, a] / costs[b, b] - 1) for a, b in ((192, 128), (256, 192)))
            findings.append(
                f"to {operation} medium {medium:+.1f} % over low and high {high:+.1f} % over medium ({unit})"
            )
            whose = _whose(grid)
    theirs = " and ".join(f"+{percent} %" for percent in claim.expect.values())
    return f"Profiles, {whose}: {'; '.join(findings)}; the paper says {theirs}." if findings else ""


def prediction(exhibit: Exhibit, material: Material) -> Shown:
    """Decryption over encryption with the line of least squares, here by library and of the paper's table.

    Both are over the cost of encrypting with 128/128, so that all stand on one scale.
    """
    grids = {operation: _cases(material, operation) for operation in OPERATIONS}
    panels, findings = [], []
    for provider, grid in grids["encrypt"].items():
        back = grids["decrypt"].get(provider, {})
        places = sorted(back)
        if len(places) < FEWEST_PAIRS:
            continue
        energy = all(one[place].get("energy_uJ") for one in (grid, back) for place in places)
        column = "energy_uJ_per_byte" if energy else "time_ns"
        evidence = str(grid[FIRST]["energy_evidence" if energy else "time_evidence"])
        first = float(grid[FIRST][column])  # type: ignore[arg-type]
        x, y = ([float(one[place][column]) / first for place in places] for one in (grid, back))  # type: ignore[arg-type]
        whose = _whose(grid)
        findings.append(f"{whose} {_fit(x, y)}")
        # Other code of today, whose decryption runs in parallel, would flatten the others: a sentence tells of it.
        if kind_of(grid[FIRST]) == ERA:
            title = f"Decrypting against encrypting, {whose} ({'energy' if energy else 'time'})"
            panels.append(_scatter(title, places, x, y, evidence))
    percents = {operation: _printed(material, operation) for operation in OPERATIONS}
    places = sorted(percents["encrypt"])
    x, y = ([percents[one][place] / percents["encrypt"][FIRST] for place in places] for one in OPERATIONS)
    panels.append(_scatter("Decrypting against encrypting, as the paper prints it (battery)", places, x, y, PRINTED))
    missing = () if findings else (f"{NINE}, encrypting and decrypting",)
    claim = material.papers.claim("decrypt-vs-encrypt")
    says = f"the paper says {claim.expect['ratio']:g} with R² {claim.expect['r_squared']:g}"
    theirs = f"{says}, its table gives {_fit(x, y)}"
    finding = f"Decryption over encryption: {'; '.join([*findings, theirs])}." if findings else ""
    return Shown(exhibit, tuple(panels), finding=finding, missing=missing, command=QUICK if missing else "")


def _fit(x: list[float], y: list[float]) -> str:
    found = predict(x, y)
    return f"{number(found.ratio)} with R² {found.r_squared:.3f}"


def _scatter(title: str, places: list[Place], x: list[float], y: list[float], evidence: str) -> Panel:
    rows = [
        {"name": f"{place[0]}/{place[1]}", "variant": "pairs", "x": one, "value": other, "evidence": evidence}
        for place, one, other in zip(places, x, y, strict=True)
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
