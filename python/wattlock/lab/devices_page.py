"""The devices of a lab: what each is, what it has measured, and its latest runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from urllib.parse import urlencode

from wattlock.lab.change_page import says_something
from wattlock.lab.database import RunRow
from wattlock.lab.layout import also, counted, moment, page, section
from wattlock.report import formats
from wattlock.report.compared import MOST_SIDES
from wattlock.report.html import EVIDENCE_SHAPES, INVALID, chip, facts, paragraphs, text

HERE = "/devices"
LATEST = 3
ALIKE = (
    "Runs are of one device where hardware, instruction set, virtual machine, card and evidence agree, whatever it is "
    "called. Kinds of evidence stand apart."
)


def devices(runs: Sequence[RunRow]) -> str:
    """The page: runs, the latest first, by kind of evidence and device."""
    if not runs:
        return page(
            "Devices",
            "No run is here yet",
            '<p><a href="/">The first page</a> says how to fill the lab.</p>',
            here=HERE,
        )
    order = list(EVIDENCE_SHAPES)
    by_kind = sorted(runs, key=lambda run: order.index(run.evidence))
    body, number = paragraphs([ALIKE]), 0
    for kind, of_kind in groupby(by_kind, key=lambda run: run.evidence):
        own, by_device = list(of_kind), dict[str, list[RunRow]]()
        for run in own:
            by_device.setdefault(run.device, []).append(run)
        number += len(by_device)
        shown = "".join(map(_device, by_device.values()))
        body += section(kind, formats.capital(kind), f'<div class="devices">{shown}</div>{_compared(own)}')
    return page("Devices", f"{counted(number, 'device')}, {counted(len(runs), 'run')}", body + also(HERE), here=HERE)


def _compared(runs: Sequence[RunRow]) -> str:
    """Links that set devices beside each other, by the latest run of a study that each has; empty without two.

    * `runs`: of one kind of evidence, the latest first.
    """
    latest: dict[tuple[str, bool], dict[str, RunRow]] = {}
    for run in filter(says_something, runs):
        latest.setdefault((run.study, run.is_counted), {}).setdefault(run.device, run)
    links = ""
    for (study, _), by_device in latest.items():
        hashes = [run.hash for run in by_device.values()][:MOST_SIDES]
        if len(hashes) > 1:
            asked = text(urlencode([("run", hash_) for hash_ in hashes]))
            what = f"{text(study)}: {counted(len(hashes), 'device')}"
            links += f'<li><a href="/compare?{asked}">{what}</a></li>'
    told = "<p>Compare devices, by the latest run of a study that each has:</p>"
    return f'{told}<ul class="links">{links}</ul>' if links else ""


def _device(runs: Sequence[RunRow]) -> str:
    """One device; `runs`: its own, the latest first."""
    first = runs[0]
    studies = dict.fromkeys(run.study for run in runs)
    libraries = sorted({library.name for run in runs for library in run.libraries})
    about = [
        ("Fingerprint", first.device),
        ("Card", first.card or "none"),
        ("Studies", ", ".join(studies)),
        ("Libraries", ", ".join(libraries)),
        ("Joules", ", ".join(sorted({run.energy_evidence for run in runs if run.energy_evidence})) or "none"),
    ]
    invalid = sum(bool(run.reasons) for run in runs)
    about = [*([("Invalid runs", f"{invalid} of {len(runs)}")] if invalid else []), *about]
    latest = "".join(
        f'<li>{f"{INVALID} " if run.reasons else ""}<a href="/runs/{run.hash}">{text(run.id)}</a> '
        f'<span class="quiet">{text(moment(run.created))}</span></li>'
        for run in runs[:LATEST]
    )
    links = f'<a href="/runs?device={first.device}">All its runs ({len(runs):,})</a>'
    if valid := next(filter(says_something, runs), None):
        asked = urlencode({"series": f"{valid.device}/{valid.study}"})
        links += f' <a href="/change?{asked}">Over time</a>'
    name = f"device-{first.device}"
    return (
        f'<article class="device" aria-labelledby="{name}"><h3 id="{name}">{text(first.device_name)} '
        f"{INVALID if invalid == len(runs) else chip(first.evidence)}</h3>{facts(about)}<ul>{latest}</ul>"
        f'<p class="links">{links}</p></article>'
    )
