"""The pages for who keeps a lab: the audit log and the tokens, for nobody else."""

from pathlib import Path

import pytest

from support.labs import asking
from wattlock.lab import log_page, tokens
from wattlock.lab.collection import Collection
from wattlock.lab.tokens import Scope

PAGES = ("/log", "/tokens", "/log.json", "/log.csv", "/tokens.json", "/tokens.csv")
HTML = {"Accept": "text/html"}


def test_who_keeps_the_lab_sees_its_log_and_its_tokens_and_nobody_else_does(tmp_path: Path) -> None:
    lab = Collection.open(tmp_path)
    made = {scope: tokens.make(lab.engine, scope, 1) for scope in Scope}
    client = asking(lab)
    for scope, token in made.items():
        headers = {"Authorization": f"Bearer {token}"}
        status = 200 if scope is Scope.admin else 403
        assert [client.get(path, headers=headers).status_code for path in PAGES] == [status] * len(PAGES), scope
    assert [client.get(path).status_code for path in PAGES] == [401] * len(PAGES)


def test_no_page_and_no_data_has_what_lets_in(tmp_path: Path) -> None:
    lab = Collection.open(tmp_path)
    token = tokens.make(lab.engine, Scope.admin, 7)
    tokens.revoke(lab.engine, tokens.listed(lab.engine)[0]["id"])
    keeper = {"Authorization": f"Bearer {tokens.make(lab.engine, Scope.admin, None)}"}
    client = asking(lab)
    shown = "".join(client.get(path, headers=keeper).text for path in PAGES)
    assert token not in shown
    assert tokens._sha256(token) not in shown
    rows = client.get("/tokens.json", headers=keeper).json()
    assert rows == tokens.listed(lab.engine)
    assert sorted(row["revoked"] is None for row in rows) == [False, True]
    assert client.get("/tokens.csv", headers=keeper).text.startswith("id,scope,created,expires,revoked")
    assert client.get("/tokens.xml", headers=keeper).status_code == 404


def test_the_log_shows_the_latest_lines_and_says_of_how_many_and_no_text_is_markup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_page, "LATEST", 3)
    lab = Collection.open(tmp_path)
    for number in range(5):
        tokens.note(lab.engine, None, "127.0.0.1", "sent", f"<script>{number}</script>")
    client = asking(lab)
    page = client.get("/log", headers=HTML).text
    assert "the latest 3 of 5 lines" in page
    assert [f"&lt;script&gt;{number}&lt;/script&gt;" in page for number in range(5)] == [False, False, True, True, True]
    assert len(client.get("/log.json").json()) == 5


def test_a_new_lab_says_that_there_is_no_line_and_no_token(tmp_path: Path) -> None:
    client = asking(Collection.open(tmp_path))
    empty = client.get("/log", headers=HTML).text
    assert "Nothing was noted yet" in empty
    assert 'href="/log.json"' in empty
    assert "open to its machine" in client.get("/tokens", headers=HTML).text
