"""Tables and figures of sending: seconds, joules and ratios, beside the paper's and a person's own transfers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import NamedTuple

import polars as pl

from wattlock.papers.cost_figures import KINDS, Show
from wattlock.papers.exhibit import (
    BY_ORIGIN,
    NAMES,
    PRINTED,
    READ_OFF,
    DrawnExhibit,
    Material,
    Panel,
    frame,
    number,
    of_the_paper,
)
from wattlock.papers.literature import Claim, Exhibit
from wattlock.papers.transfer_times import PLAIN, Sending, Transferred

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

    def show(exhibit: Exhibit, material: Material) -> DrawnExhibit:
        cells = [cell for cell in material.sent if cell.data == data]
        if not cells:
            return DrawnExhibit(exhibit, missing=(NOT_REQUESTED,), command=COMMAND)
        table = pl.DataFrame([_row(cell) for cell in cells], infer_schema_length=None)
        if table["the paper, s (printed)"].null_count() == table.height:
            table = table.drop("the paper, s (printed)", "ours over the paper's")
        transfer_panels, own_notes = own_panels(material, data, cells)
        panels = [
            Panel(
                f"Duration of sending {KINDS.get(data, data)}, computed",
                "dots",
                _drawn(cells),
                "duration, s",
                order=_by_paper(cells),
            ),
            *_as_printed(cells, data),
            *sending_panel(exhibit, material, data),
            *transfer_panels,
            Panel(f"Sending {KINDS.get(data, data)}: seconds by cipher and condition", "table", table),
        ]
        missing = _without_cipher(cells)
        return DrawnExhibit(
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

    def show(exhibit: Exhibit, material: Material) -> DrawnExhibit:
        cells = [cell for cell in material.sent if cell.data == data and cell.radio_J is not None]
        if not cells:
            return DrawnExhibit(exhibit, missing=("joules of sending: a radio's card",), command=COMMAND)
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
        return DrawnExhibit(exhibit, panels, finding=finding, notes=notes, missing=lacks, command=command)

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
    least, most = min(shares, key=lambda share: share[0]), max(shares, key=lambda share: share[0])
    return (
        f"The cipher takes {number(100 * least[0])} % ({NAMES[least[1].cipher]}, {CONDITIONS[least[1].condition]}) to "
        f"{number(100 * most[0])} % ({NAMES[most[1].cipher]}, {CONDITIONS[most[1].condition]}) of cipher and radios."
    )


def _without_cipher(cells: Sequence[Sending]) -> tuple[str, ...]:
    without = dict.fromkeys(NAMES[cell.cipher] for cell in cells if cell.cipher != PLAIN and cell.host_s is None)
    return (f"{', '.join(without)}: the cipher's own time",) if without else ()


IN_CLEAR = "null"
"""The cipher that copies: a transfer of plaintext."""
UNIT = "duration over the plaintext's"
NO_KIND = "text"
"""Where transfers stand whose data nobody named: beside the first table."""
NOTE = (
    "Your own transfers are those of the records that `--transfers` named, on your own link and machines: what they "
    "share with the paper's five conditions is not known, so that each is held to the plaintext of the same file, sent "
    "the same way. Of several transfers of one file the median counts."
)


def own_panels(material: Material, data: str, cells: Sequence[Sending]) -> tuple[list[Panel], tuple[str, ...]]:
    """The panels of a kind of data and what is to be said of them; nothing where no record was given."""
    transfers = [transfer for transfer in material.transferred if (transfer.data or NO_KIND) == data]
    if not transfers:
        return [], ()
    # Where the sender's own records are, the receiver's wait for them tells nothing more.
    relative = _over_plain([transfer for transfer in transfers if transfer.side == "send"] or transfers)
    made = [Panel("Your own transfers, measured", "table", _listed(transfers))]
    if relative:
        marks = frame(_printed(cells))
        made.insert(0, Panel("Your own transfers", "dots", frame(relative), UNIT, marks=marks))
        made.insert(1, Panel("The same by the model of the air", "dots", frame(_modelled(cells)), UNIT))
    unnamed = (
        ""
        if all(transfer.data for transfer in transfers)
        else " The records don't say what a file holds: `audio=FILE` would."
    )
    lacks = "" if relative else " None of a file in clear is among them: send it with `--cipher null`, too."
    return made, (f"{NOTE}{unnamed}{lacks}",)


def _named(transfer: Transferred) -> str:
    return NAMES[PLAIN] if transfer.cipher == IN_CLEAR else NAMES.get(transfer.name, transfer.cipher)


def _groups(transfers: Sequence[Transferred]) -> dict[tuple[str, str, str, str], list[Transferred]]:
    """Transfers of one file by one code, sent one way, as one side measured them."""
    found: dict[tuple[str, str, str, str], list[Transferred]] = {}
    for transfer in transfers:
        found.setdefault((transfer.plain, transfer.how, transfer.cipher, transfer.provider), []).append(transfer)
    return found


def _over_plain(transfers: Sequence[Transferred]) -> list[dict[str, object]]:
    """Each cipher's duration over that of the same file in clear: the median over files."""
    took = {key: median(transfer.duration_s for transfer in several) for key, several in _groups(transfers).items()}
    clear = {(plain, how): seconds for (plain, how, cipher, _), seconds in took.items() if cipher == IN_CLEAR}
    ratios: dict[tuple[str, str], list[float]] = {}
    names = {(transfer.cipher, transfer.provider): _named(transfer) for transfer in transfers}
    for (plain, how, cipher, provider), seconds in took.items():
        if cipher != IN_CLEAR and clear.get((plain, how)):
            key = names[cipher, provider], f"your link: {how}, {provider}"
            ratios.setdefault(key, []).append(seconds / clear[plain, how])
    return [
        {"name": name, "variant": whose, "value": median(found), "evidence": "measured"}
        for (name, whose), found in ratios.items()
    ]


def _printed(cells: Sequence[Sending]) -> list[dict[str, object]]:
    plain = {cell.condition: cell.paper_s for cell in cells if cell.cipher == PLAIN}
    whose = of_the_paper(READ_OFF, "five conditions")
    return [
        {"name": NAMES[cell.cipher], "variant": whose, "value": cell.paper_s / in_clear, "evidence": READ_OFF}
        for cell in cells
        if cell.cipher != PLAIN and cell.paper_s and (in_clear := plain[cell.condition])
    ]


def _modelled(cells: Sequence[Sending]) -> list[dict[str, object]]:
    plain = {cell.condition: cell.duration_s.value for cell in cells if cell.cipher == PLAIN}
    return [
        {"name": NAMES[cell.cipher], "variant": CONDITIONS[cell.condition]}
        | {"value": cell.duration_s.value / plain[cell.condition], "evidence": "modelled"}
        for cell in cells
        if cell.cipher != PLAIN
    ]


def _listed(transfers: Sequence[Transferred]) -> pl.DataFrame:
    rows = []
    for several in _groups(transfers).values():
        first = several[0]
        joules = [transfer.energy_J for transfer in several if transfer.energy_J is not None]
        seconds = median(transfer.duration_s for transfer in several)
        rows.append(
            {
                "cipher": _named(first),
                "code": f"{first.cipher} of {first.provider}",
                "how": first.how,
                "transfers": len(several),
                "plaintext, B": first.plain_B,
                "sent, B": first.wire_B,
                "cipher, s": median(transfer.cipher_s for transfer in several),
                "with cipher, s": seconds,
                "s a megabyte": 1e6 * seconds / first.plain_B,
                "energy, J": median(joules) if joules else None,
                "evidence": "measured",
            }
        )
    table = pl.DataFrame(rows, infer_schema_length=None)
    return table.drop("energy, J") if table["energy, J"].null_count() == table.height else table


CONDITIONS = {
    "adhoc_open": "ad hoc, open",
    "adhoc_wep": "ad hoc, WEP",
    "adhoc_poor": "ad hoc, WEP, poor signal",
    "bss_tkip": "BSS, TKIP",
    "bss_open": "BSS, open",
}
MODEL = "wattlock's model of the air"
RATIO_UNIT = "one duration over the other"
End = tuple[str, str]
"""A cipher and a condition."""


class TransferRatio(NamedTuple):
    """One transfer over another: whose ratio a claim gives for a kind of data, None where it speaks of no figure."""

    name: str
    over: End
    under: End
    stated: Callable[[Claim, str], float] | None


def _of_data(claim: Claim, data: str) -> float:
    return float(claim.expect[data])


def _as_percent(claim: Claim, data: str) -> float:
    return 1 + float(claim.expect["percent"][data]) / 100


def _against_aes(condition: str) -> tuple[TransferRatio, ...]:
    where = CONDITIONS[condition]
    return tuple(
        TransferRatio(f"{NAMES[family]} over AES: {where}", (family, condition), ("aes", condition), _of_data)
        for family in ("blowfish", "rc6")
    )


def _plain_ratio(
    name: str, over: str, under: str, stated: Callable[[Claim, str], float] | None
) -> tuple[TransferRatio, ...]:
    return (TransferRatio(f"plaintext: {name}", (PLAIN, over), (PLAIN, under), stated),)


COMPARED: dict[str, tuple[TransferRatio, ...]] = {
    "adhoc-blowfish-rc6-vs-aes": _against_aes("adhoc_open"),
    "bss-blowfish-rc6-vs-aes": _against_aes("bss_tkip"),
    "poor-signal": _plain_ratio("poor signal over open", "adhoc_poor", "adhoc_open", _as_percent),
    "bss-vs-adhoc": _plain_ratio("BSS over ad hoc, open", "bss_open", "adhoc_open", None),
    "tkip-vs-open": _plain_ratio("TKIP over open, BSS", "bss_tkip", "bss_open", None),
}
"""What each claim on sending holds against what."""


def sending_panel(exhibit: Exhibit, material: Material, data: str) -> list[Panel]:
    """The ratios of a data set: here, in the paper's sentences, and divided from its own table."""
    cells = {(cell.cipher, cell.condition): cell for cell in material.sent if cell.data == data}
    made: list[dict[str, object]] = []
    marks: list[dict[str, object]] = []
    for claim in map(material.papers.claim, exhibit.numbers):
        for compared in COMPARED[claim.id]:
            over, under = cells.get(compared.over), cells.get(compared.under)
            if over is None or under is None:
                continue
            made.append(_modelled_ratio(compared.name, over, under))
            marks += _printed_ratio(compared, claim, data, over, under)
    if not made:
        return []
    order = tuple(dict.fromkeys(str(row["name"]) for row in made))
    title = f"The paper's ratios of sending {data}, and the model's"
    return [Panel(title, "dots", frame(made), RATIO_UNIT, marks=frame(marks), order=order)]


def _modelled_ratio(name: str, over: Sending, under: Sending) -> dict[str, object]:
    mine, theirs = over.duration_s, under.duration_s
    ratio = {"value": mine.value / theirs.value, "low": mine.low / theirs.value, "high": mine.high / theirs.value}
    return {"name": name, "variant": MODEL, **ratio, "evidence": "modelled"}


def _printed_ratio(
    compared: TransferRatio, claim: Claim, data: str, over: Sending, under: Sending
) -> Iterator[dict[str, object]]:
    if compared.stated is not None:
        yield _mark(compared.name, compared.stated(claim, data), BY_ORIGIN[claim.origin])
    if over.paper_s and under.paper_s:
        yield _mark(compared.name, over.paper_s / under.paper_s, READ_OFF)


def _mark(name: str, value: float, provenance: str) -> dict[str, object]:
    return {"name": name, "variant": of_the_paper(provenance), "value": value, "evidence": provenance}
