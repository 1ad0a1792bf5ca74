"""From blocks to joules: a few blocks whose means and uncertainties are worked by hand."""

import math
from typing import Any

import polars as pl
import pytest

from wattlock.analysis import energy_blocks

exactly = pytest.approx
QUANTUM_NJ = 3 * math.sqrt(6)
"""Of two readings in steps of so much the difference is uncertain by 3 nJ."""


def block(superblock: int, case: int | None, gross_nJ: float, u_ns: float = 0.0, **changed: Any) -> dict[str, Any]:
    """A block of 10 ns of one process, of four calls in 8 ns."""
    every = {"process": 0, "superblock": superblock, "attempt": 0, "case": case, "calls": 4.0, "run_ns": 8.0}
    return every | {"window_ns": 10.0, "window_u_ns": u_ns, "gross_nJ": gross_nJ, "error": None} | changed


GOOD = [
    # 3 W and 5 W of baseline, uncertain by 0.3 and 0.5 W; 10 W and 14 W with calls of 2 ns.
    *(block(0, None, 30.0), block(0, None, 50.0, 0.8), block(0, 1, 100.0, 0.4), block(0, 1, 140.0)),
    # 2 W and 6 W with calls of 3 ns.
    *(block(1, None, 20.0), block(1, 1, 60.0, calls=2.0, run_ns=6.0)),
]


def said(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return energy_blocks.by_process(pl.DataFrame(blocks, schema=energy_blocks.BLOCK_COLUMNS), QUANTUM_NJ).to_dicts()


def test_a_process_says_the_mean_of_its_superblocks_each_above_its_own_baseline() -> None:
    (row,) = said(GOOD)
    # Above the baselines of 4 and 2 W: 6 and 10 W of 2 ns, their mean 16 nJ, and 4 W of 3 ns.
    expected = {"net_nJ": (16 + 12) / 2, "gross_nJ": (24 + 18) / 2, "net_W": (8 + 4) / 2, "baseline_W": 3.0}
    assert {name: row[name] for name in expected} == exactly(expected)


def test_what_is_known_to_be_unsure_of_a_process_is_joined_in_squares() -> None:
    (row,) = said(GOOD)
    # In nJ a call, first superblock: blocks of 1 and 0.6 over two, the baseline's root of 0.34 W, over two, of 2 ns.
    first = (1 + 0.36) / 4 + (math.sqrt(0.34) / 2 * 2) ** 2
    second = 0.9**2 + 0.9**2
    assert row["known_u_nJ"] == exactly(math.sqrt(first + second) / 2)


@pytest.mark.parametrize(
    "bad",
    [
        block(0, 1, 900.0, error="it wrapped"),
        block(0, None, 900.0, error="it wrapped"),
        block(1, 1, 900.0, calls=0.0),
        block(2, 1, 900.0),
    ],
    ids=["a case's error", "a baseline's error", "no calls", "no baseline"],
)
def test_a_block_that_says_nothing_changes_nothing(bad: dict[str, Any]) -> None:
    assert said([*GOOD, bad]) == said(GOOD)


def test_a_block_of_one_call_counts_and_cases_are_in_order() -> None:
    rows = said([*GOOD, block(0, 0, 50.0, calls=1.0), block(0, 3, 50.0) | {"process": 9}])
    assert [row["case"] for row in rows] == [0, 1]
    assert rows[0]["net_nJ"] == exactly((5 - 4) * 8)


def edges(**changed: Any) -> dict[str, Any]:
    every = {"process": 4, "superblock": 1, "attempt": 2, "case": None, "calls": 10, "run_ns": 100, "error": None}
    start, end = ({"not_before_ns": at, "not_after_ns": at + width} for at, width in ((10, 20), (100, 40)))
    return every | {"start": start, "end": end, "gross_nJ": 5} | changed


def test_a_window_reaches_from_the_middle_of_one_edge_to_that_of_the_other() -> None:
    row = energy_blocks.blocks([edges()]).row(0, named=True)
    # From 20 to 120 ns, each uniform in its width.
    assert (row["window_ns"], row["window_u_ns"]) == exactly((100, math.sqrt((20**2 + 40**2) / 12)))
    assert [row[name] for name in ("process", "superblock", "attempt", "case")] == [4, 1, 2, None]
    assert [row[name] for name in ("calls", "run_ns", "gross_nJ", "error")] == [10, 100, 5, None]


@pytest.mark.parametrize("missing", ["start", "end"])
def test_a_block_without_an_edge_has_no_window(missing: str) -> None:
    row = energy_blocks.blocks([edges(**{missing: None}, error="no edge")]).row(0, named=True)
    assert (row["window_ns"], row["window_u_ns"], row["error"]) == (None, None, "no edge")


def processes(net_nJ: list[float], known_u_nJ: float = 0.0, case: int = 0, alignment_u_nJ: float = 0.0) -> pl.DataFrame:
    """What processes say of a case that draws three times as much with what goes on beside it."""
    numbers = {"net_W": 2.0, "baseline_W": 4.0, "known_u_nJ": known_u_nJ, "case": case}
    numbers["alignment_u_nJ"] = alignment_u_nJ
    return pl.DataFrame(
        [{"process": at, "net_nJ": net, "gross_nJ": 3 * net, **numbers} for at, net in enumerate(net_nJ)]
    )


def estimate(net_nJ: list[float], known_u_nJ: float = 0.0, gain: float = 0.0, target: float = 1000.0) -> dict[str, Any]:
    return energy_blocks.by_case(processes(net_nJ, known_u_nJ), gain, {}, target).row(0, named=True)


def test_the_joules_of_a_call_have_the_t_interval_of_the_processes_and_the_gain_beside_it() -> None:
    # A deviation of 10; t(0.975; 2) = 4.302653.
    found, random = estimate([90.0, 100.0, 110.0], gain=0.1), 4.302653 * 10 / math.sqrt(3)
    half = math.hypot(random, 1.96 * 0.1 * 100)
    expected = {"energy_uJ": 0.1, "energy_low_uJ": (100 - half) / 1e3, "energy_high_uJ": (100 + half) / 1e3}
    expected |= {"energy_gross_uJ": 0.3, "energy_random_percent": random, "energy_processes": 3}
    expected |= {"power_net_W": 2.0, "power_baseline_W": 4.0}
    assert {name: found[name] for name in expected} == exactly(expected)
    assert (found["energy_state"], found["energy_reason"]) == ("resolved", None)


def test_a_random_part_above_the_target_is_unresolved_and_still_has_its_joules() -> None:
    found = estimate([90.0, 100.0, 110.0], target=24.8)
    assert (found["energy_state"], found["energy_uJ"]) == ("unresolved", exactly(0.1))
    assert found["energy_reason"] == "±24.8 % at random, the target is ±24.8 %"
    assert estimate([90.0, 100.0, 110.0], target=24.9)["energy_state"] == "resolved"


def test_what_quantum_and_edges_explain_is_the_least_that_is_unsure() -> None:
    # The mean of four that are unsure by 6 each is by 3.
    assert estimate([100.0] * 4, 6.0)["energy_random_percent"] == exactly(1.96 * 3)
    few = estimate([90.0, 100.0, 110.0], 1.0)
    assert few["energy_random_percent"] == exactly(4.302653 * 10 / math.sqrt(3))


def test_an_interval_ends_at_zero() -> None:
    found = estimate([100.0] * 4, 6.0, gain=0.9)
    assert found["energy_low_uJ"] == 0.0
    assert found["energy_high_uJ"] == exactly((100 + math.hypot(5.88, 1.96 * 90)) / 1e3)


def test_three_standard_uncertainties_are_a_signal_and_two_are_told_what_they_need() -> None:
    assert estimate([3.0] * 9, 3.0)["energy_uJ"] == exactly(3e-3)
    for net, needed in (
        (2.0, "it takes some 4 times as many blocks (9 processes now), or longer ones"),
        (2.9, "it takes some 2 times as many blocks (9 processes now), or longer ones"),
        (0.0, "this meter doesn't see it; take one of a smaller domain, or a quieter machine"),
        (-5.0, "this meter doesn't see it; take one of a smaller domain, or a quieter machine"),
    ):
        found = estimate([net] * 9, 3.0)
        assert (found["energy_state"], found["energy_uJ"], found["power_net_W"]) == ("inconclusive", None, 2.0)
        assert found["energy_reason"] == (
            f"{net:.3g} nJ a call above the baseline, with a standard uncertainty of 1 nJ: {needed}"
        )


def test_the_scatter_of_processes_is_a_standard_uncertainty_too() -> None:
    # A deviation of 10 over the root of four is 5.
    scatter = [-5 * math.sqrt(3), -5 * math.sqrt(3), 5 * math.sqrt(3), 5 * math.sqrt(3)]
    assert estimate([14.9 + one for one in scatter])["energy_state"] == "inconclusive"
    assert estimate([15.1 + one for one in scatter])["energy_state"] == "resolved"


def test_three_processes_are_the_least_and_two_are_unresolved() -> None:
    found = estimate([100.0, 100.0])
    assert (found["energy_state"], found["energy_processes"], found["energy_uJ"]) == ("unresolved", 2, None)
    assert found["energy_reason"] == "2 processes with undisturbed blocks, the least is 3"
    assert estimate([100.0] * 3)["energy_state"] == "resolved"


def test_an_error_is_told_only_of_a_case_without_any_block() -> None:
    both = pl.concat([processes([100.0] * 3, case=5), processes([50.0] * 3, case=2)])
    found = energy_blocks.by_case(both, 0.0, {5: "it wrapped", 3: "no edge"}, 2.0)
    states = found.select("case", "energy_state", "energy_reason", "energy_processes").rows()
    assert states == [(2, "resolved", None, 3), (3, "failed", "no edge", None), (5, "resolved", None, 3)]


@pytest.mark.parametrize(
    ("least_ns", "percent", "length_ns"),
    [
        # 3 ms and 8 mJ at 2 W join to 5 ms: over the root of six and the percent.
        (0, 1.0, 204_124_146),
        (0, 10.0, 20_412_415),
        # Five updates, and the least that was asked for.
        (0, 50.0, 15_000_000),
        (15_000_001, 50.0, 15_000_001),
    ],
)
def test_the_length_of_a_block_equals_one_worked_by_hand(least_ns: int, percent: float, length_ns: int) -> None:
    assert energy_blocks.block_length_ns(3_000_000, 8e6, 2.0, least_ns, percent) == length_ns


def test_a_ratio_of_energies_joins_the_random_parts_in_squares_of_logarithms() -> None:
    one, other = ({"energy_uJ": uJ, "energy_random_percent": percent} for uJ, percent in ((6.0, 3.0), (2.0, 4.0)))
    width = math.hypot(math.log(1.03), math.log(1.04))
    assert energy_blocks.ratio(one, other) == exactly((3, 3 * math.exp(-width), 3 * math.exp(width)))


def test_what_an_alignment_leaves_unsure_is_not_averaged_and_joined_in_squares() -> None:
    blocks = [block(0, None, 30.0, alignment_u_nJ=1.0), block(0, 1, 100.0, alignment_u_nJ=2.0)]
    (row,) = said(blocks)
    # 2 nJ and 1 nJ of 10 ns, of calls of 2 ns; in the worst case both err alike.
    assert row["alignment_u_nJ"] == exactly((2.0 + 1.0) / 10 * 2)
    without = estimate([100.0, 102.0, 98.0, 100.0])
    shifted = energy_blocks.by_case(processes([100.0, 102.0, 98.0, 100.0], alignment_u_nJ=3.0), 0.0, {}, 1000.0)
    expected = math.hypot(without["energy_random_percent"], 1.96 * 3.0)
    assert shifted["energy_random_percent"][0] == exactly(expected)


def test_a_block_whose_joules_are_in_a_recording_that_is_not_joined_does_not_count() -> None:
    assert said([block(0, None, 30.0), {**block(0, 1, 0.0), "gross_nJ": None}]) == []
