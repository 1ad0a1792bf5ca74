"""What a floor excludes, each rule just above and just below it; who is tied with whom among hand-made lives."""

from datetime import date
from typing import Any

import numpy as np
import pytest

from support.advice import BASE
from wattlock.advise import checked, rank
from wattlock.advise.choices import Choice
from wattlock.advise.cipher_costs import CipherCost
from wattlock.advise.days import Load
from wattlock.advise.rank import ranked, tied
from wattlock.advise.sending import Band
from wattlock.security import Cited, Limit, SecurityStatus, load, status_of

TODAY = date(2026, 1, 1)
SAID = [Cited(about, f"what is said of {about}", "a book", "", True) for about in ("status", "strength", "quantum")]


def choice(*, cipher: str = "aes128-gcm", framing: str = "full-nonce", tag_bits: int = 128, **stands: Any) -> Choice:
    """A sound choice, with what is changed of it."""
    whole: dict[str, Any] = {
        "id": cipher,
        "cipher": "AES",
        "mode": "GCM",
        "status": "approved",
        "strength_bits": 128.0,
        "attack_bits": None,
        "quantum_strength_bits": 64.0,
        "quantum_category": 1,
        "public_key": False,
        "authenticated": True,
        "block_bits": 128,
        "nonce_bits": 96,
        "tag_bits": 128,
        "data_limit_log2_B": None,
        "messages_log2": None,
        "forgeries_log2": None,
        "statements": SAID,
    }
    row: Any = {"id": cipher, "mode": "aead", "key_bits": 128, "block_bits": 128, "iv_B": 12, "tag_bits": 128}
    nothing = [0.0, 0.0]
    cost = CipherCost(cipher, "mine", [0, 1], nothing, nothing, nothing, nothing, 0.0, False, "modelled", "", "")
    return Choice(row, SecurityStatus(**(whole | stands)), cost, tag_bits, framing, "raw", 1, "none", resumed=False)


BELOW: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = [
    ({}, {}, []),
    ({"floor.strength": 128}, {"strength_bits": 128.0}, []),
    ({"floor.strength": 128}, {"strength_bits": 127.9}, ["strength"]),
    ({}, {"status": "acceptable"}, []),
    ({}, {"status": "legacy"}, ["status"]),
    ({}, {"status": "broken"}, ["status"]),
    ({}, {"status": "none"}, ["status"]),
    ({}, {"authenticated": False, "tag_bits": 0}, ["authenticated"]),
    ({"floor.authenticated": False}, {"authenticated": False, "tag_bits": 0}, []),
    ({"floor.tag": 64}, {"tag_bits": 64}, []),
    ({"floor.tag": 64}, {"tag_bits": 63}, ["tag"]),
    # SP 800-57: 112 bits through 2030.
    ({"floor.strength": 112, "floor.lifetime": "4y"}, {"strength_bits": 112.0}, []),
    ({"floor.strength": 112, "floor.lifetime": "1461d"}, {"strength_bits": 112.0}, ["lifetime"]),
    ({"floor.strength": 112, "floor.lifetime": "20y"}, {"strength_bits": 128.0}, []),
    ({"floor.strength": 112, "floor.lifetime": "20y"}, {"strength_bits": 127.9}, ["lifetime"]),
    ({"floor.approved": "nist"}, {"cipher": "chacha20-poly1305"}, ["approved"]),
    ({"floor.approved": "nist"}, {}, []),
    ({}, {"cipher": "aes128-ccm8", "framing": "dtls13"}, ["protocol"]),
    ({}, {"cipher": "aes128-ccm8", "framing": "dtls12"}, []),
]


@pytest.mark.parametrize(("floor", "of", "reasons"), BELOW, ids=[f"{a}{b}" for a, b, _ in BELOW])
def test_a_choice_just_below_a_floor_is_excluded_for_exactly_that_reason(
    floor: dict[str, Any], of: dict[str, Any], reasons: list[str]
) -> None:
    tag = of.get("tag_bits", 128)
    described = rank.by_security(checked("test", BASE, floor), choice(**{**of, "tag_bits": tag}), TODAY)
    assert [one.about for one in described] == reasons
    assert all(one.says and one.source for one in described)


def load_of(**of: float) -> Load:
    whole = {"latency_s": 0.01, "octets_B": 80, "packets": 1, "busy": 0.5, "sending": 0.001, "rekeys_per_s": 0.0}
    return Load({}, **{**whole, "packet_B": 64, **of})


DEAR: list[tuple[dict[str, Any], dict[str, float], list[str]]] = [
    ({}, {}, []),
    ({"floor.latency": "10ms"}, {"latency_s": 0.01}, []),
    ({"floor.latency": "10ms"}, {"latency_s": 0.0101}, ["latency"]),
    ({"floor.latency": "10ms"}, {"latency_s": float("nan")}, ["latency"]),
    ({"floor.memory": "176B"}, {}, []),
    ({"floor.memory": "175B"}, {}, ["memory"]),
    ({}, {"busy": 1.0}, []),
    ({}, {"busy": 1.01}, ["radio"]),
    ({}, {"sending": 0.01}, []),
    ({}, {"sending": 0.0101}, ["duty cycle"]),
]


@pytest.mark.parametrize(("floor", "of", "reasons"), DEAR)
def test_a_choice_just_too_dear_is_excluded_for_exactly_that_reason(
    floor: dict[str, Any], of: dict[str, float], reasons: list[str]
) -> None:
    described = rank.by_cost(checked("test", BASE, floor), choice(), load_of(**of), Band(0.01, "a rule"))
    assert [one.about for one in described] == reasons


def test_a_key_protects_what_the_least_of_its_limits_allows() -> None:
    limits: dict[str, Any] = {"messages_log2": 20.0, "data_limit_log2_B": 20.0}
    assert choice(**limits).messages_a_key(64) == 2**14
    assert choice(**limits | {"messages_log2": 10.0}).messages_a_key(64) == 2**10
    assert choice().messages_a_key(64) == float("inf")


def test_of_several_sources_the_least_limit_stands() -> None:
    book = load()
    row = {"id": "aes128-eax", "key_bits": 128, "effective_bits": 128, "block_bits": 128, "tag_bits": 128}
    before = status_of(row)
    assert before.data_limit_log2_B is not None
    for more, stands in ((before.data_limit_log2_B - 5, -5), (before.data_limit_log2_B + 5, 0)):
        limit = Limit(says="another", source="sp38c", bytes_log2=more)
        ciphers = [one.model_copy(update={"limit": [*one.limit, limit]}) for one in book.cipher]
        after = status_of(row, book.model_copy(update={"cipher": ciphers}))
        assert after.data_limit_log2_B == before.data_limit_log2_B + stands


def constant(*days: float) -> Any:
    return np.array([[one] * 1000 for one in days])


def test_a_choice_is_tied_with_the_head_of_its_group_and_neither_with_the_first_nor_with_its_neighbour() -> None:
    assert [place.group for place in ranked(constant(100, 98.4, 98.0))] == [1, 2, 2]
    assert [place.group for place in ranked(constant(100, 99.2, 98.4))] == [1, 1, 2]
    assert [place.number for place in ranked(constant(98.4, 100, 99.2))] == [1, 2, 0]


@pytest.mark.parametrize(("longer", "alike"), [(970, True), (980, False)])
def test_what_lasts_longer_in_fewer_than_97_5_percent_of_the_worlds_is_tied(longer: int, *, alike: bool) -> None:
    steady = np.full(1000, 100.0)
    shaky = np.array([95.0] * longer + [105.0] * (1000 - longer))
    assert tied(steady, shaky) is alike
    assert tied(shaky, steady) is alike


def test_a_place_is_behind_by_the_share_that_the_first_has_more() -> None:
    places = ranked(constant(100, 80, 50))
    assert [place.behind for place in places] == pytest.approx([0.0, 0.25, 1.0])
    assert [place.seconds for place in places] == [100, 80, 50]
