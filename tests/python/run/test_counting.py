"""The policy of counting: every case once, families apart, what failed named, what was cut off counted, no more."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from support.counted_runs import C3, CASES, M4, STUDY, Replayed
from support.tree import require_programs
from wattlock.errors import InputError, ProbeError, StudyError
from wattlock.run import begin, counting
from wattlock.run.begin import Request, Silent
from wattlock.run.metering import MeterChoice
from wattlock.run.result import read
from wattlock.store import RunFolder
from wattlock.targets.target import hear

Record = dict[str, Any]


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs are there, and the folder of runs is the test's own."""
    require_programs()
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    place = tmp_path / "counted.toml"
    place.write_text(STUDY)
    return place


def test_each_family_is_one_process_and_the_run_is_sealed_without_self_checks(study: Path, tmp_path: Path) -> None:
    target = Replayed()
    folder = begin.measure(str(study), target=target, out=tmp_path / "run")
    assert folder.is_sealed
    ciphers = [{line["cipher"] for line in plan if line["kind"] == "case"} for plan in target.asked]
    assert sorted(map(sorted, ciphers)) == [["aes128-ccm"], ["ascon-aead128"], ["chacha20-poly1305"], ["rc4-128"]]
    assert {line["role"] for plan in target.asked for line in plan if line["kind"] == "case"} == {"study"}
    assert {plan[0]["seed"] for plan in target.asked} == {counting.SEED}
    assert RunFolder.open(folder.path).complete() == frozenset(range(4))
    found, recorded = read(folder), read(RunFolder.open(M4))
    assert found.estimates.equals(recorded.estimates)
    assert found.estimates["state"].to_list() == ["counted"] * CASES


def test_a_large_family_is_kept_share_by_share_and_a_killed_run_loses_the_shares_under_way_alone(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "SHARE_CASES", 2)

    class Killed(Replayed):
        def start(self, words: Any, *rest: Any, **named: Any) -> tuple[int, bytes]:
            if words[0] == "measure" and len(self.asked) == 4:
                raise KeyboardInterrupt
            return super().start(words, *rest, **named)

    first, again = Killed(processes=1), Replayed()
    with pytest.raises(KeyboardInterrupt):
        begin.measure(str(study), target=first, out=tmp_path / "run")
    assert read(RunFolder.open(tmp_path / "run")).estimates["cycles"].count() == 4 * 2
    begin.resume(str(tmp_path / "run"), again, libraries={}).measure(Silent())
    assert sum(len(plan) - 1 for plan in again.asked) == CASES - 4 * 2
    assert max(len(plan) - 1 for plan in again.asked) == 2
    found, recorded = (read(RunFolder.open(path)).estimates for path in (tmp_path / "run", M4))
    assert found.equals(recorded)


def test_a_case_that_no_image_holds_fails_by_itself(study: Path, tmp_path: Path) -> None:
    study.write_text(STUDY.replace("[16, 64]", "[16, 65]"))
    folder = begin.measure(str(study), target=Replayed(), out=tmp_path / "run")
    rows = read(folder).estimates
    assert rows.filter(rows["state"] == "failed")["payload_B"].to_list() == [65] * 6
    assert set(rows["reason"].drop_nulls()) == {"no image holds it"}
    assert rows.filter(rows["state"] == "failed")["cycles"].null_count() == 6


def test_providers_that_no_image_holds_are_told_in_a_line_each_or_refused(study: Path) -> None:
    both, alone = '["rustcrypto", "openssl", "botan"]', '["openssl", "botan"]'
    study.write_text(STUDY.replace("operation =", f"provider = {both}\noperation ="))
    planned = begin.plan(Request(str(study)), Replayed())
    told = [line for line in planned.warnings() if "can't be had" in line]
    assert [line.partition(" of ")[2].partition(" ")[0] for line in told] == ["openssl", "botan"]
    assert told[0].startswith("ascon-aead128, chacha20-poly1305, aes128-ccm and 1 more of openssl can't be had: ")
    study.write_text(STUDY.replace("operation =", f"provider = {alone}\noperation ="))
    with pytest.raises(StudyError, match="no image holds any of its 34 cases: openssl: an image holds") as caught:
        begin.plan(Request(str(study)), Replayed())
    assert caught.value.hint


def test_a_process_that_dies_takes_no_other_family_with_it_and_is_counted_when_the_run_goes_on(
    study: Path, tmp_path: Path
) -> None:
    first = Replayed(codes={"ascon-aead128": 3})
    with pytest.raises(ProbeError, match="the image of it can't be run"):
        begin.measure(str(study), target=first, out=tmp_path / "run")
    rows = read(RunFolder.open(tmp_path / "run")).estimates
    assert set(rows.filter(rows["state"] == "missing")["cipher"]) == {"ascon-aead128"}
    assert rows.filter(rows["state"] == "counted").height == CASES - 5
    again = Replayed()
    begun = begin.resume(str(tmp_path / "run"), again, libraries={})
    begun.measure(Silent())
    assert [line["cipher"] for plan in again.asked for line in plan if line["kind"] == "case"] == ["ascon-aead128"] * 5
    assert RunFolder.open(tmp_path / "run").is_sealed
    rows = read(RunFolder.open(tmp_path / "run")).estimates
    assert rows["state"].to_list() == ["counted"] * CASES


def test_a_run_that_was_killed_amid_a_line_counts_what_it_lacks(study: Path, tmp_path: Path) -> None:
    with pytest.raises(ProbeError):
        begin.measure(str(study), target=Replayed(codes={"rc4-128": 3}), out=tmp_path / "run")
    records = tmp_path / "run" / "records.jsonl"
    lines = records.read_bytes().splitlines(keepends=True)
    cut = next(at for at, line in enumerate(lines) if json.loads(line)["kind"] == "count")
    records.write_bytes(b"".join(lines[:cut]) + lines[cut][:40])
    again = Replayed()
    begin.resume(str(tmp_path / "run"), again, libraries={}).measure(Silent())
    assert sum(len(plan) - 1 for plan in again.asked) == CASES
    rows = read(RunFolder.open(tmp_path / "run")).estimates
    assert rows["state"].to_list() == ["counted"] * CASES


def _twice(records: list[Record]) -> list[Record]:
    return [*records[:2], records[1], *records[3:]]


def _another_core(records: list[Record]) -> list[Record]:
    return [record | {"core": "cortex-m3"} if record["kind"] == "count" else record for record in records]


def _without_a_count(records: list[Record]) -> list[Record]:
    return [records[0], *records[2:]]


def _of_another_case(records: list[Record]) -> list[Record]:
    return [records[0], records[1] | {"case": 99}, *records[2:]]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (_twice, "wrote of case 0 twice"),
        (_another_core, "counted case 0 on an emulated cortex-m3, not on an emulated cortex-m4"),
        (_without_a_count, "and did not count it"),
        (_of_another_case, "of case 99, which it was not asked for"),
    ],
)
def test_a_process_that_does_not_keep_to_its_plan_is_left_out(
    changed: Any, words: str, study: Path, tmp_path: Path
) -> None:
    def lie(records: list[Record]) -> list[Record]:
        is_ascon = any(case["cipher"] == "ascon-aead128" for case in records[0]["cases"])
        return list(changed(records)) if is_ascon else records

    with pytest.raises(ProbeError, match=words):
        begin.measure(str(study), target=Replayed(changed=lie), out=tmp_path / "run")
    rows = read(RunFolder.open(tmp_path / "run")).estimates
    assert set(rows.filter(rows["state"] == "missing")["cipher"]) == {"ascon-aead128"}


@pytest.mark.parametrize(
    ("request_of", "words"),
    [
        ({"meter": MeterChoice("powercap:package-0", "idle")}, "--meter"),
        ({"source": Path()}, "--input"),
        ({"core_classes": ["big"]}, "--core-class"),
    ],
)
def test_what_an_emulated_core_has_not_is_refused_before_anything_is_counted(
    request_of: dict[str, Any], words: str, study: Path
) -> None:
    target = Replayed()
    with pytest.raises(StudyError, match=words) as caught:
        begin.plan(Request(str(study), **request_of), target)
    assert caught.value.hint
    assert target.asked == []


class Interrupting(Silent):
    """Presses Ctrl-C when the first family is counted."""

    def measured(self, *_: Any, **__: Any) -> None:
        raise KeyboardInterrupt


def test_ctrl_c_ends_the_processes_under_way_at_once_and_keeps_what_was_counted(study: Path, tmp_path: Path) -> None:
    class Slow(Replayed):
        def start(self, words: Any, text: bytes, limits: Any, take: Any, *, who: str) -> tuple[int, bytes]:
            if b"aes128-ccm" not in text or words[0] != "measure":
                return super().start(words, text, limits, take, who=who)
            return hear(["sleep", "60"], b"", limits, take, who=who)

    begun = begin.plan(Request(str(study)), Slow()).create(tmp_path / "run")
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        begun.measure(Interrupting())
    assert time.monotonic() - start < 30
    assert not begun.folder.is_sealed
    assert read(RunFolder.open(tmp_path / "run")).estimates["cycles"].count()


def test_a_run_goes_on_by_the_core_that_it_was_begun_on_alone(study: Path, tmp_path: Path) -> None:
    with pytest.raises(ProbeError):
        begin.measure(str(study), target=Replayed(codes={"rc4-128": 3}), out=tmp_path / "run")
    with pytest.raises(InputError, match="was begun on an emulated cortex-m4, this is an emulated esp32-c3"):
        begin.resume(str(tmp_path / "run"), Replayed(C3), libraries={})
