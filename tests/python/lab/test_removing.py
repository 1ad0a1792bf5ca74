"""One run leaves the lab: by its page or the verb, by who keeps the lab alone, said in the log; it can come again."""

import re
from pathlib import Path

import pytest

from support.labs import COUNTED, MEASURED, asking, below, filled, hash_of, pack_of, sent
from wattlock import cli
from wattlock.lab import tokens
from wattlock.lab.collection import REMOVED, RUNS, Collection, NoSuchRun
from wattlock.lab.doors import COOKIE
from wattlock.lab.tokens import Scope
from wattlock.store import RunFolder

RUN = hash_of(MEASURED)
PLACE = f"/runs/{RUN}/remove"


@pytest.fixture
def lab(tmp_path: Path) -> Collection:
    return filled(tmp_path / "lab", [MEASURED, COUNTED / "m4"])


def is_out(lab: Collection) -> bool:
    """Whether the run is in no page, its folder is kept aside, and the log says who did it."""
    client = asking(lab)
    found = {client.get(path).status_code for path in (f"/runs/{RUN}", f"/runs/{RUN}.json")}
    asked = any(RUN in client.get(path).text for path in ("/", "/runs", "/runs.json", "/change"))
    kept = [name for name in below(lab) if name.startswith(f"{REMOVED}/{RUN[:12]}") and name.endswith("plan.jsonl")]
    noted = tokens.actions(lab.engine)[0]
    said = noted["what"] == "removed" and noted["of"] == RUN
    return found == {404} and not asked and len(kept) == 1 and not (lab.data / RUNS / RUN).exists() and said


def test_the_button_of_a_runs_page_removes_it_and_it_can_be_pushed_again(lab: Collection) -> None:
    client = asking(lab)
    page = client.get(f"/runs/{RUN}").text
    assert f'action="{PLACE}"' in page
    mark = re.search('name="csrf" value="([0-9a-f]{64})"', page)
    assert mark is not None
    assert client.post(PLACE, data={"csrf": "0" * 64}).status_code == 403
    answer = client.post(PLACE, data={"csrf": mark[1]})
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs")
    assert is_out(lab)
    assert sent(client, RUN, pack_of(MEASURED))[0] == 201
    assert client.get(f"/runs/{RUN}").status_code == 200
    assert lab.remove(RUN[:12], tokens.By(None, "here")) == RUN
    assert lab.catch_up() == []
    assert not lab.has(RUN)


def test_a_run_that_is_removed_while_it_is_read_is_not_there(lab: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = lab.folder

    def removed_before(hash_: str) -> RunFolder:
        monkeypatch.undo()
        lab.remove(hash_, tokens.By(None, "here"))
        return folder(hash_)

    monkeypatch.setattr(lab, "folder", removed_before)
    with pytest.raises(NoSuchRun):
        lab.reading(RUN)


@pytest.mark.parametrize("scope", [Scope.send, Scope.read, Scope.plan])
def test_nobody_but_an_admin_removes_a_run_or_sees_the_button(lab: Collection, scope: Scope) -> None:
    admin, token = (tokens.make(lab.engine, each, None) for each in (Scope.admin, scope))
    client = asking(lab)
    by_token = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    assert client.post(PLACE, headers=by_token).status_code == 403
    assert client.post(PLACE, headers={"Content-Type": "application/json"}).status_code == 401
    assert "/remove" not in client.get(f"/runs/{RUN}", headers=by_token).text
    client.cookies.set(COOKIE, admin)
    assert PLACE in client.get(f"/runs/{RUN}").text
    client.cookies.clear()
    assert lab.has(RUN)
    answer = client.post(PLACE, headers={**by_token, "Authorization": f"Bearer {admin}"})
    assert answer.json() == {"removed": RUN}
    assert tokens.actions(lab.engine)[0]["token"] == tokens.check(lab.engine, admin, Scope.admin)


def test_the_verb_removes_a_run_while_a_server_has_it_open(lab: Collection, capsys: pytest.CaptureFixture[str]) -> None:
    client = asking(lab)
    assert client.get(f"/runs/{RUN}/report").status_code == 200
    assert cli.answer(["lab", "remove", RUN[:10], "--data", str(lab.data)]) == 0
    assert RUN in capsys.readouterr().err
    assert client.get(f"/runs/{RUN}/report").status_code == 404
    assert is_out(lab)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["remove"], "the run is missing"),
        (["remove", "0" * 12], "there is no run"),
        (["tokens", RUN], "takes no run"),
    ],
)
def test_what_cannot_be_removed_is_an_error(
    lab: Collection, words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(["lab", *words, "--data", str(lab.data)]) in {2, 4, 5}
    assert told in capsys.readouterr().err


def test_an_example_is_not_removed_by_hand(lab: Collection, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["lab", "remove", hash_of(COUNTED / "m4"), "--data", str(lab.data)]) == 4
    assert "is an example" in capsys.readouterr().err
