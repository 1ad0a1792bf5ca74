"""Programs of others that some tests compare with: only root can install them, as `.ci/run` does."""

import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest

from wattlock.link import ns3

REQUIRED = bool(os.environ.get("WATTLOCK_REQUIRE_TOOLS"))
"""Whether a test without its program fails, in place of being skipped with the reason."""


def needs(program: str | None, reason: str) -> pytest.MarkDecorator:
    """Marks tests that can't run without a program; `program`: its path, None where it is missing.

    A machine without root can't install it, so the test is skipped there, by name and with the reason; `make test`
    lists what was skipped. In CI nothing is: there it fails.
    """
    return pytest.mark.skipif(program is None and not REQUIRED, reason=reason)


NS3 = ns3.python()
# It is there for x86-64 alone, as an extra under the GPL of half a gigabyte that `make test` does not install.
needs_ns3 = pytest.mark.skipif(
    NS3 is None and not (REQUIRED and platform.machine() == "x86_64"),
    reason="no ns3: the extra ns3, or WATTLOCK_NS3_PYTHON",
)


def missing(reason: str) -> NoReturn:
    """As `needs`, in the middle of a test."""
    if REQUIRED:
        pytest.fail(reason)
    pytest.skip(reason)


def compiling(program: str, *targets: str, beside: tuple[str, ...] = ()) -> str | None:
    """The path of `program`; None where it, a toolchain, a Rust target or a program of `beside` is missing.

    rustup's rustc is there without a toolchain too, and fails then: while tests are collected nothing may end by that.
    """
    if not all(map(shutil.which, ("rustc", "cargo", "cc", *beside))):
        return None
    asked = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=False)
    libraries = Path(asked.stdout.strip(), "lib", "rustlib")
    there = asked.returncode == 0 and all((libraries / target).is_dir() for target in targets)
    return shutil.which(program) if there else None
