"""The example set: a new lab shows it, it leaves for the first other run, and no other lab ever has it."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from support.labs import MEASURED, asking, filled, hash_of, pack_of, sent
from wattlock import cli
from wattlock.lab import examples


@contextmanager
def served(data: Path) -> Iterator[str]:
    """The address of a lab as `wattlock lab` starts it."""
    command = [sys.executable, "-m", "wattlock", "lab", "--data", str(data), "--bind", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as lab:
        try:
            assert lab.stderr is not None
            address = next(found[0] for line in lab.stderr if (found := re.search(r"http://\S+", line)))
            yield address
        finally:
            lab.terminate()


def text_of(address: str) -> str:
    """What a lab answers."""
    parts = urlsplit(address)
    with closing(HTTPConnection(parts.netloc, timeout=60)) as connection:
        connection.request("GET", f"{parts.path or '/'}?{parts.query}")
        return connection.getresponse().read().decode()


def hashes_at(address: str) -> set[str]:
    """The runs that a lab names."""
    return {row["hash"] for row in json.loads(text_of(f"{address}/runs.json"))}


def test_a_new_lab_shows_examples_until_the_first_run_arrives(tmp_path: Path) -> None:
    data = tmp_path / "lab"
    with served(data) as address:
        assert "The 2 runs below come with wattlock" in text_of(address)
        assert hashes_at(address) == set(examples.hashes())
        both = "&".join(f"run={hash_}" for hash_ in examples.hashes())
        assert json.loads(text_of(f"{address}/compare.json?{both}")), "the examples can be compared"
        assert cli.answer(["push", str(MEASURED), "--to", address]) == 0
        assert hashes_at(address) == {hash_of(MEASURED)}
        assert "come with wattlock" not in text_of(address)
    assert [place.name for place in (data / "runs").iterdir()] == [hash_of(MEASURED)]
    with served(data) as address:
        assert hashes_at(address) == {hash_of(MEASURED)}


def test_the_same_runs_pushed_by_somebody_stay(tmp_path: Path) -> None:
    lab = filled(tmp_path / "lab")
    (known,) = (hash_ for hash_, place in examples.hashes().items() if place.name == "m4")
    client = asking(lab)
    code, _ = sent(client, known, pack_of(examples.hashes()[known]))
    assert code in {200, 201}
    sent(client, hash_of(MEASURED), pack_of(MEASURED))
    assert lab.has(known)
