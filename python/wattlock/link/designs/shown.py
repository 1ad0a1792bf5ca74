"""The comparison for eyes: short tables of one radio's rows, which fit beside one another in 100 letters."""

from collections.abc import Iterator, Sequence
from typing import Any

from wattlock.link.designs.rules import compared

Rows = Sequence[dict[str, Any]]

# Messages of more of a unit are told in the next.
MOST = 10_000
LARGE = 1_000
# What tally is held against: DTLS 1.3, its own cipher with whole tags, and what takes least where little is lost.
AGAINST = (
    (128, "dtls13"),
    (128, "dtls13-cid"),
    (128, "whole"),
    (128, "sp-mac"),
    (64, "dtls13-ccm8"),
    (64, "dtls13-cid-ccm8"),
    (64, "whole-8"),
    (64, "sp-mac"),
)
AGAINST_BARE = ((128, "whole-bare"), (64, "whole-8-bare"))
COMMON = 0.1
"""The loss at which radio and reports alone are told."""


def unit(found: Rows) -> tuple[str, float]:
    """In what a radio's joules are told, and how many of it a microjoule is."""
    most_uJ = max(row["message_uJ"] for row in found)
    if most_uJ <= MOST:
        return "uJ", 1.0
    return ("mJ", 1e-3) if 1e-3 * most_uJ <= MOST else ("J", 1e-6)


def by_design(found: Rows) -> dict[str, list[dict[str, Any]]]:
    """A radio's rows by their design, one a loss."""
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in found:
        grouped.setdefault(row["design"], []).append(row)
    return grouped


def lossless(found: Rows) -> list[dict[str, Any]]:
    """A row a design with what does not depend on loss."""
    name, size = unit(found)
    return [
        {
            **{key: first[key] for key in ("design", "adds_B", "air_ms", "over")},
            "frames": first["frames"] if first["frames"] > 1 else None,
            **{key: first[key] for key in ("cycles", "state_B")},
            f"handshake_{name}": None if first["handshake_uJ"] is None else _number(size * first["handshake_uJ"]),
            f"delivered_{name}": _number(size * first["delivered_uJ"]),
            "bits_at_once": first["bits_at_release"],
        }
        for first, *_ in by_design(found).values()
    ]


def verified(found: Rows, bits: int) -> list[dict[str, Any]]:
    """A row a design that has so many bits: joules of a message that is verified by the share that is lost."""
    _, size = unit(found)

    def cell(row: dict[str, Any]) -> str:
        mean, low, high = (row[f"verified_{bits}_{part}uJ"] for part in ("", "low_", "high_"))
        return "never" if mean is None else f"{_number(size * mean)} {_number(size * low)}-{_number(size * high)}"

    return [
        {"design": name} | {_percent(row["loss"]): cell(row) for row in rows}
        for name, rows in by_design(found).items()
        if name not in never(found, bits)
    ]


def never(found: Rows, bits: int) -> list[str]:
    """The designs of which no message has so many bits."""
    return [name for name, rows in by_design(found).items() if all(row[f"verified_{bits}_uJ"] is None for row in rows)]


def saved(found: Rows) -> list[dict[str, Any]]:
    """Percent that tally takes less than another design, a row a pair: negative where it takes more.

    * `radio`: of radio and reports alone, without what is computed.
    """
    grouped = by_design(found)
    return [
        {"design": name, "below": other, "bits": bits}
        | {
            _percent(own["loss"]): less(own[f"verified_{bits}_uJ"], row[f"verified_{bits}_uJ"])
            for own, row in zip(grouped[name], grouped[other], strict=True)
        }
        | {
            f"radio_{_percent(COMMON)}": less(_radio_uJ(own, bits), _radio_uJ(row, bits))
            for own, row in zip(grouped[name], grouped[other], strict=True)
            if own["loss"] == COMMON
        }
        for name, bits, other in _pairs(grouped)
    ]


def _pairs(grouped: dict[str, list[dict[str, Any]]]) -> Iterator[tuple[str, int, str]]:
    for name in grouped:
        design = compared().design[name]
        if design.cycle:
            against = AGAINST if design.bare_hint_B is None else AGAINST_BARE
            yield from ((name, bits, other) for bits, other in against if other in grouped)


def radio_uJ(row: dict[str, Any]) -> float:
    """Of radio and reports alone, for each message that is sent."""
    return float(row["message_uJ"] + (row["report_uJ"] or 0.0) * row["reports_a_message"])


def _radio_uJ(row: dict[str, Any], bits: int) -> float | None:
    share = row[f"verified_{bits}_share"]
    return radio_uJ(row) / share if share else None


def less(own: float | None, other: float | None) -> str | None:
    """Percent that the one is below the other."""
    if own is None or other is None:
        return None
    # Negative zero is zero.
    return f"{round(100 * (1 - own / other), 1) + 0.0:.1f}"


def waits(found: Rows, bits: int) -> dict[str, list[tuple[float, float]]]:
    """The designs whose messages wait for so many bits: by loss the mean seconds, and the share that gets there."""
    return {
        name: [(row[f"wait_{bits}_s"] or 0.0, row[f"verified_{bits}_share"]) for row in rows]
        for name, rows in by_design(found).items()
        if any(row[f"wait_{bits}_s"] for row in rows)
    }


def _percent(share: float) -> str:
    return f"{100 * share:g}%"


def _number(value: float) -> str:
    """Three digits, without an exponent."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:g}" if rounded < LARGE else f"{rounded:.0f}"
