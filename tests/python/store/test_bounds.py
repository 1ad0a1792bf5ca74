"""No file of a run takes more memory and time than a reader has, whoever sealed it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.io.plugins import register_io_source

from support.labs import COUNTED, MEASURED
from wattlock.errors import StoreError
from wattlock.store import RunFolder, bounds, run_folder, run_plan
from wattlock.store.bounds import NotARecord

ROWS, LIMIT_S, MEMORY_B = 25_000_000, 60.0, 500 * 10**6
MEASURED_MAIN = """
import atexit, sys
from wattlock.lab.child import peak_B
atexit.register(lambda: sys.stderr.write(f"peak {peak_B()}"))
from wattlock.__main__ import main
sys.exit(main())
"""
PLANS = (b"[" * 900 + b"]" * 900, b"[" * 100_000 + b"]" * 100_000, b'"' + b"x" * bounds.LONGEST_LINE_B + b'"')
VERBS = [
    ["show", "RUN"],
    ["report", "RUN"],
    ["export", "RUN", "--format", "csv"],
    ["compare", "RUN", "RUN"],
    ["papers", "--run", "RUN"],
    ["push", "RUN", "--to", "http://127.0.0.1:9"],
]


def resealed(place: Path, name: str, content: bytes, source: Path = MEASURED) -> Path:
    """A run with another file, sealed again."""
    run = place / "run"
    shutil.copytree(source, run)
    (run / name).write_bytes(content)
    run_folder.write_sums(run)
    return run


def with_batches(place: Path, change: Callable[[pl.DataFrame], pl.DataFrame], **how: Any) -> Path:
    """A run with other batches, sealed again."""
    run = resealed(place, run_folder.HEADERS, (MEASURED / run_folder.HEADERS).read_bytes())
    changed = change(pl.read_parquet(MEASURED / run_folder.BATCHES))
    changed.write_parquet(run / run_folder.BATCHES, **how)
    run_folder.write_sums(run)
    return run


def repeated(rows: int) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """The first batch so many times."""
    return lambda frame: pl.concat([frame[:1]] * 1000).select(pl.all().repeat_by(rows // 1000).explode())


@pytest.fixture(scope="module")
def bomb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 25 million equal batches in 1 MB."""
    run = with_batches(tmp_path_factory.mktemp("bomb"), repeated(250_000))
    frame = pl.read_parquet(run / run_folder.BATCHES)

    def source(_columns: object, _predicate: object, _rows: object, _size: object) -> Iterator[pl.DataFrame]:
        yield from [frame] * (ROWS // frame.height)

    register_io_source(source, schema=frame.schema).sink_parquet(run / run_folder.BATCHES, row_group_size=250_000)
    run_folder.write_sums(run)
    return run


@pytest.mark.parametrize("words", VERBS, ids=lambda words: words[0])
def test_a_run_of_25_million_equal_batches_is_refused_in_little_memory(bomb: Path, words: list[str]) -> None:
    assert (bomb / run_folder.BATCHES).stat().st_size < 2_000_000
    command = [sys.executable, "-c", MEASURED_MAIN, *(str(bomb) if word == "RUN" else word for word in words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False, cwd=bomb.parent)
    assert done.returncode == 5, done.stderr
    assert f"{ROWS} batches, the limit is {bounds.MOST_ROWS}" in done.stderr
    assert int(done.stderr.rpartition("peak ")[2]) < MEMORY_B


@pytest.mark.parametrize("text", PLANS, ids=["900 deep", "100,000 deep", "a long line"])
@pytest.mark.parametrize("name", [run_plan.NAME, run_folder.HEADERS])
def test_deep_json_and_long_lines_are_refused_with_their_line_and_the_limit(
    tmp_path: Path, name: str, text: bytes
) -> None:
    own = (MEASURED / name).read_bytes()
    run = resealed(tmp_path, name, own + b'{"kind":"note","x":' + text + b"}\n")
    limit = bounds.LONGEST_LINE_B if text is PLANS[-1] else bounds.DEEPEST
    with pytest.raises(StoreError, match=rf"line {own.count(10) + 1} of {name} .*the limit is {limit}"):
        RunFolder.open(run).headers()


def test_a_line_of_100_million_octets_is_refused_by_its_files_size(tmp_path: Path) -> None:
    run = resealed(tmp_path, run_folder.HEADERS, b"")
    with (run / run_folder.HEADERS).open("wb") as file:
        file.truncate(10**8)
    with pytest.raises(StoreError, match=f"100000000 B, the limit is {2**26} B"):
        RunFolder.open(run)


def test_an_unsealed_run_with_such_a_line_is_refused_too(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    lines = [json.loads(line) for line in (COUNTED / "m4" / run_plan.NAME).read_bytes().splitlines()[:-1]]
    (run / run_plan.NAME).write_bytes(b"".join(run_plan.encode(lines)))
    with (run / run_folder.RECORDS).open("wb") as file:
        file.truncate(10**8)
    with pytest.raises(StoreError, match=f"more than {bounds.LONGEST_LINE_B} B, the limit"):
        RunFolder.open(run).headers()


def test_many_small_values_are_refused_before_they_are_parsed(tmp_path: Path) -> None:
    line = b'{"kind":"note","x":[' + b"[]," * 10**6 + b"0]}\n"
    run = resealed(tmp_path, run_folder.HEADERS, (MEASURED / run_folder.HEADERS).read_bytes() + line * 4)
    with pytest.raises(StoreError, match=f"the limit of {bounds.MOST_VALUES} values"):
        RunFolder.open(run).headers()


def test_brackets_within_texts_are_no_depth() -> None:
    line = json.dumps({"kind": "note", "x": "[{" * 500 + '\\"[', "y": [1, {"z": []}]}).encode()
    assert bounds.weigh(line + b"\n") > 0
    with pytest.raises(NotARecord, match="within one another"):
        bounds.weigh(b'{"x":"[","y":' + b"[" * 64 + b"]" * 64 + b"}")


@pytest.mark.parametrize("name", [run_plan.NAME, run_folder.HEADERS, run_folder.BATCHES])
def test_a_fifo_in_place_of_a_file_is_refused_and_not_waited_for(tmp_path: Path, name: str) -> None:
    run = resealed(tmp_path, name, b"")
    (run / name).unlink()
    os.mkfifo(run / name)
    with pytest.raises(StoreError, match="missing"):
        RunFolder.open(run)
    (run / run_folder.SUMS).unlink()
    if name == run_plan.NAME:
        with pytest.raises(StoreError, match="no regular file"):
            RunFolder.open(run)


ODD: dict[str, tuple[Callable[[pl.DataFrame], pl.DataFrame], str]] = {
    "a foreign column": (lambda frame: frame.with_columns(x=1), "foreign columns or lacks some: 'x'"),
    "a nested column": (lambda frame: frame.with_columns(x=pl.lit([[1]])), "has nested columns"),
    "an object": (lambda frame: frame.with_columns(x=pl.struct("process")), "has nested columns"),
    "many columns": (lambda frame: frame.with_columns(pl.lit(1).alias(f"x{n}") for n in range(40)), "the limit is 32"),
    "a huge text": (lambda frame: frame[:1].with_columns(extra=pl.lit("x" * 10**8)), "the limit is 67108864"),
    "a process of many": (repeated(300_000), "a process has 300000 batches, the limit is 262144"),
    "another type": (lambda frame: frame.with_columns(ticks=pl.col("ticks").cast(pl.Float64)), "'ticks'"),
}


@pytest.mark.parametrize("what", ODD)
def test_batches_that_no_wattlock_writes_are_refused(tmp_path: Path, what: str) -> None:
    change, told = ODD[what]
    with pytest.raises(StoreError, match=told):
        RunFolder.open(with_batches(tmp_path, change))


def test_one_group_of_many_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=f"{600_000} batches of a group, the limit is {2**19}"):
        RunFolder.open(with_batches(tmp_path, repeated(600_000), row_group_size=600_000))


def test_what_is_packed_or_encoded_otherwise_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="packed otherwise"):
        RunFolder.open(with_batches(tmp_path, lambda frame: frame, compression="gzip"))


def test_a_footer_that_tells_of_fewer_rows_than_its_pages_have_is_refused(tmp_path: Path) -> None:
    run = with_batches(tmp_path, repeated(2000))
    content = bytearray((run / run_folder.BATCHES).read_bytes())
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    rows = b"\xa0\x1f"  # 2000 as a signed varint
    while (at := content.find(rows, footer)) >= 0:
        content[at : at + 2] = b"\x9e\x1f"  # 1999
    (run / run_folder.BATCHES).write_bytes(content)
    run_folder.write_sums(run)
    with pytest.raises(StoreError, match="other values than rows"):
        RunFolder.open(run)


def test_every_cut_and_every_turned_bit_of_a_footer_is_read_or_refused(tmp_path: Path) -> None:
    run = with_batches(tmp_path, lambda frame: frame[:50])
    content = (run / run_folder.BATCHES).read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    damaged = [content[:size] for size in range(0, len(content), 7)]
    damaged += [
        content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :] for at in range(footer, len(content))
    ]
    refused = 0
    for bad in damaged:
        (run / run_folder.BATCHES).write_bytes(bad)
        try:
            bounds.refuse_large_parquet(run / run_folder.BATCHES)
        except StoreError:
            refused += 1
    assert refused > len(damaged) / 4


def test_what_this_wattlock_writes_at_its_largest_is_within_the_limits(tmp_path: Path) -> None:
    def many(frame: pl.DataFrame) -> pl.DataFrame:
        rows = pl.concat([frame] * 80)
        numbers = pl.int_range(pl.len()) * 2**40
        return rows.with_columns(
            numbers.alias("ticks"), numbers.alias("round"), pl.int_range(pl.len()).alias("process")
        )

    run = with_batches(tmp_path, many, row_group_size=run_folder.ROWS_OF_A_GROUP)
    assert bounds.refuse_large_parquet(run / run_folder.BATCHES) > 250_000
