"""The figures that judges of ratios, orders and keys give, by hand-made costs and sums done by hand."""

from collections.abc import Mapping
from math import log, sqrt
from typing import Any

import pytest

from support.papers_evidence import FAMILIES, FILE_B, PAPERS, about, row, run_of
from wattlock.papers.implementations import CONSTANT_TIME, ERA
from wattlock.papers.judge import Evidence, Judgement
from wattlock.papers.themes import JUDGES

Rows = list[dict[str, Any]]
SOFT: dict[str, Any] = {"provider": "rustcrypto-soft", "path": "fixsliced"}
BUILT: dict[str, Any] = {"provider": "rustcrypto", "path": "portable"}


def judged(name: str, rows: Rows | Evidence) -> Judgement:
    return JUDGES[name](PAPERS.claim(name), rows if isinstance(rows, Evidence) else run_of(rows))


def exact(family: str, time_ns: float, **factors: Any) -> dict[str, Any]:
    return row(family, time_ns, half_width_percent=factors.pop("half_width_percent", 0.0), **factors)


def values(found: Judgement) -> list[float]:
    return [one.effect.value for one in found.compared]


# ---------- ratios


@pytest.mark.parametrize(
    ("tables", "fixsliced", "described"),
    [
        (2.0, 5.0, "built in (software of the papers’ era), 2 times"),
        (5.0, 2.0, "built in (constant-time software), 2 times"),
        (0.5, 3.0, "built in (software of the papers’ era), 0.5 times"),
        (0.6, 1.5, "built in (constant-time software), 1.5 times"),
        (0.5, 0.8, "built in (constant-time software), 0.8 times"),
    ],
)
def test_the_nearest_implementation_is_the_one_that_is_the_fewest_times_off_either_way(
    tables: float, fixsliced: float, described: str
) -> None:
    claimed = PAPERS.claim("blowfish-vs-aes-text").expect["ratio"]
    rows = [
        exact("aes", 1e6, data="text", provider="wattlock-tables"),
        exact("aes", 1e6 * tables / fixsliced, data="text", **SOFT),
        exact("blowfish", 1e6 * tables * claimed, data="text", **BUILT),
    ]
    found = judged("blowfish-vs-aes-text", rows)
    assert f"The nearest is {described} the claimed ratio." in found.sentence
    assert values(found) == pytest.approx([claimed * tables, claimed * fixsliced])
    assert found.compared[0].effect.what == "Blowfish over AES, to encrypt text,"


def test_the_throughput_is_the_inverse_of_the_cost() -> None:
    found = judged("3des-vs-des", [exact("3des", 3e6, data="text"), exact("des", 1e6, data="text")])
    assert values(found) == pytest.approx([1 / 3])
    assert found.compared[0].effect.what == "the throughput of 3DES over that of DES"


def ends_of_rsa(costs: dict[str, float], wide: tuple[str, ...] = ()) -> Rows:
    """RSA and AES, in and out; 10 % wide where named, exact elsewhere."""
    made = []
    for name, cost in costs.items():
        family, operation = name.split()
        half = 10.0 if name in wide else 0.0
        more: dict[str, Any] = {"payload_B": 190}
        if family == "rsa":
            more = {"cipher": "rsa2048-oaep", "key_bits": 2048, "provider": "openssl", "payload_B": 0}
        made.append(exact(family, cost, operation=operation, half_width_percent=half, **more))
    return made


COSTS = {"rsa encrypt": 300.0, "rsa decrypt": 4000.0, "aes encrypt": 3.0, "aes decrypt": 4.0}


def test_rsa_over_aes_is_the_sum_of_both_ends_and_each_end_stands_beside() -> None:
    found = judged("asymmetric-vs-symmetric", ends_of_rsa(COSTS))
    # AES's cost is that of 190 B, RSA's that of a call: what is sent is the same message.
    assert values(found) == pytest.approx([4300 / 7, 100, 1000])
    assert [one.effect.what for one in found.compared] == [
        "rsa2048-oaep over aes128-cbc, to encrypt and decrypt 190 B once,",
        "rsa2048-oaep over aes128-cbc, to encrypt alone,",
        "rsa2048-oaep over aes128-cbc, to decrypt alone,",
    ]
    assert [one.bounds is None for one in found.compared] == [False, True, True]


@pytest.mark.parametrize(
    ("wide", "power"),
    [
        (("rsa encrypt",), 300 / 4300),
        (("rsa encrypt", "rsa decrypt"), sqrt(300**2 + 4000**2) / 4300),
        (("aes encrypt",), 3 / 7),
        (("aes encrypt", "aes decrypt"), 5 / 7),
        (("rsa decrypt", "aes decrypt"), sqrt((4000 / 4300) ** 2 + (4 / 7) ** 2)),
    ],
)
def test_the_error_of_a_sum_is_that_of_its_parts_by_their_share(wide: tuple[str, ...], power: float) -> None:
    effect = judged("asymmetric-vs-symmetric", ends_of_rsa(COSTS, wide)).compared[0].effect
    assert effect.high / effect.value == pytest.approx(1.1**power)
    assert effect.value / effect.low == pytest.approx(1.1**power)


@pytest.mark.parametrize("lacking", list(COSTS))
def test_of_rsa_and_of_aes_both_ends_are_needed(lacking: str) -> None:
    costs = {name: cost for name, cost in COSTS.items() if name != lacking}
    assert judged("asymmetric-vs-symmetric", ends_of_rsa(costs)).verdict == "not tested"


def test_aes_beside_rsa_is_each_librarys_in_a_mode_of_the_papers() -> None:
    rows = ends_of_rsa(COSTS)
    for operation in ("encrypt", "decrypt"):
        at = {"payload_B": 190, "operation": operation}
        rows.insert(0, exact("aes", 0.1, mode="ctr", cipher="aes128-ctr", **at))
        rows.insert(0, exact("aes", 30.0, **SOFT, **at))
        rows.append(exact("aes", 90.0, provider="later", **at))
    found = judged("asymmetric-vs-symmetric", rows)
    assert [(one.implementation, one.effect.value) for one in found.compared if one.bounds] == [
        (ERA, about(4300 / 180)),
        (ERA, about(4300 / 7)),
        (CONSTANT_TIME, about(4300 / 60)),
    ]
    assert found.verdict == "depends on the implementation"
    assert "It holds with libtomcrypt, and not with later." in found.sentence


# ---------- orders


def ordered(costs: Mapping[str, float], **factors: Any) -> Rows:
    return [exact(family, 1e6 * cost, **factors) for family, cost in costs.items()]


FIVE = [
    "Blowfish before RC6, AES, DES, 3DES and RC2",
    "RC6 before AES, DES, 3DES and RC2",
    "AES before DES, 3DES and RC2",
    "DES before 3DES and RC2",
    "3DES before RC2",
]


@pytest.mark.parametrize(
    ("costs", "holding"),
    [
        ((1, 2, 3, 4, 5, 6), [0, 1, 2, 3, 4]),
        # RC2 before 3DES: four findings are left.
        ((1, 2, 3, 4, 6, 5), [0, 1, 2, 3]),
        # AES first of all: what the paper has right of the rest stays.
        ((2, 3, 1, 4, 5, 6), [2, 3, 4]),
        ((6, 5, 4, 3, 2, 1), []),
        # Alike is not in order.
        ((1, 2, 3, 4, 5, 5), [0, 1, 2, 3]),
    ],
)
def test_an_order_is_each_cipher_before_all_that_come_after_it(costs: tuple[int, ...], holding: list[int]) -> None:
    order = PAPERS.claim("text-encrypt-ranking").expect["order"]
    found = judged("text-encrypt-ranking", ordered(dict(zip(order, costs, strict=True)), data="text"))
    assert [finding.says for finding in found.findings] == FIVE
    answers = [finding.answers[ERA] for finding in found.findings]
    assert [number for number, answer in enumerate(answers) if answer == "reproduced"] == holding
    assert found.verdict == ("reproduced" if len(holding) == 5 else "not reproduced")


def test_of_each_finding_the_nearest_pair_is_told() -> None:
    order = PAPERS.claim("text-encrypt-ranking").expect["order"]
    costs = dict(zip(order, (2.0, 3.0, 1.0, 4.0, 5.0, 6.0), strict=True))
    found = judged("text-encrypt-ranking", ordered(costs, data="text"))
    assert [one.finding for one in found.compared] == FIVE
    assert values(found) == pytest.approx([1 / 2, 1 / 3, 4, 5 / 4, 6 / 5])
    assert found.compared[0].effect.what == "AES over Blowfish"
    assert found.compared[-1].effect.what == "RC2 over 3DES"
    assert f"3 of the claim's 5 findings are reproduced: {'; '.join(FIVE[2:])}." in found.sentence


def test_a_library_without_one_of_the_ciphers_answers_the_findings_that_it_can() -> None:
    costs = {"aes": 1.0, "blowfish": 2.0, "des": 3.0, "3des": 4.0, "rc2": 5.0}
    found = judged("text-encrypt-ranking", ordered(costs, data="text"))
    answers = [finding.answers.get(ERA) for finding in found.findings]
    assert answers == [None, None, "reproduced", "reproduced", "reproduced"]
    assert found.verdict == "inconclusive"
    assert FIVE[0] in found.needs
    assert FIVE[1] in found.needs


def of_audio(first: float, lead: dict[int, float], des: float = 1.0, **factors: Any) -> Rows:
    """The order on audio, its first cost at will; AES's cost a byte by the size of the file."""
    order = PAPERS.claim("audio-ranking").expect["order"]
    rows = [exact(name, 1e6 * 1.3**place, data="audio") for place, name in enumerate(order)]
    rows[0]["time_ns"] *= first
    for size_B, of_aes in lead.items():
        times = {"aes": of_aes, "des": 2.0 * (des if size_B == min(lead) else 1), "3des": 3.0, "rc2": 4.0}
        rows += [exact(name, 10.0 * size_B * one, payload_B=size_B, **factors) for name, one in times.items()]
    return rows


def test_the_lead_is_taken_from_the_smallest_to_the_largest_of_the_papers_files() -> None:
    # 33 to 8262 KB: what is a byte beyond is none of them, and what lies between is no end.
    lead = {32_999: 0.1, 33_000: 0.8, 400_000: 5.0, 8_262_000: 1.0, 8_262_001: 9.0}
    found = judged("audio-ranking", of_audio(1.0, lead))
    effect = found.compared[-1].effect
    assert effect[2:] == pytest.approx((1.25, 1.25, 1.25))
    assert effect.what == "AES's lead over DES at 33,000 B over that at 8,262,000 B"
    assert [one.holds for one in found.compared] == [True] * 6


@pytest.mark.parametrize(
    ("des", "least", "holds"), [(1.1, 1.25, True), (0.9, 1.125, True), (0.8, 1.0, False), (0.7, 0.875, False)]
)
def test_the_least_lead_of_all_decides(des: float, least: float, holds: bool) -> None:
    found = judged("audio-ranking", of_audio(1.0, {40_000: 0.8, 400_000: 1.0}, des))
    (lead,) = [one for one in found.compared if one.finding == "the lead is greater in small files"]
    assert lead.effect.value == pytest.approx(least)
    assert (found.verdict == "reproduced") is holds


def test_the_lead_is_a_finding_of_its_own_and_one_size_tests_none() -> None:
    failing = judged("audio-ranking", of_audio(9.0, {40_000: 0.8, 400_000: 1.0}))
    answers = [finding.answers.get(ERA) for finding in failing.findings]
    assert answers == ["not reproduced", *["reproduced"] * 5]
    assert failing.verdict == "not reproduced"
    of_another = judged("audio-ranking", of_audio(1.0, {40_000: 1.25, 400_000: 1.0}, **SOFT))
    assert of_another.findings[-1].answers == {}
    assert of_another.verdict == "inconclusive"
    one_size = judged("audio-ranking", of_audio(1.0, {40_000: 1.25}))
    assert "(the lead is greater in small files)" in one_size.needs


def test_on_images_three_ciphers_stand_before_three_and_des_before_3des() -> None:
    costs = {"aes": 1.0, "3des": 2.0, "des": 3.0, "rc2": 4.0, "rc6": 5.0, "blowfish": 6.0}
    found = judged("image-ranking", ordered(costs, data="image"))
    assert {finding.says: finding.answers[ERA] for finding in found.findings} == {
        "AES before RC2, RC6 and Blowfish": "reproduced",
        "DES before RC2, RC6 and Blowfish": "reproduced",
        "3DES before RC2, RC6 and Blowfish": "reproduced",
        "DES before 3DES": "not reproduced",
    }
    assert (found.effect and found.effect.value) == pytest.approx(2 / 3)
    costs["rc2"] = 1.5
    answers = [one.answers[ERA] for one in judged("image-ranking", ordered(costs, data="image")).findings]
    assert answers == ["reproduced", "not reproduced", "not reproduced", "not reproduced"]


def test_the_greatest_key_set_up_is_told_and_one_without_a_file_is_none() -> None:
    costs = {"aes": 1.0, "3des": 3.0, "des": 2.0, "rc2": 4.0, "rc6": 5.0, "blowfish": 6.0}
    rows = ordered(costs, data="image")
    # Of 100,000 B an image of 28 KB is 28 in 100.
    setups = {"aes": 0.28 / 3, "blowfish": 6 * 0.28 / 4, "des": 0.01}
    rows += [exact(name, 1e6 * cost, operation="key_setup", payload_B=0) for name, cost in setups.items()]
    rows.append(exact("xor", 9e9, operation="key_setup", payload_B=0))
    # A cipher that the claim doesn't speak of, as RC5 of the study `first-look`.
    rows += [exact("rc5", 9e9, operation="key_setup", payload_B=0), exact("rc5", 1e6, data="image")]
    assert "Key set-up is at most 25.0 % of an image of 28 KB (AES)." in judged("image-ranking", rows).sentence
    assert "Key set-up" not in judged("image-ranking", rows[:6]).sentence


def test_the_first_of_all_is_ahead_of_five() -> None:
    costs = dict(zip(FAMILIES, (1, 6, 3, 4, 5, 7), strict=True))
    found = judged("aes-fastest-cited", ordered(costs, data="text"))
    # Blowfish alone is ahead of AES.
    assert [one.answers[ERA] for one in found.findings] == ["not reproduced", *["reproduced"] * 4]
    assert values(found) == pytest.approx([1 / 3, 2, 4 / 3, 5 / 3, 7 / 3])


def test_each_kind_of_data_is_a_finding_by_the_mean_of_a_librarys_ciphers() -> None:
    off = {"text": 1.0, "audio": 0.996, "image": 1.003, "video": 1.002}
    rows = [exact(family, 1e6 * times, data=data) for family in FAMILIES for data, times in off.items()]
    found = judged("data-type", rows)
    assert values(found) == pytest.approx([-0.4, 0.3, 0.2])
    assert [one.cases for one in found.compared] == ["libtomcrypt, the mean of 6 ciphers"] * 3
    assert [one.finding for one in found.compared] == [f"{kind} costs as text" for kind in ("audio", "image", "video")]
    # What has no text to be compared with says nothing.
    rows.append(exact("rc4", 9e9, data="audio"))
    assert judged("data-type", rows).compared == found.compared


# ---------- keys


def keyed(family: str, costs: dict[int, float], **factors: Any) -> Rows:
    return [exact(family, 1e6 * cost, key_bits=bits, **factors) for bits, cost in costs.items()]


def test_two_keys_tell_whether_a_longer_one_costs_more_and_three_what_each_costs() -> None:
    two = keyed("aes", {128: 1.0, 256: 1.25}, provider="a")
    three = keyed("aes", {128: 1.0, 192: 1.08, 256: 1.16}, provider="b")
    clear = judged("aes-key-size-clear", two)
    assert values(clear) == pytest.approx([25])
    assert clear.compared[0].effect.what == "what a key of 256 bits costs over one of 128"
    assert judged("aes-key-size-clear", two[:1]).verdict == "not tested"
    for name in ("aes-key-size", "aes-key-size-unnoticeable"):
        assert judged(name, two).verdict == "not tested"
        assert {one.cases for one in judged(name, [*two, *three]).compared} == {"b"}
    both = judged("aes-key-size", three)
    assert values(both) == pytest.approx([8, 16])


def test_the_payload_with_most_keys_counts_and_of_several_the_largest() -> None:
    rows = keyed("aes", {128: 1.0, 192: 1.1, 256: 1.2})
    rows += keyed("aes", {128: 2.0, 192: 2.2, 256: 2.6}, payload_B=2 * FILE_B)
    rows += keyed("aes", {128: 2.0, 256: 9.0}, payload_B=3 * FILE_B)
    rows += keyed("aes", {128: 2.0, 192: 2.2, 256: 8.0}, payload_B=4 * FILE_B, mode="ctr")
    assert values(judged("aes-key-size-clear", rows)) == pytest.approx([30])


def test_tables_come_before_other_code_and_then_by_name() -> None:
    rows = keyed("aes", {128: 1.0, 256: 1.1}, **SOFT)
    rows += keyed("aes", {128: 1.0, 256: 1.2}, provider="zeta")
    rows += keyed("aes", {128: 1.0, 256: 1.3}, provider="alpha")
    assert values(judged("aes-key-size-clear", rows)) == pytest.approx([30, 20, 10])


def test_the_key_schedule_stands_apart_longest_over_shortest() -> None:
    rows = keyed("rc6", {128: 1.0, 192: 1.1, 256: 1.2})
    assert "key schedule apart costs" not in judged("rc6-key-size", rows).sentence
    setups = {128: 400, 192: 900, 256: 500}
    rows += [exact("rc6", cost, key_bits=bits, operation="key_setup", payload_B=0) for bits, cost in setups.items()]
    assert (
        "The key schedule apart costs, longest over shortest key, +25.0 to +25.0 % with libtomcrypt."
        in judged("rc6-key-size", rows).sentence
    )


def test_a_step_of_64_bits_is_the_root_of_two_steps_and_so_is_its_interval() -> None:
    rows = keyed("aes", {128: 1.0, 192: 1.0, 256: 1.21}, half_width_percent=10.0)
    effect = judged("aes-key-size-unnoticeable", rows).compared[0].effect
    factor = 1.1 ** (sqrt(2) / 2)
    assert effect[2:] == pytest.approx((10, 100 * (1.1 / factor - 1), 100 * (1.1 * factor - 1)))
    assert effect.what == "what 64 more key bits cost"


def test_the_greatest_effect_of_rc4s_keys_is_told_whichever_way_it_goes() -> None:
    found = judged("rc4-key-size", keyed("rc4", {40: 1.0, 128: 0.995, 256: 1.003}))
    assert values(found) == pytest.approx([-0.5])
    assert "what a key of 128 bits costs over one of 40, the greatest effect" in found.compared[0].effect.what
    found = judged("rc4-key-size", keyed("rc4", {40: 1.0, 128: 0.995, 256: 1.007}))
    assert values(found) == pytest.approx([0.7])
    assert found.compared[0].holds is True


def test_what_throughput_a_long_key_loses_is_the_inverse_of_its_cost() -> None:
    rows = keyed("aes", {128: 1.0, 192: 1.1, 256: 1.25}, half_width_percent=10.0)
    effect = judged("long-key-advice", rows).compared[0].effect
    factor = 1.1 ** sqrt(2)
    assert effect[2:] == pytest.approx((-20, 100 * (0.8 / factor - 1), 100 * (0.8 * factor - 1)))
    assert effect.what == "the change of throughput by a key of 256 bits in place of 128"


# ---------- the model of energy, and cycles


def test_the_papers_example_is_computed_again_in_its_units() -> None:
    found = judged("energy-sample", [exact("null", 1.0)])
    assert found.effect is not None
    # 20,000 cycles at 700 MHz are 28.57 us; by 200 mA 5.714e-3 mA*s; by 1.35 V 7.714 uJ.
    assert found.effect[1:] == ("uJ", *(about(7.7142857),) * 3)
    assert "The charge is 0.00571 mA*s." in found.sentence
    assert found.compared[0].cases == "20000 cycles"
    assert found.compared[0].bounds is not None
    assert found.compared[0].bounds[:3] == (about(7.623), about(7.777), "uJ")


@pytest.mark.parametrize("off", ["charge_mAs", "energy_uJ"])
def test_charge_and_energy_of_the_example_must_both_come_out(off: str) -> None:
    claim = PAPERS.claim("energy-sample")
    changed = claim.model_copy(update={"expect": {**claim.expect, off: 1.02 * claim.expect[off]}})
    assert JUDGES[claim.id](changed, run_of([exact("null", 1.0)])).verdict == "not reproduced"


def metered(count: int, names: tuple[str, ...] = FAMILIES) -> Rows:
    """Ciphers each twice as slow as the last, with joules about a slope of -1: no straight line leaves less."""
    off = (1, -1, 0, -1, 1, 0)
    return [
        exact(
            names[number],
            1e5 * 2**number,
            energy_uJ=2**number * 1.1 ** off[number],
            energy_evidence="measured",
            energy_random_percent=0.2,
        )
        for number in range(count)
    ]


def test_the_slope_has_its_interval_by_student() -> None:
    found = judged("throughput-energy", metered(5))
    assert found.effect is not None
    # Four squares of ln 1.1 over 3 degrees of freedom and 10 of ln 2; t is 3.1824 for 3.
    half = 3.182446 * sqrt(4 / 3 / 10) * log(1.1) / log(2)
    assert found.effect[2:] == pytest.approx((-1, -1 - half, -1 + half), rel=1e-5)
    assert found.verdict == "reproduced"
    assert found.compared[0].cases == "5 cases"


def test_a_slope_needs_five_ciphers() -> None:
    assert judged("throughput-energy", metered(4)).verdict == "not tested"
    assert judged("throughput-energy", metered(5, ("aes", "aes", "des", "rc2", "rc6"))).verdict == "not tested"


@pytest.mark.parametrize(("family", "state_B"), [("rc4", 256), ("blowfish", 4168)])
def test_a_ciphers_cycles_are_those_of_its_best_code_at_the_papers_key(family: str, state_B: int) -> None:
    wide = {"half_width_percent": 10.0}
    rows = [row(family, 4e5, provider="slow", **wide), row(family, 3e5, provider="quick", **wide)]
    rows += [
        row(family, 1.0, provider="a", key_bits=256),
        row(family, 1.0, provider="quick", payload_B=10),
        row(family, 1.0, provider="b", data="text"),
        row(family, 1.0, provider="c", mode="ctr"),
        {**row(family, 1.0, provider="d"), "cycles_per_byte": None},
        row("aes", 1.0, provider="e"),
    ]
    claim = PAPERS.claim(f"{family}-cycles")
    found = judged(claim.id, run_of(rows, machine=("computer", *claim.machine)))
    # Three cycles a nanosecond.
    assert [one.effect[1:] for one in found.compared] == [
        ("cycles/B", about(per_byte), about(per_byte / 1.1), about(per_byte * 1.1)) for per_byte in (9.0, 12.0)
    ]
    assert [one.cases for one in found.compared] == ["quick", "slow"]
    assert f"Its state has {state_B} bytes; claimed are {state_B}." in found.sentence
    elsewhere = judged(claim.id, run_of(rows))
    assert [one.cases for one in elsewhere.compared] == ["quick"]


# ---------- the encoding


def test_the_cipher_with_the_greatest_effect_is_told_for_each_kind_of_code() -> None:
    times: dict[str, dict[str, float]] = {
        "des": {"raw": 0.5, "base64": 1.0, "hex": 1.02},
        "rc2": {"raw": 0.4, "base64": 1.0, "hex": 0.9},
    }
    rows = [exact(name, 1e5 * cost, encoding=code) for name, codes in times.items() for code, cost in codes.items()]
    rows += [
        exact("aes", 1e5 * {"hex": 1.5}.get(code, 1.0), encoding=code, **SOFT) for code in ("raw", "base64", "hex")
    ]
    # Of smaller files, and of what one encoding alone has, nothing is said.
    rows += [exact("des", 9e9, encoding="hex", payload_B=9), exact("rc4", 9e9, encoding="hex")]
    found = judged("encoding", rows)
    assert [(one.implementation, one.effect.value) for one in found.compared] == [
        (ERA, about(-10)),
        (CONSTANT_TIME, about(50)),
        (ERA, about(125)),
        (CONSTANT_TIME, about(50)),
        (ERA, about(150)),
        (CONSTANT_TIME, about(0)),
    ]
    assert [one.cases.partition(";")[0] for one in found.compared] == [
        "libtomcrypt, 1 of 2 ciphers within the bounds",
        "built in, 0 of 1 cipher within the bounds",
        "libtomcrypt, 2 ciphers",
        "built in, 1 cipher",
        "libtomcrypt, 2 ciphers",
        "built in, 1 cipher",
    ]
    assert found.compared[0].effect.what == "what hex costs over base64 output with rc264-cbc, the most of all,"
    assert "On the air base64 sends 1.33 times the bytes, hex sends 2 times the bytes, whatever" in found.sentence
