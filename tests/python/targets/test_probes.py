"""Which probe is pushed to a device, and what is said where there is none."""

import platform
import re
from pathlib import Path

import pytest

from support.scripted_probe import install
from support.tree import TREE
from wattlock.errors import InputError
from wattlock.targets import remote

MAKEFILE = (TREE / "Makefile").read_text()


def targets_of(text: str, name: str) -> set[str]:
    """The targets of a list in the Makefile or in a script."""
    found = re.search(rf'^{name} ?[:?]?= ?"?([^"\n]*)', text, re.MULTILINE)
    assert found is not None
    return set(found[1].split())


def test_a_device_is_given_the_static_probe_of_its_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATTLOCK_PROBES", str(tmp_path))
    for target in remote.TRIPLES.values():
        install(tmp_path / target)
    others = {machine: target for machine, target in remote.TRIPLES.items() if machine != platform.machine()}
    for machine, target in others.items():
        assert list(remote.fitting(machine)) == [tmp_path / target / "wattlock-probe"]


@pytest.mark.parametrize("machine", [name for name in remote.TRIPLES if name != platform.machine()])
def test_a_probe_that_is_not_there_is_one_command_away(
    machine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATTLOCK_PROBES", str(tmp_path))
    with pytest.raises(InputError, match=f"no probe for {machine} in {re.escape(str(tmp_path))}") as refused:
        list(remote.fitting(machine))
    target = remote.TRIPLES[machine]
    assert f"`make probes PROBES={target}`" in refused.value.hint
    assert f"`rustup target add {target}`" in refused.value.hint
    assert target in targets_of(MAKEFILE, "PROBES")
    linker = re.search(rf'\[target\.{target}\]\nlinker = "(.*)"', (TREE / ".cargo" / "config.toml").read_text())
    assert linker is not None
    if linker[1].endswith("-gcc"):
        package = f"gcc-{linker[1].removesuffix('-gcc')}"
        assert f"Debian's {package}" in refused.value.hint
        assert package in (TREE / ".ci" / "run").read_text()


def test_a_machine_without_a_probe_is_told_for_which_there_are_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATTLOCK_PROBES", str(tmp_path))
    with pytest.raises(InputError, match="no probe for mips64 in") as refused:
        list(remote.fitting("mips64"))
    assert "there are probes for x86_64, aarch64, armv7l" in refused.value.hint


def test_all_that_name_the_static_probes_name_the_same() -> None:
    built = targets_of(MAKEFILE, "PROBES")
    assert set(remote.TRIPLES.values()) == built
    assert targets_of((TREE / ".ci" / "run").read_text(), "PROBE_TARGETS") == built
    tried = set(re.findall(r'echo "(\S+-linux-\S+) ', (TREE / ".ci" / "try-probes").read_text()))
    assert tried == built
    carried = re.search(r"^PROBES = \((.*)\)", (TREE / "setup.py").read_text(), re.MULTILINE)
    assert carried is not None
    assert set(re.findall(r'"(.*?)"', carried[1])) == targets_of(MAKEFILE, "WHEEL_PROBES") < built
