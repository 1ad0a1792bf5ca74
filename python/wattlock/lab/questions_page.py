"""The page of the five papers: their questions, and what each device of the lab answers."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from wattlock.lab.layout import also, page, pushed, section
from wattlock.lab.papers_answers import FIELDS, DeviceRuns
from wattlock.report.html import paragraphs, text

HERE = "/papers"
LINE = "Nine questions about the five papers, answered by what each device measured."
RULE = (
    "A device answers by its latest valid runs of one build, each of another study. Emulated and counted runs answer "
    "nothing: they are not the times of a real device.",
)


def papers(found: Sequence[DeviceRuns], address: str) -> str:
    """A section a question, a line a device. `address`: of the lab."""
    if not found:
        prose = paragraphs(["No device has measured yet. A run of the papers’ study answers all that a machine can:"])
        return page("The papers", LINE, prose + pushed("wattlock papers", address), here=HERE)
    body = paragraphs(RULE) + "".join(map(_left, found))
    worked_out = [device for device in found if device.answers]
    for number, question in enumerate(worked_out[0].answers if worked_out else ()):
        lines = "".join(_line(device, device.answers[number]) for device in worked_out)
        body += section(f"question-{number + 1}", question["question"], f"<dl>{lines}</dl>")
    return page("The papers", LINE, body + also(HERE), here=HERE)


def _left(device: DeviceRuns) -> str:
    """That a device has no answers, and why; nothing where it has."""
    if device.answers:
        return ""
    why = device.error or "its runs are not judged yet: load the page again"
    return f'<p role="status">{text(device.device)}: {text(why)}.</p>'


def _line(device: DeviceRuns, answer: dict[str, str]) -> str:
    runs = ", ".join(f'<a href="/runs/{run.hash}">{text(run.id)}</a>' for run in device.runs)
    if answer["word"]:
        finding = f"<strong>{text(answer['word'])}.</strong> {text(answer['sentence'])}"
        finding += f' <span class="quiet">{text(answer["kind"])}</span>' if answer["kind"] else ""
    else:
        finding = f"Not measured: it takes {text(answer['needs'])}. <code>{text(answer['command'])}</code>"
    return f'<dt>{text(device.device)} <span class="quiet">{runs}</span></dt><dd>{finding}</dd>'


def frame(found: Sequence[DeviceRuns]) -> pl.DataFrame:
    """A row a device and question, as data; `word` is empty where nothing was measured."""
    rows = [
        {
            "device": device.runs[0].device,
            "device_name": device.device,
            "runs": " ".join(run.hash for run in device.runs),
            **row,
        }
        for device in found
        for row in device.answers
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(("device", "device_name", "runs", *FIELDS), pl.String))
