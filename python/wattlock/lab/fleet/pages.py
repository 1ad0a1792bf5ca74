"""The pages of the queue, as HTML from rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import polars as pl

from wattlock.energy import cards
from wattlock.lab.fleet.asked import offered
from wattlock.lab.fleet.options import BASELINES, Options
from wattlock.lab.fleet.queue import OPEN, TASK_FIELDS
from wattlock.lab.fleet.tables import Job, State
from wattlock.lab.layout import choice, page, section
from wattlock.report import formats
from wattlock.report.compare_facts import MOST_SIDES
from wattlock.report.markup import cell, commands, paragraphs, table, text

LATEST = 50
LINE = "Studies that this lab measures on its fleet: one job a target, one after the other."
FIELDS: tuple[str, ...] = (
    "number",
    "batch",
    "study",
    "target",
    "options",
    "state",
    "asked",
    "attempts",
    "run",
    "hash",
    "settled",
)
FIELDS += ("cases", "reason")
"""What of a job is given as data."""


@dataclass(frozen=True)
class Shown:
    """What the page shows.

    * `jobs`: the latest; `states`: how many there are, by state. `counted`: tasks by target and state.
    * `kinds`: evidence by the hash of a run. `csrf`: the mark of its forms.
    """

    jobs: Sequence[Job]
    states: Mapping[str, int]
    counted: Mapping[str, Mapping[str, int]]
    kinds: Mapping[str, str]
    csrf: str

    @property
    def open_jobs(self) -> int:
        """How many wait or are under way."""
        return sum(self.states.get(state, 0) for state in OPEN)


def queue(shown: Shown, targets: Sequence[str]) -> str:
    """Jobs and tasks, and the form that asks for more.

    * `targets`: of the fleet.
    """
    form = _form(targets, shown.csrf) if targets else _no_fleet()
    links = (
        '<p class="links"><a href="/queue.json">Jobs as JSON</a> <a href="/queue.csv">CSV</a> '
        '<a href="/queue/tasks.json">Tasks as JSON</a> <a href="/queue/tasks.csv">CSV</a></p>'
    )
    body = section("measure", "Measure", form) + f'<div id="live">{live(shown)}</div>' + links
    return page("Queue", LINE, body, here="/queue", scripts=("sort", *(("queue",) if shown.open_jobs else ())))


def live(shown: Shown) -> str:
    """What of the page changes while jobs are under way."""
    jobs, counted = shown.jobs, shown.counted
    if not jobs:
        return section("jobs", "Jobs", "<p>Nothing was asked for yet.</p>")
    batches = Sets(jobs, shown.kinds)
    rows = (_row(job, batches.compared(job), shown.csrf) for job in jobs)
    head = ["#Job", "Target", "State", "Result", "Change", "#Cases settled", "Study", "Asked"]
    whole = table("Jobs, the latest first", head, ["<tbody>", *rows, "</tbody>"], kind="jobs")
    found = section("jobs", "Jobs", paragraphs([_states(shown)]) + whole)
    if counted:
        states = list(State)
        lines = (
            f'<tr><th scope="row">{text(target)}</th>'
            + "".join(cell(format(of.get(state, 0), ","), True) for state in states)
            + "</tr>"
            for target, of in sorted(counted.items())
        )
        told = paragraphs(["A task is one process of the probe: it is carried out once, however often it is begun."])
        head = ["Target", *(f"#{state.capitalize()}" for state in states)]
        found += section("tasks", "Tasks", told + table("Tasks by target", head, ["<tbody>", *lines, "</tbody>"]))
    return found


def _states(shown: Shown) -> str:
    every = sum(shown.states.values())
    line = f"{shown.open_jobs:,} waiting or under way, {every - shown.open_jobs:,} ended."
    return line + (f" Below are the latest {len(shown.jobs)}." if every > len(shown.jobs) else "")


def _row(job: Job, compared: Sequence[str], csrf: str) -> str:
    state = f'<td class="reason">{text(job.state)}'
    if job.reason:
        state += f": {text(job.reason)}"
    result = f'<a href="/runs/{job.hash}">its run</a>' if job.hash else formats.MISSING
    if len(compared) > 1:
        asked = text(urlencode([("run", hash_) for hash_ in compared]))
        result += f', <a href="/compare?{asked}">compare {len(compared)}</a>'
    changes = {State.queued: "cancel", State.under_way: "cancel", State.failed: "again"}
    change = _button(job.number, changes[State(job.state)], csrf) if job.state in changes else formats.MISSING
    settled = f"{job.settled:,} of {job.cases:,}" if job.cases else formats.MISSING
    return (
        f'<tr>{cell(str(job.number), True)}<th scope="row">{text(job.target)}</th>{state}</td><td>{result}</td>'
        f'<td>{change}</td>{cell(settled, True)}<td class="reason">{text(job.study + _options(job))}</td>'
        f"{cell(formats.day_and_time(job.asked))}</tr>"
    )


def _options(job: Job) -> str:
    given = str(Options.read(job.options))
    return f" ({given})" if given else ""


def _button(number: int, what: str, csrf: str) -> str:
    word = {"cancel": "Cancel", "again": "Queue again"}[what]
    return (
        f'<form method="post" action="/queue/{number}/{what}"><input type="hidden" name="csrf" value="{text(csrf)}">'
        f'<button aria-label="{word}: job {number}">{word}</button></form>'
    )


class Sets:
    """Which runs of jobs that were asked for at once can be set beside each other: those of one kind of evidence."""

    def __init__(self, jobs: Sequence[Job], kinds: Mapping[str, str]) -> None:
        self._kinds = kinds
        self._hashes: dict[tuple[str, str], list[str]] = {}
        for job in sorted(jobs, key=lambda one: one.number):
            if job.hash is not None and job.hash in kinds:
                self._hashes.setdefault((job.batch, kinds[job.hash]), []).append(job.hash)

    def compared(self, job: Job) -> list[str]:
        """The hashes of the runs of a job's set that are of its run's kind, its own among them.

        Of more than a page of comparison holds its own and the first ones.
        """
        found = self._hashes.get((job.batch, self._kinds.get(job.hash or "", "")), [])
        if len(found) <= MOST_SIDES:
            return found
        return [job.hash or "", *(one for one in found if one != job.hash)][:MOST_SIDES]


def _form(targets: Sequence[str], csrf: str) -> str:
    studies = "".join(
        f'<option value="{text(name)}"{" selected" if name == "quick" else ""}>{text(name)}</option>'
        for name in offered()
    )
    boxes = "".join(
        f'<label><input type="checkbox" name="target" value="{text(one)}"> {text(one)}</label> ' for one in targets
    )
    return (
        f'<form class="filter" method="post" action="/queue"><input type="hidden" name="csrf" value="{text(csrf)}">'
        f'<label>Study <select name="study">{studies}</select></label>'
        f"<fieldset><legend>Targets</legend>{boxes}</fieldset>"
        '<label>Only (as of --only, with blanks between) <input name="only" placeholder="aes* rc4*"></label>'
        '<label>Libraries (any without) <input name="libraries" placeholder="rustcrypto openssl"></label>'
        '<label>Kinds of core (as of --core-class) <input name="core_class" placeholder="big,little"></label>'
        f"<fieldset><legend>Joules</legend>{_joules()}</fieldset><button>Measure</button></form>"
    )


def _joules() -> str:
    """By a card of the device or a meter of the target, or none."""
    known = {name: name for name in cards.names()}
    return (
        choice("card", "Device card", known, None, none="none")
        + '<label><input type="checkbox" name="allow_assumed" value="on"> Numbers that nobody could verify</label>'
        '<label>or meter (as of --meter) <input name="meter" placeholder="powercap:package-0"></label>'
        + choice("baseline", "Its baseline", dict(zip(BASELINES, BASELINES, strict=True)), None, none="")
    )


def _no_fleet() -> str:
    told = "This lab was started without a fleet, so nothing can be measured from here. On the lab's host:"
    return paragraphs([told]) + commands(["wattlock lab --data lab --fleet"])


def jobs_frame(jobs: Sequence[Job]) -> pl.DataFrame:
    """A row a job, as data."""
    rows = [{name: getattr(job, name) for name in FIELDS} for job in jobs]
    return pl.DataFrame(rows, schema=FIELDS, infer_schema_length=None)


def tasks_frame(tasks: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """A row a task, as data."""
    return pl.DataFrame(tasks, schema=TASK_FIELDS, infer_schema_length=None)
