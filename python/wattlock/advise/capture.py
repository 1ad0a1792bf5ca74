"""Traffic as it was captured: the messages of its packets, and over what time they came."""

from pathlib import Path
from typing import Any

from wattlock.errors import InputError
from wattlock.link import capture
from wattlock.targets import toolbox


def flow(path: str) -> dict[str, Any]:
    """The tables of a flow: sizes of messages, and the time over which they came.

    * `path`: a capture that `wattlock-net capture` reads; what of its packets is a message, `link.capture` says.

    Raises InputError where the file is no capture, holds no message, or has no times.
    """
    counted = capture.census(toolbox.find(), Path(path))
    sizes = capture.traffic(counted).sizes
    first_ns, last_ns = counted.summary["first_ns"], counted.summary["last_ns"]
    if first_ns is None or last_ns is None or last_ns - first_ns < 1_000:
        raise InputError(f"capture {path}: is over in no time", hint="name one with the times of several packets")
    return {"sizes": [list(pair) for pair in sizes], "every": f"{(last_ns - first_ns) // 1_000}us"}
