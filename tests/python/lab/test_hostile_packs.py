"""Hostile packs drawn from seeds; `benchmarks/lab_uploads.py` tries 100,000 of them."""

from pathlib import Path

import pytest

from support.hostile_packs import BROKEN, FORGED, hostile
from support.hostile_tries import is_taken, read_here
from support.labs import COUNTED, MEASURED, asking, files_of
from wattlock.lab.collection import Collection

RUNS = [dict(files_of(COUNTED / "m4")), dict(files_of(MEASURED))]
SEEDS = range(240)


def test_what_is_no_pack_is_refused_and_of_the_forged_each_that_is_taken_can_be_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_here(monkeypatch)
    lab = Collection.open(tmp_path / "outer" / "lab")
    packs = [hostile(RUNS[seed % 2], seed) for seed in SEEDS]
    assert {pack.kind for pack in packs} == {*BROKEN, *FORGED}
    taken = [pack.announced for pack in packs if is_taken(lab, pack)]
    assert 0 < len(taken) < len(packs) / 4
    assert sorted(run.hash for run in lab.runs()) == sorted(set(taken))
    assert [path.name for path in tmp_path.rglob("*") if lab.data not in path.parents] == ["outer", "lab"]
    client = asking(lab)
    paths = ["/", "/runs", "/runs.json", "/devices.csv", *(f"/runs/{hash_}.json" for hash_ in taken)]
    assert {path: client.get(path).status_code for path in paths} == dict.fromkeys(paths, 200)


def test_the_same_seed_draws_the_same_pack() -> None:
    assert all(hostile(RUNS[0], seed) == hostile(RUNS[0], seed) for seed in range(40))
    assert len({hostile(RUNS[0], seed).content for seed in range(40)}) > 30


@pytest.mark.parametrize("seed", [4004, 6894, 7764])
def test_a_plan_whose_card_or_version_is_a_number_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    read_here(monkeypatch)
    assert not is_taken(Collection.open(tmp_path), hostile(RUNS[seed % 2], seed))
