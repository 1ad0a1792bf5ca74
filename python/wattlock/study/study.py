"""A study: the question, the grid of factors, the repeats and the smallest effect that matters, read from TOML."""

import hashlib
import re
import struct
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import count, cycle, islice, pairwise
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import Field, PrivateAttr

from wattlock.definitions import DefinitionForm, Problem, Shelf, Table, refusal, shown
from wattlock.definitions.constants import constant
from wattlock.definitions.toml import path_of
from wattlock.errors import InputError, StudyError

Operation = Literal[
    "encrypt",
    "decrypt",
    "key_setup",
    "seal",
    "open",
    "open_forged",
    "generate",
    "agree",
    "sign",
    "verify",
    "encapsulate",
    "decapsulate",
    "protect",
    "unprotect",
]

WITHOUT_PAYLOAD = {"key_setup", "generate", "agree", "sign", "verify", "encapsulate", "decapsulate"}

Keying = Literal["ready", "each"]

Encoding = Literal["raw", "base64", "hex"]

Placement = Literal["hot", "L2", "DRAM"]

Pattern = Literal["independent", "chained"]

Readiness = Literal["steady", "after-pause"]

# 64 MiB: with packets of 128 MiB together (placement DRAM) that leaves two.
LARGEST_PAYLOAD_B: int = constant("largest_payload_B")

# Packets of 512 KiB together (placement L2); a ring of one would be hot.
LARGEST_L2_PAYLOAD_B = 256 * 2**10

# As much as a frame's or a record's header, and room to spare.
LARGEST_AAD_B: int = constant("largest_aad_B")

# The t interval over processes is held to what it says from five on (docs/method/looks.md).
FEWEST_PROCESSES = 5

MOST_PROCESSES = 1000

MOST_LOOKS = 20
"""The level of the intervals is found for all looks together: seconds for these, minutes for a thousand."""

Size = Annotated[int, Field(ge=1, le=LARGEST_PAYLOAD_B)]

CoreClass = Literal["big", "middle", "middle-1", "middle-2", "middle-3", "little"]

CORE_CLASSES: tuple[str, ...] = get_args(CoreClass)

Aad = Annotated[int, Field(ge=0, le=LARGEST_AAD_B)]

Percent = Annotated[float, Field(gt=0, le=100)]

SampleKind = Literal["text", "image", "audio", "video"]


class Grid(Table):
    """Factors whose every combination is a case.

    Either `payload_B` (bytes, drawn from the seed) or `data` (whole files of a kind, each `file_B` of the study long).
    A key setup and the operations of key establishment have no payload, and none of the factors from `encoding` on. Of
    key establishment `keying` says whether keys are read from their bytes in each call, as the standard's operation
    does, or were before; a key setup and a new key pair have no key to read and are one case a cipher. Only `seal`,
    `open` and `open_forged` have associated data, `aad_B`. `readiness` says what a call finds: `steady` is calls one
    after another, `after-pause` the first call after 2 ms of other work. Without `provider` a cipher is measured by
    the usual one, without `core_class` on the fastest cores where a device has several kinds.
    """

    cipher: list[str] = Field(min_length=1)
    provider: list[str] | None = Field(default=None, min_length=1)
    operation: list[Operation] = Field(min_length=1)
    keying: list[Keying] = Field(default=["ready"], min_length=1)
    encoding: list[Encoding] = Field(default=["raw"], min_length=1)
    placement: list[Placement] = Field(default=["hot"], min_length=1)
    pattern: list[Pattern] = Field(default=["independent"], min_length=1)
    payload_B: list[Size] | None = Field(default=None, min_length=1)
    data: list[SampleKind] | None = Field(default=None, min_length=1)
    aad_B: list[Aad] = Field(default=[0], min_length=1)
    readiness: list[Readiness] = Field(default=["steady"], min_length=1)
    core_class: list[CoreClass] | None = Field(default=None, min_length=1)


class Study(Table):
    """A question to a machine, and how it is put.

    * `target_percent`: half-width of the 95 % interval at which a case is done.
    * `smallest_effect_percent`: the smallest difference worth claiming.
    * `looks`: after how many processes the intervals are looked at.
    * `file_B`: size to which the sample files are grown, bytes.
    """

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)
    title: str = Field(min_length=1)
    question: str = Field(min_length=1)
    target_percent: Percent = 1.0
    smallest_effect_percent: Percent = 1.0
    looks: list[Annotated[int, Field(le=MOST_PROCESSES)]] = Field(default=[5, 8, 12, 20, 30], min_length=1)
    file_B: Size = 350_000
    grid: list[Grid] = Field(min_length=1)

    _origin: str = PrivateAttr(default="")

    @property
    def origin(self) -> str:
        """The study's file as the user named it, for errors."""
        return self._origin or f"{self.id}.toml"

    def ciphers(self) -> dict[str, str]:
        """All cipher ids that the grids name, each with the path of the key that names it first."""
        found: dict[str, str] = {}
        for g, grid in enumerate(self.grid):
            for c, cipher in enumerate(grid.cipher):
                found.setdefault(cipher, f"grid[{g}].cipher[{c}]")
        return found

    def core_classes(self) -> dict[str, str]:
        """All kinds of core that the grids name, each with the path of the key that names it first."""
        found: dict[str, str] = {}
        for g, grid in enumerate(self.grid):
            for c, core_class in enumerate(grid.core_class or []):
                found.setdefault(core_class, f"grid[{g}].core_class[{c}]")
        return found

    def samples(self) -> list[str]:
        """The kinds of sample files that the grids ask for, each once."""
        return list(dict.fromkeys(kind for grid in self.grid for kind in grid.data or []))


FORM = DefinitionForm("study", "A study: what is measured, and how well it must be known.", Study, ("study",))

STUDIES = Shelf(
    "study",
    "studies",
    "studies",
    Study,
    own_too=True,
    error_class=StudyError,
    template="wattlock studies --template",
)


def names() -> list[str]:
    """The studies that come with wattlock, by name; one in a folder as `papers/quick`."""
    return STUDIES.names()


def load(name_or_path: str | Path) -> Study:
    """Reads a study.

    * `name_or_path`: the name of a study that comes with wattlock, or the path of a TOML file.

    Raises StudyError where there is no such study, or naming everything that is wrong with it.
    """
    found = STUDIES.find(name_or_path)
    study = STUDIES.checked(found.label, STUDIES.tables(found))
    study._origin = f"{found.name}.toml" if found.shipped else str(found.source)
    problems = [*_look_problems(study.looks), *_grid_problems(study)]
    if problems:
        raise refusal(found.label, problems, StudyError)
    return study


def with_looks(study: Study, looks: list[int]) -> Study:
    """The study with other looks."""
    changed = study.model_copy(update={"looks": looks})
    changed._origin = study._origin
    return changed


def _look_problems(looks: list[int]) -> Iterator[Problem]:
    if len(looks) > MOST_LOOKS:
        yield Problem("looks", f"must be at most {MOST_LOOKS} looks, is {len(looks)}")
        return
    if looks[0] < FEWEST_PROCESSES:
        yield Problem("looks[0]", f"must be at least {FEWEST_PROCESSES}, is {looks[0]}")
    for index in range(1, len(looks)):
        if looks[index] <= looks[index - 1]:
            what = f"must be more than {looks[index - 1]}, the look before, is {looks[index]}"
            yield Problem(f"looks[{index}]", what)


def _grid_problems(study: Study) -> Iterator[Problem]:
    for number, grid in enumerate(study.grid):
        here = path_of(("grid", number))
        yield from _duplicates(here, grid)
        yield from _payload_problems(here, grid)
        yield from _size_problems(here, grid, study.file_B)
        if "chained" in grid.pattern and {"decrypt", "open", "open_forged"} & set(grid.operation):
            at = grid.pattern.index("chained")
            forward = "encrypt" if "decrypt" in grid.operation else "seal"
            hint = f"give {forward} a grid of its own for the chained pattern"
            yield Problem(f"{here}.pattern[{at}]", "decrypted packets do not wait for one another", hint)
        if "aad_B" in grid.model_fields_set and not {"seal", "open", "open_forged"} & set(grid.operation):
            hint = "leave aad_B out of this grid, or name the operation seal"
            yield Problem(f"{here}.aad_B", "only seal, open and open_forged have associated data", hint)


def _duplicates(here: str, grid: Grid) -> Iterator[Problem]:
    for key in Grid.model_fields:
        first: dict[str | int, int] = {}
        for index, value in enumerate(getattr(grid, key) or []):
            if first.setdefault(value, index) != index:
                at = f"{here}.{key}[{first[value]}]"
                yield Problem(f"{here}.{key}[{index}]", f"{shown(value)} stands in {at} already")


def _payload_problems(here: str, grid: Grid) -> Iterator[Problem]:
    if WITHOUT_PAYLOAD.issuperset(grid.operation):
        reads_keys = not {"key_setup", "generate"}.issuperset(grid.operation)
        has = {"cipher", "provider", "operation", "core_class", *(["keying"] if reads_keys else [])}
        for key in sorted(grid.model_fields_set - has):
            what = f"{' and '.join(grid.operation)} alone has no such factor"
            yield Problem(f"{here}.{key}", what, f"leave {key} out of this grid")
    elif grid.payload_B is None and grid.data is None:
        kinds = ", ".join(f'"{kind}"' for kind in get_args(SampleKind))
        yield Problem(here, "nothing to work on", f"give payload_B = [64, 1500] (bytes) or data = [{kinds}]")
    elif grid.payload_B is not None and grid.data is not None:
        yield Problem(here, "has payload_B and data", "give them a grid each")


def _size_problems(here: str, grid: Grid, file_B: int) -> Iterator[Problem]:
    if "L2" not in grid.placement:
        return
    sizes = [(f"{here}.payload_B[{index}]", size) for index, size in enumerate(grid.payload_B or [])]
    if grid.data is not None:
        sizes.append(("file_B", file_B))
    for path, size_B in sizes:
        if size_B > LARGEST_L2_PAYLOAD_B:
            yield Problem(path, f"must be at most {LARGEST_L2_PAYLOAD_B} where placement is L2, is {size_B}")


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
    number, left_B = _fitting([len(fragment) for fragment in fragments], size_B - len(head), BOX_HEAD_B)
    pieces = [head]
    for place, sample in enumerate(islice(cycle(fragments), number)):
        fragment = bytearray(sample)
        struct.pack_into(">I", fragment, MFHD_SEQUENCE_AT, place + 1)
        struct.pack_into(">Q", fragment, _time_at(sample), place * ticks)
        pieces.append(bytes(fragment))
    return b"".join([*pieces, _free(fragments[number % len(fragments)], left_B)])


def _free(fragment: bytes, size_B: int) -> bytes:
    if size_B == 0:
        return b""
    content = fragment[fragment.index(b"mdat") + 4 :]
    return struct.pack(">I4s", size_B, b"free") + _over_and_over(content, size_B - BOX_HEAD_B)
