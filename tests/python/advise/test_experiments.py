"""Ways to spend less: experiments, hybrid policies, hardware, the energy-first budget, flips and fronts."""

import math
import re
from typing import Any

import numpy as np
import pytest

from support.advice import TODAY, ask
from wattlock.advise import Advice, advise, load
from wattlock.advise.experiments import budgets, experiments, names, pareto, sensitivity, usual
from wattlock.advise.rank import gain
from wattlock.errors import EvidenceError, InputError
from wattlock.targets import toolbox


@pytest.fixture(scope="module")
def answer() -> Advice:
    return ask()


def test_experiments_say_what_they_found_and_a_hybrid_never_loses(answer: Advice) -> None:
    found = {saving.name: saving for saving in experiments(answer, None)}
    assert list(found) == names()
    assert all(saving.finding for saving in found.values())
    assert usual(answer).cipher == "aes128-ccm"
    for name in ("replace", "aggregate", "truncate", "headers", "compress"):
        saved = found[name].gain
        assert saved is not None
        assert saved.percent > 0
    hybrid = found["hybrid"].gain
    assert hybrid is not None
    assert hybrid.percent >= -1e-9
    assert found["resume"].gain is None
    with pytest.raises(InputError, match='no experiment "agregate"'):
        experiments(answer, None, "agregate")


def test_a_hybrid_switches_where_ciphers_cross_and_takes_sound_ones_alone() -> None:
    sizes = [{"sizes": [[16, 10], [1000, 3]], "every": "10s"}]
    described = ask({"choices.framings": ["implicit-nonce"]}, flow=sizes)
    (saving,) = experiments(described, None, "hybrid")
    assert not {"rc4", "blowfish"} & set(saving.finding.split())
    assert saving.gain is not None
    assert saving.gain.percent >= -1e-9


def test_the_energy_first_budget_is_the_least_that_keeps_the_floors_tag(answer: Advice) -> None:
    on_radio = [one for one in budgets(answer, toolbox.find()) if one.radio == "nrf52840-802154"]
    least = on_radio[0]
    assert least.design.startswith("least")
    assert least.over_percent == 0
    framed = [one for one in on_radio if "DTLS" in one.design or "WireGuard" in one.design]
    assert [one.over_percent > 0 for one in framed] == [True] * 3


def test_flips_name_another_choice_and_the_battery_never_flips(answer: Advice) -> None:
    found = {flip.variable: flip for flip in sensitivity(answer, None)}
    assert set(found) == {"message", "every", "bit errors", "battery"}
    assert found["battery"].at is None
    first = answer.choices[answer.best.number].label
    assert all(flip.then != first for flip in found.values())


def test_a_flip_that_cant_be_looked_at_says_why_and_is_not_taken_for_one_that_holds() -> None:
    described = advise(load("tracker"), allow_assumed=True, today=TODAY)
    faster = next(flip for flip in sensitivity(described, None) if flip.variable == "every")
    assert "600 ms (not carried: the radio would need" in faster.looked_at
    assert "1.67 h," in faster.looked_at


def test_a_fault_of_the_program_is_not_taken_for_an_answer_that_holds(
    answer: Advice, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise EvidenceError("a number is missing")

    monkeypatch.setattr("wattlock.advise.experiments.days.load", broken)
    with pytest.raises(EvidenceError, match="a number is missing"):
        sensitivity(answer, None)


def test_the_front_holds_the_first_choice_and_stronger_ones(answer: Advice) -> None:
    rows = pareto(answer)
    assert answer.choices[answer.best.number].label in {row["choice"] for row in rows}
    assert max(row["strength_bits"] for row in rows) == 256
    assert all(0 <= row["on_front"] <= 1 for row in rows)
    assert {"low", "high"} <= {row["profile"] for row in rows}


def test_hardware_for_a_cipher_is_a_choice_and_code_is_never_taken_for_it() -> None:
    tables: dict[str, Any] = {"device": {"card": "stm32u5a9", "sleep": "10uW"}, "radio": {"card": "nrf52840-ble"}}
    tables["flow"] = [{"message": "200B", "every": "1s"}]
    described = ask(**tables, allow_assumed=True)
    assert {choice.cost.accelerator for choice in described.choices} == {True, False}
    (saving,) = experiments(described, None, "accelerate")
    assert "over the AES peripheral" in saving.finding
    assert saving.gain is not None
    assert saving.gain.percent > 0
    assert "the most that it may draw while it waits" in saving.finding
    idle = ask({"device.accelerator_idle": "5uW"}, **tables, allow_assumed=True)
    watts = {one.cost.accelerator: load.group_W("idle") for one, load in zip(idle.choices, idle.loads, strict=True)}
    assert watts[True] - watts[False] == pytest.approx(5e-6)
    (paid,) = experiments(idle, None, "accelerate")
    assert "draws 5 uW while it waits: it pays from" in paid.finding
    without = ask({"device.accelerator": False}, **tables, allow_assumed=True)
    assert not any(choice.cost.accelerator for choice in without.choices)


def test_hardware_that_takes_more_than_code_is_told_as_such(answer: Advice) -> None:
    (slower,) = experiments(answer, None, "accelerate")
    assert re.search(
        r"more joules than code at every size; it takes [\d.]+ uW more than code at this rate$", slower.finding
    )
    waiting = ask({"device.accelerator_idle": "5uW"})
    (paid,) = experiments(waiting, None, "accelerate")
    assert "and waiting it draws 5 uW on top" in paid.finding


def test_lower_voltages_save_the_joules_of_cycles_and_nothing_else() -> None:
    tables: dict[str, Any] = {
        "device": {"card": "cortex-a53-rk3399", "sleep": "1mW"},
        "radio": {"card": "nrf52840-ble"},
        "flow": [{"message": "64B", "every": "20ms"}],
    }
    described = ask(allow_assumed=True, **tables)
    (saving,) = experiments(described, None, "scale")
    load_ = described.loads[described.choices.index(usual(described))]
    drawn = {
        term: watts * math.prod(described.monte_carlo.factors[name] for name in term[1])
        for term, watts in load_.terms_W.items()
    }
    whole_W = sum(drawn.values())
    saved = sum(watts for (group, _), watts in drawn.items() if group == "cipher") * (1 - (0.825 / 1.125) ** 2)
    # What the charge alone would last, by what it lasts with self-discharge, and that again with fewer watts.
    leak, life_s = (
        described.monte_carlo.batteries.self_discharge_per_s,
        described.life_s[described.choices.index(usual(described))],
    )
    alone_s = np.expm1(leak * life_s) / leak
    longer = np.log1p(leak * alone_s * whole_W / (whole_W - saved)) / np.log1p(leak * alone_s)
    assert saving.gain is not None
    assert saving.gain.percent == pytest.approx(100 * (float(np.median(longer)) - 1), rel=0.005)


def test_a_gain_of_nothing_is_nothing() -> None:
    life = np.array([1.0, 2.0, 3.0])
    assert gain(life, life) == (0.0, 0.0, 0.0)


def test_an_experiment_on_a_battery_that_its_shelf_life_ends_says_so_and_gains_no_day() -> None:
    described = advise(load("gas-meter", {"device.sleep": "2uW"}), allow_assumed=True, today=TODAY)
    (saving,) = experiments(described, toolbox.find(), "aggregate")
    assert saving.gain is not None
    assert saving.gain.percent == pytest.approx(0, abs=0.5)
    assert saving.finding.startswith("16 messages in 2 packets"), "the charge still tells which is best"
    assert "but the battery's shelf life ends it" in saving.finding


def test_profiles_go_by_what_is_drawn_where_the_shelf_life_levels_the_days() -> None:
    described = advise(load("gas-meter"), allow_assumed=True, today=TODAY)
    of = {row["profile"]: row["strength_bits"] for row in pareto(described) if row["profile"]}
    assert of["low"] < of["high"]


def test_wireguards_framing_is_compared_where_the_floor_excludes_its_cipher() -> None:
    described = ask({"floor.approved": "nist"})
    assert any("WireGuard" in one.design for one in budgets(described, toolbox.find()))


def test_messages_gathered_beyond_a_packet_are_told_as_several() -> None:
    described = advise(load("beacon"), allow_assumed=True, today=TODAY)
    (saving,) = experiments(described, toolbox.find(), "aggregate")
    packets = re.match(r"16 messages in (\d+) packets", saving.finding)
    assert packets
    assert int(packets[1]) >= 16 * 12 / 27
