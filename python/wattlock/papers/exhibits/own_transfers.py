"""The reader's own transfers, measured, beside what the model computes and the paper prints."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import polars as pl

from wattlock.papers.exhibits.cases import NAMES
from wattlock.papers.exhibits.sending_ratios import CONDITIONS
from wattlock.papers.exhibits.shown import READ_OFF, Material, Panel, frame, of_the_paper
from wattlock.papers.sending import PLAIN, Sending
from wattlock.papers.transfers import Transferred

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


def panels(material: Material, data: str, cells: Sequence[Sending]) -> tuple[list[Panel], tuple[str, ...]]:
    """The panels of a kind of data and what is to be said of them; nothing where no record was given."""
    own = [one for one in material.transferred if (one.data or NO_KIND) == data]
    if not own:
        return [], ()
    # Where the sender's own records are, the receiver's wait for them tells nothing more.
    relative = _over_plain([one for one in own if one.side == "send"] or own)
    made = [Panel("Your own transfers, measured", "table", _listed(own))]
    if relative:
        marks = frame(_printed(cells))
        made.insert(0, Panel("Your own transfers", "dots", frame(relative), UNIT, marks=marks))
        made.insert(1, Panel("The same by the model of the air", "dots", frame(_modelled(cells)), UNIT))
    unnamed = "" if all(one.data for one in own) else " The records don't say what a file holds: `audio=FILE` would."
    lacks = "" if relative else " None of a file in clear is among them: send it with `--cipher null`, too."
    return made, (f"{NOTE}{unnamed}{lacks}",)


def _named(one: Transferred) -> str:
    return NAMES[PLAIN] if one.cipher == IN_CLEAR else NAMES.get(one.name, one.cipher)


def _groups(own: Sequence[Transferred]) -> dict[tuple[str, str, str, str], list[Transferred]]:
    """Transfers of one file by one code, sent one way, as one side measured them."""
    found: dict[tuple[str, str, str, str], list[Transferred]] = {}
    for one in own:
        found.setdefault((one.plain, one.how, one.cipher, one.provider), []).append(one)
    return found


def _over_plain(own: Sequence[Transferred]) -> list[dict[str, object]]:
    """Each cipher's duration over that of the same file in clear: the median over files."""
    took = {key: median(one.duration_s for one in several) for key, several in _groups(own).items()}
    clear = {(plain, how): seconds for (plain, how, cipher, _), seconds in took.items() if cipher == IN_CLEAR}
    ratios: dict[tuple[str, str], list[float]] = {}
    names = {(one.cipher, one.provider): _named(one) for one in own}
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


def _listed(own: Sequence[Transferred]) -> pl.DataFrame:
    rows = []
    for several in _groups(own).values():
        first = several[0]
        joules = [one.energy_J for one in several if one.energy_J is not None]
        seconds = median(one.duration_s for one in several)
        rows.append(
            {
                "cipher": _named(first),
                "code": f"{first.cipher} of {first.provider}",
                "how": first.how,
                "transfers": len(several),
                "plaintext, B": first.plain_B,
                "sent, B": first.wire_B,
                "cipher, s": median(one.cipher_s for one in several),
                "with cipher, s": seconds,
                "s a megabyte": 1e6 * seconds / first.plain_B,
                "energy, J": median(joules) if joules else None,
                "evidence": "measured",
            }
        )
    table = pl.DataFrame(rows, infer_schema_length=None)
    return table.drop("energy, J") if table["energy, J"].null_count() == table.height else table
