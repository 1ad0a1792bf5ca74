"""Hostile packs drawn from seeds; `benchmarks/lab_uploads.py` tries 100,000 of them."""

from pathlib import Path

import pytest

from support.hostile_packs import BROKEN, FORGED, hostile
from support.hostile_tries import is_taken, read_here
from support.labs import COUNTED, MEASURED, asking, files_of, filled, hash_of
from wattlock.lab.collection import Collection

OWN = [COUNTED / "m4", MEASURED]
RUNS = [dict(files_of(run)) for run in OWN]
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
    of_runs = [f"/runs/{hash_}{form}" for hash_ in taken for form in ("", ".json", ".csv", "/report", "/pack")]
    paths = ["/", "/runs", "/runs.json", "/devices", "/devices.csv", "/change", *of_runs]
    assert {path: client.get(path).status_code for path in paths} == dict.fromkeys(paths, 200)


def test_a_forged_run_that_is_taken_is_compared_with_the_run_it_was_made_of_or_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_here(monkeypatch)
    lab = filled(tmp_path / "lab", OWN)
    client, own = asking(lab), [hash_of(run) for run in OWN]
    packs = [(seed, pack) for seed in SEEDS if (pack := hostile(RUNS[seed % 2], seed)).is_forged]
    taken = [(seed, pack) for seed, pack in packs if is_taken(lab, pack)]
    asked = [{"run": [own[seed % 2], pack.announced]} for seed, pack in taken]
    asked += [{"run": both["run"][::-1]} for both in asked]
    answers = [client.get(f"/compare{form}", params=both) for both in asked for form in ("", ".json")]
    assert len(answers) > 40
    assert {answer.status_code for answer in answers} <= {200, 409}
    assert all(answer.json()["hint"] for answer in answers if answer.status_code == 409)


def test_the_same_seed_draws_the_same_pack() -> None:
    assert all(hostile(RUNS[0], seed) == hostile(RUNS[0], seed) for seed in range(40))
    assert len({hostile(RUNS[0], seed).content for seed in range(40)}) > 30


@pytest.mark.parametrize("seed", [4004, 6894, 7764])
def test_a_plan_whose_card_or_version_is_a_number_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    read_here(monkeypatch)
    assert not is_taken(Collection.open(tmp_path), hostile(RUNS[seed % 2], seed))
