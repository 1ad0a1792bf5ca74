"""How the charts look: one Vega configuration, its colours named by role.

A colour is a CSS variable, so that the charts follow light, dark and paper without being drawn anew.

The eight family colours keep at least 3:1 to their ground (WCAG 2.2, 1.4.11) and were spread apart in OKLab under
normal sight and the three dichromacies of Machado, Oliveira and Fernandes (2009).
"""

from typing import Any

FAMILIES = ("aes", "des", "3des", "rc2", "rc4", "rc5", "rc6", "blowfish")
LIGHT = {
    "paper": "#ffffff",
    "ink": "#1c1f22",
    "muted": "#5a6168",
    "rule": "#dfe2e5",
    "panel": "#f5f6f7",
    "link": "#005baf",
    "loud": "#a61b1b",
    "measured": "#0b6b3a",
    "emulated": "#1f5fa8",
    "modelled": "#7a3a9a",
    "assumed": "#8a4b00",
    "published": "#475569",
    "aes": "#005baf",
    "des": "#dd5610",
    "3des": "#92336d",
    "rc2": "#655004",
    "rc4": "#10966a",
    "rc5": "#8977b7",
    "rc6": "#0096ff",
    "blowfish": "#3f3136",
    "other-1": "#7a7f85",
    "other-2": "#a0522d",
}
DARK = {
    "paper": "#14171a",
    "ink": "#e8eaec",
    "muted": "#a3abb3",
    "rule": "#32383e",
    "panel": "#1d2125",
    "link": "#86b6f2",
    "loud": "#ff9a8f",
    "measured": "#5fd39a",
    "emulated": "#7fb2f5",
    "modelled": "#cfa0ee",
    "assumed": "#f0b45a",
    "published": "#b4bfca",
    "aes": "#649ae2",
    "des": "#e88139",
    "3des": "#dd4581",
    "rc2": "#e0c43a",
    "rc4": "#16cba0",
    "rc5": "#8361ff",
    "rc6": "#acc3ff",
    "blowfish": "#dae5d0",
    "other-1": "#9aa1a8",
    "other-2": "#cf8a62",
}
CATEGORY = (*FAMILIES, "other-1", "other-2")
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"


def stylesheet() -> str:
    """The colours as CSS variables: light, and dark where the reader's system asks for it on a screen."""
    light, dark = (";".join(f"--{role}:{colour}" for role, colour in side.items()) for side in (LIGHT, DARK))
    return f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def colour(role: str) -> str:
    """The CSS variable of a role."""
    return f"var(--{role})"


def page_config() -> dict[str, Any]:
    """The Vega configuration of every chart on the page."""
    words = {"labelColor": colour("muted"), "titleColor": colour("ink"), "labelFontSize": 12, "titleFontSize": 12}
    return {
        "background": None,
        "font": FONT,
        "view": {"stroke": None},
        "mark": {"aria": False, "color": colour("ink")},
        "range": {"category": [colour(role) for role in CATEGORY]},
        "axis": words
        | {
            "aria": False,
            "titleFontWeight": "normal",
            "titlePadding": 10,
            "labelPadding": 6,
            "domain": False,
            "ticks": False,
            "gridColor": colour("rule"),
        },
        "axisY": {"titleAnchor": "end", "titleAlign": "left", "titleAngle": 0, "titleBaseline": "bottom"},
        "legend": words
        | {"aria": False, "orient": "top", "titleFontWeight": "normal", "symbolFillColor": colour("muted")}
        # Legends stand below each other: two side by side are wider than a phone.
        | {"layout": {"top": {"anchor": "start", "direction": "vertical"}}},
        "text": {"color": colour("ink"), "fontSize": 12},
        "style": {"value": {"fill": colour("ink")}},
    }
