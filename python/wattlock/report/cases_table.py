"""The table of every case: one column a line, what it shows and what it is sorted by; joules before times."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

from wattlock.report import chip, formats
from wattlock.report.evidence import DRAWN_STATES, departures
from wattlock.report.markup import table, text
from wattlock.run.validity import INVALID_RUN

STATE_MARKS = {"resolved": "●", "unresolved": "○", "invalid": "⊘", INVALID_RUN: "⊘", "failed": "✕"}
RESULTS = ("time_", "cpu_", "cycles", "throughput", "half_width", "energy_", "power_")
WORDS = ("energy_state", "energy_reason")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its head, the words in a row or its HTML, and, where it holds numbers, the column that sorts it."""

    head: str
    shown: Callable[[Row], str]
    number: str = ""
    kind: str = ""
    html: Callable[[Row], str] | None = None

    def cell(self, row: Row) -> str:
        """The HTML of the case in this row; an empty number has nothing to be sorted by."""
        value = row[self.number] if self.number else None
        attributes = f' data-v="{value:.6g}"' if value is not None else ""
        if self.number or self.kind:
            attributes += f' class="{self.kind or "n"}"'
        return f"<td{attributes}>{self.html(row) if self.html else text(self.shown(row))}</td>"


def state_words(row: Row) -> str:
    """A state with its mark."""
    return f"{STATE_MARKS.get(row['state'], '')} {row['state']}".strip()


def does(row: Row) -> str:
    """The operation in words."""
    return formats.OPERATION_NAMES.get(row["operation"], str(row["operation"]))


def _cycles(row: Row) -> str:
    return formats.estimate(row["cycles"], row["cycles_low"], row["cycles_high"])


def _joules(row: Row) -> tuple[float | None, float | None, float | None]:
    return row["energy_uJ_per_byte"], row["energy_low_uJ_per_byte"], row["energy_high_uJ_per_byte"]


def _setting(row: Row) -> str:
    return ", ".join(departures(row)) or "plain"


def _implementation(row: Row) -> str:
    return " ".join(str(row[name]) for name in ("provider", "path", "of", "version") if row[name])


def _clean(row: Row) -> str:
    return formats.MISSING if row["clean_share"] is None else formats.percent(row["clean_share"])


def _chip(column: str) -> Callable[[Row], str]:
    return lambda row: chip.chip(row[column]) or formats.MISSING


BEFORE = (
    Column("Does", does),
    Column("Payload, B", lambda row: f"{row['payload_B']:,}" if row["payload_B"] else formats.MISSING, "payload_B"),
    Column("Data", lambda row: row["data"] if row["payload_B"] else formats.MISSING),
    Column("State", state_words, kind="state"),
)
TIME = (
    Column("Time a call", lambda row: formats.time(row["time_ns"]), "time_ns"),
    Column("CPU time", lambda row: formats.time(row["cpu_ns"]), "cpu_ns"),
    Column("Cycles a call", _cycles, "cycles"),
    Column("Cycles per byte", lambda row: formats.number(row["cycles_per_byte"]), "cycles_per_byte"),
    Column("± %", lambda row: formats.number(row["half_width_percent"], 2), "half_width_percent"),
    Column("MB/s", lambda row: formats.number(row["throughput_MB_s"]), "throughput_MB_s"),
)
AAD = Column("Associated data, B", lambda row: f"{row['aad_B'] or 0:,}", "aad_B")
ENERGY = (
    Column("µJ per byte", lambda row: formats.estimate(*_joules(row)), "energy_uJ_per_byte"),
    Column("95 % interval", lambda row: formats.interval(*_joules(row)), "energy_high_uJ_per_byte"),
)
RESTS_ON = {
    "energy_evidence": Column("Joules are", lambda row: row["energy_evidence"] or "", html=_chip("energy_evidence")),
    "time_evidence": Column("Times are", lambda row: row["time_evidence"] or "", html=_chip("time_evidence")),
}
"""What numbers rest on, where it differs from case to case; else it is said once above the table."""

METERED = (
    Column("Random ± %", lambda row: formats.number(row["energy_random_percent"], 2), "energy_random_percent"),
    Column("Gross µJ a call", lambda row: formats.number(row["energy_gross_uJ"]), "energy_gross_uJ"),
    Column("Net W", lambda row: formats.number(row["power_net_W"]), "power_net_W"),
    Column("Energy is", lambda row: row["energy_state"] or formats.MISSING),
    Column("Why", lambda row: row["energy_reason"] or "", kind="reason"),
)
"""What a meter adds."""

AFTER = (
    Column("Implementation", _implementation),
    Column("Setting", _setting),
    Column("Processes", lambda row: str(row["processes"]), "processes"),
    Column("Clean", _clean, "clean_share"),
    Column("Case", lambda row: str(row["case"]), "case"),
    Column("Reason", lambda row: row["reason"] or "", kind="reason"),
)


def cases_table(estimates: pl.DataFrame) -> str:
    """Every case with its state and, where it is not resolved, the reason; numbers only where the case has some.

    Those of an invalid run stand in the study's order and can't be sorted: they are not ranked.
    """
    has_energy = estimates["energy_uJ_per_byte"].null_count() < estimates.height
    metered = METERED if "energy_state" in estimates.columns else ()
    before = (*BEFORE[:2], AAD, *BEFORE[2:]) if (estimates["aad_B"].fill_null(0) > 0).any() else BEFORE
    mixed = [column for name, column in RESTS_ON.items() if estimates[name].drop_nulls().n_unique() > 1]
    columns = (*before, *(ENERGY if has_energy else ()), *metered, *TIME, *mixed, *AFTER)
    lost = ~pl.col("state").is_in([*DRAWN_STATES, INVALID_RUN])
    results = [name for name in estimates.columns if name.startswith(RESULTS) and name not in WORDS]
    blanked = estimates.with_columns(pl.when(lost).then(None).otherwise(pl.col(name)).alias(name) for name in results)
    rows = "".join(
        f'<tr data-state="{text(row["state"])}"><th scope="row">{text(row["cipher"])}</th>'
        f"{''.join(column.cell(row) for column in columns)}</tr>"
        for row in blanked.iter_rows(named=True)
    )
    head = ["Cipher", *(f"#{column.head}" if column.number else column.head for column in columns)]
    kind = "" if INVALID_RUN in estimates["state"] else "sortable"
    return table("Every case of the study", head, [f"<tbody>{rows}</tbody>"], "case-table", kind)
