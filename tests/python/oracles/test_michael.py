"""Michael and the mixing of TKIP a second time, from the text of IEEE Std 802.11-2020, 12.5.2: what the probe protects
is opened here, what is protected here the probe opens."""

import json
import struct
import subprocess
import zlib
from itertools import pairwise
from pathlib import Path

import pytest

from wattlock.targets import toolbox

KEY = bytes(range(32))
TEMPORAL, FROM_ACCESS_POINT, FROM_STATION = KEY[:16], KEY[16:24], KEY[24:]


def rotated(word: int, left: int) -> int:
    return (word << left | word >> (32 - left)) & 0xFFFFFFFF


def michael(key: bytes, message: bytes) -> bytes:
    """12.5.2.3: 0x5a, then zeros up to a whole word and one more; six steps for each word."""
    padded = message + b"\x5a" + bytes(4)
    padded += bytes(-len(padded) % 4)
    left, right = struct.unpack("<II", key)
    for (word,) in struct.iter_unpack("<I", padded):
        left ^= word
        right ^= rotated(left, 17)
        left = (left + right) & 0xFFFFFFFF
        right ^= (left & 0xFF00FF00) >> 8 | (left & 0x00FF00FF) << 8
        left = (left + right) & 0xFFFFFFFF
        right ^= rotated(left, 3)
        left = (left + right) & 0xFFFFFFFF
        right ^= rotated(left, 30)
        left = (left + right) & 0xFFFFFFFF
    return struct.pack("<II", left, right)


def times(one: int, other: int) -> int:
    """The product in the field of AES, bit by bit from the highest (FIPS 197, 4.2)."""
    total = 0
    for bit in range(7, -1, -1):
        total = total << 1 ^ (0x11B if total & 0x80 else 0)
        total ^= one if other >> bit & 1 else 0
    return total


def substituted(value: int) -> int:
    """S of AES (FIPS 197, 5.1.1): the inverse by search, then the bits by the matrix."""
    inverse = next((other for other in range(256) if times(value, other) == 1), 0)
    bit = [inverse >> at & 1 for at in range(8)]
    summed = (
        bit[at] ^ bit[(at + 4) % 8] ^ bit[(at + 5) % 8] ^ bit[(at + 6) % 8] ^ bit[(at + 7) % 8] for at in range(8)
    )
    return sum(value << at for at, value in enumerate(summed)) ^ 0x63


SBOX = [times(2, s) << 8 | times(3, s) for s in map(substituted, range(256))]


def mixed_s(value: int) -> int:
    high = SBOX[value >> 8]
    return SBOX[value & 0xFF] ^ (high << 8 & 0xFFFF | high >> 8)


def seed(temporal: bytes, transmitter: bytes, number: int) -> bytes:
    """The RC4 seed of a frame: phase 1 and 2 of 12.5.2.5."""
    key = struct.unpack("<8H", temporal)
    p1 = [number >> 16 & 0xFFFF, number >> 32 & 0xFFFF, *struct.unpack("<3H", transmitter)]
    for i in range(8):
        j = i & 1
        p1[0] = p1[0] + mixed_s(p1[4] ^ key[0 + j]) & 0xFFFF
        p1[1] = p1[1] + mixed_s(p1[0] ^ key[2 + j]) & 0xFFFF
        p1[2] = p1[2] + mixed_s(p1[1] ^ key[4 + j]) & 0xFFFF
        p1[3] = p1[3] + mixed_s(p1[2] ^ key[6 + j]) & 0xFFFF
        p1[4] = p1[4] + mixed_s(p1[3] ^ key[0 + j]) + i & 0xFFFF
    low = number & 0xFFFF
    p2 = [*p1, p1[4] + low & 0xFFFF]
    for at in range(6):
        p2[at] = p2[at] + mixed_s(p2[at - 1] ^ key[at]) & 0xFFFF
    for at in range(6):
        turned = p2[at - 1] ^ (key[6 + at] if at < 2 else 0)
        p2[at] = p2[at] + (turned >> 1 | turned << 15 & 0xFFFF) & 0xFFFF
    head = bytes([low >> 8, (low >> 8 | 0x20) & 0x7F, low & 0xFF, (p2[5] ^ key[0]) >> 1 & 0xFF])
    return head + struct.pack("<6H", *p2)


def rc4(key: bytes, text: bytes) -> bytes:
    state, j, out = list(range(256)), 0, bytearray()
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    i = j = 0
    for octet in text:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(octet ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def header_B(mpdu: bytes) -> int:
    return 24 + (6 if mpdu[1] & 3 == 3 else 0) + (2 if mpdu[0] & 0x80 else 0)


def covered(mpdu: bytes) -> tuple[bytes, bytes]:
    """The key that is due and what Michael covers before the data: DA, SA, priority, three zeros (12.5.2.3.1)."""
    one, two, three, four = mpdu[4:10], mpdu[10:16], mpdu[16:22], mpdu[24:30]
    to_ds, from_ds = mpdu[1] & 1, mpdu[1] >> 1 & 1
    destination = three if to_ds else one
    source = (four if to_ds else three) if from_ds else two
    priority = mpdu[header_B(mpdu) - 2] & 0xF if mpdu[0] & 0x80 else 0
    key = FROM_STATION if to_ds and not from_ds else FROM_ACCESS_POINT
    return key, destination + source + bytes([priority, 0, 0, 0])


def frames() -> list[bytes]:
    """Each direction, with QoS and without; bodies around the words of Michael."""
    found: list[bytes] = []
    for flags in (0, 1, 2, 3):
        for qos in (b"", b"\x05\x00"):
            for body_B in (1, 3, 4, 5, 59, 200):
                mpdu = bytes([0x88 if qos else 0x08, flags, 0, 0])
                mpdu += b"\x02\0\0\0\0\x01" + b"\x02\0\0\0\0\x02" + b"\x02\0\0\0\0\x03"
                mpdu += struct.pack("<H", (len(found) + 1) << 4) + (b"\x02\0\0\0\0\x04" if flags == 3 else b"") + qos
                found.append(mpdu + bytes((7 * at + body_B) % 256 for at in range(body_B)))
    return found


def write(file: Path, packets: list[bytes]) -> Path:
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 105)
    file.write_bytes(
        head + b"".join(struct.pack("<IIII", at, 0, len(one), len(one)) + one for at, one in enumerate(packets))
    )
    return file


def read(file: Path) -> list[bytes]:
    content, at = file.read_bytes(), 24
    found: list[bytes] = []
    while at < len(content):
        length_B = struct.unpack_from("<I", content, at + 8)[0]
        found.append(content[at + 16 : at + 16 + length_B])
        at += 16 + length_B
    return found


def run(*arguments: str | Path) -> dict[str, object]:
    command = [str(toolbox.find().program), "frames", *map(str, arguments)]
    summary: dict[str, object] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return summary


def opened(mpdu: bytes) -> tuple[int, bytes]:
    """The counter of a frame, and its text after its ICV."""
    head = mpdu[header_B(mpdu) :][:8]
    number = int.from_bytes(bytes([head[2], head[0], *head[4:]]), "little")
    made = seed(TEMPORAL, mpdu[10:16], number)
    assert head[:3] == made[:3]
    text = rc4(made, mpdu[header_B(mpdu) + 8 :])
    assert text[-4:] == struct.pack("<I", zlib.crc32(text[:-4])), "the ICV"
    return number, text[:-4]


def protected(mpdu: bytes, number: int, *, change: int = 0) -> bytes:
    key, before = covered(mpdu)
    code = michael(key, before + mpdu[header_B(mpdu) :])
    text = mpdu[header_B(mpdu) :] + code[:-1] + bytes([code[-1] ^ change])
    made = seed(TEMPORAL, mpdu[10:16], number)
    head = made[:3] + b"\x20" + (number >> 16).to_bytes(4, "little")
    sealed = rc4(made, text + struct.pack("<I", zlib.crc32(text)))
    return mpdu[:1] + bytes([mpdu[1] | 0x40]) + mpdu[2 : header_B(mpdu)] + head + sealed


def test_michael_gives_the_answers_of_the_annex() -> None:
    """IEEE Std 802.11-2020, J.2: each answer is the key of the next one."""
    answers = ["0000000000000000", "82925c1ca1d130b8", "434721ca40639b3f"]
    answers += ["e8f9becae97e5d29", "90038fc6cf13c1db", "d55e100510128986", "0a942b124ecaa546"]
    for message, (key, answer) in zip(("", "M", "Mi", "Mic", "Mich", "Michael"), pairwise(answers), strict=True):
        assert michael(bytes.fromhex(key), message.encode()).hex() == answer


@pytest.mark.parametrize(
    ("number", "answer"), [(0, "00200033ea8d2f60ca6d1374234a660b"), (1, "00200190ffdc314389a9d9d074fd20aa")]
)
def test_the_mixing_gives_the_seeds_of_the_annex(number: int, answer: str) -> None:
    """J.1, the first pair."""
    assert seed(bytes(range(16)), bytes.fromhex("102233445566"), number).hex() == answer


@pytest.mark.parametrize("pn", [1, 0x12345678FFF0])
def test_every_frame_that_the_probe_protects_has_the_icv_and_the_michael_of_the_text(tmp_path: Path, pn: int) -> None:
    clear = write(tmp_path / "clear.pcap", frames())
    run("protect", "--protocol", "tkip", "--key", KEY.hex(), "--pn", str(pn), clear, tmp_path / "sealed.pcap")
    for at, (mpdu, sealed) in enumerate(zip(frames(), read(tmp_path / "sealed.pcap"), strict=True)):
        number, text = opened(sealed)
        key, before = covered(mpdu)
        assert number == pn + at
        assert text[:-8] == mpdu[header_B(mpdu) :]
        assert text[-8:] == michael(key, before + text[:-8])


def test_the_michael_of_an_msdu_in_fragments_is_that_of_the_whole(tmp_path: Path) -> None:
    clear = write(tmp_path / "clear.pcap", frames())
    run(
        *("protect", "--protocol", "tkip", "--key", KEY.hex(), "--fragment", "37"),
        *(clear, tmp_path / "sealed.pcap"),
    )
    msdus: dict[bytes, bytes] = {}
    pieces = read(tmp_path / "sealed.pcap")
    for sealed in pieces:
        # The sequence number without that of the fragment.
        of = bytes([sealed[22] & 0xF0, sealed[23]])
        msdus[of] = msdus.get(of, b"") + opened(sealed)[1]
    assert len(pieces) > len(msdus) == len(frames())
    for mpdu, text in zip(frames(), msdus.values(), strict=True):
        key, before = covered(mpdu)
        body = mpdu[header_B(mpdu) :]
        assert text == body + michael(key, before + body)


def test_the_probe_opens_what_is_protected_here_and_counts_a_michael_with_one_wrong_bit(tmp_path: Path) -> None:
    right = [protected(mpdu, 100 + at) for at, mpdu in enumerate(frames())]
    back = tmp_path / "back.pcap"
    summary = run("unprotect", "--tk", KEY.hex(), write(tmp_path / "sealed.pcap", right), back)
    assert summary["done"] == len(right)
    assert read(back) == frames()
    wrong = [protected(mpdu, 100 + at, change=1) for at, mpdu in enumerate(frames())]
    summary = run("unprotect", "--tk", KEY.hex(), write(tmp_path / "sealed.pcap", wrong), back)
    failed = summary["failed"]
    assert isinstance(failed, dict)
    assert (summary["done"], failed["michael"]) == (0, len(wrong))
