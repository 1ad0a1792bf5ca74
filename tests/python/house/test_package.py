"""The packages: what the source package holds, how a wheel of it is called, and what is said where Rust is missing."""

import email
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from support.tree import NET, PACKAGE, PROBE, TREE, require_programs
from wattlock import extras
from wattlock.targets import remote

MANIFEST = tomllib.loads((TREE / "pyproject.toml").read_text())
VERSION = MANIFEST["project"]["version"]
LARGEST_SOURCE_B = 4_000_000
# Cargo as far as setuptools-rust asks it: the workspace as it is, and programs that are built already.
BUILT = """#!{python}
import json, os, sys
if sys.argv[1] != "build":
    os.execv({cargo!r}, ["cargo", *sys.argv[1:]])
folder = sys.argv[sys.argv.index("--manifest-path") + 1].removesuffix("/Cargo.toml")
path = {programs!r}[folder]
name = "wattlock-" + folder.rpartition("/")[2]
asked = {cargo!r} + " metadata --no-deps --format-version 1 --manifest-path " + folder + "/Cargo.toml"
known = json.load(os.popen(asked))
id = next(package["id"] for package in known["packages"] if package["name"] == name)
print(json.dumps({{"reason": "compiler-artifact", "package_id": id, "target": {{"kind": ["bin"], "name": name}},
                  "filenames": [path], "executable": path}}))
"""


def build(what: str, out: Path, tree: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    code = f"from setuptools import build_meta; build_meta.build_{what}({str(out)!r})"
    variables = {name: value for name, value in os.environ.items() if name not in {"CARGO", "CARGO_BUILD_TARGET"}}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=tree, env=variables | environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source package, unpacked."""
    out = tmp_path_factory.mktemp("source")
    done = build("sdist", out, TREE)
    assert done.returncode == 0, done.stderr
    package = out / f"wattlock-{VERSION}.tar.gz"
    assert package.stat().st_size < LARGEST_SOURCE_B
    with tarfile.open(package) as archive:
        archive.extractall(out, filter="data")
    return out / f"wattlock-{VERSION}"


@pytest.fixture
def cargo(tmp_path: Path) -> str:
    """A cargo that has built both programs already."""
    require_programs()
    there = shutil.which("cargo")
    assert there is not None
    programs = {"crates/probe": str(PROBE), "crates/net": str(NET)}
    stand_in = tmp_path / "cargo"
    stand_in.write_text(BUILT.format(python=sys.executable, cargo=there, programs=programs))
    stand_in.chmod(0o755)
    return str(stand_in)


def files(tree: Path) -> set[str]:
    return {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()}


def test_the_source_package_holds_what_builds_it_and_nothing_else(source: Path) -> None:
    held = files(source)
    listing = ["git", "ls-files", "-co", "--exclude-standard"]
    kept = subprocess.run(listing, cwd=TREE, capture_output=True, text=True, check=True).stdout.splitlines()
    wanted = {
        name
        for name in kept
        if (TREE / name).is_file()
        and (name.startswith(("python/wattlock/", "crates/")) or "/" not in name or name == ".cargo/config.toml")
        and not name.startswith(tuple(f"{crate}/{part}/" for crate in crates() for part in ("tests", "examples")))
    }
    outside = {name for name in wanted if "/" not in name}
    at_the_root = {"Cargo.lock", "Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "MANIFEST.in", "README.md"}
    wanted = wanted - outside | at_the_root | {"pyproject.toml", "setup.py"}
    made = {name for name in held if ".egg-info/" in name} | {"PKG-INFO", "setup.cfg"}
    assert held - made == wanted


def crates() -> list[str]:
    return [f"crates/{path.parent.name}" for path in (TREE / "crates").glob("*/Cargo.toml")]


def test_cargo_reads_the_workspace_of_the_source_package(source: Path) -> None:
    command = ["cargo", "metadata", "--no-deps", "--offline", "--locked", "--format-version", "1"]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("target", "platform"),
    [
        ("x86_64-unknown-linux-gnu.2.28", "manylinux_2_28_x86_64"),
        ("aarch64-unknown-linux-gnu.2.28", "manylinux_2_28_aarch64"),
        ("", f"linux_{os.uname().machine}"),
    ],
)
def test_a_wheel_is_for_any_python_3_and_names_its_platform(
    source: Path, cargo: str, tmp_path: Path, target: str, platform: str
) -> None:
    named = {"CARGO_BUILD_TARGET": target} if target else {}
    done = build("wheel", tmp_path, source, CARGO=cargo, **named)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(tmp_path / f"wattlock-{VERSION}-py3-none-{platform}.whl") as wheel:
        names = set(wheel.namelist())
        about = email.message_from_bytes(wheel.read(f"wattlock-{VERSION}.dist-info/METADATA"))
        of_probe = wheel.getinfo(f"wattlock-{VERSION}.data/scripts/wattlock-probe")
    assert of_probe.external_attr >> 16 & 0o111 == 0o111
    assert f"wattlock-{VERSION}.data/scripts/wattlock-net" in names
    package = {f"wattlock/{path}" for path in files(PACKAGE) if "__pycache__" not in path}
    assert {name for name in names if name.startswith("wattlock/")} == package
    assert set(about.get_all("Provides-Extra", [])) == set(extras.EXTRAS)
    assert about["Requires-Python"] == MANIFEST["project"]["requires-python"]
    assert about["License-Expression"] == "MIT OR Apache-2.0"


def test_a_wheel_carries_the_static_probes_of_x86_64_and_aarch64_where_they_were_built(
    source: Path, cargo: str, tmp_path: Path
) -> None:
    for target in remote.TRIPLES.values():
        program = tmp_path / "probes" / target / "wattlock-probe"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(target)
        program.chmod(0o755)
    done = build("wheel", tmp_path, source, CARGO=cargo, WATTLOCK_PROBES=str(tmp_path / "probes"))
    assert done.returncode == 0, done.stderr
    (built,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(built) as wheel:
        carried = [member for member in wheel.infolist() if "/probes/" in member.filename]
        contents = {wheel.read(member).decode() for member in carried}
    assert contents == {"x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"}
    assert all(member.external_attr >> 16 & 0o111 == 0o111 for member in carried)
    assert {member.filename for member in carried} == {
        f"wattlock/data/probes/{name}/wattlock-probe" for name in contents
    }


def test_a_wheels_programs_are_built_without_the_builders_paths(source: Path, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    stand_in = tmp_path / "cargo"
    stand_in.write_text(f'#!/bin/sh\n[ $1 = metadata ] && exec cargo "$@"\nprintf \'%s\\n\' "$@" >{asked}\nexit 1\n')
    stand_in.chmod(0o755)
    assert build("wheel", tmp_path, source, CARGO=str(stand_in), CARGO_HOME="/home/who/.cargo").returncode != 0
    words = asked.read_text().splitlines()
    flags = tomllib.loads(words[words.index("--config") + 1])["target"]["cfg(all())"]["rustflags"]
    assert "--remap-path-prefix=/home/who/.cargo=cargo" in flags
    assert f"--remap-path-prefix={source}=wattlock" in flags
    assert flags[:2] == ["--cfg", "aes_force_soft"], "flags of a target hide those of all builds"
    assert "WITHOUT_PATHS" in (TREE / "Makefile").read_text().partition("\nprobes:")[2].partition("\n\n")[0]


def test_without_cargo_the_package_says_in_words_what_to_do(source: Path, tmp_path: Path) -> None:
    done = build("wheel", tmp_path, source, PATH="/usr/bin:/bin", CARGO=str(tmp_path / "no-cargo"))
    assert done.returncode != 0
    told = done.stderr[done.stderr.index("error: ") :]
    least = tomllib.loads((TREE / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
    assert told.startswith("error: Rust is missing, and wattlock's two programs are built by it.\nhint: install Rust ")
    assert f"Rust {least} or newer" in told
    assert "install a wheel" in told
    assert "Traceback" not in done.stderr
