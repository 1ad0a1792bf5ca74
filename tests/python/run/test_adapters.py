"""Code of the user's own on a core: what its folder needs, which rows it makes, a whole run beside the catalogue."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from support.counted_runs import STUDY, Replayed
from support.tools import compiling, needs
from support.tree import TREE, require_programs
from wattlock import cli
from wattlock.errors import InputError
from wattlock.run import begin
from wattlock.run.begin import Request
from wattlock.run.libraries import hash_of, named_libraries, refuse_unfit, with_adapters
from wattlock.run.result import read
from wattlock.store import RunFolder

EXAMPLE = TREE / "examples" / "board"


def test_a_shared_library_on_a_core_is_refused_before_anything_is_counted(tmp_path: Path) -> None:
    require_programs()
    study = tmp_path / "counted.toml"
    study.write_text(STUDY)
    target = Replayed()
    with pytest.raises(InputError, match=r"can't load libmine\.so") as caught:
        begin.plan(Request(str(study), libraries={"mine": Path("libmine.so")}), target)
    assert "adapter.toml" in str(caught.value.hint)
    assert target.asked == []


def test_a_folder_of_sources_is_refused_where_nothing_is_counted() -> None:
    libraries = named_libraries([f"mine={EXAMPLE}"])
    with pytest.raises(InputError, match="compiled for a microcontroller's core") as caught:
        refuse_unfit(libraries, None)
    assert "--on qemu:cortex-m4" in str(caught.value.hint)


def test_an_adapter_has_a_row_behind_those_of_its_ciphers_alone() -> None:
    rows: Any = {name: [{"id": name, "provider": "wattlock", "path": "avx2"}] for name in ("xtea-ctr", "aes128-ctr")}
    found = with_adapters(rows, {"mine": EXAMPLE})
    assert [row["provider"] for row in found["xtea-ctr"]] == ["wattlock", "mine"]
    assert found["xtea-ctr"][1]["version"] == "1.0.0"
    assert found["xtea-ctr"][1]["path"] is None
    assert found["aes128-ctr"] == rows["aes128-ctr"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ciphers = [", "adapter.toml: "),
        ('version = "1"', "has no ciphers"),
        ('version = 1\nciphers = ["xor"]', "a text"),
    ],
)
def test_a_manifest_that_can_not_be_read_is_named(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "adapter.toml").write_text(text)
    with pytest.raises(InputError, match=words):
        with_adapters({}, {"mine": tmp_path})


def test_a_changed_source_makes_another_library(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(EXAMPLE, folder)
    assert hash_of(folder) == hash_of(EXAMPLE)
    (folder / "xtea.c").write_text("int changed;")
    assert hash_of(folder) != hash_of(EXAMPLE)


def test_sources_that_are_not_those_an_adapter_was_written_for_are_refused(tmp_path: Path) -> None:
    (tmp_path / "LICENSE").write_text("another")
    words = ["--from", f"jnk0le-aes={tmp_path}", "--into", str(tmp_path / "into"), "jnk0le-aes"]
    told = subprocess.run(
        [sys.executable, TREE / "tools" / "adapters.py", *words], capture_output=True, text=True, check=False
    )
    assert told.returncode == 4
    assert "error: jnk0le-aes: LICENSE has the SHA-256 " in told.stderr
    assert not (tmp_path / "into").exists()


@needs(
    compiling("arm-none-eabi-gcc", "thumbv7em-none-eabi", beside=("qemu-system-arm",)),
    "needs qemu-system-arm, gcc, gcc-arm-none-eabi and `rustup target add thumbv7em-none-eabi`",
)
def test_code_of_ones_own_is_counted_beside_the_catalogues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_programs()
    monkeypatch.chdir(tmp_path)
    words = ["run", str(EXAMPLE / "xtea.toml"), "--on", "qemu:cortex-m4", "--library", f"mine={EXAMPLE}"]
    assert cli.answer([*words, "--out", "run"]) == 0
    folder = RunFolder.open("run")
    found = read(folder).estimates
    assert found["state"].to_list() == ["counted"] * 8
    assert found.filter(pl.col("provider") == "mine")["version"].to_list() == ["1.0.0"] * 4
    named = [record["adapter"]["licence"] for record in folder.records("count") if record.get("adapter")]
    assert named == ["MIT OR Apache-2.0"] * 4
    assert "XTEA of mine" in Path("run", "report.html").read_text(encoding="utf-8")
