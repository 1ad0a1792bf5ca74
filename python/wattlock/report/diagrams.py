"""The papers' explaining drawings, made from the project's data: authentication, taxonomy, feature model, loop."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from wattlock.report.drawing import LEADING, SIZE, SMALL, WIDTH, Sheet, chips, lines_of
from wattlock.report.formats import FAMILY_NAMES, listing, size

Row = Mapping[str, Any]
LANES = (52, WIDTH - 52)
INDENT = 20


def exchange(title: str, parties: Sequence[str], messages: Sequence[Row]) -> str:
    """Frames between two, one below the other, each with its octets.

    * `messages`: `from` (0 or 1), `says`, `octets_B`, and `is_protected` of a frame whose content is encrypted.
    """
    formatted = "; ".join(f"{parties[one['from']]}: {one['says']}, {one['octets_B']} octets" for one in messages)
    sheet = Sheet(title, f"{len(messages)} messages. {formatted}.")
    end = 46 + 46 * len(messages)
    for x, name in zip(LANES, parties, strict=True):
        sheet.box(x - 50, 2, 100, 26)
        sheet.words(x, 19, name, "middle")
        sheet.line([(x, 28), (x, end)])
    for number, one in enumerate(messages):
        y = 70 + 46 * number
        start, goal = (LANES[one["from"]], LANES[1 - one["from"]])
        role = "link" if one.get("is_protected") else "ink"
        sheet.words(WIDTH / 2, y - 20, one["says"], "middle", size=12)
        sheet.words(WIDTH / 2, y - 6, size(one["octets_B"]), "middle", role="muted", size=SMALL)
        sheet.line([(start, y), (goal, y)], role, head=True)
    sheet.height = max(sheet.height, end)
    return sheet.svg()


def taxonomy(rows: Iterable[Row]) -> str:
    """The catalogue's families by what they are: a heading a class, a box a family.

    * `rows`: of the catalogue: `family`, `mode`, `block_bits`, `public_key_B`, `operations`.
    """
    classes = classified(rows)
    formatted = "; ".join(f"{heading}, {name}: {listing(found)}" for heading, name, found in classes)
    sheet = Sheet("Taxonomy of the ciphers", f"{formatted}.")
    y, last = 2.0, ""
    for heading, name, found in classes:
        if heading != last:
            y += 12 if last else 0
            sheet.words(0, y + 14, heading)
            y, last = y + 22, heading
        top = y
        sheet.words(INDENT, y + 13, name, role="muted", size=12)
        y += 20
        rows_of = list(chips(found, WIDTH - INDENT))
        for row, x, width, label in rows_of:
            sheet.box(INDENT + x, y + 25 * row, width, 21)
            sheet.words(INDENT + x + width / 2, y + 25 * row + 15, label, "middle", size=SMALL)
        y += 25 * (rows_of[-1][0] + 1) + 6
        sheet.line([(6, top - 4), (6, top + 9), (INDENT - 5, top + 9)])
    return sheet.svg()


def classified(rows: Iterable[Row]) -> list[tuple[str, str, list[str]]]:
    """Heading, class and the names of its families, each family once a class, by name."""
    found: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        found.setdefault(_class(row), set()).add(_name(row["family"]))
    return [(heading, name, sorted(found[heading, name], key=str.lower)) for heading, name in sorted(found, key=_place)]


def _name(family: str) -> str:
    """A family without its block: `rijndael192` as Rijndael, `aes-gcm` as AES-GCM, `ccmp128` as CCMP-128."""
    if family in FAMILY_NAMES:
        return FAMILY_NAMES[family]
    stem, digits, rest = re.fullmatch(r"([a-z]+)(\d*)(.*)", family).groups("")  # type: ignore[union-attr]
    if stem in FAMILY_NAMES:
        return FAMILY_NAMES[stem] + rest.upper()
    return stem.upper() + (f"-{digits}" if digits else "") + rest.upper()


HEADINGS = ("Symmetric: one key for both ends", "Asymmetric: a public key", "No security: what copying costs")
BASELINES = ("xor", "null")
EXCHANGES = {
    "agree": "key agreement",
    "encapsulate": "key encapsulation",
    "encrypt": "encryption of a short message",
    "sign": "signatures",
}


KINDS = {
    "aead": "authenticated encryption",
    "frame": "protection of 802.11 frames",
    "link": "protection of a link's records",
    "stream": "streams, without a mode",
}


def _class(row: Row) -> tuple[str, str]:
    if row["family"] in BASELINES:
        return HEADINGS[2], "baselines"
    if row.get("public_key_B"):
        return HEADINGS[1], next(name for one, name in EXCHANGES.items() if one in (row.get("operations") or []))
    blocks = f"blocks of {row['block_bits']} bits, in a mode of operation"
    return HEADINGS[0], KINDS.get(row["mode"], blocks)


def _place(key: tuple[str, str]) -> tuple[int, int, int, str]:
    heading, name = key
    digits = "".join(letter for letter in name if letter.isdigit()) if name.startswith("blocks") else ""
    order = ("streams", "blocks", "auth", "protection")
    kind = next((place for place, start in enumerate(order) if name.startswith(start)), len(order))
    return HEADINGS.index(heading), kind, int(digits or 0), name


MARKS = {"mandatory": "●", "optional": "○", "one of": "◇", "some of": "□"}


def feature_model(features: Sequence[Row]) -> str:
    """Features below each other, indented by depth, with what each kind of them means.

    * `features`: `name`, `kind` (of `MARKS`), `depth`, in the order of a walk through the tree.
    """
    formatted = "; ".join(f"{'> ' * one['depth']}{one['name']} ({one['kind']})" for one in features)
    sheet = Sheet("Feature model", f"{formatted}.")
    y = 4.0
    rails: dict[int, float] = {}
    for one in features:
        x = INDENT * one["depth"]
        lines = lines_of(one["name"], WIDTH - x - 24)
        height = LEADING * len(lines) + 8
        middle = y + height / 2
        if one["depth"]:
            left = x - INDENT / 2
            sheet.line([(left, rails[one["depth"] - 1]), (left, middle), (x, middle)])
        sheet.box(x, y, WIDTH - x - 2, height)
        sheet.words(x + 8, middle + 4.5, MARKS[one["kind"]])
        for number, line in enumerate(lines):
            sheet.words(x + 24, y + LEADING * (number + 1), line, size=12)
        rails[one["depth"]] = y + height
        y += height + 7
    kinds = dict.fromkeys(one["kind"] for one in features)
    sheet.words(0, y + 10, "   ".join(f"{MARKS[kind]} {kind}" for kind in kinds), role="muted", size=SMALL)
    return sheet.svg()


def loop(title: str, steps: Sequence[str], question: int, back_to: int) -> str:
    """Steps below each other, and the way back from the one that asks.

    * `question`, `back_to`: which step asks, and which one it goes back to.
    """
    formatted = "; ".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    sheet = Sheet(title, f"{formatted}. Step {question + 1} goes back to step {back_to + 1} until it is so.")
    room, y, middles = WIDTH - 70, 2.0, []
    for number, step in enumerate(steps):
        lines = lines_of(step, room - 16)
        height = LEADING * len(lines) + 10
        sheet.box(0, y, room, height, "link" if number == question else "muted", 14 if number == question else 4)
        for place, line in enumerate(lines):
            sheet.words(room / 2, y + LEADING * (place + 1) + 1, line, "middle", size=SIZE - 0.5)
        middles.append(y + height / 2)
        if number < len(steps) - 1:
            sheet.line([(room / 2, y + height), (room / 2, y + height + 18)], head=True)
        y += height + 18
    far = room + 26
    sheet.line(
        [(room, middles[question]), (far, middles[question]), (far, middles[back_to]), (room, middles[back_to])],
        "link",
        head=True,
    )
    sheet.words(far + 5, (middles[question] + middles[back_to]) / 2, "no", role="muted", size=12)
    sheet.words(room / 2 + 8, middles[question] + 27, "yes", role="muted", size=12)
    return sheet.svg()
