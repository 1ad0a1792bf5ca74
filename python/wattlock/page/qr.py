"""An address as a QR code (ISO/IEC 18004), for a phone's camera: of half-block characters, or a drawing of a page."""

from __future__ import annotations

import io

WHITE_ON_BLACK, RESET = "\x1b[97;40m", "\x1b[0m"
"""ECMA-48, 8.3.117: whatever colours the terminal has, not every camera reads an inverted code."""


def code(address: str, columns: int) -> str | None:
    """The code with its quiet zone, lines of text; None where a terminal of so many columns can't show it."""
    import segno

    made = segno.make_qr(address)
    if made.symbol_size()[0] > columns:
        return None
    text = io.StringIO()
    made.terminal(out=text, compact=True)
    return "\n".join(f"{WHITE_ON_BLACK}{line}{RESET}" for line in text.getvalue().splitlines())


def drawing(address: str) -> str:
    """The code with its quiet zone as SVG, dark on white whatever colours the page has."""
    import segno

    made: str = segno.make_qr(address).svg_inline(scale=5, light="#fff", svgclass=None, lineclass=None)
    return made
