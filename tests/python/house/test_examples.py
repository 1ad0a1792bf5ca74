"""The examples of the README and the guides, carried out as they are typed, page by page in an empty folder."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.counted_runs import M0PLUS, M4
from support.tree import TREE
from wattlock.errors import EvidenceError

PROGRAMS = Path(sys.prefix) / "bin"
PAGES = ["README.md", *sorted(str(page.relative_to(TREE)) for page in (TREE / "docs").rglob("*.md"))]
A_LINE = re.compile(r"(?:echo '.*' \| )?wattlock(?:-probe|-net)? [a-z]")
SECONDS = 120
TRIES = 5
"""A storm of neighbours may make a run invalid: then it is measured again."""

NOT_HERE = {
    "--meter": "this machine shows no meter",
    "--battery": "this machine has no battery to discharge",
    "192.168.1.2": "there is no other machine",
    "wattlock page": "it waits for a browser; its own tests bring one",
    "-providers rustcrypto mine": "the library is in no run here",
    "--providers rustcrypto openssl": "one provider is in the run here",
    "--run last --export exhibits": "it has its own test, on a whole run",
    "advise --message 1kB --every 1s --run last": "the run here has no AEAD",
    "selftest           #": "it takes a minute",
    "wattlock doctor": "it watches for seconds",
    "wattlock-probe doctor": "it watches for seconds",
    "--library before=./old.so": "there are no two builds of a library",
    "--device pxa270-520": "the run here is of another instruction set",
    "durations.csv": "nobody has measured any here",
    "wattlock-probe board": "it reads a plan of records, which the probe's own tests give it",
    "wattlock costs --from": "the run here measured, and counted nothing",
    "--costs mine.toml --allow-assumed": "it needs the counts of the line before it",
    "meters --read": "this machine shows no meter",
    "--transfers aes.json": "nothing was sent to another machine",
    "meters --csv": "no instrument has recorded anything",
    "wattlock energy": "no instrument has recorded anything; its own test makes one up",
    "run --resume last": "the run here came to its end",
    "run quick --library mine=./libmine.so": "the library here has none of that study's ciphers",
    "ssh:pi": "there is no board here",
    "--on adb:": "there is no phone here",
    "wattlock targets": "there is no other device here",
    "--scheduler tcp://": "there is no scheduler here",
    "wattlock lab --data": "it serves until it is stopped",
    "lab revoke": "it has no such token",
    "wattlock push": "no lab listens here",
    "wattlock pull": "no lab listens here",
    "key new": "nobody is here to type a password",
    "verify estimates.csv": "nobody signed this file",
    "wattlock import": "no result file of others is here",
    "--beside nano33ble.json": "no result file of others is here",
    "build/adapters/": "nothing of others was fetched here",
    ".pcap": "no capture of a keyed network is at hand",
}
"""Examples that can't be carried out here, by what stands in them, and why."""


def examples(page: str) -> Iterator[str]:
    """The command lines in a page's plain fences: what stands in one of a language is no example."""
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", (TREE / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    for block in (inside for language, inside in fences if not language):
        for line in block.replace("\\\n", " ").splitlines():
            if A_LINE.match(line) and not re.search(r" {8}\d", line):
                yield line


def carried_out(line: str) -> str:
    """The line, made quick: what measures for long is only planned."""
    words = shlex.split(line, comments=True)
    if words[1] == "papers" and "--run" not in words:
        return "wattlock papers --dry-run"
    is_long = "examples/" not in line or "--on qemu:" in line
    return f"{line} --dry-run" if words[1] == "run" and is_long else line


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small run, copies of it to compare, a library, a study and the files that the examples name."""
    here = tmp_path_factory.mktemp("made")
    shutil.copy(TREE / "docs" / "report.png", here / "photo.jpg")
    shutil.copytree(TREE / "examples", here / "examples")
    shutil.copy(TREE / "examples" / "library" / "xtea.toml", here / "mine.toml")
    (here / "plain").write_bytes(b"sixteen octets!!")
    (here / "key.hex").write_text("000102030405060708090a0b0c0d0e0f")
    include = next((TREE / "crates").rglob("wattlock_cipher.h")).parent
    for name in ("xtea.so", "libmine.so", "old.so", "new.so"):
        compiled = ["cc", "-O2", "-shared", "-fPIC", f"-I{include}", "-o", str(here / name)]
        subprocess.run([*compiled, str(TREE / "examples" / "library" / "xtea.c")], check=True)
    only = "cipher=aes128-cbc,data=random"
    run = ["wattlock", "run", "first-look", "--only", only, "--device", "x86-server-assumed", "--allow-assumed"]
    for _ in range(TRIES):
        subprocess.run(run, cwd=here, env=environment(), check=True, capture_output=True)
        described = ["wattlock", "export", "last", "--out", "table.tex"]
        if subprocess.run(described, check=False, cwd=here, env=environment(), capture_output=True).returncode == 0:
            break
    last = max((here / "runs").iterdir(), key=lambda run: run.stat().st_mtime)
    for name in ("before", "after", "laptop", "pi4", "phone"):
        shutil.copytree(last, here / name)
    subprocess.run(
        ["wattlock", "key", "new", "wattlock.key", "--without-password"], cwd=here, env=environment(), check=True
    )
    for counted in (M4, M0PLUS):
        shutil.copytree(counted, here / counted.name)
    return here


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy of it for a page, so that no page works by what another left."""
    return Path(shutil.copytree(made, tmp_path / "page", symlinks=True))


def environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{PROGRAMS}:{os.environ['PATH']}"}


@pytest.fixture(scope="module")
def seen() -> set[str]:
    """What was carried out on an earlier page, and reads nothing that is the page's own."""
    return set()


@pytest.mark.parametrize("page", [page for page in PAGES if list(examples(page))])
def test_the_examples_of_a_page_work_as_they_are_typed(page: str, folder: Path, seen: set[str]) -> None:
    for line in examples(page):
        quick = carried_out(line)
        if quick in seen or any(part in line for part in NOT_HERE):
            continue
        for _ in range(TRIES):
            done = subprocess.run(
                ["bash", "-c", quick], check=False, cwd=folder, env=environment(), capture_output=True, timeout=SECONDS
            )
            if done.returncode != EvidenceError.exit_code:
                break
        assert done.returncode == 0, f"{page}: {line}\n{done.stderr.decode()}"
        if not any(own in quick for own in (" last", "mine", "--data lab")):
            seen.add(quick)


def test_every_reason_to_leave_an_example_out_has_its_example() -> None:
    every = [line for page in PAGES for line in examples(page)]
    assert [part for part in NOT_HERE if not any(part in line for line in every)] == []
