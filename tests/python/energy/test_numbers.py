"""Numbers of cards: units and their ends, and conditions that may meet in one product or not."""

import math
from typing import Any

import pytest
from pydantic import ValidationError

from support.energy_cards import number
from wattlock.energy.number import (
    BOUNDS,
    IN_SI,
    Number,
    NumberConditions,
    YEAR_s,
    refuse_doubted,
    refuse_mixed,
    require_unit,
)
from wattlock.errors import EvidenceError

# One of each unit by the definition of its prefixes: 1 Ah is 3600 C, 1 uA/MHz is 1e-6 A / 1e6 Hz, a mean Gregorian
# year has 365.2425 days of 86,400 s, and a month is its twelfth.
OF_ONE = {
    "1": 1.0,
    "V": 1.0,
    "A": 1.0,
    "mA": 0.001,
    "uA": 0.000001,
    "uA/MHz": 0.000001 / 1000000,
    "W": 1.0,
    "mW": 0.001,
    "uW": 0.000001,
    "MHz": 1000000.0,
    "uW/MHz/V^2": 0.000001 / 1000000,
    "Ah": 60.0 * 60.0,
    "mAh": 3600.0 / 1000,
    "ohm": 1.0,
    "1/min": 1 / 60,
    "1/K": 1.0,
    "%/month": 0.01 * 12 / 31556952,
    "%/year": 0.01 / 31556952,
    "y": 31556952.0,
    "uJ": 0.000001,
    "uJ/B": 0.000001,
    "us": 0.000001,
    "us/B": 0.000001,
}
# What a card may state at most and at least, in the unit's own size: 1 nA to 10 kA, 1 nW to 10 MW, 1 uAh to 1 MAh.
ENDS = {
    "1": (0.000001, 1000.0),
    "V": (0.001, 10000.0),
    "A": (0.000000001, 10000.0),
    "mA": (0.000001, 10000000.0),
    "uA": (0.001, 10000000000.0),
    "uA/MHz": (0.001, 10000000.0),
    "W": (0.000000001, 10000000.0),
    "mW": (0.000001, 10000000000.0),
    "uW": (0.001, 10000000000000.0),
    "MHz": (0.001, 1000000.0),
    "uW/MHz/V^2": (0.001, 10000000.0),
    "Ah": (0.000001, 1000000.0),
    "mAh": (0.001, 1000000000.0),
    "ohm": (0.000000001, 1000000.0),
    "1/min": (0.000000001, 1000000.0),
    "1/K": (0.000000001, 1.0),
    "%/month": (0.000001, 1000.0),
    "%/year": (0.000001, 10000.0),
    "y": (0.001, 1000.0),
    "uJ": (0.000001, 1000000000000.0),
    "uJ/B": (0.000000001, 1000000000.0),
    "us": (0.000001, 1000000000000.0),
    "us/B": (0.000000001, 1000000000.0),
}


def under(scope: str = "chip", **conditions: Any) -> NumberConditions:
    return NumberConditions.model_validate({"scope": scope, **conditions})


def of(unit: str, value: float = 1.0, conditions: NumberConditions | None = None) -> Number:
    return number(value, unit).model_copy(update={"under": conditions})


@pytest.mark.parametrize("unit", IN_SI)
def test_one_of_each_unit_is_so_much_in_SI(unit: str) -> None:
    assert of(unit).in_SI == pytest.approx(OF_ONE[unit], rel=1e-12)
    assert of(unit, 7.0).in_SI == pytest.approx(7 * OF_ONE[unit], rel=1e-12)
    assert pytest.approx(31556952.0, rel=1e-15) == YEAR_s


@pytest.mark.parametrize("unit", IN_SI)
def test_a_value_at_the_ends_of_its_unit_is_taken_and_the_next_one_beyond_is_refused(unit: str) -> None:
    least, most = ENDS[unit]
    for inside in (least, most):
        require_unit("key", of(unit, inside), [unit])
    for beyond in (math.nextafter(least, 0.0), math.nextafter(most, math.inf)):
        with pytest.raises(ValueError, match="must lie between"):
            require_unit("key", of(unit, beyond), [unit])


@pytest.mark.parametrize("units", [("A", "mA", "uA"), ("W", "mW", "uW"), ("Ah", "mAh")])
def test_units_of_one_quantity_end_at_the_same_quantities(units: tuple[str, ...]) -> None:
    for end in (0, 1):
        assert [BOUNDS[unit][end] * IN_SI[unit] for unit in units] == pytest.approx(
            [BOUNDS[units[0]][end] * IN_SI[units[0]]] * len(units), rel=1e-12
        )


def test_a_value_between_zero_and_one_is_a_value_and_zero_is_none() -> None:
    assert number(0.5, "V").value == 0.5
    assert number(1.0, "V", off=0.0).relative_uncertainty == 0
    assert number(1.0, "V", off=0.5).relative_uncertainty == 0.5
    for wrong in ({"of": 0.0}, {"of": -0.5}, {"of": 1.0, "off": -0.5}):
        with pytest.raises(ValidationError):
            number(**{"of": 1.0, "unit": "V", **wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize("key", ["supply_V", "current_A", "duty"])
def test_conditions_begin_above_zero_and_a_duty_ends_at_one(key: str) -> None:
    def given(value: float) -> Any:
        return getattr(NumberConditions.model_validate({"scope": "chip", key: value}), key)

    assert given(0.5) == 0.5
    assert given(1.0) == 1
    for wrong in (0.0, -0.5, math.inf):
        with pytest.raises(ValidationError):
            given(wrong)
    with pytest.raises(ValidationError):
        under(duty=1.001)


def test_conditions_without_a_word_are_of_the_state_itself_and_say_what_they_are() -> None:
    assert under().duty == 1
    assert (under().supply_V, under().current_A, under().temperature_C, under().regulator) == (None,) * 4
    assert str(under()) == "chip"
    described = under(regulator="ldo", supply_V=3.3, temperature_C=-5.0, current_A=0.2)
    assert str(described) == "chip, ldo, 3.3 V, -5 °C, 0.2 A"
    assert str(under(temperature_C=0.0)) == "chip, 0 °C"


def alike(
    first: NumberConditions | None, second: NumberConditions | None, *, voltage_V: float | None = None, unit: str = "W"
) -> None:
    voltage = None if voltage_V is None else of("V", voltage_V)
    refuse_mixed({"first": of("V", 3.0, first), "second": of(unit, 1.0, second)}, voltage)


@pytest.mark.parametrize(
    ("first", "second", "what"),
    [
        (under(), None, r"second.under: is missing; first has one"),
        (None, under(), r"first.under: is missing; second has one"),
        (under(), under(duty=0.99), r"second.under.duty is 0.99, must be 1"),
        (under(duty=0.5), under(), r"first.under.duty is 0.5"),
        (under(), under("board"), r"second.under.scope is board, must be chip as that of first"),
        (under(regulator="ldo"), under(regulator="dcdc"), r"second.under.regulator is dcdc, must be ldo as that of f"),
        (under(temperature_C=20.0), under(temperature_C=25.1), r"second.under.temperature_C is 25.1, must be 20 as"),
        (under(temperature_C=25.1), under(temperature_C=20.0), r"second.under.temperature_C is 20, must be 25.1 as"),
        (under(temperature_C=0.0), under(temperature_C=6.0), r"temperature_C is 6, must be 0"),
    ],
)
def test_numbers_of_other_conditions_are_refused_by_what_differs(
    first: NumberConditions | None, second: NumberConditions | None, what: str
) -> None:
    with pytest.raises(ValueError, match=what):
        alike(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (None, None),
        (under(), under()),
        (under(regulator="ldo"), under()),
        (under(), under(regulator="ldo")),
        (under(regulator="ldo"), under(regulator="ldo")),
        (under(temperature_C=20.0), under(temperature_C=25.0)),
        (under(temperature_C=25.0), under(temperature_C=20.0)),
        (under(temperature_C=85.0), under()),
        (under(), under(temperature_C=85.0)),
        (under(supply_V=3.0), under(supply_V=1.8)),
    ],
)
def test_numbers_whose_conditions_agree_as_far_as_they_are_said_are_taken(
    first: NumberConditions | None, second: NumberConditions | None
) -> None:
    alike(first, second)


@pytest.mark.parametrize("unit", ["A", "mA", "uA", "uA/MHz"])
def test_a_current_holds_at_its_own_supply_within_2_percent(unit: str) -> None:
    def of_supply(supply_V: float | None, regulator: str | None, voltage_V: float | None) -> None:
        alike(under(), under(supply_V=supply_V, regulator=regulator), voltage_V=voltage_V, unit=unit)

    for right in ((3.0, "dcdc", 3.0), (3.05, "dcdc", 3.0), (2.95, "smps", 3.0), (1.8, "ldo", 3.0), (1.8, "dcdc", None)):
        of_supply(*right)
    for supply_V in (3.07, 2.93, 1.8, 5.0):
        for regulator in ("dcdc", "smps", "direct"):
            with pytest.raises(ValueError, match=f"second.under.supply_V is {supply_V:g}, must be 3 as voltage"):
                of_supply(supply_V, regulator, 3.0)
    lacking: list[tuple[float | None, str | None, str]] = [
        (None, "ldo", "supply_V"),
        (3.0, None, "regulator"),
        (None, None, "supply_V"),
    ]
    for supply, behind, missing in lacking:
        with pytest.raises(ValueError, match=f"second.under.{missing}: is missing"):
            of_supply(supply, behind, 3.0)


def test_a_third_number_is_held_to_each_of_those_before_it() -> None:
    loose, warm, cold = under(), under(temperature_C=30.0), under(temperature_C=20.0)
    with pytest.raises(ValueError, match=r"third.under.temperature_C is 20, must be 30 as that of second"):
        refuse_mixed(
            {
                key: of("W", 1.0, one)
                for key, one in zip(["first", "second", "third"], (loose, warm, cold), strict=True)
            },
            None,
        )


@pytest.mark.parametrize(
    ("confidence", "doubted"), [("primary", False), ("secondary", False), ("unverified", True), ("assumed", True)]
)
def test_only_numbers_that_somebody_read_enter_without_consent(confidence: str, doubted: bool) -> None:
    held = {"good": number(1.0, "V"), "power": number(2.5, "W", confidence=confidence)}
    assert held["power"].doubted is doubted
    refuse_doubted("card c", held, allow_assumed=True)
    if not doubted:
        refuse_doubted("card c", held, allow_assumed=False)
        return
    with pytest.raises(EvidenceError) as refusal:
        refuse_doubted("card c", held, allow_assumed=False)
    assert refusal.value.message == f"card c has numbers that nobody verified: power 2.5 W ({confidence})"
