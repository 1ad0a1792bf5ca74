"""What a figure or table of the papers is made of: panels, cases chosen for it, and diagrams."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import polars as pl

from wattlock.papers.implementations import ERA, KEY_BITS, SHORT, kind_of, library, place_of
from wattlock.papers.literature import Exhibit, Papers
from wattlock.papers.transfer_times import Sending, Transferred

Form = Literal["dots", "lines", "scatter", "bars", "table"]
Row = Mapping[str, Any]
Ends = tuple[float, float]
SCHEMA = {
    "name": pl.String,
    "variant": pl.String,
    "x": pl.Float64,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "evidence": pl.String,
}
"""The columns of a drawn panel: what, which implementation of it, where, how much, 95 %, and what it rests on."""


PRINTED, IN_TEXT, CITED, READ_OFF = "printed", "in the text", "cited", "read off its table"
"""Where a number of a paper stands: in one of its tables, in its sentences, there from another work, or computed from
a table by us."""
BY_ORIGIN = {"stated": IN_TEXT, "cited": CITED, "read-off": READ_OFF}


def of_the_paper(provenance: str, what: str = "") -> str:
    """How a legend names a paper's numbers: what they are of, where that is another thing, and where they stand."""
    return f"the paper{f', {what}' if what else ''} ({provenance})"


@dataclass(frozen=True, slots=True)
class Panel:
    """One chart, or one table.

    * `title`: what; `unit`: of the value, as the paper has it, the axis's title; `x_title`: of `x`, with its unit.
    * `rows`: with the columns of `SCHEMA`; of a table any columns, whose names are its heads.
    * `marks`: the paper's own numbers, drawn apart: columns of `SCHEMA`, `evidence` says where each stands; one of
      lines without a value marks its `x`.
    * `order`: of the names; `ends`, `x_ends`: of the axes, None where the rows' own do. `alike` fills them in.
    """

    title: str
    form: Form
    rows: pl.DataFrame
    unit: str = ""
    x_title: str = ""
    marks: pl.DataFrame | None = None
    order: tuple[str, ...] = ()
    ends: Ends | None = None
    x_ends: Ends | None = None

    @property
    def drawn(self) -> pl.DataFrame:
        """The rows and the paper's marks behind them."""
        return self.rows if self.marks is None else pl.concat([self.rows, self.marks])

    @property
    def evidence(self) -> list[str]:
        """What the numbers rest on; several kinds are never drawn as one line."""
        return self.rows["evidence"].drop_nulls().unique().sort().to_list() if "evidence" in self.rows.columns else []


@dataclass(frozen=True, slots=True)
class Diagram:
    """A diagram: its kind and what it is drawn from."""

    kind: Literal["exchange", "taxonomy", "features", "loop", "bitmap"]
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DrawnExhibit:
    """An exhibit on this machine.

    * `finding`: one sentence made from the numbers, empty where there are none.
    * `missing`: which cases are lacking; `command`: what measures them, empty where nothing lacks.
    """

    exhibit: Exhibit
    panels: tuple[Panel, ...] = ()
    drawings: tuple[Diagram, ...] = ()
    finding: str = ""
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    command: str = ""


@dataclass(frozen=True)
class Material:
    """All that an exhibit may be made from.

    * `estimates`: of one run or of several, with the columns of energy. * `curves`: of batteries that empty, by
      `energy.tasks.curves`. * `capture`: frames by their octets. * `catalogue`: the probe's rows, for the taxonomy.
    * `radio`: the card that valued sending, None without one. `no_battery`: why none could be discharged, if so.
      `transferred`: transfers of the reader's own.
    """

    papers: Papers
    estimates: pl.DataFrame
    sent: Sequence[Sending] = ()
    curves: pl.DataFrame | None = None
    capture: Mapping[int, int] | None = None
    catalogue: Sequence[Row] = ()
    radio: str | None = None
    no_battery: str = ""
    transferred: Sequence[Transferred] = ()


QUICK = "wattlock papers"
FULL = "wattlock papers --length full"
JOULES = "wattlock papers --device x86-server-assumed --allow-assumed"


DIGITS = 9
"""Significant digits of what is drawn: sums in another order differ behind them, and a run drawn twice is the same."""


def frame(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows with the columns of `SCHEMA`, null where one has none."""
    made = pl.DataFrame([{name: row.get(name) for name in SCHEMA} for row in rows], schema=SCHEMA)
    return made.with_columns(pl.col("x", "value", "low", "high").round_sig_figs(DIGITS))


def alike(panels: Sequence[Panel]) -> tuple[Panel, ...]:
    """Panels that a reader compares, drawn so: of one unit on one scale, and their names in one order.

    The order is that of the first panel of rows: as it has it, or from its best.
    """
    order = next((_order(panel) for panel in panels if panel.form == "dots"), ())
    made = []
    for panel in panels:
        if panel.form not in {"dots", "lines", "scatter"}:
            made.append(panel)
            continue
        others = [
            a_panel
            for a_panel in panels
            if (a_panel.form, a_panel.unit, a_panel.x_title) == (panel.form, panel.unit, panel.x_title)
        ]
        together = pl.concat([panel.drawn for panel in others])
        x_ends = None if panel.form == "dots" else _ends(together, "x")
        known = set(panel.drawn["name"].to_list())
        order_here = (
            order if known <= set(order) else panel.order or tuple(panel.drawn["name"].unique(maintain_order=True))
        )
        order_here = tuple(name for name in order_here if name in known)
        ends = _ends(together, "low", "value", "high")
        made.append(replace(panel, order=order_here, ends=ends, x_ends=x_ends))
    return tuple(made)


def _order(panel: Panel) -> tuple[str, ...]:
    if panel.order:
        return panel.order
    is_speed = panel.unit.startswith("throughput")
    best = panel.drawn.group_by("name").agg(pl.col("value").max() if is_speed else pl.col("value").min())
    return tuple(best.sort("value", "name", descending=[is_speed, False])["name"].to_list())


def _ends(rows: pl.DataFrame, *columns: str) -> Ends | None:
    values = [value for name in columns for value in rows[name].drop_nulls().to_list()]
    return (min(values), max(values)) if values else None


NAMES = {"aes": "AES", "des": "DES", "3des": "3DES", "rc2": "RC2", "rc4": "RC4", "rc6": "RC6", "blowfish": "Blowfish"}
NAMES |= {"cast": "CAST", "idea": "IDEA", "none": "plaintext", "xor": "XOR", "rijndael": "Rijndael"}
SIX = ("aes", "des", "3des", "rc2", "blowfish", "rc6")
"""The ciphers of the rankings."""
PLAIN = {"keying": "ready", "encoding": "raw", "placement": "hot", "pattern": "independent", "readiness": "steady"}
DRAWN = ("resolved", "unresolved")


class PaperQuantity(NamedTuple):
    """A quantity of the papers: its title with the unit, and in SI where that is another one."""

    unit: str
    words: str
    more_is_better: bool = False
    evidence: str = "time_evidence"


QUANTITIES = {
    "time_ms": PaperQuantity("time, ms (10⁻³ s)", "time"),
    "cpu_time_ms": PaperQuantity("CPU time, ms (10⁻³ s)", "CPU time"),
    "throughput_MB_s": PaperQuantity("throughput, MB/s (10⁶ B/s)", "throughput", more_is_better=True),
    "throughput_KB_s": PaperQuantity("throughput, KB/s (10³ B/s)", "throughput", more_is_better=True),
    "energy_uJ_per_byte": PaperQuantity("energy, µJ/byte (10⁻⁶ J/B)", "energy", evidence="energy_evidence"),
    "energy_uJ": PaperQuantity("energy, µJ (10⁻⁶ J)", "energy", evidence="energy_evidence"),
}


def chosen(estimates: pl.DataFrame, **factors: Any) -> pl.DataFrame:
    """The cases with a number and these factors; the plain level of each that is not given."""
    wanted = {**PLAIN, **factors}
    parts = [
        pl.col(name).is_in(value) if isinstance(value, list | tuple) else pl.col(name) == value
        for name, value in wanted.items()
    ]
    rows = estimates.filter(pl.col("state").is_in(DRAWN), pl.col("time_ns").is_not_null(), *parts)
    return rows.filter(pl.col("mode").is_in(["cbc", "stream"])) if "mode" not in factors else rows


def of_the_rankings(rows: pl.DataFrame) -> pl.DataFrame:
    """Of each family the key that the papers have."""
    return rows.filter(pl.col("key_bits") == pl.col("family").replace_strict(KEY_BITS, default=-1))


def variant(row: Row) -> str:
    """Whose code a case is: its library, and of which kind where that is not software of the papers' era."""
    kind = kind_of(row)
    name = library(str(row["provider"]))
    return name if kind == ERA else f"{name}, {SHORT[kind]}"


def one_library(rows: pl.DataFrame) -> pl.DataFrame:
    """Software of the papers' era of the library that has most of the ciphers, a row a cipher, size and data.

    Of libraries that have as many what is built in comes first; `library` is its name.
    """
    best: dict[str, dict[tuple[Any, ...], Row]] = {}
    for row in sorted(rows.iter_rows(named=True), key=place_of):
        if kind_of(row) == ERA:
            name = library(str(row["provider"]))
            key = tuple(row[column] for column in ("cipher", "payload_B", "data", "encoding"))
            best.setdefault(name, {}).setdefault(key, row | {"library": name})
    fullest = max(best.values(), key=lambda cases: len({cipher for cipher, *_ in cases}), default={})
    return pl.DataFrame(list(fullest.values()), schema=rows.schema | {"library": pl.String})


def amount(row: Row, quantity: str) -> dict[str, Any]:
    """`value, low, high, evidence` of a case in one quantity; nulls where it has none."""
    time = tuple(row[f"time{side}_ns"] for side in ("", "_low", "_high"))
    size = row["payload_B"]
    if quantity == "time_ms":
        found = tuple(part / 1e6 for part in time)
    elif quantity == "cpu_time_ms":
        found = (row["cpu_ns"] / 1e6, None, None)
    elif quantity.startswith("throughput"):
        per = 1e3 if quantity.endswith("MB_s") else 1e6
        found = (per * size / time[0], per * size / time[2], per * size / time[1])
    else:
        stem = "_per_byte" if quantity.endswith("per_byte") else ""
        found = tuple(row[f"energy{side}_uJ{stem}"] for side in ("", "_low", "_high"))
    evidence = row[QUANTITIES[quantity].evidence]
    return {**dict(zip(("value", "low", "high"), found, strict=True)), "evidence": evidence}


def drawn(rows: pl.DataFrame, quantity: str, x: str | None = None) -> pl.DataFrame:
    """The cases as rows of a panel, by cipher family and library; those without the quantity left out.

    Of two codes of one library and kind the one that decides is drawn, as the judges have it.
    """
    made: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in sorted(rows.iter_rows(named=True), key=place_of):
        name, whose = NAMES.get(row["family"], row["family"].upper()), variant(row)
        found = {"name": name, "variant": whose, "x": float(row[x]) if x else None, **amount(row, quantity)}
        key = tuple(row[column] for column in ("cipher", "payload_B", "data", "encoding"))
        if found["value"] is not None:
            made.setdefault((*key, whose), found)
    return frame(list(made.values()))


def lacking(rows: pl.DataFrame, families: tuple[str, ...], what: str) -> tuple[str, ...]:
    """Which families have no case."""
    without = [NAMES.get(family, family) for family in families if family not in rows["family"].to_list()]
    return (f"{', '.join(without)}: {what}",) if without else ()


def number(value: float) -> str:
    """Three significant digits, for a sentence."""
    if value == 0:
        return "0"
    return f"{float(f'{value:.3g}'):,.{max(0, 2 - _exponent(value))}f}"


def _exponent(value: float) -> int:
    return int(f"{value:e}".partition("e")[2])


def sentence(words: str) -> str:
    """Words with a capital at their start."""
    return words[:1].upper() + words[1:]


SIDE_PX = 512
PROFILES = {"low": (128, 128), "medium": (192, 192), "high": (256, 256)}


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads((files("wattlock") / "data" / "papers" / "diagrams.toml").read_text(encoding="utf-8"))


def authentication(exhibit: Exhibit, material: Material) -> DrawnExhibit:
    """Open system, shared key and the 4-way handshake, frame by frame."""
    del material
    exchanges = _data()["exchange"]
    drawings = tuple(Diagram("exchange", exchange) for exchange in exchanges)
    sizes = [sum(message["octets_B"] for message in exchange["messages"]) for exchange in exchanges]
    finding = (
        f"Open system exchanges {sizes[0]} octets and proves nothing; the shared key {sizes[1]}, and shows whoever "
        f"listens 136 octets of the key stream of an IV; the 4-way handshake {sizes[2]} of EAPOL."
    )
    return DrawnExhibit(
        exhibit, drawings=drawings, finding=finding, notes=tuple(exchange["source"] for exchange in exchanges)
    )


def taxonomy(exhibit: Exhibit, material: Material) -> DrawnExhibit:
    """The catalogue's families by what they are."""
    if not material.catalogue:
        return DrawnExhibit(exhibit, missing=("the probe's catalogue",), command="wattlock ciphers")
    families = {row["family"] for row in material.catalogue}
    finding = f"{len(families)} families stand in the catalogue; every implementation is proven before it is timed."
    return DrawnExhibit(exhibit, drawings=(Diagram("taxonomy", {"rows": list(material.catalogue)}),), finding=finding)


def features(exhibit: Exhibit, material: Material) -> DrawnExhibit:
    """The paper's feature model, with the numbers of its own tables."""
    words = _words(material)
    listed = [{**feature, "name": feature["name"].format(**words)} for feature in _data()["feature"]]
    finding = (
        f"By the paper's own tables the weakest choice, {words['low']}, takes {words['low_percent']} % of the battery "
        f"and the strongest, {words['high']}, {words['high_percent']} %; the most expensive is {words['dearest']} with "
        f"{words['most']} %."
    )
    note = "The paper's drawing is not in its text; the content here is ours, its numbers are those of its tables."
    return DrawnExhibit(exhibit, drawings=(Diagram("features", {"features": listed}),), finding=finding, notes=(note,))


def loop(exhibit: Exhibit, material: Material) -> DrawnExhibit:
    """The paper's measuring loop."""
    loop_words, words = _data()["loop"], _words(material)
    steps = [step.format(**words) for step in loop_words["steps"]]
    finding = (
        f"One reading stands for {words['iterations']} encryptions; wattlock repeats in fresh processes, shuffles the "
        "cases and gives each figure an interval."
    )
    return DrawnExhibit(exhibit, drawings=(Diagram("loop", {**loop_words, "steps": steps}),), finding=finding)


def bitmap(exhibit: Exhibit, material: Material) -> DrawnExhibit:
    """The image that is encrypted: one of our own making, of the paper's size."""
    size_B = material.papers.toldinas.payload_B
    whole = 54 + 3 * SIDE_PX * SIDE_PX
    finding = f"A bitmap of {SIDE_PX} × {SIDE_PX} pixels has {whole:,} B with its header, as the paper's {size_B:,} B."
    note = "The image is ours; what it shows has no effect on the time (claim data-type)."
    return DrawnExhibit(exhibit, drawings=(Diagram("bitmap", {"side_px": SIDE_PX}),), finding=finding, notes=(note,))


def _words(material: Material) -> dict[str, str]:
    paper = material.papers.toldinas
    by_place = {(row.block_bits, row.key_bits): row.encrypt_battery_percent for row in paper.rijndael}
    labels = {name: f"{block}, key {key}" for name, (block, key) in PROFILES.items()}
    labels |= {f"{name}_percent": f"{by_place[place]:g}" for name, place in PROFILES.items()}
    dearest = max(by_place, key=lambda place: by_place[place])
    blocks = sorted({row.block_bits for row in paper.rijndael})
    rounds = [max(block, key) // 32 + 6 for block, key in by_place]
    return labels | {
        "blocks": ", ".join(map(str, blocks)),
        "keys": ", ".join(map(str, sorted({row.key_bits for row in paper.rijndael}))),
        "rounds": ", ".join(map(str, sorted(set(rounds)))),
        "least": f"{min(by_place.values()):g}",
        "dearest": f"{dearest[0]}, key {dearest[1]}",
        "most": f"{by_place[dearest]:g}",
        "iterations": f"{paper.iterations:,}",
        "payload": f"{paper.payload_B:,}",
    }
