"""The verdicts as a table, for other programs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import polars as pl

from wattlock.analysis.counts import EMULATED
from wattlock.analysis.distributions import COVERAGE
from wattlock.errors import EvidenceError, InputError
from wattlock.papers import literature
from wattlock.papers.implementations import ERA, KINDS, CaseCost, case_of
from wattlock.papers.judge import (
    MACHINES,
    NAMES,
    PLAIN,
    Bounds,
    ClaimComparison,
    Effect,
    Evidence,
    Finding,
    Judgement,
    Verdict,
    failing,
    over_findings,
)
from wattlock.papers.literature import Claim, Papers
from wattlock.papers.themes import JUDGES
from wattlock.run.result import Result, open_run

EFFECT = {
    "effect_of": pl.String,
    "effect_unit": pl.String,
    "effect_value": pl.Float64,
    "effect_low": pl.Float64,
    "effect_high": pl.Float64,
}
BOUNDS = {
    "bound_low": pl.Float64,
    "bound_high": pl.Float64,
    "bound_by": pl.String,
    "claimed_value": pl.Float64,
}
WHOSE = {"implementation": pl.String, "library": pl.String}
FINDING = {"finding": pl.String, "implementation": pl.String, "verdict": pl.String}
PART: dict[str, Any] = {"part": pl.String, "holds": pl.Boolean, **EFFECT}
OF_COMPARED = {"finding": pl.String, **WHOSE, "cases": pl.String, "holds": pl.Boolean, **EFFECT, **BOUNDS}
COMPARED: dict[str, Any] = {**OF_COMPARED, "parts": pl.List(pl.Struct(PART))}
COUNTED: dict[str, Any] = {
    **dict.fromkeys(("run", "core", "answer", "evidence"), pl.String),
    "error_percent": pl.Float64,
    **WHOSE,
    **EFFECT,
    **BOUNDS,
    "sentence": pl.String,
    "findings": pl.List(pl.Struct({"finding": pl.String, "implementation": pl.String, "answer": pl.String})),
}
CLAIM = dict.fromkeys(("claim", "says", "origin", "about", "verdict", "basis", "evidence"), pl.String)
WORDS = dict.fromkeys(("sentence", "control", "needs", "command"), pl.String)
SCHEMA: dict[str, Any] = {
    **CLAIM,
    **WHOSE,
    **EFFECT,
    **BOUNDS,
    **WORDS,
    "failing": pl.List(pl.String),
    "source": pl.List(pl.String),
    "findings": pl.List(pl.Struct(FINDING)),
    "comparisons": pl.List(pl.Struct(COMPARED)),
    "counted": pl.List(pl.Struct(COUNTED)),
}


def table(judgements: Sequence[Judgement], papers: Papers, cores: Sequence[CoreJudged] = ()) -> pl.DataFrame:
    """A row a claim, in the claims' order.

    * `cores`: what runs that counted say of the claims.

    * `implementation` to `claimed_value`: the comparison that decides; null where nothing does. `bound_by` is
      `wattlock` where the paper gives no such bound; `claimed_value` is the figure that it prints, if any. An end of
      an effect is null where it is open.
    * `failing`: the parts that do not hold with software of the papers' era, pairs of ciphers for example, by name.
    * `findings`: of each part of a claim on ciphers its verdict by kind of implementation.
    * `comparisons`: all of them, the deciding one first, each with its parts where it takes several together; `holds`
      is null where it can't be told or nothing is asked.
    * `counted`: of each emulated core its answer, with its figure; empty where no count can answer the claim.
    """
    rows = [
        _row(judgement, papers.claim(judgement.claim)) | {"counted": list(_counted(judgement.claim, cores))}
        for judgement in judgements
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def _counted(claim: str, cores: Sequence[CoreJudged]) -> Iterator[dict[str, Any]]:
    for core in cores:
        if (found := core.of(claim)) is not None:
            compared = found.compared
            yield {
                "run": core.run,
                "core": core.core,
                "answer": found.answer,
                "evidence": EMULATED,
                "error_percent": core.error_percent,
                "implementation": compared.implementation if compared else None,
                "library": (compared.library or None) if compared else None,
                **(_effect(compared.effect) if compared else dict.fromkeys(EFFECT)),
                **_bounds(compared.bounds if compared else None),
                "sentence": found.sentence,
                "findings": [
                    {"finding": finding.says, "implementation": kind, "answer": called(verdict)}
                    for finding in found.findings
                    for kind, verdict in finding.answers.items()
                ],
            }


def _row(judgement: Judgement, claim: Claim) -> dict[str, Any]:
    first = _compared(judgement.compared[0]) if judgement.effect is not None else {}
    return {
        **{name: first.get(name) for name in (*WHOSE, *EFFECT, *BOUNDS)},
        "claim": claim.id,
        "says": claim.says,
        "origin": claim.origin,
        "about": claim.about,
        "verdict": judgement.verdict,
        "basis": judgement.basis,
        "evidence": judgement.evidence,
        "sentence": judgement.sentence,
        "control": judgement.control,
        "needs": judgement.needs or None,
        "command": judgement.command or None,
        "failing": failing(judgement, ERA),
        "source": list(claim.source),
        "findings": [
            {"finding": finding.says, "implementation": kind, "verdict": answer}
            for finding in judgement.findings
            for kind, answer in finding.answers.items()
        ],
        "comparisons": [_compared(compared) for compared in judgement.compared],
    }


def _compared(comparison: ClaimComparison) -> dict[str, Any]:
    return {
        "finding": comparison.finding or None,
        "implementation": comparison.implementation,
        "library": comparison.library or None,
        "cases": comparison.cases,
        "holds": comparison.holds,
        **_effect(comparison.effect),
        **_bounds(comparison.bounds),
        "parts": [{"part": part.says, "holds": part.holds, **_effect(part.effect)} for part in comparison.parts],
    }


def _effect(effect: Effect) -> dict[str, Any]:
    what, unit, *numbers = effect
    ends = (float(number) if math.isfinite(number) else None for number in numbers)
    return dict(zip(EFFECT, (what.strip(" ,"), unit, *ends), strict=True))


def _bounds(bounds: Bounds | None) -> dict[str, Any]:
    if bounds is None:
        return dict.fromkeys(BOUNDS)
    low, high, claimed = (None if end is None else float(end) for end in (bounds.low, bounds.high, bounds.claimed))
    return dict(zip(BOUNDS, (low, high, "wattlock" if bounds.ours else "the paper", claimed), strict=True))


Answer = Literal["supported", "contradicted", "undecided"]
ANSWERS: tuple[Answer, ...] = get_args(Answer)
OF_VERDICT: Mapping[Verdict, Answer] = {"reproduced": "supported", "not reproduced": "contradicted"}
"""What a judge's verdict is called of an emulated core, where it decides."""

NOT_COUNTED = "not counted"
RANDOM = "random data"
NO_CYCLES = "no cycles: instructions only"
NOT_COUNTABLE: Mapping[str, tuple[str, ...]] = {
    "a count holds random bytes, no text, audio, image or video": (
        "audio-ranking",
        "audio-decrypt-ranking",
        "video-ranking",
        "video-decrypt-ranking",
        "image-ranking",
        "video-stream-cited",
        "data-type",
        "blowfish-vs-aes-audio",
        "rc6-vs-aes-audio",
        "blowfish-vs-aes-video",
        "rc6-vs-aes-video-wlan",
        "rc6-vs-aes-video-singh",
        "blowfish-vs-aes-video-decrypt",
        "rc6-vs-aes-video-decrypt",
    ),
    "no image holds an encoder": ("encoding",),
    "no image holds RSA": ("asymmetric-vs-symmetric",),
    "a count has no joules": ("throughput-energy",),
}
"""Claims on time and energy that no count can answer, by why. What is said of text is judged by random bytes."""

MACHINE = ("microcontroller", "32-bit")
"""What every core that is counted is, as claims name it."""


@dataclass(frozen=True)
class CountedEvidence(Evidence):
    """What judges may look at of a run that counted: `estimates` as of `analysis.counts`.

    * `core`: the emulated core; `error_percent`: of its rules.
    """

    core: str = ""
    error_percent: float = 0.0

    def rests_on(self, claim: Claim) -> str:
        """What the cycles of a claim are, and what they stand for."""
        words = f"{EMULATED}: cycles counted on an emulated {self.core}, whose rules err by {self.error_percent:g} %"
        return f"{words}; cycles stand for energy, at one power" if claim.about == "energy" else words

    def named(self, data: str) -> str:
        """Random bytes, whatever the claim speaks of."""
        del data
        return RANDOM

    def cases(self, claim: Claim, **factors: object) -> list[CaseCost]:
        """The cases that were counted with these factors, whatever the data; half their interval is the error."""
        del claim
        wanted = {**PLAIN, **factors, "data": "random"}
        rows = self.estimates.with_columns(pl.col("aad_B").fill_null(0)).filter(
            pl.col("cycles").is_not_null(),
            pl.col("cycles_low").is_not_null(),
            *(pl.col(name) == value for name, value in wanted.items()),
        )
        return [_case(row) for row in rows.iter_rows(named=True)]


def _case(row: Mapping[str, Any]) -> CaseCost:
    sigma = math.log(row["cycles_high"] / row["cycles_low"]) / (2 * COVERAGE)
    return case_of(row, row["cycles"], 0.0)._replace(sigma=sigma, systematic=True)


class CoreAnswer(NamedTuple):
    """What a core says to a claim.

    * `compared`: what decides, null where nothing was compared; `findings`: the claim's parts.
    * `sentence`: what was found, or why nothing is decided.
    """

    claim: str
    answer: Answer
    compared: ClaimComparison | None
    sentence: str
    findings: tuple[Finding, ...] = ()

    @property
    def effect(self) -> Effect | None:
        """The figure that decides, or stands beside."""
        return None if self.compared is None else self.compared.effect

    @property
    def bounds(self) -> Bounds | None:
        """What counts as the claim."""
        return None if self.compared is None else self.compared.bounds


@dataclass(frozen=True)
class CoreJudged:
    """The claims that a count can answer, by a run on one core.

    * `name`: the run as it was asked for; `run`, `study`: ids; `core`: as `qemu:` takes it. `error_percent`: of the
      core's rules, null where it has no cycles.
    """

    name: str
    run: str
    study: str
    core: str
    error_percent: float | None
    answers: tuple[CoreAnswer, ...]
    warnings: tuple[str, ...] = ()

    def of(self, claim: str) -> CoreAnswer | None:
        """The answer to a claim; null where no count can answer it."""
        return next((answer for answer in self.answers if answer.claim == claim), None)

    @property
    def has_cycles(self) -> bool:
        """Whether anything can be decided."""
        return self.error_percent is not None


def countable(papers: Papers) -> list[Claim]:
    """The claims on time and energy of ciphers that cycles can answer."""
    never = {name for names in NOT_COUNTABLE.values() for name in names}
    return [claim for claim in papers.claims if claim.about in {"time", "energy"} and claim.id not in never]


def judge_counted(runs: Sequence[str | Path], papers: Papers | None = None) -> list[CoreJudged]:
    """Judges the claims by runs that counted, each on a core of its own.

    Raises EvidenceError for a run that measured, or counted on a board; InputError for a second run of a core, or one
    that counted none of the papers' ciphers; StoreError for a folder that is no sound run.
    """
    found: list[CoreJudged] = []
    for name in runs:
        result = open_run(name)
        if "time" in result.quantities:
            hint = "give it with --run; `wattlock run papers/mcu --on qemu:cortex-m4` makes one that counts"
            raise EvidenceError(f"--counted {name}: it measured on a machine, and counted no cycles", hint=hint)
        if result.core.board is not None:
            hint = f"`wattlock run papers/mcu --on qemu:{result.core.name}` counts on its core"
            raise EvidenceError(
                f"--counted {name}: no claim is judged by cycles of {result.core.counted.place}", hint=hint
            )
        other = next((core for core in found if core.core == result.core.name), None)
        if other is not None:
            what = f"--counted {other.name} and --counted {name} are of the same core, {result.core.name}"
            raise InputError(what, hint="leave out one of them: core cycles are the same in each part")
        if result.estimates.filter(pl.col("state") == "counted", pl.col("family").is_in(list(NAMES))).is_empty():
            what = f"--counted {name}: none of the papers' ciphers was counted"
            raise InputError(what, hint=f"`wattlock run papers/mcu --on qemu:{result.core.name}` counts them")
        found.append(_judged(str(name), result, papers or literature.load()))
    return found


def _judged(name: str, result: Result, papers: Papers) -> CoreJudged:
    error = result.error_percent
    claims = countable(papers)
    if error is None:
        answers = tuple(CoreAnswer(claim.id, "undecided", None, NO_CYCLES) for claim in claims)
    else:
        evidence = CountedEvidence(
            estimates=result.estimates,
            machine=MACHINE,
            run=result.id,
            papers=papers,
            core=result.core.name,
            error_percent=error,
        )
        answers = tuple(answer(claim, evidence) for claim in claims)
    warnings = result.warnings if error is not None else []
    # The study's id stands in the run; the one that is shipped for the papers is called by its path.
    study = "papers/mcu" if result.plan["study"]["id"] == "papers-mcu" else str(result.plan["study"]["id"])
    return CoreJudged(name, result.id, study, result.core.name, error, answers, tuple(warnings))


def answer(claim: Claim, evidence: CountedEvidence) -> CoreAnswer:
    """What a core's cycles say to a claim: its own judge's verdict, where the interval decides."""
    found = JUDGES[claim.id](claim, evidence)
    first = found.compared[0] if found.compared else None
    if not evidence.is_of(claim):
        wanted = " or ".join(MACHINES[machine] for machine in claim.machine)
        figure_words = f"; {_figure(first, evidence)}" if first else ""
        return CoreAnswer(claim.id, "undecided", first, f"of {wanted}{figure_words}")
    if found.effect is None or first is None:
        return CoreAnswer(claim.id, "undecided", None, f"not counted: it needs {found.needs}", found.findings)
    return CoreAnswer(claim.id, called(found.verdict), first, _sentence(found, first, evidence), found.findings)


def called(verdict: Verdict) -> Answer:
    """What a judge's verdict is called of an emulated core."""
    return OF_VERDICT.get(verdict, "undecided")


def _figure(first: ClaimComparison, evidence: CountedEvidence) -> str:
    """The figure that decides, of which bytes and whose code."""
    what = first.effect.what.strip(" ,")
    # A figure on packets names their size itself.
    sized = first.effect.unit == "B" or re.search(r"\d B\b", what)
    size = "" if sized else f"{_largest_B(evidence):,} B"
    data = "" if RANDOM in what else RANDOM
    about = " of ".join(word for word in (size, data) if word)
    return f"{what} is {first.effect.described()} ({'; '.join(word for word in (about, first.cases) if word)})"


def _largest_B(evidence: CountedEvidence) -> int:
    encrypted = evidence.estimates.filter(pl.col("operation") == "encrypt", pl.col("cycles").is_not_null())
    return max(encrypted["payload_B"].to_list(), default=0)


def _sentence(found: Judgement, first: ClaimComparison, evidence: CountedEvidence) -> str:
    parts = [_figure(first, evidence)]
    if first.bounds is not None:
        parts.append(f"what counts as the claim: {first.bounds.described()}")
    if first.holds is None:
        parts.append(f"the interval holds both: the core's rules err by {evidence.error_percent:g} %")
    if first.holds is False and len(first.parts) > 1:
        parts.append(f"not so: {', '.join(first.failing)}")
    if len(found.findings) > 1:
        parts += _by_answer(found)
    return "; ".join([*parts, *_other_kinds(found)])


def _by_answer(found: Judgement) -> list[str]:
    """Of a claim of several parts which of them have which answer, by software of the papers' era."""
    by_answer: dict[str, list[str]] = {}
    for finding in found.findings:
        by_answer.setdefault(called(finding.answers[ERA]) if ERA in finding.answers else NOT_COUNTED, []).append(
            finding.says
        )
    return [f"{words}: {', '.join(by_answer[words])}" for words in (*ANSWERS, NOT_COUNTED) if words in by_answer]


def _other_kinds(found: Judgement) -> list[str]:
    """The answers by other kinds of implementation of AES, which decide nothing."""
    by_kind = {
        kind: [finding.answers[kind] for finding in found.findings if kind in finding.answers]
        for kind in KINDS
        if kind != ERA
    }
    return [f"with {kind} {called(over_findings(answers))}" for kind, answers in by_kind.items() if answers]
