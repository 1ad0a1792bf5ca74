"""Optional libraries on a whole run: taking one away turns a verdict only to or from one that depends, or opens it.

`quick_run/estimates.parquet` has the estimates of a run of `papers/quick` on one virtual machine (AMD EPYC,
2026-11-22), with OpenSSL, libtomcrypt and libmcrypt installed.
"""

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from random import Random

import polars as pl

from support.papers_evidence import PAPERS
from wattlock.papers.implementations import BUILT_IN, library
from wattlock.papers.judge import DEPENDS, OPEN, Evidence, Verdict
from wattlock.papers.themes import JUDGES

RECORDED = Path(__file__).parent / "quick_run" / "estimates.parquet"
OPTIONAL = ("libmcrypt", "libtomcrypt", "openssl")
CLAIMS = [claim for claim in PAPERS.claims if claim.about in {"time", "energy"}]
RSA = "asymmetric-vs-symmetric"
"""Whose code is OpenSSL's alone."""
SEEDS = range(4)


@cache
def recorded() -> pl.DataFrame:
    return pl.read_parquet(RECORDED).with_columns(readiness=pl.lit("steady"))


def made_up(seed: int) -> pl.DataFrame:
    """The recorded run, had each library another speed with each cipher, operation and keying: up to three times."""
    random = Random(seed)
    rows = recorded().to_dicts()
    speeds: dict[tuple[str, ...], float] = {}
    for row in rows:
        key = (library(row["provider"]), *(str(row[name]) for name in ("cipher", "path", "operation", "keying")))
        speeds.setdefault(key, 3 ** random.uniform(-1, 1))
        row["time_ns"] *= speeds[key]
        row["half_width_percent"] *= random.choice([1, 1, 30])
    return pl.DataFrame(rows, schema=recorded().schema)


def verdicts(run: pl.DataFrame, installed: tuple[str, ...]) -> dict[str, Verdict]:
    own = {name for name in run["provider"].unique() if library(name) in {BUILT_IN, *installed}}
    evidence = Evidence(run.filter(pl.col("provider").is_in(own)))
    return {claim.id: JUDGES[claim.id](claim, evidence).verdict for claim in CLAIMS}


def subsets() -> Iterator[tuple[str, ...]]:
    for number in range(len(OPTIONAL) + 1):
        yield from combinations(OPTIONAL, number)


def turned(run: pl.DataFrame) -> list[tuple[str, str, tuple[str, ...], Verdict, Verdict]]:
    """Claim, library taken away, what was installed, and the verdicts before and after, where these differ."""
    by_installed = {installed: verdicts(run, installed) for installed in subsets()}
    return [
        (claim, away, installed, before[claim], after)
        for installed, before in by_installed.items()
        for away in installed
        for claim, after in by_installed[tuple(name for name in installed if name != away)].items()
        if after != before[claim]
    ]


def refused(changes: list[tuple[str, str, tuple[str, ...], Verdict, Verdict]]) -> list[object]:
    return [change for change in changes if not {change[3], change[4]} & {DEPENDS, *OPEN}]


def test_the_recorded_run_has_every_optional_library() -> None:
    assert {library(name) for name in recorded()["provider"].unique()} == {BUILT_IN, *OPTIONAL}


def test_on_a_recorded_run_no_library_turns_a_verdict_into_its_opposite() -> None:
    changes = turned(recorded())
    assert changes
    assert refused(changes) == []


def test_at_other_speeds_no_library_turns_a_verdict_into_its_opposite() -> None:
    changes = [change for seed in SEEDS for change in turned(made_up(seed))]
    # The speeds are such that libraries disagree, either way.
    assert {change[3] for change in changes if change[4] == DEPENDS} == set()
    assert {change[4] for change in changes if change[3] == DEPENDS} >= {"reproduced", "not reproduced"}
    assert refused(changes) == []


def test_what_is_built_in_decides_every_claim_on_the_speed_of_ciphers_but_rsas() -> None:
    alone = verdicts(recorded(), ())
    untested = {name for name, verdict in alone.items() if verdict == "not tested"}
    of_another_machine = {claim.id for claim in CLAIMS if claim.machine}
    assert untested - of_another_machine == {RSA, "throughput-energy"}
