"""The devices of a lab: what each is, what it has measured, and its latest runs."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

import polars as pl

from wattlock.analysis.change import LEAST_RUNS, Change, changes
from wattlock.analysis.comparison import FACTORS
from wattlock.analysis.distributions import t_quantile
from wattlock.analysis.estimate import LEVEL
from wattlock.lab.collection import Collection, NoSuchRun
from wattlock.lab.database import RunRow
from wattlock.lab.entry import WITH_NUMBER
from wattlock.lab.layout import also, choice, counted, moment, page, section
from wattlock.report import formats
from wattlock.report.compared import MOST_SIDES
from wattlock.report.drawings import RunPoint, cost_over_runs, ratio_words
from wattlock.report.html import EVIDENCE_SHAPES, INVALID, cell, chip, facts, folded, paragraphs, table, text

HERE = "/devices"
LATEST = 3
ALIKE = "Runs are grouped by hardware, instruction set, virtual machine, card and evidence, not by the host's name."


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
        kind_runs, by_device = list(of_kind), dict[str, list[RunRow]]()
        for run in kind_runs:
            by_device.setdefault(run.device, []).append(run)
        number += len(by_device)
        shown = "".join(map(_device, by_device.values()))
        body += section(kind, formats.capital(kind), f'<div class="devices">{shown}</div>{_compared(kind_runs)}')
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
            query = text(urlencode([("run", hash_) for hash_ in hashes]))
            what = f"{text(study)}: {counted(len(hashes), 'device')}"
            links += f'<li><a href="/compare?{query}">{what}</a></li>'
    prose = "<p>Compare devices, by the latest run of a study that each has:</p>"
    return f'{prose}<ul class="links">{links}</ul>' if links else ""


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
        query = urlencode({"series": f"{valid.device}/{valid.study}"})
        links += f' <a href="/change?{query}">Over time</a>'
    name = f"device-{first.device}"
    return (
        f'<article class="device" aria-labelledby="{name}"><h3 id="{name}">{text(first.device_name)} '
        f"{INVALID if invalid == len(runs) else chip(first.evidence)}</h3>{facts(about)}<ul>{latest}</ul>"
        f'<p class="links">{links}</p></article>'
    )


KEYS = ("cipher", *FACTORS, "core_class", "provider")
"""What makes two rows of two runs one case."""
SHOWN = ("cipher", "operation", "payload_B", "provider")
"""Of these what a case is called by, with what else tells it from the others."""
MOST_RUNS = 200
"""Of a series that is longer the latest."""
CONDITIONS = {"version": "the library", "path": "its path of code", "probe_sha256": "the probe's build"}
"""What may have changed with the cost, and is known of every run."""


@dataclass(frozen=True)
class Series:
    """A case through the runs of a device and a study, the oldest first.

    * `case`: its key, of those of `cases` with what each is called. `points`: a row a run: `run`, `hash`, `created`,
      the cost with its 95 % interval, `quantity` ("cycles" or "time_ns"), and CONDITIONS. `evidence`: of all of them.
    """

    device: str
    device_name: str
    study: str
    evidence: str
    cases: dict[str, str]
    case: str
    points: pl.DataFrame
    changes: Sequence[Change]

    @property
    def table(self) -> pl.DataFrame:
        """A row a run; where a change was found, its figures stand at the first run after it."""
        names = ("first", "last", "ratio", "low", "high", "p_value")
        found: dict[str, list[Any]] = {f"change_{name}": [None] * self.points.height for name in names}
        for change in self.changes:
            values = change._asdict()
            for name in ("first", "last"):
                values[name] = self.points["run"][values[name]]
            for name in names:
                found[f"change_{name}"][change.place] = values[name]
        schema = {f"change_{name}": pl.String if name in {"first", "last"} else pl.Float64 for name in names}
        columns = (pl.lit(value).alias(name) for name, value in (("evidence", self.evidence), ("case", self.case)))
        return self.points.with_columns(*columns).hstack(pl.DataFrame(found, schema=schema))

    def beside(self, change: Change) -> list[str]:
        """What else differs between the runs on either side of a change."""
        before, after = (self.points.row(at, named=True) for at in (change.place - 1, change.place))
        return [words for name, words in CONDITIONS.items() if before[name] != after[name]]


def offered(lab: Collection) -> dict[str, list[RunRow]]:
    """The runs of each device and study that say something, by `device/study`; those with most runs first.

    Each has its runs the oldest first, without those that are invalid or have no number.
    """
    found: dict[str, list[RunRow]] = {}
    for run in reversed(lab.runs()):
        if says_something(run):
            found.setdefault(f"{run.device}/{run.study}", []).append(run)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def says_something(run: RunRow) -> bool:
    """Whether a run may be one of a series: it is valid and has a number."""
    return not run.reasons and run.with_number > 0


def series(lab: Collection, runs: Sequence[RunRow], case: str | None) -> Series:
    """A case through these runs of one device and study; without `case` the first that all runs have.

    Raises NoSuchRun where no run has that case.
    """
    runs = runs[-MOST_RUNS:]
    written = lab.estimates_of([run.hash for run in runs])
    frames = [_rows(run, written[run.hash]) for run in runs if run.hash in written]
    rows = pl.concat(frames, how="diagonal_relaxed")
    cases = _called(rows)
    if case is None:
        often = rows["key"].value_counts(sort=True)
        case = next((key for key in cases if often.filter(pl.col("key") == key)["count"][0] == often["count"][0]), "")
    if case not in cases:
        raise NoSuchRun("no run of this device and study has that case", hint="take one of the list on the page")
    points = _points(rows.filter(pl.col("key") == case))
    last = runs[-1]
    return Series(last.device, last.device_name, last.study, last.evidence, cases, case, points, _changes(points))


def _rows(run: RunRow, written: bytes) -> pl.DataFrame:
    """The cases of a run that have a number, each with its key."""
    cases = pl.read_parquet(io.BytesIO(written)).filter(pl.col("state").is_in(WITH_NUMBER))
    key = pl.concat_str([pl.col(name).cast(pl.String).fill_null("") for name in KEYS], separator="|")
    about = {"run": run.id, "hash": run.hash, "created": run.created, "probe_sha256": run.probe_sha256}
    # A run that counted has no processes: it counts the same in each.
    lacking = [pl.lit(None, pl.Int64).alias("processes")] if "processes" not in cases.columns else []
    cases = cases.with_columns(*lacking, key=key, **{name: pl.lit(value) for name, value in about.items()})
    return cases.unique("key", keep="first", maintain_order=True)


def _called(rows: pl.DataFrame) -> dict[str, str]:
    """What each case is called, by its key."""
    known = rows.unique("key", keep="first", maintain_order=True)
    telling = [name for name in KEYS if name not in SHOWN and known[name].n_unique() > 1]
    return {row["key"]: _name(row, telling) for row in known.iter_rows(named=True)}


def _name(row: dict[str, Any], telling: Sequence[str]) -> str:
    more = [f"{row[name]}" + (" B of associated data" if name == "aad_B" else "") for name in telling if row[name]]
    return ", ".join([f"{row['cipher']} {row['operation']} {formats.size(row['payload_B'])}", row["provider"], *more])


def _points(rows: pl.DataFrame) -> pl.DataFrame:
    """Cost and interval of each run: cycles where every run has them, which hold still where a clock wanders."""
    quantity = "cycles" if rows["cycles"].null_count() == 0 else "time_ns"
    stem, unit = ("cycles", "") if quantity == "cycles" else ("time", "_ns")
    ends = {"cost": quantity, "low": f"{stem}_low{unit}", "high": f"{stem}_high{unit}"}
    return rows.select(
        "run",
        "hash",
        "created",
        *(pl.col(column).cast(pl.Float64).alias(name) for name, column in ends.items()),
        pl.lit(quantity).alias("quantity"),
        "processes",
        *CONDITIONS,
    ).drop_nulls("cost")


def _changes(points: pl.DataFrame) -> list[Change]:
    logs = [math.log(cost) for cost in points["cost"]]
    return changes(logs, [_error(row) for row in points.iter_rows(named=True)])


def _error(row: dict[str, Any]) -> float:
    """The standard error of a log cost. The error of a core's rules is the same in each of its runs, and cancels."""
    if row["processes"] is None or row["processes"] < 2 or row["low"] is None or row["high"] is None:
        return 0.0
    half_width = math.log(row["high"] / row["low"]) / 2
    return half_width / t_quantile(row["processes"] - 1, 1 - LEVEL / 2)


def asked_for(lab: Collection, wanted: str | None, case: str | None) -> tuple[dict[str, list[RunRow]], Series | None]:
    """What may be asked for, and what was: without `wanted` the longest series; null in a lab without valid runs.

    Raises NoSuchRun where there is no such series or case.
    """
    known = offered(lab)
    if wanted is None and not known:
        return known, None
    name = wanted or next(iter(known))
    if name not in known:
        raise NoSuchRun(
            f"there is no series {name[:80]!r}", hint="series=FINGERPRINT/STUDY, of a device in /devices.json"
        )
    return known, series(lab, known[name], case or None)


CHANGE_HERE = "/change"
UNITS = {"cycles": "cycles for one call", "time_ns": "ns for one call"}
HOW = (
    "Runs of one device and one study are taken in their order. If nothing changed, that order says nothing: a change "
    "is reported where its gain is among the largest 5 % of 2,000 orders, so that a series without a change is given "
    "one in at most one of 20; orders in which each run’s error stays in its place are drawn too, since errors that "
    "change are no change of the cost. Place and size have 95 % intervals from the posterior over both, with each "
    "run’s own error beside the spread between runs. There is no threshold on the size.",
    f"It takes {LEAST_RUNS} runs to tell of a change, and two on either side of it. Runs that drift, as with the "
    "room’s temperature, are not told from runs that step.",
)


def over_time(known: Mapping[str, Sequence[RunRow]], shown: Series | None) -> str:
    """The page; without a series it says what it takes."""
    if shown is None:
        body = '<p>A series takes valid runs of one study on one device. <a href="/">The first page</a> has how.</p>'
        return page("Over time", "No series is here yet", body, here=CHANGE_HERE)
    wanted = f"{shown.device}/{shown.study}"
    named = {name: f"{runs[0].study}, {runs[0].device_name} ({len(runs)})" for name, runs in known.items()}
    fields = choice("series", "Study and device", named, wanted, none="")
    fields += choice("case", "Case", shown.cases, shown.case, none="")
    form = f'<form class="filter" action="{CHANGE_HERE}">{fields}<button>Show</button></form>'
    data = also(CHANGE_HERE, urlencode({"series": wanted, "case": shown.case}))
    body = form + section("series", text(shown.cases[shown.case]), _figure(shown) + _told(shown))
    body += _change_list(shown) + section("runs", "The runs", _runs(shown) + data)
    body += section("method", "How a change is told", paragraphs(HOW))
    line = f"{counted(shown.points.height, 'run')} of {shown.study} on {shown.device_name}"
    return page("Over time", line, body, here=CHANGE_HERE)


def _told(shown: Series) -> str:
    runs = shown.points.height
    if shown.changes:
        words = f"{counted(len(shown.changes), 'change')} in {runs} runs."
    elif runs < LEAST_RUNS:
        words = f"{counted(runs, 'run')}: it takes {LEAST_RUNS} to tell of a change."
    else:
        words = f"No change was found in {runs} runs."
    more = f" Of more runs the latest {MOST_RUNS} are shown." if runs == MOST_RUNS else ""
    return f"<p>{text(words + more)}</p>"


def _figure(shown: Series) -> str:
    rows = list(shown.points.iter_rows(named=True))
    points = [RunPoint(_day(row["created"]), *(_end(row, name) for name in ("cost", "low", "high"))) for row in rows]
    title = UNITS[rows[0]["quantity"]].capitalize()
    drawn = [cost_over_runs(points, shown.changes, title, width_px) for width_px in (720, 360)]
    caption = (
        f"<figcaption><strong>What it costs in each run {chip(shown.evidence)}</strong> "
        '<span class="quiet">A dot is a run, the bar through it its 95 % interval; a line is the mean between changes, '
        "a dashed band where a change may lie. The axis does not begin at 0.</span></figcaption>"
    )
    return f'<figure>{caption}<div class="wide">{drawn[0]}</div><div class="narrow">{drawn[1]}</div></figure>'


def _end(row: Mapping[str, Any], name: str) -> float:
    return float(row["cost"] if row[name] is None else row[name])


def _day(iso: str) -> str:
    when = datetime.fromisoformat(iso)
    return f"{when.day} {when:%b %Y}"


def _change_list(shown: Series) -> str:
    if not shown.changes:
        return ""
    rows = "".join(_change(shown, change) for change in shown.changes)
    head = ["First run after it", "Where it may lie, 95 %", "#Cost, times", "#95 %", "#p", "Changed there too"]
    drawn = table("The changes", head, [f"<tbody>{rows}</tbody>"])
    note = (
        "<p>What changed at the same place may be its cause. Two builds of the probe from one source were seen to "
        "differ by up to 16 % in a short case.</p>"
    )
    return section("changes", "Changes", drawn + note)


def _change(shown: Series, change: Change) -> str:
    runs, hashes = shown.points["run"], shown.points["hash"]
    between = "from this run on" if change.first == change.last else f"{runs[change.first]} to {runs[change.last]}"
    low, high = (ratio_words(end) for end in (change.low, change.high))
    return (
        f'<tr><th scope="row"><a href="/runs/{hashes[change.place]}">{text(runs[change.place])}</a></th>'
        f'<td class="reason">{text(between)}</td>{cell(ratio_words(change.ratio), True)}'
        f"{cell(f'{low} to {high}', True)}{cell(f'{change.p_value:.3g}', True)}"
        f'<td class="reason">{text(", ".join(shown.beside(change)) or "nothing that is known")}</td></tr>'
    )


def _runs(shown: Series) -> str:
    rows = "".join(
        f'<tr><th scope="row"><a href="/runs/{row["hash"]}">{text(row["run"])}</a></th>{cell(moment(row["created"]))}'
        f"{cell(formats.number(row['cost'], 4), True)}"
        f"{cell(formats.interval(row['cost'], row['low'], row['high']), True)}"
        f"{cell(row['version'] or formats.MISSING)}{cell(row['path'] or formats.MISSING)}"
        f"<td><code>{text(row['probe_sha256'][:8])}</code></td></tr>"
        for row in reversed(list(shown.points.iter_rows(named=True)))
    )
    unit = UNITS[shown.points["quantity"][0]].capitalize()
    head = ["Run", "Begun", f"#{unit}", "#95 %", "Version", "Path", "Probe"]
    drawn = table("The runs, the latest first", head, [f"<tbody>{rows}</tbody>"], kind="sortable")
    return folded(counted(shown.points.height, "run"), drawn, is_open=shown.points.height <= LEAST_RUNS)
