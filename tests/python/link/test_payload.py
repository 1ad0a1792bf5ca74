"""What is sent: expansions that are the cipher's own, packets that hold all of it, and what hosts compute for it."""

import base64
import subprocess
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.links import CIPHERS, catalogue, described, octets_of, time_of
from support.tree import PROBE, require_programs
from wattlock.energy import device_cards
from wattlock.errors import EvidenceError, InputError
from wattlock.link import ledger, payload
from wattlock.link.payload import PayloadParts, apportioned, expanded, largest_plain_B, packets, whole
from wattlock.link.wifi import Measured


@pytest.fixture(autouse=True, scope="module")
def program() -> None:
    require_programs()


@given(st.integers(0, 5_000))
def test_encodings_are_as_long_as_python_makes_them(size_B: int) -> None:
    data = bytes(size_B)
    assert payload.encoded_B(size_B, "base64") == len(base64.b64encode(data))
    assert payload.encoded_B(size_B, "base64x2") == len(base64.b64encode(base64.b64encode(data)))
    assert payload.encoded_B(size_B, "hex") == len(data.hex())
    assert payload.encoded_B(size_B, "raw") == size_B


def test_base64_of_a_multiple_of_three_is_four_thirds_on_the_air() -> None:
    answer = described(changes={"payload.encoding": "base64", "payload.data_B": 30_000})
    assert octets_of(answer, "payload", "encoding") * 3 == 30_000 * 4


@pytest.mark.parametrize("cipher", CIPHERS)
@pytest.mark.parametrize("plain_B", [1, 15, 16, 17, 1_500])
def test_a_message_grows_as_the_cipher_itself_makes_it(cipher: str, plain_B: int) -> None:
    row = catalogue()[cipher]
    words = ["apply", "--cipher", cipher, "--operation", "seal" if row["tag_bits"] else "encrypt"]
    words += ["--key", "01" * (row["key_bits"] // 8)] + (["--iv", "02" * row["iv_B"]] if row["iv_B"] else [])
    if cipher.startswith("3des"):
        words[words.index("--key") + 1] = "0123456789abcdef23456789abcdef01456789abcdef0123"
    done = subprocess.run([PROBE, *words], input=bytes(plain_B), capture_output=True, check=True)
    parts = expanded(plain_B, row)
    assert parts.padding_B + parts.tag_B == len(done.stdout) - plain_B
    assert parts.iv_B == row["iv_B"]


@given(st.sampled_from(CIPHERS), st.sampled_from(["raw", "base64", "hex", "base64x2"]), st.integers(80, 3_000))
def test_the_longest_plaintext_fits_and_one_octet_more_does_not(cipher: str, encoding: Any, room_B: int) -> None:
    row = catalogue()[cipher]
    longest_B = largest_plain_B(room_B, row, encoding)
    if longest_B:
        assert expanded(longest_B, row, encoding).wire_B <= room_B
    assert expanded(longest_B + 1, row, encoding).wire_B > room_B


@given(
    st.sampled_from(CIPHERS), st.sampled_from(["raw", "base64", "hex"]), st.integers(1, 100_000), st.integers(1, 2_000)
)
def test_the_packets_of_a_file_hold_all_of_its_ciphertext_and_no_more(
    cipher: str, encoding: Any, data_B: int, packet_B: int
) -> None:
    row = catalogue()[cipher]
    groups = whole(data_B, packet_B, row, encoding)
    assert PayloadParts(*map(sum, zip(*(group.parts for group in groups), strict=True))) == expanded(
        data_B, row, encoding
    )
    for group in groups:
        assert group.parts.wire_B == group.wire_B * group.packets
        assert min(group.parts) >= 0
        assert group.wire_B <= packet_B


@given(st.integers(0, 10**12), st.lists(st.integers(0, 10**9), min_size=1))
def test_shares_add_up_and_none_is_further_than_one_from_its_own(total: int, weights: list[int]) -> None:
    if sum(weights) == 0:
        return
    shares = apportioned(total, weights)
    assert sum(shares) == total
    assert min(shares) >= 0
    for share, weight in zip(shares, weights, strict=True):
        assert abs(share * sum(weights) - total * weight) <= sum(weights)


def test_a_distribution_of_sizes_is_sent_size_by_size() -> None:
    changes = {"payload.data_B": None, "payload.sizes": [[64, 100], [1400, 20]], "payload.encrypt": "packet"}
    changes |= {"transport": "udp", "engine": "closed-form"}
    answer = described(changes=changes)
    each = [(64, 100), (1400, 20)]
    apart = [described(changes={**changes, "payload.sizes": [list(pair)]}).duration_ns for pair in each]
    assert answer.duration_ns == sum(apart)
    assert octets_of(answer, "payload") == 64 * 100 + 1_400 * 20
    assert packets(each, None, "raw")[1].parts.plain_B == 28_000


def test_hosts_that_wait_for_the_air_add_all_their_work_and_overlapped_ones_only_what_is_over() -> None:
    work = {"host.sender_us": 100, "host.receiver_us": 300}
    changes = {"payload.data_B": 147_200, "transport": "udp", "radio": "intel-5300"}
    bare = described(changes=changes)
    serial = described(changes=changes | work, allow_assumed=True)
    overlapped = described(changes=changes | work | {"host.overlapped": True}, allow_assumed=True)
    slow = {"host.receiver_us": 10_000, "host.overlapped": True}
    slowest = described(changes=changes | slow, allow_assumed=True)
    assert serial.duration_ns == bare.duration_ns + 100 * 400_000
    assert overlapped.duration_ns == bare.duration_ns
    assert slowest.duration_ns == 100 * 10_000_000
    # While the air waits, radios idle: nothing above the floor is spent.
    assert serial.marginal_J == pytest.approx(bare.marginal_J)
    assert (serial.total_J or 0) - (bare.total_J or 0) == pytest.approx(2 * 0.82 * 0.04)
    assert serial.evidence == "assumed"


def estimates(**columns: Any) -> Measured:
    case = {"cipher": "aes128-ctr", "operation": "encrypt", "payload_B": 1_000, "encoding": "raw", "time_ns": 2_000.0}
    case |= {"keying": "ready", "provider": "rustcrypto"}
    case |= {"cycles": 5_000.0, "energy_uJ": 4.0, "energy_low_uJ": 3.0, "energy_high_uJ": 16 / 3}
    case |= {"energy_evidence": "measured", "time_evidence": "measured"}
    cases = [case | {"operation": one, **columns} for one in ("encrypt", "decrypt")]
    others = [cases[0] | {"payload_B": 16, "time_ns": 900.0}, cases[0] | {"keying": "each", "time_ns": 7_000.0}]
    return Measured(pl.DataFrame([*others[1:], *cases, others[0]]), "x86_64")


def test_the_cipher_of_a_run_stands_beside_the_radio_with_its_interval() -> None:
    changes = {"payload.cipher": "aes128-ctr", "payload.data_B": 500_000, "radio": "intel-5300"}
    answer = described(changes=changes, measured=estimates())
    # 2 us and 4 uJ a kilobyte, at both ends.
    assert [(one.what, one.busy_ns) for one in answer.works] == [
        ("cipher: sender", 1_000_000),
        ("cipher: receiver", 1_000_000),
    ]
    assert [one.energy.J for one in answer.works if one.energy] == pytest.approx([2e-3, 2e-3])
    radios_J = sum(one.marginal.J for one in answer.by_states)
    share, low, high = (ledger.figures(answer)[f"cipher_share{side}"] for side in ("", "_low", "_high"))
    assert share == pytest.approx(4e-3 / (4e-3 + radios_J))
    assert low < share < high
    assert time_of(answer, "cipher: sender", "cipher: receiver") == 2_000_000
    assert answer.works[0].basis == "aes128-ctr of rustcrypto, encrypt, 1000 B, raw"


def test_messages_of_a_packet_are_priced_by_the_case_nearest_in_size() -> None:
    changes = {"payload.cipher": "aes128-ctr", "payload.data_B": 32_000, "payload.payload_B": 32}
    answer = described(changes={**changes, "payload.encrypt": "packet"}, measured=estimates())
    assert answer.works[0].busy_ns == pytest.approx(900 / 16 * 32_000)


def test_a_run_without_the_cipher_is_told_what_it_has() -> None:
    with pytest.raises(InputError, match="no case that measured") as caught:
        described(changes={"payload.cipher": "aes128-cbc"}, measured=estimates())
    assert caught.value.hint == 'did you mean "aes128-ctr"?'
    both = estimates()
    sealed = both._replace(estimates=both.estimates.filter(pl.col("operation") == "encrypt"))
    with pytest.raises(InputError, match="no case that measured decrypt or open of aes128-ctr") as caught:
        described(changes={"payload.cipher": "aes128-ctr"}, measured=sealed)
    assert "first-look" in caught.value.hint


def test_cycles_of_ones_own_need_consent_and_a_card_with_a_clock() -> None:
    changes = {"payload.cipher": "aes128-ctr", "cost.cycles_per_B": 10, "cost.sender": "pentium3-mobile-700"}
    with pytest.raises(EvidenceError, match="cycles_per_B 10"):
        described(changes=changes)
    answer = described(changes=changes, allow_assumed=True)
    card = device_cards.load("pentium3-mobile-700").card
    assert card.frequency is not None
    assert answer.works[0].busy_ns == pytest.approx(5_000_000 * 10 / card.frequency.in_SI * 1e9, rel=1e-6)
    assert [one.role for one in answer.works] == ["sender"]
