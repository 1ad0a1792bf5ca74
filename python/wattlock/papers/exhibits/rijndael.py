"""Exhibits of Rijndael by block and key, beside the paper's tables."""

from __future__ import annotations

import polars as pl

from wattlock.analysis.prediction import FEWEST_PAIRS, predict
from wattlock.energy.published import Operation
from wattlock.papers.exhibits.cases import chosen, number
from wattlock.papers.exhibits.costs import Show
from wattlock.papers.exhibits.shown import QUICK, Material, Panel, Shown, frame
from wattlock.papers.record import Exhibit

OPERATIONS: tuple[Operation, ...] = ("encrypt", "decrypt")
PROFILES = {(128, 128): "low", (192, 192): "medium", (256, 256): "high"}
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
    return {provider: grid for provider, grid in found.items() if len(grid) == 9}


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
            made["paper: time, s"] = getattr(row, f"{operation}_s")
            made["paper: battery, %"] = getattr(row, f"{operation}_battery_percent")
            made["paper: battery over 128/128"] = getattr(row, f"{operation}_battery_percent") / base
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
    """Cost by block and key over that of 128/128, both ways, the profiles named; the paper's beside."""
    panels = []
    for operation in OPERATIONS:
        rows = []
        unit = "cost"
        for provider, grid in _cases(material, operation).items():
            costs, unit, evidence = _relative(grid)
            rows += [_point(place, provider, value, evidence) for place, value in costs.items()]
        if rows:
            doing = f"{operation.capitalize()}ion"
            panels.append(Panel(f"{doing}: {unit} by block/key", "dots", frame(rows), f"{unit} over that of 128/128"))
        paper = material.papers.toldinas.rijndael
        key = f"{operation}_battery_percent"
        base = next(getattr(row, key) for row in paper if (row.block_bits, row.key_bits) == FIRST)
        printed = [
            _point((row.block_bits, row.key_bits), "the paper", getattr(row, key) / base, "printed") for row in paper
        ]
        title = f"{operation.capitalize()}ion: battery by block/key, as the paper prints it"
        panels.append(Panel(title, "dots", frame(printed), "battery over that of 128/128"))
    missing = () if _cases(material, "encrypt") else (NINE,)
    return Shown(exhibit, tuple(panels), finding=_steps(material), missing=missing, command=QUICK if missing else "")


def _point(place: Place, variant: str, value: float, evidence: str) -> dict[str, object]:
    profile = f" ({PROFILES[place]})" if place in PROFILES else ""
    return {"name": f"{place[0]}/{place[1]}{profile}", "variant": variant, "value": value, "evidence": evidence}


def _steps(material: Material) -> str:
    findings = []
    for operation in OPERATIONS:
        for provider, grid in _cases(material, operation).items():
            costs, unit, _ = _relative(grid)
            medium, high = (100 * (costs[a, a] / costs[b, b] - 1) for a, b in ((192, 128), (256, 192)))
            findings.append(
                f"to {operation} with {provider} medium takes {medium:+.1f} % over low and high {high:+.1f} % over "
                f"medium ({unit})"
            )
    return f"Profiles: {'; '.join(findings)}; the paper says +10 and +8 %." if findings else ""


def prediction(exhibit: Exhibit, material: Material) -> Shown:
    """Decryption over encryption with the line of least squares, here by provider and of the paper's table."""
    grids = {operation: _cases(material, operation) for operation in OPERATIONS}
    panels, findings = [], []
    for provider, grid in grids["encrypt"].items():
        if provider not in grids["decrypt"] or len(grid) < FEWEST_PAIRS:
            continue
        places = list(grid)
        energy = all(one[place].get("energy_uJ") for one in (grid, grids["decrypt"][provider]) for place in places)
        column, unit = ("energy_uJ_per_byte", "energy, µJ/byte") if energy else ("time_ns", "time, ns a call")
        evidence = str(grid[FIRST]["energy_evidence" if energy else "time_evidence"])
        x, y = ([float(one[place][column]) for place in places] for one in (grid, grids["decrypt"][provider]))  # type: ignore[arg-type]
        panels.append(_scatter(f"Decrypting against encrypting, {provider}", places, x, y, unit, evidence))
        findings.append(f"{provider} {_fit(x, y)}")
    paper = material.papers.toldinas.rijndael
    x, y = ([getattr(row, f"{one}_battery_percent") for row in paper] for one in OPERATIONS)
    places = [(row.block_bits, row.key_bits) for row in paper]
    panels.append(
        _scatter("Decrypting against encrypting, as the paper prints it", places, x, y, "battery, %", "printed")
    )
    missing = () if findings else (f"{NINE}, encrypting and decrypting",)
    finding = f"Decryption over encryption: {'; '.join([*findings, f'the paper {_fit(x, y)}'])}." if findings else ""
    return Shown(exhibit, tuple(panels), finding=finding, missing=missing, command=QUICK if missing else "")


def _fit(x: list[float], y: list[float]) -> str:
    found = predict(x, y)
    return f"{number(found.ratio)} with R² {found.r_squared:.3f}"


def _scatter(title: str, places: list[Place], x: list[float], y: list[float], unit: str, evidence: str) -> Panel:  # noqa: PLR0917
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
    return Panel(title, "scatter", frame(rows), f"decryption: {unit}", f"encryption: {unit}")
