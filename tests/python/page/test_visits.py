"""What a page may post: bounded, of the right form, with the server's key, one page at a time; and how it is heard."""

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from support.browser_device import DEVICE
from wattlock.errors import InputError, ProbeError, WayError
from wattlock.page import visits as page_module
from wattlock.page import visits as page_target
from wattlock.page.server import HEADERS, room_B, serving
from wattlock.page.visits import (
    AT_ONCE,
    MAGIC,
    MOST_LINES_B,
    MOST_WORDS_B,
    WAITING,
    Module,
    PageJob,
    PageTarget,
    Refusal,
    Visits,
)
from wattlock.targets.target import LimitExceeded, Limits

LIMITS = Limits(20, 20, 20, 1000)


@pytest.fixture
def visits(tmp_path: Path) -> Visits:
    path = tmp_path / "module.wasm"
    path.write_bytes(MAGIC)
    return Visits(Module(path))


@pytest.fixture
def address(visits: Visits) -> Iterator[str]:
    with serving("127.0.0.1", 0, visits) as address:
        yield address


def visit(visits: Visits, **changes: Any) -> str:
    """The token of a page that begins."""
    body = {"key": visits.key, "device": {**DEVICE, **changes}}
    return str(visits.visit(json.dumps(body).encode())["visit"])


def posted(address: str, path: str, body: bytes, length: str | None = None) -> tuple[int, Any]:
    """The status and the answer of one post."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=20)
    connection.putrequest("POST", path)
    connection.putheader("Content-Length", str(len(body)) if length is None else length)
    connection.endheaders()
    connection.send(body)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"key": "another"}, "lacks the server's key"),
        ({"device": {**DEVICE, "step_ns": 0}}, "device.step_ns"),
        ({"device": {**DEVICE, "step_ns": "5"}}, "device.step_ns"),
        ({"device": {**DEVICE, "user_agent": "x" * 501}}, "device.user_agent"),
        ({"device": {**DEVICE, "more": 1}}, "device.more"),
        ({"device": None}, "device"),
    ],
)
def test_a_visit_of_another_form_is_refused_by_the_field(visits: Visits, changes: dict[str, Any], named: str) -> None:
    body = {"key": visits.key, "device": DEVICE} | changes
    with pytest.raises(Refusal, match=named):
        visits.visit(json.dumps(body).encode())
    assert visits.next(0.01) is None


def test_a_second_page_waits_until_the_first_is_over(visits: Visits) -> None:
    visit(visits)
    with pytest.raises(Refusal, match="another page is being measured"):
        visit(visits)
    first = visits.next(1)
    assert first is not None
    first.shows(is_over=True)
    visit(visits)


@pytest.mark.parametrize("path", ["/visit", "/work", "/lines", "/ended", "/elsewhere", "/work?visit=x&job=1"])
@pytest.mark.parametrize("body", [b"", b"{", b"null", b"\xff\xfe", b"[" * 100_000])
def test_a_stranger_posts_nothing(address: str, path: str, body: bytes) -> None:
    status, answer = posted(address, path, body)
    assert 400 <= status < 500
    assert answer.keys() == {"error", "hint"}


@pytest.mark.parametrize("length", ["-1", "x", "", str(MOST_WORDS_B + 1), "9" * 40])
def test_a_post_without_a_sound_length_is_not_read(address: str, length: str) -> None:
    status, answer = posted(address, "/visit", b"", length)
    assert status == 413
    assert str(MOST_WORDS_B) in answer["error"]


@pytest.mark.parametrize("path", ["/lines?visit=x&job=1", "/work", "/elsewhere"])
def test_nothing_is_read_of_who_is_not_visiting(address: str, path: str) -> None:
    status, _ = posted(address, path, b"", str(MOST_LINES_B))
    assert status in {403, 404}, "it would wait for the body"


def test_of_a_visit_few_posts_are_read_at_once_and_its_next_one_is(visits: Visits) -> None:
    query = {"visit": visit(visits)}
    with ExitStack() as reading:
        for _ in range(AT_ONCE):
            assert reading.enter_context(room_B(visits, "/lines", query)) == MOST_LINES_B
        with pytest.raises(Refusal, match="too many posts") as refused, room_B(visits, "/lines", query):
            pass
        assert refused.value.status == 429
    with room_B(visits, "/ended", query) as most_B:
        assert most_B == MOST_WORDS_B


def test_files_are_isolated_and_nothing_else_is_served(address: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=20)
    for path, status in (("/", 200), ("/worker.js", 200), ("/../module.py", 404), ("/etc/passwd", 404)):
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == status
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS


def test_lines_that_nobody_hears_are_refused_before_they_fill_the_memory(visits: Visits) -> None:
    token = visit(visits)
    visitor = visits.next(1)
    assert visitor is not None
    job = PageJob(1, "measure", "{}", most_B=1e9)
    visitor.target._job = job
    query = {"visit": token, "job": "1"}
    for _ in range(WAITING):
        visits.lines(query, b"{}\n")
    with pytest.raises(Refusal, match="more was posted than is heard"):
        visits.lines(query, b"{}\n")
    job.heard.get()
    visits.lines(query, b"{}\n")


def answering(visits: Visits, token: str, *posts: bytes, code: int = 0) -> threading.Thread:
    """A page that takes one job, posts lines and ends it."""

    def page() -> None:
        job = visits.work({"visit": token})["job"]
        query = {"visit": token, "job": str(job["number"])}
        for lines in posts:
            visits.lines(query, lines)
        visits.ended(query, json.dumps({"code": code, "complaint": "error: why"}).encode())

    thread = threading.Thread(target=page)
    thread.start()
    return thread


def test_what_a_page_posts_is_heard_as_a_probes_output_is(visits: Visits) -> None:
    token = visit(visits)
    visitor = visits.next(1)
    assert visitor is not None
    written: list[bytes] = []
    page = answering(visits, token, b"one\n", b"", b"two\n", code=3)
    ended = visitor.target.start(["measure"], b"plan", LIMITS, written.append, who="the page")
    page.join()
    assert (ended, written) == ((3, b"error: why"), [b"one\n", b"two\n"])
    with pytest.raises(Refusal, match="nobody wants this answer any more"):
        visits.lines({"visit": token, "job": "1"}, b"late\n")


def test_a_page_that_posts_too_much_is_refused(visits: Visits) -> None:
    token = visit(visits)
    visitor = visits.next(1)
    assert visitor is not None
    page = answering(visits, token, b"x" * 600, b"x" * 600)
    with pytest.raises(LimitExceeded, match="more than 1,000 bytes"):
        visitor.target.start(["measure"], b"", LIMITS, lambda _: None, who="the page")
    page.join()


def test_a_page_that_says_nothing_any_more_is_lost(visits: Visits, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_target, "GONE_S", 0.1)
    target = PageTarget(visits.module, DEVICE)
    with pytest.raises(WayError, match="closed or lost"):
        target.start(["measure"], b"", LIMITS, lambda _: None, who="the page")


@pytest.mark.parametrize(
    ("changes", "batch_ns"),
    [
        ({}, 200_000),
        ({"has_ticker": False}, 500_000),
        ({"has_ticker": False, "step_ns": 20_000}, 2_000_000),
        ({"has_ticker": False, "is_isolated": False, "step_ns": 100_000}, 10_000_000),
        ({"has_ticker": False, "is_isolated": False, "step_ns": 1_000_000}, 20_000_000),
    ],
)
def test_batches_are_long_where_the_clock_is_coarse(visits: Visits, changes: dict[str, Any], batch_ns: int) -> None:
    assert PageTarget(visits.module, {**DEVICE, **changes}).facts().batch_ns == batch_ns


def test_a_page_has_no_files_and_only_measures(visits: Visits, tmp_path: Path) -> None:
    target = PageTarget(visits.module, DEVICE)
    with pytest.raises(InputError, match="has no files"):
        target.push(tmp_path)
    with pytest.raises(InputError, match="has no doctor"):
        target.start(["doctor"], b"", LIMITS, lambda _: None, who="the page")


def test_a_file_that_is_no_module_and_one_that_is_missing_are_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(page_module.VARIABLE, str(tmp_path / "none.wasm"))
    with pytest.raises(ProbeError, match="no module of the instrument") as error:
        page_module.find()
    assert "make page" in error.value.hint
    (tmp_path / "none.wasm").write_bytes(b"MZ")
    with pytest.raises(ProbeError, match="no WebAssembly module"):
        page_module.find()


def test_a_port_in_use_is_an_error_with_a_hint(address: str, visits: Visits) -> None:
    port = urlsplit(address).port
    assert port is not None
    with pytest.raises(InputError, match="in use") as error, serving("127.0.0.1", port, visits):
        pass
    assert "another port" in error.value.hint
