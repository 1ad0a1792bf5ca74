"""What judges judge by: which cases count, what one costs over another, and on which grounds ciphers are compared."""

from typing import Any

import polars as pl
import pytest

from support.papers_evidence import PAPERS, row, run_of
from wattlock.analysis.effects import Ratio
from wattlock.papers.implementations import (
    BUILT_IN,
    CONSTANT_TIME,
    ERA,
    HARDWARE,
    OTHER,
    CaseCost,
    ComparableCases,
    by_library,
    grounds,
    kind_of,
    largest,
    library,
)
from wattlock.papers.judge import Capture, DischargeCurve, Security

TIME, ENERGY = PAPERS.claim("text-encrypt-ranking"), PAPERS.claim("blowfish-vs-aes-text")


def cases(*rows: dict[str, Any], **factors: object) -> list[CaseCost]:
    return run_of(rows).cases(TIME, **factors)


def providers(found: list[ComparableCases]) -> list[str]:
    return [one.providers for one in found]


@pytest.mark.parametrize(
    ("factor", "plain", "other"),
    [
        ("keying", "ready", "each"),
        ("encoding", "raw", "hex"),
        ("placement", "hot", "L2"),
        ("pattern", "independent", "chained"),
        ("aad_B", 0, 1),
    ],
)
def test_a_case_that_is_not_plain_counts_only_where_it_is_asked_for(factor: str, plain: object, other: object) -> None:
    rows = [row("aes", 1.0, **{factor: plain}), row("aes", 2.0, **{factor: other})]
    assert [case.cost for case in cases(*rows)] == [1.0]
    assert [case.cost for case in cases(*rows, **{factor: other})] == [2.0]
    assert cases(*rows, operation="decrypt") == []


@pytest.mark.parametrize(
    ("more", "counts"),
    [
        ({"state": "resolved"}, True),
        ({"state": "unresolved"}, True),
        ({"state": "failed"}, False),
        ({"processes": 2}, True),
        ({"processes": 1}, False),
        ({"time_ns": None}, False),
    ],
)
def test_what_was_measured_in_several_processes_counts(more: dict[str, Any], counts: bool) -> None:
    assert bool(cases({**row("aes", 1.0), **more}, row("rc4", 1.0))[:-1]) is counts


def test_a_case_has_the_cost_and_the_lengths_of_its_row_and_none_where_there_are_none() -> None:
    bare = {**row("aes", 7.0, payload_B=3, half_width_percent=10), "key_bits": None, "block_bits": None}
    (full, empty) = cases(row("aes", 5.0, key_bits=192, block_bits=256), bare)
    assert (full.key_bits, full.block_bits, full.cost) == (192, 256, 5.0)
    assert (empty.key_bits, empty.block_bits, empty.payload_B, empty.cost) == (0, 0, 3, 7.0)
    assert full.name == ("aes192-cbc", "libtomcrypt", 100_000, "random")


@pytest.mark.parametrize(
    ("mine", "theirs", "value"), [((300, 100), (100, 50), 1.5), ((10, 1), (100, 100), 10), ((500, 0), (100, 0), 5)]
)
def test_one_case_over_another_is_by_the_byte_and_by_the_call_without_bytes(
    mine: tuple[float, int], theirs: tuple[float, int], value: float
) -> None:
    a, b = (row("aes", cost, payload_B=size, half_width_percent=10) for cost, size in (mine, theirs))
    over, under = cases(a, b)
    found = over.over(under)
    assert found.value == pytest.approx(value)
    # Two half-widths of 10 % join as the root of two squares.
    assert found.high / found.value == pytest.approx(1.1**2**0.5)
    assert found.value / found.low == pytest.approx(1.1**2**0.5)


def metered(**more: Any) -> dict[str, Any]:
    return row("aes", 1e6, energy_uJ=3.0, energy_evidence="measured", energy_random_percent=5.0) | more


def test_joules_count_where_a_meter_weighed_and_the_claim_is_on_energy() -> None:
    rows = [metered(), metered(energy_evidence="modelled")]
    run = run_of(rows)
    assert run.is_metered
    assert [case.cost for case in run.cases(ENERGY)] == [3.0]
    assert [case.cost for case in run.cases(TIME)] == [1e6, 1e6]
    assert run.cases(ENERGY)[0].sigma == pytest.approx(run.cases(TIME)[0].sigma * 24.417, rel=1e-3)
    assert run.rests_on(ENERGY) == "measured energy"
    assert run.rests_on(TIME) == "measured time"
    modelled = run_of(rows[1:])
    assert not modelled.is_metered
    assert [case.cost for case in modelled.cases(ENERGY)] == [1e6]
    assert modelled.rests_on(ENERGY).endswith("no meter measured it")
    assert not run_of([{key: value for key, value in metered().items() if key != "energy_random_percent"}]).is_metered
    assert not run_of([row("aes", 1e6)]).is_metered


def test_a_run_is_of_a_claims_machine_where_any_of_its_names_is_among_them() -> None:
    claim = PAPERS.claim("aes-low-power-devices")
    frame = pl.DataFrame([row("aes", 1.0)])
    said = {
        name: run_of(frame.to_dicts(), machine=name).is_of(claim) for name in [("computer",), ("computer", "handheld")]
    }
    assert said == {("computer",): False, ("computer", "handheld"): True}
    assert run_of(frame.to_dicts(), machine=()).is_of(TIME)


@pytest.mark.parametrize(
    ("family", "path", "kind"),
    [
        ("aes", "tables", ERA),
        ("rijndael192", "tables", ERA),
        ("rijndael256", "portable", ERA),
        ("aes", "fixsliced", CONSTANT_TIME),
        ("aes", "bitsliced", CONSTANT_TIME),
        ("aes", "ssse3", CONSTANT_TIME),
        ("aes", "aesni", HARDWARE),
        ("aes", "vaes512", HARDWARE),
        ("aes", "armv8", HARDWARE),
        ("aes", "hardware", HARDWARE),
        # Of AES a library may have any code: one that tells no path decides nothing.
        ("aes", None, OTHER),
        ("rijndael128", None, OTHER),
        # Of a cipher of then a library has scalar code, unless it says more.
        ("des", None, ERA),
        ("blowfish", "portable", ERA),
        ("des", "tables", ERA),
        ("rc6", "avx512", OTHER),
        ("rc2", "neon", OTHER),
    ],
)
def test_the_kind_of_a_code_is_that_of_its_path(family: str, path: str | None, kind: str) -> None:
    assert kind_of({"family": family, "path": path}) == kind


@pytest.mark.parametrize(
    ("provider", "of"),
    [
        ("rustcrypto", BUILT_IN),
        ("rustcrypto-soft", BUILT_IN),
        ("wattlock", BUILT_IN),
        ("wattlock-tables", BUILT_IN),
        ("openssl", "openssl"),
        ("openssl-tables", "openssl"),
        ("libtomcrypt", "libtomcrypt"),
        ("mine", "mine"),
    ],
)
def test_what_is_built_in_is_one_library_and_openssls_two_ways_are_one(provider: str, of: str) -> None:
    assert library(provider) == of


# ---------- grounds


def of(family: str, provider: str, cost: float = 1.0, **more: Any) -> dict[str, Any]:
    return row(family, cost, provider=provider, **more)


def test_the_papers_key_and_mode_are_the_ones_compared_and_the_first_case_of_a_kind() -> None:
    rows = [
        of("aes", "a", 1.0, key_bits=256),
        of("aes", "a", 2.0, mode="ctr"),
        of("aes", "a", 3.0),
        of("aes", "a", 4.0),
        of("rc4", "a", 5.0, mode="ctr"),
        of("rc4", "a", 6.0, mode="stream"),
        # A family of which the papers have no key counts with any.
        of("seed", "a", 7.0, key_bits=77),
    ]
    (found,) = grounds(cases(*rows), ["aes", "rc4", "seed"])
    assert {family: case.cost for family, case in found.cases.items()} == {"aes": 3.0, "rc4": 6.0, "seed": 7.0}
    assert grounds(cases(*rows[:2], *rows[4:]), ["aes", "rc4"]) == []


@pytest.mark.parametrize(
    ("family", "bits"),
    [
        ("aes", 128),
        ("des", 64),
        ("3des", 192),
        ("rc2", 64),
        ("blowfish", 128),
        ("rc6", 128),
        ("rc4", 128),
        ("xor", 128),
    ],
)
def test_each_family_is_compared_at_the_papers_key(family: str, bits: int) -> None:
    for key_bits, stands in ((bits, 1), (bits - 8, 0), (bits + 8, 0)):
        assert len(grounds(cases(of(family, "a", key_bits=key_bits)), [family])) == stands


def test_a_ground_needs_all_families_of_one_library() -> None:
    rows = [of("rc4", "botan"), of("aes", "nettle"), of("aes", "openssl-tables"), of("rc4", "openssl", path=None)]
    assert providers(grounds(cases(*rows), ["aes", "rc4"])) == ["openssl-tables, openssl"]
    assert grounds(cases(*rows), ["aes", "rc4", "des"]) == []
    assert providers(grounds(cases(*rows), ["rc4"])) == ["botan", "openssl"]


def test_beside_each_kind_of_aes_stands_what_the_library_has_of_the_papers_era() -> None:
    rows = [
        of("aes", "rustcrypto", path="vaes512"),
        of("aes", "rustcrypto-soft", path="fixsliced"),
        of("aes", "wattlock-tables"),
        of("rc6", "wattlock", path="avx512"),
        of("rc6", "rustcrypto", 5.0, path="portable"),
        of("aes", "odd", path=None),
        of("rc6", "odd", path=None),
        of("aes", "alone"),
        of("rc6", "alone"),
    ]
    found = grounds(cases(*rows), ["aes", "rc6"])
    assert [(one.kind, one.library, one.providers) for one in found] == [
        (ERA, BUILT_IN, "wattlock-tables, rustcrypto"),
        (ERA, "alone", "alone"),
        (CONSTANT_TIME, BUILT_IN, "rustcrypto-soft, rustcrypto"),
        (HARDWARE, BUILT_IN, "rustcrypto"),
        (OTHER, "odd", "odd"),
    ]
    assert {one.cases["rc6"].cost for one in found if one.library == BUILT_IN} == {5.0}


def test_of_two_codes_of_one_library_and_kind_that_by_tables_is_taken() -> None:
    rows = [of("des", "rustcrypto", 100.0, path="portable"), of("des", "wattlock-tables", 45.0)]
    for ordered in (rows, rows[::-1]):
        (found,) = grounds(cases(*ordered), ["des"])
        assert found.cases["des"].cost == 45.0
        assert [case.cost for case in by_library(cases(*ordered))[ERA, BUILT_IN]] == [45.0, 100.0]


def test_what_is_built_in_stands_first_and_then_libraries_by_name() -> None:
    rows = [of("des", name) for name in ("zeta", "rustcrypto", "alpha")]
    assert [one.library for one in grounds(cases(*rows), ["des"])] == [BUILT_IN, "alpha", "zeta"]
    assert list(by_library(cases(*rows))) == [(ERA, BUILT_IN), (ERA, "alpha"), (ERA, "zeta")]


def test_the_largest_payload_is_that_of_the_cases_that_are_kept() -> None:
    found = cases(*(of("aes", name, payload_B=size) for name, size in (("a", 10), ("b", 30), ("c", 30), ("a", 20))))
    # Of each library its own largest: what another has changes nothing.
    assert [(case.provider, case.payload_B) for case in largest(found)] == [("b", 30), ("c", 30), ("a", 20)]
    assert [case.payload_B for case in largest(found, lambda one: one.provider == "a")] == [20]
    assert largest([]) == []
    (empty,) = cases(of("aes", "a", payload_B=0))
    assert largest([empty]) == [empty]


# ---------- what others answered


def test_frames_of_80211_are_counted_by_size_and_what_was_left_out_is_said() -> None:
    frames = {("management", 100): 5, ("data", 100): 7, ("control", 14): 2, ("extension", 9): 1, ("tcp", 100): 40}
    capture = Capture(frames, {"with a wrong FCS": 1200, "empty": 0, "too short": 1}, is_cut=True)
    assert capture.sizes == {100: 12, 14: 2, 9: 1}
    assert capture.left_out_sentence == (
        "Left out: 1,200 with a wrong FCS, 1 too short, all from where the file ends within a packet."
    )
    assert Capture(frames, {"empty": 0}).left_out_sentence == ""
    assert Capture(frames).left_out_sentence == ""


def test_a_fall_names_its_cipher_and_whose_code_it_is_where_that_is_known() -> None:
    left = Ratio(99.0, 98.0, 99.5)
    assert DischargeCurve("3des-cbc", 5, 600, left, "BAT0", "measured").case == "3des-cbc"
    assert DischargeCurve("3des-cbc", 5, 600, left, "BAT0", "measured", "openssl").case == "3des-cbc of openssl"
    assert not Security(128, 128, "broken", authenticated=False).sound
