"""Radio cards by hand: which figure is taken, the line between two, and which numbers make a radio."""

from typing import Any

import pytest

from support.energy_cards import number
from wattlock.energy.radio_cards import RadioCard, SendPower


def sending(
    value: float, *, dBm: float | None = None, Mb_s: float | None = None, unit: str = "mA", **more: Any
) -> SendPower:
    words = number(value, unit, off=0.1).model_dump() | {"power_dBm": dBm, "rate_Mb_s": Mb_s} | more
    return SendPower.model_validate(words)


def radio(*tx: SendPower, **numbers: Any) -> RadioCard:
    words = {"title": "t", "technology": "lorawan", "note": "n", "narrowed_by": "b"}
    states = {"voltage": number(3.0, "V"), "rx": number(10.0, "mA"), "tx": list(tx)}
    given = {key: one for key, one in {**states, **numbers}.items() if one is not None}
    return RadioCard.model_validate({**words, **given})


def taken(card: RadioCard, rate_Mb_s: float | None = None, power_dBm: float | None = None) -> float:
    found = card.sending(rate_Mb_s, power_dBm)
    assert found is not None
    return found.value


@pytest.mark.parametrize(
    ("power_dBm", "value"),
    [(None, 1), (-50.0, 2), (-0.1, 1), (0.0, 1), (3.9, 1), (4.0, 1), (4.1, 3), (8.0, 3), (90.0, 3)],
)
def test_the_figure_of_the_nearest_power_is_taken_and_of_two_as_near_the_first(
    power_dBm: float | None, value: float
) -> None:
    card = radio(sending(1.0, dBm=0.0), sending(2.0, dBm=-20.0), sending(3.0, dBm=8.0), sending(9.0))
    assert taken(card, power_dBm=power_dBm) == value


@pytest.mark.parametrize(
    ("rate_Mb_s", "power_dBm", "value"),
    [
        (1.0, 0.0, 1),
        (2.0, 0.0, 2),
        (9.0, 0.0, 2),
        (1.0, 9.0, 3),
        (2.0, 9.0, 4),
        (None, 9.0, 3),
        (2.0, None, 2),
        (1.5, 9.0, 3),
    ],
)
def test_the_power_is_looked_for_first_and_among_its_figures_the_rate(
    rate_Mb_s: float | None, power_dBm: float | None, value: float
) -> None:
    card = radio(
        *(
            sending(1.0 + place, dBm=dBm, Mb_s=rate)
            for place, (dBm, rate) in enumerate([(0.0, 1.0), (0.0, 2.0), (10.0, 1.0), (10.0, 2.0)])
        )
    )
    assert taken(card, rate_Mb_s, power_dBm) == value


def test_a_figure_that_names_no_power_is_taken_whichever_is_asked_for() -> None:
    assert taken(radio(sending(7.0)), 2.0, 14.0) == 7


@pytest.mark.parametrize(
    ("power_dBm", "value"), [(0.0, 10.0), (2.5, 12.5), (5.0, 15.0), (10.0, 20.0), (15.0, 50.0), (20.0, 80.0)]
)
def test_between_two_powers_the_line_by_decibels_holds(power_dBm: float, value: float) -> None:
    card = radio(sending(80.0, dBm=20.0), sending(10.0, dBm=0.0), sending(20.0, dBm=10.0))
    assert taken(card.at_power(power_dBm)) == pytest.approx(value)


def test_what_the_line_by_milliwatts_differs_comes_on_top_and_the_lesser_confidence_stays() -> None:
    # 0 and 10 dBm are 1 and 10 mW; 5 dBm are 3.1623 mW, 0.24025 of the way: 12.4025 in place of 15 mA.
    card = radio(
        sending(10.0, dBm=0.0, confidence="secondary"), sending(20.0, dBm=10.0, relative_uncertainty=0.3)
    ).at_power(5.0)
    (found,) = card.tx
    assert found.relative_uncertainty == pytest.approx(0.3 + 1 - 12.40253 / 15, abs=1e-6)
    assert (found.power_dBm, found.confidence, found.unit) == (5.0, "secondary", "mA")
    assert found.conditions == "between 0 and 10 dBm, by their line; the test"
    assert found.because.startswith("between 0 and 10 dBm: ")
    falling = radio(sending(20.0, dBm=0.0), sending(10.0, dBm=10.0)).at_power(5.0).tx[0]
    assert falling.relative_uncertainty == pytest.approx(0.1 + (20 - 2.40253) / 15 - 1, abs=1e-6)


def test_each_rate_has_its_own_line_and_a_rate_without_one_goes() -> None:
    card = radio(
        sending(1.0, dBm=0.0, Mb_s=1.0),
        sending(3.0, dBm=10.0, Mb_s=1.0),
        sending(5.0, dBm=0.0, Mb_s=2.0),
        sending(9.0, dBm=10.0, Mb_s=2.0),
        sending(99.0, dBm=0.0, Mb_s=5.0),
    )
    assert [(one.rate_Mb_s, one.value) for one in card.at_power(5.0).tx] == [(1.0, 2.0), (2.0, 7.0)]
    assert [one.value for one in card.at_power(0.0).tx] == [1.0, 5.0, 99.0]


def test_where_units_differ_the_figure_below_is_taken() -> None:
    card = radio(sending(30.0, dBm=0.0, unit="mW"), sending(20.0, dBm=10.0))
    assert card.at_power(5.0).tx == [card.tx[0]]


@pytest.mark.parametrize("power_dBm", [-0.1, 10.1])
def test_beyond_the_figures_there_is_no_draw(power_dBm: float) -> None:
    card = radio(sending(10.0, dBm=10.0), sending(20.0, dBm=0.0), sending(1.0))
    with pytest.raises(ValueError, match=f"no draw at {power_dBm:g} dBm") as refusal:
        card.at_power(power_dBm)
    assert refusal.value.args[1].startswith("its figures are for 0, 10 dBm; leave it out")
    with pytest.raises(ValueError, match="no draw") as refusal:
        radio(sending(1.0)).at_power(0.0)
    assert refusal.value.args[1].startswith("it has one for all; ")


def test_a_current_is_multiplied_by_the_voltage_and_a_power_is_not() -> None:
    card = radio(sending(20.0), idle=number(5.0, "mW"), sleep=number(2.0, "uA"))
    assert card.rx is not None
    assert card.idle is not None
    assert card.sleep is not None
    assert [card.power_W(one) for one in (card.tx[0], card.rx, card.idle, card.sleep)] == pytest.approx(
        [0.06, 0.03, 0.005, 6e-6]
    )


LINEAR = {
    "send_packet": number(431.0, "uJ"),
    "send_byte": number(0.5, "uJ/B"),
    "receive_packet": number(316.0, "uJ"),
    "receive_byte": number(0.12, "uJ/B"),
}


def test_a_radio_has_states_or_is_linear_or_both() -> None:
    states = radio(sending(1.0))
    linear = radio(rx=None, voltage=None, **LINEAR)
    both = radio(sending(1.0), **LINEAR)
    assert [(one.has_states, one.is_linear) for one in (states, linear, both)] == [
        (True, False),
        (False, True),
        (True, True),
    ]
    assert linear.sending() is None
    assert set(both.numbers()) == {"voltage", "rx", "tx[0]", *LINEAR}
    assert both.numbers()["tx[0]"] == both.tx[0]


@pytest.mark.parametrize("key", LINEAR)
def test_three_numbers_of_the_linear_model_are_none(key: str) -> None:
    with pytest.raises(ValueError, match="needs tx and rx, or send_packet"):
        radio(voltage=None, rx=None, **{**LINEAR, key: None})


def test_sending_without_receiving_and_the_other_way_round_are_none() -> None:
    with pytest.raises(ValueError, match="needs tx and rx"):
        radio(sending(1.0), rx=None)
    with pytest.raises(ValueError, match="needs tx and rx"):
        radio()


@pytest.mark.parametrize("unit", ["A", "mA", "uA"])
@pytest.mark.parametrize("key", ["tx", "rx", "idle", "sleep"])
def test_a_current_in_any_state_needs_the_voltage(key: str, unit: str) -> None:
    powers: dict[str, Any] = {"tx": [sending(1.0, unit="W")], "rx": number(1.0, "mW"), "voltage": None}
    assert radio(**powers).voltage is None
    powers[key] = [sending(0.01, unit=unit)] if key == "tx" else number(0.01, unit)
    with pytest.raises(ValueError, match="has a current and no voltage"):
        radio(**powers)
    powers["voltage"] = number(3.0, "V")
    assert radio(**powers).voltage


@pytest.mark.parametrize(
    ("key", "unit", "message"),
    [
        ("voltage", "mA", "voltage.unit is mA, must be V"),
        ("rx", "uJ", "rx.unit is uJ, must be W or mW or uW or A or mA or uA"),
        ("idle", "V", "idle.unit is V, must be W or mW"),
        ("sleep", "us", "sleep.unit is us"),
        ("send_packet", "uJ/B", "send_packet.unit is uJ/B, must be uJ"),
        ("receive_byte", "uJ", "receive_byte.unit is uJ, must be uJ/B"),
        ("packet_time", "us/B", "packet_time.unit is us/B, must be us"),
        ("byte_time", "us", "byte_time.unit is us, must be us/B"),
    ],
)
def test_each_number_has_the_units_of_its_key(key: str, unit: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        radio(sending(1.0), **LINEAR, **{key: number(1.0, unit)}) if key not in LINEAR else radio(
            sending(1.0), **{**LINEAR, key: number(1.0, unit)}
        )


@pytest.mark.parametrize(("value", "unit", "what"), [(1.0, "V", "unit is V"), (1e11, "uA", "must lie between")])
def test_what_is_drawn_while_sending_is_held_to_the_same_by_its_place(value: float, unit: str, what: str) -> None:
    with pytest.raises(ValueError, match=rf"tx\[1\]\.(unit|value).*{what}|tx\[1\]\.{what}"):
        radio(sending(1.0), sending(value, unit=unit))


def test_conditions_of_states_and_sendings_meet_in_one_product() -> None:
    on_chip = {"scope": "chip", "supply_V": 3.0, "regulator": "ldo"}
    rails = {
        key: number(value, unit).model_dump() | {"under": on_chip}
        for key, value, unit in (("voltage", 3.0, "V"), ("rx", 10.0, "mA"), ("idle", 1.0, "mA"))
    }
    assert radio(sending(1.0, under=on_chip), **rails)
    with pytest.raises(ValueError, match=r"tx\[0\].under.scope is board, must be chip as that of voltage"):
        radio(sending(1.0, under={**on_chip, "scope": "board"}), **rails)
    with pytest.raises(ValueError, match=r"idle.under.scope is board"):
        radio(
            sending(1.0, under=on_chip), **{**rails, "idle": rails["idle"] | {"under": {**on_chip, "scope": "board"}}}
        )
    with pytest.raises(ValueError, match=r"tx\[0\].under.supply_V is 1.8, must be 3 as voltage"):
        radio(
            sending(1.0, under={"scope": "chip", "supply_V": 1.8, "regulator": "dcdc"}),
            **{
                key: one | {"under": {"scope": "chip", "supply_V": 3.0, "regulator": "dcdc"}}
                for key, one in rails.items()
            },
        )


@pytest.mark.parametrize("rate_Mb_s", [0.0, -1.0])
def test_a_rate_is_more_than_nothing(rate_Mb_s: float) -> None:
    assert sending(1.0, Mb_s=0.05).rate_Mb_s == 0.05
    with pytest.raises(ValueError, match="greater than 0"):
        sending(1.0, Mb_s=rate_Mb_s)
