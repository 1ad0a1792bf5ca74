"""The five papers' questions, answered by what each device measured, in a process: `-m wattlock.lab.papers_answers`.

It reads the runs of one device as JSON and prints one JSON object: the answers, or `error`. An answer follows from its
runs and from wattlock's own judges, so that it is kept in the index under both.
"""

from __future__ import annotations

import hashlib
import json
import resource
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import wattlock
from wattlock.errors import WattlockError
from wattlock.lab.advising import ROOM_B, CPU_s, WALL_s
from wattlock.lab.child import ask
from wattlock.lab.collection import Collection
from wattlock.lab.database import DatabaseBusy, PapersAnswers, RunRow, session
from wattlock.lab.doors import turns

MOST_RUNS = 4
"""Of a device: its latest ones of one build, each of another study."""
PATIENCE_s = 10.0
"""After so long a page shows what there is; the next one goes on."""
FIELDS = ("question", "word", "sentence", "kind", "needs", "command")
TOO_MUCH = {"error": "they can't be judged within the lab's limits of memory and time"}
AGAIN_s = 3_600.0
"""After so long what took too long is tried again: the host may have been busy."""
_turn = threading.Lock()
_again: dict[str, float] = {}
"""When each is tried again, by the key of the answers."""


@dataclass(frozen=True)
class DeviceRuns:
    """A device and those of its runs that answer.

    * `answers`: a row a question, with FIELDS; empty where they were not worked out yet. `error`: why there is none.
    """

    runs: Sequence[RunRow]
    answers: Sequence[dict[str, str]]
    error: str = ""

    @property
    def device(self) -> str:
        """Its name."""
        return self.runs[0].device_name


def answered(lab: Collection, patience_s: float = PATIENCE_s) -> list[DeviceRuns]:
    """The answers of every device that measured times, those with the latest runs first."""
    until = time.monotonic() + patience_s
    found = []
    for runs in _by_device(lab.runs()):
        key = _key(runs)
        kept = _kept(lab, key)
        if kept is None and time.monotonic() < until and _turn.acquire(blocking=False):
            # One device at a time: another page that asks meanwhile, or finds advice under way, shows what there is.
            try:
                with suppress(DatabaseBusy), turns.one():
                    kept = _kept(lab, key) or _worked_out(lab, key, runs)
            finally:
                _turn.release()
        found.append(DeviceRuns(runs, (kept or {}).get("answers", ()), (kept or {}).get("error", "")))
    return found


def _by_device(runs: Sequence[RunRow]) -> list[list[RunRow]]:
    """The runs that answer, by device: valid ones that measured, of the build of the latest."""
    found: dict[str, list[RunRow]] = {}
    for run in runs:
        if run.is_counted or run.reasons or run.evidence != "measured":
            continue
        run_group = found.setdefault(run.device, [])
        is_another = run.study not in {earlier.study for earlier in run_group}
        if not run_group or (
            is_another and run.probe_sha256 == run_group[0].probe_sha256 and len(run_group) < MOST_RUNS
        ):
            run_group.append(run)
    return list(found.values())


def _key(runs: Sequence[RunRow]) -> str:
    """Names the answers of these runs by this version of wattlock."""
    about = [wattlock.__version__, *sorted(run.hash for run in runs)]
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()


def _kept(lab: Collection, key: str) -> dict[str, Any] | None:
    if time.monotonic() < _again.get(key, 0.0):
        return TOO_MUCH
    with session(lab.engine) as opened:
        found = opened.get(PapersAnswers, key)
        return None if found is None else found.answers


def _worked_out(lab: Collection, key: str, runs: Sequence[RunRow]) -> dict[str, Any]:
    answer = ask(
        ["wattlock.lab.papers_answers"], WALL_s, sent=json.dumps([f"runs/{run.hash}" for run in runs]), cwd=lab.data
    )
    if answer is None:
        _again[key] = time.monotonic() + AGAIN_s
        return TOO_MUCH
    with session(lab.engine) as opened:
        opened.merge(PapersAnswers(key=key, answers=answer))
    return answer


def main(runs: Sequence[str]) -> dict[str, Any]:
    """The answers as JSON can hold them, or why there are none."""
    from wattlock.papers.material import judge
    from wattlock.papers.nine_questions import headlines

    try:
        judgements = judge([Path(run) for run in runs]).judgements
    except WattlockError as error:
        return {"error": error.message}
    rows = []
    for headline in headlines(judgements):
        answer = headline.answer
        fields = (answer.word, answer.sentence, answer.kind) if answer else ("", "", "")
        rows.append(dict(zip(FIELDS, (headline.question, *fields, headline.needs, headline.command), strict=True)))
    return {"answers": rows}


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (ROOM_B, ROOM_B))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_s, CPU_s))
    sys.stdout.write(json.dumps(main(json.load(sys.stdin))))
