"""Programs of others that some tests compare with: only root can install them, as `.ci/run` does."""

import os
from typing import NoReturn

import pytest

REQUIRED = bool(os.environ.get("WATTLOCK_REQUIRE_TOOLS"))
"""Whether a test without its program fails, in place of being skipped with the reason."""


def needs(program: str | None, reason: str) -> pytest.MarkDecorator:
    """Marks tests that can't run without a program; `program`: its path, None where it is missing.

    A machine without root can't install it, so the test is skipped there, by name and with the reason; `make test`
    lists what was skipped. In CI nothing is: there it fails.
    """
    return pytest.mark.skipif(program is None and not REQUIRED, reason=reason)


def missing(reason: str) -> NoReturn:
    """As `needs`, in the middle of a test."""
    if REQUIRED:
        pytest.fail(reason)
    pytest.skip(reason)
