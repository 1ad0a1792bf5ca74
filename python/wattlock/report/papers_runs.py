"""The runs that the papers' page is drawn from: what it says of them, and the commands that make it again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from wattlock.energy.device_cards import card_of
from wattlock.papers.counted_claims import CoreJudged
from wattlock.papers.material import Gathered, MaterialOptions
from wattlock.papers.transfer_times import path_of
from wattlock.report.described import host
from wattlock.store import find
from wattlock.store.run_plan import ROOT

LENGTHS = {"papers-quick": "quick", "papers-full": "full", "papers-battery": "battery"}
"""The lengths of `wattlock papers` by their studies."""


@dataclass(frozen=True)
class JudgedRuns:
    """The runs, `names` as they were asked for, with what was read `beside` them; `cores`: those that counted."""

    names: Sequence[str]
    gathered: Gathered
    beside: MaterialOptions
    cores: Sequence[CoreJudged] = ()

    @property
    def runs(self) -> list[str]:
        """Their ids, those that counted last."""
        return [*(run.id for run in self.gathered.results), *(core.run for core in self.cores)]

    @property
    def studies(self) -> list[str]:
        """The studies of those that were timed."""
        return list(dict.fromkeys(str(run.study["id"]) for run in self.gathered.results))

    @property
    def created(self) -> str:
        """When the last began, ISO 8601; empty without any."""
        return max((str(run.plan["created"]) for run in self.gathered.results), default="")

    @property
    def duration_s(self) -> float:
        """What they took together."""
        return sum(run.wall_s for run in self.gathered.results)

    @property
    def host(self) -> list[tuple[str, str]]:
        """Label and value of what was measured on."""
        return [pair for run in self.gathered.results[:1] for pair in host(run)]

    @property
    def reasons(self) -> list[str]:
        """Why a run is invalid."""
        results = self.gathered.results
        return [f"run {run.id}: {line}" if len(results) > 1 else line for run in results for line in run.explained]

    @property
    def warnings(self) -> list[str]:
        """What a reader should know of all runs."""
        timed = (f"run {run.id}: {line}" for run in self.gathered.results for line in run.notices[len(run.explained) :])
        counted = (f"run {core.run}: {line}" for core in self.cores for line in core.warnings)
        return [*timed, *self.gathered.notes, *counted]

    @property
    def joules(self) -> str:
        """What the joules rest on, in a sentence."""
        kinds = self.gathered.estimates["energy_evidence"].drop_nulls().unique().sort().to_list()
        if kinds:
            return f"Joules here are {' and '.join(kinds)}."
        return "There are no joules: no meter was read and no device card named. Claims on energy are judged by time."

    @cached_property
    def command(self) -> list[str]:
        """The commands that measure again, then the one that judges these runs again."""
        device = f" --device {self.beside.device}" if self.beside.device else ""
        allowed = " --allow-assumed" if self.beside.allow_assumed else ""
        runs = "".join(f" --run {_findable(name)}" for name in self.names) or " --length none"
        runs += "".join(f" --counted {_findable(core.name)}" for core in self.cores)
        return [*dict.fromkeys(self._measuring()), f"wattlock papers{runs}{device}{self._options}{allowed}"]

    @property
    def _options(self) -> str:
        beside = self.beside
        given = {"--radio": beside.radio, "--battery": beside.battery}
        given["--capture"] = beside.capture.name if beside.capture else None
        given["--machine"] = beside.machine if beside.machine != "computer" else None
        options = "".join(f" {option} {value}" for option, value in given.items() if value is not None)
        return options + "".join(f" --transfers {_without_folder(name)}" for name in beside.transfers)

    def _measuring(self) -> Iterator[str]:
        """A run holds its card: to measure again the card must be named, and allowed where nobody verified it."""
        for run in self.gathered.results:
            card = card_of(run, self.beside.device)
            valued = f" --device {self.beside.device or card.name}" if card is not None else ""
            if self.beside.allow_assumed or (card is not None and card.card.evidence == "assumed"):
                valued += " --allow-assumed"
            study = str(run.study["id"])
            if study in LENGTHS:
                # Of one run this judges too, as it was judged here.
                options = self._options if len(self.gathered.results) == 1 else ""
                yield f"wattlock papers --length {LENGTHS[study]}{valued}{options}"
            else:
                yield f"wattlock run {study}{valued}"
        yield from (f"wattlock run {core.study} --on qemu:{core.core}" for core in self.cores)


def _without_folder(name: str) -> str:
    """A file of transfers as a page may name it."""
    kind, path = path_of(name)
    return shlex.quote(f"{kind}={path.name}" if kind else path.name)


def _findable(name: str) -> str:
    """A run as it is found again: by its id where it lies on the shelf, also if it was called the last one."""
    folder = find(name)
    return shlex.quote(folder.name if folder.parent.resolve() == ROOT.resolve() else name)
