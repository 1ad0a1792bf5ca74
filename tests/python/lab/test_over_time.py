"""A case through the runs of a device: its page and its data, on runs of which the truth is known."""

import io
import re
from pathlib import Path

import polars as pl
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from support.labs import COUNTED, MEASURED, asking, filled
from support.labs_over_time import repeated
from wattlock.lab.collection import Collection
from wattlock.lab.database import RunRow, session

RUNS, STEP_AT, STEP = 12, 7, 1.04


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    place = tmp_path_factory.mktemp("series")
    return asking(filled(place / "lab", [*repeated(place, RUNS, STEP_AT, STEP), COUNTED / "m4"]))


def test_a_step_stands_at_its_run_with_intervals_that_hold_it_and_the_build_that_changed_there(
    client: TestClient,
) -> None:
    rows = client.get("/change.json").json()
    assert [row["run"] for row in rows] == [f"again-{number:02}" for number in range(RUNS)]
    assert {(row["quantity"], row["evidence"]) for row in rows} == {("cycles", "measured")}
    (changed,) = (row for row in rows if row["change_ratio"] is not None)
    assert changed["run"] == f"again-{STEP_AT:02}"
    assert changed["change_low"] <= STEP <= changed["change_high"]
    assert changed["change_first"] <= changed["run"] <= changed["change_last"]
    page = client.get("/change").text
    assert "1 change in 12 runs" in page
    assert "the probe&#x27;s build" in page


def test_a_case_and_a_series_have_a_stable_address_and_csv_has_the_rows_of_json(client: TestClient) -> None:
    rows = client.get("/change.json").json()
    run = next(row for row in client.get("/runs.json").json() if row["id"] == "again-00")
    asked = {"series": f"{run['device']}/{run['study']}", "case": rows[0]["case"]}
    assert client.get("/change.json", params=asked).json() == rows
    assert client.get("/change.csv", params=asked).text.count("\n") == RUNS + 1


def test_one_run_that_counted_is_a_series_of_which_no_change_can_be_told(client: TestClient) -> None:
    row = next(row for row in client.get("/runs.json").json() if row["is_counted"])
    page = client.get("/change", params={"series": f"{row['device']}/{row['study']}"}).text
    assert "1 run: it takes 8 to tell of a change" in page
    assert 'data-evidence="emulated"' in page


@pytest.mark.parametrize("asked", ["series=none", "series=../x", "case=%3Cscript%3E"])
def test_what_is_not_there_is_404_with_a_hint_and_no_markup(client: TestClient, asked: str) -> None:
    answer = client.get(f"/change?{asked}", headers={"Accept": "text/html"})
    assert answer.status_code == 404
    assert "<script>" not in answer.text
    told = client.get(f"/change.json?{asked}")
    assert (told.status_code, sorted(told.json())) == (404, ["error", "hint"])


def test_an_empty_lab_says_what_the_pages_take(tmp_path: Path) -> None:
    client = asking(Collection.open(tmp_path))
    assert client.get("/change").status_code == client.get("/devices").status_code == 200
    assert client.get("/change.json").status_code == 404


def test_runs_that_are_invalid_or_have_no_number_are_of_no_series_and_nothing_links_to_one(tmp_path: Path) -> None:
    lab = filled(tmp_path, [MEASURED])
    client = asking(lab)
    link = re.search('href="(/change[^"]*)"', client.get("/devices").text.split("<article")[1])
    assert link is not None
    assert client.get(link[1]).status_code == 200
    with session(lab.engine) as opened:
        run = opened.scalars(select(RunRow)).one()
        cases = pl.read_parquet(run.estimates).with_columns(state=pl.lit("failed"))
        cases.write_parquet(written := io.BytesIO())
        run.estimates, run.with_number = written.getvalue(), 0
    assert "No series is here yet" in client.get("/change").text
    assert "/change" not in client.get("/devices").text.split("<article")[1]


def test_devices_of_two_kinds_of_evidence_stand_in_two_sections(tmp_path: Path) -> None:
    client = asking(filled(tmp_path, [MEASURED, COUNTED / "m4"]))
    for path in ("/", "/devices"):
        page = client.get(path).text
        assert page.index('data-evidence="measured"') < page.index('data-evidence="emulated"')
    measured, emulated = client.get("/devices").text.split('id="emulated"')
    assert "Cortex" in emulated
    assert "Cortex" not in measured
