"""A lab whose index is in PostgreSQL: it answers as one with SQLite does, and says what it lacks."""

import json
import random
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, text

from support import postgresql
from support.labs import COUNTED, SMALL, asking, filled, hash_of, pack_of, sent
from support.tools import needs
from wattlock.errors import InputError, StoreError
from wattlock.lab import tokens
from wattlock.lab.collection import Collection
from wattlock.lab.database import Away, alone, open_database
from wattlock.lab.tokens import Scope
from wattlock.store import RunFolder, run_folder, run_plan

pytestmark = needs(postgresql.FOUND, "PostgreSQL or its driver is missing: apt-get install postgresql, make dev")
QUESTIONS = 200
STUDIES = ("b", "a-b", "ab", "a-1", "a1", "aa-b", "1-a", "select", "null")
"""Names that languages order otherwise than octets, and such as a database might take for its own."""

ODD = ("B", "a b", "a_b", "\u00e4", "\u4e2d", "nul\0", "50%", "it's", 'a"b')
"""Words that no study may be called by, which are asked for all the same."""


@pytest.fixture(scope="module")
def server() -> Iterator[postgresql.Server]:
    with postgresql.running() as running:
        yield running


@pytest.fixture
def kept() -> Iterator[list[Engine]]:
    """Engines whose connections are closed at the end."""
    engines: list[Engine] = []
    yield engines
    for engine in engines:
        engine.dispose()


def of_study(study: str, place: Path) -> Path:
    """A sealed run of a study of this name."""
    shutil.copytree(COUNTED / "m4", place, copy_function=shutil.copy)
    first, *others = RunFolder.open(place).plan()
    changed = {**first, "id": f"{study}-1", "study": {**first["study"], "id": study, "title": f"{study} of {study}"}}
    (place / run_plan.NAME).write_bytes(b"".join(run_plan.encode([changed, *others])))
    run_folder.write_sums(place)
    return place


@pytest.fixture(scope="module")
def labs(
    server: postgresql.Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Collection, Collection]]:
    """The same runs, indexed in SQLite and in PostgreSQL."""
    place = tmp_path_factory.mktemp("labs")
    runs = [of_study(study, place / f"run-{number}") for number, study in enumerate(STUDIES)]
    first = filled(place / "lab", [*SMALL, *runs])
    second = Collection.open(place / "lab", server.made("same"))
    assert second.catch_up() == []
    yield first, second
    second.engine.dispose()


def questions(lab: Collection) -> list[str]:
    """Pages, JSON and CSV with filters, known and unknown values, hashes whole and cut."""
    draw = random.Random(200)
    runs = lab.runs()
    odd = ["", "nobody", "%", "_", "'; DROP TABLE run; --", "\0", "A", "\u00c4", "x" * 300, "null"]
    known = {
        "device": [run.device for run in runs],
        "study": [*STUDIES, *ODD],
        "library": [library.name for run in runs for library in run.libraries],
        "evidence": ["emulated", "measured"],
    }

    def listed() -> str:
        names = draw.sample(sorted(known), draw.randint(0, 3))
        values = (f"{name}={quote(draw.choice([*known[name], draw.choice(odd)]))}" for name in names)
        return f"/runs{draw.choice(['', '.json', '.csv', '.xml'])}?{'&'.join(values)}"

    def digits() -> str:
        whole = draw.choice([draw.choice(runs).hash, draw.choice(runs).hash.upper(), "0" * 64, "zz" * 32])
        return whole[: draw.choice([0, 1, 7, 8, 12, 64])]

    def one() -> str:
        return f"/runs/{digits()}{draw.choice(['', '.json', '.csv', '.xml', '/pack', '/wanted'])}"

    def compared() -> str:
        return (
            f"/compare{draw.choice(['.json', '.csv'])}?{'&'.join(f'run={digits()}' for _ in range(draw.randint(0, 3)))}"
        )

    fixed = ["/", "/compare", "/devices.json", "/devices.csv", "/devices.xml", "/log.json", "/nothing", "/login"]
    return fixed + [draw.choice([listed, listed, one, compared])() for _ in range(QUESTIONS - len(fixed))]


def test_both_databases_give_the_same_octets_to_the_same_200_questions(labs: tuple[Collection, Collection]) -> None:
    clients = [asking(lab) for lab in labs]
    asked = questions(labs[0])
    assert len(asked) == QUESTIONS
    answers = [[client.get(path, headers={"Accept": accept(path)}) for client in clients] for path in asked]
    differ = [path for path, (one, other) in zip(asked, answers, strict=True) if one.content != other.content]
    assert differ == []
    assert all(one.status_code == other.status_code for one, other in answers)
    assert {one.status_code for one, _ in answers} >= {200, 400, 404}
    assert len({one.content for one, _ in answers}) > QUESTIONS // 4


def accept(path: str) -> str:
    """Some errors are asked for as pages."""
    return "text/html" if len(path) % 2 else "*/*"


def test_runs_are_sent_found_and_kept_while_the_server_is_away(
    server: postgresql.Server, tmp_path: Path, kept: list[Engine]
) -> None:
    lab = Collection.open(tmp_path, server.made("away"))
    kept.append(lab.engine)
    client, run = asking(lab), COUNTED / "m0plus"
    assert sent(client, hash_of(run), pack_of(run))[0] == 201
    token = {"Authorization": f"Bearer {tokens.make(lab.engine, Scope.admin, 7)}"}
    server.stop()
    try:
        answer = client.get("/runs.json", headers=token)
        status, told = sent(client, hash_of(run), pack_of(run), **token)
    finally:
        server.start()
    assert (answer.status_code, status) == (503, 503)
    assert (
        told
        == answer.json()
        == {
            "error": "the database: its server doesn't answer; all runs are kept",
            "hint": "start it, or check --database",
        }
    )
    assert client.get("/runs.json").status_code == 401
    assert [one["hash"] for one in client.get("/runs.json", headers=token).json()] == [hash_of(run)]
    assert sent(client, hash_of(run), pack_of(run), **token) == (200, {"hash": hash_of(run), "new": False})


def test_a_server_that_goes_away_in_the_middle_of_a_start_loses_no_run(
    server: postgresql.Server, tmp_path: Path, kept: list[Engine]
) -> None:
    url = server.made("middle")
    filled(tmp_path).engine.dispose()
    lab = Collection.open(tmp_path, url)
    kept.append(lab.engine)
    server.stop()
    try:
        with pytest.raises(Away):
            lab.reindex()
    finally:
        server.start()
    assert lab.count() == 0
    assert lab.reindex() == []
    assert lab.count() == len(SMALL)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda server: server.url("postgres", "guess"), "doesn't let the lab in"),
        (lambda server: server.url("nowhere"), "has none of that name"),
        (lambda server: server.url("postgres").replace(str(server.port), "1"), "doesn't answer"),
    ],
)
def test_what_can_not_be_reached_is_told_without_the_password(
    server: postgresql.Server, tmp_path: Path, wrong: object, said: str
) -> None:
    assert callable(wrong)
    with pytest.raises(Away, match=said) as error:
        open_database(tmp_path, wrong(server))
    assert "sesame" not in f"{error.value} {error.value.hint}"
    assert error.value.hint


@pytest.mark.parametrize(
    "url", ["x", "mysql://u:sesame@h/d", "postgresql://", "postgresql://u:sesame@h:port/d", "sqlite:///x"]
)
def test_a_url_of_another_database_is_refused_without_its_password(tmp_path: Path, url: str) -> None:
    with pytest.raises(InputError, match="no URL of a PostgreSQL database") as error:
        open_database(tmp_path, url)
    assert "sesame" not in str(error.value)


def test_a_newer_schema_is_refused_and_stays(server: postgresql.Server, tmp_path: Path, kept: list[Engine]) -> None:
    url = server.made("newer")
    engine = open_database(tmp_path, url)
    kept.append(engine)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '999'"))
    with pytest.raises(StoreError, match="its schema is newer than this wattlock's"):
        open_database(tmp_path, url)
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == "999"


def test_labs_that_start_at_a_time_make_the_tables_once_and_one_of_them_serves(
    server: postgresql.Server, tmp_path: Path, kept: list[Engine]
) -> None:
    url = server.made("several")
    threads = []
    for _ in range(4):
        threads.append(threading.Thread(target=lambda: kept.append(open_database(tmp_path, url))))
        threads[-1].start()
    for thread in threads:
        thread.join(60)
    assert len(kept) == len(threads)
    with alone(kept[0]):
        with pytest.raises(StoreError, match="another lab serves out of it"), alone(kept[1]):
            pass
        assert tokens.is_open(kept[1])
    with alone(kept[1]):
        assert tokens.is_open(kept[0])


def test_a_text_that_no_database_takes_is_kept_without_what_it_does_not_take(
    labs: tuple[Collection, Collection],
) -> None:
    for lab in labs:
        tokens.note(lab.engine, None, "127.0.0.1", "refused", "/\ud800\0")
        assert tokens.actions(lab.engine)[0]["of"] == "/?\ufffd"


def test_clients_read_while_one_writes(server: postgresql.Server, tmp_path: Path, kept: list[Engine]) -> None:
    lab = Collection.open(tmp_path, server.made("both"))
    kept.append(lab.engine)
    run = COUNTED / "m4"
    reader: TestClient = asking(lab)
    with lab.engine.begin() as connection:
        connection.execute(text("INSERT INTO action (at, address, what, of) VALUES ('', '', 'sent', '')"))
        assert json.loads(reader.get("/log.json").text) == []
    assert sent(reader, hash_of(run), pack_of(run))[0] == 201
