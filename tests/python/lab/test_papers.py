"""The papers' questions per device: who answers, what is kept, and what is said where nothing was measured."""

import time
from pathlib import Path

import pytest
from sqlalchemy import select

from support.labs import MEASURED, SMALL, asking, filled, hash_of
from wattlock.lab import papers_answers
from wattlock.lab.database import PapersAnswers, RunRow, session
from wattlock.lab.doors import Turns
from wattlock.papers.nine_questions import QUESTIONS

ANSWERS = [dict.fromkeys(papers_answers.FIELDS, "") | {"question": question.text} for question in QUESTIONS]


@pytest.fixture(autouse=True)
def nothing_took_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(papers_answers, "_again", {})


def test_devices_that_measured_answer_once_and_those_that_counted_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def answer(_module: object, _wall_s: float, sent: str, cwd: Path) -> dict[str, object]:
        asked.append((sent, cwd))
        return {"answers": ANSWERS}

    monkeypatch.setattr(papers_answers, "ask", answer)
    lab = filled(tmp_path, SMALL)
    (one,) = papers_answers.answered(lab)
    assert [run.hash for run in one.runs] == [hash_of(MEASURED)]
    assert len(one.answers) == len(QUESTIONS)
    assert papers_answers.answered(lab)[0].answers == one.answers
    assert asked == [(f'["runs/{hash_of(MEASURED)}"]', lab.data)], "an answer is worked out once"
    lab.reindex()
    with session(lab.engine) as opened:
        assert opened.scalars(select(PapersAnswers)).all() == []


def test_what_takes_too_long_is_left_for_the_next_page_and_an_error_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = filled(tmp_path, SMALL)
    (late,) = papers_answers.answered(lab, patience_s=-1.0)
    assert (late.answers, late.error) == ((), "")
    monkeypatch.setattr(papers_answers, "ask", lambda *_, **__: None)
    (failed,) = papers_answers.answered(lab)
    assert "within the lab's limits" in failed.error
    with session(lab.engine) as opened:
        assert opened.scalars(select(PapersAnswers)).all() == [], "what may succeed later is not kept"


def test_what_took_too_long_is_not_tried_again_by_every_page_but_after_an_hour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab, tries = filled(tmp_path, SMALL), []

    def too_long(*_given: object, **_more: object) -> None:
        tries.append(1)

    monkeypatch.setattr(papers_answers, "ask", too_long)
    for _ in range(3):
        assert "within the lab's limits" in papers_answers.answered(lab)[0].error
    assert len(tries) == 1
    later = time.monotonic() + papers_answers.AGAIN_s
    monkeypatch.setattr(time, "monotonic", lambda: later)
    papers_answers.answered(lab)
    assert len(tries) == 2


def test_the_papers_wait_for_a_turn_as_other_questions_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab, own = filled(tmp_path, SMALL), Turns(most_waiting=0)
    monkeypatch.setattr(papers_answers, "turns", own)
    monkeypatch.setattr(papers_answers, "ask", lambda *_, **__: {"answers": ANSWERS})
    with own.one(), own.one():
        assert (papers_answers.answered(lab)[0].answers, papers_answers.answered(lab)[0].error) == ((), "")
    assert papers_answers.answered(lab)[0].answers


def test_the_page_says_what_a_small_run_leaves_unanswered(tmp_path: Path) -> None:
    client = asking(filled(tmp_path, SMALL))
    rows = client.get("/papers.json").json()
    assert [row["question"] for row in rows] == [question.text for question in QUESTIONS]
    assert all(row["word"] or (row["needs"] and row["command"]) for row in rows)
    shown = client.get("/papers").text
    assert "Not measured" in shown
    assert client.get("/papers.csv").text.startswith("device,device_name,runs,question")
    assert client.get("/papers.xml").status_code == 404


def test_runs_of_another_build_and_invalid_ones_are_left_out(tmp_path: Path) -> None:
    lab = filled(tmp_path, (MEASURED,))
    (run,) = lab.runs()
    fields = {
        column.name: getattr(run, column.name) for column in RunRow.__table__.columns if column.name != "estimates"
    }

    def like(**more: object) -> RunRow:
        made = RunRow(**{**fields, **more})
        made.reasons, made.libraries = [], []
        return made

    run.reasons = []
    every = [
        run,
        like(study="b"),
        like(study="c", probe_sha256="other"),
        like(study="d", is_counted=True),
        like(study=run.study),
    ]
    (found,) = papers_answers._by_device(every)
    assert [one.study for one in found] == [run.study, "b"]
