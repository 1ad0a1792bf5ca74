"""tally as a choice: only by consent, within what is required at release and later, and priced with its reports."""

import re
from functools import cache
from typing import Any

import pytest

from support.advice import TODAY
from support.tree import TREE
from wattlock.advise import Advice, advise, choices, days, decision, load, question, with_tally
from wattlock.advise.cipher_costs import CipherCost
from wattlock.advise.days import DAY_s
from wattlock.advise.experiments import experiments, usual
from wattlock.advise.sending import PricedPacket
from wattlock.errors import InputError
from wattlock.targets import toolbox
from wattlock.targets.parts import step

PAGE = (TREE / "experiments" / "tally" / "docs" / "results.md").read_text(encoding="utf-8")


@cache
def _answered(name: str, changes: tuple[tuple[str, Any], ...]) -> Advice:
    return advise(load(name, dict(changes)), allow_assumed=True, today=TODAY)


def answered(name: str, **changes: Any) -> Advice:
    return _answered(name, tuple({key.replace("__", "."): value for key, value in changes.items()}.items()))


def by_tally(of: Advice) -> list[int]:
    return [place.number for place in of.places if of.choices[place.number].framing == "tally"]


def against(of: Advice) -> set[str]:
    return {reason.about for one in of.excluded if one.choice.framing == "tally" for reason in one.reasons}


def test_tally_is_no_choice_without_consent_and_is_not_even_excluded() -> None:
    of = answered("tracker")
    assert by_tally(of) == []
    assert against(of) == set()
    with pytest.raises(InputError, match=r"choices\.framings: tally") as refusal:
        load_and_advise("tracker", {"choices.framings": ["tally"]})
    assert "--allow-amortised" in refusal.value.hint


def load_and_advise(name: str, changes: dict[str, Any]) -> Advice:
    return advise(load(name, changes), allow_assumed=True, today=TODAY)


@pytest.mark.parametrize(
    ("changes", "reasons"),
    [
        ({}, set()),
        ({"floor__release": 26}, set()),
        ({"floor__release": 27}, {"release"}),
        # Messages each ten minutes: 15 until the report, and two more for 64 bits, or four for 128.
        ({"floor__wait": "171min"}, set()),
        ({"floor__wait": "169min"}, {"wait"}),
        ({"floor__wait": "191min", "floor__tag": 128}, set()),
        ({"floor__wait": "189min", "floor__tag": 128}, {"wait"}),
        ({"floor__wait": "169min", "floor__release": 64}, {"release", "wait"}),
        # The whole tags of 64 messages, and the cipher's own state.
        ({"floor__memory": "1400B"}, set()),
        ({"floor__memory": "1300B"}, {"memory"}),
    ],
)
def test_what_is_required_at_release_and_within_the_wait_decides(changes: dict[str, Any], reasons: set[str]) -> None:
    of = answered("tracker", choices__amortised=True, **changes)
    assert against(of) == reasons
    assert bool(by_tally(of)) == (not reasons)


@pytest.mark.parametrize("name", ["beacon", "smart-lock"])
def test_a_device_that_hears_nothing_or_receives_messages_has_no_tally(name: str) -> None:
    of = answered(name, choices__amortised=True)
    assert by_tally(of) == []
    assert against(of) == {"framing"}


def test_tallys_watts_are_those_of_its_records_and_of_a_report_in_sixteen() -> None:
    of = answered("tracker", choices__amortised=True)
    (number,) = by_tally(of)
    choice, sender = of.choices[number], of.inputs.sender
    record, report = PricedPacket(12 + 1 + 4, "send", choice.protection), PricedPacket(14, "receive", choice.protection)
    spent = sender.evaluate([record, report], None)
    # As days of the same traffic sent whole, in packets as long, and a report on top.
    whole = choice._replace(framing="implicit-nonce")
    load_ = days.load(of.question, whole, sender, of.inputs.draws, spent)
    every_s = of.question.flow[0].every
    card = sender.radio.card
    assert card.rx
    received_W = spent[report].states_s["rx"] * (card.power_W(card.rx) - card.power_W(card.sleep or card.rx))
    more_W = of.loads[number].group_W("radio") - load_.group_W("radio")
    assert more_W == pytest.approx(received_W / (16 * every_s), rel=1e-6)
    cipher_W = of.loads[number].group_W("cipher") - load_.group_W("cipher")
    assert cipher_W == pytest.approx(choices.report(choice.cost, "open_J") / (16 * every_s))


def test_a_report_on_a_kept_connection_takes_the_place_of_an_empty_event() -> None:
    of = answered("wearable", choices__amortised=True)
    number, sender = by_tally(of)[0], of.inputs.sender
    choice = of.choices[number]
    spent = sender.evaluate(days.needed(of.question, [choice], sender), None)
    assert of.question.connection
    assert of.question.connection.kept
    load_ = days.load(of.question, choice, sender, of.inputs.draws, spent)
    report = PricedPacket(14, "receive", choice.protection)
    nothing = spent[report]._replace(states_s=dict.fromkeys(spent[report].states_s, 0.0), busy_s=0.0, air_s=0.0)
    without = days.load(of.question, choice, sender, of.inputs.draws, spent | {report: nothing})
    received_W = load_.group_W("radio") - without.group_W("radio")
    whole = days.load(of.question, choice._replace(framing="implicit-nonce"), sender, of.inputs.draws, spent)
    assert 0 < load_.group_W("radio") - whole.group_W("radio") < 0.6 * received_W


def test_what_a_report_costs_is_counted_and_else_as_many_rounds_of_ascon() -> None:
    tally = answered("tracker", choices__amortised=True).inputs.priced.tally
    assert tally is not None
    assert choices.report(tally, "open_cycles") == tally.report_cycles
    modelled = tally._replace(report_cycles=None)
    assert choices.report(modelled, "open_cycles") == pytest.approx(360 * 2 * tally_octet(tally), rel=1e-9)
    for cost in (tally, modelled):
        J_a_cycle = choices.report(cost, "open_J") / choices.report(cost, "open_cycles")
        assert J_a_cycle == pytest.approx(tally.of("open_J", 16) / tally.of("open_cycles", 16))


def tally_octet(cost: CipherCost) -> float:
    """Cycles of an octet more in a long message."""
    return (cost.of("open_cycles", 1024) - cost.of("open_cycles", 64)) / (1024 - 64)


def test_a_sleeping_802154_device_asks_for_each_report() -> None:
    of = answered("sensor", choices__amortised=True)
    number, sender = by_tally(of)[0], of.inputs.sender
    choice = of.choices[number]
    report, asking = PricedPacket(14, "receive", choice.protection), PricedPacket(0, "send", choice.protection)
    spent = sender.evaluate(days.needed(of.question, [choice], sender), None)
    assert {report, asking} <= set(spent)
    load_ = days.load(of.question, choice, sender, of.inputs.draws, spent)
    nothing = spent[asking]._replace(states_s=dict.fromkeys(spent[asking].states_s, 0.0), busy_s=0.0, air_s=0.0)
    unasked = days.load(of.question, choice, sender, of.inputs.draws, spent | {asking: nothing})
    assert sender.rest == "off"
    asked_J = sum(
        seconds * sender.radio.card.power_W(sender.number(state))
        for state, seconds in spent[asking].states_s.items()
        if seconds
    )
    more_W = load_.group_W("radio") - unasked.group_W("radio")
    reports_per_s = sum(rate for flow in of.question.flow for _, rate in flow.rates) / choice.aggregate / 16
    assert more_W == pytest.approx(reports_per_s * asked_J, rel=1e-6)


def test_the_answer_says_what_a_message_has_when_it_arrives_and_that_nobody_reviewed_it() -> None:
    # So often that the battery's shelf life, which ties all choices, has no say.
    of = answered("tracker", choices__amortised=True, **{"flow[0].every": "5min"})
    assert of.choices[decision.decided(of).number].framing == "tally"
    tag = dict(decision.consequences(of))["Tag"]
    assert "26 when it arrives" in tag
    assert "provisional" in tag
    assert "no product's security yet" in tag
    (cycles,) = decision.by_code(of)
    counted = of.inputs.priced.tally
    assert counted is not None
    assert counted.report_cycles is not None
    assert f"tally's record {counted.of('cycles', 12):,.0f}, a report {counted.report_cycles:,.0f};" in cycles
    assert "tally" not in decision.by_code(answered("tracker"))[0]


def test_experiments_start_from_a_choice_with_whole_strength_and_go_through() -> None:
    of = answered("tracker", choices__amortised=True)
    assert usual(of).framing != "tally"
    before = {one.name: one.after_days or 0.0 for one in experiments(answered("tracker"), toolbox.find())}
    after = {one.name: one.after_days or 0.0 for one in experiments(of, toolbox.find())}
    # The cost of tally's records is one more that is drawn, which moves the samples of others.
    assert after == pytest.approx(before, rel=1e-4)


DAYS = PAGE.partition("## Days of battery")[2]
ROWS = re.findall(r"^\| `([a-z-]+)` \| ([\d.,]+) \| ([\d.,]+|-) \| ([-+\d.]+ %|-) \| (.*) \|$", DAYS, re.MULTILINE)


def test_the_page_has_all_ten_scenarios() -> None:
    assert sorted(row[0] for row in ROWS) == question.names()


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_scenario_with_and_without_tally_is_what_the_program_answers(row: tuple[str, ...]) -> None:
    name, without, with_, change, stands = row
    of = answered(name, choices__amortised=True)
    found = with_tally.days(of)
    # Without tally allowed at all the best choice is the same.
    assert found.without == pytest.approx(answered(name).best.seconds / DAY_s, rel=1e-3)
    assert float(without.replace(",", "")) == pytest.approx(found.without, rel=0.01)
    if with_ == "-":
        assert by_tally(of) == []
        assert (found.with_tally, found.change_percent) == (None, None)
        assert stands in {"the device receives messages too", "nobody answers an advertisement"}
        assert ("it receives messages" in found.stands) == ("receives" in stands)
        assert found.stands.startswith("nobody answers an advertisement") == ("nobody" in stands)
        return
    assert found.with_tally == pytest.approx(float(with_.replace(",", "")), rel=0.01)
    assert found.change_percent == pytest.approx(float(change.removesuffix(" %")), abs=0.06)
    assert stands == found.stands
    assert (stands == "with") == (of.choices[of.best.number].framing == "tally")


@pytest.mark.parametrize("name", ["tracker", "gas-meter", "smart-lock", "firmware-update"])
def test_the_profiles_on_aa_cells_answer_from_numbers_that_somebody_published(name: str) -> None:
    assert advise(load(name, {"choices.amortised": True}), allow_assumed=False, today=TODAY).places


def test_where_shelf_life_ends_either_the_tracker_takes_the_strongest_whole_tag() -> None:
    of = answered("tracker", choices__amortised=True)
    assert of.choices[of.best.number].framing == "tally"
    assert PAGE.count(f"ends {100 * answered('tracker').best.shelf:.1f} % of its samples") == 1
    decided = of.choices[decision.decided(of).number]
    assert (decided.cipher, decided.framing) == ("aes256-ccm8", "implicit-nonce")


def test_the_page_has_what_designs_with_ascon_are_priced_by() -> None:
    of = answered("tracker", choices__amortised=True)
    every = [cost for cost in (*of.inputs.priced.taken, *of.inputs.priced.slower) if cost.cipher == "ascon-aead128"]
    (own,) = [cost for cost in every if cost.origin and cost.origin.kind == "this code"]
    others = min((cost for cost in every if cost is not own), key=lambda cost: cost.of("cycles", 16))
    less_uJ = 1e6 * (own.of("seal_J", 16) - others.of("seal_J", 16))
    said = f"{others.of('cycles', 16):,.0f} cycles to seal 16 octets on an nRF52840 in place of"
    assert f"{said} {own.of('cycles', 16):,.0f}, and {less_uJ:.1f} uJ less a message" in PAGE
    # As a core counts, without what a board takes beside it.
    board = step("nrf52840", "core cycles").factor
    assert of.inputs.priced.tally
    rounds, counted = (choices.report(cost, "open_cycles") / board for cost in (own, of.inputs.priced.tally))
    assert f"{rounds:,.0f} cycles, {100 * (1 - rounds / counted):.0f} % below the count" in PAGE
