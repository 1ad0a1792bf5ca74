"""A judge for each claim, by theme: pure functions of what is at hand.

`judge_all` gives the verdicts in the order of the claims; judging twice gives equal results.
"""

from wattlock.papers import (
    battery_life,
    captured,
    encoding,
    factors,
    key_sizes,
    on_air,
    orders,
    packet_sizes,
    rijndael,
    scaling,
    security_claims,
)
from wattlock.papers.judge import Evidence, Judge, Judgement

THEMES = (
    on_air,
    battery_life,
    captured,
    encoding,
    key_sizes,
    scaling,
    packet_sizes,
    orders,
    factors,
    rijndael,
    security_claims,
)
JUDGES: dict[str, Judge] = {name: judge for theme in THEMES for name, judge in theme.JUDGES.items()}


def judge_all(evidence: Evidence) -> list[Judgement]:
    """The verdict on every claim, in the order of the claims."""
    return [JUDGES[claim.id](claim, evidence) for claim in evidence.papers.claims]
