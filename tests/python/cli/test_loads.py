"""What a verb may not load: each took a start of tens of milliseconds, and nothing of it was used."""

import os
import subprocess
import sys

import pytest

from support.tree import TESTS, TREE

RUN = TESTS / "store" / "measured_run"
DRAWING = {"altair", "vl_convert", "scipy", "jsonschema", "narwhals"}
ROOMS = {"advise", "lab", "link", "page", "papers", "publish", "report", "security", "sweep"}
"""Rooms that no estimate of a run is made in."""


def loaded_by(*words: str) -> set[str]:
    """The modules that a command line loads, with the packages that they are in."""
    code = (
        "import sys; from wattlock.cli import answer\n"
        f"assert answer({list(words)}) == 0\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    environment = {**os.environ, "PYTHONPATH": str(TREE / "python")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("form", ["table", "csv"])
def test_show_loads_no_library_that_draws_and_no_room_that_it_does_not_need(form: str) -> None:
    loaded = loaded_by("show", str(RUN), "--format", form)
    rooms = {f"wattlock.{room}" for room in ROOMS - ({"report"} if form == "csv" else set())}
    assert "polars" in loaded
    assert loaded & (DRAWING | rooms | {"rich"}) == set()


def test_advise_on_one_screen_loads_neither_polars_nor_a_run() -> None:
    loaded = loaded_by("advise", "gas-meter", "--allow-assumed")
    assert "numpy" in loaded
    assert loaded & (DRAWING | {"polars", "wattlock.run", "wattlock.report", "wattlock.link.wifi"}) == set()
