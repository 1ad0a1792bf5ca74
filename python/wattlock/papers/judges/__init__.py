"""A judge for each claim: pure functions of what is at hand.

`judge_all` gives the verdicts in the order of the claims; judging twice gives equal results.
"""

from wattlock.papers.judges import (
    air,
    battery,
    capture,
    encoding,
    key_size,
    model,
    packet_size,
    ranking,
    ratio,
    rijndael,
    security,
)
from wattlock.papers.judges.compose import Judge
from wattlock.papers.judges.evidence import Capture, Discharge, Evidence, Security, Transfer
from wattlock.papers.judges.verdict import Basis, Bounds, Compared, Effect, Judgement, Verdict

__all__ = [
    "JUDGES",
    "Basis",
    "Bounds",
    "Capture",
    "Compared",
    "Discharge",
    "Effect",
    "Evidence",
    "Judgement",
    "Security",
    "Transfer",
    "Verdict",
    "judge_all",
]

THEMES = (air, battery, capture, encoding, key_size, model, packet_size, ranking, ratio, rijndael, security)
JUDGES: dict[str, Judge] = {name: judge for theme in THEMES for name, judge in theme.JUDGES.items()}


def judge_all(evidence: Evidence) -> list[Judgement]:
    """The verdict on every claim, in the order of the claims."""
    return [JUDGES[claim.id](claim, evidence) for claim in evidence.papers.claims]
