"""A run that is being measured: what is kept when it is cut off, and what the disk has no room for."""

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.store_records import (
    FILES_OF_A_SEALED_RUN,
    batch,
    bytes_of,
    end,
    header,
    line,
    message_of,
    names_in,
    new_run,
    process_lines,
    room_for,
)
from support.tree import TREE
from wattlock.errors import DiskFull, StoreError
from wattlock.store import RunFolder


def test_what_is_appended_is_read_before_the_run_is_sealed(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run")
    assert run.scan().collect().height == 0
    run.append(line(header(0)) + line(batch(0, 0)))
    assert run.scan().collect()["round"].to_list() == [0]
    run.append(line(batch(0, 1)) + line(end(0, 2)) + line(header(1)) + line(batch(1, 0)))
    frame = run.scan().collect()
    assert frame["round"].to_list() == [0, 1, 0]
    assert frame["complete"].to_list() == [True, True, False]
    assert run.batches_of(0)["ticks"].to_list() == [batch(0, number)["ticks"] for number in (0, 1)]
    assert run.batches_of(7).height == 0
    assert run.batches_of(7).columns == run.batches_of(0).columns


def test_all_integers_of_a_batch_are_signed_so_that_differences_do_not_wrap(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run")
    run.append(line(batch(0, 0, canary_before_ticks=9, canary_after_ticks=4)))
    difference = pl.col("canary_after_ticks") - pl.col("canary_before_ticks")
    assert run.scan().select(difference).collect().item() == -5


def test_a_frame_asked_for_less_gives_only_that(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run")
    run.append(bytes_of(3))
    frame = run.scan().filter(pl.col("process") == 1).select("round", "process").head(4).collect()
    assert frame.rows() == [(0, 1), (1, 1), (2, 1), (3, 1)]


def test_part_of_a_line_is_not_appended(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run")
    with pytest.raises(ValueError, match="only whole lines"):
        run.append(b'{"kind":"end"}')


def test_two_processes_do_not_append_to_one_run(tmp_path: Path) -> None:
    first = new_run(tmp_path / "run")
    first.append(line(header(0)))
    second = RunFolder.open(first.path)
    with pytest.raises(StoreError) as caught:
        second.append(line(header(1)))
    assert message_of(caught, first) == "another wattlock is measuring into it"
    first.close()
    second.append(line(header(1)))
    assert len(second.headers()) == 2


@given(st.data())
@settings(deadline=None)
def test_a_cut_at_any_byte_loses_only_the_line_that_it_hits(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    written = bytes_of(2, batches=3)
    size = data.draw(st.integers(0, len(written)))
    whole = written[:size].rfind(b"\n") + 1
    run = new_run(tmp_path_factory.mktemp("cut") / "run")
    records = run.path / "records.jsonl"
    records.write_bytes(written[:size])
    before = run.scan().collect()
    found = run.recover()
    run.close()
    assert found.cut_B == size - whole
    kept = records.read_bytes()
    assert kept.startswith(written[:whole])
    noted = kept[whole:]
    assert noted == (b'{"kind":"cut","cut_B":%d}\n' % (size - whole) if size > whole else b"")
    assert run.scan().collect().equals(before)
    assert before.height == written[:whole].count(b'"kind":"batch"')
    assert found.complete == {p for p in (0, 1) if written[:whole].count(b'"kind":"end"') > p}
    assert found.incomplete == {p for p in (0, 1) if written[:whole].count(b'"kind":"header"') > p} - found.complete
    assert found.next_process == written[:whole].count(b'"kind":"header"')


def test_a_process_whose_batches_are_not_all_there_is_not_complete(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run")
    run.append(line(header(0)) + line(batch(0, 0)) + line(end(0, 2)))
    found = run.recover()
    assert (found.complete, found.incomplete) == (frozenset(), frozenset({0}))
    assert run.scan().collect()["complete"].to_list() == [False]


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (b"{\n", "is not JSON"),
        (b"\0\0\0\n", "is not JSON"),
        (b"\n", "is not JSON"),
        (b"[1]\n", "has no kind"),
        (b'{"knd":"end"}\n', "has no kind"),
        (b'{"kind":"batch","case":1}\n', "is no batch that the schema knows"),
        (line(batch(0, 0, ticks="many")), "is no batch that the schema knows"),
        (line(batch(0, 0, ticks=None)), "is no batch that the schema knows"),
        (line(batch(0, 0, ticks=1.5)), "is no batch that the schema knows"),
        (line(batch(0, 0))[:-9] + b"\n", "is not JSON"),
    ],
)
def test_a_damaged_line_is_named_by_its_number(tmp_path: Path, damage: bytes, what: str) -> None:
    run = new_run(tmp_path / "run")
    run.append(bytes_of(1, batches=2) + damage + line(header(1)))
    with pytest.raises(StoreError) as caught:
        run.recover()
    assert message_of(caught, run) == f"line 5 of records.jsonl {what}"
    assert caught.value.hint == "the file was changed; take it from a copy, or take this line out"


def test_a_damaged_line_is_named_by_its_number_in_the_file_also_in_a_later_slice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wattlock.store.run_folder.SLICE_B", 1000)
    run = new_run(tmp_path / "run")
    run.append(bytes_of(1, batches=40) + b"{}\n")
    with pytest.raises(StoreError, match="line 43 of"):
        run.scan()


@given(slice_B=st.integers(50, 3000))
@settings(deadline=None, max_examples=30)
def test_the_slices_in_which_a_run_is_read_do_not_change_it(
    tmp_path_factory: pytest.TempPathFactory, slice_B: int
) -> None:
    run = new_run(tmp_path_factory.mktemp("slices") / "run")
    run.append(bytes_of(2))
    run.close()
    whole = run.scan().collect()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wattlock.store.run_folder.SLICE_B", slice_B)
        again = RunFolder.open(run.path)
        assert again.scan().collect().equals(whole)
        assert again.batches_of(1).equals(run.batches_of(1))
        again.seal()
        assert again.scan().collect().equals(whole)


def test_unknown_fields_and_kinds_are_kept_through_the_sealing(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run")
    novel = {"kind": "tide", "meter": "rapl", "start": [1, 2]}
    run.append(line(header(0, colour="red")) + line(novel))
    run.append(line(batch(0, 0)) + line(batch(0, 1, phase={"a": [1, None]}, ampere=0.5)) + line(end(0, 2)))
    extras = [None, {"phase": {"a": [1, None]}, "ampere": 0.5}]
    for _ in ("unsealed", "sealed"):
        found = run.scan().collect()["extra"].to_list()
        assert [one and json.loads(one) for one in found] == extras
        assert run.headers()[0]["colour"] == "red"
        assert run.records("tide") == [novel]
        run.seal()
    assert run.complete() == {0}


def test_a_process_that_weighed_is_complete_with_all_its_blocks_before_and_after_the_sealing(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run")
    where = {"superblock": 0, "position": 0, "attempt": 0, "role": "case", "calls": 1, "wall_ns": 5}
    block = {"kind": "energy_block", "gross_nJ": 7, "canary_before_ticks": 9, "canary_after_ticks": 9} | where
    for process, said in enumerate([2, 3]):
        run.append(line(header(process)))
        run.append(line(block | {"process": process}) * 2)
        run.append(line(end(process, 0) | {"energy_blocks": said}))
    assert run.complete() == {0}
    run.seal()
    assert run.complete() == {0}
    assert len(run.records("energy_block")) == 4


def test_a_batch_whose_kind_does_not_come_first_is_a_batch(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run")
    record = batch(0, 3)
    del record["kind"]
    run.append(json.dumps(record | {"kind": "batch"}).encode() + b"\n")
    assert run.scan().collect()["round"].to_list() == [3]


def test_a_field_that_may_be_null_may_be_absent_and_hides_no_unknown_one(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run")
    record = batch(0, 0, novel=1)
    del record["cause"]
    run.append(line(record))
    frame = run.scan().collect()
    assert frame.select("cause", "extra").row(0) == (None, '{"novel": 1}')


@pytest.mark.parametrize("version", [3, 1, 0, None, "2"])
def test_an_unknown_schema_version_is_refused_in_plan_and_header(tmp_path: Path, version: object) -> None:
    run = new_run(tmp_path / "run")
    run.append(line(header(0, schema=version)))
    expected = f"its records have schema {version!r}, this wattlock reads 2"
    with pytest.raises(StoreError) as caught:
        run.headers()
    assert message_of(caught, run) == expected
    first, rest = (run.path / "plan.jsonl").read_bytes().split(b"\n", 1)
    changed = json.loads(first) | {"schema": version}
    (run.path / "plan.jsonl").write_bytes(json.dumps(changed).encode() + b"\n" + rest)
    with pytest.raises(StoreError) as caught:
        RunFolder.open(run.path)
    assert message_of(caught, run) == expected
    assert caught.value.hint == "the wattlock that wrote it, or a newer one, reads it"


def test_the_version_of_the_records_is_the_probes() -> None:
    types = TREE / "crates" / "records" / "src" / "lib.rs"
    from wattlock.store.record_schema import SCHEMA

    assert f"pub const SCHEMA: u32 = {SCHEMA};" in types.read_text()


@pytest.mark.parametrize("beyond_B", [1, 100, 700, 1500])
def test_a_full_disk_keeps_every_whole_line_that_there_was_room_for(tmp_path: Path, beyond_B: int) -> None:
    run = new_run(tmp_path / "run")
    before, data = bytes_of(1), b"".join(process_lines(1, 6))
    run.append(before)
    with room_for(len(before) + beyond_B), pytest.raises(DiskFull) as caught:
        run.append(data)
    assert caught.value.exit_code == 6
    assert message_of(caught, run) == "the disk is full; what was measured until now is kept"
    assert caught.value.hint == f"make room, then `wattlock run --resume {run.path}`"
    kept = (run.path / "records.jsonl").read_bytes()
    assert kept == before + data[: data[:beyond_B].rfind(b"\n") + 1]
    found = run.recover()
    assert (found.cut_B, found.complete) == (0, frozenset({0}))
    run.append(b"".join(process_lines(2, 6)))
    assert run.records("cut") == []


@pytest.mark.parametrize("room_B", [100, 4000, 40_000])
def test_a_disk_that_fills_while_a_run_is_sealed_leaves_the_records(tmp_path: Path, room_B: int) -> None:
    run = new_run(tmp_path / "run")
    run.append(bytes_of(2, batches=1000))
    files, records = names_in(run), (run.path / "records.jsonl").read_bytes()
    with room_for(room_B), pytest.raises(DiskFull):
        run.seal()
    assert names_in(run) == files
    assert (run.path / "records.jsonl").read_bytes() == records
    run.seal()
    assert names_in(run) == FILES_OF_A_SEALED_RUN
    assert run.scan().collect().height == 2000


def test_a_folder_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError) as caught:
        new_run(tmp_path / "file" / "run")
    assert message_of(caught, tmp_path / "file" / "run") == "can't be written: Not a directory"
