"""What to measure next: in worlds whose interval is known, the plan takes what narrows it most by the minute."""

import math
from dataclasses import replace

import numpy as np
import pytest

from support.advice import ask
from wattlock.advise import Advice, planner
from wattlock.advise.cipher_costs import CipherCost
from wattlock.advise.planner import FIRST, Offer, Station, best, offers, plan
from wattlock.advise.pricing import pooled
from wattlock.analysis.distributions import COVERAGE
from wattlock.energy.battery_cards import Samples

SIGMA, REST = 0.2, 0.01


@pytest.fixture(scope="module")
def answer() -> Advice:
    return ask()


@pytest.fixture(scope="module")
def world(answer: Advice) -> Advice:
    """An answer whose first choice draws by its cipher and by sleep alone, and whose battery is known exactly."""
    number = answer.best.number
    cost = answer.choices[number].cost
    name = f"cipher {cost.cipher} {cost.provider}"
    drawn, samples = answer.monte_carlo.batteries, Samples(1, answer.monte_carlo.draws)
    exact = drawn._replace(
        numbers={key: np.full_like(values, np.median(values)) for key, values in drawn.numbers.items()},
        capacity_share=np.ones_like(drawn.capacity_share),
        self_discharge_per_s=np.zeros_like(drawn.self_discharge_per_s),
    )
    factors = {name: np.exp(samples.normal(0, SIGMA)), "sleep": np.exp(samples.normal(0, REST))}
    load = answer.loads[number]._replace(terms_W={("cipher", (name,)): 1.0, ("idle", ("sleep",)): 0.0})
    loads = [load if place == number else one for place, one in enumerate(answer.loads)]
    return replace(answer, loads=loads, monte_carlo=answer.monte_carlo._replace(factors=factors, batteries=exact))


def offer_of(world: Advice, target: str, processes: int, process_min: float, first_left: float = 1.0) -> Offer:
    cost = world.choices[world.best.number].cost
    return Offer(target, cost.cipher, cost.provider, processes, process_min, first_left)


def test_as_many_processes_again_leave_the_root_of_half_the_interval(world: Advice) -> None:
    (step,) = best(world, [offer_of(world, "pi", 8, 0.5)])
    assert step.within == pytest.approx(COVERAGE * SIGMA / math.sqrt(2), rel=0.01)
    assert step.narrower == pytest.approx(1 - math.sqrt(0.5), rel=0.01)
    assert step.offer.minutes == 4
    assert step.narrower_a_minute == pytest.approx(step.narrower / 4)


def test_the_quicker_of_two_alike_devices_comes_first_and_a_better_one_may_take_longer(world: Advice) -> None:
    slow, quick = offer_of(world, "slow", 8, 0.5), offer_of(world, "quick", 8, 0.1)
    assert [step.offer.target for step in best(world, [slow, quick])] == ["quick", "slow"]
    precise = offer_of(world, "precise", 0, 0.2, first_left=0.01)
    ordered = best(world, [slow, precise])
    assert ordered[0].offer is precise
    assert ordered[0].offer.minutes == pytest.approx(FIRST * 0.2)


def test_a_plan_goes_on_until_the_answer_is_as_narrow_as_asked_and_no_further(world: Advice) -> None:
    asked = math.expm1(COVERAGE * SIGMA / 3.9)
    planned = plan(world, [offer_of(world, "pi", 4, 1.0)], asked)
    # A root of 16 is asked for: 4, 8, 16 and 32 further processes make 64 of 4.
    assert [step.offer.more for step in planned.steps] == [4, 8, 16, 32]
    assert planned.then <= math.log1p(asked) < planned.steps[-2].within
    assert sorted((step.within for step in planned.steps), reverse=True) == [step.within for step in planned.steps]
    assert plan(world, [offer_of(world, "pi", 4, 1.0)], 1.0).steps == []


def test_a_plan_says_where_no_measurement_helps_any_more(answer: Advice) -> None:
    # What the board draws asleep is the most of this answer, and no fleet measures that by a cipher.
    planned = plan(answer, [offer_of(answer, "pi", 5, 1.0)], 0.001)
    assert not planned.steps or planned.steps[-1].narrower >= planner.LEAST
    assert "sleep (what the very board draws asleep)" in planned.ends
    assert plan(answer, [], 0.001).steps == []


def test_who_can_measure_it_is_known_by_card_or_by_machine(answer: Advice) -> None:
    fleet = [
        Station("board", "nrf52840"),
        Station("core", "nrf52840", counts=True),
        Station("pi", "raspberry-pi-4", "ssh:pi"),
        Station("bare", None),
    ]
    found, cannot = offers(answer, fleet)
    assert [one.target for one in found] == ["board"]
    assert [reason.partition(":")[0] for reason in cannot] == ["core", "pi", "bare"]
    found, _ = offers(answer, fleet, machine="ssh:pi")
    assert [one.target for one in found] == ["pi"]


def run_of(joules: float, log_sigma: float, processes: int = 5, sizes_B: list[int] | None = None) -> list[CipherCost]:
    sizes = sizes_B or [16, 64]
    values = [joules * size for size in sizes]
    cost = CipherCost("a", "p", sizes, values, values, values, values, log_sigma, False, "measured", "the run", "more")
    return [cost._replace(processes=processes)]


def test_runs_that_agree_are_weighed_by_their_precision() -> None:
    (one,) = pooled([run_of(1.0, 0.01), run_of(1.0, 0.01, 15)])
    assert one.processes == 20
    assert one.log_sigma == pytest.approx(0.01 / math.sqrt(2))
    (near,) = pooled([run_of(1.0, 0.001), run_of(1.02, 0.1)])
    assert near.seal_J[0] / 16 == pytest.approx(1.0, rel=1e-4)


def test_runs_that_disagree_widen_the_interval_and_other_sizes_stand_apart() -> None:
    (one,) = pooled([run_of(1.0, 0.01), run_of(1.1, 0.01)])
    half = math.log(1.1) / 2
    assert one.seal_J[0] / 16 == pytest.approx(math.sqrt(1.1))
    # Chi-squared is 2 (half / 0.01)^2 with one degree of freedom; the mean's own uncertainty is 0.01 / root 2.
    assert one.log_sigma == pytest.approx(half, rel=1e-6)
    (narrow,) = pooled([run_of(1.0, 0.02), run_of(3.0, 0.01, sizes_B=[100])])
    assert narrow.sizes_B == [100]


def test_in_made_up_runs_the_pooled_interval_holds_the_truth_as_often_as_it_says() -> None:
    draw, held, tries = np.random.default_rng(7), 0, 2000
    for _ in range(tries):
        sigmas = draw.uniform(0.005, 0.03, 3)
        (one,) = pooled([run_of(float(np.exp(draw.normal(0, sigma))), float(sigma)) for sigma in sigmas])
        held += abs(math.log(one.seal_J[0] / 16)) <= COVERAGE * one.log_sigma
    assert held / tries >= 0.95 - 3.5 * math.sqrt(0.95 * 0.05 / tries)
