"""What ciphers cost on microcontrollers: whose code, counted how; what is ranked and what not; a user's own figures."""

import json
import math
from typing import Any

import pytest
from pydantic import ValidationError

from support.advice import ask
from wattlock import cli
from wattlock.advise import as_object, pricing, prose, published, record
from wattlock.advise import cipher_costs as cost_files
from wattlock.advise.cipher_costs import CipherCost, CostedMessage, CostFile
from wattlock.advise.published import DeviceCosts
from wattlock.energy import device_cards
from wattlock.errors import EvidenceError

EVERY = [(isa, place) for isa in cost_files.names() for place in range(len(cost_files.load(isa).cost))]
SMALL = [CostedMessage(64, 1.0)]
C3: dict[str, Any] = {"device": {"card": "esp32-c3"}, "radio": {"card": "nrf52840-ble"}}
U5: dict[str, Any] = {"device": {"card": "stm32u5a9"}, "radio": {"card": "nrf52840-ble"}}


def priced(device: str, *, allow_assumed: bool = False, **more: Any) -> DeviceCosts:
    return published.published_costs(
        device_cards.load(device), more.pop("messages", SMALL), allow_assumed=allow_assumed, **more
    )


def one(costs: list[CipherCost], cipher: str, *, accelerator: bool = False) -> CipherCost:
    (found,) = [cost for cost in costs if cost.cipher == cipher and cost.accelerator == accelerator]
    return found


@pytest.mark.parametrize(("isa", "place"), EVERY)
def test_every_cost_names_its_code_its_core_and_where_it_is_printed(isa: str, place: int) -> None:
    cost = cost_files.load(isa).cost[place]
    for said in (cost.implementation, cost.compiler, cost.flags, cost.core, cost.memory, cost.source, cost.because):
        assert said.strip()
    is_tally = cost.ciphers == [cost_files.TALLY]
    page = "experiments/tally/docs/results" if is_tally else "docs/results/mcu-counts"
    counted = cost.source.startswith(f"{page}.md, image with the SHA-256 ")
    assert cost.url.startswith("https://") or cost.confidence == "unverified" or counted
    assert counted == (cost.counted in {"core cycles", "part cycles"})


def test_the_microcontrollers_with_a_card_have_costs_of_their_own_core() -> None:
    small = {"thumbv6m", "thumbv7em", "thumbv8m", "riscv32", "xtensa"}
    assert set(cost_files.names()) == small
    assert small == {device_cards.load(name).card.isa for name in device_cards.names()} & small


@pytest.mark.parametrize(
    ("isa", "printed", "octets", "cycles"),
    [
        # 150 MHz and 2.048 MB/s of 10^6; 160 MHz and 5.640 MB/s of 2^20; 80 MHz and 1.751 MiB/s.
        ("thumbv8m", "AES-128-GCM-enc 2.048 MB/s", 1024, 150e6 * 1024 / 2.048e6),
        ("thumbv8m", "AES-128-GCM-enc 5.640 MB/s", 1024, 160e6 / (5.640 * 1024)),
        ("thumbv8m", "AES-128-CBC-enc 3.686 MB/s", 1024, 2 * 150e6 * 1024 / 3.686e6),
        ("thumbv8m", "encrypt<128> 574 cycles a block", 1024, 2 * 574 * (64 + 1)),
        ("thumbv7em", "CHA-POLY 1.751 MiB/s", 1024, 80e6 / (1.751 * 1024)),
        ("thumbv7em", "of 16 bytes 93 us", 32, 128 * 64),
        ("thumbv7em", "armv7m_small o3", 64, 5300),
        ("thumbv7em", "AES-CCM-128 216 cycles/byte", 1024, 216 * 1024),
        ("thumbv7em", "CTR32_unrolled<128> 38.48", 1600, 1430 + 100 * (38.48 * 16 + 715)),
        ("thumbv7em", "the four rounds more are Mbed TLS's", 1600, 5600 + 1600 * 1.17 * (168133 - 24160) / 960),
        ("xtensa", "asm_xtensa_fsr", 16, 214.51 * 16),
        ("riscv32", "AES-128-CBC-enc 1754.121 KB/s", 1024, 2 * 160e6 * 1024 / 1754121),
        ("thumbv6m", "armv6m o1", 1024, 128719),
    ],
)
def test_a_message_costs_the_cycles_that_its_source_prints(isa: str, printed: str, octets: int, cycles: float) -> None:
    (device,) = [name for name in ("nrf52840", "stm32u5a9", "esp32", "esp32-c3", "rp2040") if of(name) == isa][:1]
    every = priced(device, allow_assumed=True)
    found = [cost for costs in every[:3] for cost in costs if isinstance(cost, CipherCost) and printed in cost.source]
    assert found
    for cost in found:
        assert cost.of("cycles", octets) == pytest.approx(cycles, rel=1e-3)


@pytest.mark.parametrize(
    ("unit", "value", "cycles"),
    [
        ("cycles", 7000.0, 7000),
        ("cycles/B", 70.0, 7000),
        ("us", 100.0, 5000),
        ("kB/s", 1.0, 5e6),
        ("KiB/s", 1.0, 5e6 / 1.024),
        ("MB/s", 1.0, 5000),
        ("MiB/s", 1.0, 5000 / 1.048576),
    ],
)
def test_100_octets_at_50_MHz_take_the_cycles_of_each_unit(unit: str, value: float, cycles: float) -> None:
    good = cost_files.load("thumbv7em").cost[5].model_dump() | {"clock_MHz": 50.0, "unit": unit}
    for times in (1, 2):
        cost = cost_files.PublishedCost.model_validate(good | {"figures": [[100, value]], "times": times})
        ((octets, taken),) = cost.points
        assert octets == 100
        assert taken == pytest.approx(times * cycles)


def of(device: str) -> str:
    return device_cards.load(device).card.isa


def test_whole_blocks_are_paid_linear_between_printed_sizes_at_the_cards_joules_a_cycle() -> None:
    cost = one(priced("nrf52840").taken, "ascon-aead128")
    assert cost.of("cycles", 49) == cost.of("cycles", 64) == 5300
    assert cost.of("cycles", 40) == pytest.approx(2998 + (5300 - 2998) * 32 / 48)
    assert cost.of("seal_J", 64) == pytest.approx(5300 * device_cards.load("nrf52840").card.rate.joules)


def test_the_code_with_the_fewest_cycles_for_the_questions_messages_is_taken() -> None:
    every = priced("nrf52840")
    taken = one(every.taken, "aes128-ccm")
    assert taken.origin
    assert taken.origin.language == "assembly"
    slower = [cost for cost in every.slower if cost.cipher == "aes128-ccm"]
    assert slower
    assert all(cost.of("cycles", 64) > taken.of("cycles", 64) for cost in slower)
    # ascon-c's two on Cortex-M33 cross; here a file of one's own whose order turns with the size.
    figures = {"small": [[16, 100], [1024, 90000]], "large": [[16, 5000], [1024, 20000]]}
    table = cost_files.load("thumbv7em").cost[0].model_dump() | {"rate": None, "fixed": None, "unit": "cycles"}
    table |= {"ciphers": ["aes128-ccm"]}
    file = [table | {"implementation": name, "figures": value} for name, value in figures.items()]
    costs = CostFile.model_validate({"isa": "thumbv7em", "cost": file})
    for size_B, name in ((16, "small"), (1024, "large")):
        valued = list(published._valued(costs, device_cards.load("nrf52840")))
        (best,) = published._best(valued, [CostedMessage(size_B, 1.0)])
        assert best.origin
        assert best.origin.implementation == name


def test_borrowed_cycles_are_assumed_wider_and_not_ranked_without_consent() -> None:
    refused, allowed = priced("esp32"), priced("esp32", allow_assumed=True)
    assert "chacha20-poly1305" not in {cost.cipher for cost in refused.taken}
    lent = one(refused.unranked, "xchacha20-poly1305")
    assert one(allowed.taken, "xchacha20-poly1305") == lent
    assert lent.evidence == "assumed"
    assert "borrowed from cortex-m4" in lent.doubt
    home = one(priced("nrf52840").taken, "xchacha20-poly1305")
    # Counted on an nRF52840's core, whose boards were compared; an ESP32's flash was compared with nothing.
    assert lent.uniform
    assert home.uniform
    assert lent.uniform[1] == pytest.approx(home.uniform[1] + math.log(2) - math.log(1 - 0.271) / 2)


def test_only_compiled_code_is_borrowed_and_never_hardware_or_assembly() -> None:
    lent = priced("cortex-a53-rk3399", allow_assumed=True).taken
    assert {cost.cipher for cost in lent} >= {"aes128-gcm", "ascon-aead128", "chacha20-poly1305"}
    assert {cost.origin.language for cost in lent if cost.origin} == {"C", "Rust"}


def test_a_device_has_its_own_hardware_alone_and_none_where_it_is_not_to_be_used() -> None:
    hardware = {
        name: {cost.provider for cost in priced(name).taken if cost.accelerator}
        for name in ("nrf52840", "stm32l476", "stm32u5a9", "nrf54l15")
    }
    assert hardware["stm32l476"] == hardware["nrf54l15"] == set()
    assert hardware["nrf52840"] == {"mible_std_authen, hardware"}
    assert hardware["stm32u5a9"] == {"wolfSSL 5.3.1 over the AES peripheral, hardware"}
    assert [[engine.name for engine in priced(name).engines] for name in hardware] == [
        ["CryptoCell 310"],
        [],
        [],
        ["CRACEN"],
    ]
    without = priced("nrf52840", accelerator=False)
    assert without.engines == []
    assert not any(cost.accelerator for cost in [*without.taken, *without.slower])


def test_a_cost_of_a_slower_kind_than_the_others_is_assumed_and_its_interval_goes_down_by_the_published_spread() -> (
    None
):
    slower = [cost for cost in priced("esp32-c3").slower if cost.origin and cost.origin.language == "C"]
    gcm = one(slower, "aes128-gcm")
    assert "bit by bit" in gcm.doubt
    # By tables the same library takes a ninth: the interval reaches there.
    assert gcm.uniform == pytest.approx((-math.log(9) - math.log(1.3), math.log(1.3)))
    assert all(not cost.doubt for cost in priced("nrf52840").taken)


def test_a_slower_kind_without_a_published_spread_is_refused() -> None:
    shelf = cost_files.COSTS.load("riscv32")[1].model_dump()
    with pytest.raises(ValidationError, match=r"aes128-gcm: its GHASH goes bit by bit.*no spread says by how much"):
        CostFile.model_validate(shelf | {"spread": []})


def test_counts_of_another_core_of_the_same_instruction_set_may_be_off_by_a_factor_of_two() -> None:
    eax = one(priced("esp32-c3", allow_assumed=True).taken, "aes128-eax")
    assert "counted on sifive-e31, which is the core of no part here" in eax.doubt
    assert eax.uniform
    assert eax.uniform[1] > math.log(2)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rate": 3.0}, "needs figures or rate, one of them"),
        ({"figures": [[64, 100], [16, 50]]}, "figures must rise"),
        ({"figures": [[16, 100], [64, 50]]}, "figures must rise"),
        ({"figures": [[64, 100]], "fixed": 100.0}, "the whole message takes 100"),
        ({"figures": [[16, 10], [64, 100]], "fixed": 5.0}, "fixed is for one figure"),
        ({"unit": "us"}, "unit us needs clock_MHz"),
        ({"figures": [[16.5, 100]]}, "whole octets"),
        ({"rate": 3.0, "figures": None}, "needs fixed"),
        ({"figures": [[64]]}, "at least 2 items"),
        ({"figures": [[64, 100, 3]]}, "at most 2 items"),
        ({"figures": []}, "at least 1 item"),
        ({"figures": [[16, 10], [64, 100]], "fixed": None, "period_B": 64}, "period_B is 64 B"),
        ({"figures": [[16, 10], [64, 100]], "fixed": None, "open_figures": [[16, 10], [32, 50]]}, "of the octets of"),
    ],
)
def test_figures_that_cannot_be_are_refused(change: dict[str, Any], said: str) -> None:
    good = cost_files.load("thumbv7em").cost[5].model_dump()
    with pytest.raises(ValidationError, match=said):
        CostFile.model_validate({"isa": "thumbv7em", "cost": [good | change]})


def test_a_cut_block_may_take_more_than_the_whole_one_behind_it() -> None:
    good = cost_files.load("thumbv7em").cost[5].model_dump()
    cut = [[8, 160], [16, 100], [64, 300]]
    of = CostFile.model_validate({"isa": "thumbv7em", "cost": [good | {"figures": cut}]})
    assert of.cost[0].points == [(8, 160), (16, 100), (64, 300)]
    for wrong in ([[8, 170], [16, 100], [64, 300]], [[8, 90], [16, 301], [64, 300]]):
        with pytest.raises(ValidationError, match="figures must rise"):
            CostFile.model_validate({"isa": "thumbv7em", "cost": [good | {"figures": wrong}]})


def test_two_ciphers_of_one_code_counted_alike_are_in_an_order_of_ciphers() -> None:
    lent = priced("esp32-c3", allow_assumed=True)
    alike = [cost for cost in lent.taken if cost.origin and cost.origin.language == "Rust"]
    assert len(alike) > 5
    assert published.follows_the_code(lent._replace(taken=alike), SMALL) == []
    assert published.follows_the_code(lent, SMALL) != []


def test_the_answer_says_where_an_order_follows_the_code_and_not_the_cipher() -> None:
    said = "\n".join(prose.notes(ask()))
    assert "follows the code, not the cipher: assembly against Rust; both in Rust it is the other way round" in said
    every = priced("nrf52840")
    ccm, gcm = (next(cost for cost in [*every.taken, *every.slower] if in_Rust(cost, of)) for of in PAIR)
    assert small(ccm) > small(gcm), "in Rust the order is the other one than between the best"
    assert small(one(every.taken, "aes128-ccm")) < small(one(every.taken, "aes128-gcm"))
    described = published.follows_the_code(every, SMALL)
    assert not any("ascon-aead128 and aes128-ccm" in one for one in described), "in Rust too Ascon is the faster one"
    assert any("aes128-gcm" in one for one in published.follows_the_code(priced("stm32u5a9"), SMALL)), (
        "one build in Rust; assembly for CCM alone"
    )


PAIR = ("aes128-ccm", "aes128-gcm")


def in_Rust(cost: CipherCost, cipher: str) -> bool:
    return cost.cipher == cipher and cost.origin is not None and cost.origin.language == "Rust"


def small(cost: CipherCost) -> float:
    return cost.of("cycles", 64)


@pytest.mark.parametrize("allow_assumed", [False, True])
@pytest.mark.parametrize("accelerator", [False, True])
def test_on_a_stm32u5a9_aes_gcm_is_at_most_15_percent_behind(*, allow_assumed: bool, accelerator: bool) -> None:
    described = ask({"device.accelerator": accelerator}, allow_assumed=allow_assumed, **U5)
    behind = [place.behind for place in described.places if described.choices[place.number].cipher == "aes128-gcm"]
    assert min(behind) <= 0.15


def test_assumed_costs_are_listed_and_marked_and_unranked_until_they_are_allowed() -> None:
    refused, allowed = ask(**C3), ask(**C3, allow_assumed=True)
    assert "chacha20-poly1305" not in {choice.cipher for choice in refused.choices}
    assert "chacha20-poly1305" in {choice.cipher for choice in allowed.choices}
    assert (refused.evidence["cipher"], allowed.evidence["cipher"]) == ("modelled", "assumed")
    (row,) = [
        row for row in pricing.rows(refused.inputs.priced, refused.question) if row["ciphers"] == "chacha20-poly1305"
    ]
    assert row["evidence"] == "assumed"
    assert "counted on sifive-e31, which is the core of no part here" in row["ranked"]
    assert any("not ranked, as their cost is assumed" in note and "chacha20" in note for note in prose.notes(refused))
    (described,) = [row for row in as_object(refused)["costs"] if row["cipher"] == "chacha20-poly1305"]
    assert (described["ranked"], described["evidence"]) == (False, "assumed")


def test_code_of_fewer_cycles_whose_time_may_tell_of_the_key_is_passed_over_for_code_whose_does_not() -> None:
    every = priced("nrf52840")
    taken = one(every.taken, "aes128-gcm")
    tables = one(every.slower, "aes128-gcm")
    assert tables.of("cycles", 64) < taken.of("cycles", 64)
    assert taken.origin is not None
    assert tables.origin is not None
    assert (taken.origin.timing, tables.origin.timing) == ("constant", "table lookups")
    (row,) = [
        row
        for row in pricing.rows(every, ask().question, slower=True)
        if row["implementation"] == tables.origin.implementation and row["ciphers"] == "aes128-gcm"
    ]
    assert row["ranked"] == "no: its time: table lookups"


def test_where_no_other_code_is_known_it_is_taken_and_the_answer_says_so() -> None:
    taken = one(priced("esp32-c3").taken, "aes128-ccm")
    assert taken.origin is not None
    assert taken.origin.timing == "table lookups"
    said = [note for note in prose.notes(ask(**C3)) if "may tell of the key" in note]
    assert any("aes128-ccm by wolfSSL 5.5.4" in note for note in said)


def test_each_cipher_says_what_this_code_the_best_published_code_and_hardware_take() -> None:
    rows = {row["cipher"]: row for row in as_object(ask())["by_code"]}
    ccm = rows["aes128-ccm"]
    assert {kind for kind in ("this_code", "published", "hardware") if ccm[kind]} == {
        "this_code",
        "published",
        "hardware",
    }
    assert ccm["hardware"]["cycles"] == pytest.approx(
        one(priced("nrf52840").taken, "aes128-ccm", accelerator=True).of("cycles", 64)
    )
    assert ccm["published"]["cycles"] == pytest.approx(6753, rel=1e-3)
    for row in rows.values():
        for kind in ("this_code", "published", "hardware"):
            cost = row[kind]
            assert cost is None or cost["cycles_low"] < cost["cycles"] < cost["cycles_high"]
    assert rows["aes128-gcm"]["hardware"] is None
    assert rows["aes128-gcm"]["published"]["timing"] == "table lookups"


def test_where_nothing_is_left_to_rank_the_answer_says_which_cost_to_bring() -> None:
    with pytest.raises(EvidenceError, match=r"nothing is left to rank on esp32.*chacha20-poly1305.*borrowed") as none:
        ask({"device.card": "esp32", "choices.ciphers": ["chacha20-poly1305"], "radio.card": "nrf52840-ble"})
    assert "--costs-template xtensa" in none.value.hint
    assert "--allow-assumed" in none.value.hint


def test_hardware_without_a_published_figure_is_a_row_of_the_explained_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words_ = ["advise", "--message", "64B", "--every", "1s", "--device", "nrf52840"]
    assert cli.answer([*words_, "--explain"]) == 0
    described = capsys.readouterr().out
    (row,) = [line for line in described.splitlines() if "CryptoCell 310" in line]
    assert "no figure published" in row
    assert "hardware" in row
    assert cli.answer([*words_, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["costs"]
    assert any(row["why_not"] == "no figure published" and "CryptoCell" in row["provider"] for row in rows)


def test_table_json_and_record_name_implementation_source_and_evidence_of_each_cost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.answer(["advise", "--message", "64B", "--every", "1s", "--device", "nrf52840", "--explain"]) == 0
    out = capsys.readouterr().out
    described = ask()
    best = described.choices[described.best.number].cost
    assert best.origin
    for said in (best.origin.implementation, best.source, best.origin.core, "board cycles", "hardware time"):
        assert said in out
    head = next(line for line in out.splitlines() if line.startswith("rank"))
    assert {"by", "counted", "evidence"} <= set(head.split())
    first = as_object(described)["ranked"][0]
    for key in ("implementation", "language", "compiler", "flags", "core", "memory", "counted", "source", "evidence"):
        assert first[f"cost_{key}"], key
    text = record.markdown("x", record.sections(described, {}, "wattlock advise"))
    assert best.source in text
    assert best.origin.core in text


def test_kinds_of_cycles_never_stand_side_by_side_unmarked() -> None:
    rows = prose.rows(ask(), 100)
    assert {row["counted"] for row in rows} == {
        "board cycles",
        "board cycles, composed",
        "core cycles +7.3 %",
        "hardware time",
    }
    assert {row["by"].rpartition(", ")[2] for row in rows if row["counted"] == "hardware time"} == {"hardware"}


def test_a_figure_that_no_source_prints_is_marked_as_composed_in_table_and_json() -> None:
    described = ask()
    rows = {row["cipher"]: row for row in as_object(described)["by_code"]}
    assert rows["aes128-ccm"]["published"]["composed"]
    assert not rows["aes128-ccm"]["this_code"]["composed"]
    assert not rows["ascon-aead128"]["published"]["composed"]
    shown = {row["cipher"]: row for row in pricing.by_code_rows(described.inputs.priced, described.question)}
    assert "board cycles, composed" in shown["aes128-ccm"]["best published, cycles to seal 64 B"]
    assert "(composed)" in pricing.marked(rows["aes128-ccm"]["published"])
    first = next(row for row in as_object(described)["ranked"] if row["choice"].startswith("aes128-ccm"))
    assert first["cost_composed"]


def test_the_answer_says_which_share_of_its_choices_was_counted_or_published_for_this_very_core() -> None:
    def said(**more: Any) -> list[str]:
        return [note for note in prose.notes(ask(allow_assumed=True, **more)) if "very core" in note]

    assert said() == ["100 % of the choices have a cost that was counted or published for this very core"]
    (partly,) = said(**C3)
    assert 20 < int(partly.partition(" ")[0]) < 80
