"""The analyses of costs over sizes and factors: known answers, laws, SciPy as the oracle."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from wattlock.analysis import crossover, distributions, effects, front
from wattlock.errors import InputError

SIZES = np.array([14.0, 64.0, 256.0, 1500.0, 16384.0])
ONE_PERCENT = np.full(5, 0.005)
COSTS = st.lists(st.floats(0.1, 1e6), min_size=3, max_size=8)


@given(st.lists(st.floats(1, 1e5), min_size=5, max_size=5))
def test_the_slope_is_that_of_scipy(costs: list[float]) -> None:
    (fixed,), (slope,) = crossover.theil_sen(SIZES, np.array([costs]))
    oracle = stats.theilslopes(costs, SIZES)
    assert slope == pytest.approx(oracle.slope)
    assert fixed == pytest.approx(np.median(np.array(costs) - slope * SIZES))


@given(st.floats(0.1, 10), st.floats(0, 0.1), st.floats(0, 0.1))
def test_a_ratio_turned_round_has_its_interval_turned_round(value: float, a: float, b: float) -> None:
    one, other = effects.ratio(value, 1, a, b), effects.ratio(1, value, a, b)
    assert (1 / other.high, 1 / other.low) == pytest.approx((one.low, one.high))


def test_a_mean_of_ratios_that_differ_is_as_wide_as_their_t_interval() -> None:
    logs = np.array([0.01, 0.02, 0.05])
    found = effects.mean([effects.Ratio(math.exp(one), math.exp(one), math.exp(one)) for one in logs])
    low, high = stats.t.interval(0.95, 2, loc=logs.mean(), scale=stats.sem(logs))
    assert (math.log(found.low), math.log(found.high)) == pytest.approx((low, high))


@pytest.mark.parametrize(
    ("value", "sigma", "says"),
    [(1.001, 0.002, "equivalent"), (1.05, 0.002, "different"), (1.001, 0.02, "undecided"), (1.009, 0.002, "undecided")],
)
def test_an_effect_is_equivalent_only_where_it_is_known_to_be_small(value: float, sigma: float, says: str) -> None:
    assert effects.equivalence(effects.ratio(value, 1, sigma), -1, 1).verdict == says


def test_the_p_of_equivalence_is_the_greater_of_two_one_sided_tests() -> None:
    found = effects.ratio(1.003, 1, 0.004)
    p = max(stats.norm.sf((math.log(1.003) - math.log(0.99)) / 0.004), stats.norm.cdf(math.log(1.003 / 1.01) / 0.004))
    assert effects.equivalence(found, -1, 1).p == pytest.approx(p)


def crossing(fixed_a: float, a: float, fixed_b: float, b: float) -> crossover.Crossover:
    return crossover.crossover(SIZES, (fixed_a + a * SIZES, ONE_PERCENT), (fixed_b + b * SIZES, ONE_PERCENT))


def test_a_crossover_of_two_laws_is_found_both_ways() -> None:
    found = crossing(1_000, 1, 100, 10)
    assert found.payload_B == pytest.approx(100)
    assert found.by_law_B == pytest.approx(100)
    assert found.disagreement == pytest.approx(1)
    assert found.low_B is not None
    assert found.high_B is not None
    assert found.low_B < 100 < found.high_B
    assert (found.cheaper_below, found.cheaper_above, found.crossings) == ("b", "a", 1)


def test_costs_that_never_meet_have_no_crossover() -> None:
    found = crossing(1_000, 10, 100, 1)
    assert (found.payload_B, found.by_law_B, found.probability) == (None, None, 0.0)
    assert found.cheaper_below == found.cheaper_above == "b"


@settings(deadline=None)
@given(st.floats(30, 8_000), st.floats(0.5, 5), st.floats(1.5, 6))
def test_a_crossover_does_not_depend_on_who_is_called_a(at_B: float, slow: float, times: float) -> None:
    fixed = (slow * times - slow) * at_B
    one, other = crossing(fixed + 10, slow, 10, slow * times), crossing(10, slow * times, fixed + 10, slow)
    assert one.payload_B == pytest.approx(at_B, rel=1e-6)
    assert other.payload_B == pytest.approx(at_B, rel=1e-6)


@given(COSTS, st.integers(0, 2**32 - 1))
def test_no_choice_on_the_front_is_beaten_and_every_other_is(costs: list[float], seed: int) -> None:
    gains = np.random.default_rng(seed).integers(0, 3, len(costs))
    on = front.front(costs, gains)
    for i, cost in enumerate(costs):
        beaten = any(
            costs[j] <= cost and gains[j] >= gains[i] and (costs[j] < cost or gains[j] > gains[i])
            for j in range(len(costs))
        )
        assert on[i] == (not beaten)


@given(COSTS)
def test_the_least_energy_is_always_on_the_front(costs: list[float]) -> None:
    gains = np.arange(len(costs))
    on = front.probability(costs, np.full(len(costs), 0.01), gains)
    assert np.all((on >= 0) & (on <= 1))
    assert front.front(costs, gains)[-1]


TOLDINAS = {"key": [128, 192, 256] * 3, "block": [128] * 3 + [192] * 3 + [256] * 3}
ENCRYPT = [50, 57, 64, 55, 55, 62, 60, 59, 60]
DECRYPT = [57, 65, 72, 62, 63, 70, 69, 68, 68]


def test_the_rule_of_toldinas_gives_its_own_set_from_its_own_tables() -> None:
    for costs in (ENCRYPT, DECRYPT):
        chosen = np.nonzero(front.least_for_each(TOLDINAS["key"], costs))[0]
        assert [(TOLDINAS["block"][i], TOLDINAS["key"][i]) for i in chosen] == [(128, 128), (192, 192), (256, 256)]


def test_the_general_front_of_its_tables_holds_two_more() -> None:
    added = [(256, 192), (192, 128)]
    for costs, more in zip((ENCRYPT, DECRYPT), added, strict=True):
        on = np.nonzero(front.front(costs, TOLDINAS["key"], TOLDINAS["block"]))[0]
        found = {(TOLDINAS["block"][i], TOLDINAS["key"][i]) for i in on}
        assert found == {(128, 128), (192, 192), (256, 256), more}


def test_a_profile_is_taken_from_the_front_by_strength() -> None:
    assert front.profiles([1, 2, 3, 9], [128, 192, 256, 200]) == {"low": 0, "medium": 1, "high": 2}
    assert front.profiles([5, 1], [128, 256]) == {"low": 1}


def test_the_prediction_of_toldinas_is_that_of_the_paper() -> None:
    found = effects.predict(ENCRYPT, DECRYPT)
    assert found.r_squared == pytest.approx(0.985, abs=0.001)
    assert found.ratio == pytest.approx(1.14, abs=0.005)
    assert found.left_out_percent < found.worst_left_out_percent < 3


@given(st.floats(0.5, 2), st.floats(-1, 1))
def test_a_line_is_predicted_without_error(slope: float, intercept: float) -> None:
    known = np.array([10.0, 20.0, 30.0, 50.0])
    found = effects.predict(known, intercept + slope * known)
    assert found.slope == pytest.approx(slope)
    assert found.worst_left_out_percent < 1e-6


def test_three_pairs_are_no_prediction() -> None:
    with pytest.raises(InputError, match="needs 4 pairs that differ, there are 3"):
        effects.predict([1, 2, 3], [1, 2, 3])


@given(st.floats(0, 1), st.floats(1, 100), st.floats(1, 100))
def test_a_mix_lies_between_its_two_costs(share: float, a: float, b: float) -> None:
    assert min(a, b) - 1e-9 <= effects.mix(a, b, share) <= max(a, b) + 1e-9


def two_ciphers() -> dict[str, effects.Costs]:
    return {
        "a": effects.Costs(SIZES, 100 + 10 * SIZES, ONE_PERCENT),
        "b": effects.Costs(SIZES, 1_000 + SIZES, ONE_PERCENT),
    }


def test_a_hybrid_with_the_right_threshold_beats_both_and_with_the_wrong_one_does_not() -> None:
    packets = [20, 1500]
    right = effects.hybrid(two_ciphers(), small="a", large="b", from_B=100, payload_B=packets, weight=[1, 1])
    assert all(one.high < 1 for one in right.against.values())
    wrong = effects.hybrid(two_ciphers(), small="b", large="a", from_B=100, payload_B=packets, weight=[1, 1])
    assert wrong.against_best.low > 1


def test_a_hybrid_of_large_packets_alone_is_the_large_cipher() -> None:
    found = effects.hybrid(two_ciphers(), small="a", large="b", from_B=100, payload_B=[1500], weight=[1])
    assert found.best_alone == "b"
    assert found.against_best == pytest.approx((1, 1, 1))


def test_packets_outside_the_measured_sizes_are_refused() -> None:
    with pytest.raises(InputError, match="a is measured from 14 to 16384 B"):
        effects.hybrid(two_ciphers(), small="a", large="b", from_B=100, payload_B=[10], weight=[1])


def test_draws_are_the_same_for_the_same_seed_and_have_the_width_asked_for() -> None:
    one, other = (distributions.drawn([1.0, 2.0], [0.01, 0.0], seed=3) for _ in range(2))
    assert np.array_equal(one, other)
    assert np.std(np.log(one[:, 0])) == pytest.approx(0.01, rel=0.1)
    assert np.all(one[:, 1] == 2.0)
