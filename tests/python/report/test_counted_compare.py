"""What the page of several runs that counted says, where one has ciphers that another one lacks."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.counted_runs import M0PLUS, M4, STUDY, Replayed
from wattlock.report.compare_page import sections
from wattlock.report.compared import run_comparison
from wattlock.run.begin import Request, measure
from wattlock.run.result import open_run
from wattlock.run.run_comparison import compare


@pytest.fixture(scope="module")
def some(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The M4's run with some of its ciphers."""
    place = tmp_path_factory.mktemp("some")
    (place / "counted.toml").write_text(STUDY)
    runs = {"one": ["ascon*"], "two": ["ascon*", "chacha20*"], "case": ["cipher=rc4*,operation=encrypt"]}
    for name, only in runs.items():
        measure(Request(str(place / "counted.toml"), only), target=Replayed(M4, changed=MORE[name]), out=place / name)
    return {name: place / name for name in runs}


def more(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the probe writes where each case takes twice the cycles."""
    return [line | {"core_cycles": 2 * line["core_cycles"]} if line["kind"] == "count" else line for line in lines]


MORE: dict[str, Callable[[list[dict[str, Any]]], list[dict[str, Any]]]] = {"one": list, "two": list, "case": more}


def answered(*runs: Path) -> str:
    """The sentence of the answer, without marks."""
    first, *others = map(open_run, runs)
    compared = run_comparison(list(map(str, runs)), compare(first, others))
    lead = re.search('<p class="lead">(.*?)</p>', sections(compared))
    assert lead is not None
    return re.sub("<[^>]+>", "", lead[1]).replace("\u00a0", " ")


@pytest.mark.parametrize("is_first", [True, False])
def test_a_cipher_without_rivals_is_not_called_the_cheapest(some: dict[str, Path], is_first: bool) -> None:
    runs = (some["one"], M0PLUS) if is_first else (M0PLUS, some["one"])
    told = answered(*runs)
    assert "Cheapest" not in told
    assert "No two ciphers that can be compared are in every run" in told
    assert "To seal 64 B, Ascon-AEAD128 takes" in told
    assert "16,420 on Cortex-M0+" in told
    assert "9,078 on Cortex-M4" in told


def test_the_cheapest_is_of_the_ciphers_that_every_run_has(some: dict[str, Path]) -> None:
    told = answered(M0PLUS, some["two"])
    assert told.startswith("Cheapest of the 2 cases that every run has to seal 64 B: Ascon-AEAD128")
    assert "on Cortex-M0+; ChaCha20-Poly1305" in told


def test_runs_with_the_same_ciphers_are_answered_of_all() -> None:
    assert answered(M0PLUS, M4).startswith("Cheapest to seal 64 B: Ascon-AEAD128")


def test_of_one_case_there_is_one_sentence(some: dict[str, Path]) -> None:
    told = answered(M4, some["case"])
    assert told.startswith("In the case that both have (RC4-128, encrypt")
    assert "takes 100 % more core cycles than A (m4)." in told
