"""A published battery run, figure by figure: the rate, its spread, the law of cost, and what is doubted."""

import math
import statistics
import tomllib
from importlib.resources import files

import pytest

from wattlock.energy import battery_cards, published_power

RUN = published_power.published("toldinas", allow_assumed=True)
RAW = tomllib.loads((files("wattlock") / "data" / "published" / "toldinas.toml").read_text())
# 1300 mAh at 3.7 V.
PERCENT_J = 1.3 * 3600 * 3.7 / 100


def printed(operation: str, what: str) -> list[float]:
    return [row[f"{operation}_{what}"] for row in RAW["rijndael"]]


SECONDS = printed("encrypt", "s") + printed("decrypt", "s")
PERCENTS = printed("encrypt", "battery_percent") + printed("decrypt", "battery_percent")
RATES = [percent / time_s for percent, time_s in zip(PERCENTS, SECONDS, strict=True)]


def test_the_run_that_comes_along_is_the_only_one_of_batteries() -> None:
    assert published_power.names() == ["toldinas"]
    assert (RUN.device, RUN.battery, RUN.source) == ("pxa270-520", "pxa270-handheld", RAW["source"])


def test_the_rate_is_the_median_and_makes_the_power_by_the_battery() -> None:
    rate = statistics.median(RATES)
    assert RUN.percent_per_s == pytest.approx(rate)
    assert RUN.power_W == pytest.approx(rate * PERCENT_J)
    assert RUN.spread == pytest.approx(statistics.median(abs(math.log(one / rate)) for one in RATES) / 0.6745)


def test_the_power_is_as_unsure_as_the_battery_and_the_rows_together() -> None:
    # Uniform within 15 % of the capacity; the voltage's own uncertainty and the spread of rows come in squares.
    battery = battery_cards.load("pxa270-handheld").card
    capacity = math.log(1.15) / math.sqrt(3)
    sigma = math.sqrt(capacity**2 + battery.voltage.log_sigma**2 + RUN.spread**2)
    assert RUN.power_high_W / RUN.power_W == pytest.approx(math.exp(1.96 * sigma))
    assert RUN.power_W / RUN.power_low_W == pytest.approx(math.exp(1.96 * sigma))


def test_a_byte_costs_the_percents_of_all_rows_over_their_bytes() -> None:
    assert RUN.uJ_per_byte == pytest.approx(sum(PERCENTS) * PERCENT_J / (18 * 6000 * 786_486) * 1e6)


def test_each_case_stands_beside_what_the_rate_and_the_law_make_of_it() -> None:
    laws = {law.operation: law for law in RUN.laws}
    assert list(laws) == ["encrypt", "decrypt"]
    for case, time_s, percent in zip(RUN.cases, SECONDS, PERCENTS, strict=True):
        assert (case.time_s, case.battery_percent) == (time_s, percent)
        assert case.by_power_percent == pytest.approx(RUN.percent_per_s * time_s)
        assert case.off_percent == pytest.approx(100 * (RUN.percent_per_s * time_s - percent) / percent)
        law = laws[case.operation]
        assert case.by_law_percent == pytest.approx(law.a + law.b * case.rounds + law.c / case.block_bits)
    assert RUN.worst_percent == max(abs(case.off_percent) for case in RUN.cases)
    assert min(case.off_percent for case in RUN.cases) < 0 < max(case.off_percent for case in RUN.cases)


def test_rijndaels_rounds_grow_with_the_larger_of_block_and_key() -> None:
    rounds = {(case.block_bits, case.key_bits): case.rounds for case in RUN.cases}
    # Daemen and Rijmen, table 3.2.
    assert rounds == {
        (128, 128): 10,
        (128, 192): 12,
        (128, 256): 14,
        (192, 128): 12,
        (192, 192): 12,
        (192, 256): 14,
        (256, 128): 14,
        (256, 192): 14,
        (256, 256): 14,
    }


@pytest.mark.parametrize("operation", ["encrypt", "decrypt"])
def test_the_law_leaves_nothing_that_rounds_or_blocks_explain(operation: str) -> None:
    cases = [case for case in RUN.cases if case.operation == operation]
    left = [case.battery_percent - case.by_law_percent for case in cases]
    assert sum(left) == pytest.approx(0, abs=1e-9)
    assert sum(one * case.rounds for one, case in zip(left, cases, strict=True)) == pytest.approx(0, abs=1e-8)
    assert sum(one / case.block_bits for one, case in zip(left, cases, strict=True)) == pytest.approx(0, abs=1e-9)
    mean = statistics.fmean(case.battery_percent for case in cases)
    (law,) = [one for one in RUN.laws if one.operation == operation]
    assert law.r_squared == pytest.approx(
        1 - sum(one**2 for one in left) / sum((case.battery_percent - mean) ** 2 for case in cases)
    )


def test_doubts_are_named_by_how_often_a_time_stands_and_how_far_a_rate_lies() -> None:
    doubts = published_power._doubts
    assert doubts(0.0, 0.1, 8821.0, 3) == ["8821 s stands 3 times"]
    assert doubts(0.0, 0.1, 8821.0, 2) == []
    assert doubts(0.35, 0.1, 1.0, 1) == []
    assert doubts(-0.34, 0.1, 1.0, 1) == []
    assert doubts(0.36, 0.1, 1.0, 1) == ["3.6 spreads above the rate of the others"]
    assert doubts(-0.5, 0.1, 5.0, 4) == ["5 s stands 4 times", "5.0 spreads below the rate of the others"]


def test_a_row_of_a_run_has_figures_of_more_than_nothing() -> None:
    row = RAW["rijndael"][0]
    assert published_power.PrintedRow.model_validate({**row, "encrypt_s": 0.5}).encrypt_s == 0.5
    for key in ("encrypt_s", "decrypt_s", "encrypt_battery_percent", "decrypt_battery_percent"):
        with pytest.raises(ValueError, match=key):
            published_power.PrintedRow.model_validate({**row, key: 0})
    assert published_power.PrintedTables.model_validate({**RAW, "iterations": 1, "payload_B": 1}).iterations == 1
    for key, wrong in (("iterations", 0), ("payload_B", 0), ("rijndael", [])):
        with pytest.raises(ValueError, match=key):
            published_power.PrintedTables.model_validate({**RAW, key: wrong})
