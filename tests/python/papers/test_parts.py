"""What a comparison takes together, pair by pair and cipher by cipher: what does not hold is named."""

from typing import Any

from support.papers_evidence import PAPERS, row, run_of
from wattlock.papers.implementations import CONSTANT_TIME, ERA, HARDWARE, OTHER, kind_of
from wattlock.papers.judge import Judgement, failing
from wattlock.papers.themes import JUDGES
from wattlock.papers.verdicts import table

Rows = list[dict[str, Any]]


def judged(name: str, rows: Rows) -> Judgement:
    return JUDGES[name](PAPERS.claim(name), run_of(rows))


def ordered(costs: dict[str, float], **factors: Any) -> Rows:
    return [row(name, 1e6 * cost, **factors) for name, cost in costs.items()]


def test_the_pairs_of_a_finding_that_do_not_hold_are_named() -> None:
    order = PAPERS.claim("text-encrypt-ranking").expect["order"]
    costs = dict(zip(order, (2.0, 3.0, 1.0, 4.0, 5.0, 6.0), strict=True))
    found = judged("text-encrypt-ranking", ordered(costs, data="text"))
    first, *others = found.compared
    names = ["RC6", "AES", "DES", "3DES", "RC2"]
    assert [part.says for part in first.parts] == [f"Blowfish before {name}" for name in names]
    assert [part.holds for part in first.parts] == [True, False, True, True, True]
    assert first.parts[1].effect == first.effect
    assert first.failing == ["Blowfish before AES"]
    assert [one.failing for one in others] == [["RC6 before AES"], [], [], []]
    assert "Of its 5 parts 1 do not hold there: Blowfish before AES." in found.sentence
    (row,) = table([found], PAPERS).iter_rows(named=True)
    assert row["failing"] == ["Blowfish before AES", "RC6 before AES"]
    assert [part["holds"] for part in row["comparisons"][0]["parts"]] == [True, False, True, True, True]


def test_pairs_that_hold_with_some_libraries_alone_are_named_with_those() -> None:
    costs = {"aes": 1.0, "blowfish": 2.0, "des": 3.0, "3des": 4.0}
    turned = {"aes": 5.0, "blowfish": 2.0, "des": 3.0, "3des": 4.0}
    rows = [*ordered(costs, data="text"), *ordered(turned, data="text", provider="openssl")]
    found = judged("blowfish-good-cited", rows)
    assert failing(found, ERA) == [f"AES before {name} (with openssl)" for name in ("DES", "3DES")]
    assert failing(found, ERA, "AES before DES") == ["AES before DES (with openssl)"]
    assert failing(found, CONSTANT_TIME) == failing(found, HARDWARE) == []


def test_what_an_advice_leaves_out_is_said() -> None:
    found = judged("advice-blowfish-rc6", ordered({"aes": 1.0, "blowfish": 0.5, "rc6": 0.6}, data="text"))
    assert found.evidence.endswith("of the host alone: the air is the same for all")


def test_without_rsa_the_claim_says_what_to_install() -> None:
    rows = [row("aes", 1e3, operation=operation, payload_B=190) for operation in ("encrypt", "decrypt")]
    found = judged("asymmetric-vs-symmetric", rows)
    assert found.verdict == "not tested"
    assert "install libcrypto (libssl3 of Debian and Ubuntu)" in found.needs


def test_decryption_of_several_blocks_side_by_side_is_no_code_of_the_papers_era() -> None:
    def kind(family: str, operation: str, provider: str = "libgcrypt") -> str:
        return kind_of({"family": family, "path": None, "operation": operation, "provider": provider})

    assert [kind(family, "decrypt") for family in ("3des", "blowfish", "des")] == [OTHER, OTHER, ERA]
    assert kind("3des", "encrypt") == kind("3des", "decrypt", "openssl") == ERA


def test_data_that_costs_one_cipher_more_is_not_lost_in_the_mean_of_six() -> None:
    names = ("aes", "des", "3des", "rc2", "blowfish", "rc6")

    def rows(of_rc6: float, of_des: float = 1.0) -> Rows:
        more = {"rc6": of_rc6, "des": of_des}
        text = [row(name, 1e6, data="text") for name in names]
        return [*text, *(row(name, 1e6 * more.get(name, 1.0), data="video") for name in names)]

    alike, apart = judged("data-type", rows(1.003)), judged("data-type", rows(1.04, 1 / 1.04))
    assert [one.holds for one in alike.compared] == [True]
    assert alike.compared[0].cases == "libtomcrypt, the mean of 6 ciphers"
    # The mean of the six is nothing: 4 % more with one of them, as much less with another.
    assert apart.compared[0].holds is False
    assert apart.compared[0].failing == ["des64-cbc", "rc6128-cbc"]
    assert apart.compared[0].effect.what == "what video costs over text with rc6128-cbc"
    assert apart.compared[0].cases == "libtomcrypt, 2 of 6 ciphers differ"
