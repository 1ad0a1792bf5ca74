"""The verdicts as a table: a row a claim, with its parts, figures, bounds and whose code decides."""

import math

import pytest

from support import papers_made_up as worlds
from support.papers_evidence import KINDS, PAPERS, Kind
from wattlock.papers.implementations import ERA
from wattlock.papers.judge import OPEN
from wattlock.papers.themes import JUDGES
from wattlock.papers.verdicts import SCHEMA, table


@pytest.mark.parametrize("kind", KINDS)
def test_every_claim_is_a_row_that_says_what_its_judge_says(kind: Kind) -> None:
    judgements = []
    for claim in PAPERS.claims:
        evidence = worlds.world(claim, kind)
        judgements.append(JUDGES[claim.id](evidence.papers.claim(claim.id), evidence))
    rows = table(judgements, PAPERS)
    assert rows.schema == SCHEMA
    assert rows["claim"].to_list() == [claim.id for claim in PAPERS.claims]
    for row, one in zip(rows.iter_rows(named=True), judgements, strict=True):
        assert row["verdict"] == one.verdict
        assert row["findings"] == [
            {"finding": finding.says, "implementation": of, "verdict": answer}
            for finding in one.findings
            for of, answer in finding.answers.items()
        ]
        assert len(row["comparisons"]) == len(one.compared)
        if one.effect is None:
            assert row["effect_value"] is row["implementation"] is row["bound_low"] is None
        else:
            finite = [end if math.isfinite(end) else None for end in one.effect[2:]]
            assert [row[f"effect_{end}"] for end in ("value", "low", "high")] == finite
            assert row["implementation"] == one.compared[0].implementation
        assert (row["needs"] is None) == (one.verdict not in OPEN)


def test_the_comparison_that_decides_gives_the_rows_figures_and_bounds() -> None:
    claim = PAPERS.claim("blowfish-vs-aes-text")
    (row,) = table([JUDGES[claim.id](claim, worlds.world(claim, "holds"))], PAPERS).iter_rows(named=True)
    assert (row["implementation"], row["library"], row["effect_of"]) == (
        ERA,
        "libtomcrypt",
        "Blowfish over AES, to encrypt text",
    )
    assert (row["bound_low"], row["bound_high"]) == pytest.approx((0.16 ** (4 / 3), 0.16 ** (2 / 3)))
    assert (row["bound_by"], row["source"]) == ("wattlock", ["elminaam-wlan", "singh"])
