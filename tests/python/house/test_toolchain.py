"""A machine without a Rust toolchain: tests that need it are skipped, and none ends the collecting of all."""

import subprocess
from pathlib import Path

import pytest

from support.tools import compiling
from support.tree import TREE


def stub(folder: Path, name: str, does: str = "exit 0") -> None:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All programs that are found: cargo, cc and the emulator, and what a test adds."""
    for name in ("cargo", "cc", "qemu-system-arm"):
        stub(tmp_path, name)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_rustup_without_a_toolchain_compiles_nothing_and_raises_nothing(programs: Path) -> None:
    assert compiling("qemu-system-arm", "thumbv7em-none-eabi") is None
    stub(programs, "rustc", "echo 'error: rustup could not choose a version of rustc to run' >&2; exit 1")
    assert compiling("qemu-system-arm", "thumbv7em-none-eabi") is None
    stub(programs, "rustc", f"echo {programs}")
    assert compiling("qemu-system-arm", "thumbv7em-none-eabi") is None
    (programs / "lib" / "rustlib" / "thumbv7em-none-eabi").mkdir(parents=True)
    assert compiling("qemu-system-arm", "thumbv7em-none-eabi") == str(programs / "qemu-system-arm")
    assert compiling("qemu-system-arm", "thumbv7em-none-eabi", beside=("gcc",)) is None


def test_only_one_function_of_the_tests_asks_rustc_where_it_lies() -> None:
    found = subprocess.run(
        ["/usr/bin/env", "grep", "-rlE", '"--print",', TREE / "tests" / "python"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert {Path(line).name for line in found.stdout.split() if line.endswith(".py")} == {
        "tools.py",
        "test_toolchain.py",
    }
