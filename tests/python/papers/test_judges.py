"""The judges in made-up worlds: each claim has one where it holds, one where it doesn't, one where nobody can tell."""

import math
import re
from itertools import product

import polars as pl
import pytest

from support import papers_made_up as worlds
from support.papers_evidence import FAMILIES, FILE_B, KEY_BITS, KINDS, PAPERS, Kind, nothing, row, run_of
from wattlock import cli
from wattlock.analysis.effects import Ratio
from wattlock.energy import battery_cards
from wattlock.errors import EvidenceError
from wattlock.papers import battery_life, judge
from wattlock.papers.implementations import BUILT_IN, CONSTANT_TIME, ERA, HARDWARE, library
from wattlock.papers.judge import AirAnswer, DischargeCurve, Judgement
from wattlock.papers.themes import JUDGES, judge_all
from wattlock.study import load

VERDICTS: dict[Kind, str] = {"holds": "reproduced", "fails": "not reproduced", "unclear": "inconclusive"}
BY_MODEL: dict[Kind, str] = {"holds": "explained", "fails": "not explained", "unclear": "inconclusive"}
# In their unclear worlds these lack what they are judged by.
WITHOUT = {"energy-sample", "throughput-energy", "aes-128-crackable", "ciphertext-faster-than-plaintext"}
IDS = [claim.id for claim in PAPERS.claims]


def judged(name: str, kind: Kind) -> Judgement:
    evidence = worlds.world(PAPERS.claim(name), kind)
    return JUDGES[name](evidence.papers.claim(name), evidence)


def test_every_claim_has_a_judge_and_a_world_and_every_judge_a_claim() -> None:
    assert set(JUDGES) == set(IDS) == set(worlds.WORLDS)
    assert len(IDS) == 61


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", IDS)
def test_a_judge_sees_in_which_world_it_is(name: str, kind: Kind) -> None:
    found = judged(name, kind)
    described = BY_MODEL if PAPERS.claim(name).about == "air" else VERDICTS
    assert found.verdict == ("not tested" if kind == "unclear" and name in WITHOUT else described[kind]), found.sentence


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", IDS)
def test_a_verdict_comes_with_its_figure_or_with_what_it_would_need(name: str, kind: Kind) -> None:
    found = judged(name, kind)
    assert found.claim == name
    assert found.sentence.endswith((".", ")"))
    assert found.control
    if found.verdict in judge.OPEN:
        assert found.needs
        assert found.command
        assert (found.effect is None) == (found.verdict == "not tested")
    else:
        assert found.effect is not None
        assert found.effect.low <= found.effect.value <= found.effect.high
        assert not math.isnan(found.effect.value)
        assert found.compared[0].effect == found.effect
        assert found.needs == found.command == ""


def takes(command: str) -> None:
    """Reads a command line as its verb does, and carries nothing out."""
    program, verb, *words = command.split()
    assert program == "wattlock"
    cli.load(verb).make_context(verb, list(words))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_offered_is_a_command_that_its_verb_takes(kind: Kind) -> None:
    offered = {found.command for name in IDS if (found := judged(name, kind)).command}
    offered |= {one.command for one in judge_all(nothing()) if one.command}
    assert len(offered) > 4
    # "none" is offered where what lacks is the package's own data.
    for command in offered - {"none"}:
        takes(command)


def test_a_poor_signal_that_can_not_be_told_needs_a_place_and_not_another_run() -> None:
    found = judged("poor-signal", "unclear")
    assert "where the receiver" in found.needs
    assert found.command.startswith("wattlock link adhoc-poor --set signal.distance_m=")


def test_a_poor_signal_that_is_never_the_faster_one_is_not_told_so_by_its_interval() -> None:
    open_s, poor_s = Ratio(10.0, 10.0, 10.0), Ratio(15.0, 12.0, 30.0)
    transfers = [
        AirAnswer(scenario, data, "none", poor_s if scenario == "adhoc_poor" else open_s)
        for scenario in ("adhoc_open", "adhoc_wep", "adhoc_poor")
        for data in ("text", "audio", "video")
    ]
    effect = JUDGES["poor-signal"](PAPERS.claim("poor-signal"), nothing(transfers=transfers)).compared[0].effect
    assert (effect.value, effect.low, effect.high) == pytest.approx((50, 20, 200))
    assert effect.what.startswith("what a poor signal adds to open ad hoc")


def test_of_each_cipher_the_least_share_of_the_radio_is_told_once() -> None:
    hosts = {"aes": 1.0, "3des": 4.0}
    one = Ratio(10.0, 9.9, 10.1)
    transfers = [
        AirAnswer(scenario, data, cipher, one, one, Ratio(*(times * host for _ in range(3))))
        for cipher, host in hosts.items()
        for data, times in (("text", 1.0), ("video", 2.0))
        for scenario in ("adhoc_open", "bss_open")
    ]
    found = JUDGES["transmission-dominates"](PAPERS.claim("transmission-dominates"), nothing(transfers=transfers))
    assert [compared.effect.value for compared in found.compared] == pytest.approx([10 / 18, 10 / 12])
    assert ["3DES" in found.compared[0].effect.what, "AES" in found.compared[1].effect.what] == [True, True]
    assert "video" in found.compared[0].effect.what


@pytest.mark.parametrize("kind", KINDS)
def test_judging_twice_gives_the_same(kind: Kind) -> None:
    for claim in PAPERS.claims:
        evidence = worlds.world(claim, kind)
        assert JUDGES[claim.id](claim, evidence) == JUDGES[claim.id](claim, evidence)


def test_with_nothing_at_hand_only_what_needs_no_run_is_judged() -> None:
    found = {one.claim: one.verdict for one in judge_all(nothing())}
    described = {name for name, said in found.items() if said != "not tested"}
    assert list(found) == IDS
    assert described == {"energy-sample", "ciphertext-faster-than-plaintext"}


def three_aes() -> list[dict[str, object]]:
    """What is built in: Blowfish beside AES by tables, in constant time and by its instructions."""
    kinds = {"wattlock-tables": ("tables", 1.0), "rustcrypto-soft": ("fixsliced", 10.0), "rustcrypto": ("vaes512", 0.2)}
    rows = [row("aes", 1e6 * cost, data="text", provider=p, path=b) for p, (b, cost) in kinds.items()]
    return [*rows, row("blowfish", 1.6e6, data="text", provider="rustcrypto", path="portable")]


def test_aes_by_tables_decides_and_the_others_are_answers_of_their_own() -> None:
    claim = PAPERS.claim("blowfish-vs-aes-text")
    found = JUDGES[claim.id](claim, run_of(three_aes()))
    assert [one.implementation for one in found.compared] == [ERA, CONSTANT_TIME, HARDWARE]
    assert [one.holds for one in found.compared] == [False, True, False]
    assert found.verdict == "not reproduced"
    (finding,) = found.findings
    assert finding.answers == {ERA: "not reproduced", CONSTANT_TIME: "reproduced", HARDWARE: "not reproduced"}


def test_without_tables_a_claim_is_not_tested_and_the_other_kinds_stand_beside() -> None:
    claim = PAPERS.claim("blowfish-vs-aes-text")
    found = JUDGES[claim.id](claim, run_of(three_aes()[1:]))
    assert (found.verdict, found.effect) == ("not tested", None)
    assert [one.implementation for one in found.compared] == [CONSTANT_TIME, HARDWARE]
    assert found.findings[0].answers == {CONSTANT_TIME: "reproduced", HARDWARE: "not reproduced"}


def test_a_claim_on_energy_says_that_time_stands_for_it_unless_a_meter_weighed() -> None:
    claim = PAPERS.claim("blowfish-vs-aes-text")
    assert "no meter" in judged(claim.id, "holds").evidence
    metered = {"energy_evidence": "measured", "energy_random_percent": 0.2, "data": "text"}
    rows = [row("blowfish", 9e6, energy_uJ=0.16, **metered), row("aes", 1e6, energy_uJ=1.0, **metered)]
    found = JUDGES[claim.id](claim, run_of(rows))
    # By its time the claim would be far off: the joules decide.
    assert (found.verdict, found.evidence) == ("reproduced", "measured energy")


def test_a_failed_or_invalid_case_is_no_evidence() -> None:
    claim = PAPERS.claim("text-encrypt-ranking")
    for state in ("failed", "invalid"):
        rows = [row(family, 1e6, data="text", state=state if family == "rc6" else "resolved") for family in FAMILIES]
        found = JUDGES[claim.id](claim, run_of(rows))
        assert [bool(finding.answers) for finding in found.findings] == [
            "RC6" not in one.says for one in found.findings
        ]


def test_text_is_not_judged_by_video() -> None:
    claim = PAPERS.claim("text-encrypt-ranking")
    rows = [row(family, 1e6 * 1.3**place, data="video") for place, family in enumerate(FAMILIES)]
    assert JUDGES[claim.id](claim, run_of(rows)).verdict == "not tested"


def test_one_kind_of_data_out_of_bounds_is_enough_against_the_claim_that_it_does_not_matter() -> None:
    found = judged("data-type", "fails")
    assert [one.holds for one in found.compared] == [False, True, True]


def test_fragmentation_says_at_which_signals_it_holds() -> None:
    claim = PAPERS.claim("fragmentation")
    exact = [Ratio(one, one * 0.999, one * 1.001) for one in (1.0, 1.3, 0.5, 1.5)]
    one, slower, less, more = exact
    transfers = [
        AirAnswer("whole", "", "aes", one, one, signal_dBm=-50.0),
        AirAnswer("fragmented", "", "aes", slower, more, signal_dBm=-50.0),
        AirAnswer("whole", "", "aes", one, one, signal_dBm=-85.0),
        AirAnswer("fragmented", "", "aes", slower, less, signal_dBm=-85.0),
    ]
    found = JUDGES[claim.id](claim, nothing(transfers=transfers))
    assert found.verdict == "not explained"
    assert "It holds at: signal -85 dBm." in found.sentence


def test_fragments_that_save_energy_and_time_are_not_told_as_holding_nowhere() -> None:
    one, less = Ratio(1.0, 0.999, 1.001), Ratio(0.5, 0.499, 0.501)
    transfers = [
        AirAnswer("whole", "", "aes", one, one, signal_dBm=-88.0),
        AirAnswer("fragmented", "", "aes", less, less, signal_dBm=-88.0),
    ]
    found = JUDGES["fragmentation"](PAPERS.claim("fragmentation"), nothing(transfers=transfers))
    assert found.verdict == "not explained"
    assert "Energy alone is saved at -88 dBm, where the transfer takes 0.5 times as long" in found.sentence


def test_what_other_comparisons_give_stands_in_the_table_and_not_in_the_sentence() -> None:
    found = judged("adhoc-blowfish-rc6-vs-aes", "fails")
    assert len(found.compared) == 6
    assert [one.effect.what in found.sentence for one in found.compared[1:]] == [False] * 5


@pytest.mark.parametrize(
    ("low", "high", "holds"), [(0.9, 1.1, True), (2.0, 2.1, False), (1.2, 1.3, None), (0.5, 0.76, None)]
)
def test_an_interval_is_within_outside_or_both(low: float, high: float, holds: bool | None) -> None:
    assert judge.inside(low, high, judge.amount_band(1.0)) is holds


@pytest.mark.parametrize("ratio", [0.16, 0.93, 1.14, 3.0, 1000.0])
def test_what_counts_as_a_ratio_lies_on_its_own_side_of_1_and_is_the_same_the_other_way_round(ratio: float) -> None:
    low, high, *_ = judge.effect_band(ratio)
    assert low is not None
    assert high is not None
    assert low < ratio < high
    assert (high < 1) == (ratio < 1)
    assert (low > 1) == (ratio > 1)
    assert judge.effect_band(1 / ratio)[:2] == pytest.approx((1 / high, 1 / low))
    assert judge.percent_band(100 * (ratio - 1))[:2] == pytest.approx((100 * (low - 1), 100 * (high - 1)))


def test_what_counts_as_a_thousand_times_is_an_order_of_magnitude_and_as_an_amount_a_quarter() -> None:
    assert judge.effect_band(1000.0)[:2] == pytest.approx((100, 10_000))
    assert judge.amount_band(45, unit="%") == (33.75, 56.25, "%", "", True, 45)


def test_one_part_that_fails_decides_and_then_one_that_cannot_be_told() -> None:
    assert judge.all_hold([True, None, False]) is False
    assert judge.all_hold([True, None]) is None
    assert judge.all_hold([True, True]) is True
    assert judge.all_hold([]) is None


def valued(family: str, uJ: float, **more: object) -> dict[str, object]:
    energies = {"energy_low_uJ": uJ * 0.9, "energy_high_uJ": uJ * 1.1, "energy_evidence": "modelled"}
    return row(family, 1e6, energy_uJ=uJ, **energies, **more)


def test_a_modelled_fall_takes_out_what_the_joules_are_of_the_battery() -> None:
    battery = battery_cards.load("pxa270-handheld")
    whole_J = battery.card.capacity.in_SI * battery.card.voltage.in_SI
    evidence = run_of([valued("3des", 1e6, payload_B=5_000_000), valued("aes", 1.0)])
    (discharge,) = battery_life.modelled(evidence.estimates, battery, allow_assumed=True)
    assert 100 - discharge.left_percent.value == pytest.approx(100 * discharge.calls * 1.0 / whole_J)
    assert discharge.left_percent.low < discharge.left_percent.value < discharge.left_percent.high
    found = JUDGES["3des-battery"](PAPERS.claim("3des-battery"), nothing(discharges=[discharge], machine=("handheld",)))
    assert found.verdict in {"explained", "not explained"}
    assert found.effect is not None
    assert found.effect.value == pytest.approx(max(0.0, 100 - 100 * 600 / whole_J))
    assert "discharged one" in found.evidence


def test_an_emptied_battery_comes_before_a_modelled_one_and_a_fall_that_cannot_be_told_is_left_out() -> None:
    names = [
        "cipher",
        "provider",
        "operation",
        "payload_B",
        "calls",
        "drawn_percent",
        "drawn_percent_half_width",
        "state",
    ]
    rows = [("3des-cbc", "rustcrypto", "encrypt", 5_000_000, 300, 27.5, 1.0, "resolved")]
    rows += [("3des-cbc", "rustcrypto", "encrypt", 5_000_000, 3, 1.0, 1.0, "inconclusive")]
    discharged = battery_life.measured(pl.DataFrame(rows, schema=names, orient="row"), "BAT0")
    assert len(discharged) == 1
    card = DischargeCurve("3des-cbc", 5_000_000, 600, Ratio(99, 98, 99.5), "handheld", "modelled")
    on_one = nothing(discharges=[card, *discharged], machine=("handheld",))
    found = JUDGES["3des-battery"](PAPERS.claim("3des-battery"), on_one)
    # 300 files took 27.5 %, so 600 take 55 %.
    assert found.verdict == "reproduced"
    assert found.compared[0].implementation == "battery BAT0, measured"


def test_two_codes_of_one_cipher_are_two_falls_with_names_of_their_own() -> None:
    left = Ratio(99.0, 98.0, 99.5)
    two = [
        DischargeCurve("3des-cbc", 5_000_000, 600, left, "handheld", "modelled", name)
        for name in ("openssl", "rustcrypto")
    ]
    found = JUDGES["3des-battery"](PAPERS.claim("3des-battery"), nothing(discharges=two, machine=("handheld",)))
    assert [one.cases for one in found.compared] == ["3des-cbc of openssl", "3des-cbc of rustcrypto"]


def test_a_fall_by_a_card_that_nobody_verified_is_refused() -> None:
    with pytest.raises(EvidenceError):
        battery_life.modelled(nothing().estimates, battery_cards.load("pxa270-handheld"))


def test_the_ciphers_of_a_comparison_are_of_one_library() -> None:
    claim = PAPERS.claim("rc4-aes-large")
    at = {"payload_B": 16384, "keying": "each"}
    rows = [row("aes", 3e5, provider="openssl-tables", **at)]
    rows += [row("rc4", cost, provider=name, path=None, **at) for name, cost in (("rustcrypto", 9e5), ("openssl", 1e5))]
    found = JUDGES[claim.id](claim, run_of(rows))
    assert [one.cases for one in found.compared] == ["openssl-tables, openssl, a key for each packet"]
    assert found.verdict == "reproduced"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("rijndael-pareto", "to encrypt 128/128, 192/192, 256/256 (on the general front 128/128, 192/192, 256/192, "),
        ("rijndael-profiles", "to encrypt +10.0 % and +9.1 %; to decrypt +10.5 % and +7.9 %"),
        ("decrypt-vs-encrypt", "a ratio of 1.138 and R^2 = 0.985"),
        ("aes-key-size", "toldinas' tables give +14 and +28 %"),
    ],
)
def test_the_papers_own_tables_stand_beside_what_is_measured(name: str, words: str) -> None:
    assert words in judged(name, "holds").sentence


def test_a_payload_that_one_key_alone_has_does_not_hide_the_others() -> None:
    claim = PAPERS.claim("aes-key-size-clear")
    rows = [row("aes", 1e6 * (1 + bits / 640), key_bits=bits) for bits in (128, 192, 256)]
    found = JUDGES[claim.id](claim, run_of([*rows, row("aes", 8e7, payload_B=8_000_000)]))
    assert found.verdict == "reproduced"


def test_a_pair_far_apart_is_enough_against_an_order_whose_neighbours_cannot_be_told() -> None:
    claim = PAPERS.claim("blowfish-good-cited")
    costs = {"blowfish": 1.30, "aes": 1.2, "des": 1.1, "3des": 1.0}
    rows = [row(name, 1e6 * cost, data="text", half_width_percent=9.0) for name, cost in costs.items()]
    assert JUDGES[claim.id](claim, run_of(rows)).verdict == "not reproduced"


def test_the_studies_of_the_papers_name_all_that_their_judges_take_from_a_run() -> None:
    """Every claim that a run alone can decide is decided by a run that has just the cases of the quick study."""
    cases = [case for case in quick_cases() if case["cipher"]]
    described = {one.claim for one in judge_all(run_of(cases)) if one.compared}
    elsewhere = {claim.id for claim in PAPERS.claims if claim.about in {"air", "battery", "capture", "security"}}
    others = {"throughput-energy", "aes-low-power-devices"}
    assert set(IDS) - described == elsewhere | others


def test_what_is_built_in_suffices_for_a_verdict_on_every_claim_about_ciphers() -> None:
    """Without any library of the system; but for RSA, of which nothing is built in."""
    built_in = [case for case in quick_cases() if library(str(case["provider"])) == BUILT_IN]
    without = {one.claim for one in judge_all(run_of(built_in)) if one.verdict not in judge.DECIDED}
    with_all = {one.claim for one in judge_all(run_of(quick_cases())) if one.verdict not in judge.DECIDED}
    by_ciphers = {one.claim for one in judge_all(run_of(quick_cases())) if one.findings}
    assert len(by_ciphers) > 35
    assert (without - with_all) & by_ciphers == {"asymmetric-vs-symmetric"}
    tested = {one.claim for one in judge_all(run_of(built_in)) if one.verdict != "not tested"}
    assert by_ciphers - tested == {"asymmetric-vs-symmetric"}


def quick_cases() -> list[dict[str, object]]:
    """The quick study's cases, each at a made-up cost."""
    rows = []
    for grid in load("papers/quick").grid:
        for cipher, provider, operation in product(grid.cipher, grid.provider or ["rustcrypto"], grid.operation):
            sizes = [(size, "random") for size in grid.payload_B or []] or [(FILE_B, kind) for kind in grid.data or []]
            for (size_B, data), keying, encoding in product(sizes or [(0, "none")], grid.keying, grid.encoding):
                rows.append(_case(cipher, provider, operation, size_B, data=data, keying=keying, encoding=encoding))
    return rows


def _case(cipher: str, provider: str, operation: str, size_B: int, **factors: object) -> dict[str, object]:
    found = re.match(r"(rijndael(?P<block>\d+)-|3des|[a-z]+\d-\d+-|rc[24]-|[a-z]+)(?P<bits>\d*)", cipher)
    assert found
    family = re.sub(r"^(rijndael\d+|3des|rc\d|[a-z]+).*", r"\1", cipher)
    bits = int(found["bits"] or KEY_BITS.get(family, 128))
    if family == "rc6":
        bits = int(cipher.split("-")[2])
    of_aes = {"rustcrypto-soft": "fixsliced", "rustcrypto": "vaes512", "wattlock": "vaes512"}
    path = of_aes.get(provider, "tables") if family.startswith(("aes", "rijndael")) else "portable"
    factors |= {"cipher": cipher, "provider": provider, "operation": operation, "payload_B": size_B, "path": path}
    block = int(found["block"] or 128)
    return row(family, (1e3 + size_B) * (1 + bits / 1000 + block / 3000), key_bits=bits, block_bits=block, **factors)


def test_the_start_up_of_an_image_is_told_from_the_key_set_up() -> None:
    claim = PAPERS.claim("image-ranking")
    evidence = worlds.world(claim, "fails")
    setup = row("blowfish", 28_000 * evidence.estimates.filter(cipher="blowfish128-cbc")["time_ns"][0] / FILE_B)
    rows = [*evidence.estimates.to_dicts(), {**setup, "operation": "key_setup", "payload_B": 0, "data": "none"}]
    assert (
        "Key set-up is at most 50.0 % of an image of 28 KB (Blowfish)."
        in JUDGES[claim.id](claim, run_of(rows)).sentence
    )
