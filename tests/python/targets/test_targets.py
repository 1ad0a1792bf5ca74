"""Targets: what is asked of a device, here of this machine."""

import hashlib
import os
import platform
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from support.virtual_runs import case_of
from wattlock.errors import ProbeError
from wattlock.run.process import Order, inquire
from wattlock.store.record_schema import record_of
from wattlock.targets import Facts, Target, local
from wattlock.targets.local import Local
from wattlock.targets.target import Limits
from wattlock.targets.toolbox import Toolbox

LIMITS = Limits(10, 10, 10, 1000)


def script(place: Path, text: str) -> Path:
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(0o755)
    return place


def test_this_machines_facts_are_its_own_and_those_of_its_probes_bytes(tmp_path: Path) -> None:
    target = local.find()
    facts = target.facts()
    assert facts.probe_sha256 == hashlib.sha256(target.program.read_bytes()).hexdigest()
    assert facts.isa == platform.machine()
    assert set(facts.processors) == os.sched_getaffinity(0)
    assert list(facts.processors) == sorted(facts.processors, reverse=True)
    assert sorted(cpu for one in facts.core_classes for cpu in one.processors) == sorted(facts.processors)
    with pytest.raises(ProbeError, match="facts: exit code 0, and no JSON"):
        Local(script(tmp_path / "silent", "exit 0")).facts()
    with pytest.raises(ProbeError, match="facts: it has no"):
        Local(script(tmp_path / "curt", "echo {}")).facts()


def test_a_program_is_started_with_its_words_and_input_and_gives_its_code_and_complaints(tmp_path: Path) -> None:
    target = Local(script(tmp_path / "probe", 'echo "$1"; cat; echo "error: no" >&2; exit 3'))
    said: list[bytes] = []
    assert target.start(["hello"], b"you", LIMITS, said.append, who="it") == (3, b"error: no\n")
    assert b"".join(said) == b"hello\nyou"


def test_a_file_is_where_it_is_and_one_that_is_not_there_is_named(tmp_path: Path) -> None:
    target = Local(tmp_path / "probe")
    (tmp_path / "file").write_bytes(b"content")
    assert target.fetch(target.push(tmp_path / "file")) == b"content"
    with pytest.raises(ProbeError, match="nowhere: No such file"):
        target.fetch(str(tmp_path / "nowhere"))


def test_the_probe_is_the_one_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(local.VARIABLE, str(script(tmp_path / "probe", "exit 0")))
    assert local.find() == Local(tmp_path / "probe")
    monkeypatch.setenv(local.VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(ProbeError, match="nowhere: no program wattlock-probe"):
        local.find()


class Far:
    """A device that is not this machine: files have other paths there, and its facts are its own."""

    name, way = "far", "radio"

    def __init__(self) -> None:
        self.pushed: list[Path] = []
        self.plan: list[dict[str, Any]] = []

    def facts(self) -> Facts:
        return Facts("0" * 64, "riscv64", (3,))

    def push(self, file: Path) -> str:
        self.pushed.append(file)
        return f"/far/{file.name}"

    def fetch(self, place: str) -> bytes:
        raise ProbeError(f"far: no {place}")

    def start(
        self, words: Sequence[str], text: bytes, limits: Limits, take: Callable[[bytes], None], *, who: str
    ) -> tuple[int, bytes]:
        del words, limits, take, who
        self.plan = [record_of(line) for line in text.splitlines()]
        raise ProbeError("far: it is out of reach")


def test_a_plan_for_another_device_has_the_paths_that_its_files_have_there(tmp_path: Path) -> None:
    far = Far()
    target: Target = far
    (tmp_path / "libmine.so").write_bytes(b"library")
    (tmp_path / "text").write_bytes(b"sample")
    cases = [case_of(0, "des-cbc", "mine")]
    order = Order(0, 0, cases, None)
    with pytest.raises(ProbeError, match="out of reach"):
        inquire(target, order, {"random": tmp_path / "text"}, {"mine": tmp_path / "libmine.so"})
    head, data, *_ = far.plan
    assert head["libraries"] == [{"name": "mine", "path": "/far/libmine.so"}]
    assert (data["path"], data["size_B"]) == ("/far/text", 6)
    assert sorted(far.pushed) == [tmp_path / "libmine.so", tmp_path / "text"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cat > /dev/null; echo 1", "air: 1 answers to 2 lines"),
        ("cat > /dev/null; echo yes", "air: exit code 0, and no JSON"),
        ("cat > /dev/null; echo 'error: no room' >&2; echo yes; exit 1", "air: no room"),
    ],
)
def test_the_toolbox_answers_each_line_or_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ProbeError, match=message) as caught:
        Toolbox(script(tmp_path / "net", text)).answers("air", [{"a": 1}, {"a": 2}])
    assert caught.value.hint
    assert Toolbox(script(tmp_path / "net", "cat")).answers("air", [{"a": 1}, {"a": 2}]) == [{"a": 1}, {"a": 2}]
