"""Pushing and pulling: two labs exchange a run bit by bit, and what goes wrong is said in two lines."""

import shutil
import socket
from pathlib import Path

import pytest

from support.labs import COUNTED, MEASURED, asking, filled, hash_of, listening
from wattlock import cli
from wattlock.errors import InputError, StoreError, TransferRefused, UsageError, WayError
from wattlock.lab import client, database, serve, tokens
from wattlock.lab.collection import Collection
from wattlock.lab.tokens import Scope
from wattlock.store.run_folder import FILES

RUN = COUNTED / "m4"


def test_two_labs_exchange_a_run_bit_by_bit(tmp_path: Path) -> None:
    labs = [Collection.open(tmp_path / name) for name in "ab"]
    with listening(labs[0]) as first, listening(labs[1]) as second:
        assert client.push(MEASURED, first, None) == (hash_of(MEASURED), True)
        assert client.pull(hash_of(MEASURED)[:10], first, None, tmp_path / "run") == hash_of(MEASURED)
        assert client.push(tmp_path / "run", second, None) == (hash_of(MEASURED), True)
        assert client.push(MEASURED, second, None) == (hash_of(MEASURED), False)
    assert {name: (tmp_path / "run" / name).read_bytes() for name in FILES} == {
        name: (MEASURED / name).read_bytes() for name in FILES
    }
    one, other = (asking(lab).get(f"/runs/{hash_of(MEASURED)}.json").json() for lab in labs)
    assert one == other


def test_the_command_line_pushes_and_pulls_with_a_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = str(tmp_path / "lab")
    assert cli.answer(["lab", "token", "--data", data, "--scope", "admin", "--days", "1"]) == 0
    token = capsys.readouterr().out.strip()
    assert token.startswith(tokens.BEGIN)
    assert cli.answer(["lab", "tokens", "--data", data, "--format", "csv"]) == 0
    listed = capsys.readouterr().out
    assert token not in listed
    assert ",admin," in listed
    with listening(Collection.open(Path(data))) as address:
        assert cli.answer(["push", str(RUN), "--to", address]) == TransferRefused.exit_code
        assert "this lab needs a token" in capsys.readouterr().err
        monkeypatch.setenv("WATTLOCK_TOKEN", token)
        assert cli.answer(["push", str(RUN), "--to", address]) == 0
        assert capsys.readouterr().out.strip() == hash_of(RUN)
        out = tmp_path / "pulled"
        assert cli.answer(["pull", hash_of(RUN), "--from", address, "--out", str(out)]) == 0
        assert hash_of(out) == hash_of(RUN)
        assert cli.answer(["lab", "revoke", "--data", data, "--id", listed.splitlines()[1].split(",")[0]]) == 0
        assert cli.answer(["push", str(RUN), "--to", address]) == TransferRefused.exit_code
    assert cli.answer(["lab", "reindex", "--data", data]) == 0
    assert "1 runs are in the index" in capsys.readouterr().err


def test_what_can_not_be_pulled_leaves_no_folder(tmp_path: Path) -> None:
    with listening(Collection.open(tmp_path / "lab")) as address:
        with pytest.raises(TransferRefused, match="there is no run 0123456789"):
            client.pull("0123456789", address, None, tmp_path / "run")
        with pytest.raises(InputError, match="is there already"):
            client.pull(hash_of(RUN), address, None, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lab"]


def test_a_run_that_is_not_sealed_or_was_changed_is_not_sent(tmp_path: Path) -> None:
    shutil.copytree(RUN, tmp_path / "run")
    (tmp_path / "run" / "headers.jsonl").write_bytes(b"{}\n")
    with pytest.raises(StoreError, match="not what was sealed"):
        client.push(tmp_path / "run", "http://127.0.0.1:9", None)


@pytest.mark.parametrize(
    "address", ["", "127.0.0.1:8893", "ftp://lab", "file:///etc/passwd", "http://", "http://lab?x=1"]
)
def test_what_is_no_address_of_a_lab_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="is no address of a lab"):
        client.push(RUN, address, None)


def test_a_lab_that_is_not_there_and_a_server_that_is_no_lab_are_told_apart(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(WayError, match="can't be reached"):
        client.push(RUN, f"http://127.0.0.1:{port}", None)
    with listening(Collection.open(tmp_path)) as address, pytest.raises(TransferRefused, match="there is no GET"):
        client.push(RUN, f"{address}/elsewhere", None)


def test_a_token_over_http_to_another_host_is_warned_about() -> None:
    assert client.is_in_the_clear("http://192.168.1.2:8893")
    assert client.is_in_the_clear("http://lab.local")
    assert not client.is_in_the_clear("http://127.0.0.1:8893")
    assert not client.is_in_the_clear("https://lab.local")


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The error of a command line that is to fail with an input that can't be; its hint is there."""
    assert cli.answer(words) in {UsageError.exit_code, InputError.exit_code, StoreError.exit_code}
    error, hint = capsys.readouterr().err.strip().splitlines()
    assert hint.startswith("hint: ")
    return error


def test_a_lab_that_others_reach_needs_a_token_before_it_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    error = refused(["lab", "--data", str(tmp_path), "--bind", "0.0.0.0:0"], capsys)
    assert error == "error: --bind 0.0.0.0:0: others reach this address, and the lab has no token"
    error = refused(["lab", "--data", str(tmp_path), "--bind", "127.0.0.1:0", "--need-token"], capsys)
    assert error == "error: --need-token: the lab has no token"


def test_a_lab_that_lost_its_database_says_at_its_start_that_its_tokens_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = filled(tmp_path, [RUN])
    lab.engine.dispose()
    monkeypatch.setattr("uvicorn.Server.run", lambda *_args, **_options: None)

    def warned() -> list[str]:
        said: list[str] = []
        serve.serve(tmp_path, "127.0.0.1:0", said.append)
        return [line for line in said if line.startswith("warning: ")]

    assert warned() == []
    for file in tmp_path.glob("lab.db*"):
        file.unlink()
    (line,) = warned()
    assert "without one the lab is open to this machine" in line


def test_a_port_in_use_a_foreign_address_and_a_lab_that_runs_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["lab", "--data", str(tmp_path), "--bind"]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert refused([*words, f"127.0.0.1:{port}"], capsys) == f"error: --bind 127.0.0.1:{port}: the port is in use"
    for bind in ("lab.local:8893", "127.0.0.1", "127.0.0.1:99999", "::1:8893"):
        assert refused([*words, bind], capsys) == f"error: --bind {bind}: no address with a port"
    tokens.make(Collection.open(tmp_path).engine, Scope.read, None)
    assert "has no such address" in refused([*words, "192.0.2.1:0"], capsys)
    with database.alone_at(tmp_path, Collection.open(tmp_path).engine):
        assert "another lab serves this folder" in refused([*words, "127.0.0.1:0"], capsys)


def test_options_of_another_action_and_a_folder_that_can_not_be_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = ["--data", str(tmp_path / "lab")]
    assert refused(["lab", "reindex", *data, "--bind", "127.0.0.1:0"], capsys) == "error: --bind is for serve"
    assert refused(["lab", "token", *data], capsys) == "error: --scope is missing"
    assert refused(["lab", "revoke", *data], capsys) == "error: --id is missing"
    for words in (["reindex"], ["tokens"], ["revoke", "--id", "none"]):
        assert refused(["lab", *words, *data], capsys) == f"error: --data {data[1]}: is no folder of a lab"
    assert list(tmp_path.iterdir()) == []
    assert cli.answer(["lab", "token", *data, "--scope", "read"]) == 0
    assert f"a new lab in {data[1]}\n" in capsys.readouterr().err
    assert cli.answer(["lab", "token", *data, "--scope", "read"]) == 0
    assert "a new lab" not in capsys.readouterr().err
    assert refused(["lab", "revoke", *data, "--id", "none"], capsys) == "error: there is no token none"
    (tmp_path / "file").write_text("")
    words = ["lab", "token", "--scope", "read", "--data", str(tmp_path / "file")]
    assert "can't be the folder of a lab" in refused(words, capsys)


def test_a_folder_of_ones_own_runs_becomes_no_lab(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = tmp_path / "runs"
    shutil.copytree(MEASURED, runs / "mine")
    for words in (["--bind", "127.0.0.1:0"], ["token", "--scope", "read"]):
        told = refused(["lab", *words, "--data", str(runs)], capsys)
        assert told == f"error: {runs}: holds runs of your own and no lab"
    assert [path.name for path in runs.iterdir()] == ["mine"]
    assert cli.answer(["lab", "token", "--scope", "read", "--data", str(tmp_path)]) == 0
