"""Published cycles: each figure has its source, core and wait states, and there are enough that nobody fitted."""

import tomllib
from collections import Counter
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest

from wattlock.errors import InputError
from wattlock.targets.parts import FIGURES, PARTS, PublishedCycles

WORKS = {name: FIGURES.load(name)[1] for name in FIGURES.shipped()}
# The work on whose figures the rules of cores were looked at while they were written.
LOOKED_AT = "jnk0le-aes"
X25519 = (files("wattlock") / "data" / "published" / "cycles" / "pornin-x25519.toml").read_text()


def at_zero_wait_states(*, by_others: bool) -> list[PublishedCycles]:
    return [
        figure
        for name, work in WORKS.items()
        if (name != LOOKED_AT) == by_others
        for figure in work.figures
        if figure.wait_states == 0
    ]


@pytest.mark.parametrize("name", WORKS)
def test_a_work_has_its_code_at_a_commit_and_each_figure_says_where_it_stands(name: str) -> None:
    work = WORKS[name]
    assert work.url.startswith("https://")
    assert work.repository.startswith("https://")
    assert len(work.commit) == 40
    assert all(figure.core and figure.where and figure.wait_states >= 0 for figure in work.figures)


def test_at_least_eighty_figures_have_no_wait_states_and_forty_of_them_are_by_others() -> None:
    assert len(at_zero_wait_states(by_others=False)) + len(at_zero_wait_states(by_others=True)) >= 80
    assert len(at_zero_wait_states(by_others=True)) >= 40


def test_every_core_but_the_m0_and_the_m33_has_figures_by_others() -> None:
    cores = Counter(figure.core for figure in at_zero_wait_states(by_others=True))
    assert set(cores) == {"cortex-m0plus", "cortex-m3", "cortex-m4", "sifive-e31"}


def test_figures_of_a_part_are_of_its_core_and_of_wait_states_that_it_can_have() -> None:
    of_parts = [figure for work in WORKS.values() for figure in work.figures if figure.part]
    assert {figure.part for figure in of_parts} == {"stm32f103", "stm32f407", "nrf52840", "samd21"}
    for figure in of_parts:
        part = PARTS.load(figure.part or "")[1]
        assert figure.core == part.core
        assert figure.wait_states in {step.count for held in part.ranges for step in held.wait_states}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda work: work.pop("url"), "url"),
        (lambda work: work.update(commit="main"), "commit"),
        (lambda work: work["figures"][0].pop("wait_states"), "wait_states"),
        (lambda work: work["figures"][0].pop("where"), "where"),
        (lambda work: work["figures"][0].update(wait_states=1), "no part"),
        (lambda work: work["figures"][0].update(part="stm32f9"), "stm32f9"),
        (lambda work: work["figures"].append(work["figures"][0]), "more than one"),
        (lambda work: work.update(language="assembly and C"), "compiler"),
    ],
)
def test_a_work_without_what_makes_it_checkable_is_refused(
    change: Callable[[dict[str, Any]], None], named: str
) -> None:
    tables = tomllib.loads(X25519)
    assert FIGURES.checked("work own", tables)
    change(tables)
    with pytest.raises(InputError) as refused:
        FIGURES.checked("work own", tables)
    assert named in f"{refused.value} {refused.value.hint}"
