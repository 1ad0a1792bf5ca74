"""Counts as estimates: the error of the rules as an interval, ties within it, and how alike two cores order ciphers."""

from typing import Any

import polars as pl
import pytest

from wattlock.analysis import counts

CASE: dict[str, Any] = {
    "provider": "rustcrypto",
    "operation": "seal",
    "mode": "aead",
    "keying": "ready",
    "encoding": "raw",
}
CASE |= {"placement": "hot", "pattern": "independent", "payload_B": 64, "data": "random", "aad_B": 0}


def record(cycles: int | None, **changed: Any) -> dict[str, Any]:
    usual: dict[str, Any] = {"instructions": 900, "core_cycles": cycles, "open_cycles": 0, "core_error_percent": 10.0}
    usual |= {"part_cycles": None, "image_sha256": "0", "flash_B": 10, "ram_B": 20, "stack_B": 30, "image_flash_B": 40}
    return {"kind": "count"} | usual | changed


def estimates(*cycles: int | None, **changed: Any) -> pl.DataFrame:
    cases = [CASE | {"case": number, "cipher": f"cipher-{number}"} for number in range(len(cycles))]
    records = {number: record(one, **changed) for number, one in enumerate(cycles)}
    return counts.estimates(cases, records, {}, "no rules")


def test_the_interval_holds_every_truth_that_is_off_by_the_error_of_the_rules() -> None:
    (row,) = estimates(1000).iter_rows(named=True)
    # Counted within 10 % of the truth: of 1000 / 1.1 at most 1000 was counted, of 1000 / 0.9 at least.
    assert row["cycles_low"] * 1.1 == pytest.approx(1000)
    assert row["cycles_high"] * 0.9 == pytest.approx(1000)
    assert row["cycles_per_byte"] == pytest.approx(1000 / 64)
    assert (row["state"], row["evidence"], row["time_ns"]) == ("counted", "emulated", None)


def test_what_operands_decide_widens_the_interval() -> None:
    (row,) = estimates(1000, open_cycles=100).iter_rows(named=True)
    assert row["cycles_low"] == pytest.approx(900 / 1.1)
    assert row["cycles_high"] == pytest.approx(1100 / 0.9)


def test_rules_that_were_held_against_nothing_give_no_interval() -> None:
    (row,) = estimates(1000, core_error_percent=None).iter_rows(named=True)
    assert row["cycles"] == 1000
    assert (row["cycles_low"], row["cycles_high"], row["cycles_error_percent"]) == (None, None, None)


def test_a_core_without_rules_has_instructions_alone_and_no_rank() -> None:
    found = estimates(None)
    (row,) = found.iter_rows(named=True)
    assert (row["instructions"], row["cycles"], row["cycles_per_byte"], row["reason"]) == (900, None, None, "no rules")
    assert counts.rank(found).is_empty()


def test_a_case_that_failed_has_its_reason_and_no_number() -> None:
    found = counts.estimates([CASE | {"case": 0, "cipher": "x"}], {}, {0: "the stack is too small"}, "no rules")
    (row,) = found.iter_rows(named=True)
    assert (row["state"], row["reason"]) == ("failed", "the stack is too small")
    assert (row["instructions"], row["flash_B"], row["evidence"]) == (None, None, None)


def test_ciphers_share_a_place_where_their_intervals_touch() -> None:
    found = counts.rank(estimates(2000, 1000, 1100, 1500))
    assert found["cipher"].to_list() == ["cipher-1", "cipher-2", "cipher-3", "cipher-0"]
    # 1000 and 1100 lie within 10 % of a common truth, 1500 not; 2000 is beyond 1500 / 0.9 even where it is 10 % less.
    assert found["tie_group"].to_list() == [1, 1, 2, 3]
    assert found["ratio_to_best"].to_list() == pytest.approx([1.0, 1.1, 1.5, 2.0])


def test_without_an_error_every_cycle_decides() -> None:
    assert counts.rank(estimates(1000, 1001, 1000, core_error_percent=None))["tie_group"].to_list() == [1, 1, 2]


def test_cases_of_other_payloads_are_not_ranked_together() -> None:
    cases = [CASE | {"case": number, "cipher": "x", "payload_B": 16 << number} for number in range(2)]
    found = counts.rank(counts.estimates(cases, {0: record(10), 1: record(20)}, {}, ""))
    assert found["tie_group"].to_list() == [1, 1]


def test_two_versions_are_compared_by_their_counts_and_judged_within_the_error() -> None:
    first, second = estimates(1000, 1000, 1000), estimates(1000, 1100, 2000)
    found = counts.compare(first, second)
    assert found["verdict"].to_list() == ["alike", "undecided", "more"]
    assert found["ratio"].to_list() == pytest.approx([1.0, 1.1, 2.0])
    assert counts.compare(second, first)["verdict"].to_list() == ["alike", "undecided", "fewer"]
    assert found["ratio_low"][2] == pytest.approx(2 * 0.9 / 1.1)


def test_of_one_core_the_error_of_its_rules_cancels_as_far_as_the_instructions_are_alike() -> None:
    first, second = estimates(1000), estimates(1096)
    alike: counts.Mixes = {0: {"add": 600, "load": 300}}

    def compared(mix: counts.Mixes) -> dict[str, Any]:
        return counts.compare(first, second, mixes=(alike, mix)).row(0, named=True)

    exact = compared({0: {"add": 660, "load": 330}})
    assert (exact["ratio_low"], exact["ratio"], exact["ratio_high"]) == pytest.approx((1.096,) * 3)
    assert exact["verdict"] == "more"
    # A third of the instructions are loads in the one, 40 % in the other: 1/15 of what is wrong stays.
    near = compared({0: {"add": 600, "load": 400}})
    width = (1.1 / 0.9) ** (1 / 15)
    assert (near["ratio_low"], near["ratio_high"]) == pytest.approx((1.096 / width, 1.096 * width))
    assert near["verdict"] == "more"
    for mix in ({0: {"divide": 900}}, {}):
        whole = compared(mix)
        assert (whole["ratio_low"], whole["ratio_high"]) == pytest.approx((1.096 * 0.9 / 1.1, 1.096 * 1.1 / 0.9))
        assert whole["verdict"] == "undecided"
    assert counts.compare(first, second).columns == counts.compare(first, second, mixes=(alike, alike)).columns


def test_what_operands_decide_stays_in_the_ratio_of_two_alike_mixes() -> None:
    mixes: counts.Mixes = {0: {"divide": 9}}
    found = counts.compare(estimates(1000, open_cycles=100), estimates(1100), mixes=(mixes, mixes))
    assert (found["ratio_low"][0], found["ratio_high"][0]) == pytest.approx((1.0, 1100 / 900))


def test_a_case_without_cycles_is_never_alike() -> None:
    assert counts.compare(estimates(None), estimates(None))["verdict"].to_list() == ["undecided"]


def test_tau_says_how_alike_two_orders_are() -> None:
    first = estimates(100, 200, 300, 400)
    same, opposite = estimates(10, 20, 30, 40), estimates(4, 3, 2, 1)
    one_pair = estimates(20, 10, 30, 40)
    taus = [counts.agreement(counts.compare(first, one))["tau"][0] for one in (same, opposite, one_pair)]
    # One of six pairs the other way round: (5 - 1) / 6.
    assert taus == pytest.approx([1.0, -1.0, 4 / 6])
    row = counts.agreement(counts.compare(first, one_pair)).row(0, named=True)
    assert (row["ciphers"], row["ordered_by"], row["first_a"], row["first_b"]) == (4, "cycles", "cipher-0", "cipher-1")
    assert (row["tau_low"], row["tau_high"], row["undecided"]) == pytest.approx((4 / 6, 4 / 6, 0))


def test_ciphers_within_the_error_are_ties_and_open_a_range_that_holds_tau() -> None:
    # Within 10 % 1000 and 1100 can't be told apart; the other core has them the other way round, far apart.
    compared = counts.compare(estimates(1000, 1100, 3000), estimates(2000, 1000, 4000))
    row = counts.agreement(compared).row(0, named=True)
    assert row["undecided"] == 1
    # Two pairs agree; one side tells two pairs apart and the other three.
    assert row["tau"] == pytest.approx(2 / (2 * 3) ** 0.5)
    assert (row["tau_low"], row["tau_high"]) == pytest.approx((1 / 3, 1.0))


def test_without_intervals_tau_has_no_range_and_is_that_of_scipy() -> None:
    from scipy.stats import kendalltau

    values = (5, 3, 9, 9, 1, 7), (4, 4, 8, 2, 1, 9)
    first, second = (estimates(*side, core_error_percent=None) for side in values)
    row = counts.agreement(counts.compare(first, second)).row(0, named=True)
    assert row["tau"] == pytest.approx(kendalltau(*values).statistic)
    assert (row["tau_low"], row["tau_high"]) == (None, None)


def test_where_a_core_tells_no_two_apart_there_is_no_tau() -> None:
    row = counts.agreement(counts.compare(estimates(100, 101, 102), estimates(1, 2, 3))).row(0, named=True)
    assert (row["tau"], row["tau_low"], row["tau_high"]) == (None, -1.0, 1.0)


def test_modes_are_not_ordered_among_each_other() -> None:
    frame = estimates(1, 2, 3, 4).with_columns(mode=pl.Series(["cbc", "cbc", "stream", "stream"]))
    assert counts.agreement(counts.compare(frame, frame)).is_empty()


def test_implementations_of_one_run_are_compared_by_their_providers() -> None:
    frame = estimates(1000, 3000).with_columns(cipher=pl.lit("x"), provider=pl.Series(["rust", "assembly"]))
    (row,) = counts.compare(frame, frame, ("assembly", "rust")).iter_rows(named=True)
    assert (row["provider_a"], row["provider_b"], row["verdict"]) == ("assembly", "rust", "fewer")


def test_a_count_above_the_share_is_found_without_an_interval() -> None:
    compared = counts.compare(estimates(1000, 1000, None), estimates(1021, 1019, None))
    assert counts.more_than(compared, 0.02)["cipher"].to_list() == ["cipher-0"]
    assert counts.lost(estimates(1, 2), estimates(1)).get_column("cipher").to_list() == ["cipher-1"]


def test_of_two_ciphers_no_agreement_is_told_and_without_cycles_instructions_order() -> None:
    assert counts.agreement(counts.compare(estimates(1, 2), estimates(2, 1))).is_empty()
    found = counts.agreement(counts.compare(estimates(1, 2, 3), estimates(None, None, None)))
    assert found["ordered_by"].to_list() == ["instructions"]
