"""Where a judge's line runs: for each kind of judge a world with the interval just inside, just outside, and across."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import atanh, sqrt, tanh
from typing import Any

import pytest

from support import papers_made_up as worlds
from support.papers_evidence import FAMILIES, FILE_B, GHZ, KINDS, PAPERS, Kind, World, nothing, row, run_of, spread
from support.papers_evidence_sending import COLUMNS, sent
from wattlock.analysis.effects import Ratio
from wattlock.papers.judge import (
    AirAnswer,
    Bounds,
    Capture,
    DischargeCurve,
    Evidence,
    Judgement,
    Security,
    amount_band,
    effect_band,
    inside,
    percent_band,
)
from wattlock.papers.rijndael import _fisher
from wattlock.papers.themes import JUDGES

# Two costs of half-width SURE make a ratio of about its root of two times that; both fit between the two.
INSIDE, OUTSIDE = 1.004, 1 / 1.004


def judged(name: str, evidence: Evidence) -> Judgement:
    return JUDGES[name](PAPERS.claim(name), evidence)


def ends(bounds: Bounds) -> tuple[float, float]:
    assert bounds.low is not None
    assert bounds.high is not None
    return bounds.low, bounds.high


def two(over: str, under: str, ratio: float, **factors: Any) -> Evidence:
    return run_of([row(over, 1e6 * ratio, **factors), row(under, 1e6, **factors)])


def claimed(name: str) -> tuple[float, float]:
    expect = PAPERS.claim(name).expect
    return ends(effect_band(expect.get("ratio") or expect["throughput_ratio"]))


def of_costs(name: str, ratio: float) -> Evidence:
    claim = PAPERS.claim(name)
    operation = "decrypt" if name.endswith("decrypt") else "encrypt"
    data = name.removesuffix("-decrypt").removesuffix("-wlan").removesuffix("-singh").rpartition("-")[2]
    return two(claim.expect["numerator"], claim.expect["denominator"], ratio, operation=operation, data=data)


def of_keys(family: str, bits: tuple[int, int, int], percents: tuple[float, float]) -> Evidence:
    steps = zip(bits, (0.0, *percents), strict=True)
    return run_of([row(family, 1e6 * (1 + percent / 100), key_bits=key) for key, percent in steps])


def of_rsa(ratio: float) -> Evidence:
    rsa = {"cipher": "rsa2048-oaep", "key_bits": 2048, "provider": "openssl", "payload_B": 0}
    rows = [row("rsa", 500 * ratio, operation=operation, **rsa) for operation in ("encrypt", "decrypt")]
    return run_of([*rows, *(row("aes", 500, operation=one, payload_B=190) for one in ("encrypt", "decrypt"))])


def of_packets(rc4_over_aes: float) -> Evidence:
    return worlds.packets(lambda _, size: 10.0 * size * rc4_over_aes, worlds.aes_ns)(PAPERS.claims[0], "holds")


def of_fall(percent_left: float) -> Evidence:
    left = Ratio(percent_left, percent_left * 0.999, percent_left * 1.001)
    return nothing(
        discharges=[DischargeCurve("3des-cbc", 5_000_000, 600, left, "BAT0", "measured")], machine=("handheld",)
    )


def of_sending(column: str, times: float) -> Evidence:
    seconds: dict[str, float] = {column: 10 * times}
    transfers = [
        AirAnswer(one, data, cipher, spread("holds", seconds.get(one, 10.0)))
        for one in COLUMNS
        for data in ("text", "audio", "video")
        for cipher in ("none", "aes", "blowfish", "rc6")
    ]
    return nothing(transfers=transfers)


def of_ciphers_sent(share: float) -> Evidence:
    """Blowfish's and RC6's transfers at that share of what the paper has for them beside AES."""
    world: World = sent(
        lambda claim, _, __, data, cipher: 10 * claim.expect[data] * share if cipher in {"blowfish", "rc6"} else 10.0
    )
    return world(PAPERS.claim("adhoc-blowfish-rc6-vs-aes"), "holds")


def of_share(share: float) -> Evidence:
    exact = Ratio(10.0, 10.0, 10.0)
    radio, host = (Ratio(one, one * 0.9995, one * 1.0005) for one in (share, 1 - share))
    return nothing(transfers=[AirAnswer("adhoc_open", "text", "aes", exact, radio, host)])


def of_overhead(share: float) -> Evidence:
    found, exact = Ratio(share, share * 0.999, share * 1.001), Ratio(1.0, 1.0, 1.0)
    return nothing(transfers=[AirAnswer("packet", "", "none", exact, overhead_share=found, payload_B=64)])


def of_cycles(family: str, per_byte: float) -> Evidence:
    rows = [row(family, per_byte * FILE_B / GHZ)]
    return run_of(rows, machine=("computer", "32-bit", "pentium"))


def of_hex(percent: float) -> Evidence:
    times = {"raw": 1.0, "base64": 1.0, "hex": 1 + percent / 100}
    return run_of([row("des", 1e5 * times[code], encoding=code) for code in times])


def of_kinds(percent: float) -> Evidence:
    times = {"text": 1.0, "audio": 1.0, "image": 1.0, "video": 1 + percent / 100}
    return run_of([row(family, 1e6 * times[data], data=data) for family in FAMILIES for data in times])


def of_profiles(medium_percent: float) -> Evidence:
    medium = 1 + medium_percent / 100
    costs = {128: 1.0, 192: medium, 256: medium * 1.085}
    return worlds.rijndael(lambda _, block, bits: costs[max(block, bits)])(PAPERS.claims[0], "holds")


def of_decryption(ratio: float) -> Evidence:
    return worlds.rijndael(worlds.spread_out, lambda _, one: one * ratio)(PAPERS.claims[0], "holds")


Line = tuple[str, Callable[[float], Evidence], float, int]
"""A claim, a world by its figure, the line, and on which side of it the claim holds: +1 above, -1 below."""


def band(name: str, world: Callable[[float], Evidence], bounds: tuple[float, float]) -> list[Line]:
    return [(name, world, bounds[0], 1), (name, world, bounds[1], -1)]


RATIOS = [claim.id for claim in PAPERS.claims if claim.expect.get("ratio") and "-vs-aes-" in claim.id]
RATIOS = [name for name in RATIOS if PAPERS.claim(name).about == "energy"]


def by_name(name: str) -> Callable[[float], Evidence]:
    return lambda ratio: of_costs(name, ratio)


LINES: list[Line] = [
    *(line for name in RATIOS for line in band(name, by_name(name), claimed(name))),
    *band("3des-vs-des", lambda one: two("3des", "des", 1 / one, data="text"), claimed("3des-vs-des")),
    *band("asymmetric-vs-symmetric", of_rsa, (100, 10_000)),
    *band("rc4-aes-small", of_packets, claimed("rc4-aes-small")),
    *band("rc4-cycles", lambda one: of_cycles("rc4", one), (5.25, 8.75)),
    *band("blowfish-cycles", lambda one: of_cycles("blowfish", one), (13.5, 22.5)),
    *band("3des-battery", of_fall, (33.75, 56.25)),
    *band("bss-vs-adhoc", lambda one: of_sending("bss_open", one), (1.47, 1.57)),
    *band("tkip-vs-open", lambda one: of_sending("bss_tkip", one), (1.10, 1.12)),
    *band("decrypt-vs-encrypt", of_decryption, ends(effect_band(1.14))),
    ("rc4-small-cpu", of_packets, 1.0, 1),
    ("rc4-aes-large", of_packets, 1.0, -1),
    ("poor-signal", lambda one: of_sending("adhoc_poor", one), 1.70, 1),
    ("open-vs-wep", lambda one: of_sending("adhoc_wep", one), 1.05, -1),
    ("transmission-dominates", of_share, 0.5, 1),
    ("mac-overhead-cited", of_overhead, 0.5, 1),
]


@pytest.mark.parametrize(("name", "world", "line", "side"), LINES, ids=[f"{one[0]}-{one[2]:.3g}" for one in LINES])
def test_a_claim_holds_just_within_its_line_fails_just_beyond_and_is_open_on_it(
    name: str, world: Callable[[float], Evidence], line: float, side: int
) -> None:
    within, beyond = (INSIDE, OUTSIDE) if side > 0 else (OUTSIDE, INSIDE)
    assert judged(name, world(line * within)).verdict in {"reproduced", "explained"}
    assert judged(name, world(line * beyond)).verdict in {"not reproduced", "not explained"}
    assert judged(name, world(line)).verdict == "inconclusive"


PERCENTS: list[Line] = [
    *band("encoding", of_hex, (-5, 5)),
    *band("data-type", of_kinds, (-1, 1)),
    *band("rijndael-profiles", of_profiles, ends(percent_band(10))),
    *band("aes-key-size", lambda one: of_keys("aes", (128, 192, 256), (one, 16)), ends(percent_band(8))),
    *band("aes-key-size", lambda one: of_keys("aes", (128, 192, 256), (8, one)), ends(percent_band(16))),
    ("aes-key-size-clear", lambda one: of_keys("aes", (128, 192, 256), (one, one)), 1.0, 1),
    ("rc6-key-size", lambda one: of_keys("rc6", (128, 192, 256), (one, one)), 1.0, 1),
    ("blowfish-key-tradeoff", lambda one: of_keys("blowfish", (32, 128, 448), (one, one)), 1.0, 1),
    ("aes-key-size-small", lambda one: of_keys("aes", (128, 192, 256), (one, one)), 10.0, -1),
    ("aes-key-size-small", lambda one: of_keys("aes", (128, 192, 256), (one, one)), 0.0, 1),
    ("rc4-key-size", lambda one: of_keys("rc4", (40, 128, 256), (0, one)), 1.0, -1),
    ("rc4-key-size", lambda one: of_keys("rc4", (40, 128, 256), (one, 0)), -1.0, 1),
    ("long-key-advice", lambda one: of_keys("aes", (128, 192, 256), (one, one)), 100 / 9, -1),
]


@pytest.mark.parametrize(
    ("name", "world", "line", "side"), PERCENTS, ids=[f"{one[0]}-{one[2]:.3g}" for one in PERCENTS]
)
def test_a_percentage_holds_just_within_its_line_fails_just_beyond_and_is_open_on_it(
    name: str, world: Callable[[float], Evidence], line: float, side: int
) -> None:
    assert judged(name, world(line + 0.45 * side)).verdict == "reproduced"
    assert judged(name, world(line - 0.45 * side)).verdict == "not reproduced"
    assert judged(name, world(line)).verdict == "inconclusive"


def test_the_ratio_on_the_other_side_of_1_is_not_the_claimed_one() -> None:
    assert judged("rc6-vs-aes-video-decrypt", of_costs("rc6-vs-aes-video-decrypt", 1.08)).verdict == "not reproduced"
    assert judged("decrypt-vs-encrypt", of_decryption(1.04)).verdict == "not reproduced"


def test_a_step_that_fails_is_the_one_that_is_told() -> None:
    found = judged("aes-key-size", of_keys("aes", (128, 192, 256), (40, 16)))
    assert found.effect is not None
    assert "a key of 192 bits" in found.effect.what


def test_each_comparison_that_decides_tells_its_bounds_and_whose_they_are() -> None:
    for claim in PAPERS.claims:
        for kind in KINDS:
            evidence = worlds.world(claim, kind)
            found = JUDGES[claim.id](evidence.papers.claim(claim.id), evidence)
            assert all(one.bounds or one.holds is None for one in found.compared), claim.id
            if found.compared:
                bounds = found.compared[0].bounds
                assert bounds is not None, claim.id
                assert f"What counts as the claim: {bounds.described()}." in found.sentence
    poor = judged("poor-signal", of_sending("adhoc_poor", 2.0))
    assert "above 70 % (the paper’s bound)" in poor.sentence
    assert "-5 to 5 % (our bound)" in judged("encoding", of_hex(0)).sentence


# ---------- who decides


def test_aes_with_another_key_or_of_another_size_says_nothing_of_rsa() -> None:
    sound = of_rsa(1000.0)
    rows = sound.estimates.to_dicts()
    more = [
        row("aes", 1.0, operation=operation, payload_B=payload_B, key_bits=key_bits, provider=provider)
        for operation in ("encrypt", "decrypt")
        for payload_B, key_bits, provider in ((16, 128, "a"), (190, 256, "a"))
    ]
    more += [row("rc6", 1.0, operation=operation, payload_B=190, provider="a") for operation in ("encrypt", "decrypt")]
    found = judged("asymmetric-vs-symmetric", run_of([*more, *rows]))
    assert found.verdict == "reproduced"
    assert [one.cases for one in found.compared if one.bounds] == ["openssl, libtomcrypt"]


def test_rsa_at_one_end_alone_is_not_judged() -> None:
    rows = [one for one in of_rsa(1000.0).estimates.to_dicts() if one["operation"] == "encrypt"]
    assert judged("asymmetric-vs-symmetric", run_of(rows)).verdict == "not tested"


@pytest.mark.parametrize(("processes", "verdict"), [(1, "not tested"), (2, "reproduced")])
def test_one_process_is_no_evidence(processes: int, verdict: str) -> None:
    ratio = PAPERS.claim("rc6-vs-aes-text").expect["ratio"]
    assert judged("rc6-vs-aes-text", two("rc6", "aes", ratio, data="text", processes=processes)).verdict == verdict


def nine(off: Mapping[tuple[int, int], float], half_width_percent: float) -> Evidence:
    """Rijndael with the least at equal blocks by so many percent, and more where `off` says so."""
    rows = []
    for block in (128, 192, 256):
        for bits in (128, 192, 256):
            time = 1e6 * (1.0 if block == bits else 1.01) * off.get((block, bits), 1.0)
            factors = {"cipher": f"rijndael{block}-{bits}-cbc", "key_bits": bits, "block_bits": block}
            for operation in ("encrypt", "decrypt"):
                half = {"half_width_percent": half_width_percent}
                rows.append(row(f"rijndael{block}", time, operation=operation, **half, **factors))
    return run_of(rows)


@pytest.mark.parametrize(("half_width_percent", "verdict"), [(0.68, "reproduced"), (0.73, "inconclusive")])
def test_a_block_is_the_cheapest_where_the_interval_of_each_other_one_over_it_says_so(
    half_width_percent: float, verdict: str
) -> None:
    # 1 % more: two half-widths of 0.7 % make an interval of a ratio that just reaches 1.
    found = judged("rijndael-pareto", nine({}, half_width_percent))
    assert found.verdict == verdict
    assert found.effect is not None
    assert found.effect.value == pytest.approx(1.01)
    assert [len(one.parts) for one in found.compared] == [6, 6]


@pytest.mark.parametrize(
    ("calls", "payload_B"), [(600, 5_000_000), (6000, 500_000), (60, 50_000_000), (300, 5_000_000)]
)
def test_a_fall_counts_by_its_bytes(calls: int, payload_B: int) -> None:
    drained = 55 * calls * payload_B / (600 * 5e6)
    left = Ratio(100 - drained, 99.9 - drained, 100.1 - drained)
    discharge = DischargeCurve("3des-cbc", payload_B, calls, left, "BAT0", "measured")
    found = judged("3des-battery", nothing(discharges=[discharge], machine=("handheld",)))
    assert found.effect is not None
    assert found.effect.value == pytest.approx(45)
    assert found.verdict == "reproduced"


def test_nine_pairs_leave_a_correlation_as_open_as_fisher_says() -> None:
    claimed = 0.985
    # 1.96 / sqrt(9 - 3) is 0.800; with 9 in place of 6 it would be 0.653.
    least = amount_band(claimed).low
    assert least is not None
    just = tanh(atanh(sqrt(least)) + 0.800) ** 2
    near = Bounds(least, 1)
    assert inside(*_fisher(just + 0.001, 9), near) is True
    assert inside(*_fisher(just - 0.001, 9), near) is None
    # A correlation that may be none reaches down to none, and not as far as its square would.
    assert _fisher(0.05, 9)[0] == 0
    below = tanh(atanh(sqrt(least)) - 0.800) ** 2
    assert inside(*_fisher(below + 0.003, 9), near) is None
    assert inside(*_fisher(below - 0.003, 9), near) is False


@pytest.mark.parametrize("authenticated", [True, False])
def test_a_cipher_that_authenticates_nothing_is_never_the_sound_one(authenticated: bool) -> None:
    assert Security(256, 256, "approved", authenticated).sound is authenticated
    rows = worlds.packets(worlds.three_times, worlds.aes_ns)(PAPERS.claims[0], "holds").estimates.to_dicts()
    rows += [row("aes", 1.0, cipher="aes128-ctr", operation="seal", payload_B=16384)]
    security = {"aes128-ctr": Security(128, 128, "approved", authenticated)}
    found = judged("advice-rc4-100", run_of(rows, security=security))
    assert ("over aes128-ctr" in found.sentence) is authenticated


@pytest.mark.parametrize(
    ("status", "sound"), [("approved", True), ("acceptable", True), ("legacy", False), ("broken", False)]
)
def test_only_what_is_approved_or_acceptable_is_sound(status: str, sound: bool) -> None:
    assert Security(128, 128, status, authenticated=True).sound is sound


# ---------- what another machine, or a model, can't decide


@pytest.mark.parametrize("name", ["rc4-cycles", "blowfish-cycles", "3des-battery", "blowfish-battery"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_claim_on_another_machine_is_not_tested_whatever_is_measured_here(name: str, kind: Kind) -> None:
    here = replace(worlds.world(PAPERS.claim(name), kind), machine=("computer",))
    found = judged(name, here)
    assert (found.verdict, found.effect) == ("not tested", None)
    assert "(this one is of a computer)" in found.needs
    assert found.compared[0].effect.described() in found.sentence
    assert found.compared[0].bounds is None


def test_a_model_refutes_nothing_and_reproduces_nothing() -> None:
    modelled = [claim for claim in PAPERS.claims if claim.about == "air"]
    assert len(modelled) == 9
    for claim in modelled:
        for kind in KINDS:
            assert "reproduced" not in JUDGES[claim.id](claim, worlds.world(claim, kind)).verdict


def test_transfers_that_were_measured_do_decide() -> None:
    measured = [one._replace(evidence="measured") for one in of_sending("bss_open", 2.0).transfers]
    assert judged("bss-vs-adhoc", nothing(transfers=measured)).verdict == "not reproduced"


# ---------- orders


def test_blowfish_and_aes_may_lead_in_either_order() -> None:
    for first, second in (("blowfish", "aes"), ("aes", "blowfish")):
        costs = {first: 1.0, second: 1.2, "des": 1.4, "3des": 1.6}
        rows = [row(name, 1e6 * cost, data="text") for name, cost in costs.items()]
        assert judged("blowfish-good-cited", run_of(rows)).verdict == "reproduced"
    rows = [row(name, 1e6 * cost, data="text") for name, cost in {"des": 1, "blowfish": 2, "aes": 3, "3des": 4}.items()]
    assert judged("blowfish-good-cited", run_of(rows)).verdict == "not reproduced"


def test_that_the_lead_is_greater_in_small_files_is_tested_or_said_not_to_be() -> None:
    order = PAPERS.claim("audio-ranking").expect["order"]
    rows = [row(name, 1e6 * 1.3**place, data="audio") for place, name in enumerate(order)]
    found = judged("audio-ranking", run_of(rows))
    assert (found.verdict, found.findings[-1].answers) == ("inconclusive", {})
    assert "the lead is greater in small files" in found.needs
    found = judged("audio-ranking", worlds.world(PAPERS.claim("audio-ranking"), "fails"))
    assert found.effect is not None
    assert found.effect.what == "AES's lead over DES at 40,000 B over that at 400,000 B"


@pytest.mark.parametrize(
    ("over", "verdict"), [("hex", "not reproduced"), ("base64", "not reproduced"), ("raw", "reproduced")]
)
def test_hexadecimal_is_held_against_base64_and_raw_output_stands_beside(over: str, verdict: str) -> None:
    rows = [row("des", 1e5 * (2 if code == over else 1), encoding=code) for code in ("raw", "base64", "hex")]
    found = judged("encoding", run_of(rows))
    assert found.verdict == verdict
    assert [one.effect.what.partition(" with")[0] for one in found.compared] == [
        "what hex costs over base64 output",
        "what hex costs over raw output",
        "what base64 costs over raw output",
    ]
    assert [one.bounds is None for one in found.compared] == [False, True, True]


# ---------- a capture

HOUR = {("management", 100): 900, ("control", 14): 400, ("data", 1024): 300}


def of_capture(frames: Mapping[tuple[str, int], int], **more: Any) -> Judgement:
    return judged("packet-sizes", nothing(capture=Capture(frames, **more)))


def test_an_hour_of_beacons_and_large_data_frames_is_as_the_paper_has_it() -> None:
    found = of_capture(HOUR)
    assert found.verdict == "reproduced"
    assert len(found.compared) == 3


@pytest.mark.parametrize(
    ("frames", "failing"),
    [
        ({("data", 100): 300}, "the share of control and management"),
        ({**HOUR, ("data", 1024): 0, ("data", 100): 300}, "the median size of the data frames"),
        ({**HOUR, ("data", 1024): 0, ("data", 1530): 300}, "the median size of the data frames"),
        ({**HOUR, ("data", 1024): 2000}, "the lead of 64 to 127 B"),
        # Two in five of the frames of that size are beacons.
        ({("management", 100): 400, ("data", 100): 600, ("data", 1024): 700}, "the share of control and management"),
    ],
)
def test_sizes_alone_do_not_decide_but_whose_they_are(frames: dict[tuple[str, int], int], failing: str) -> None:
    found = of_capture({key: count for key, count in frames.items() if count})
    assert found.verdict == "not reproduced"
    assert found.effect is not None
    assert found.effect.what.startswith(failing)


def test_a_capture_of_another_medium_is_no_evidence() -> None:
    found = of_capture({("tcp", 100): 900, ("udp", 1024): 300})
    assert (found.verdict, found.effect) == ("not tested", None)
    assert "1,200 packets are of another medium" in found.needs
    assert Capture({**HOUR, ("tcp", 1500): 40}).sizes == {100: 900, 14: 400, 1024: 300}
    assert "40 packets of another medium are left out" in of_capture({**HOUR, ("tcp", 1500): 40}).sentence


def test_a_capture_that_is_cut_is_not_accepted_and_says_so() -> None:
    found = of_capture(HOUR, is_cut=True)
    assert found.verdict == "inconclusive"
    assert "Left out: all from where the file ends within a packet." in found.sentence
    assert found.needs.startswith("a whole capture")


def test_what_was_left_out_is_said_and_may_have_been_otherwise() -> None:
    few, some, many = (of_capture(HOUR, left_out={"with a wrong FCS": count}) for count in (3, 600, 2000))
    assert few.verdict == "reproduced"
    assert "Left out: 3 with a wrong FCS." in few.sentence
    # Of 600 enough may be acknowledgements to make these the commonest, but not to turn the other parts.
    assert some.verdict == "inconclusive"
    assert [one.holds for one in some.compared] == [None, True, True]
    assert many.verdict == "inconclusive"
