"""This user's cache: what can be made again, kept because making it takes time."""

import os
from pathlib import Path


def folder() -> Path:
    """Where it is (XDG Base Directory Specification 0.8). Raises RuntimeError where the user has no home."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "wattlock"
