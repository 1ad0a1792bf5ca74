"""Hostile posts drawn from seeds, through every door but that of packs; `benchmarks/lab_posts.py` tries 10,000."""

from pathlib import Path

from support.hostile_doors import posts
from support.hostile_posts import DOORS, Known, hostile_post

KNOWN = Known({"plan": "a", "read": "b", "send": "c", "admin": "d"}, "key", "visit", 1)
SEEDS = range(400)


def test_a_hostile_post_is_refused_in_words_and_changes_nothing_or_is_carried_out(tmp_path: Path) -> None:
    tally = posts(tmp_path, SEEDS)
    assert sum(tally.values()) == len(SEEDS)
    assert {door for door, _ in tally} == set(DOORS)
    by_status = {status for _, status in tally}
    assert by_status > {201, 303, 400, 401, 403, 404}


def test_the_same_seed_draws_the_same_post() -> None:
    assert all(hostile_post(seed, KNOWN) == hostile_post(seed, KNOWN) for seed in range(100))
    assert len({hostile_post(seed, KNOWN).body for seed in range(100)}) > 60
