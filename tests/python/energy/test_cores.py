"""A card that has numbers by kind of core: each case is valued by its own, and what has none is assumed."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from wattlock.energy import device_cards
from wattlock.energy.valuing import value
from wattlock.errors import EvidenceError, InputError

BIG_C, LITTLE_C, SUPPLY_V = 211e-12, 84e-12, 1.05
"""Watts a hertz and square volt of the MT8183's cores, and their rail: its device tree."""


def cases(*kinds: str | None) -> pl.DataFrame:
    rows: list[dict[str, Any]] = [
        {"case": number, "core_class": kind, "payload_B": 64, "cycles": 1000.0, "time_ns": 500.0}
        for number, kind in enumerate(kinds)
    ]
    frame = pl.DataFrame(rows, schema_overrides={"core_class": pl.String})
    ends = (("low", 0.99), ("high", 1.01))
    cycles = [(pl.col("cycles") * by).alias(f"cycles_{end}") for end, by in ends]
    times = [(pl.col("time_ns") * by).alias(f"time_{end}_ns") for end, by in ends]
    return frame.with_columns(*cycles, *times)


def energies(frame: pl.DataFrame, name: str | Path = "mt8183", **more: bool) -> dict[str | None, tuple[float, str]]:
    found = value(frame, device_cards.load(name), isa="aarch64", **more)
    assert found["case"].to_list() == frame["case"].to_list()
    return {row["core_class"]: (row["energy_uJ"], row["energy_evidence"]) for row in found.iter_rows(named=True)}


def test_each_kind_of_core_is_valued_by_its_own_numbers() -> None:
    found = energies(cases("little", "big"))
    for kind, coefficient in (("big", BIG_C), ("little", LITTLE_C)):
        energy_J = 1000 * coefficient * SUPPLY_V**2
        assert found[kind][0] == pytest.approx(energy_J * 1e6)
        assert found[kind][1] == "modelled"


def test_one_kind_alone_and_a_machine_of_one_kind_are_valued_as_ever() -> None:
    both = energies(cases("big", "little"))
    assert energies(cases("little")) == {"little": both["little"]}
    assert energies(cases(None))[None] == both["big"], "a card's own numbers where nobody knows the kind"


def test_a_kind_that_the_card_does_not_know_needs_consent_and_is_assumed() -> None:
    with pytest.raises(EvidenceError, match="has numbers of big cores, and none of middle ones") as caught:
        energies(cases("big", "middle"))
    assert "--allow-assumed" in caught.value.hint
    found = energies(cases("big", "middle"), allow_assumed=True)
    assert (found["middle"][1], found["big"][1]) == ("assumed", "modelled")
    assert found["middle"][0] == found["big"][0]


def test_a_card_of_little_cores_says_so_of_big_ones() -> None:
    with pytest.raises(EvidenceError, match="has numbers of little cores, and none of big ones"):
        energies(cases("big"), "cortex-a53-mt8183")


def test_a_card_that_names_no_kind_values_all_alike() -> None:
    found = energies(cases("big", "little"), "aarch64-core-assumed", allow_assumed=True)
    assert found["big"] == found["little"]


@pytest.mark.parametrize(
    ("right", "wrong", "what"),
    [
        ('core_class = "big"\n', "", "doesn't say by core_class of which its own numbers are"),
        ('core_class = "little"', 'core_class = "big"', "has two tables of big cores"),
        ("[cores.dynamic_power_coefficient]", "[cores.power]", "has power and voltage; it needs power, or"),
    ],
)
def test_a_card_whose_kinds_do_not_fit_is_refused(tmp_path: Path, right: str, wrong: str, what: str) -> None:
    text = device_cards.DEVICES.text(device_cards.DEVICES.find("mt8183")).decode()
    assert right in text
    (tmp_path / "mine.toml").write_text(text.replace(right, wrong, 1))
    with pytest.raises(InputError, match=what):
        device_cards.load(tmp_path / "mine.toml")


def test_a_card_that_a_run_keeps_has_its_kinds() -> None:
    card = device_cards.load("mt8183")
    kept = device_cards.kept("mt8183", card.card.model_dump(mode="json"))
    assert kept.on("little").card.rate == card.on("little").card.rate != card.card.rate
