"""A sealed run in one file: a ZIP archive of what was sealed, uncompressed, the same bytes for the same run."""

import errno
import tempfile
import zipfile
from pathlib import Path

from wattlock.errors import NotVerified, StoreError
from wattlock.store import RunFolder
from wattlock.store.seal import MOST_B, SEALED, SUMS

NAMES = (*SEALED, SUMS)
OLDEST = (1980, 1, 1, 0, 0, 0)
"""The first time that a ZIP archive can hold: files of a run have no other."""


def pack(run: RunFolder, path: Path) -> None:
    """Writes the sealed files of a run; what is derived of it stays outside."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name in NAMES:
            entry = zipfile.ZipInfo(f"{run.id}/{name}", OLDEST)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, (run.path / name).read_bytes())


def check(path: Path) -> str:
    """Unpacks a run for a moment, checks its seal, and gives its id.

    Raises NotVerified where it is no packed run, or isn't what was sealed.
    """
    with tempfile.TemporaryDirectory() as place:
        try:
            with zipfile.ZipFile(path) as archive:
                _unpack(archive, path, Path(place))
            return RunFolder.open(place).id
        except (zipfile.BadZipFile, RuntimeError, EOFError, OSError) as error:
            if isinstance(error, OSError) and error.errno != errno.EINVAL:  # an offset that is none
                raise
            raise NotVerified(f"{path}: no packed run: {error}", hint="fetch it again") from error
        except StoreError as error:
            told = error.message.removeprefix(f"run {place}: ")
            raise NotVerified(f"{path}: {told}", hint="fetch it again") from error


def _unpack(archive: zipfile.ZipFile, path: Path, place: Path) -> None:
    """Takes out what a run is made of; an archive can't be larger unpacked than it is packed."""
    for entry in archive.infolist():
        name = entry.filename.rpartition("/")[2]
        if name not in NAMES or entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
            raise NotVerified(f"{path}: {entry.filename} is not of a packed run", hint="fetch it again")
        if entry.file_size > MOST_B[name]:
            what = f"{path}: {name} has {entry.file_size} B, the limit is {MOST_B[name]} B"
            raise NotVerified(what, hint="ask who published it for a smaller run")
        (place / name).write_bytes(archive.read(entry))
