"""Answers a question of advice in a process of its own with bounded memory and time: `python -m wattlock.lab.advising`.

It reads an `Asked` as JSON and prints one JSON object: the answer, or `error`, `hint` and `kind`.
"""

from __future__ import annotations

import dataclasses
import json
import resource
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wattlock.errors import EvidenceError, InputError, WattlockError
from wattlock.lab.child import ask

if TYPE_CHECKING:
    from wattlock.advise.question import Question

ROOM_B = 6 * 2**30
CPU_s, WALL_s = 60, 90


@dataclasses.dataclass(frozen=True)
class AdviceRequest:
    """What `wattlock advise` is given: a profile's name, one kind of message, values by the question's keys.

    * `arguments`: the same as words of the command line, for the record.
    """

    profile: str | None
    message: str | None
    every: str | None
    given: Mapping[str, Any]
    allow_assumed: bool
    arguments: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class DecisionRecord:
    """A decision record: `title`, `inside` (HTML for a page of another head), `page`, `markdown`, `whole` (as JSON).

    * `ranked`: a row a choice, the same as `ranked` of the JSON.
    """

    title: str
    inside: str
    page: str
    markdown: str
    whole: dict[str, Any]

    @property
    def ranked(self) -> list[dict[str, Any]]:
        """A row a choice, the first the advised one."""
        rows: list[dict[str, Any]] = self.whole["ranked"]
        return rows


def answer(request: AdviceRequest, runs: Path, wall_s: float = WALL_s) -> DecisionRecord:
    """The decision record of a question.

    * `runs`: the folder below which `runs/HASH` is a run that the question names. `wall_s`: how long it may take.

    Raises InputError, EvidenceError as `wattlock advise` does, and InputError where the limits are too narrow.
    """
    reply = ask(["wattlock.lab.advising"], wall_s, sent=json.dumps(dataclasses.asdict(request)), cwd=runs)
    if reply is None:
        hint = "carry it out by `wattlock advise` on a machine of your own"
        raise InputError("the question can't be answered within the lab's limits of memory and time", hint=hint)
    if "error" in reply:
        kind = EvidenceError if reply["kind"] == "EvidenceError" else InputError
        raise kind(reply["error"], hint=reply["hint"])
    return DecisionRecord(**reply)


def main(request: AdviceRequest) -> dict[str, Any]:
    """The answer as JSON can hold it, or why there is none."""
    try:
        return dataclasses.asdict(_answered(request))
    except WattlockError as error:
        kind = "EvidenceError" if isinstance(error, EvidenceError) else "InputError"
        return {"error": error.message, "hint": error.hint, "kind": kind}


def question_of(request: AdviceRequest) -> Question:
    """The question that is asked. Raises InputError where it lacks something, or a value can't be."""
    from wattlock.advise.question import Traffic
    from wattlock.advise.question import asked as question

    return question(request.profile, Traffic(request.message, request.every), request.given)


def _answered(request: AdviceRequest) -> DecisionRecord:
    from wattlock.advise import record
    from wattlock.advise.answer import advise
    from wattlock.advise.record import markdown
    from wattlock.report.decision_page import decision_page, inside

    advice = advise(question_of(request), allow_assumed=request.allow_assumed)
    command = shlex.join(["wattlock", "advise", *request.arguments])
    title, parts = record.title(advice), record.sections(advice, {}, command)
    return DecisionRecord(
        title=title,
        inside=inside(parts),
        page=decision_page(title, parts),
        markdown=markdown(title, parts),
        whole=record.whole(advice, {}, command),
    )


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (ROOM_B, ROOM_B))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_s, CPU_s))
    sys.stdout.write(json.dumps(main(AdviceRequest(**json.load(sys.stdin)))))
