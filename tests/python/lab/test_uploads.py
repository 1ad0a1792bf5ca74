"""What hostile senders get: a refusal in words, and a lab that is as it was."""

import gzip
import io
import json
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from support.labs import COUNTED, MEASURED, asking, below, files_of, hash_of, pack_of, sent, tar_of
from wattlock.errors import TransferRefused
from wattlock.lab import child, pack
from wattlock.lab.collection import Collection
from wattlock.store import bounds, run_folder
from wattlock.study.cases import sha256

RUN = COUNTED / "m4"
PACK = pack_of(RUN)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    return Collection.open(tmp_path_factory.mktemp("lab"))


@pytest.fixture(scope="module")
def client(lab: Collection) -> TestClient:
    return asking(lab)


def refused(content: bytes) -> bool:
    """Whether a pack is refused by name, and nothing lies outside of the folder that it was given."""
    with tempfile.TemporaryDirectory() as place:
        into = Path(place) / "inside" / "run"
        into.mkdir(parents=True)
        try:
            pack.unpack(io.BytesIO(content), into)
        except TransferRefused:
            return True
        finally:
            assert {path.name for path in into.iterdir()} <= set(run_folder.FILES)
            assert [path.name for path in Path(place).rglob("*") if path.parent != into] == ["inside", "run"]
    return False


@given(st.integers(0, len(PACK) - 1))
def test_a_pack_that_is_cut_anywhere_before_its_end_is_refused(at: int) -> None:
    whole = len(PACK) - 2 * tarfile.BLOCKSIZE
    assert refused(PACK[:at]) or at > whole


@given(st.binary(max_size=4096))
def test_bytes_that_are_no_tar_are_refused(content: bytes) -> None:
    assert refused(content)


@given(st.text(min_size=1, max_size=60).filter(lambda name: name not in run_folder.FILES))
def test_a_file_of_any_other_name_is_refused(name: str) -> None:
    try:
        hostile = tar_of([(name, b"x"), *files_of(RUN)])
    except (ValueError, UnicodeEncodeError):
        return
    assert refused(hostile)


@given(st.binary(min_size=1, max_size=1), st.sampled_from(run_folder.FILES))
def test_what_is_no_plain_file_is_refused(kind: bytes, name: str) -> None:
    head = tarfile.TarInfo(name)
    head.type, head.linkname = kind, "../../outside"
    assert refused(tar_of([(head, b""), *files_of(RUN)]))


@pytest.mark.parametrize(
    "name", ["../plan.jsonl", "/etc/plan.jsonl", "./plan.jsonl", "runs/plan.jsonl", "plan.jsonl/", "PLAN.JSONL"]
)
def test_a_path_is_no_name(name: str) -> None:
    assert refused(tar_of([(name, b"x")]))


def test_a_file_that_comes_twice_is_refused() -> None:
    assert refused(tar_of([*files_of(RUN), files_of(RUN)[0]]))


def test_a_bomb_is_refused_by_its_header_before_it_is_read() -> None:
    head = tarfile.TarInfo("batches.parquet")
    head.size = run_folder.MOST_B["batches.parquet"] + 1
    assert refused(head.tobuf(tarfile.USTAR_FORMAT))
    head.size = 2**60
    assert refused(head.tobuf(tarfile.GNU_FORMAT))


def test_compressed_and_extended_archives_are_refused() -> None:
    assert refused(gzip.compress(PACK))
    long = tarfile.TarInfo("a" * 200)
    assert refused(tar_of([(long, b"")], tarfile.GNU_FORMAT))
    assert refused(tar_of([(long, b"")], tarfile.PAX_FORMAT))


def test_what_follows_the_end_is_refused_where_it_is_not_empty() -> None:
    assert not refused(PACK + bytes(4096))
    assert refused(PACK + bytes(4096) + b"x")


Change = Callable[[Path], None]


def resealed(run: Path) -> None:
    """Seals a run that was changed: its sums are right."""
    run_folder.write_sums(run)


def foreign_columns(run: Path) -> None:
    pl.DataFrame({"who": [1]}).write_parquet(run / run_folder.BATCHES)
    resealed(run)


def no_parquet(run: Path) -> None:
    (run / run_folder.BATCHES).write_bytes(b"PAR1" + b"\xff" * 64 + b"PAR1")
    resealed(run)


def newer_schema(run: Path) -> None:
    lines = (run / "plan.jsonl").read_text().splitlines()
    (run / "plan.jsonl").write_text("\n".join([json.dumps(json.loads(lines[0]) | {"schema": 99}), *lines[1:-1]]) + "\n")
    resealed(run)


def one_byte(run: Path) -> None:
    content = bytearray((run / "headers.jsonl").read_bytes())
    content[100] ^= 1
    (run / "headers.jsonl").write_bytes(content)


def other_sums(run: Path) -> None:
    (run / run_folder.SUMS).write_bytes((run / run_folder.SUMS).read_bytes() + b"\n")


def no_cases(run: Path) -> None:
    (run / "headers.jsonl").write_text("")
    resealed(run)


@pytest.mark.parametrize("change", [foreign_columns, no_parquet, newer_schema, one_byte, other_sums, no_cases])
def test_a_run_that_was_changed_is_refused_and_nothing_is_kept(
    lab: Collection, client: TestClient, tmp_path: Path, change: Change
) -> None:
    run = tmp_path / "run"
    shutil.copytree(MEASURED, run)
    change(run)
    before = below(lab)
    content = pack_of(run)
    status, told = sent(client, hash_of_sums(run), content)
    assert (status, set(told)) == (422, {"error", "hint"}), told
    assert str(lab.data) not in str(told)
    assert below(lab) == before
    assert lab.runs() == []


def hash_of_sums(run: Path) -> str:
    return sha256(run / run_folder.SUMS)


def test_a_parquet_file_of_more_rows_than_a_run_may_have_is_refused_by_its_footer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    shutil.copytree(MEASURED, run)
    monkeypatch.setattr(bounds, "MOST_ROWS", 10)
    told = child.main(run)
    assert "batches, the limit is 10" in told["error"]


def test_a_run_that_takes_too_long_to_read_is_refused() -> None:
    with pytest.raises(TransferRefused, match="within the limits of memory and time"):
        child.entry_by_child(MEASURED, 0.01)


def test_a_hash_that_is_none_and_a_foreign_content_type_are_refused(client: TestClient) -> None:
    assert sent(client, "..%2Fetc", PACK)[0] in {400, 404}
    assert sent(client, "0" * 63, PACK)[0] == 400
    assert sent(client, hash_of(RUN), PACK, **{"Content-Type": "text/plain"})[0] == 400


def test_a_run_that_is_sent_under_another_hash_is_refused(lab: Collection, client: TestClient) -> None:
    status, told = sent(client, "0" * 64, PACK)
    assert status == 422
    assert "was sent as 000000000000" in str(told["error"])
    assert lab.runs() == []
