"""Figures of what a cipher costs: by data, encoding, key, and as ratios beside the claims."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from wattlock.papers.exhibit import (
    BY_ORIGIN,
    FULL,
    JOULES,
    NAMES,
    QUANTITIES,
    QUICK,
    SIX,
    DrawnExhibit,
    Material,
    Panel,
    amount,
    chosen,
    drawn,
    frame,
    lacking,
    number,
    of_the_paper,
    of_the_rankings,
    one_library,
    sentence,
    variant,
)
from wattlock.papers.implementations import ERA, SHORT, ComparableCases, case_of, grounds, place_of
from wattlock.papers.literature import Claim, Exhibit

Show = Callable[[Exhibit, Material], DrawnExhibit]
FILE_SIZE = "file size, KB (10³ B)"
SEVERAL_SIZES = 2
ONE_SIZE = f"a line over the size of the file, which needs {SEVERAL_SIZES} sizes and more"
NO_JOULES = "joules: no meter was read and no device card named"
SEVERAL_CIPHERS = SEVERAL_KEYS = 2
KEY = "key, bits"
SMALLEST_SHOWN = 0.1
KINDS = {"image": "images"}
UNITS = {"time_ms": "ms", "cpu_time_ms": "ms of CPU time", "throughput_MB_s": "MB/s", "throughput_KB_s": "KB/s"}
UNITS |= {"energy_uJ_per_byte": "µJ/byte"}
ING = {"encrypt": "encrypting", "decrypt": "decrypting"}


def files(data: str, *operations: str, quantities: tuple[str, ...]) -> Show:
    """Files of a kind by cipher: a panel a quantity and operation, and lines over the file size where it was varied."""

    def show(exhibit: Exhibit, material: Material) -> DrawnExhibit:
        panels: list[Panel] = []
        findings: list[str] = []
        missing: list[str] = []
        notes: list[str] = []
        for operation in operations:
            rows = of_the_rankings(chosen(material.estimates, operation=operation, data=data))
            rows = rows.filter(pl.col("family").is_in(SIX))
            missing += lacking(rows, SIX, f"{operation} {data}")
            for quantity in quantities:
                panel = _by_cipher(rows, quantity, f"{ING[operation]} {KINDS.get(data, data)}")
                if panel:
                    panels.append(panel)
                elif quantity.startswith("energy") and not rows.is_empty():
                    missing.append(NO_JOULES)
            if exhibit.x:
                line, note = _over_size(material, operation, data)
                panels += line
                notes += note
                missing += [] if line or rows.is_empty() else [ONE_SIZE]
            findings += _ranking(rows, operation, data, quantities[0])
            panels += ratio_panel(exhibit, material, rows)
        command = JOULES if missing and all(family == NO_JOULES for family in missing) else QUICK if missing else ""
        lacks = tuple(dict.fromkeys(missing))
        return DrawnExhibit(exhibit, tuple(panels), (), " ".join(findings), tuple(notes), lacks, command)

    return show


def _by_cipher(rows: pl.DataFrame, quantity: str, doing: str) -> Panel | None:
    made = drawn(rows, quantity)
    sizes = rows["payload_B"].unique().sort().to_list()
    if made.is_empty():
        return None
    size_words = f" of {sizes[0]:,} B" if len(sizes) == 1 else ""
    title = f"{sentence(QUANTITIES[quantity].words)} of {doing}{size_words}"
    return Panel(title, "dots", made, QUANTITIES[quantity].unit)


def _over_size(material: Material, operation: str, data: str) -> tuple[list[Panel], list[str]]:
    """Time over the file's size, where one library has several sizes in the paper's range; what ends short."""
    span = material.papers.conditions["data"][data]
    in_range = pl.col("payload_B").is_between(1e3 * span["from_KB"], 1e3 * span["to_KB"])
    rows = of_the_rankings(chosen(material.estimates, operation=operation, data="random"))
    rows = one_library(rows.filter(pl.col("family").is_in(SIX), in_range))
    if rows["payload_B"].n_unique() < SEVERAL_SIZES:
        return [], []
    largest_KB = rows["payload_B"].max() / 1e3  # type: ignore[operator]
    short = (
        f"The sizes measured end at {largest_KB:,.0f} KB, the paper's at {span['to_KB']:,} KB: `{FULL}` goes so far."
    )
    notes = [short] if largest_KB < span["to_KB"] else []
    made = drawn(rows.with_columns(pl.col("payload_B") / 1e3), "time_ms", "payload_B")
    title = f"Time of {ING[operation]} over the size of the file (random bytes, {rows['library'][0]})"
    return [Panel(title, "lines", made, QUANTITIES["time_ms"].unit, FILE_SIZE)], notes


def _ranking(rows: pl.DataFrame, operation: str, data: str, quantity: str) -> list[str]:
    """The order in software of the papers' era of one library, and what other code of AES changes."""
    sorted_rows = one_library(rows).sort("time_ns")
    if sorted_rows.height < SEVERAL_CIPHERS:
        return []
    shown = quantity if amount(sorted_rows.row(0, named=True), quantity)["value"] is not None else "time_ms"
    unit = UNITS[shown]
    described = [
        f"{NAMES[row['family']]} {number(amount(row, shown)['value'])}" for row in sorted_rows.iter_rows(named=True)
    ]
    times = number(sorted_rows["time_ns"][-1] / sorted_rows["time_ns"][0])
    whose = sorted_rows["library"][0]
    finding = (
        f"{ING[operation].capitalize()} {KINDS.get(data, data)} by {ERA}, {whose}, in {unit} from the cheapest: "
        f"{', '.join(described)}; the last takes {times} times the first's time."
    )
    quickest = rows.filter(pl.col("family") == "aes").sort("time_ns")
    if quickest.height and quickest["time_ns"][0] < sorted_rows["time_ns"][0]:
        lead = number(sorted_rows["time_ns"][0] / quickest["time_ns"][0])
        whose = variant(quickest.row(0, named=True))
        finding += f" AES by other code ({whose}) is {lead} times as fast as that first."
    return [finding]


def encoding(name: str) -> Show:
    """Time by cipher in one library, the ciphertext written as text and raw beside it, and over the file's size."""

    def show(exhibit: Exhibit, material: Material) -> DrawnExhibit:
        both = chosen(material.estimates, operation="encrypt", encoding=["raw", name])
        both = of_the_rankings(both).filter(pl.col("family").is_in(SIX))
        encoded = both.filter(pl.col("encoding") == name)
        keys = ("cipher", "provider", "payload_B", "data")
        rows = one_library(both.join(encoded.select(keys).unique(), on=keys, how="semi"))
        unit = QUANTITIES["time_ms"].unit
        panels = []
        over_size = False
        for (data,), members in rows.group_by("data", maintain_order=True):
            most = int(members["payload_B"].max())  # type: ignore[arg-type]
            title = f"Time of encrypting {data} bytes, printed as {name}"
            largest = members.filter(pl.col("payload_B") == most)
            levels = [
                drawn(largest.filter(pl.col("encoding") == level), "time_ms").with_columns(variant=pl.lit(level))
                for level in ("raw", name)
            ]
            panels.append(Panel(f"{title}, {most:,} B ({largest['library'][0]})", "dots", pl.concat(levels), unit))
            several = members.filter(pl.col("encoding") == name).with_columns(pl.col("payload_B") / 1e3)
            if several["payload_B"].n_unique() >= SEVERAL_SIZES:
                over_size = True
                line = drawn(several, "time_ms", "payload_B")
                title = f"{title}, over its size ({several['library'][0]})"
                panels.append(Panel(title, "lines", line, unit, FILE_SIZE))
        missing = lacking(encoded, SIX, f"encrypt with {name} output")
        if panels and not over_size:
            missing += (ONE_SIZE,)
        return DrawnExhibit(
            exhibit, tuple(panels), finding=_dearer(rows, name), missing=missing, command=QUICK if missing else ""
        )

    return show


def _dearer(rows: pl.DataFrame, name: str) -> str:
    """What the encoding adds, at the largest file."""
    rows = rows.filter(pl.col("payload_B") == pl.col("payload_B").max().over("data"))
    keys = ["family", "provider", "payload_B", "data"]
    wide = rows.pivot("encoding", index=keys, values="time_ns", aggregate_function="first")
    if name not in wide.columns or wide.is_empty():
        return ""
    wide = wide.with_columns(share=100 * (pl.col(name) / pl.col("raw") - 1)).drop_nulls().sort("share")
    if wide.is_empty():
        return ""
    least, most = wide.row(0, named=True), wide.row(-1, named=True)
    return (
        f"Writing the ciphertext as {name} adds {number(least['share'])} % to {NAMES[least['family']]}'s time "
        f"({least['provider']}) and {number(most['share'])} % to {NAMES[most['family']]}'s ({most['provider']}): "
        "the encoder's time is about the same, so that it weighs most on the cheapest cipher."
    )


def key_sizes(family: str) -> Show:
    """Time over the key size of one family, a line a library; over that of the shortest key beside what is printed."""

    def show(exhibit: Exhibit, material: Material) -> DrawnExhibit:
        rows = _of_keys(material.estimates, [family])
        made = drawn(rows, "time_ms", "key_bits")
        if rows["key_bits"].n_unique() < SEVERAL_KEYS:
            return DrawnExhibit(exhibit, missing=(f"{NAMES[family]} with several key sizes",), command=QUICK)
        size = rows["payload_B"][0]
        doing = f"encrypting {size:,} B over the key size of {NAMES[family]}"
        panels = [Panel(f"Time of {doing}", "lines", made, QUANTITIES["time_ms"].unit, KEY)]
        marks = _of_longer_keys(exhibit, material, family)
        if not marks.is_empty():
            first = pl.col("value").first().over("variant")
            relative = made.sort("variant", "x").with_columns(
                *(pl.col(column) / first for column in ("low", "high", "value"))
            )
            title = f"Time of {doing}, over that of the shortest key"
            panels.append(Panel(title, "lines", relative, "time over that of the shortest key", KEY, marks=marks))
        return DrawnExhibit(exhibit, tuple(panels), finding=" ".join(_by_key(rows)))

    return show


def _of_longer_keys(exhibit: Exhibit, material: Material, family: str) -> pl.DataFrame:
    """What the paper prints that longer keys cost, over the shortest."""
    marks = []
    for claim in map(material.papers.claim, exhibit.numbers):
        provenance = BY_ORIGIN[claim.origin]
        for key, percent in claim.expect.items():
            bits = float(key.removeprefix("key").removesuffix("_percent"))
            mark = {"name": NAMES[family], "variant": of_the_paper(provenance), "evidence": provenance}
            marks.append(mark | {"x": bits, "value": 1 + percent / 100})
    return frame(marks)


def _of_keys(estimates: pl.DataFrame, families: list[str]) -> pl.DataFrame:
    """The cases of each provider at its largest payload at which it has several keys of a family."""
    rows = chosen(estimates, operation="encrypt", data="random").filter(pl.col("family").is_in(families))
    several = pl.col("key_bits").n_unique().over("family", "provider", "payload_B") > 1
    rows = rows.filter(several)
    return rows.filter(pl.col("payload_B") == pl.col("payload_B").max().over("family", "provider")).sort(
        "family", "provider", "key_bits"
    )


def _by_key(rows: pl.DataFrame) -> list[str]:
    """What the longest key costs over the shortest, in words: a sentence a family."""
    findings = []
    for _, family_rows in rows.group_by("family", maintain_order=True):
        parts = []
        codes = [members for _, members in family_rows.group_by("provider", maintain_order=True)]
        for members in sorted(codes, key=lambda code: place_of(code.row(0, named=True))):
            first, last = members.row(0, named=True), members.row(-1, named=True)
            change = 100 * (last["time_ns"] / first["time_ns"] - 1)
            sure = max(first["half_width_percent"], last["half_width_percent"])
            within = f"nothing that can be told within ±{number(max(sure, SMALLEST_SHOWN))} %"
            parts.append(f"{f'{change:+.1f} %' if abs(change) > sure else within} ({variant(first)})")
        bits = family_rows["key_bits"].sort().to_list()
        keys = f"{bits[-1]} bits of key in place of {bits[0]}"
        findings.append(f"{NAMES[str(family_rows['family'][0])]}: {keys} cost {', '.join(parts)}.")
    return findings


def energy_of_a_megabyte(exhibit: Exhibit, material: Material) -> DrawnExhibit:
    """RC4 and AES of one library: energy of 1 MB (10⁶ B) over the key size; time where there are no joules."""
    rows = one_library(_of_keys(material.estimates, ["rc4", "aes"])).sort("family", "key_bits")
    if rows.is_empty():
        return DrawnExhibit(exhibit, missing=("RC4 and AES with several key sizes",), command=QUICK)
    absent = lacking(rows, ("rc4", "aes"), "several key sizes")
    finding = " ".join(_by_key(rows))
    title = f"of encrypting 1 MB over the key size ({rows['library'][0]})"
    made = drawn(rows, "energy_uJ_per_byte", "key_bits")
    if made.is_empty():
        per = 1e6 / rows["payload_B"].max()  # type: ignore[operator]
        scaled = drawn(rows, "time_ms", "key_bits").with_columns(pl.col("value", "low", "high") * per)
        panel = Panel(f"Time {title}", "lines", scaled, QUANTITIES["time_ms"].unit, KEY)
        return DrawnExhibit(exhibit, (panel,), finding=finding, missing=(*absent, NO_JOULES), command=JOULES)
    scaled = made.with_columns(pl.col("value", "low", "high") * 1e6)
    panel = Panel(f"Energy {title}", "lines", scaled, QUANTITIES["energy_uJ"].unit, KEY)
    return DrawnExhibit(exhibit, (panel,), finding=finding, missing=absent, command=QUICK if absent else "")


def ratio_panel(exhibit: Exhibit, material: Material, rows: pl.DataFrame) -> list[Panel]:
    """The ratios that stand beside an exhibit: nothing where the paper prints none.

    * `rows`: the cases that it draws, of the papers' keys. Both ciphers of a ratio are of one library.
    * Energy is read as in the papers' own model, E = V * I * T: as time, but where a meter measured it.
    """
    claims = [claim for claim in map(material.papers.claim, exhibit.numbers) if "numerator" in claim.expect]
    if not claims:
        return []
    metered = "energy_evidence" in rows.columns and rows["energy_evidence"].to_list() == ["measured"] * rows.height
    cost = "energy_uJ" if metered and rows["energy_uJ"].null_count() == 0 else "time_ns"
    cases = [case_of(row, row[cost], row["half_width_percent"]) for row in rows.iter_rows(named=True)]
    made, marks = [], []
    for claim in claims:
        named, printed, upside_down = _named(claim)
        pair = (claim.expect["numerator"], claim.expect["denominator"])
        for ground in grounds(cases, pair):
            over, under = (ground.cases[family] for family in (reversed(pair) if upside_down else pair))
            value, low, high = over.over(under)
            found = {"name": named, "variant": _whose(ground), "value": value, "low": low, "high": high}
            made.append({**found, "evidence": over.row["time_evidence" if cost == "time_ns" else "energy_evidence"]})
        provenance = BY_ORIGIN[claim.origin]
        what = "throughput" if upside_down else claim.about
        mark = {"name": named, "variant": of_the_paper(provenance, what), "value": printed, "evidence": provenance}
        marks.append(mark)
    if not made:
        return []
    quantity = "energy" if cost == "energy_uJ" else "time"
    title = f"The paper's ratios, and the {quantity} of the same ciphers here"
    # Of a paper that prints one ratio twice, in two wordings, one mark stands.
    return [
        Panel(
            title,
            "dots",
            frame(made),
            f"one cipher's {quantity} over the other's",
            marks=frame(marks).unique(maintain_order=True),
        )
    ]


def _named(claim: Claim) -> tuple[str, float, bool]:
    """The row of a ratio, the printed figure, and whether it is one of throughput: of time the other way round."""
    over, under = (NAMES[claim.expect[side]] for side in ("numerator", "denominator"))
    if "throughput_ratio" in claim.expect:
        return f"{under} over {over}", claim.expect["throughput_ratio"], True
    return f"{over} over {under}", claim.expect["ratio"], False


def _whose(ground: ComparableCases) -> str:
    return ground.library if ground.kind == ERA else f"{ground.library}, {SHORT[ground.kind]}"
