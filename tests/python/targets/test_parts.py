"""The memories of microcontrollers: every number has its source, and what can't be is refused by name."""

import tomllib
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest

from wattlock.errors import InputError
from wattlock.targets.parts import PARTS

F103 = tomllib.loads((files("wattlock") / "data" / "parts" / "stm32f103.toml").read_text())


def changed(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """The STM32F103 with one thing changed."""
    tables = tomllib.loads((files("wattlock") / "data" / "parts" / "stm32f103.toml").read_text())
    change(tables)
    return tables


def test_the_parts_that_a_board_is_likely_to_have_come_along() -> None:
    assert PARTS.shipped() == [
        "esp32-c3",
        "nrf52840",
        "rp2040",
        "samd21",
        "stm32f103",
        "stm32f407",
        "stm32l476",
        "stm32u575",
    ]


@pytest.mark.parametrize("name", PARTS.shipped())
def test_every_table_of_a_part_has_its_source_and_the_part_one_address_of_its_vendor(name: str) -> None:
    part = PARTS.load(name)[1]
    optional = [part.prefetch] if part.prefetch else []
    tables = [part.memory, part.flash, *part.ranges, *part.caches, part.sram, *optional]
    assert all(table.source for table in tables)
    assert any((table.url or "").startswith("https://") for table in tables)


@pytest.mark.parametrize("name", PARTS.shipped())
def test_wait_states_grow_by_one_with_the_clock_but_where_there_is_one_clock_only(name: str) -> None:
    for held in PARTS.load(name)[1].ranges:
        counts = [step.count for step in held.wait_states]
        assert len(counts) == 1 or counts == list(range(len(counts)))


def test_an_stm32f103_waits_two_cycles_at_its_greatest_clock_for_a_flash_of_64_bits() -> None:
    part = PARTS.load("stm32f103")[1]
    assert (part.core, part.greatest_Hz, part.flash.width_bits) == ("cortex-m3", 72_000_000, 64)
    assert part.ranges[0].wait_states[-1].count == 2
    assert part.caches == []


def test_the_caches_of_an_stm32f407_hold_a_kibibyte_of_code_and_128_bytes_of_literals() -> None:
    caches = {cache.holds: cache for cache in PARTS.load("stm32f407")[1].caches}
    sizes = {holds: (cache.lines or 0) * (cache.line_B or 0) for holds, cache in caches.items()}
    assert sizes == {"instructions": 1024, "data": 128}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda part: part["flash"].pop("source"), "flash.source"),
        (lambda part: part.update(pipeline=3), "pipeline"),
        (lambda part: part.update(core="cortex-m5"), "core"),
        (lambda part: part["ranges"][0]["wait_states"].reverse(), "does not follow"),
        (lambda part: part["ranges"][0]["wait_states"].pop(), "greatest_Hz"),
        (lambda part: part["flash"].update(where="outside"), "ranges"),
        (lambda part: part["memory"].pop("flash_B"), "memory.flash_B"),
        (lambda part: part["memory"].pop("ram_B"), "memory.ram_B"),
        (lambda part: part["prefetch"].update(blocks=0), "prefetch"),
        (lambda part: part["apart"].update(part_percent=[4.9, -5.6]), "is more than most"),
        (lambda part: (part["flash"].pop("width_bits"), part.update(not_published=[])), "not_published"),
    ],
)
def test_a_part_that_can_not_be_is_refused_and_says_what_is_wrong(
    change: Callable[[dict[str, Any]], None], named: str
) -> None:
    assert PARTS.checked("part own", F103)
    with pytest.raises(InputError) as refused:
        PARTS.checked("part own", changed(change))
    assert named in f"{refused.value} {refused.value.hint}"


def test_what_is_published_of_three_parts_makes_no_part_cycles() -> None:
    assert [name for name in PARTS.shipped() if not PARTS.load(name)[1].has_cycles] == [
        "esp32-c3",
        "nrf52840",
        "rp2040",
    ]
