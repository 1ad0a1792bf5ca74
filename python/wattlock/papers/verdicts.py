"""The verdicts as a table, for other programs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from wattlock.analysis.counts import EMULATED
from wattlock.papers.counted_claims import CoreJudged, called
from wattlock.papers.implementations import ERA
from wattlock.papers.judge import Bounds, ClaimComparison, Effect, Judgement, failing
from wattlock.papers.literature import Claim, Papers

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
