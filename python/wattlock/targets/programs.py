"""Where a program of wattlock's lies on this machine, and what it says when it fails."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from wattlock.errors import ProbeError, WayError


class NotInstalled(WayError):
    """A program of this machine's is missing or too old by which a device is reached: to wait brings none."""


def located(name: str, variable: str) -> Path:
    """A program: named by an environment variable, beside this Python, or on the path.

    Raises ProbeError where it is nowhere.
    """
    named = os.environ.get(variable)
    beside = Path(sys.executable).with_name(name)
    for candidate in (named,) if named else (beside, shutil.which(name)):
        if candidate and os.access(candidate, os.X_OK):
            return Path(candidate)
    place = f"{variable}={named}" if named else f"{beside} and PATH"
    raise ProbeError(f"{place}: no program {name}", hint=f"`make setup` builds it; {variable} names another one")


def go_on(device: str) -> str:
    """What to do where a device was lost; `device`: its name, as `--on` takes it."""
    return f"what was measured is kept; `wattlock run --resume last --on {device}` goes on"


def complaint_in(complaints: bytes) -> str:
    """What a program complained of: the first line of its error where it says one, else its last line; hints apart."""
    lines = [line for line in complaints.decode(errors="replace").splitlines() if not line.startswith("hint:")]
    said = [line for line in lines if line.startswith("error: ")] or lines[-1:]
    return said[0].strip() if said else ""


def hint_in(complaints: bytes) -> str:
    """What a program itself says would mend it; empty where it says nothing."""
    hints = [line for line in complaints.decode(errors="replace").splitlines() if line.startswith("hint:")]
    return hints[-1].removeprefix("hint:").strip() if hints else ""


def read(written: Sequence[bytes], form: Callable[[bytes], Any], code: int, complaints: bytes, who: str) -> Any:
    """What a program answered, read by `form`; `who`: the program and its verb.

    Raises ProbeError with its own complaint where the answer can't be read.
    """
    try:
        return form(b"".join(written))
    except (ValueError, RecursionError):
        complaint = complaint_in(complaints).removeprefix("error: ")
        described = f"{who.rpartition(' ')[2]}: {complaint}" if complaint else f"{who}: exit code {code}, and no JSON"
        raise ProbeError(described, hint=hint_in(complaints) or "`make setup` builds it anew") from None
