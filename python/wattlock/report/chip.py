"""The evidence chip: one small mark that says what a number rests on, by its word, its shape and its colour.

The word is the accessible name and what is copied; the shape tells kinds apart without colour, on paper too.
"""

from collections.abc import Iterable

from wattlock.report.look import colour
from wattlock.report.markup import text

SHAPES = {"measured": "■", "emulated": "◆", "modelled": "▲", "assumed": "▽", "published": "□"}
"""What numbers may rest on, each with its shape: full where wattlock found it, hollow where it was told."""

INVALID = '<span class="invalid-run">⊘ invalid run</span>'
"""What stands in a chip's place where a run's self-check failed: its numbers are no results."""

_FRAME = (
    ".chip{display:inline-block;border:1px solid;border-radius:1em;padding:0 .55em;font-size:.75rem;line-height:1.5;"
    "font-weight:600;letter-spacing:0;white-space:nowrap;vertical-align:.1em;background:var(--paper)}"
)

_INVALID = ".invalid-run{color:var(--loud);font-weight:650;white-space:nowrap}"


def chip(kind: str | None) -> str:
    """The chip of a kind of evidence as HTML; nothing for a number that is not there."""
    return f'<span class="chip" data-evidence="{text(kind)}">{text(kind)}</span>' if kind else ""


def chips(kinds: Iterable[str | None]) -> str:
    """A chip for each of several kinds, once, the best evidence first."""
    order = list(SHAPES)
    known = sorted({kind for kind in kinds if kind}, key=lambda kind: (order.index(kind) if kind in order else 9, kind))
    return " ".join(chip(kind) for kind in known)


def stylesheet() -> str:
    """How chips look; the shape is drawn by the style, so that it is neither read aloud nor copied."""
    kinds = "".join(
        f".chip[data-evidence={kind}]{{color:{colour(kind)}}}"
        f'.chip[data-evidence={kind}]::before{{content:"{shape}\\a0";content:"{shape}\\a0"/""}}'
        for kind, shape in SHAPES.items()
    )
    return f"{_FRAME}{_INVALID}.chip[data-evidence=assumed]{{border-style:dashed}}{kinds}"
