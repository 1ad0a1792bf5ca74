"""Where things lie: the tree, the package, the crates, and the programs that were built for the tests."""

import os
import sys
from pathlib import Path

import pytest

TREE = Path(__file__).parents[3]
PACKAGE = TREE / "python" / "wattlock"
CRATES = TREE / "crates"
TESTS = TREE / "tests" / "python"
SUPPORT = TESTS / "support"
PROBE = Path(os.environ.get("WATTLOCK_PROBE", Path(sys.prefix, "bin", "wattlock-probe")))
NET = Path(os.environ.get("WATTLOCK_NET", Path(sys.prefix, "bin", "wattlock-net")))

# The street: a room imports from those before it. `errors` belongs to all.
ROOMS = [
    "definitions",
    "study",
    "store",
    "targets",
    "analysis",
    "run",
    "energy",
    "security",
    "link",
    "papers",
    "advise",
    "sweep",
    "report",
    "publish",
    "page",
    "lab",
    "cli",
]


def require_programs() -> None:
    """A missing program is a failure, not a reason to skip."""
    for program in (PROBE, NET):
        if not program.is_file():
            pytest.fail(f"{program} is missing: `make test` builds it")
