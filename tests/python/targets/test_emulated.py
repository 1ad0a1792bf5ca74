"""`qemu:CORE`: what the name says, what the probe is told, and what is missing, each with what helps."""

import json
import os
from pathlib import Path

import pytest

from support.counted_runs import M4
from support.tree import require_programs
from wattlock import cli
from wattlock.errors import InputError, ProbeError, WayError
from wattlock.store import RunFolder
from wattlock.targets import named, probe
from wattlock.targets.microcontroller import Emulated
from wattlock.targets.target import CountedCore, NotInstalled


@pytest.mark.parametrize(
    ("on", "counted"),
    [
        ("qemu:cortex-m4", CountedCore("cortex-m4")),
        ("qemu:cortex-m4/stm32f407", CountedCore("cortex-m4", "stm32f407", 168_000_000)),
        ("qemu:cortex-m4/stm32f407@16MHz", CountedCore("cortex-m4", "stm32f407", 16_000_000)),
        ("qemu:cortex-m3/stm32f103@24.5MHz", CountedCore("cortex-m3", "stm32f103", 24_500_000)),
    ],
)
def test_a_core_is_named_alone_or_with_a_part_and_its_clock(on: str, counted: CountedCore) -> None:
    require_programs()
    target = named.target(on)
    assert isinstance(target, Emulated)
    assert target.counted == counted


@pytest.mark.parametrize(
    ("on", "message", "hint"),
    [
        ("qemu:", "there is no such target", "qemu:CORE"),
        ("qemu:cortex-m4/", "names no part", "stm32f407"),
        ("qemu:cortex-m4@16MHz", "names no part", "--on qemu:cortex-m4/PART@16MHz"),
        ("qemu:cortex-m4/stm32f40", "there is no part stm32f40", 'did you mean "stm32f407"?'),
        ("qemu:cortex-m4/stm32f103", "STM32F103 has the core cortex-m3", "--on qemu:cortex-m3/stm32f103"),
        ("qemu:cortex-m4/stm32f407@200MHz", '"200MHz" is no clock', "168MHz"),
        ("qemu:cortex-m4/stm32f407@fast", '"fast" is no clock', "stm32f407@16MHz"),
    ],
)
def test_a_name_that_says_no_core_or_part_is_refused_with_what_was_meant(on: str, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        named.target(on)
    assert message in caught.value.message
    assert hint in caught.value.hint


PROBE = """#!/bin/sh
echo "$*" >> {here}/words
case "$1" in
    board) cat > {here}/plan; {does} ;;
esac
"""


def stub(here: Path, does: str, counted: CountedCore | None = None) -> Emulated:
    """A target whose probe's verb `board` does this."""
    program = here / "probe"
    program.write_text(PROBE.format(here=here, does=does))
    program.chmod(0o755)
    return Emulated(program, counted or CountedCore("cortex-m4"))


@pytest.mark.parametrize(("code", "kind"), [(3, InputError), (10, WayError), (2, ProbeError), (1, ProbeError)], ids=str)
def test_what_is_missing_is_told_in_the_probes_words_with_its_command(
    code: int, kind: type[Exception], tmp_path: Path
) -> None:
    does = f"echo 'error: the Rust target x is missing' >&2; echo 'hint: get it with rustup' >&2; exit {code}"
    with pytest.raises(kind, match="the Rust target x is missing") as caught:
        stub(tmp_path, does).facts()
    hint = "`make setup` builds it anew" if kind is ProbeError else "get it with rustup"
    assert getattr(caught.value, "hint", "") == hint


def test_of_an_error_of_many_lines_the_first_is_told_and_what_is_not_installed_is_no_lost_device(
    tmp_path: Path,
) -> None:
    said = "error: rustc does not run (error: no toolchain\n   0: anyhow\n  13: <unknown>), which builds images"
    with pytest.raises(NotInstalled) as caught:
        stub(tmp_path, f"printf '%s\n' '{said}' 'hint: get rustup' >&2; exit 10").facts()
    assert caught.value.message == "qemu:cortex-m4: rustc does not run (error: no toolchain"
    assert caught.value.told == "qemu:cortex-m4: rustc does not run (error: no toolchain (get rustup)"


def test_a_part_whose_flash_is_not_known_is_refused_with_the_way_to_core_cycles(tmp_path: Path) -> None:
    does = "echo 'error: the part /x/nrf52840.toml: nrf52840: the width of its flash was not published' >&2; exit 3"
    with pytest.raises(InputError) as caught:
        stub(tmp_path, does, CountedCore("cortex-m4", "nrf52840", 64_000_000)).facts()
    assert caught.value.message.endswith("no part cycles of nRF52840: the width of its flash was not published")
    assert "--on qemu:cortex-m4 counts core cycles" in caught.value.hint


@pytest.mark.parametrize(("version", "is_old"), [("4.2.1 (Debian 1:4.2)", True), ("6.0.0", False), ("10.0.2", False)])
def test_an_emulator_that_is_too_old_is_refused_with_what_is_needed(version: str, is_old: bool, tmp_path: Path) -> None:
    header = RunFolder.open(M4).headers()[0]
    header["fingerprint"]["virtualisation"]["emulator"] = f"QEMU emulator version {version}"
    (tmp_path / "header").write_text(json.dumps(header) + "\n")
    target = stub(tmp_path, f"cat {tmp_path}/header")
    if not is_old:
        assert target.facts().emulator == f"QEMU emulator version {version}"
        return
    with pytest.raises(WayError, match=r"4\.2\.1 .* is too old: images need QEMU 6\.0 or newer") as caught:
        target.facts()
    assert caught.value.hint


def test_its_facts_are_those_of_the_core_and_never_this_machines(tmp_path: Path) -> None:
    header = RunFolder.open(M4).headers()[0]
    (tmp_path / "header").write_text(json.dumps(header) + "\n")
    facts = stub(tmp_path, f"cat {tmp_path}/header").facts()
    assert (facts.isa, facts.processors, facts.answer["model_name"]) == ("thumbv7em", (0,), "cortex-m4")
    assert facts.emulator is not None
    assert facts.emulator.startswith("QEMU emulator version ")
    assert facts.counted == CountedCore("cortex-m4")
    assert (tmp_path / "words").read_text() == "board --qemu cortex-m4\n"
    assert len((tmp_path / "plan").read_text().splitlines()) == 1, "a plan without cases"


def test_the_probe_is_told_the_parts_file_and_clock(tmp_path: Path) -> None:
    target = stub(tmp_path, "exit 1", CountedCore("cortex-m4", "stm32f407", 16_000_000))
    with pytest.raises(ProbeError):
        target.facts()
    words = (tmp_path / "words").read_text().split()
    assert words[:3] == ["board", "--qemu", "cortex-m4"]
    assert Path(words[4]).name == "stm32f407.toml"
    assert words[5:] == ["--clock", "16000000"]


@pytest.mark.parametrize("verb", ["selftest", "doctor", "meters"])
def test_what_an_emulated_core_can_not_do_is_refused_and_not_done_on_this_machine(verb: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="carries out `wattlock run` alone"):
        probe.ask(stub(tmp_path, "exit 0"), verb)
    assert not (tmp_path / "words").exists()


def test_targets_says_what_an_emulated_core_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    does = "echo 'error: qemu-system-arm does not run' >&2; echo 'hint: get it with `apt install qemu-system-arm`' >&2"
    program = stub(tmp_path, f"{does}; exit 10").program
    monkeypatch.setenv("WATTLOCK_PROBE", os.fspath(program))
    assert cli.answer(["targets", "qemu:cortex-m4", "--format", "json"]) == WayError.exit_code
    (row,) = json.loads(capsys.readouterr().out)
    assert row["way"] == "qemu:cortex-m4"
    assert "qemu-system-arm does not run" in row["missing"]
    assert "apt install qemu-system-arm" in row["missing"]
