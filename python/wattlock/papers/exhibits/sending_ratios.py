"""The ratios between transfers that the paper prints or its tables give, and wattlock's model beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from wattlock.papers.exhibits.cases import NAMES
from wattlock.papers.exhibits.shown import BY_ORIGIN, READ_OFF, Material, Panel, frame, of_the_paper
from wattlock.papers.record import Claim, Exhibit
from wattlock.papers.sending import PLAIN, Sending

CONDITIONS = {
    "adhoc_open": "ad hoc, open",
    "adhoc_wep": "ad hoc, WEP",
    "adhoc_poor": "ad hoc, WEP, poor signal",
    "bss_tkip": "BSS, TKIP",
    "bss_open": "BSS, open",
}
MODEL = "wattlock's model of the air"
UNIT = "one duration over the other"
End = tuple[str, str]
"""A cipher and a condition."""


class Compared(NamedTuple):
    """One transfer over another: whose ratio a claim gives for a kind of data, None where it speaks of no figure."""

    name: str
    over: End
    under: End
    stated: Callable[[Claim, str], float] | None


def _of_data(claim: Claim, data: str) -> float:
    return float(claim.expect[data])


def _as_percent(claim: Claim, data: str) -> float:
    return 1 + float(claim.expect["percent"][data]) / 100


def _against_aes(condition: str) -> tuple[Compared, ...]:
    where = CONDITIONS[condition]
    return tuple(
        Compared(f"{NAMES[family]} over AES: {where}", (family, condition), ("aes", condition), _of_data)
        for family in ("blowfish", "rc6")
    )


def _plain(name: str, over: str, under: str, stated: Callable[[Claim, str], float] | None) -> tuple[Compared, ...]:
    return (Compared(f"plaintext: {name}", (PLAIN, over), (PLAIN, under), stated),)


COMPARED: dict[str, tuple[Compared, ...]] = {
    "adhoc-blowfish-rc6-vs-aes": _against_aes("adhoc_open"),
    "bss-blowfish-rc6-vs-aes": _against_aes("bss_tkip"),
    "poor-signal": _plain("poor signal over open", "adhoc_poor", "adhoc_open", _as_percent),
    "bss-vs-adhoc": _plain("BSS over ad hoc, open", "bss_open", "adhoc_open", None),
    "tkip-vs-open": _plain("TKIP over open, BSS", "bss_tkip", "bss_open", None),
}
"""What each claim on sending holds against what."""


def panel(exhibit: Exhibit, material: Material, data: str) -> list[Panel]:
    """The ratios of a data set: here, in the paper's sentences, and divided from its own table."""
    cells = {(cell.cipher, cell.condition): cell for cell in material.sent if cell.data == data}
    made: list[dict[str, object]] = []
    marks: list[dict[str, object]] = []
    for claim in map(material.papers.claim, exhibit.numbers):
        for compared in COMPARED[claim.id]:
            over, under = cells.get(compared.over), cells.get(compared.under)
            if over is None or under is None:
                continue
            made.append(_modelled(compared.name, over, under))
            marks += _printed(compared, claim, data, over, under)
    if not made:
        return []
    order = tuple(dict.fromkeys(str(row["name"]) for row in made))
    title = f"The paper's ratios of sending {data}, and the model's"
    return [Panel(title, "dots", frame(made), UNIT, marks=frame(marks), order=order)]


def _modelled(name: str, over: Sending, under: Sending) -> dict[str, object]:
    mine, theirs = over.duration_s, under.duration_s
    ratio = {"value": mine.value / theirs.value, "low": mine.low / theirs.value, "high": mine.high / theirs.value}
    return {"name": name, "variant": MODEL, **ratio, "evidence": "modelled"}


def _printed(compared: Compared, claim: Claim, data: str, over: Sending, under: Sending) -> Iterator[dict[str, object]]:
    if compared.stated is not None:
        yield _mark(compared.name, compared.stated(claim, data), BY_ORIGIN[claim.origin])
    if over.paper_s and under.paper_s:
        yield _mark(compared.name, over.paper_s / under.paper_s, READ_OFF)


def _mark(name: str, value: float, provenance: str) -> dict[str, object]:
    return {"name": name, "variant": of_the_paper(provenance), "value": value, "evidence": provenance}
