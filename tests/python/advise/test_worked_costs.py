"""What ciphers cost, worked by hand: a cost's line, a run's cases, the card or meter that values them, old ciphers."""

import math
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from support.advice import BASE, ask
from wattlock.advise import Advice, checked, cipher_costs, pricing
from wattlock.advise.cipher_costs import CipherCost
from wattlock.advise.inputs import FREE, History
from wattlock.energy import device_cards
from wattlock.errors import EvidenceError, InputError


@pytest.fixture(scope="module")
def answer() -> Advice:
    return ask()


def cost_of(cipher: str, sizes_B: list[int], joules: list[float], *, provider: str = "mine", **more: Any) -> CipherCost:
    twice = [2 * value for value in joules]
    return CipherCost(
        cipher, provider, sizes_B, joules, twice, joules, twice, 0.1, True, "modelled", "a book", "more", **more
    )


@pytest.mark.parametrize(
    ("octets_B", "joules"),
    [
        (8, 6.0),  # half a joule an octet below: 10 - 8 / 2
        (16, 10.0),
        (40, 22.0),
        (64, 34.0),
        (82, 52.0),  # one joule an octet from 64 on
        (100, 70.0),
        (150, 120.0),  # and beyond the last
    ],
)
def test_a_cost_goes_on_along_its_first_and_its_last_line(octets_B: int, joules: float) -> None:
    cost = cost_of("aes128-ccm", [16, 64, 100], [10.0, 34.0, 70.0])
    assert cost.of("seal_J", octets_B) == pytest.approx(joules)
    assert cost.of("open_s", octets_B) == pytest.approx(2 * joules)


def test_a_cost_is_never_below_nothing_counts_whole_blocks_and_of_one_size_goes_by_the_octet() -> None:
    steep = cost_of("aes128-ccm", [16, 64], [1.0, 49.0])
    assert [steep.of("seal_J", size) for size in (0, 15, 16)] == [0.0, 0.0, 1.0]
    blocks = cost_of("aes128-ccm", [16, 64], [16.0, 64.0], block_B=16)
    assert [blocks.of("seal_J", size) for size in (16, 17, 32)] == [16.0, 32.0, 32.0]
    one = cost_of("aes128-ccm", [64], [128.0])
    assert [one.of("seal_J", size) for size in (32, 64, 96)] == [64.0, 128.0, 192.0]
    assert math.isnan(one.of("cycles", 64))


def test_beyond_its_last_size_a_cost_repeats_its_last_period_cut_blocks_and_all() -> None:
    sizes_B, joules = [1, 16, 17, 32, 33, 48, 49, 64], [9.0, 10.0, 19.0, 16.0, 25.0, 26.0, 35.0, 32.0]
    cost = cost_of("aes128-gcm", sizes_B, joules, period_B=32)
    assert [cost.of("seal_J", size) for size in (17, 64)] == [19.0, 32.0]
    # A period of 32 octets takes what the last one did, from 16 to 32.
    assert [cost.of("seal_J", size) for size in (65, 80, 81, 96)] == [41.0, 42.0, 51.0, 48.0]
    assert cost.of("seal_J", 64 + 32 * 1000 + 1) == 41.0 + 16 * 1000


def test_what_a_device_opens_is_counted_by_what_opening_takes() -> None:
    cost = cost_of("aes128-ocb3", [16, 64], [1.0, 2.0], cycles=[10.0, 20.0], open_cycles=[11.0, 25.0])
    both = [cipher_costs.CostedMessage(64, 3.0), cipher_costs.CostedMessage(16, 2.0, opened=True)]
    assert cost.spent(both) == 3 * 20 + 2 * 11


def estimates(**columns: Any) -> pl.DataFrame:
    """A row a case of a run: AES-128-GCM of 64 and of 128 octets, sealed; the larger one opened too."""
    rows = {
        "case": [0, 1, 2],
        "operation": ["seal", "seal", "open"],
        "keying": ["ready"] * 3,
        "encoding": ["raw"] * 3,
        "placement": ["hot"] * 3,
        "pattern": ["independent"] * 3,
        "readiness": ["steady"] * 3,
        "cipher": ["aes128-gcm"] * 3,
        "provider": ["mine"] * 3,
        "payload_B": [64, 128, 128],
        "time_ns": [1e3, 2e3, 3e3],
        "time_low_ns": [1e3, 2e3, 3e3],
        "time_high_ns": [1e3, 2e3, 3e3 * math.exp(2 * 1.96 * 0.25)],
        "cycles": [100.0, 200.0, 300.0],
    }
    return pl.DataFrame(rows | columns)


VALUED: dict[str, Any] = {"energy_uJ": [5.0, 7.0, 9.0], "energy_evidence": ["modelled"] * 3}


def test_a_runs_cases_are_costs_by_size_and_what_it_did_not_open_is_taken_from_what_it_did() -> None:
    (cost,) = cipher_costs.measured(
        estimates(**VALUED), processes=5, clock_Hz=None, counts_cycles=False, narrowed_by="more"
    )
    assert (cost.cipher, cost.provider, cost.sizes_B) == ("aes128-gcm", "mine", [64, 128])
    assert cost.seal_J == pytest.approx([5e-6, 7e-6])
    assert cost.open_J == pytest.approx([9e-6, 9e-6])
    assert cost.seal_s == pytest.approx([1e-6, 2e-6])
    assert cost.log_sigma == pytest.approx(0.25), "of its widest case"
    assert (cost.shared, cost.evidence, cost.narrowed_by) == (True, "modelled", "more")
    (by_cycles,) = cipher_costs.measured(
        estimates(**VALUED), processes=5, clock_Hz=1e8, counts_cycles=True, narrowed_by=""
    )
    assert by_cycles.seal_s == pytest.approx([1e-6, 2e-6])
    (clockless,) = cipher_costs.measured(
        estimates(**VALUED), processes=5, clock_Hz=None, counts_cycles=True, narrowed_by=""
    )
    assert all(math.isnan(second) for second in clockless.seal_s)
    sealed = estimates(**VALUED).filter(pl.col("operation") == "seal")
    (alone,) = cipher_costs.measured(sealed, processes=5, clock_Hz=None, counts_cycles=False, narrowed_by="")
    assert alone.open_J == alone.seal_J


@pytest.mark.parametrize(
    ("column", "other"),
    [
        ("keying", "each"),
        ("encoding", "hex"),
        ("placement", "DRAM"),
        ("pattern", "chained"),
        ("operation", "key_setup"),
    ],
)
def test_a_case_of_another_state_is_no_cost_of_a_message(column: str, other: str) -> None:
    with pytest.raises(EvidenceError, match="no case of the run has energy"):
        cipher_costs.measured(
            estimates(**VALUED, **{column: [other] * 3}),
            processes=5,
            clock_Hz=None,
            counts_cycles=False,
            narrowed_by="",
        )


ENERGIES = pl.DataFrame(
    {
        "case": [0, 1, 2],
        "energy_processes": [5] * 3,
        "energy_uJ": [50.0, 70.0, 90.0],
        "energy_low_uJ": [50.0, 70.0, 90.0],
        "energy_high_uJ": [50.0, 70.0, 90.0],
        "energy_gross_uJ": [60.0] * 3,
        "energy_random_percent": [1.0] * 3,
        "power_net_W": [1.0] * 3,
        "power_baseline_W": [1.0] * 3,
        "energy_state": ["resolved"] * 3,
        "energy_reason": [""] * 3,
    }
)


def run_of(device: str | None = None, *, metered: bool = False) -> Any:
    """A run of the cases above on an nRF52840: with the card that it was valued by, with a meter, or with neither."""
    card = device_cards.load(device).card.model_dump(mode="json") if device else None
    meter = {"scope": "package", "baseline": "idle"} if metered else None
    widths = {"cycles_low": [100.0, 200.0, 300.0], "cycles_high": [100.0, 200.0, 300.0]}
    return SimpleNamespace(
        plan={"device": device, "device_card": card},
        meter=meter,
        energies=ENERGIES if metered else None,
        estimates=estimates(**widths),
        isa="thumbv7em",
        core_classes=[],
        processes=5,
        reasons=[],
    )


def test_a_run_is_valued_by_the_card_that_is_named_else_by_its_own_else_by_its_meter() -> None:
    named = device_cards.load("nrf52840")
    name, device, ((by_card,), *_) = pricing.of_runs([run_of("stm32l476", metered=True)], named, allow_assumed=False)
    assert (device, name) == (named, "nrf52840")
    name, device, ((by_own,), *_) = pricing.of_runs([run_of("nrf52840", metered=True)], None, allow_assumed=False)
    assert device is not None
    assert (device.card, name) == (named.card, "nrf52840")
    assert by_own == by_card
    name, device, ((by_meter,), *_) = pricing.of_runs([run_of(metered=True)], None, allow_assumed=False)
    assert (device, name) == (None, "the run's machine")
    assert by_meter.seal_J == pytest.approx([50e-6, 70e-6])
    assert (by_meter.evidence, by_meter.shared) == ("measured", False)
    with pytest.raises(InputError, match="the run has no energy"):
        pricing.of_runs([run_of()], None, allow_assumed=False)


def test_a_cipher_of_old_costs_as_any_mode_of_it_but_never_as_another_of_its_kind(answer: Advice) -> None:
    question = checked("old", BASE | {"flow": [{"message": "200B", "every": "1s"}]})
    known = [
        cost_of("blowfish128-ecb", [0, 1000], [2.0, 3.0], provider="slow"),
        cost_of("blowfish128-ctr", [0, 1000], [1.0, 2.0], provider="quick"),
        cost_of("rc4-40", [0, 1000], [1.0, 2.0], provider="short"),
    ]
    modes = {"blowfish128-cbc": ("cbc", 64), "rc6-20-128-cbc": ("cbc", 128), "rc4-128": ("stream", 8)}
    rows: Any = {
        name: {"id": name, "mode": mode, "key_bits": 128, "block_bits": bits, "iv_B": bits // 8, "tag_bits": 0}
        for name, (mode, bits) in modes.items()
    }
    of: Any = SimpleNamespace(costs=known)
    found = {one.cipher: one for one in History(question, of).choices(rows, answer.choices)}
    assert {name: one.provider for name, one in found.items()} == {
        "blowfish128-cbc": "quick",
        "rc6-20-128-cbc": FREE,
        "rc4-128": FREE,
    }
    free = found["rc4-128"].cost
    assert {free.of(what, size) for what in ("seal_J", "open_J", "seal_s", "open_s") for size in (0, 1, 99)} == {0.0}
    assert {(one.tag_bits, one.framing, one.aggregate) for one in found.values()} == {(0, "full-nonce", 1)}
    of.costs.append(cost_of("rc4-128", [0, 1000], [1.0, 2.0], provider="own"))
    assert found["rc4-128"].cost != History(question, of).choices(rows, answer.choices)[-1].cost
