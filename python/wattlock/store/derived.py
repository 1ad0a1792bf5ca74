"""A sealed folder that is made of a run and of what was learnt about it later: the run itself stays as it is."""

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from wattlock.errors import StoreError
from wattlock.store import plan, seal
from wattlock.store.disk import named, write_whole
from wattlock.store.folder import RunFolder
from wattlock.study.inputs import sha256


def sums_sha256(run: RunFolder) -> str:
    """The hash that names a sealed run: that of its `SHA256SUMS`.

    Raises StoreError where it is not sealed.
    """
    if not run.is_sealed:
        raise StoreError(f"run {run.path}: is not finished", hint=f"`{run.resuming}` goes on with it")
    return sha256(run.path / seal.SUMS)


def derive(run: RunFolder, path: Path, first: Mapping[str, Any], records: Iterable[Mapping[str, Any]]) -> RunFolder:
    """Makes the folder: the plan with another first line, other records, the batches as they are; sealed as a run is.

    Raises StoreError where the folder holds something, DiskFull where there is no room.
    """
    lines = [dict(first), *run.plan()[1:]]
    with named(path):
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise StoreError(f"{path}: the folder is not empty", hint="name another one with --out")
        write_whole(path / plan.NAME, plan.encode(lines))
        shutil.copyfile(run.path / seal.BATCHES, path / seal.BATCHES)
        write_whole(path / seal.HEADERS, (_line(record) for record in records))
        seal.write_sums(path)
    return RunFolder.open(path)


def _line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
