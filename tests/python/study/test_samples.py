"""The sample files and what grows from them."""

import hashlib
import io
import math
import re
import struct
import wave
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wattlock.errors import InputError
from wattlock.study.study import SAMPLES, SampleKind, grow, valid_from_B

KINDS: tuple[SampleKind, ...] = get_args(SampleKind)
SHELF = files("wattlock") / "data" / "samples"

# The smallest and the largest file of each kind in the papers; KB = 1000 B.
PAPERS_B: list[tuple[SampleKind, int]] = [
    ("text", 321_000),
    ("text", 7_139_000),
    ("image", 28_000),
    ("image", 131_000),
    ("audio", 33_000),
    ("audio", 8_262_000),
    ("video", 4_006_000),
    ("video", 5_073_000),
]

# Two sizes a kind: one that is cut from the sample, one that is grown. Runs of different versions must agree in them.
SHA256 = {
    ("text", 14_000): "cb21d8bf3b3b230d3051a8c556190f29ef93e8f0899b80fcb8ebb83f453ad466",
    ("text", 321_000): "e60d17ef2593d1b66e5e62dc1e99166e0283ba3baeda5e487e496b06de631b7f",
    ("image", 28_000): "8db5de512e067c717e6dcfc4436f0dff19e10630b1ede31d644b2a915efbbfac",
    ("image", 131_000): "41c108a76f2cc4c1babb67010dbd7a27ea4a29cdee8f86b0dc82e8155987bd43",
    ("audio", 33_000): "ec2107be2441b50c5e50977a296c844824656cb360d5b248e0fb8d006f9c89b2",
    ("audio", 8_262_000): "69d28d8d9d53c767a0814067b2bc33c940db9ee4505b964be7b5e9e37693ce22",
    ("video", 28_000): "d6e58d16fb84bded9dbc2168d0977f0d18dbe0ddd6a87d5af40051af7845ecc0",
    ("video", 4_006_000): "71df45e21d894a06ed2d8e0d4cc41f3f28fdbb3a501bdeb06ecdeab6a30b9c80",
}


def sample(kind: SampleKind) -> bytes:
    return (SHELF / SAMPLES[kind]).read_bytes()


def entropy(content: bytes) -> float:
    """Bits a byte, of single bytes."""
    shares = [number / len(content) for number in Counter(content).values()]
    return -sum(share * math.log2(share) for share in shares)


def segments(jpeg: bytes) -> Iterator[tuple[int, bytes]]:
    """Marker and content of each segment up to the start of the scan, then the scan under the number 0."""
    assert jpeg[:2] == b"\xff\xd8"
    at, marker = 2, 0
    while marker != 0xDA:
        mark, marker, size_B = struct.unpack_from(">BBH", jpeg, at)
        assert mark == 0xFF
        yield marker, jpeg[at + 4 : at + 2 + size_B]
        at += 2 + size_B
    yield 0, jpeg[at:]


def boxes(mp4: bytes) -> list[tuple[bytes, bytes]]:
    """Type and content of each box; their sizes must fill the bytes to the last one."""
    found, at = [], 0
    while at < len(mp4):
        size_B, name = struct.unpack_from(">I4s", mp4, at)
        assert size_B >= 8
        found.append((name, mp4[at + 8 : at + size_B]))
        at += size_B
    assert at == len(mp4)
    return found


def check_text(content: bytes) -> None:
    assert {letter for letter in content.decode("ascii") if not letter.isprintable()} <= {"\n"}


def check_audio(content: bytes) -> None:
    riff, left_B = struct.unpack_from("<4sI", content)
    assert riff == b"RIFF"
    assert left_B + 8 == len(content) - len(content) % 2
    with wave.open(io.BytesIO(content)) as sound:
        assert (sound.getnchannels(), sound.getsampwidth(), sound.getframerate()) == (1, 2, 16_000)
        assert sound.getnframes() == (len(content) - 44) // 2
        assert len(sound.readframes(sound.getnframes())) == sound.getnframes() * 2


def check_image(content: bytes) -> None:
    parts = list(segments(content))
    height = next(int.from_bytes(segment[1:3]) for marker, segment in parts if marker == 0xC0)
    scan = parts[-1][1]
    assert scan.endswith(b"\xff\xd9")
    # T.81, B.1.1.5: in a scan FF is followed by 00, a restart marker or, once, EOI.
    assert set(re.findall(rb"\xff[^\x00\xd0-\xd7]", scan)) == {b"\xff\xd9"}
    restarts = [mark[1] & 7 for mark in re.findall(rb"\xff[\xd0-\xd7]", scan)]
    assert restarts == [place % 8 for place in range(len(restarts))]
    assert height == 16 * (len(restarts) + 1)


def check_video(content: bytes) -> None:
    parts = boxes(content)
    names = [name for name, _ in parts]
    fragments = (len(names) - 2) // 2
    assert names in ([b"ftyp", b"moov", *[b"moof", b"mdat"] * fragments, *end] for end in ([], [b"free"]))
    moofs = [dict(boxes(moof)) for name, moof in parts if name == b"moof"]
    assert [int.from_bytes(moof[b"mfhd"][4:]) for moof in moofs] == list(range(1, fragments + 1))
    now = 0
    for moof in moofs:
        fragment = dict(boxes(moof[b"traf"]))
        assert int.from_bytes(fragment[b"tfdt"][4:]) == now
        now += int.from_bytes(fragment[b"trun"][4:8]) * int.from_bytes(fragment[b"tfhd"][8:12])


CHECKS = {"text": check_text, "image": check_image, "audio": check_audio, "video": check_video}


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_is_what_its_provenance_says(kind: SampleKind) -> None:
    lines = (SHELF / "PROVENANCE.md").read_text("utf-8").splitlines()
    row = next(line for line in lines if line.startswith(f"| `{SAMPLES[kind]}`"))
    assert f"| {len(sample(kind))} | `{hashlib.sha256(sample(kind)).hexdigest()}` |" in row


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_keeps_the_rules_that_growing_builds_on(kind: SampleKind) -> None:
    CHECKS[kind](sample(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_grown_to_its_own_size_is_itself(kind: SampleKind) -> None:
    assert grow(kind, len(sample(kind))) == sample(kind)


@pytest.mark.parametrize(("kind", "size_B"), PAPERS_B)
def test_a_file_of_the_papers_has_its_exact_size_and_is_valid(kind: SampleKind, size_B: int) -> None:
    content = grow(kind, size_B)
    assert len(content) == size_B
    CHECKS[kind](content)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_every_size_from_the_smallest_valid_one_is_exact_and_valid(kind: SampleKind, data: st.DataObject) -> None:
    size_B = data.draw(st.integers(valid_from_B(kind), 200_000))
    content = grow(kind, size_B)
    assert len(content) == size_B
    CHECKS[kind](content)


@pytest.mark.parametrize("kind", ["image", "video"])
def test_a_left_over_that_is_too_small_for_a_filler_takes_the_last_unit_with_it(kind: SampleKind) -> None:
    for size_B in range(len(sample(kind)), len(sample(kind)) + 10):
        content = grow(kind, size_B)
        assert len(content) == size_B
        CHECKS[kind](content)


@pytest.mark.parametrize(("kind", "size_B"), SHA256)
def test_a_size_gives_the_same_bytes_everywhere(kind: SampleKind, size_B: int) -> None:
    assert hashlib.sha256(grow(kind, size_B)).hexdigest() == SHA256[kind, size_B]


@pytest.mark.parametrize("kind", KINDS)
def test_a_size_too_small_for_a_valid_file_gets_the_beginning_of_one(kind: SampleKind) -> None:
    smallest = grow(kind, valid_from_B(kind))
    assert all(grow(kind, size_B) == smallest[:size_B] for size_B in range(1, len(smallest)))


@pytest.mark.parametrize("size_B", [0, -1])
def test_a_size_below_one_byte_is_refused_with_its_value(size_B: int) -> None:
    with pytest.raises(InputError, match=f"{size_B} B"):
        grow("text", size_B)


@pytest.mark.parametrize(("kind", "size_B"), PAPERS_B)
def test_compressed_kinds_look_random_byte_for_byte_and_prose_does_not(kind: SampleKind, size_B: int) -> None:
    bits = entropy(grow(kind, size_B))
    if kind in {"image", "video"}:
        assert bits > 7.5
    if kind == "text":
        assert bits < 5


def test_an_image_beyond_the_tallest_jpeg_is_a_stream_of_valid_ones() -> None:
    content = grow("image", 8_300_001)
    second = content.index(b"\xff\xd9\xff\xd8") + 2
    assert (second, len(content) - second) == (4_150_001, 4_150_000)
    check_image(content[:second])
    check_image(content[second:])


def test_grown_text_holds_whole_paragraphs_and_no_two_passes_have_the_same_order() -> None:
    book = sample("text").strip().split(b"\n\n")
    grown = grow("text", 3 * (len(sample("text")) + 1)).split(b"\n\n")
    passes = [grown[at : at + len(book)] for at in range(0, 3 * len(book), len(book))]
    assert all(sorted(one) == sorted(book) for one in passes)
    assert passes[0] == book
    assert all(a != b for a, b in pairwise(passes))
