"""What works without the extras, and what is said where one is needed."""

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from support.captures import pcap
from support.scripted_probe import install
from support.tree import PACKAGE, PROBE, TREE
from support.virtual_runs import study_of, write_study
from wattlock import cli, extras
from wattlock.errors import WattlockError

HEAVY = sorted({package for packages in extras.EXTRAS.values() for package in packages})
WITHOUT = f"import sys\nfor name in {HEAVY}: sys.modules[name] = None\n"
CLONE = f"{sys.prefix}/bin/pip install -e '{TREE}"
PROGRAM = f"{WITHOUT}from wattlock.__main__ import main; main()"


def start(code: str, *arguments: str, folder: Path, probe: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(TREE / "python"), "WATTLOCK_PROBE": str(probe)}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run that was measured in virtual time where no extra is installed."""
    folder = tmp_path_factory.mktemp("bare")
    write_study(folder / "virtual.toml", study_of())
    done = start(PROGRAM, "run", "virtual.toml", "--out", "measured", folder=folder, probe=install(folder / "probe"))
    assert done.returncode == 0, done.stderr
    assert f"note: no report is drawn; `{CLONE}[report]'`, then `wattlock report measured`" in done.stderr
    (folder / "air.pcap").write_bytes(pcap([b"\x80\0" + bytes(98)]))
    return folder


def test_a_run_without_the_extra_is_measured_and_sealed_and_has_no_report(place: Path) -> None:
    assert (place / "measured" / "SHA256SUMS").is_file()
    assert not (place / "measured" / "report.html").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["show", "measured"],
        ["compare", "measured", "measured"],
        ["export", "measured", "--out", "numbers.tex"],
        ["capture", "air.pcap"],
        ["battery", "cr2032", "--energy-uJ", "100", "--per-second", "1", "--allow-assumed"],
        ["link", "adhoc-open", "--radio", "intel-5300"],
        ["advise", "--message", "64B", "--every", "1s", "--device", "nrf52840", "--record", "decision.md"],
    ],
    ids=lambda words: words[0],
)
def test_what_draws_nothing_needs_no_extra(place: Path, words: list[str]) -> None:
    done = start(PROGRAM, *words, folder=place, probe=PROBE)
    assert (done.returncode, "error: " in done.stderr) == (0, False), done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["report", "measured"],
        ["papers", "--run", "measured"],
        ["papers"],
        ["explain", "elminaam-wlan"],
        ["capture", "air.pcap", "--figure", "sizes.svg"],
        ["battery", "cr2032", "--energy-uJ", "9", "--per-second", "1", "--allow-assumed", "--figure", "l.svg"],
        ["advise", "--message", "64B", "--every", "1s", "--device", "nrf52840", "--record", "decision.html"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_what_needs_an_extra_names_it_in_two_lines_and_measures_nothing_first(place: Path, words: list[str]) -> None:
    before = sorted(place.rglob("*"))
    done = start(PROGRAM, *words, folder=place, probe=PROBE)
    assert done.returncode == WattlockError.exit_code
    told = [line for line in done.stderr.splitlines() if re.match("error: |hint: |Traceback", line)]
    assert len(told) == 2
    assert re.fullmatch(r"error: .* the extra report: .* (is|are) not installed", told[0])
    assert told[1] == f"hint: {CLONE}[report]'"
    assert sorted(place.rglob("*")) == before


def test_every_module_but_those_that_draw_imports_without_an_extra(place: Path) -> None:
    names = [
        ".".join(("wattlock", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] not in {"report", "lab"}
        and path.name not in {"__main__.py", "published_set.py", "set_page.py"}
    ]
    code = f"{WITHOUT}from importlib import import_module\nfor name in {names}: import_module(name)"
    done = start(code, folder=place, probe=PROBE)
    assert done.returncode == 0, done.stderr


def test_a_missing_module_that_no_extra_brings_names_none() -> None:
    assert extras.named_by(ModuleNotFoundError("No module named 'tomlkit'", name="tomlkit")) is None
    assert extras.named_by(ModuleNotFoundError("anonymous")) is None


def test_doctor_lists_each_extra_with_what_it_is_for(place: Path) -> None:
    done = start(PROGRAM, "doctor", "--seconds", "1", "--format", "json", folder=place, probe=PROBE)
    rows = {row["check"]: row for row in json.loads(done.stdout)}
    for extra in extras.EXTRAS:
        row = rows[f"extra {extra}"]
        assert row["verdict"] == "absent"
        assert row["advice"] == f"for {extras.PURPOSE[extra]}: {CLONE}[{extra}]'"


def test_the_extras_are_those_of_the_package_and_nothing_heavy_is_in_its_base() -> None:
    project = tomllib.loads((TREE / "pyproject.toml").read_text())["project"]
    declared = {name: set(map(distribution, needs)) for name, needs in project["optional-dependencies"].items()}
    provides = {package: set(names) for package, names in packages_distributions().items()}
    for extra, packages in extras.EXTRAS.items():
        brought = {min(provides.get(package, {package})).lower().replace("_", "-") for package in packages}
        assert brought == declared[extra] - {"wattlock"}
    assert {distribution(need) for need in project["dependencies"]} == {"numpy", "polars", "pydantic", "rich", "typer"}


def distribution(requirement: str) -> str:
    return re.split(r"[\[<>=~! ]", requirement, maxsplit=1)[0].lower()


def test_every_verb_can_show_its_help_without_an_extra(place: Path) -> None:
    code = f"{WITHOUT}from wattlock import cli\nfor verb in {list(cli.VERBS)}: assert cli.answer([verb, '--help']) == 0"
    assert start(code, folder=place, probe=PROBE).returncode == 0


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wattlock that is no clone, in an environment of its own that knows what it was installed from."""
    wheel = tmp_path / "wattlock-0.1.0-py3-none-any.whl"
    monkeypatch.setattr(extras, "__file__", str(tmp_path / "lib" / "python3" / "wattlock" / "extras.py"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    (tmp_path / "venv").mkdir()
    monkeypatch.setattr(metadata, "distribution", lambda _: Noted(f"file://{wheel}"))
    monkeypatch.setattr(metadata, "requires", lambda _: NEEDS)
    monkeypatch.chdir(tmp_path)
    return wheel


NEEDS = [
    "polars>=1",
    'cryptography>=46; extra == "publish"',
    'wattlock[publish]; extra == "lab"',
    'fastapi; extra == "lab"',
]


class Noted:
    """What pip noted of an installation."""

    def __init__(self, url: str) -> None:
        self.url = url

    def read_text(self, _: str) -> str:
        return json.dumps({"url": self.url, "archive_info": {}})


def test_the_hint_fits_a_clone_a_wheel_and_pipx_and_asks_no_index_for_wattlock(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert extras.install("lab") == "venv/bin/pip install 'cryptography>=46' fastapi", "the wheel is gone"
    installed.touch()
    assert extras.install("lab") == f"venv/bin/pip install '{installed}[lab]'"
    (Path("venv") / "pipx_metadata.json").touch()
    assert extras.install("lab") == "pipx inject venv 'cryptography>=46' fastapi"
    (Path("venv") / "pipx_metadata.json").unlink()
    monkeypatch.setattr(extras, "__file__", str(TREE / "python" / "wattlock" / "extras.py"))
    monkeypatch.chdir(TREE)
    assert extras.install("lab").endswith("/venv/bin/pip install -e '.[lab]'")


def test_no_text_of_the_program_asks_an_index_for_wattlock() -> None:
    texts = [*PACKAGE.rglob("*.py"), *(TREE / "docs").rglob("*.md"), TREE / "README.md"]
    assert [path for path in texts if re.search(r"install '?wattlock\b", path.read_text(encoding="utf-8"))] == []
