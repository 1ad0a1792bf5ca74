"""How many files of the package a verb enters: `.venv/bin/python tools/trace_files.py show last`.

Counted are files of which a function runs, calls while a module is imported apart; the deepest stack is counted in
files, neighbours of one file as one. The verb's own output goes where it always goes, the counts to standard error.
"""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import wattlock
from wattlock.cli import answer

PACKAGE = f"{Path(wattlock.__file__).parent}/"


def files_up(frame: FrameType | None) -> Iterator[str]:
    """The package's files from a frame to the first, neighbours of one file once; nothing below an import."""
    found: list[str] = []
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(PACKAGE):
            if code.co_name == "<module>":
                return iter(())
            name = code.co_filename.removeprefix(PACKAGE)
            if not found or found[-1] != name:
                found.append(name)
        frame = frame.f_back
    return iter(found)


def main(words: list[str]) -> int:
    """Carries the verb out and says what it entered."""
    entered: dict[str, None] = {}
    deepest: list[str] = []

    def profile(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGE) or not code.co_flags & 1:  # no class's body
            return
        stack = list(files_up(frame))
        if stack:
            entered[stack[0]] = None
            if len(stack) > len(deepest):
                deepest[:] = stack[::-1]

    threading.setprofile(profile)
    sys.setprofile(profile)
    code = answer(words)
    sys.setprofile(None)
    sys.stderr.write(f"{len(entered)} files: {' '.join(entered)}\n")
    sys.stderr.write(f"deepest {len(deepest)}: {' > '.join(deepest)}\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
