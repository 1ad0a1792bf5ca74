"""Lines, crossovers, effects, fronts, policies and predictions: answers worked by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from wattlock.analysis import crossover, distributions, effects, front
from wattlock.errors import InputError

THREE = [10.0, 20.0, 40.0]
exactly = pytest.approx


def test_the_middle_of_draws_leaves_out_a_fortieth_on_each_side_and_what_is_no_number() -> None:
    assert distributions.interval([*range(1001), math.nan]) == exactly((25, 975))


def test_the_standard_error_of_a_logarithm_is_its_half_width_over_1_96() -> None:
    assert distributions.log_sigma([0.0, 5.0]) == exactly([0.0, math.log(1.05) / 1.96])


def test_draws_are_four_thousand_of_each_cost_around_it() -> None:
    found = distributions.drawn([10.0, 3.0], [0.1, 0.0])
    assert found.shape == (4000, 2)
    assert np.median(found[:, 0]) == exactly(10, rel=0.01)
    assert np.array_equal(found, distributions.drawn([10.0, 3.0], [0.1, 0.0]))
    low, high = distributions.interval(found[:, 0])
    assert (low, high) == exactly((10 * math.exp(-0.196), 10 * math.exp(0.196)), rel=0.02)


def test_draws_are_those_of_one_seed_so_that_intervals_come_out_again() -> None:
    normal = np.random.default_rng(20260101).standard_normal((4000, 2))
    assert np.array_equal(distributions.drawn([2.0, 3.0], [0.1, 0.2]), [2.0, 3.0] * np.exp([0.1, 0.2] * normal))


def test_sizes_that_are_measured_twice_are_one_size_and_have_no_slope_between_them() -> None:
    (fixed,), (per_byte,) = crossover.theil_sen(np.array([1, 1, 2, 3]), np.array([[4, 6, 7, 9]]))
    # Slopes 3, 2.5, 1, 1.5 and 2; left are 2, 4, 3 and 3.
    assert (per_byte, fixed) == exactly((2, 3))


def test_a_line_over_three_sizes_equals_one_worked_by_hand() -> None:
    # Slopes 10, 11.5 and 13; left are -1.5, -3 and -1.5.
    (fixed,), (per_byte,) = crossover.theil_sen(np.array([1, 2, 3]), np.array([[10, 20, 33]]))
    assert (per_byte, fixed) == exactly((11.5, -1.5))


def met(a: list[float], b: list[float], sigma: float = 0.0, sizes: list[float] = THREE) -> crossover.Crossover:
    width = [sigma] * len(sizes)
    return crossover.crossover(sizes, (a, width), (b, width))


@pytest.mark.parametrize(
    ("b", "payload_B", "by_law_B"),
    [
        # Slopes 2, 8/3 and 3: the law is 100/3 + 8/3 x. Gaps of 20 and -40 at 20 and 40.
        ([60, 80, 140], 20 + 20 * 20 / 60, 25),
        # Slopes 5, 3 and 2: the law is 30 + 3 x. Gaps of 40 and -10 at 10 and 20.
        ([60, 110, 150], 10 + 10 * 40 / 50, 70 / 3),
    ],
)
def test_a_crossover_lies_on_the_line_between_two_sizes_and_tells_how_far_the_laws_lie_off(
    b: list[float], payload_B: float, by_law_B: float
) -> None:
    found = met([100, 100, 100], b)
    assert (found.payload_B, found.low_B, found.high_B) == exactly((payload_B,) * 3)
    assert found.by_law_B == exactly(by_law_B)
    assert found.disagreement == exactly(max(payload_B / by_law_B, by_law_B / payload_B))
    assert (found.probability, found.cheaper_below, found.cheaper_above, found.crossings) == (1.0, "b", "a", 1)
    turned = met(b, [100, 100, 100])
    assert (turned.payload_B, turned.by_law_B) == exactly((payload_B, by_law_B))
    assert (turned.cheaper_below, turned.cheaper_above) == ("a", "b")


def test_the_interval_of_a_crossover_is_the_middle_of_its_draws() -> None:
    a, b, sigmas = [100.0, 100.0, 100.0], [60.0, 80.0, 140.0], ([0.01, 0.02, 0.03], [0.03, 0.01, 0.02])
    y = distributions.drawn([*a, *b], np.concatenate(sigmas))
    second, third = y[:, 1] - y[:, 4], y[:, 2] - y[:, 5]
    low, high = distributions.interval(20 + 20 * second / (second - third))
    found = crossover.crossover(THREE, (a, sigmas[0]), (b, sigmas[1]))
    assert (found.low_B, found.high_B) == exactly((low, high), rel=1e-9)
    assert found.probability == 1.0


def test_costs_that_cross_twice_have_no_size_from_which_on() -> None:
    found = met([1, 3, 1], [2, 2, 2])
    assert (found.payload_B, found.low_B, found.high_B, found.disagreement) == (None,) * 4
    assert (found.probability, found.crossings, found.cheaper_below, found.cheaper_above) == (0.0, 2, "a", "a")


def test_parallel_laws_never_meet() -> None:
    found = met([10, 20, 40], [11, 21, 41], 0.001)
    assert (found.payload_B, found.by_law_B, found.probability, found.crossings) == (None, None, 0.0, 0)


@pytest.mark.parametrize(("at_B", "by_law_B"), [(10, 10), (40, 40), (9.9, None), (40.1, None)])
def test_laws_meet_at_the_measured_sizes_and_not_beyond(at_B: float, by_law_B: float | None) -> None:
    found = met([2 * size for size in THREE], [at_B + size for size in THREE])
    assert found.by_law_B == exactly(by_law_B)


def test_costs_that_are_equal_at_the_largest_size_cross_in_half_of_the_draws() -> None:
    found = met([1, 1, 1], [2, 2, 1], 0.01)
    assert found.payload_B == exactly(40)
    assert found.probability == exactly(0.5, abs=0.05)
    assert (found.cheaper_below, found.cheaper_above) == ("a", "b")


def test_two_sizes_make_no_crossover() -> None:
    with pytest.raises(InputError, match="a crossover needs 3 sizes, there are 2"):
        met([1, 2], [2, 1], sizes=[1, 2])


def test_a_ratio_tells_its_logarithm_its_error_and_its_percent() -> None:
    found = effects.Ratio(1.1, 1.05, 1.2)
    assert found.percent == exactly((10, 5, 20))
    assert (found.log, found.sigma) == exactly((math.log(1.1), math.log(1.2 / 1.05) / 3.92))


def test_the_errors_of_a_ratio_are_joined_in_squares() -> None:
    assert effects.ratio(6, 3, 0.03, 0.04) == exactly((2, 2 * math.exp(-0.098), 2 * math.exp(0.098)))


def test_the_mean_of_ratios_joins_their_errors_and_their_spread() -> None:
    one = effects.ratio(2, 1, 0.03)
    assert effects.mean([one]) == exactly(one)
    # Two alike: the error of each, over the root of two.
    assert effects.mean([one, one]) == exactly((2, *(2 * math.exp(s * 1.96 * 0.03 / math.sqrt(2)) for s in (-1, 1))))
    # Two that lie 0.2 apart: t(0.975; 1) = 12.7062 times 0.1, beside 1.96 times 0.05 / 2.
    other = [effects.ratio(math.exp(log), 1, sigma) for log, sigma in ((0.1, 0.03), (0.3, 0.04))]
    half = math.hypot(1.27062, 1.96 * 0.025)
    assert effects.mean(other) == exactly([math.exp(0.2 + side * half) for side in (0, -1, 1)], rel=1e-5)


@pytest.mark.parametrize(
    ("value", "p", "says"),
    [(2.0, 0.0, "equivalent"), (0.5, 0.0, "equivalent"), (2.001, 1.0, "different"), (0.499, 1.0, "different")],
)
def test_a_ratio_without_error_is_equivalent_up_to_the_bounds_themselves(value: float, p: float, says: str) -> None:
    assert effects.equivalence(effects.Ratio(value, value, value), -50, 100) == (p, says)


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (effects.Ratio(3, 2, 4.5), "undecided"),
        (effects.Ratio(3, 2.001, 4.5), "different"),
        (effects.Ratio(1 / 3, 2 / 9, 0.5), "undecided"),
        (effects.Ratio(1 / 3, 2 / 9, 0.499), "different"),
    ],
)
def test_an_interval_that_touches_a_bound_is_not_outside(found: effects.Ratio, says: str) -> None:
    assert effects.equivalence(found, -50, 100).verdict == says


def test_either_of_the_one_sided_tests_can_be_the_greater() -> None:
    for value, distance in ((1.9, math.log(2 / 1.9)), (1 / 1.9, math.log(2 / 1.9)), (1.0, math.log(2))):
        found = effects.equivalence(effects.ratio(value, 1, 0.1), -50, 100)
        assert found.p == exactly(stats.norm.sf(distance / 0.1))


def test_choices_that_are_alike_are_both_on_the_front_and_a_weaker_one_at_the_same_cost_is_not() -> None:
    assert front.front([1, 1, 2], [5, 5, 5]).tolist() == [True, True, False]
    assert front.front([1, 1, 1], [4, 5, 5]).tolist() == [False, True, True]
    # Stronger in one way and weaker in the other beats nothing.
    assert front.front([1, 2, 3], [1, 2, 2], [2, 1, 1]).tolist() == [True, True, False]


def test_each_draw_has_a_front_of_its_own() -> None:
    found = front.front([[1, 2, 3], [3, 2, 1], [1, 3, 2]], [1, 2, 3])
    assert found.tolist() == [[True, True, True], [False, False, True], [True, False, True]]


def test_the_probability_of_being_on_the_front_is_a_share_of_draws() -> None:
    found = front.probability([1, 1, 5], [0.01, 0.01, 0.0], [1, 2, 1])
    # The first is on it where it happens to cost less than the second, which is on it always.
    assert found == exactly([0.5, 1, 0], abs=0.06)
    assert np.all(found * 1000 == np.round(found * 1000))


def test_of_each_group_those_of_least_energy_are_chosen_also_where_they_are_two() -> None:
    assert front.least_for_each([1, 1, 2, 1, 2], [4, 3, 9, 3, 10]).tolist() == [False, True, True, True, False]


@pytest.mark.parametrize(
    ("energy", "strength", "expected"),
    [
        ([1], [128], {"low": 0}),
        ([2, 1], [256, 128], {"low": 1, "high": 0}),
        # The middle of 100 and 200 is 150: 140 is nearer than 170, and than 101.
        ([5, 4, 3, 2, 1], [200, 170, 140, 101, 100], {"low": 4, "medium": 2, "high": 0}),
        ([1, 2, 3, 4], [100, 101, 160, 200], {"low": 0, "medium": 2, "high": 3}),
        # Both as near: the weaker, which is the cheaper.
        ([1, 2, 3, 4], [100, 140, 160, 200], {"low": 0, "medium": 1, "high": 3}),
    ],
)
def test_profiles_are_the_ends_of_the_front_and_what_is_nearest_to_their_middle(
    energy: list[float], strength: list[float], expected: dict[str, int]
) -> None:
    assert front.profiles(energy, strength) == expected


@pytest.mark.parametrize(("share", "cost"), [(0, 2), (0.25, 4), (1, 10)])
def test_a_mix_is_the_mean_by_its_share_up_to_both_ends(share: float, cost: float) -> None:
    assert effects.mix(10, 2, share) == cost


@pytest.mark.parametrize("share", [-0.01, 1.01])
def test_a_share_beyond_all_or_nothing_is_refused(share: float) -> None:
    with pytest.raises(InputError, match=f"the share of encryptions is {share:g}"):
        effects.mix(10, 2, share)


def costs(*values: float, sigma: float = 0.0) -> effects.Costs:
    return effects.Costs(np.array(THREE), np.array(values), np.full(3, sigma))


MADE_UP = {"a": costs(1, 2, 4), "b": costs(3, 3, 3), "c": costs(9, 9, 9)}


def hybrid(payload_B: list[float], weight: list[float], from_B: float = 20) -> effects.Hybrid:
    return effects.hybrid(MADE_UP, small="a", large="b", from_B=from_B, payload_B=payload_B, weight=weight)


def test_a_hybrid_costs_what_each_packet_costs_of_its_cipher_by_weight() -> None:
    # 15 B of a cost 1.5, and 40 B of b 3: three of the one and one of the other.
    found = hybrid([15, 40], [3, 1])
    assert found.cost == exactly((3 * 1.5 + 3) / 4)
    # a alone: (3 * 1.5 + 4) / 4.
    assert found.against["a"] == exactly((7.5 / 8.5,) * 3)
    assert found.against["b"] == exactly((7.5 / 12,) * 3)
    assert found.against["c"] == exactly((7.5 / 36,) * 3)
    assert (found.best_alone, found.against_best) == ("a", found.against["a"])


def test_a_packet_of_the_threshold_itself_is_large() -> None:
    assert hybrid([20], [1]).cost == exactly(3)
    assert hybrid([20], [1], from_B=20.1).cost == exactly(2)


def test_packets_of_the_smallest_and_of_the_largest_measured_size_are_taken_and_none_beyond() -> None:
    assert hybrid([10, 40], [1, 1]).cost == exactly(2)
    for beyond in (9.9, 40.1):
        with pytest.raises(InputError, match="a is measured from 10 to 40 B"):
            hybrid([20, beyond], [1, 1])


def test_the_interval_of_a_hybrid_is_that_of_the_costs_that_it_does_not_share() -> None:
    ciphers = {"a": costs(1, 1, 1, sigma=0.02), "b": costs(1, 1, 1, sigma=0.01)}
    found = effects.hybrid(ciphers, small="a", large="b", from_B=50, payload_B=[10], weight=[2])
    assert found.cost == exactly(1)
    assert found.against["a"] == exactly((1, 1, 1))
    half = 1.96 * math.hypot(0.02, 0.01)
    assert found.against["b"] == exactly((1, math.exp(-half), math.exp(half)), abs=0.004)
    # Each cipher has draws of its own, and its middle is none of them.
    drawn_a, drawn_b = (
        distributions.drawn(one.cost, one.sigma, seed=seed)[:, 0] for seed, one in enumerate(ciphers.values())
    )
    assert found.against["b"][1:] == exactly(distributions.interval(drawn_a / drawn_b), rel=1e-9)


def test_a_prediction_over_four_pairs_equals_one_worked_by_hand() -> None:
    found = effects.predict([1, 2, 3, 4], [2, 4, 6, 9])
    assert (found.slope, found.intercept, found.pairs) == exactly((2.3, -0.5, 4))
    # Left are 0.2, -0.1, -0.4 and 0.3: squares of 0.3 over 2 degrees of freedom and 5 of x; t(0.975; 2) = 4.30265.
    half = 4.30265 * math.sqrt(0.15 / 5)
    assert (found.slope_low, found.slope_high) == exactly((2.3 - half, 2.3 + half), rel=1e-5)
    assert found.r_squared == exactly(1 - 0.3 / 26.75)
    # What is left over 1 less the leverage (0.7, 0.3, 0.3, 0.7), over the value.
    off = [0.2 / 0.3 / 2, 0.1 / 0.7 / 4, 0.4 / 0.7 / 6, 0.3 / 0.3 / 9]
    assert found.left_out_percent == exactly(100 * math.sqrt(sum(one**2 for one in off) / 4))
    assert found.worst_left_out_percent == exactly(100 / 3)
    # The logs of the ratios are those of 2, three times, and of 2.25; t(0.975; 3) = 3.18245.
    more = math.log(1.125)
    middle, spread = math.log(2) + more / 4, 3.18245 * more / 2 / math.sqrt(4)
    assert (found.ratio, found.ratio_low, found.ratio_high) == exactly(
        [math.exp(middle + side * spread) for side in (0, -1, 1)], rel=1e-5
    )


def test_four_pairs_of_one_kind_are_no_prediction_and_of_two_kinds_they_are() -> None:
    with pytest.raises(InputError, match="needs 4 pairs that differ, there are 4 of 1 kinds"):
        effects.predict([2, 2, 2, 2], [1, 2, 3, 4])
    # Without the only other one there is no line: that pair is not foretold.
    found = effects.predict([1, 1, 1, 2], [3, 3, 3, 5])
    assert (found.slope, found.intercept) == exactly((2, 1))
    assert found.worst_left_out_percent == exactly(0, abs=1e-9)
