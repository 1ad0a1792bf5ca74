"""The page of the five papers: their questions, and what each device of the lab answers."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from wattlock.lab.layout import also, page, pushed, section
from wattlock.lab.papers_answers import FIELDS, DeviceRuns
from wattlock.report.html import paragraphs, text

HERE = "/papers"
LINE = "What people ask of the five papers first, answered by what each device measured."
RULE = (
    "A device answers by its latest valid runs of one build, each of another study. Emulated and counted runs answer "
    "nothing: their times are the cost of no device.",
)


def papers(found: Sequence[DeviceRuns], address: str) -> str:
    """A section a question, a line a device. `address`: of the lab."""
    if not found:
        told = paragraphs(["No device has measured yet. A run of the papers’ study answers all that a machine can:"])
        return page("The papers", LINE, told + pushed("wattlock papers", address), here=HERE)
    body = paragraphs(RULE) + "".join(map(_left, found))
    worked_out = [one for one in found if one.answers]
    for number, asked in enumerate(worked_out[0].answers if worked_out else ()):
        lines = "".join(_line(one, one.answers[number]) for one in worked_out)
        body += section(f"question-{number + 1}", asked["question"], f"<dl>{lines}</dl>")
    return page("The papers", LINE, body + also(HERE), here=HERE)


def _left(one: DeviceRuns) -> str:
    """That a device has no answers, and why; nothing where it has."""
    if one.answers:
        return ""
    why = one.error or "its runs are not judged yet: load the page again"
    return f'<p role="status">{text(one.device)}: {text(why)}.</p>'


def _line(one: DeviceRuns, answer: dict[str, str]) -> str:
    runs = ", ".join(f'<a href="/runs/{run.hash}">{text(run.id)}</a>' for run in one.runs)
    if answer["word"]:
        said = f"<strong>{text(answer['word'])}.</strong> {text(answer['sentence'])}"
        said += f' <span class="quiet">{text(answer["kind"])}</span>' if answer["kind"] else ""
    else:
        said = f"Not measured: it takes {text(answer['needs'])}. <code>{text(answer['command'])}</code>"
    return f'<dt>{text(one.device)} <span class="quiet">{runs}</span></dt><dd>{said}</dd>'


def frame(found: Sequence[DeviceRuns]) -> pl.DataFrame:
    """A row a device and question, as data; `word` is empty where nothing was measured."""
    rows = [
        {"device": one.runs[0].device, "device_name": one.device, "runs": " ".join(run.hash for run in one.runs), **row}
        for one in found
        for row in one.answers
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(("device", "device_name", "runs", *FIELDS), pl.String))
