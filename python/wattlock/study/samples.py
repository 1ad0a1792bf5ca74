"""Files of the papers' four kinds at any size: real samples, grown or cut by rules that keep them valid.

A KB is 1000 B here, as in the papers. The samples and their provenance lie in `data/samples/`. The rules, all without
chance, so that a size gives the same bytes everywhere:

* text: the paragraphs of the book in its order, then again and again in an order drawn by SHA-256, cut at the size.
* audio: the frames of the sound over and over, the sizes in the WAV header set right. An odd size, which no RIFF file
  has, gets one zero byte behind the file.
* image: rows of blocks of the photograph, again from the top behind the last; the height is set right. JPEG's restart
  markers make each row decodable by itself. What is left over is a comment segment. A JPEG is at most 65,535 lines
  high: beyond, the file is a stream of such pictures of equal size (motion JPEG).
* video: fragments of the film over and over, numbers and decode times set right, so that the film gets longer. What is
  left over is a `free` box.

Fillers hold bytes of the row or fragment that found no room, so that the content stays of its kind. A size smaller than
the sample gets fewer frames, rows or fragments. Where not even one fits (`valid_from_B`), it gets the first bytes of
that smallest file: what a packet would carry of it.

What repeats costs a cipher what fresh content costs; a compressor would tell the difference.
"""

import hashlib
import re
import struct
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import count, cycle, islice, pairwise
from typing import Literal, NamedTuple

from wattlock.errors import InputError

SampleKind = Literal["text", "image", "audio", "video"]

SAMPLES: dict[SampleKind, str] = {"text": "prose.txt", "image": "image.jpg", "audio": "audio.wav", "video": "video.mp4"}

WAV_HEAD_B = 44  # RIFF, `fmt ` of 16 B, the head of `data`
RIFF_SIZE_AT, DATA_SIZE_AT = 4, 40
FRAME_B = 2  # 16 bits, one channel

JPEG_SOF0, JPEG_SOS, JPEG_COM = 0xC0, 0xDA, 0xFE  # ITU-T T.81, table B.1
JPEG_EOI = b"\xff\xd9"
JPEG_MARKER_B = 2  # each row is followed by a restart marker, the last by EOI
JPEG_COM_HEAD_B = 4  # marker and length
HIGHEST_JPEG = 65_535  # ITU-T T.81, B.2.2: 16 bits for the number of lines

BOX_HEAD_B = 8  # ISO/IEC 14496-12, 4.2: size and type
MFHD_SEQUENCE_AT = 20  # in `moof`: its head, the head of `mfhd`, version and flags


def grow(kind: SampleKind, size_B: int) -> bytes:
    """Make a file of a kind, `size_B` bytes long: always the same bytes for the same size.

    * `kind`: text (English prose, ASCII), image (JPEG), audio (WAV, 16 bits), video (MP4, H.264).
    * `size_B`: at least 1. The file is valid from `valid_from_B(kind)` on, below it is the beginning of a file.

    Raises InputError where `size_B` is less than 1.
    """
    if size_B < 1:
        raise InputError(f"sample of {kind}: is to be {size_B} B long", hint="the smallest is 1 B")
    whole_B = max(size_B, valid_from_B(kind))
    return {"text": _text, "image": _image, "audio": _audio, "video": _video}[kind](whole_B)[:size_B]


def valid_from_B(kind: SampleKind) -> int:
    """Give the size from which on every size of a kind is a valid file, in bytes."""
    if kind == "image":
        photograph = _photograph()
        return photograph.head_B + len(photograph.rows[0]) + JPEG_MARKER_B + JPEG_COM_HEAD_B
    if kind == "video":
        film = _film()
        return len(film.head) + len(film.fragments[0]) + BOX_HEAD_B
    return WAV_HEAD_B + FRAME_B if kind == "audio" else 1


def _sample(kind: SampleKind) -> bytes:
    return (files("wattlock") / "data" / "samples" / SAMPLES[kind]).read_bytes()


def _fitting(sizes_B: Sequence[int], room_B: int, filler_head_B: int) -> tuple[int, int]:
    """How many units, taken over and over from the first, fit into a room, and the bytes that are left over.

    Left over is nothing, or enough for the head of a filler.
    """
    rounds, left_B = divmod(room_B, sum(sizes_B))
    number = rounds * len(sizes_B)
    for size_B in sizes_B:
        if size_B > left_B:
            break
        number, left_B = number + 1, left_B - size_B
    if 0 < left_B < filler_head_B:
        number -= 1
        left_B += sizes_B[number % len(sizes_B)]
    return number, left_B


# Text


def _text(size_B: int) -> bytes:
    pieces = []
    missing_B = size_B
    for paragraph in _paragraphs():
        pieces.append(paragraph)
        missing_B -= len(paragraph)
        if missing_B <= 0:
            break
    return b"".join(pieces)[:size_B]


def _paragraphs() -> Iterator[bytes]:
    """Without end: each with the empty line behind it, the first time in the book's order."""
    paragraphs = [paragraph + b"\n\n" for paragraph in _sample("text").strip().split(b"\n\n")]
    yield from paragraphs
    for time in count(1):
        for place in sorted(range(len(paragraphs)), key=lambda p: hashlib.sha256(f"{time} {p}".encode()).digest()):
            yield paragraphs[place]


# Audio


def _audio(size_B: int) -> bytes:
    sample = _sample("audio")
    head, sound = bytearray(sample[:WAV_HEAD_B]), sample[WAV_HEAD_B:]
    data_B = (size_B - WAV_HEAD_B) // FRAME_B * FRAME_B
    struct.pack_into("<I", head, RIFF_SIZE_AT, WAV_HEAD_B - 8 + data_B)
    struct.pack_into("<I", head, DATA_SIZE_AT, data_B)
    return (bytes(head) + _over_and_over(sound, data_B)).ljust(size_B, b"\0")


def _over_and_over(content: bytes, size_B: int) -> bytes:
    return (content * (size_B // len(content) + 1))[:size_B]


# Image


class _Photograph(NamedTuple):
    """A baseline JPEG taken apart: `rows` are the entropy-coded rows of blocks, without the markers between them."""

    tables: bytes
    scan_head: bytes
    rows: list[bytes]
    height_at: int
    row_lines: int

    @property
    def head_B(self) -> int:
        return len(self.tables) + len(self.scan_head)

    @property
    def tallest_B(self) -> int:
        """The size of a picture that has as many rows as the format allows."""
        sizes_B = [len(row) + JPEG_MARKER_B for row in self.rows]
        return self.head_B + sum(islice(cycle(sizes_B), HIGHEST_JPEG // self.row_lines))


@cache
def _photograph() -> _Photograph:
    jpeg = _sample("image")
    at, height_at = 2, 0
    while jpeg[at + 1] != JPEG_SOS:
        if jpeg[at + 1] == JPEG_SOF0:
            height_at = at + 5  # behind marker, length and precision
        at += 2 + int.from_bytes(jpeg[at + 2 : at + 4])
    scan_at = at + 2 + int.from_bytes(jpeg[at + 2 : at + 4])
    # In a scan a byte FF of content is followed by 00, so that only markers match.
    rows = re.split(rb"\xff[\xd0-\xd7]", jpeg[scan_at:].removesuffix(JPEG_EOI))
    height = int.from_bytes(jpeg[height_at : height_at + 2])
    return _Photograph(jpeg[:at], jpeg[at:scan_at], rows, height_at, height // len(rows))


def _image(size_B: int) -> bytes:
    pictures = -(-size_B // _photograph().tallest_B)
    part_B, longer = divmod(size_B, pictures)
    short = _picture(part_B)
    return (_picture(part_B + 1) * longer if longer else b"") + short * (pictures - longer)


def _picture(size_B: int) -> bytes:
    photograph = _photograph()
    rows = photograph.rows
    sizes_B = [len(row) + JPEG_MARKER_B for row in rows]
    number, left_B = _fitting(sizes_B, size_B - photograph.head_B, JPEG_COM_HEAD_B)
    tables = bytearray(photograph.tables)
    struct.pack_into(">H", tables, photograph.height_at, number * photograph.row_lines)
    scan = bytearray()
    for place, row in enumerate(islice(cycle(rows), number)):
        scan += row
        scan += bytes((0xFF, 0xD0 + place % 8)) if place < number - 1 else JPEG_EOI
    return bytes(tables) + _comment(rows[number % len(rows)], left_B) + photograph.scan_head + bytes(scan)


def _comment(content: bytes, size_B: int) -> bytes:
    if size_B == 0:
        return b""
    # The length counts itself, but not the marker.
    return struct.pack(">BBH", 0xFF, JPEG_COM, size_B - 2) + _over_and_over(content, size_B - JPEG_COM_HEAD_B)


# Video


class _Film(NamedTuple):
    """A fragmented MP4 taken apart: `fragments` are `moof` with its `mdat`, all of the same duration `ticks`."""

    head: bytes
    fragments: list[bytes]
    ticks: int


@cache
def _film() -> _Film:
    boxes = list(_boxes(_sample("video")))
    head = b"".join(box for box in boxes if box[4:8] in {b"ftyp", b"moov"})
    fragments = [a + b for a, b in pairwise(boxes) if (a[4:8], b[4:8]) == (b"moof", b"mdat")]
    return _Film(head, fragments, int.from_bytes(fragments[1][_time_at(fragments[1]) :][:8]))


def _boxes(mp4: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(mp4):
        size_B = int.from_bytes(mp4[at : at + 4])
        yield mp4[at : at + size_B]
        at += size_B


def _time_at(fragment: bytes) -> int:
    """Where a fragment's decode time stands: 64 bits, behind the type, version and flags of `tfdt` (version 1)."""
    return fragment.index(b"tfdt") + 8


def _video(size_B: int) -> bytes:
    head, fragments, ticks = _film()
    number, left_B = _fitting([len(one) for one in fragments], size_B - len(head), BOX_HEAD_B)
    pieces = [head]
    for place, one in enumerate(islice(cycle(fragments), number)):
        fragment = bytearray(one)
        struct.pack_into(">I", fragment, MFHD_SEQUENCE_AT, place + 1)
        struct.pack_into(">Q", fragment, _time_at(one), place * ticks)
        pieces.append(bytes(fragment))
    return b"".join([*pieces, _free(fragments[number % len(fragments)], left_B)])


def _free(fragment: bytes, size_B: int) -> bytes:
    if size_B == 0:
        return b""
    content = fragment[fragment.index(b"mdat") + 4 :]
    return struct.pack(">I4s", size_B, b"free") + _over_and_over(content, size_B - BOX_HEAD_B)
