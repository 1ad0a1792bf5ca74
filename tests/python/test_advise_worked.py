"""Advice on small cases worked by hand: a cost's line, a run's costs, budgets, policies, what keeps a link."""

import math
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from advise_asked import BASE, ask
from wattlock.advise import Advice, checked, costs, energy_first, flips, hybrid, savings, unheard, upkeep, world
from wattlock.advise.again import usual
from wattlock.advise.choices import Choice
from wattlock.advise.costs import Cost
from wattlock.advise.days import DAY_s, Load
from wattlock.advise.exclude import Excluded
from wattlock.advise.history import FREE, History
from wattlock.advise.question import Question
from wattlock.advise.sending import Sender
from wattlock.advise.standing import Cited
from wattlock.energy import cards, radio_cards
from wattlock.errors import EvidenceError, InputError

FLOW = BASE["flow"]


@pytest.fixture(scope="module")
def answer() -> Advice:
    return ask()


def cost_of(cipher: str, sizes_B: list[int], joules: list[float], *, provider: str = "mine", **more: Any) -> Cost:
    twice = [2 * value for value in joules]
    return Cost(
        cipher, provider, sizes_B, joules, twice, joules, twice, 0.1, True, "modelled", "a book", "more", **more
    )


def said(found: list[savings.Saving]) -> str:
    (saving,) = found
    return saving.finding


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


def estimates(**columns: Any) -> pl.DataFrame:
    """A row a cell of a run: AES-128-GCM of 64 and of 128 octets, sealed; the larger one opened too."""
    rows = {
        "cell": [0, 1, 2],
        "operation": ["seal", "seal", "open"],
        "keying": ["ready"] * 3,
        "encoding": ["raw"] * 3,
        "placement": ["hot"] * 3,
        "pattern": ["independent"] * 3,
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


def test_a_runs_cells_are_costs_by_size_and_what_it_did_not_open_is_taken_from_what_it_did() -> None:
    (cost,) = costs.measured(estimates(**VALUED), clock_Hz=None, counts_cycles=False, narrowed_by="more")
    assert (cost.cipher, cost.provider, cost.sizes_B) == ("aes128-gcm", "mine", [64, 128])
    assert cost.seal_J == pytest.approx([5e-6, 7e-6])
    assert cost.open_J == pytest.approx([9e-6, 9e-6])
    assert cost.seal_s == pytest.approx([1e-6, 2e-6])
    assert cost.log_sigma == pytest.approx(0.25), "of its widest cell"
    assert (cost.shared, cost.evidence, cost.narrowed_by) == (True, "modelled", "more")
    (by_cycles,) = costs.measured(estimates(**VALUED), clock_Hz=1e8, counts_cycles=True, narrowed_by="")
    assert by_cycles.seal_s == pytest.approx([1e-6, 2e-6])
    (clockless,) = costs.measured(estimates(**VALUED), clock_Hz=None, counts_cycles=True, narrowed_by="")
    assert all(math.isnan(second) for second in clockless.seal_s)
    sealed = estimates(**VALUED).filter(pl.col("operation") == "seal")
    (alone,) = costs.measured(sealed, clock_Hz=None, counts_cycles=False, narrowed_by="")
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
def test_a_cell_of_another_state_is_no_cost_of_a_message(column: str, other: str) -> None:
    with pytest.raises(EvidenceError, match="no cell of the run has energy"):
        costs.measured(estimates(**VALUED, **{column: [other] * 3}), clock_Hz=None, counts_cycles=False, narrowed_by="")


ENERGIES = pl.DataFrame(
    {
        "cell": [0, 1, 2],
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
    """A run of the cells above on an nRF52840: with the card that it was valued by, with a meter, or with neither."""
    card = cards.load(device).card.model_dump(mode="json") if device else None
    meter = {"scope": "package", "baseline": "idle"} if metered else None
    widths = {"cycles_low": [100.0, 200.0, 300.0], "cycles_high": [100.0, 200.0, 300.0]}
    return SimpleNamespace(
        plan={"device": device, "device_card": card},
        meter=meter,
        energies=ENERGIES if metered else None,
        estimates=estimates(**widths),
        isa="thumbv7em",
    )


def test_a_run_is_valued_by_the_card_that_is_named_else_by_its_own_else_by_its_meter() -> None:
    named = cards.load("nrf52840")
    device, (by_card,), name = world._of_run(run_of("stm32l476", metered=True), named, allow_assumed=False)
    assert (device, name) == (named, "nrf52840")
    device, (by_own,), name = world._of_run(run_of("nrf52840", metered=True), None, allow_assumed=False)
    assert device is not None
    assert (device.card, name) == (named.card, "nrf52840")
    assert by_own == by_card
    device, (by_meter,), name = world._of_run(run_of(metered=True), None, allow_assumed=False)
    assert (device, name) == (None, "the run's machine")
    assert by_meter.seal_J == pytest.approx([50e-6, 70e-6])
    assert (by_meter.evidence, by_meter.shared) == ("measured", False)
    with pytest.raises(InputError, match="the run has no energy"):
        world._of_run(run_of(), None, allow_assumed=False)


@pytest.mark.parametrize(("tag_bits", "least_B"), [(64, 89), (65, 90), (128, 97)])
def test_a_budget_is_the_octets_that_each_designs_standard_puts_around_a_message(
    tag_bits: int, least_B: int, answer: Advice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(energy_first, "RADIOS", ())
    floor = answer.asked.floor.model_copy(update={"tag": tag_bits})
    of = replace(answer, asked=answer.asked.model_copy(update={"floor": floor}))
    found = energy_first.budgets(of, None)
    # BLE puts 17 octets around a payload and, where it encrypts, 4 of MIC more. A message of 64 octets is 65 inside
    # of DTLS 1.3 behind 3, 64 behind 13 and 8 in DTLS 1.2, 64 behind 16 in WireGuard; each has a tag of 16 behind it.
    octets_B = [least_B, 64 + 21, 13 + 8 + 64 + 16 + 21, 3 + 65 + 16 + 21, 16 + 64 + 16 + 21]
    assert [one.octets_B for one in found] == octets_B
    assert [one.link for one in found] == ["none", "ccm", "ccm", "ccm", "ccm"]
    assert {one.radio for one in found} == {"nrf52840-ble"}
    over = [100 * (one.energy_uJ / found[0].energy_uJ - 1) for one in found]
    assert [one.over_percent for one in found] == pytest.approx(over)
    # At 1 Mb/s an octet takes 8 us of sending more, all else alike: T_IFS and the answer come once.
    card = radio_cards.load("nrf52840-ble").card
    sent = card.sending(1.0)
    assert sent
    rest_W = card.power_W(card.sleep) if card.sleep else 0.0
    octet_uJ = 8 * (card.power_W(sent) - rest_W)
    assert found[2].energy_uJ - found[1].energy_uJ == pytest.approx(octet_uJ * (octets_B[2] - octets_B[1]))


def test_a_flip_is_looked_for_in_the_question_that_it_names(answer: Advice, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Question] = []
    monkeypatch.setattr(flips, "_winner", lambda _, asked, *__: seen.append(asked))
    sizes = checked("several", BASE | {"flow": [{"sizes": [[10, 3], [40, 1]], "every": "10s"}]})
    found = {flip.variable: flip for flip in flips.flips(answer, None)}
    points = {name: flip.looked_at.split(", ") for name, flip in found.items() if name != "battery"}
    assert all(flip.at is None for flip in found.values())
    messages, rates, errors = (seen[start:stop] for start, stop in ((0, 8), (8, 14), (14, 19)))
    assert [f"{asked.flow[0].message} B" for asked in messages] == points["message"]
    assert sorted(asked.flow[0].message or 0 for asked in messages) == [4, 8, 16, 32, 128, 256, 512, 1024]
    assert sorted(asked.flow[0].every for asked in rates) == pytest.approx([1e-3, 1e-2, 0.1, 10, 100, 1000])
    assert [f"{asked.radio.bit_errors:g}" for asked in errors] == points["bit errors"]
    seen.clear()
    flips.flips(replace(answer, asked=sizes), None)
    assert [asked.flow[0].sizes for asked in seen[:2]] == [[[5, 3], [20, 1]], [[20, 3], [80, 1]]]
    assert {asked.flow[0].message for asked in seen[:8]} == {None}


def test_a_cipher_of_old_costs_as_any_mode_of_it_but_never_as_another_of_its_kind(answer: Advice) -> None:
    asked = checked("old", BASE | {"flow": [{"message": "200B", "every": "1s"}]})
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
    found = {one.cipher: one for one in History(asked, of).choices(rows, answer.choices)}
    assert {name: one.provider for name, one in found.items()} == {
        "blowfish128-cbc": "quick",
        "rc6-20-128-cbc": FREE,
        "rc4-128": FREE,
    }
    free = found["rc4-128"].cost
    assert {free.of(what, size) for what in ("seal_J", "open_J", "seal_s", "open_s") for size in (0, 1, 99)} == {0.0}
    assert {(one.tag_bits, one.framing, one.aggregate) for one in found.values()} == {(0, "explicit", 1)}
    of.costs.append(cost_of("rc4-128", [0, 1000], [1.0, 2.0], provider="own"))
    assert found["rc4-128"].cost != History(asked, of).choices(rows, answer.choices)[-1].cost


def test_a_policy_looks_for_the_cheapest_at_a_hundred_octets_too_where_the_papers_switch(
    answer: Advice, monkeypatch: pytest.MonkeyPatch
) -> None:
    each = {one.cipher: one for one in answer.choices}
    flat, rising = each["aes128-ccm"], each["ascon-aead128"]

    def loads(_: Any, variants: list[tuple[Question, Choice]], __: Any) -> list[Any]:
        return [
            SimpleNamespace(total_W=99.5 if choice is flat else asked.flow[0].message) for asked, choice in variants
        ]

    monkeypatch.setattr(hybrid, "loads", loads)
    assert hybrid._switches(answer, [flat, rising], None) == [(1, "ascon-aead128"), (100, "aes128-ccm")]
    assert hybrid._switches(answer, [flat], None) == [(1, "aes128-ccm")]


def test_hardware_is_tried_in_the_framing_and_with_the_tag_that_the_experiment_starts_from() -> None:
    told = ask({"choices.framings": ["counter", "explicit", "dtls13"]})
    start = usual(told)
    assert (start.framing, start.tag_bits) == ("explicit", 128)
    (saving,) = savings.experiments(told, None, "accelerate")
    (number,) = [
        number
        for number, one in enumerate(told.choices)
        if one.cost.accelerator
        and (one.cipher, one.framing, one.tag_bits) == (start.cipher, start.framing, start.tag_bits)
    ]
    assert saving.after_days == pytest.approx(float(np.median(told.life_s[number])) / DAY_s)


def test_a_message_that_is_asked_for_first_costs_what_one_of_eight_octets_does(answer: Advice) -> None:
    small = ask(flow=[{"message": "8B", "every": "1s"}])
    heavy, light = (of.loads[of.choices.index(usual(of))].group_W("radio") for of in (answer, small))
    told = said(savings.experiments(answer, None, "probe"))
    share = re.match(r"8 octets asked first cost ([\d.]+) % of a message of 64", told)
    assert share
    assert float(share[1]) == pytest.approx(100 * light / heavy, abs=0.06)
    received = ask(flow=[{"message": "64B", "every": "1s", "direction": "receive"}])
    assert said(savings.experiments(received, None, "probe")) == "nothing is sent"


def test_a_resumption_saves_the_octets_that_its_handshake_has_more() -> None:
    session = {"every": "1h", "sent": "300B", "received": "400B", "resumption": {"sent": "90B", "received": "80B"}}
    told = ask({"session": session})
    assert said(savings.experiments(told, None, "resume")).startswith("530 octets less for each session")


@pytest.mark.parametrize(
    ("latency", "many"), [(None, [2, 4, 8, 16]), ("3s", [2]), ("3.01s", [2, 4]), ("1s", None), ("16s", [2, 4, 8, 16])]
)
def test_messages_wait_for_each_other_while_the_first_is_still_in_time(
    latency: str | None, many: list[int] | None, answer: Advice, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor = {"floor.latency": latency} if latency else {}
    bench = savings.Bench(replace(answer, asked=checked("late", BASE, floor)), usual(answer), None)
    monkeypatch.setattr(savings, "_found", lambda name, way, *of: savings._not(name, way, "; ".join(of[-1])))
    (found,) = savings._aggregate(bench)
    if many is None:
        assert "leaves no time to wait for a second message" in found.finding
    else:
        assert [int(told.split()[0]) for told in found.finding.split("; ")] == many


def like(answer: Advice, **changes: Any) -> Advice:
    return replace(answer, **changes)


def test_answers_are_the_same_only_with_the_same_choices_reasons_lives_times_and_grounds(answer: Advice) -> None:
    def slower(load: Load, by_s: float) -> Load:
        return load._replace(latency_s=load.latency_s + by_s)

    assert unheard._same(answer, like(answer))
    out = answer.excluded or [Excluded(answer.choices[0], [])]
    doubted = [out[0]._replace(reasons=[Cited("tag", "it is short", "a book", "", True)]), *out[1:]]
    grounds = replace(answer.things, assumed=[*answer.things.assumed, "and more"])
    others = [
        like(answer, choices=answer.choices[:-1]),
        like(answer, excluded=doubted),
        like(answer, loads=[slower(answer.loads[0], 1e-9), *answer.loads[1:]]),
        like(answer, life_s=answer.life_s * 1.001),
        like(answer, charge_s=answer.charge_s * 1.001),
        like(answer, things=grounds),
    ]
    assert [unheard._same(answer, other) for other in others] == [False] * 6
    assert [unheard._same(other, answer) for other in others] == [False] * 6
    nobody_knows = like(answer, loads=[slower(load, math.nan) for load in answer.loads])
    assert unheard._same(nobody_knows, like(nobody_knows)), "a time that is not known is no difference"
    assert not unheard._same(nobody_knows, answer)


def settled(radio: str, changes: dict[str, Any]) -> tuple[Question, list[str]]:
    asked = checked("kept", {"flow": [{"message": "20B", "every": "1h"}], "radio": {"card": radio}}, changes)
    assumed: list[str] = []
    return upkeep.settled(asked, Sender(radio_cards.load(radio), asked.radio), assumed), assumed


def test_a_station_asleep_listens_three_milliseconds_to_each_third_beacon() -> None:
    asleep, assumed = settled("esp32-wifi", {"radio.sleep": "50uW", "radio.rest": "sleep"})
    assert asleep.association
    assert (asleep.association.every, asleep.association.time) == pytest.approx((3 * 0.1024, 0.003))
    assert "wakes each 307 ms and listens 3 ms for a beacon" in assumed[0]
    awake, assumed = settled("esp32-wifi", {"radio.rest": "idle"})
    assert (awake.association, assumed) == (None, [])
    own = {"radio.sleep": "50uW", "radio.rest": "sleep", "association.every": "1s", "association.time": "5ms"}
    assert settled("esp32-wifi", own)[1] == []


@pytest.mark.parametrize(("every", "asks"), [("240s", False), ("241s", True), ("1h", True), ("1min", False)])
def test_a_child_asks_its_parent_once_it_is_silent_for_longer_than_240_seconds(every: str, asks: bool) -> None:
    told, assumed = settled("nrf52840-802154", {"flow[0].every": every})
    assert bool(told.keep_alive) == asks == bool(assumed)
    if told.keep_alive:
        assert (told.keep_alive.every, told.keep_alive.message) == (240.0, 0)


def test_a_keep_alive_without_data_seals_nothing_and_one_with_data_what_it_holds() -> None:
    thread: dict[str, Any] = {"radio": {"card": "nrf52840-802154"}}

    def sealing_W(message: str) -> dict[str, float]:
        told = ask({"keep_alive": {"every": "30s", "message": message}, "choices.framings": ["counter"]}, **thread)
        choice, load = told.choices[0], told.loads[0]
        every = {names[0]: watts for (group, names), watts in load.terms_W.items() if group == "upkeep"}
        found = {name: watts for name, watts in every.items() if name.startswith("cipher")}
        return {"drawn": sum(found.values()), "worked": choice.cost.of("seal_J", 20) / 30}

    assert sealing_W("0B")["drawn"] == 0
    sealed = sealing_W("20B")
    assert sealed["drawn"] == pytest.approx(sealed["worked"])


@pytest.mark.parametrize(
    ("tables", "told"),
    [
        ({"wake_up": {"time": "2ms"}}, True),
        ({"session": {"every": "1h", "sent": "1B", "received": "1B", "computing": "2ms"}}, True),
        ({"session": {"every": "1h", "sent": "1B", "received": "1B"}}, False),
        ({}, False),
    ],
)
def test_what_computes_on_a_core_without_a_clock_is_left_out_and_told(tables: dict[str, Any], told: bool) -> None:
    for device, clockless in (("stm32l476", True), ("nrf52840", False)):
        asked = checked("clock", {"flow": FLOW, "device": {"card": device}, "radio": {"card": "nrf52840-ble"}} | tables)
        found = world.things(asked, own=None, allow_assumed=True)
        assert any("the device's clock is not known" in one for one in found.assumed) == (told and clockless)
