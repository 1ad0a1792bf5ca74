"""Exhibits of sending: durations and energies by cipher and condition, beside what the paper prints."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

from wattlock.papers.exhibits import own_transfers, sending_ratios
from wattlock.papers.exhibits.cases import NAMES, number
from wattlock.papers.exhibits.costs import KINDS, Show
from wattlock.papers.exhibits.sending_ratios import CONDITIONS
from wattlock.papers.exhibits.shown import PRINTED, Material, Panel, Shown, frame
from wattlock.papers.record import Exhibit
from wattlock.papers.sending import PLAIN, Sending

NOT_REQUESTED = "the air's answers: they were not requested"
COMMAND = "wattlock papers --radio intel-5300"
AIR_NOTE = (
    "On the air: 802.11b, 11 Mb/s, long preambles, TCP, full packets; the paper names none of these. {sized} With "
    "cipher: the sender's own time before it."
)
SIZED = "The data is as large as makes the plain ad hoc transfer as long as the paper's."
TWO_IMAGES = (
    "The data is two images, one of each end of the paper's range, of which it doesn't say how many there were."
)


def durations(data: str) -> Show:
    """Seconds on the air, with the cipher's own before, and the paper's, by cipher and condition."""

    def show(exhibit: Exhibit, material: Material) -> Shown:
        cells = [cell for cell in material.sent if cell.data == data]
        if not cells:
            return Shown(exhibit, missing=(NOT_REQUESTED,), command=COMMAND)
        table = pl.DataFrame([_row(cell) for cell in cells], infer_schema_length=None)
        if table["the paper, s (printed)"].null_count() == table.height:
            table = table.drop("the paper, s (printed)", "ours over the paper's")
        own, own_notes = own_transfers.panels(material, data, cells)
        panels = [
            Panel(
                f"Duration of sending {KINDS.get(data, data)}, computed",
                "dots",
                _drawn(cells),
                "duration, s",
                order=_by_paper(cells),
            ),
            *_as_printed(cells, data),
            *sending_ratios.panel(exhibit, material, data),
            *own,
            Panel(f"Sending {KINDS.get(data, data)}: seconds by cipher and condition", "table", table),
        ]
        missing = _without_cipher(cells)
        return Shown(
            exhibit,
            tuple(panels),
            finding=_finding(cells),
            notes=(_of_the_air(data), *own_notes),
            missing=missing,
            command="wattlock papers" if missing else "",
        )

    return show


def energies(data: str) -> Show:
    """Radios' and cipher's energy of a byte sent, by cipher and condition."""

    def show(exhibit: Exhibit, material: Material) -> Shown:
        cells = [cell for cell in material.sent if cell.data == data and cell.radio_J is not None]
        if not cells:
            return Shown(exhibit, missing=("joules of sending: a radio's card",), command=COMMAND)
        rows = []
        for cell in cells:
            per = 1e6 / cell.data_B
            for kind, joules in (("radios", cell.radio_J), ("cipher", cell.host_J)):
                if joules is not None:
                    rows.append(
                        {
                            "cipher": NAMES.get(cell.cipher, cell.cipher),
                            "condition": CONDITIONS[cell.condition],
                            "of": kind,
                            "µJ/byte": per * joules.value,
                            "low": per * joules.low,
                            "high": per * joules.high,
                            "evidence": cell.evidence,
                        }
                    )
        table = pl.DataFrame(rows, infer_schema_length=None)
        drawn = frame(
            [
                {
                    "name": NAMES.get(cell.cipher, cell.cipher),
                    "variant": CONDITIONS[cell.condition],
                    "value": 1e6 * cell.radio_J.value / cell.data_B,
                    "low": 1e6 * cell.radio_J.low / cell.data_B,
                    "high": 1e6 * cell.radio_J.high / cell.data_B,
                    "evidence": "modelled",
                }
                for cell in cells
                if cell.radio_J
            ]
        )
        unit = "energy of all radios, µJ/byte (10⁻⁶ J/B)"
        panels = (
            Panel(
                f"Energy of sending {KINDS.get(data, data)}, the radios'", "dots", drawn, unit, order=_by_paper(cells)
            ),
            Panel(f"Energy of sending {KINDS.get(data, data)}: radios and cipher", "table", table),
        )
        with_cipher = [cell for cell in cells if cell.host_J]
        lacks = () if with_cipher else ("the cipher's own joules",)
        finding = _shares(with_cipher)
        notes = (f"Radios by the card {material.radio}. {_of_the_air(data)}",)
        command = "wattlock papers --device x86-server-assumed --allow-assumed" if lacks else ""
        return Shown(exhibit, panels, finding=finding, notes=notes, missing=lacks, command=command)

    return show


def _of_the_air(data: str) -> str:
    """What the model takes for what the paper doesn't say."""
    return AIR_NOTE.format(sized=TWO_IMAGES if data == "image" else SIZED)


def _as_printed(cells: Sequence[Sending], data: str) -> list[Panel]:
    """The paper's own table, drawn as ours is."""
    paper = [
        {"name": NAMES.get(cell.cipher, cell.cipher), "variant": CONDITIONS[cell.condition]}
        | {"value": cell.paper_s, "evidence": PRINTED}
        for cell in cells
        if cell.paper_s is not None
    ]
    title = f"Duration of sending {data}, as the paper prints it"
    return [Panel(title, "dots", frame(paper), "duration, s", order=_by_paper(cells))] if paper else []


def _by_paper(cells: Sequence[Sending]) -> tuple[str, ...]:
    """The ciphers by the paper's seconds, the quickest first; as they come where it prints none."""
    least: dict[str, float] = {}
    for cell in cells:
        name = NAMES.get(cell.cipher, cell.cipher)
        least[name] = min(least.get(name, math.inf), cell.paper_s or math.inf)
    return tuple(sorted(least, key=lambda name: least[name]))


def _row(cell: Sending) -> dict[str, object]:
    ours = cell.duration_s.value
    return {
        "cipher": NAMES.get(cell.cipher, cell.cipher),
        "condition": CONDITIONS[cell.condition],
        "on the air, s": cell.air_s.value,
        "low": cell.air_s.low,
        "high": cell.air_s.high,
        "cipher, s": cell.host_s.value if cell.host_s else None,
        "with cipher, s": ours,
        "the paper, s (printed)": cell.paper_s,
        "ours over the paper's": ours / cell.paper_s if cell.paper_s else None,
        "evidence": "modelled",
    }


def _drawn(cells: Sequence[Sending]) -> pl.DataFrame:
    return frame(
        [
            {
                "name": NAMES.get(cell.cipher, cell.cipher),
                "variant": CONDITIONS[cell.condition],
                "value": cell.duration_s.value,
                "low": cell.duration_s.low,
                "high": cell.duration_s.high,
                "evidence": "modelled",
            }
            for cell in cells
        ]
    )


def _finding(cells: Sequence[Sending]) -> str:
    """How far ciphers move the transfer here and in the paper."""
    plain = {cell.condition: cell for cell in cells if cell.cipher == PLAIN}
    others = [cell for cell in cells if cell.cipher != PLAIN and cell.host_s]
    if not others:
        return ""
    ours = [cell.duration_s.value / plain[cell.condition].duration_s.value for cell in others]
    sentence = f"With a cipher the transfer takes {number(min(ours))} to {number(max(ours))} times the plain one here"
    theirs = [
        cell.paper_s / printed
        for cell in others
        if cell.paper_s and (printed := plain[cell.condition].paper_s) is not None
    ]
    return sentence + (f", {number(min(theirs))} to {number(max(theirs))} times in the paper." if theirs else ".")


def _shares(cells: Sequence[Sending]) -> str:
    shares = [
        (cell.host_J.value / (cell.host_J.value + cell.radio_J.value), cell)
        for cell in cells
        if cell.host_J and cell.radio_J
    ]
    if not shares:
        return ""
    least, most = min(shares, key=lambda one: one[0]), max(shares, key=lambda one: one[0])
    return (
        f"The cipher takes {number(100 * least[0])} % ({NAMES[least[1].cipher]}, {CONDITIONS[least[1].condition]}) to "
        f"{number(100 * most[0])} % ({NAMES[most[1].cipher]}, {CONDITIONS[most[1].condition]}) of cipher and radios."
    )


def _without_cipher(cells: Sequence[Sending]) -> tuple[str, ...]:
    without = dict.fromkeys(NAMES[cell.cipher] for cell in cells if cell.cipher != PLAIN and cell.host_s is None)
    return (f"{', '.join(without)}: the cipher's own time",) if without else ()
