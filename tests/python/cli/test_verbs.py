"""The verbs from end to end with the real probe: what a newcomer types, and what a mistake gets.

Nothing here asks how fast anything is, nor that a noisy machine resolves a case.
"""

import csv
import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.tree import PROBE, require_programs
from wattlock import cli
from wattlock.errors import EvidenceError, InputError, ProbeError, StoreError, StudyError, UsageError
from wattlock.run.result import read
from wattlock.store import RunFolder

MEASURED = {"resolved", "unresolved", "invalid"}

PROMISED = """
case cipher provider path of version operation keying mode key_bits payload_B encoding data time_ns time_low_ns
time_high_ns cpu_ns cycles_per_byte throughput_MB_s energy_uJ_per_byte energy_low_uJ_per_byte energy_high_uJ_per_byte
time_evidence energy_evidence state
"""
"""The fields that an estimate has at least."""


@pytest.fixture(autouse=True, scope="module")
def program() -> None:
    """A missing program is a failure, not a reason to skip."""
    require_programs()


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in an empty folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    return tmp_path


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of two cases with their intervals, valued by a card that the user agreed to.

    A storm of neighbours may leave a case a single process, which has no interval: then it is measured again.
    """
    for attempt in range(5):
        run = tmp_path_factory.mktemp("runs") / f"aes{attempt}"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("WATTLOCK_PROBE", str(PROBE))
            words = ["run", "quick", "--only", "cipher=aes*", "--out", str(run)]
            assert cli.answer([*words, "--device", "x86-server-assumed", "--allow-assumed"]) == 0
        if (read(RunFolder.open(run)).estimates["processes"] >= 2).all():
            break
    return run


@pytest.fixture
def copy(finished: Path, here: Path) -> Path:
    """A copy of the finished run, to be spoiled."""
    return Path(shutil.copytree(finished, here / "copy"))


Report = Callable[..., tuple[int, str, list[str], list[str]]]


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> Report:
    """Carries out a command line; gives its exit code, its output, its `error:` and its `hint:` lines."""

    def carry_out(*words: str) -> tuple[int, str, list[str], list[str]]:
        capsys.readouterr()
        code = cli.answer(words)
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        lines = said.err.splitlines()
        return code, said.out, *([line for line in lines if line.startswith(f"{k}:")] for k in ("error", "hint"))  # type: ignore[return-value]

    return carry_out


def rows_of(report: Report, *words: str) -> list[dict[str, Any]]:
    code, out, errors, _ = report(*words, "--format", "json")
    assert (code, errors) == (0, [])
    rows = json.loads(out)
    assert isinstance(rows, list)
    return rows


def test_show_gives_one_object_a_case_with_every_field_that_was_promised(finished: Path, report: Report) -> None:
    rows = rows_of(report, "show", str(finished))
    assert [(row["cipher"], row["payload_B"]) for row in rows] == [("aes128-cbc", 64), ("aes128-cbc", 1500)]
    for row in rows:
        assert set(PROMISED.split()) <= set(row)
        assert row["state"] in MEASURED
        assert (row["time_evidence"], row["energy_evidence"]) == ("measured", "assumed")
        assert 0 < row["time_low_ns"] <= row["time_ns"] <= row["time_high_ns"]
        assert 0 < row["energy_low_uJ_per_byte"] < row["energy_uJ_per_byte"] < row["energy_high_uJ_per_byte"]
        assert (row["mode"], row["key_bits"], row["provider"]) == ("cbc", 128, "rustcrypto")


def test_show_prints_the_same_cases_in_every_form(finished: Path, report: Report) -> None:
    rows = rows_of(report, "show", str(finished))
    _, as_csv, _, _ = report("show", str(finished), "--format", "csv")
    _, as_table, _, _ = report("show", str(finished))
    listed = list(csv.DictReader(io.StringIO(as_csv)))
    assert [int(row["case"]) for row in listed] == [row["case"] for row in rows]
    assert list(listed[0]) == list(rows[0])
    assert len(as_table.splitlines()) == 1 + len(rows)


def test_a_run_without_a_card_has_no_joules(here: Path, report: Report) -> None:
    assert report("run", "quick", "--only", "cipher=rc4*,payload_B=64")[0] == 0
    (row,) = rows_of(report, "show")
    assert {name for name in row if name.startswith("energy") and row[name] is not None} == set()
    (run,) = (here / "runs").iterdir()
    assert re.fullmatch(r"quick-\d{8}-\d{4}-[0-9a-f]{4}", run.name)
    assert rows_of(report, "show", run.name) == [row]


def test_the_report_lies_beside_the_run_and_fetches_nothing(finished: Path) -> None:
    page = (finished / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "aes128-cbc" in page, "named also where a busy machine made the run invalid"
    markup = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    fetched = re.findall(r"""(?:src|srcset|href|action|data)\s*=\s*["'](?!#|data:)[^"']+""", markup)
    assert fetched == []
    assert not re.search(r"@import|url\((?!['\"]?(?:data:|#))", markup)
    assert "default-src 'none'" in markup


def test_the_report_is_drawn_again_where_the_user_wants_it(finished: Path, here: Path, report: Report) -> None:
    code, out, _, _ = report("report", str(finished), "--out", "again.html")
    assert (code, out) == (0, "again.html\n")
    assert (here / "again.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize("name", ["batches.parquet", "headers.jsonl", "plan.jsonl"])
def test_a_changed_byte_of_a_sealed_run_is_noticed(copy: Path, report: Report, name: str) -> None:
    data = bytearray((copy / name).read_bytes())
    at = data.rindex(b'"study"') + 1 if name == "plan.jsonl" else len(data) // 2
    data[at] ^= 1
    (copy / name).write_bytes(data)
    for verb in ("show", "report"):
        code, out, errors, hints = report(verb, str(copy))
        assert (code, out, len(errors), len(hints)) == (StoreError.exit_code, "", 1, 1)
        assert name in errors[0]


@pytest.mark.parametrize("name", ["batches.parquet", "headers.jsonl", "plan.jsonl"])
def test_a_missing_file_of_a_run_is_named(copy: Path, report: Report, name: str) -> None:
    (copy / name).unlink()
    code, _, errors, hints = report("show", str(copy))
    assert (code, len(errors), len(hints)) == (StoreError.exit_code, 1, 1)
    assert name in errors[0]


def test_a_second_run_into_the_same_folder_is_refused_and_the_first_stays(copy: Path, report: Report) -> None:
    before = {file.name: file.read_bytes() for file in copy.iterdir()}
    code, _, errors, hints = report("run", "quick", "--out", str(copy))
    assert (code, len(hints)) == (StoreError.exit_code, 1)
    assert errors == [f"error: run {copy}: the folder is not empty"]
    assert {file.name: file.read_bytes() for file in copy.iterdir()} == before


def test_a_battery_is_told_in_files_of_a_run_and_its_fall_is_drawn(finished: Path, here: Path, report: Report) -> None:
    words = ["battery", "cgr18650da", "--run", str(finished), "--file-B", "5000000", "--allow-assumed"]
    (row,) = rows_of(report, *words, "--figure", "fall.html")
    assert row["payload_B"] == 5_000_000
    assert row["operations_low"] < row["operations"] < row["operations_high"]
    assert row["evidence"] == "assumed"
    assert (here / "fall.html").read_text().count("<svg") == 1
    assert report(*words[:-1])[0] == 8, "the battery's laws need consent of their own"
    assert report(*words, "--encrypt-share", "0.5")[2][0].startswith("error: no cipher of the run")


def test_another_card_values_the_same_run_again(finished: Path, report: Report) -> None:
    rows = rows_of(report, "show", str(finished))
    own = rows_of(report, "show", str(finished), "--device", "x86-server-assumed", "--allow-assumed")
    assert own == rows
    code, _, errors, _ = report("show", str(finished), "--device", "nrf52840")
    assert code == EvidenceError.exit_code
    assert "cycles of" in errors[0]


# What bad input gets.

STUDY = """
id = "mine"
title = "Mine"
question = "What?"
[[grid]]
cipher = ["aes128-cbc"]
operation = ["encrypt"]
payload_B = [64]
"""

MISTAKES: dict[str, tuple[list[str], int, str]] = {
    "a study that there isn't": (["run", "first-lok"], InputError.exit_code, "first-lok"),
    "no study at all": (["run"], UsageError.exit_code, "--resume"),
    "a study that is no TOML": (["run", "broken.toml"], StudyError.exit_code, "broken.toml: not TOML"),
    "an unknown key": (["run", "key.toml"], StudyError.exit_code, "key.toml: grid[0].cypher: unknown key"),
    "an unknown cipher": (["run", "cipher.toml"], StudyError.exit_code, 'grid[0].cipher[0]: no cipher "aes129-cbc"'),
    "a unit that there isn't": (["run", "unit.toml"], StudyError.exit_code, "grid[0].payload_kB: unknown key"),
    "a size with a unit": (["run", "size.toml"], StudyError.exit_code, "grid[0].payload_B[0]: must be a whole number"),
    "an empty grid": (["run", "grid.toml"], StudyError.exit_code, "grid.toml: grid"),
    "an empty list": (["run", "list.toml"], StudyError.exit_code, "grid[0].cipher: is empty"),
    "an input that is missing": (["run", "files.toml", "--input", "nowhere"], InputError.exit_code, "input nowhere"),
    "an input that can't be read": (["run", "files.toml", "--input", "loop"], InputError.exit_code, "can't be read"),
    "an empty input": (["run", "files.toml", "--input", "empty"], InputError.exit_code, "input empty: is empty"),
    "an empty folder": (["run", "files.toml", "--input", "folder"], InputError.exit_code, "holds no file"),
    "an input that nothing uses": (["run", "good.toml", "--input", "file"], StudyError.exit_code, "no grid with data"),
    "an unknown device": (["run", "good.toml", "--device", "rp2041"], InputError.exit_code, "no device card rp2041"),
    "an assumed card": (["run", "good.toml", "--device", "x86-server-assumed"], EvidenceError.exit_code, "nobody"),
    "a card of another machine": (["run", "good.toml", "--device", "pxa270-520"], EvidenceError.exit_code, "pxa270"),
    "an unknown run": (["show", "nowhere"], StoreError.exit_code, "no run nowhere"),
    "no run yet": (["report"], StoreError.exit_code, "no run under runs"),
    "a run that can't be resumed": (["run", "--resume", "nowhere"], StoreError.exit_code, "no run nowhere"),
    "a folder that is no run": (["show", "folder"], StoreError.exit_code, "is not a run"),
    "--only without a glob": (["run", "good.toml", "--only", "cipher="], StudyError.exit_code, "is not FIELD=GLOB"),
    "--only with no field": (["run", "good.toml", "--only", "cypher=a*"], StudyError.exit_code, 'no field "cypher"'),
    "--only that nothing fits": (["run", "good.toml", "--only", "cipher=x*"], StudyError.exit_code, "none of 1 cases"),
    "a cipher to be shown": (["ciphers", "--show", "aes129-cbc"], InputError.exit_code, 'no cipher "aes129-cbc"'),
    "an option that there isn't": (["run", "good.toml", "--onyl", "x"], cli.USAGE, "--onyl"),
    "a form that there isn't": (["studies", "--format", "yaml"], cli.USAGE, "yaml"),
}


@pytest.fixture
def shelf(here: Path) -> set[str]:
    """Studies and inputs that are wrong in one thing each; gives the names of what lies in the folder."""
    wrong = {
        "good": STUDY,
        "broken": "id = ",
        "key": STUDY.replace("cipher =", "cypher ="),
        "cipher": STUDY.replace("aes128", "aes129"),
        "unit": STUDY.replace("payload_B", "payload_kB"),
        "size": STUDY.replace("[64]", '["64 B"]'),
        "grid": STUDY.partition("[[grid]]")[0] + "grid = []",
        "list": STUDY.replace('["aes128-cbc"]', "[]"),
        "files": STUDY.replace("payload_B = [64]", 'data = ["text"]'),
    }
    for name, text in wrong.items():
        (here / f"{name}.toml").write_text(text)
    (here / "empty").touch()
    (here / "file").write_bytes(b"x")
    (here / "folder").mkdir()
    (here / "loop").symlink_to("loop")
    return {path.name for path in here.iterdir()}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_error_line_with_its_place_and_its_code_and_leaves_nothing(
    here: Path, shelf: set[str], report: Report, mistake: str
) -> None:
    words, expected, place = MISTAKES[mistake]
    code, out, errors, hints = report(*words)
    assert (code, out, len(errors)) == (expected, "", 1)
    assert len(hints) <= 1
    assert place in errors[0]
    assert {path.name for path in here.iterdir()} == shelf


def test_a_near_miss_is_answered_with_what_was_meant(shelf: set[str], report: Report) -> None:
    assert shelf
    for words, meant in (
        (["run", "cipher.toml"], "aes128-cbc"),
        (["run", "first-lok"], "first-look"),
        (["run", "key.toml"], "cipher"),
        (["run", "good.toml", "--device", "rp2041"], "rp2040"),
        (["ciphers", "--show", "aes129-cbc"], "aes128-cbc"),
    ):
        assert f'did you mean "{meant}"?' in report(*words)[3][0]


def test_an_output_folder_that_can_not_be_made_is_named(here: Path, report: Report) -> None:
    (here / "file").touch()
    code, _, errors, _ = report("run", "quick", "--out", "file/run")
    assert code == StoreError.exit_code
    assert "file/run" in errors[0]


def test_a_probe_that_is_missing_is_told_before_anything_is_made(
    here: Path, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATTLOCK_PROBE", str(here / "nowhere"))
    for words in (["run", "quick"], ["ciphers"], ["doctor"]):
        code, out, errors, hints = report(*words)
        assert (code, out, len(errors), len(hints)) == (ProbeError.exit_code, "", 1, 1)
    assert list(here.iterdir()) == []


# The other verbs.


def test_a_dry_run_lists_the_cases_and_the_seconds_and_makes_nothing(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(["run", "quick", "--dry-run"]) == 0
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 1 + 6
    assert {line.split()[1] for line in said.out.splitlines()[1:]} == {"aes128-cbc", "des-cbc", "rc4-128"}
    assert re.search(r"6 cases: about \d+ s .* at most \d+ s", said.err)
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("form", ["table", "json", "csv"])
@pytest.mark.parametrize(
    ("words", "holds"),
    [
        (["ciphers"], "rc5-32-12-128-cbc"),
        (["ciphers", "--show", "des-cbc"], "FIPS 46-3"),
        (["studies"], "first-look"),
        (["devices"], "x86-server-assumed"),
        (["doctor", "--seconds", "1"], "clock"),
    ],
)
def test_every_verb_that_lists_something_does_so_in_every_form(
    report: Report, words: list[str], holds: str, form: str
) -> None:
    code, out, errors, _ = report(*words, "--format", form)
    # The doctor may find this machine unfit, and says so by 1.
    assert code == 0 or (words[0], code) == ("doctor", 1)
    assert errors == []
    assert holds in out
    if form == "json":
        assert all(isinstance(row, dict) for row in json.loads(out))
    if form == "csv":
        rows = list(csv.reader(io.StringIO(out)))
        assert {len(row) for row in rows} == {len(rows[0])}


FACTORS = """
id = "factors"
title = "Every factor once"
question = "Can each be measured?"
target_percent = 50.0
looks = [5]

[[grid]]
cipher = ["des-cbc"]
operation = ["key_setup"]

[[grid]]
cipher = ["aes128-cbc"]
operation = ["encrypt", "decrypt"]
keying = ["ready", "each"]
payload_B = [64]

[[grid]]
cipher = ["aes128-ctr"]
operation = ["encrypt"]
encoding = ["base64", "hex"]
payload_B = [64]

[[grid]]
cipher = ["rc4-128"]
operation = ["encrypt"]
placement = ["L2", "DRAM"]
payload_B = [1500]

[[grid]]
cipher = ["aes128-ecb"]
operation = ["encrypt"]
pattern = ["chained"]
payload_B = [64]

[[grid]]
cipher = ["des-cbc"]
operation = ["encrypt"]
data = ["text"]
"""

PLAIN = {"keying": "ready", "encoding": "raw", "placement": "hot", "pattern": "independent", "readiness": "steady"}


def test_every_factor_is_measured_and_a_file_of_the_users_in_segments(here: Path, report: Report) -> None:
    (here / "factors.toml").write_text(FACTORS)
    (here / "mine").write_bytes(bytes(range(256)) * 300)
    assert report("run", "factors.toml", "--input", "mine", "--out", "run")[0] == 0
    rows = rows_of(report, "show", "run")
    factors = [{key: row[key] for key in PLAIN if row[key] != PLAIN[key]} for row in rows]
    assert factors == [
        {},
        *[{}, {"keying": "each"}] * 2,
        *[{"encoding": "base64"}, {"encoding": "hex"}],
        *[{"placement": "L2"}, {"placement": "DRAM"}],
        {"pattern": "chained"},
        {},
    ]
    assert {row["state"] for row in rows} <= MEASURED
    assert all(row["time_ns"] > 0 for row in rows if row["processes"])
    dram = next(row for row in rows if row["placement"] == "DRAM")
    assert (dram["cycles"], dram["cycles_per_byte"]) == (None, None)
    setup, file = rows[0], rows[-1]
    assert (setup["operation"], setup["payload_B"], setup["cycles_per_byte"]) == ("key_setup", 0, None)
    assert (file["data"], file["payload_B"]) == ("input-1", 76_800)
    folder = RunFolder.open(here / "run")
    segments = {case["case"]: case["segments"] for header in folder.headers() for case in header["cases"]}
    assert segments[file["case"]] > 1
    assert folder.failures() == []
