"""Labs for tests: small sealed runs, a lab that answers without a network, and one that listens."""

import io
import shutil
import tarfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import uvicorn
from fastapi.testclient import TestClient

from support.tree import TESTS
from wattlock.lab.app import make
from wattlock.lab.collection import FOLDER, RUNS, Collection
from wattlock.lab.pack import MEDIA_TYPE, packed
from wattlock.store import RunFolder
from wattlock.store.run_folder import sums_sha256

COUNTED = FOLDER
MEASURED = TESTS / "store" / "measured_run"
SMALL = (COUNTED / "m4", COUNTED / "m0plus", MEASURED)
"""Two runs that counted on cores, and one that measured."""
LOCAL = "http://127.0.0.1"


def hash_of(run: Path) -> str:
    """The hash that names a run."""
    return sums_sha256(RunFolder.open(run))


def pack_of(run: Path) -> bytes:
    """The pack of a run."""
    return b"".join(packed(run))


def tar_of(
    files: Sequence[tuple[tarfile.TarInfo | str, bytes]], form: Literal[0, 1, 2] = tarfile.USTAR_FORMAT
) -> bytes:
    """A tar of files by name or header, their sizes as they are unless a header says otherwise."""
    written = io.BytesIO()
    for named, content in files:
        head = tarfile.TarInfo(named) if isinstance(named, str) else named
        if isinstance(named, str):
            head.size = len(content)
        written.write(head.tobuf(form))
        written.write(content + bytes(-len(content) % tarfile.BLOCKSIZE))
    return written.getvalue() + bytes(2 * tarfile.BLOCKSIZE)


def files_of(run: Path) -> list[tuple[str, bytes]]:
    """The files of a run with what they hold."""
    return [
        (name, (run / name).read_bytes()) for name in ("SHA256SUMS", "plan.jsonl", "headers.jsonl", "batches.parquet")
    ]


def filled(place: Path, runs: Sequence[Path] = SMALL) -> Collection:
    """A lab that holds these runs, as if somebody had copied them."""
    lab = Collection.open(place)
    for run in runs:
        shutil.copytree(run, place / RUNS / hash_of(run), copy_function=shutil.copy)
    assert lab.catch_up() == []
    return lab


def asking(lab: Collection, targets: Sequence[str] = ()) -> TestClient:
    """Asks a lab without a network, and gives its errors as answers; `targets`: of its fleet."""
    app = make(lab, targets=targets)
    return TestClient(app, base_url=LOCAL, raise_server_exceptions=False, follow_redirects=False)


def sent(client: TestClient, hash_: str, pack: bytes, **headers: str) -> tuple[int, dict[str, object]]:
    """What the lab answers to a pack."""
    answer = client.put(f"/runs/{hash_}", content=pack, headers={"Content-Type": MEDIA_TYPE, **headers})
    return answer.status_code, answer.json()


def below(lab: Collection) -> list[str]:
    """All files that a lab keeps, its database apart."""
    return sorted(str(path.relative_to(lab.data)) for path in lab.data.rglob("*") if not path.name.startswith("lab."))


@contextmanager
def listening(lab: Collection) -> Iterator[str]:
    """The address of a lab that listens on loopback."""
    server = uvicorn.Server(uvicorn.Config(make(lab), port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"{LOCAL}:{port}"
    finally:
        server.should_exit = True
        thread.join(10)
