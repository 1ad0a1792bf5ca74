"""The share of ranked choices whose cost was counted or published for the device's very core, as the page says it."""

import re

import pytest

from support.advice import TODAY
from support.tree import TREE
from wattlock.advise import advise, load, question
from wattlock.advise.cipher_costs import CipherCost
from wattlock.advise.pricing import share_for_the_very_core
from wattlock.errors import InputError

PAGE = (TREE / "docs" / "results" / "mcu-counts.md").read_text(encoding="utf-8")
SHARES = dict(re.findall(r"^\| `([a-z0-9-]+)` \| (\d+) % \|", PAGE, re.MULTILINE))
AIM_percent = 90


def ranked(device: str) -> list[CipherCost]:
    """The costs of the choices that the ten profiles rank on a device, assumed ones allowed."""
    found: list[CipherCost] = []
    for name in question.names():
        profile = load(name)
        asked = profile.model_copy(update={"device": profile.device.model_copy(update={"card": device}), "draws": 100})
        try:
            found += [choice.cost for choice in advise(asked, allow_assumed=True, today=TODAY).choices]
        except InputError as nothing_passes:
            # A card without a clock has no latency.
            if "latency" not in nothing_passes.message:
                raise
    return found


@pytest.mark.parametrize("device", ["nrf52840", "stm32l476", "stm32u5a9", "rp2040", "esp32-c3"])
def test_the_page_says_which_share_of_ranked_choices_is_of_the_very_core(device: str) -> None:
    percent = 100 * share_for_the_very_core(ranked(device))
    assert float(SHARES[device]) == pytest.approx(percent, abs=0.5)


def test_the_share_is_as_high_as_was_aimed_at_but_on_the_esp32_c3() -> None:
    assert {device for device, percent in SHARES.items() if int(percent) < AIM_percent} == {"esp32-c3"}
