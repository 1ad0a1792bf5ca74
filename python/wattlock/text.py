"""Text of others (a device, a lab, a run that somebody sent) where it meets a terminal, a page or a table.

A control character would be carried out there, and a bidirectional one turns round what is read. `harmless` shows both;
the outlets call it (`cli.echo`, tables, CSV, LaTeX, HTML), so that what is printed in a new place is shown so too.
"""

import re

ACTS = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
"""C0 but for tab and line feed, DEL, C1, and the controls of Unicode's bidirectional algorithm (UAX #9)."""

_ACTS = re.compile(ACTS)


def harmless(text: str, *, in_json: bool = False) -> str:
    r"""The text with each character that acts in sight, as `\u001b`: printed JSON means the same by it.

    * `in_json`: the text is JSON for a page, whose script is to show it so too.
    """
    mark = "\\\\u" if in_json else "\\u"
    return _ACTS.sub(lambda found: f"{mark}{ord(found[0]):04x}", text)
