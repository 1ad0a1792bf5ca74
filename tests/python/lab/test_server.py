"""The lab's doors: what is new, what was there, who may come in, and what an error looks like."""

import html
import json
import os
import re
from contextlib import closing
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import polars as pl
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import insert, text, update

from support.labs import COUNTED, MEASURED, SMALL, asking, filled, hash_of, listening, pack_of, sent
from wattlock.energy.valuing import valued
from wattlock.errors import DiskFull, StoreError
from wattlock.lab import collection, doors, pages, tokens
from wattlock.lab.collection import Collection, Filter
from wattlock.lab.database import DatabaseBusy, Reason, Token, open_database
from wattlock.lab.fleet.queue import Queue
from wattlock.lab.tokens import Scope
from wattlock.run.result import open_run

BROWSER = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    """A lab that is not changed."""
    return filled(tmp_path_factory.mktemp("lab"))


@pytest.fixture(scope="module")
def client(lab: Collection) -> TestClient:
    return asking(lab)


def with_tokens(place: Path) -> tuple[Collection, dict[str, dict[str, str]]]:
    """A lab without runs, and the headers of a token of each scope."""
    lab = Collection.open(place)
    made = {scope.value: tokens.make(lab.engine, scope, 7) for scope in Scope}
    return lab, {scope: {"Authorization": f"Bearer {token}"} for scope, token in made.items()}


def test_a_run_that_is_pushed_twice_is_there_once_and_comes_back_bit_by_bit(tmp_path: Path) -> None:
    lab = Collection.open(tmp_path)
    client, run = asking(lab), COUNTED / "m4"
    assert sent(client, hash_of(run), pack_of(run)) == (201, {"hash": hash_of(run), "new": True})
    assert sent(client, hash_of(run), pack_of(run)) == (200, {"hash": hash_of(run), "new": False})
    assert [one.hash for one in lab.runs()] == [hash_of(run)]
    assert client.get(f"/runs/{hash_of(run)[:12]}/pack").content == pack_of(run)
    assert [action["what"] for action in client.get("/log.json").json()] == ["sent again", "sent"]


def test_the_estimates_are_those_of_the_batches(client: TestClient) -> None:
    rows = client.get(f"/runs/{hash_of(MEASURED)}.json").json()
    run = open_run(MEASURED)
    about = [pl.lit(run.plan["id"]).alias("run"), pl.lit(value=True).alias("run_is_valid")]
    own = valued(run, None, allow_assumed=False).select(*about, pl.all())
    assert rows == json.loads(own.write_json())
    assert client.get(f"/runs/{hash_of(MEASURED)}.csv").text == own.write_csv()


def test_an_index_that_is_made_again_is_equal(tmp_path: Path) -> None:
    lab = filled(tmp_path)
    before = [vars(lab.find(run.hash)) for run in lab.runs()]
    assert lab.reindex() == []
    after = [vars(lab.find(run.hash)) for run in lab.runs()]
    for row in (*before, *after):
        for name in ("libraries", "reasons"):
            row[name] = [getattr(part, "name", None) or part.text for part in row[name]]
        row.pop("_sa_instance_state")
    assert before == after
    assert len(after) == len(SMALL)


def test_a_database_that_is_lost_is_made_again_and_a_damaged_folder_is_left_out_by_name(tmp_path: Path) -> None:
    filled(tmp_path)
    for file in tmp_path.glob("lab.db*"):
        file.unlink()
    plan = tmp_path / "runs" / hash_of(MEASURED) / "plan.jsonl"
    plan.write_bytes(plan.read_bytes() + b" ")
    lab = Collection.open(tmp_path)
    (left_out,) = lab.catch_up()
    assert "plan.jsonl is not what was sealed" in left_out
    assert lab.count() == len(SMALL) - 1


def test_a_run_whose_folder_is_gone_leaves_the_index(tmp_path: Path) -> None:
    lab = filled(tmp_path, SMALL[:2])
    (tmp_path / "runs" / hash_of(SMALL[0])).rename(tmp_path / "elsewhere")
    lab.catch_up()
    assert [run.hash for run in lab.runs()] == [hash_of(SMALL[1])]


def test_devices_are_told_apart_by_fingerprint_and_evidence(lab: Collection, client: TestClient) -> None:
    rows = client.get("/devices.json").json()
    assert {row["name"]: row["evidence"] for row in rows} == {
        "Cortex-M4": "emulated",
        "Cortex-M0+": "emulated",
        "AMD EPYC": "measured",
    }
    for row in rows:
        assert [run.device_name for run in lab.runs(Filter(device=row["device"]))] == [row["name"]]


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ("", 3),
        ("evidence=emulated", 2),
        ("library=rustcrypto&evidence=measured", 1),
        ("study=small", 1),
        ("study=no", 0),
    ],
)
def test_a_filter_keeps_what_has_all_that_it_names(client: TestClient, asked: str, kept: int) -> None:
    assert len(client.get(f"/runs.json?{asked}").json()) == kept
    assert client.get(f"/runs?{asked}").text.count('<th scope="row">') == kept
    assert pl.read_csv(client.get(f"/runs.csv?{asked}").content).height == kept


def test_the_page_of_runs_has_the_latest_of_them_and_all_on_demand(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "LATEST_OF_LIST", 1)
    latest = client.get("/runs?evidence=emulated").text
    assert "The latest 1 of 2 runs" in latest
    assert client.get("/runs.json").json()[0]["hash"] in client.get("/runs").text
    (more,) = re.findall('href="([^"]*show=all)"', latest)
    for asked, kept in ((html.unescape(more), 2), ("/runs?show=all", 3), ("/runs?evidence=measured", 1)):
        page = client.get(asked).text
        assert (page.count('<th scope="row">'), "show=all" in page) == (kept, False)
    assert client.get("/runs?show=some").status_code == 400


def test_what_is_counted_is_compared_with_no_time(client: TestClient) -> None:
    answer = client.get("/compare.json", params={"run": [hash_of(MEASURED), hash_of(COUNTED / "m4")]})
    assert answer.status_code == 409
    assert "its cycles were counted on an emulated cortex-m4" in answer.json()["error"]
    answer = client.get("/compare.json", params={"run": [hash_of(COUNTED / "m4"), hash_of(COUNTED / "m0plus")]})
    assert {row["run_b"] for row in answer.json()} == {open_plan(COUNTED / "m0plus")}


def open_plan(run: Path) -> str:
    return str(json.loads((run / "plan.jsonl").read_text().splitlines()[0])["id"])


def test_more_runs_than_a_page_of_comparison_holds_are_refused_unread(
    client: TestClient, lab: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    monkeypatch.setattr(lab, "reading", read.append)
    digits = hash_of(MEASURED)
    answer = client.get("/compare", params=[("run", digits[:length]) for length in range(9, 9 + 20)])
    assert (answer.status_code, read) == (400, [])
    assert answer.json()["error"] == "a page holds 8 runs, these are 20"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/nothing", 404),
        ("/runs/0123456789", 404),
        ("/runs/..%2f..%2fetc", 404),
        ("/runs/%25", 404),
        ("/runs.xml", 404),
        ("/compare.json", 400),
        ("/queue/tasks.json?job=many", 400),
        ("/queue/tasks.json?job=99999999999999999999", 400),
        ("/queue/tasks.json?job=-99999999999999999999", 400),
        ("/assets/look.py", 404),
        ("/assets/..%2fpage.css", 404),
    ],
)
def test_an_error_is_two_lines_as_json_for_programs_and_a_page_for_browsers(
    client: TestClient, path: str, status: int
) -> None:
    answer = client.get(path)
    assert (answer.status_code, set(answer.json())) == (status, {"error", "hint"})
    page = client.get(path, headers=BROWSER)
    assert page.status_code == status
    assert "Not possible" in page.text


def test_every_answer_has_the_headers_that_keep_others_out(client: TestClient) -> None:
    for path in ("/", "/runs", "/nothing", "/assets/lab.css", f"/runs/{hash_of(MEASURED)}"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'")
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"


def test_the_whole_report_draws_in_an_origin_of_its_own(client: TestClient) -> None:
    answer = client.get(f"/runs/{hash_of(COUNTED / 'm4')}/report")
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in answer.headers["content-security-policy"]


def test_a_foreign_name_and_a_foreign_page_are_refused(client: TestClient) -> None:
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 421
    assert client.get("/", headers={"Host": "localhost:8893"}).status_code == 200
    assert client.get("/", headers={"Host": "[::1]:8893"}).status_code == 200
    foreign = {"Origin": "http://evil.example"}
    assert sent(client, hash_of(MEASURED), pack_of(MEASURED), **foreign)[0] == 403
    assert client.post("/logout", headers={"Origin": "null"}).status_code == 403


@pytest.mark.parametrize("broken", ["[", "[::1", "[evil]:8893", "[::1].evil", "user@127.0.0.1", "127.0.0.1:8893:1"])
def test_an_address_that_is_none_is_refused_as_a_foreign_one(client: TestClient, broken: str) -> None:
    assert client.get("/", headers={"Host": broken}).status_code == 421
    assert client.post("/logout", headers={"Origin": f"http://{broken}"}).status_code == 403


def test_a_lab_with_a_token_asks_everybody_for_one_of_the_right_scope(tmp_path: Path) -> None:
    lab, by = with_tokens(tmp_path)
    client, run = asking(lab), COUNTED / "m4"
    assert client.get("/").status_code == 401
    assert client.get("/", headers=BROWSER).headers["location"] == "/login"
    assert sent(client, hash_of(run), pack_of(run), **by["read"])[0] == 403
    assert sent(client, hash_of(run), pack_of(run), **by["send"])[0] == 201
    assert client.get("/runs.json", headers=by["send"]).status_code == 403
    assert client.get("/runs.json", headers=by["read"]).status_code == 200
    assert client.get("/log.json", headers=by["read"]).status_code == 403
    log = client.get("/log.json", headers=by["admin"]).json()
    assert [line["what"] for line in log].count("sent") == 1
    assert [line["what"] for line in log].count("refused") == 3


def test_a_token_that_expired_or_was_revoked_lets_nobody_in_and_the_database_holds_none(tmp_path: Path) -> None:
    lab = Collection.open(tmp_path)
    client, token = asking(lab), tokens.make(lab.engine, Scope.read, 1)
    by = {"Authorization": f"Bearer {token}"}
    assert client.get("/runs.json", headers=by).status_code == 200
    past = (datetime.now(UTC) - timedelta(seconds=1)).isoformat(timespec="seconds")
    with lab.engine.begin() as connection:
        connection.execute(update(Token).values(expires=past))
    answer = client.get("/runs.json", headers=by)
    assert answer.status_code == 401
    assert f"expired at {past}" in answer.json()["error"]
    other = tokens.make(lab.engine, Scope.read, None)
    (row,) = [row for row in tokens.listed(lab.engine) if row["expires"] is None]
    tokens.revoke(lab.engine, row["id"])
    assert client.get("/runs.json", headers={"Authorization": f"Bearer {other}"}).status_code == 401
    kept = b"".join(file.read_bytes() for file in tmp_path.glob("lab.db*"))
    assert token.encode() not in kept
    assert other.encode() not in kept


def test_the_data_of_an_invalid_run_say_so_in_every_row(tmp_path: Path) -> None:
    lab = filled(tmp_path, [MEASURED])
    path = f"/runs/{hash_of(MEASURED)}"
    with lab.engine.begin() as connection:
        connection.execute(insert(Reason).values(run=hash_of(MEASURED), place=0, text="the clock moved"))
    assert {row["run_is_valid"] for row in asking(lab).get(f"{path}.json").json()} == {False}
    assert set(pl.read_csv(asking(lab).get(f"{path}.csv").content)["run_is_valid"]) == {False}
    assert "<code>run_is_valid</code>" in asking(lab).get(path).text


def test_in_lists_an_invalid_run_says_so_first_and_looks_like_nothing_measured(tmp_path: Path) -> None:
    lab = filled(tmp_path, [MEASURED])
    with lab.engine.begin() as connection:
        connection.execute(insert(Reason).values(run=hash_of(MEASURED), place=0, text="the clock moved"))
    client = asking(lab)
    for address in ("/", "/runs"):
        table = client.get(address).text.rpartition("<table")[2]
        row = table.partition('<th scope="row">')[0].rpartition("<tr>")[2] + table.partition('<th scope="row">')[2]
        assert "⊘ invalid run" in table.partition('<th scope="row">')[0], "before the run's name"
        assert 'data-evidence="measured"' not in row
    assert client.get("/runs.json").json()[0]["state"] == "invalid run"
    assert next(iter(client.get("/runs.json").json()[0])) == "state"
    assert "⊘ invalid run" in client.get("/devices").text


def test_who_sends_many_bad_tokens_has_to_wait_and_holds_up_nobody_else(tmp_path: Path) -> None:
    lab, by = with_tokens(tmp_path)
    client = asking(lab)
    codes = [
        client.get("/", headers={"Authorization": f"Bearer {guess}"}).status_code for guess in range(doors.REFUSALS)
    ]
    assert codes == [401] * doors.REFUSALS
    assert client.get("/", headers={"Authorization": "Bearer guess"}).status_code == 429
    own = {"Origin": "http://127.0.0.1"}
    assert client.post("/login", data={"token": "guess"}, headers=own).status_code == 429
    assert client.get("/", headers=by["read"]).status_code == 200
    log = client.get("/log.json", headers=by["admin"]).json()
    assert [line["what"] for line in log] == ["refused"] * doors.REFUSALS


def test_a_good_token_of_another_scope_counts_as_no_guess(tmp_path: Path) -> None:
    lab, by = with_tokens(tmp_path)
    client = asking(lab)
    codes = {client.get("/", headers=by["send"]).status_code for _ in range(doors.REFUSALS + 1)}
    assert codes == {403}
    assert client.get("/", headers={"Authorization": "Bearer guess"}).status_code == 401


def test_behind_a_proxy_with_https_the_cookie_goes_over_https_alone(tmp_path: Path) -> None:
    lab, by = with_tokens(tmp_path)
    form = {"token": by["read"]["Authorization"].removeprefix("Bearer ")}
    over = {scheme: {"Origin": f"{scheme}://127.0.0.1"} for scheme in ("http", "https")}
    cookies = {
        scheme: asking(lab).post("/login", data=form, headers=origin).headers["set-cookie"]
        for scheme, origin in over.items()
    }
    assert {scheme: "Secure" in cookie for scheme, cookie in cookies.items()} == {"http": False, "https": True}


def test_a_login_keeps_a_cookie_that_reads_and_never_writes(tmp_path: Path) -> None:
    lab, by = with_tokens(tmp_path)
    client, run = asking(lab), COUNTED / "m4"
    token = by["admin"]["Authorization"].removeprefix("Bearer ")
    own = {"Origin": "http://127.0.0.1"}
    assert client.post("/login", data={"token": token}).status_code == 403
    assert client.post("/login", data={"token": token}, headers={"Origin": "http://evil.example"}).status_code == 403
    assert client.post("/login", data={"token": "no"}, headers=own).status_code == 401
    cookie = client.post("/login", data={"token": token}, headers=own).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert client.get("/").status_code == 200
    assert sent(client, hash_of(run), pack_of(run), **own)[0] == 401
    client.post("/logout", headers=own)
    assert client.get("/").status_code == 401


def test_a_full_disk_and_a_locked_database_are_told_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wattlock.lab.database.LONGEST_WAIT_s", 0.1)
    lab = Collection.open(tmp_path)
    client, run = asking(lab), COUNTED / "m4"
    with monkeypatch.context() as patch:

        def full(*_: object) -> None:
            raise OSError(28, os.strerror(28))

        patch.setattr(collection, "unpack", full)
        status, told = sent(client, hash_of(run), pack_of(run))
        assert (status, told["error"]) == (507, "the lab's disk is full; nothing of this run was kept")
    assert list((tmp_path / "incoming").iterdir()) == []
    with lab.engine.connect() as connection:
        connection.execute(text("BEGIN IMMEDIATE"))
        status, told = sent(client, hash_of(run), pack_of(run))
        connection.rollback()
    assert status == 503
    assert "another program holds the database" in str(told["error"])
    # The folder is there already: sent again, it enters the index.
    assert sent(client, hash_of(run), pack_of(run))[0] == 200
    assert [one.hash for one in lab.runs()] == [hash_of(run)]


def test_a_database_of_a_newer_wattlock_and_one_that_is_none_are_refused(tmp_path: Path) -> None:
    engine = open_database(tmp_path)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'from-the-future'"))
    engine.dispose()
    with pytest.raises(StoreError, match="newer than this wattlock"):
        open_database(tmp_path)
    for file in tmp_path.glob("lab.db*"):
        file.unlink()
    (tmp_path / "lab.db").write_bytes(b"no database" * 500)
    with pytest.raises(StoreError, match="not a database"):
        open_database(tmp_path)
    assert not issubclass(DatabaseBusy, DiskFull)


def test_the_tables_are_those_that_the_migrations_make(tmp_path: Path) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    from wattlock.lab.database import Base

    with open_database(tmp_path).connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []


@pytest.mark.parametrize("path", ["/devices", "/runs", "/queue", "/queue/tasks", "/plan", "/log", "/papers"])
def test_a_table_without_rows_has_its_columns_in_csv(tmp_path: Path, path: str) -> None:
    client = asking(Collection.open(tmp_path))
    table = pl.read_csv(client.get(f"{path}.csv").content)
    assert table.height == 0
    assert len(table.columns) > 4
    assert client.get(f"{path}.json").json() == []


@pytest.mark.parametrize("page", ["/", "/queue", "/queue.json", "/queue/tasks.json", "/runs", "/plan", "/nothing"])
def test_head_is_answered_as_get_is_without_a_body(client: TestClient, page: str) -> None:
    whole, head = client.get(page), client.head(page)
    assert (head.status_code, head.content, head.headers) == (whole.status_code, b"", whole.headers)
    assert client.head("/queue/7/cancel").status_code == client.get("/queue/7/cancel").status_code == 405


def test_head_of_what_is_streamed_ends(tmp_path: Path) -> None:
    lab = filled(tmp_path)
    Queue(lab.engine).enqueue("quick", "local")
    with listening(lab) as address, closing(HTTPConnection(urlsplit(address).netloc, timeout=5)) as asked:

        def head(page: str) -> HTTPResponse:
            asked.request("HEAD", page)
            answer = asked.getresponse()
            assert (answer.status, answer.read()) == (200, b"")
            return answer

        assert str(head("/queue/events").headers["Content-Type"]).startswith("text/event-stream")
        assert head(f"/runs/{hash_of(MEASURED)}/pack").headers["Content-Length"] == str(len(pack_of(MEASURED)))
        head("/queue")
