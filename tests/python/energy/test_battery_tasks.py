"""What batteries are spent on, by hand: halves, shares, rates, files, and the columns of an answer."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

from support.batteries import CELL, by_hand, case
from support.energy_cards import device, number
from wattlock.energy import tasks
from wattlock.energy.battery_cards import INDOORS
from wattlock.energy.tasks import Duty, Half, RepeatedOperation, by_card, weakest
from wattlock.errors import InputError

# 2.33 Ah at 3.78 V.
WHOLE_J = 2.33 * 3600 * 3.78


def task(
    *shares: tuple[float, Half], cipher: str = "aes128-cbc", payload_B: int | None = 1000, **changed: Any
) -> RepeatedOperation:
    both = list(shares) or [(1.0, Half(1e-4, 0.0, 1e-3))]
    return RepeatedOperation(cipher, "rustcrypto", payload_B, "random", both, "measured")._replace(**changed)


def certain(count: int = 3) -> tasks.BatteryPlan:
    return by_hand(np.ones(count))


def frame(*cases: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(list(cases), infer_schema_length=None)


@pytest.mark.parametrize(
    ("kinds", "weak"),
    [
        (("measured",), "measured"),
        (("measured", "emulated"), "emulated"),
        (("modelled", "emulated"), "modelled"),
        (("assumed", "measured", "modelled"), "assumed"),
    ],
)
def test_evidence_is_as_weak_as_its_weakest_part(kinds: tuple[str, ...], weak: str) -> None:
    assert weakest(*kinds) == weak


def test_the_time_of_a_task_is_the_mean_of_its_directions_and_unknown_where_one_is() -> None:
    assert task((0.25, Half(1.0, 0.0, 2.0)), (0.75, Half(1.0, 0.0, 4.0))).time_s == pytest.approx(3.5)
    assert task((0.25, Half(1.0, 0.0, 2.0)), (0.75, Half(1.0, 0.0, None))).time_s is None
    assert task((1.0, Half(1.0, 0.0, None))).time_s is None


def test_a_rate_is_what_fits_into_the_share_of_the_time_or_what_was_asked_for() -> None:
    assert Duty().rate(task()) == pytest.approx(1000)
    assert Duty(0.25).rate(task()) == pytest.approx(250)
    assert Duty(per_second=1000.0).rate(task()) == 1000, "just fits"
    assert Duty(per_second=0.5).rate(task()) == 0.5
    assert Duty(per_second=9e9).rate(task((1.0, Half(1.0, 0.0, None)))) == 9e9, "nobody knows"
    with pytest.raises(InputError, match=r"1001 operations a second of aes128-cbc take 1 s") as refusal:
        Duty(per_second=1001.0).rate(task())
    assert refusal.value.hint == "at most 1000 fit"
    with pytest.raises(InputError, match="how long one operation of aes128-cbc takes"):
        Duty(0.5).rate(task((1.0, Half(1.0, 0.0, None))))


def test_a_half_has_the_joules_the_spread_and_the_seconds_of_its_case() -> None:
    (found,) = tasks.from_estimates(frame(case("aes128-cbc", "encrypt", 100.0)))
    ((share, half),) = found.shares
    assert (share, found.payload_B, found.cipher, found.provider, found.data) == (
        1.0,
        1000,
        "aes128-cbc",
        "rustcrypto",
        "random",
    )
    assert half.energy_J == pytest.approx(1e-4)
    assert half.log_sigma == pytest.approx(math.log(1.1) / 1.96)
    assert half.time_s == pytest.approx(1e-3)
    uneven = case("aes128-cbc", "encrypt", 100.0, energy_low_uJ=50.0, energy_high_uJ=400.0)
    assert tasks.from_estimates(frame(uneven))[0].shares[0][1].log_sigma == pytest.approx(math.log(8) / (2 * 1.96))


@pytest.mark.parametrize(("forward", "backward"), [("encrypt", "decrypt"), ("seal", "open")])
@pytest.mark.parametrize(("share", "joules"), [(1.0, [1e-4]), (0.0, [3e-4]), (0.25, [1e-4, 3e-4])])
def test_a_share_of_encrypting_leaves_the_rest_to_decrypting(
    forward: str, backward: str, share: float, joules: list[float]
) -> None:
    both = frame(case("aes128-cbc", forward, 100.0), case("aes128-cbc", backward, 300.0))
    (found,) = tasks.from_estimates(both, encrypt_share=share)
    assert [half.energy_J for _, half in found.shares] == pytest.approx(joules)
    assert [one for one, _ in found.shares] == ([share, 1 - share] if len(joules) == 2 else [1.0])


def test_cases_that_carry_nothing_or_have_no_joules_are_no_tasks() -> None:
    found = tasks.from_estimates(
        frame(
            case("one", "encrypt", 100.0, payload_B=1),
            case("setup", "key_setup", 100.0),
            case("empty", "encrypt", 100.0, payload_B=0),
            {**case("unweighed", "encrypt", 100.0), "energy_uJ": None},
        )
    )
    assert [(one.cipher, one.payload_B) for one in found] == [("one", 1)]


@pytest.mark.parametrize(
    "changed",
    [
        {"provider": "openssl"},
        {"payload_B": 64},
        {"aad_B": 13},
        {"keying": "fresh"},
        {"encoding": "base64"},
        {"data": "text"},
        {"placement": "cold"},
        {"pattern": "chained"},
    ],
)
def test_directions_of_cases_that_differ_otherwise_make_no_task(changed: dict[str, Any]) -> None:
    apart = frame(case("aes128-cbc", "encrypt", 100.0), case("aes128-cbc", "decrypt", 300.0, **changed))
    with pytest.raises(InputError, match=r"encryption share of 0.5 needs"):
        tasks.from_estimates(apart, encrypt_share=0.5)
    assert len(tasks.from_estimates(apart)) == 1


def test_a_task_is_as_sure_as_the_weakest_of_its_cases() -> None:
    both = frame(case("aes128-cbc", "encrypt", 100.0), case("aes128-cbc", "decrypt", 300.0, energy_evidence="assumed"))
    assert tasks.from_estimates(both, encrypt_share=0.5)[0].evidence == "assumed"


def test_a_file_is_priced_by_the_largest_payload_of_each_direction_and_a_payload_picks_its_cases() -> None:
    cases = frame(
        case("aes128-cbc", "encrypt", 10.0, payload_B=10),
        case("aes128-cbc", "encrypt", 500.0, payload_B=1000, time_ns=2e6, data="text"),
        case("aes128-cbc", "encrypt", 77.0, payload_B=100),
    )
    (found,) = tasks.from_estimates(cases, file_B=4000)
    ((_, half),) = found.shares
    assert found.payload_B == 4000
    assert (half.energy_J, half.time_s) == pytest.approx((2e-3, 8e-3))
    (less,) = tasks.from_estimates(cases, file_B=500)
    assert less.shares[0][1].energy_J == pytest.approx(2.5e-4)
    (picked,) = tasks.from_estimates(cases, payload_B=100)
    assert picked.payload_B == 100
    assert picked.shares[0][1].energy_J == pytest.approx(7.7e-5)
    with pytest.raises(InputError, match="payload of 7 B") as refusal:
        tasks.from_estimates(cases, payload_B=7)
    assert refusal.value.hint == "the sizes are: 10, 100, 1000"


def test_cycles_make_the_time_where_the_card_counts_them() -> None:
    one = frame(case("aes128-cbc", "encrypt", 100.0))

    def time_s(**requested: Any) -> float | None:
        return tasks.from_estimates(one, **requested)[0].time_s

    assert time_s(clock_Hz=4e6) == pytest.approx(1e-3), "the time measured, as the card values time"
    assert time_s(clock_Hz=4e6, counts_cycles=True) == pytest.approx(0.5)
    assert time_s(clock_Hz=4e6, counts_cycles=True, file_B=3000) == pytest.approx(1.5)
    assert time_s(counts_cycles=True) is None
    assert time_s(counts_cycles=True, file_B=3000) is None


def test_an_operation_of_the_users_own_by_a_card_of_cycles() -> None:
    clocked = device(power=number(2.0, "W", off=0.1), frequency=number(100.0, "MHz"))
    assert by_card(clocked, 1000.0) == pytest.approx((2e-5, math.log(1.1), 1e-5))
    assert by_card(clocked, 1000.0, 5.0).time_s == 5
    unclocked = device(voltage=number(3.0, "V"), current=number(50.0, "uA/MHz"))
    assert by_card(unclocked, 1000.0).energy_J == pytest.approx(1.5e-7)
    assert (by_card(unclocked, 1000.0).log_sigma, by_card(unclocked, 1000.0).time_s) == (0, None)
    with pytest.raises(InputError, match="device card test values time, and no cycles"):
        by_card(device(power=number(2.0, "W")), 1000.0)


def test_the_columns_of_an_answer_follow_from_one_another() -> None:
    mixed = task((0.25, Half(1e-4, 0.0, 1e-3)), (0.75, Half(3e-4, 0.0, 1e-3)), evidence="emulated")
    own = task(cipher="mine", payload_B=None, provider=None, data=None)
    rows = tasks.answer([mixed, own], Duty(per_second=100.0, idle_W=0.075), certain(), seed=1).to_dicts()
    first, second = rows
    assert first["energy_uJ"] == pytest.approx(250)
    assert first["power_W"] == pytest.approx(0.1)
    assert first["hours"] == pytest.approx(WHOLE_J / 0.1 / 3600, rel=1e-9)
    assert second["hours"] == pytest.approx(WHOLE_J / 0.085 / 3600, rel=1e-9)
    for row in rows:
        assert row["days"] == pytest.approx(row["hours"] / 24)
        assert row["operations"] == pytest.approx(row["hours"] * 3600 * 100)
        assert row["operations_low"] == row["operations"] == row["operations_high"], "nothing is uncertain"
        assert row["days_low"] == row["days"] == row["days_high"]
        assert (row["battery"], row["model"], row["laws"]) == ("cgr18650da", "linear", [])
    assert [first[key] for key in ("cipher", "provider", "payload_B", "data")] == [
        "aes128-cbc",
        "rustcrypto",
        1000,
        "random",
    ]
    assert [second[key] for key in ("cipher", "provider", "payload_B", "data")] == ["mine", None, None, None]
    assert (first["evidence"], second["evidence"]) == ("modelled", "modelled"), "by the card at best"
    doubted = certain()._replace(evidence="measured")
    assert tasks.answer([mixed], Duty(), doubted, seed=1)["evidence"].item() == "emulated"


def test_the_uncertainty_of_the_joules_is_the_width_of_the_life_and_one_draw_for_all_ciphers() -> None:
    unsure = [task((1.0, Half(1e-4 * dearer, 0.1, 1e-3)), cipher=f"c{dearer}") for dearer in (1, 2)]
    rows = tasks.answer(unsure, Duty(), certain(4000), seed=1).to_dicts()
    for row in rows:
        assert math.log(row["operations_high"] / row["operations"]) == pytest.approx(0.196, rel=0.06)
        assert math.log(row["operations"] / row["operations_low"]) == pytest.approx(0.196, rel=0.06)
    for key in ("operations", "operations_low", "operations_high"):
        assert rows[0][key] == pytest.approx(2 * rows[1][key], rel=1e-9)
    assert rows[0]["hours_low"] < rows[0]["hours"] < rows[0]["hours_high"]


def test_the_line_of_a_task_is_the_discharge_of_the_median_battery_at_its_rate() -> None:
    lines = tasks.curves(
        [task(), task(cipher="mine", payload_B=None)],
        Duty(per_second=100.0, idle_W=0.04),
        by_hand(np.array([0.5, 0.75, 1.0])),
    )
    one = lines.filter(pl.col("task") == "aes128-cbc")
    hours = 0.75 * WHOLE_J / 0.05 / 3600
    assert one.height == lines.height / 2 == 201
    assert one["hours"].max() == pytest.approx(hours, rel=1e-9)
    assert one["operations"].max() == pytest.approx(hours * 3600 * 100, rel=1e-9)
    assert one["level_percent"].to_list()[::200] == [100, 0]
    assert one["operations"].to_list() == pytest.approx((one["hours"] * 360_000).to_list())
    assert set(one["payload_B"]) == {1000}
    assert set(one["evidence"]) == {"modelled"}
    assert set(lines.filter(pl.col("task") == "mine")["payload_B"]) == {None}


def test_a_line_is_the_one_of_the_joules_as_they_stand_however_unsure_they_are() -> None:
    ends = [
        tasks.curves([task((1.0, Half(1e-4, log_sigma, 1e-3)))], Duty(), certain())["hours"].max()
        for log_sigma in (0.0, 0.5)
    ]
    assert ends[0] == ends[1]


def test_lines_of_one_cipher_are_told_apart_by_what_differs_and_others_by_their_name() -> None:
    found = tasks.curves(
        [task(), task(payload_B=64, data=None), task(cipher="mine", payload_B=None)], Duty(), certain()
    )
    assert found["task"].unique(maintain_order=True).to_list() == [
        "aes128-cbc rustcrypto 1000 B random",
        "aes128-cbc rustcrypto 64 B",
        "mine",
    ]


def test_a_plan_draws_the_batteries_of_its_card() -> None:
    found = tasks.battery_plan(CELL, "linear", ["self-discharge"], draws=64, seed=2, at=INDOORS, allow_assumed=False)
    assert (found.battery, found.model, found.laws, found.evidence) == (CELL, "linear", ["self-discharge"], "modelled")
    assert found.batteries.capacity_share.size == 64
    assert (found.batteries.self_discharge_per_s > 0).all()
