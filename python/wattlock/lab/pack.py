"""A sealed run as one stream of bytes: its four files in a plain tar, and nothing else.

What arrives is read header by header: a name that is none of the four, a link, a folder, a device, a compressed or an
extended archive is refused before a byte of it is written, and no path of a sender is used.
"""

import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from wattlock.errors import TransferRefused
from wattlock.store.run_folder import MOST_B

BLOCK_B, STEP_B = tarfile.BLOCKSIZE, 2**18
LARGEST_B = sum(MOST_B.values()) + 2 * len(MOST_B) * BLOCK_B + tarfile.RECORDSIZE
"""The most bytes of a pack."""
MEDIA_TYPE = "application/x-tar"
WHOLE = "send a sealed run by `wattlock push`"


def packed(folder: Path) -> Iterator[bytes]:
    """The bytes of a run's pack: of the same run always the same."""
    for name in MOST_B:
        head = tarfile.TarInfo(name)
        head.size = (folder / name).stat().st_size
        yield head.tobuf(tarfile.USTAR_FORMAT)
        with (folder / name).open("rb") as file:
            while step := file.read(STEP_B):
                yield step
        yield bytes(-head.size % BLOCK_B)
    yield bytes(2 * BLOCK_B)


def size_B(folder: Path) -> int:
    """How many bytes the pack of a run has."""
    sizes = [(folder / name).stat().st_size for name in MOST_B]
    return sum(BLOCK_B + size + -size % BLOCK_B for size in sizes) + 2 * BLOCK_B


def unpack(pack: BinaryIO, into: Path) -> None:
    """Writes the files of a pack into the empty folder `into`.

    Raises TransferRefused where the pack is cut, holds anything but the files of a run, or one that is too large.
    """
    lacking = set(MOST_B)
    while (head := _next(pack)) is not None:
        if head.name not in lacking or head.type != tarfile.REGTYPE:
            what = "twice" if head.name in MOST_B and head.type == tarfile.REGTYPE else "which is no file of a run"
            raise TransferRefused(f"the pack holds {head.name[:80]!r}, {what}", hint=WHOLE)
        if not 0 <= head.size <= MOST_B[head.name]:
            what = f"{head.name} of the pack has {head.size} B, the limit is {MOST_B[head.name]} B"
            raise TransferRefused(what, hint="copy the run's folder to the lab's host, below runs/")
        lacking.remove(head.name)
        _copy(pack, into / head.name, head.size)
    if lacking:
        raise TransferRefused(f"the pack lacks {', '.join(sorted(lacking))}", hint=WHOLE)
    while step := pack.read(STEP_B):
        if step.strip(b"\0"):
            raise TransferRefused("the pack goes on behind its end", hint=WHOLE)


def _next(pack: BinaryIO) -> tarfile.TarInfo | None:
    """The next header; null at the end of the archive."""
    block = pack.read(BLOCK_B)
    if block == bytes(BLOCK_B):
        return None
    try:
        return tarfile.TarInfo.frombuf(block, "ascii", "strict")
    except (tarfile.HeaderError, ValueError, OverflowError):
        raise TransferRefused("the pack is cut, or no plain tar", hint=WHOLE) from None


def _copy(pack: BinaryIO, to: Path, size: int) -> None:
    with to.open("xb") as file:
        left = size
        while left:
            step = pack.read(min(left, STEP_B))
            if not step:
                raise TransferRefused(f"the pack is cut in {to.name}", hint=WHOLE)
            file.write(step)
            left -= len(step)
    if pack.read(-size % BLOCK_B).strip(b"\0"):
        raise TransferRefused(f"the pack goes on behind {to.name}", hint=WHOLE)
