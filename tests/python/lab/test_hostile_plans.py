"""Runs whose plan somebody changed and sealed again: each is refused with its field, or pages and verbs take it."""

import contextlib
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.hostile_plans import hostile_plan
from support.hostile_tries import read_here
from support.labs import COUNTED, MEASURED, asking, filled, hash_of, pack_of, sent
from support.tree import TESTS
from wattlock import cli
from wattlock.errors import StoreError
from wattlock.store import RunFolder

STUDY = {"id": "s", "title": "t", "target_percent": 1.0, "smallest_effect_percent": 1.0}
OWN = (MEASURED, COUNTED / "m4", TESTS / "run" / "counted_runs" / "m4-stm32f407")
DRAWN = range(200)
STEP = 5
"""Each run that is taken is tried by every fifth verb."""
VERBS = (
    *("show RUN", "show RUN --format json", "report RUN --out page.html", "export RUN --format csv"),
    *("compare RUN OTHER --html page.html", "compare OTHER RUN", "papers --run RUN --out page.html"),
    *("costs --from RUN", "calibrate --run RUN", "run --resume RUN", "push RUN --to http://127.0.0.1:9"),
    "advise --message 64B --every 1s --run RUN --device x86-server-assumed --allow-assumed",
    *("export RUN --public --format json", "energy --recording none.csv --run RUN"),
)
PAGES: tuple[str, ...] = (
    "/",
    "/runs",
    "/runs.json",
    "/runs.csv",
    "/devices",
    "/devices.json",
    "/change",
    "/change.json",
    "/compare",
)
PAGES += ("/papers", "/papers.json", "/log", "/advise", "/queue", "/plan", "/tokens")
OF_A_RUN = ("", ".json", ".csv", "/report", "/pack")


def ended(line: str, run: Path, other: Path) -> tuple[int, str]:
    """How a verb ended, and what it complained of."""
    words = [{"RUN": str(run), "OTHER": str(other)}.get(word, word) for word in line.split()]
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())), contextlib.redirect_stderr(errors):
        code = cli.answer(words)
    return code, errors.getvalue()


def refusal(run: Path) -> str | None:
    """Why a run is not opened; null where it is."""
    try:
        RunFolder.open(run)
    except StoreError as error:
        return error.message
    return None


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Path]:
    """The working folder, for what verbs write."""
    before = Path.cwd()
    os.chdir(tmp_path)
    yield tmp_path
    os.chdir(before)


def test_of_200_hostile_plans_none_fails_a_page_or_a_verb(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)
    lab = filled(here / "lab", OWN)
    client, refused = asking(lab), 0
    taken, bad = list[str](), list[tuple[object, ...]]()
    for seed in DRAWN:
        own = OWN[seed % len(OWN)]
        run, what = hostile_plan(own, here / f"run-{seed}", seed)
        if (told := refusal(run)) is not None:
            refused += 1
            assert re.search(r"line \d+ of plan|schema|plan.jsonl: \w+", told), (what, told)
            if refused % 10 == 0:  # they have one door
                code, told = ended(VERBS[seed % len(VERBS)], run, own)
                assert code == StoreError.exit_code, (what, told)
            continue
        pack, hash_ = pack_of(run), hash_of(run)
        status, answer = sent(client, hash_, pack)
        if status >= 500:
            bad.append((what, "push", status, answer))
        if status == 201:
            taken.append(hash_)
        found = [(line, *ended(line, run, own)) for line in VERBS[len(taken) % STEP :: STEP]]
        bad += [(what, line, code, told[-300:]) for line, code, told in found if code == cli.BUG]
        assert "pydantic" not in str(found).lower(), what
        visited = [f"/runs/{hash_}{form}" for form in OF_A_RUN] if status == 201 else []
        visited += [f"/compare?run={hash_of(own)}&run={hash_}{form}" for form in ("", "&x=")]
        bad += [(what, path, code) for path in visited if (code := client.get(path).status_code) >= 500]
    assert bad == []
    assert {path: client.get(path).status_code for path in PAGES} == dict.fromkeys(PAGES, 200)
    compared = client.get("/compare", params={"run": taken[:20]})
    assert compared.status_code in {200, 400, 409}
    assert refused > 100
    assert len(taken) > 10


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("created", "zzz", "created is 'zzz'"),
        ("created", "2026-99-99T00:00:00+00:00", "created is '2026-99-99T00:00:00+00:00', which is no time"),
        ("device", "evil", "device is 'evil', and device_card is null"),
        ("id", "../../x", "id is '../../x'"),
        ("seed", -1, "seed is -1"),
        ("way", 5, "way is 5"),
        ("counted", {"core": "cortex-m4", "x": 1}, "counted has 'x'"),
        ("study", {}, "study has no id"),
        ("study", STUDY | {"looks": [1, 5]}, "study.looks[0] is 1"),
        (
            "study",
            STUDY | {"looks": [*range(2, 35)]},
            "study.looks is [2, 3, 4, 5, 6, 7, ...]: list should have at most 32 items",
        ),
    ],
)
def test_a_field_of_the_plan_that_can_t_be_is_refused_by_its_name(
    tmp_path: Path, field: str, value: object, told: str
) -> None:
    import json

    from wattlock.store import run_folder, run_plan

    run, _ = hostile_plan(COUNTED / "m4", tmp_path / "run", 0)
    lines = [json.loads(line) for line in (COUNTED / "m4" / run_plan.NAME).read_bytes().splitlines()[:-1]]
    lines[0][field] = value
    (run / run_plan.NAME).write_bytes(b"".join(run_plan.encode(lines)))
    run_folder.write_sums(run)
    with pytest.raises(StoreError) as caught:
        RunFolder.open(run)
    assert told in caught.value.message
