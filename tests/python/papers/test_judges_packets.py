"""The figures that judges of packets, advice, Rijndael and captures give, by sums done by hand."""

from collections.abc import Mapping
from math import inf, isnan, sqrt
from typing import Any

import pytest

from support.papers_evidence import PAPERS, about, nothing, row, run_of
from wattlock.papers.implementations import CONSTANT_TIME, ERA
from wattlock.papers.judge import Capture, Evidence, Judgement, Security
from wattlock.papers.packet_sizes import _at_rank, _wilson
from wattlock.papers.themes import JUDGES

Rows = list[dict[str, Any]]
SOFT: dict[str, Any] = {"provider": "rustcrypto-soft", "path": "fixsliced"}
SOUND = {"chacha20-poly1305": Security(256, 256, "acceptable", True), "rc4-128": Security(30, 128, "broken", False)}


def judged(name: str, evidence: Rows | Evidence, **more: Any) -> Judgement:
    return JUDGES[name](PAPERS.claim(name), evidence if isinstance(evidence, Evidence) else run_of(evidence, **more))


def exact(family: str, time_ns: float, **factors: Any) -> dict[str, Any]:
    return row(family, time_ns, half_width_percent=factors.pop("half_width_percent", 0.0), **factors)


def values(found: Judgement) -> list[float]:
    return [one.effect.value for one in found.compared]


def whats(found: Judgement) -> list[str]:
    return [one.effect.what for one in found.compared]


def packets(costs: Mapping[int, tuple[float, float]], keying: tuple[str, ...] = ("ready", "each"), **more: Any) -> Rows:
    """RC4 and AES by size, RC4's cost first."""
    return [
        exact(family, cost, payload_B=size, keying=one, **more)
        for one in keying
        for size, both in costs.items()
        for family, cost in zip(("rc4", "aes"), both, strict=True)
    ]


# ---------- by the size of a packet


@pytest.mark.parametrize(("size", "judges"), [(63, True), (64, True), (65, False)])
def test_a_small_packet_has_64_bytes_at_most(size: int, judges: bool) -> None:
    assert (judged("rc4-aes-small", packets({size: (300, 100)})).verdict == "reproduced") is judges


@pytest.mark.parametrize(("size", "judges"), [(1023, False), (1024, True), (1025, True)])
def test_a_large_packet_has_1024_bytes_at_least(size: int, judges: bool) -> None:
    assert (judged("rc4-aes-large", packets({size: (300, 900)})).verdict == "reproduced") is judges


def test_of_small_packets_the_smallest_counts_and_of_large_ones_the_largest_that_both_have() -> None:
    rows = packets({20: (300, 100), 60: (100, 900), 1024: (900, 100), 2000: (100, 500)})
    rows += [exact("rc4", 1.0, payload_B=14), exact("aes", 1.0, payload_B=10), exact("rc4", 1.0, payload_B=4000)]
    small, large = judged("rc4-aes-small", rows), judged("rc4-aes-large", rows)
    assert values(small) == pytest.approx([3, 3])
    assert whats(small) == ["RC4 over AES at 20 B"] * 2
    assert [one.cases for one in small.compared] == ["libtomcrypt, a key for each packet", "libtomcrypt, key ready"]
    assert values(large) == pytest.approx([5, 5])
    assert whats(large) == ["AES over RC4 at 2,000 B"] * 2
    assert whats(judged("rc4-small-cpu", rows)) == ["RC4 over AES at 20 B"] * 2
    assert judged("rc4-small-cpu", rows).compared[0].holds is True


CROSSES = {20: (400.0, 200.0), 60: (600.0, 600.0 - 80.0), 140: (1000.0, 1160.0), 1000: (5000.0, 9000.0)}


def test_where_two_costs_meet_is_between_the_sizes_at_which_the_cheaper_one_changes() -> None:
    found = judged("rc4-aes-crossover", packets(CROSSES))
    # 80 ns more at 60 B, 160 ns less at 140 B: a third of the way.
    assert values(found) == pytest.approx([60 + 80 / 3] * 2)
    assert whats(found) == ["the size from which RC4 is cheaper"] * 2
    assert [one.effect.unit for one in found.compared] == ["B", "B"]
    # With the key ready the same stands beside, and decides nothing.
    assert [one.holds for one in found.compared] == [True, None]
    assert found.compared[1].bounds is None
    assert found.compared[0].bounds is not None
    assert found.compared[0].bounds[:3] == (75, 125, "B")
    assert [
        "a straight line through all of a cipher's sizes" in found.sentence,
        "where the cheaper cipher changes" in found.sentence,
    ] == [True, True]
    fewer = {size: costs for size, costs in CROSSES.items() if size != 1000}
    assert judged("rc4-aes-crossover", packets(fewer)).verdict == "reproduced"
    assert judged("rc4-aes-crossover", packets({20: (400, 200), 1000: (5000, 9000)})).verdict == "not tested"


def test_where_aes_is_the_cheaper_one_above_the_claim_fails_at_any_size() -> None:
    turned = {size: (aes, rc4) for size, (rc4, aes) in CROSSES.items()}
    found = judged("rc4-aes-crossover", packets(turned))
    assert values(found) == pytest.approx([60 + 80 / 3] * 2)
    assert whats(found) == ["the size from which AES is cheaper"] * 2
    assert [one.holds for one in found.compared] == [False, None]


@pytest.mark.parametrize(("rc4", "cheaper"), [(0.5, "RC4"), (2.0, "AES")])
def test_costs_that_never_cross_say_who_is_the_cheaper_one(rc4: float, cheaper: str) -> None:
    found = judged("rc4-aes-crossover", packets({size: (rc4 * size, 1.0 * size) for size in (20, 200, 2000)}))
    low, high = {"RC4": (-inf, 20.0), "AES": (2000.0, inf)}[cheaper]
    described = {"RC4": "below 20 B", "AES": "above 2,000 B"}[cheaper]
    # The figure is of the unit of its bounds, and lies beyond the sizes that were measured.
    for one in found.compared:
        assert one.effect == ("the size from which RC4 is cheaper", "B", low if cheaper == "AES" else high, low, high)
        assert one.effect.described() == described
    assert [one.holds for one in found.compared] == [False, None]
    assert "By another method" not in found.sentence


@pytest.mark.parametrize(("half_width_percent", "holds"), [(1.0, False), (40.0, None)])
def test_costs_that_may_cross_after_all_leave_it_open(half_width_percent: float, holds: bool | None) -> None:
    costs = {size: (1.1 * size, 1.0 * size) for size in (20, 200, 2000)}
    found = judged("rc4-aes-crossover", packets(costs, half_width_percent=half_width_percent))
    assert [one.holds for one in found.compared] == [holds, None]


def test_a_least_size_that_is_about_the_claimed_one_may_be_it() -> None:
    found = judged("rc4-aes-crossover", packets({size: (1.0 * size, 2.0 * size) for size in (110, 200, 2000)}))
    assert (found.compared[0].effect.described(), found.verdict) == ("below 110 B", "inconclusive")


def test_costs_that_cross_twice_have_no_size_from_which_one_is_cheaper() -> None:
    costs = {20: (100.0, 200.0), 200: (900.0, 500.0), 2000: (2000.0, 9000.0)}
    found = judged("rc4-aes-crossover", packets(costs))
    assert found.compared[0].effect[2:] == (20, 20, 2000)
    assert found.verdict == "inconclusive"


POLICY = {20: (300.0, 100.0), 80: (200.0, 100.0), 100: (100.0, 200.0), 1500: (1000.0, 4000.0), 1501: (1.0, 90_000.0)}


def test_the_policy_is_held_against_the_cheaper_cipher_alone() -> None:
    found = judged("hybrid-saves", packets(POLICY))
    # Sizes up to 1500 B, each as often: 100 + 100 + 100 + 1000 against RC4's 1600.
    assert values(found) == pytest.approx([100 * (1300 / 1600 - 1)] * 2)
    assert whats(found) == ["what the policy costs over RC4 alone, at sizes up to 1500 B,"] * 2
    assert [one.holds for one in found.compared] == [True, None]
    no_loss = judged("hybrid-saves", packets({size: (1.0 * size, 1.0 * size) for size in (20, 100, 200)}))
    assert [(one.effect.value, one.holds) for one in no_loss.compared] == [(0, False), (0, None)]


def test_a_policy_that_loses_at_one_size_does_not_save_at_any_size() -> None:
    costs = POLICY | {300: (500.0, 400.0)}
    found = judged("hybrid-saves", packets(costs, ("each",)))
    (one,) = found.compared
    assert one.holds is False
    # All sizes together save; what is told is the size that does not.
    assert (one.parts[0].says, one.parts[0].effect.value < 0) == ("all sizes", True)
    assert one.failing == ["RC4 at 300 B"]
    assert one.effect.what == "what RC4 costs over AES at 300 B"
    assert one.effect.value == pytest.approx(25)


def test_a_capture_does_not_turn_the_verdict_on_ciphers() -> None:
    frames = Capture({("data", 19): 7, ("management", 20): 3000, ("data", 100): 4})
    assert judged("hybrid-saves", run_of(packets(POLICY), capture=frames)) == judged("hybrid-saves", packets(POLICY))


# ---------- advice


def test_sizes_about_the_line_are_passed_over_and_below_it_aes_is_to_be_the_cheaper_one() -> None:
    costs = {74: (200.0, 100.0), 75: (1.0, 9.0), 125: (9.0, 1.0), 126: (300.0, 400.0)}
    found = judged("advice-rc4-100", packets(costs))
    assert (
        whats(found)
        == [
            "what AES costs over RC4 at 74 B, where it saves least,",
            "what RC4 costs over AES at 126 B, where it saves least,",
        ]
        * 2
    )
    assert values(found) == pytest.approx([-50, -25] * 2)
    each, ready = "libtomcrypt, a key for each packet", "libtomcrypt, key ready"
    assert [one.cases for one in found.compared] == [each, each, ready, ready]
    assert [one.holds for one in found.compared] == [True, True, None, None]
    assert found.compared[0].bounds is not None
    assert found.compared[0].bounds.described() == "at most 0 % (our bound)"
    # Costing as much is no saving, and what fails stands first.
    found = judged("advice-rc4-100", packets(costs | {126: (400.0, 400.0)}))
    assert [one.holds for one in found.compared] == [False, True, None, None]
    assert [one.answers[ERA] for one in found.findings] == ["reproduced", "not reproduced"]


def test_of_several_sizes_the_one_that_saves_least_is_told_and_all_must_save() -> None:
    costs = {20: (400.0, 100.0), 74: (110.0, 100.0), 126: (300.0, 400.0), 1500: (100.0, 400.0)}
    found = judged("advice-rc4-100", packets(costs, ("each",)))
    assert values(found) == pytest.approx([100 * (100 / 110 - 1), -25])
    assert found.verdict == "reproduced"
    found = judged("advice-rc4-100", packets(costs | {20: (90.0, 100.0)}, ("each",)))
    assert whats(found)[0] == "what AES costs over RC4 at 20 B, where it saves least,"
    assert found.verdict == "not reproduced"


def test_tables_and_a_key_for_each_packet_decide_the_advice() -> None:
    good, bad = packets({74: (200.0, 100.0)}), packets({74: (100.0, 200.0)}, ("ready",))
    soft = [{**one, **SOFT} for one in packets({74: (100.0, 200.0)}, ("each",))]
    soft = [{**one, "path": "portable" if one["family"] == "rc4" else "fixsliced"} for one in soft]
    found = judged("advice-rc4-100", [*bad, *soft, *good[2:]])
    kinds = {(one.implementation, one.cases.rpartition(", ")[2], one.holds) for one in found.compared}
    assert kinds == {
        (ERA, "a key for each packet", True),
        (CONSTANT_TIME, "a key for each packet", False),
        (ERA, "key ready", None),
    }
    assert found.findings[0].answers == {ERA: "reproduced", CONSTANT_TIME: "not reproduced"}


def test_what_rc4_costs_over_the_best_sound_cipher_is_told_at_the_largest_packet_of_both() -> None:
    rows = packets({74: (200.0, 100.0), 1000: (3000.0, 100.0)})
    # The first of two codes of RC4 counts, and only at the papers' key.
    rows += [exact("rc4", 9e9, payload_B=1000, keying="each", provider="b")]
    rows.insert(0, exact("rc4", 7.0, payload_B=1000, keying="each", key_bits=40))

    def sealing(cost: float, size: int, cipher: str = "chacha20-poly1305", provider: str = "a") -> dict[str, Any]:
        of = {"cipher": cipher, "operation": "seal", "mode": "aead"}
        return exact("chacha20", cost, payload_B=size, provider=provider, **of)

    rows += [sealing(2000.0, 1000), sealing(2500.0, 1000, provider="b"), sealing(1.0, 2000), sealing(1.0, 74)]
    rows += [sealing(1.0, 1000, cipher="of-nobody")]
    sentence = judged("advice-rc4-100", rows, security=SOUND).sentence
    assert (
        "Today RC4 with a key for each packet costs +50 to +50 % over chacha20-poly1305 at 1,000 B, which also"
        in sentence
    )
    assert "RC4 is broken: it may not be used whatever it saves (RFC 7465)." in sentence
    assert "Today" not in judged("advice-rc4-100", rows).sentence
    assert "may not be used" not in judged("advice-rc4-100", rows).sentence


@pytest.mark.parametrize(
    ("blowfish", "rc6", "holds"),
    [(0.5, 0.75, [True, True]), (0.5, 1.25, [True, False]), (1.0, 0.5, [False, True]), (2.0, 1.0, [False, False])],
)
def test_of_blowfish_and_rc6_each_must_save(blowfish: float, rc6: float, holds: list[bool]) -> None:
    costs = {"aes": 1.0, "blowfish": blowfish, "rc6": rc6}
    found = judged("advice-blowfish-rc6", [exact(name, 1e6 * cost, data="text") for name, cost in costs.items()])
    by_finding = {one.finding: one for one in found.compared}
    mine = [by_finding[f"{name} saves over AES"] for name in ("Blowfish", "RC6")]
    assert [one.effect.value for one in mine] == pytest.approx([100 * (blowfish - 1), 100 * (rc6 - 1)])
    assert [one.holds for one in mine] == holds
    assert (found.verdict == "reproduced") is all(holds)
    assert "Today" not in found.sentence


def test_what_following_the_advice_costs_beside_the_cheapest_sound_cipher_is_told() -> None:
    rows = [exact(name, 1e6, data="text") for name in ("aes", "blowfish", "rc6")]
    rows += [exact("blowfish", 3000.0, payload_B=1000), exact("blowfish", 2400.0, payload_B=1000, provider="b")]
    rows += [exact("blowfish", 1.0, payload_B=500), exact("blowfish", 1.0, payload_B=1000, key_bits=32)]
    rows += [exact("rc6", 1.0, payload_B=500)]
    sealed = {"operation": "seal", "cipher": "chacha20-poly1305", "mode": "aead"}
    rows += [exact("chacha20", cost, payload_B=size, **sealed) for cost, size in ((1600.0, 1000), (2000.0, 1000))]
    rows += [exact("chacha20", 0.1, payload_B=500, **sealed)]
    security = SOUND | {"rc6128-cbc": Security(128, 128, "legacy", False)}
    sentence = judged("advice-blowfish-rc6", rows, security=security).sentence
    assert sentence.endswith(
        " Today: blowfish128-cbc costs +50 to +50 % over chacha20-poly1305, which also authenticates; "
        "RC6 is legacy and authenticates nothing."
    )
    both = security | {"blowfish128-cbc": Security(64, 128, "broken", False)}
    assert (
        "authenticates; Blowfish is broken and authenticates nothing; RC6 is legacy"
        in judged("advice-blowfish-rc6", rows, security=both).sentence
    )


def test_ten_decryptions_stand_against_one_encryption() -> None:
    wide = {"half_width_percent": 10.0}
    rows = [exact("aes", 11e3, data="text", **wide), exact("aes", 1.1e3, data="text", operation="decrypt", **wide)]
    for number, name in enumerate(("rc6", "blowfish", "des", "3des", "rc2")):
        rows += [
            exact(name, 1e3 * cost * (1 + number), data="text", operation=operation)
            for operation, cost in (("encrypt", 11.0), ("decrypt", 3.3))
        ]
    # A code that can't decrypt comes first, and is passed over.
    rows += [{**one, "provider": "alone"} for one in rows if one["operation"] == "encrypt"]
    found = judged("advice-aes-decrypt-often", rows)
    # AES: (11 + 10 * 1.1) / 11 = 2; RC6, the cheapest of the others: (11 + 10 * 3.3) / 11 = 4.
    assert values(found) == pytest.approx([0.5])
    assert whats(found) == ["AES over RC6, 10 decryptions for each encryption,"]
    # Half of AES's 2 is of either kind, each 10 % wide.
    assert found.compared[0].effect.high / 0.5 == pytest.approx(1.1 ** (sqrt(2) / 2))
    assert found.compared[0].holds is True


@pytest.mark.parametrize(
    ("bits", "attack_bits", "verdict"),
    [
        (111, None, "reproduced"),
        (128, 100.0, "reproduced"),
        (113, None, "not reproduced"),
        (128, 126.1, "not reproduced"),
    ],
)
def test_the_work_of_the_best_attack_is_held_against_one_bound(
    bits: float, attack_bits: float | None, verdict: str
) -> None:
    security = {
        "aes128-gcm": Security(5, 128, "later", True),
        "aes128-ccm": Security(bits, 128, "first", True, attack_bits, "rated at so many bits; with bicliques"),
        "aes": Security(3, 128, "another", True),
    }
    found = judged("aes-128-crackable", nothing(security=security))
    assert found.verdict == verdict
    work = bits if attack_bits is None else attack_bits
    assert found.effect is not None
    assert found.effect[1:] == ("bit", work, work, work)
    assert found.compared[0].cases == "status first"
    assert found.sentence.count("(our bound)") == 1
    assert "0 to 112 bit (our bound)" in found.sentence
    assert "AES-128 is rated at so many bits; with bicliques." in found.sentence


# ---------- Rijndael


def grid(of: Mapping[tuple[int, int], float], decrypt: float = 1.0, **more: Any) -> Rows:
    """The nine cases at 1 each, or what `of` has of a block and a key."""
    return [
        exact(
            f"rijndael{block}",
            1e6 * of.get((block, bits), 1.0) * (decrypt if operation == "decrypt" else 1),
            cipher=f"rijndael{block}-{bits}-cbc",
            key_bits=bits,
            block_bits=block,
            operation=operation,
            **more,
        )
        for block in (128, 192, 256)
        for bits in (128, 192, 256)
        for operation in ("encrypt", "decrypt")
    ]


EQUAL = {(128, 128): 0.5, (192, 192): 0.6, (256, 256): 0.7}


def test_the_least_of_each_key_and_the_front_are_told() -> None:
    found = judged("rijndael-pareto", grid(EQUAL))
    # The nearest is 192/192 with 0.6 against 1 for all other blocks of its key; 256 has 0.7.
    assert values(found) == pytest.approx([1 / 0.7] * 2)
    assert found.verdict == "reproduced"
    assert (
        "To encrypt with libtomcrypt the least by block/key are 128/128, 192/192, 256/256; on the general front of "
        "energy, key and block are 128/128, 192/192, 256/256." in found.sentence
    )
    one_off = judged("rijndael-pareto", grid({**EQUAL, (256, 128): 0.4}))
    assert values(one_off) == pytest.approx([0.8, 0.8])
    assert one_off.compared[0].failing == ["key 128: block 128 before 256"]
    assert one_off.verdict == "not reproduced"
    assert "are 192/192, 256/128, 256/256; on the general" in one_off.sentence


def test_a_choice_is_on_the_front_where_half_of_the_draws_have_it() -> None:
    # 192/128 against 192/192, which is as large and stronger: on the front where it is the cheaper one of the two.
    likely = grid({**EQUAL, (192, 128): 0.594}, half_width_percent=2.0)
    rare = grid({**EQUAL, (192, 128): 0.606}, half_width_percent=2.0)
    front = [
        judged("rijndael-pareto", rows).sentence.partition("and block are ")[2].partition(".")[0]
        for rows in (likely, rare)
    ]
    assert ["192/128" in one for one in front] == [True, False]
    assert all("128/128" in one and "192/192" in one and "256/256" in one for one in front)


def test_two_steps_of_a_profile_must_both_hold_and_the_one_that_fails_is_told() -> None:
    def rows(medium: float, high: float) -> Rows:
        return grid({(128, 128): 1.0, (192, 192): medium, (256, 256): high})

    four = [
        "medium over low, to encrypt",
        "high over medium, to encrypt",
        "medium over low, to decrypt",
        "high over medium, to decrypt",
    ]
    holds = judged("rijndael-profiles", rows(1.1, 1.1 * 1.08))
    assert values(holds) == pytest.approx([10, 8] * 2)
    assert [one.finding for one in holds.compared] == [one.says for one in holds.findings] == four
    late = judged("rijndael-profiles", rows(1.1, 1.1 * 1.5))
    assert [one.answers[ERA] for one in late.findings] == ["reproduced", "not reproduced"] * 2
    assert (late.effect and late.effect.value) == pytest.approx(50)
    early = judged("rijndael-profiles", rows(1.5, 1.5 * 1.5))
    assert whats(early)[0] == "medium over low, to encrypt,"


def rising(**more: Any) -> Rows:
    costs = {(b, k): 1 + k / 256 + b / 4096 for b in (128, 192, 256) for k in (128, 192, 256)}
    return grid(costs, decrypt=1.14, **more)


def test_decryption_is_predicted_by_each_provider_that_has_nine_cases_that_differ() -> None:
    flat = grid({}, provider="flat")
    one_way = [one for one in rising(provider="aside") if one["operation"] == "encrypt"]
    eight = [one for one in rising(provider="eight") if one["cipher"] != "rijndael128-128-cbc"]
    small = grid({}, decrypt=9.0, payload_B=9)
    found = judged("decrypt-vs-encrypt", [*flat, *one_way, *eight, *small, *rising()])
    assert [one.cases for one in found.compared] == ["libtomcrypt"] * 2
    assert values(found) == pytest.approx([1.14, 1.0])
    assert whats(found) == ["decryption over encryption", "R^2 of decryption by encryption"]
    assert "With libtomcrypt a case left out is predicted within 0.0 % (root mean" in found.sentence
    assert found.verdict == "reproduced"


@pytest.mark.parametrize(("kinds", "judges"), [(3, False), (4, True)])
def test_a_prediction_needs_four_costs_that_differ(kinds: int, judges: bool) -> None:
    places = [(b, k) for b in (128, 192, 256) for k in (128, 192, 256)]
    costs = {place: 1 + min(number, kinds - 1) / 10 for number, place in enumerate(places)}
    assert bool(judged("decrypt-vs-encrypt", grid(costs, decrypt=1.14)).compared) is judges


def test_tables_decide_and_both_directions_are_findings() -> None:
    soft = grid(EQUAL, **SOFT)
    rows = [*soft, *grid({}), *grid(EQUAL, provider="alpha")]
    found = judged("rijndael-pareto", rows)
    assert [(one.implementation, one.library) for one in found.compared if one.finding == "to encrypt"] == [
        (ERA, "alpha"),
        (ERA, "libtomcrypt"),
        (CONSTANT_TIME, "built in"),
    ]
    assert found.verdict == "depends on the implementation"
    both = {"software of the papers’ era": "depends on the implementation", CONSTANT_TIME: "reproduced"}
    assert [(one.says, one.answers) for one in found.findings] == [("to encrypt", both), ("to decrypt", both)]


# ---------- a battery


def captured(frames: Mapping[tuple[str, int], int], **more: Any) -> Judgement:
    return judged("packet-sizes", nothing(capture=Capture(frames, **more)))


HOUR = {("management", 100): 500, ("data", 100): 100, ("control", 14): 200, ("data", 1024): 200}


def test_the_lead_of_a_bin_is_in_percent_of_all_frames_with_the_error_of_two_counts() -> None:
    effect = {one.effect.what.split(" ")[1]: one.effect for one in captured(HOUR).compared}["lead"]
    half = 100 * 1.96 * sqrt(600 + 200) / 1000
    assert effect[1:] == ("%", about(40), about(40 - half), about(40 + half))
    lost = captured(HOUR, left_out={"cut": 30, "bad": 20})
    effect = {one.effect.what.split(" ")[1]: one.effect for one in lost.compared}["lead"]
    assert effect[2:] == pytest.approx((40, 40 - half - 5, 40 + half + 5))


def test_sizes_at_the_ends_of_the_bin_are_in_it() -> None:
    ends = {("management", 64): 50, ("control", 127): 50, ("control", 63): 10, ("data", 128): 20}
    found = {one.effect.what: one for one in captured(ends).compared}
    lead, share, median = (
        next(one for what, one in found.items() if word in what) for word in ("lead", "share", "med")
    )
    assert lead.effect.value == pytest.approx(100 * (100 - 20) / 130)
    assert (share.effect.value, share.cases) == (about(100), "100 frames")
    assert share.effect.what == "the share of control and management among frames of 64 to 127 B"
    assert (median.effect.value, median.cases) == (128, "20 data frames")
    no_data = captured({key: count for key, count in ends.items() if key[0] != "data"})
    assert len(no_data.compared) == 2


def test_a_capture_with_one_size_alone_leads_by_all_and_one_without_that_size_has_no_share() -> None:
    lead, share = (one.effect for one in captured({("management", 100): 400}).compared)
    assert (lead.value, share.value) == (100, 100)
    by_holds = {one.holds: one.effect for one in captured({("data", 1024): 400}).compared}
    assert by_holds[False].value == -100
    assert isnan(by_holds[None].value)
    assert by_holds[None][3:] == (0, 100)


def test_a_share_has_wilsons_interval_between_nothing_and_all() -> None:
    # By his formula with 1.96: 8 of 10 give 0.4902 to 0.9433, 5 of 10 0.2366 to 0.7634.
    assert _wilson(8, 10) == pytest.approx((0.49016, 0.94332), abs=1e-5)
    assert _wilson(5, 10) == pytest.approx((0.23659, 0.76341), abs=1e-5)
    assert _wilson(30, 40) == pytest.approx((0.59806, 0.85813), abs=1e-5)
    assert _wilson(0, 10) == pytest.approx((0, 0.27754), abs=1e-5)
    assert _wilson(10, 10) == pytest.approx((0.72246, 1), abs=1e-5)
    assert _wilson(0, 0) == (0, 1)
    # However the sums are rounded.
    assert all(0 <= _wilson(0, many)[0] < 1e-12 for many in range(1, 60))
    assert all(1 - 1e-12 < _wilson(many, many)[1] <= 1 for many in range(1, 60))
    share = next(one.effect for one in captured(HOUR, left_out={"bad": 40}).compared if "share" in one.effect.what)
    assert share[2:] == pytest.approx((100 * 500 / 600, 100 * _wilson(500, 640)[0], 100 * _wilson(540, 640)[1]))


def test_the_median_has_its_interval_by_ranks() -> None:
    sizes = {("data", 900): 40, ("data", 1000): 10, ("data", 1100): 10, ("data", 1200): 40}
    median = next(one.effect for one in captured(sizes).compared if "median" in one.effect.what)
    # Of 100 the ranks 50, and 9.8 to either side.
    assert median[2:] == (1000, 1000, 1100)
    wider = captured(sizes, left_out={"bad": 1})
    # One lost frame is half a rank to either side: 39.7 is among the 40 of 900 B, 60.3 among those of 1200 B.
    assert next(one.effect for one in wider.compared if "median" in one.effect.what)[2:] == (1000, 900, 1200)


@pytest.mark.parametrize(("rank", "size"), [(-5, 10), (0.5, 10), (3, 10), (3.5, 20), (5, 20), (6, 30), (9, 30)])
def test_a_rank_beyond_the_ends_is_at_the_end(rank: float, size: float) -> None:
    assert _at_rank([(10, 3), (20, 2), (30, 1)], rank) == size
