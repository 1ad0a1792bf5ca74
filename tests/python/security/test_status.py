"""How ciphers stand: every id resolves, every statement has a source, and nothing broken passes for approved."""

import json
import math
import subprocess
from typing import Any

import pytest

from support.tree import PROBE, require_programs
from wattlock.errors import InputError
from wattlock.security import SecurityStatus, load, parse, statements, status_of

# What the design names beside the catalogue of ciphers: no listing of them is needed to hold this.
ESTABLISH = ["rsa2048-oaep", "rsa3072-oaep", "x25519", "ecdh-p256", "ed25519", "ecdsa-p256", "ml-kem-768", "ml-dsa-65"]
AEADS = {
    **{f"aes{key}-{mode}": key for key in (128, 192, 256) for mode in ("gcm", "ccm", "ccm8", "gcm-siv", "ocb3", "eax")},
    "chacha20-poly1305": 256,
    "xchacha20-poly1305": 256,
    "ascon-aead128": 128,
}


def facts(cipher: str, key_bits: int = 128, block_bits: int = 128, **more: Any) -> dict[str, Any]:
    row = {"id": cipher, "key_bits": key_bits, "effective_bits": key_bits, "block_bits": block_bits, "rounds": None}
    return {**row, "iv_B": 16, "tag_bits": 0, **more}


def listed() -> dict[str, SecurityStatus]:
    require_programs()
    rows = json.loads(subprocess.run([PROBE, "catalogue", "--format", "json"], capture_output=True, check=True).stdout)
    assert len(rows) > 100
    return {row["id"]: status_of(row) for row in rows}


def test_every_listed_id_has_a_standing_with_sources_and_a_strength() -> None:
    for name, stands in listed().items():
        assert {"status", "strength", "quantum"} <= {one.about for one in stands.statements}, name
        assert all(one.source for one in stands.statements), name
        assert (stands.strength_bits > 0) == (not name.startswith(("xor", "null"))), name


def test_nothing_that_is_broken_or_withdrawn_is_called_approved_or_acceptable() -> None:
    old = ("des", "3des", "rc2", "rc4", "rc5", "blowfish", "cast", "idea", "tea", "xtea", "present", "xor", "null")
    for name, stands in listed().items():
        if name.startswith(tuple(f"{word}-" for word in old)) or name in old or name.endswith("-ecb"):
            assert stands.status in {"legacy", "broken", "none"}, name
        if stands.strength_bits < 112:
            assert stands.status in {"legacy", "broken", "none"}, name


def test_only_what_nist_standardised_is_approved() -> None:
    approved = {name for name, stands in listed().items() if stands.status == "approved"}
    assert {"aes128-cbc", "aes256-ctr"} <= approved
    families = {name.partition("-")[0].rstrip("0123456789") for name in approved}
    # FIPS 197, SP 800-232; SP 800-38C and D of what protects frames.
    # SP 800-56A and B, FIPS 186-5, FIPS 203 and 204 of what establishes keys.
    assert families <= {"aes", "rijndael", "ascon", "rsa", "ecdh", "ecdsa", "ed", "ml", "ccmp", "gcmp"}
    assert "x25519" not in approved
    assert not any(name.startswith(("rijndael192", "rijndael256")) for name in approved)


@pytest.mark.parametrize("cipher", ESTABLISH)
def test_key_establishment_has_a_standing_without_any_fact(cipher: str) -> None:
    stands = status_of({"id": cipher})
    assert stands.strength_bits >= 112
    assert (stands.public_key, stands.authenticated, stands.tag_bits) == (True, None, None)
    assert (stands.quantum_strength_bits > 0) == cipher.startswith("ml-")


@pytest.mark.parametrize("cipher", ESTABLISH)
@pytest.mark.parametrize("length", [100, 9472])
def test_the_length_of_a_public_key_is_no_strength(cipher: str, length: int) -> None:
    facts_of_it = {"id": cipher, "key_bits": length, "effective_bits": length}
    assert status_of(facts_of_it) == status_of({"id": cipher})


@pytest.mark.parametrize("cipher", AEADS)
def test_an_aead_is_authenticated_and_says_how_often_a_nonce_may_be_used(cipher: str) -> None:
    stands = status_of(facts(cipher, AEADS[cipher], tag_bits=64 if cipher.endswith("8") else 128))
    assert stands.authenticated
    assert any(one.about == "nonce" for one in stands.statements)
    assert any((stands.data_limit_log2_B, stands.messages_log2, stands.forgeries_log2))
    assert [one.about for one in stands.statements].count("advantage") == 1


def test_a_short_tag_leaves_the_strength_and_limits_the_forgeries() -> None:
    short = status_of(facts("aes128-ccm8", tag_bits=64))
    whole = status_of(facts("aes128-ccm", tag_bits=128))
    assert (short.status, short.strength_bits, short.tag_bits, short.authenticated) == ("approved", 128, 64, True)
    assert (short.forgeries_log2, whole.forgeries_log2) == (31, 39)


def test_a_mode_that_is_not_for_messages_lowers_the_best_cipher() -> None:
    stands = status_of(facts("aes256-ecb", 256))
    assert stands.status == "legacy"
    assert "not for messages" in stands.statements[0].says


@pytest.mark.parametrize(("rounds", "bits", "expected"), [(8, 28, "broken"), (12, 44, "broken"), (20, 128, "legacy")])
def test_the_rounds_decide_what_is_left_of_rc5(rounds: int, bits: float, expected: str) -> None:
    stands = status_of(facts(f"rc5-32-{rounds}-128-cbc", block_bits=64, rounds=rounds))
    assert (stands.strength_bits, stands.status) == (bits, expected)


def test_a_short_effective_key_breaks_a_cipher_that_is_whole_with_a_long_one() -> None:
    row = facts("rc2-128-e64-cbc", block_bits=64)
    assert status_of({**row, "effective_bits": 64}).status == "broken"
    assert status_of({**row, "id": "rc2-128-cbc"}).status == "legacy"


ADVANTAGE_LOG2 = -32
BLOCKS_A_PACKET = 2**7


def log2(value: float) -> float:
    return math.log2(value)


@pytest.mark.parametrize(
    ("cipher", "block_bits", "blocks_log2"),
    # The chance of two equal blocks of q is q^2 / 2^(n + 1).
    [("blowfish128", 64, (65 - 32) / 2), ("aes128", 128, (129 - 32) / 2), ("rijndael256-256", 256, (257 - 32) / 2)],
)
@pytest.mark.parametrize("mode", ["cbc", "cfb", "ctr", "ofb"])
def test_a_mode_without_a_tag_is_limited_by_the_birthday_bound_at_the_one_advantage(
    cipher: str, block_bits: int, blocks_log2: float, mode: str
) -> None:
    stands = status_of(facts(f"{cipher}-{mode}", 256 if block_bits == 256 else 128, block_bits))
    assert stands.data_limit_log2_B == blocks_log2 + math.log2(block_bits / 8)
    assert stands.advantage_log2 == ADVANTAGE_LOG2
    limits = [one.says for one in stands.statements if one.about == "limit"]
    assert any(one.startswith(f"2^{blocks_log2:g} blocks: ") for one in limits)


def test_what_two_equal_blocks_tell_is_said_of_the_modes_that_have_them() -> None:
    said = {
        mode: " ".join(one.says for one in status_of(facts(f"aes128-{mode}")).statements if one.about == "limit")
        for mode in ("ecb", "cbc", "cfb", "ctr", "ofb")
    }
    assert "show at once" in said["ecb"]
    assert all("two equal blocks of ciphertext reveal the XOR" in said[mode] for mode in ("cbc", "cfb"))
    assert "no two blocks of key stream are equal" in said["ctr"]
    assert "run on alike" in said["ofb"]
    assert "two equal blocks of" not in said["ctr"] + said["ofb"]
    assert status_of(facts("aes128-ecb")).data_limit_log2_B is None


def test_a_lower_limit_that_a_standard_sets_counts_beside_the_bound() -> None:
    # SP 800-67 allows 2^20 blocks; 2^16.5 keep the advantage.
    assert status_of(facts("3des-cbc", 168, block_bits=64)).data_limit_log2_B == 19.5
    assert status_of(facts("3des-ecb", 168, block_bits=64)).data_limit_log2_B == 23


@pytest.mark.parametrize(
    ("cipher", "messages_log2", "forgeries_log2"),
    # draft-irtf-cfrg-aead-limits, Single-Key AEAD Limits, with p = 2^-32 and L = 2^7.
    [
        ("aes128-gcm", log2((2 ** (-32 / 2) * 2 ** (129 / 2) - 1) / (BLOCKS_A_PACKET + 1)), 64),
        ("aes128-ccm", log2(2 ** (-32 / 2) * 2**63 / BLOCKS_A_PACKET / 2), 39),
        ("aes128-ccm8", log2(2 ** ((127 - 32) / 2) / (2 * BLOCKS_A_PACKET)), 127 - 64 - 32),
        ("chacha20-poly1305", None, log2(2 ** (103 - 32) / (BLOCKS_A_PACKET + 1))),
        ("xchacha20-poly1305", None, log2(2 ** (103 - 32) / (BLOCKS_A_PACKET + 1))),
        ("gcmp128", log2((2 ** (-32 / 2) * 2 ** (129 / 2) - 1) / (BLOCKS_A_PACKET + 1)), 64),
        ("ccmp128", log2(2 ** ((127 - 32) / 2) / (2 * BLOCKS_A_PACKET)), 127 - 64 - 32),
        ("ccmp256", log2(2 ** (-32 / 2) * 2**63 / BLOCKS_A_PACKET / 2), 39),
    ],
)
def test_the_limits_of_an_aead_are_those_of_its_bound_at_the_one_advantage(
    cipher: str, messages_log2: float | None, forgeries_log2: float
) -> None:
    stands = status_of(facts(cipher, 256 if cipher == "ccmp256" else 128, tag_bits=128))
    assert stands.messages_log2 == (None if messages_log2 is None else pytest.approx(messages_log2, abs=0.05))
    assert stands.forgeries_log2 == pytest.approx(forgeries_log2, abs=0.05)


@pytest.mark.parametrize(
    ("mode", "data_log2_B", "messages_log2"),
    # RFC 8452, 9: 2^29 messages of 1 GiB, 2^61 of 16 KiB, at 2^-32. EAX: 10.5 q^2 / 2^128. RFC 7253, 5: q^2 / 2^128.
    [
        ("gcm-siv", 29 + 30, 61),
        ("eax", log2(math.sqrt(2 ** (128 - 32) / 10.5)) + 4, None),
        ("ocb3", (128 - 32) / 2 + 4, None),
    ],
)
def test_an_aead_that_nist_did_not_standardise_has_a_data_limit_too(
    mode: str, data_log2_B: float, messages_log2: float | None
) -> None:
    stands = status_of(facts(f"aes128-{mode}", tag_bits=128))
    assert stands.data_limit_log2_B == pytest.approx(data_log2_B, abs=0.05)
    assert stands.messages_log2 == messages_log2


def test_a_limit_of_random_nonces_is_none_of_counted_ones() -> None:
    stands = status_of(facts("aes128-gcm", tag_bits=128))
    assert (stands.random_messages_log2, stands.messages_log2) == (32, 41.5)
    assert status_of(facts("aes128-ccm", tag_bits=128)).random_messages_log2 is None


@pytest.mark.parametrize(("cipher", "nonce_log2_B"), [("chacha20", 38), ("salsa20", 70), ("chacha20-poly1305", 38)])
def test_a_limit_of_one_nonce_is_none_of_the_key(cipher: str, nonce_log2_B: float) -> None:
    stands = status_of(facts(cipher, 256, 8))
    assert (stands.nonce_limit_log2_B, stands.data_limit_log2_B) == (nonce_log2_B, None)
    assert any(one.about == "nonce" for one in stands.statements)


@pytest.mark.parametrize(
    ("cipher", "key_bits", "words", "source"),
    [
        ("serpent128-cbc", 128, "reach 11, and 12 with keys of 256 bits alone", "Nguyen, Wu, Wang"),
        ("serpent256-cbc", 256, "reach 12 of 32 rounds", "de Carvalho"),
        ("salsa20", 256, "2^247.2", "WCC 2015"),
        ("chacha20", 256, "reach 7.5", "Syncopated"),
        ("chacha20-poly1305", 256, "reach 7.5", "Syncopated"),
    ],
)
def test_the_best_attack_is_told_with_its_source(cipher: str, key_bits: int, words: str, source: str) -> None:
    (found,) = [one for one in status_of(facts(cipher, key_bits)).statements if one.about == "strength"]
    assert words in found.says
    assert source in found.source
    assert found.read


def test_tkips_tag_is_michaels_and_ccm8s_nonce_is_not_tlss() -> None:
    found = listed()
    assert found["tkip"].tag_bits == 64
    assert found["tkip"].forgeries_log2 is None
    assert found["aes128-ccm8"].nonce_bits == 8 * 13
    nonce = next(one for one in found["aes128-ccm8"].statements if one.about == "nonce")
    assert "TLS has 12 octets" in nonce.says
    assert "RFC 6655" in nonce.source


@pytest.mark.parametrize(
    ("block_bits", "key_bits", "rounds", "bits"),
    [
        (128, 128, 7, 99),
        (128, 128, 8, 128),
        (128, 192, 8, 172),
        (128, 192, 9, 187.5),
        (128, 192, 10, 192),
        (128, 256, 8, 196),
        (128, 256, 9, 203),
        (128, 256, 10, 253),
        (128, 256, 11, 256),
        (192, 192, 9, 188.2),
        (192, 256, 9, 197.8),
        (192, 192, 10, 192),
        (256, 192, 9, 188),
        (256, 256, 8, 240.1),
        (256, 256, 10, 240.1),
        (256, 256, 11, 256),
    ],
)
def test_reduced_rijndael_has_the_strength_that_its_best_attack_leaves(
    block_bits: int, key_bits: int, rounds: int, bits: float
) -> None:
    row = facts(f"rijndael{block_bits}-{key_bits}-r{rounds}-cbc", key_bits, block_bits, rounds=rounds)
    assert status_of(row).strength_bits == bits


@pytest.mark.parametrize("block_bits", [128, 192, 256])
@pytest.mark.parametrize("key_bits", [128, 192, 256])
def test_a_round_more_never_weakens_rijndael(block_bits: int, key_bits: int) -> None:
    bits = [
        status_of(
            facts(f"rijndael{block_bits}-{key_bits}-r{rounds}-cbc", key_bits, block_bits, rounds=rounds)
        ).strength_bits
        for rounds in range(1, max(block_bits, key_bits) // 32 + 6)
    ]
    assert bits == sorted(bits)
    assert bits[-1] <= key_bits


def test_what_is_said_of_a_mode_or_of_a_strength_is_true_of_every_cipher_that_it_is_said_of() -> None:
    for name, stands in listed().items():
        said = [one.says for one in stands.statements if one.about == "status"]
        if stands.mode:
            assert all("with an approved" in one for one in said if one.startswith("a mode approved")), name
            assert not any(one.startswith("approved for") for one in said), name
        if any("64 bits of strength or less" in one for one in said):
            assert stands.strength_bits <= 64, name


def test_reduced_rounds_are_never_better_than_nobody_vouching_for_them() -> None:
    for rounds in range(4, 14):
        stands = status_of(facts(f"rijndael256-256-r{rounds}-cbc", 256, 256, rounds=rounds))
        assert stands.status == ("broken" if rounds <= 7 else "none")


def test_every_statement_names_a_document_of_the_file_and_every_document_is_named() -> None:
    book = load()
    used = {statement.source for _, statement in statements(book)}
    assert used == set(book.sources)
    assert all(source.url.startswith("https://") for name, source in book.sources.items() if name != "wattlock")


def test_an_id_of_which_nothing_is_known_is_an_error() -> None:
    with pytest.raises(InputError, match='nothing of "rot13-cbc"'):
        status_of(facts("rot13-cbc"))


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('status = "legacy"', 'status = "fine"', "floor"),
        ('source = "rc5-64"', 'source = "hearsay"', "floor[0].source: no source 'hearsay'"),
        ("below_bits = 112", "below_bit = 112", "floor[1].below_bit: unknown key"),
        ("[[floor]]", "[[flor]]", "flo"),
        ('bits = "half"', 'bits = "third"', "quantum.bits"),
    ],
)
def test_a_mistake_in_the_file_is_named_by_its_path(old: str, new: str, place: str) -> None:
    from importlib.resources import files

    text = (files("wattlock") / "data" / "security.toml").read_text(encoding="utf-8")
    with pytest.raises(InputError) as caught:
        parse(text.replace(old, new))
    assert place in caught.value.message


def test_what_is_said_of_a_block_cipher_is_not_told_as_said_of_its_every_mode() -> None:
    said = [one.says for one in status_of({"id": "aes128-ccm8", "key_bits": 128}).statements if one.about == "bsi"]
    assert said == ["AES itself: recommended"]
    said = [one.says for one in status_of({"id": "aes128-ccm", "key_bits": 128}).statements if one.about == "bsi"]
    assert said == ["AES itself: recommended", "recommended"]
