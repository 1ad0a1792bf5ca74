"""A published set: what it holds, that it says what rests on what, and that anybody can check it."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from urllib.parse import unquote

import polars as pl
import pytest

from support.corruptions import sealed_run
from support.counted_runs import M0PLUS, M4
from support.tools import needs
from support.tree import TESTS
from wattlock import cli
from wattlock.errors import InputError, StoreError
from wattlock.publish import signed_set
from wattlock.publish.citation import Citation
from wattlock.publish.minisign import SecretKey
from wattlock.publish.set_page import EBACS_B, OfOthers, SetRun, SignedSet, set_page, set_tables
from wattlock.store import RunFolder
from wattlock.study import load

MINISIGN = shutil.which("minisign")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
TITLE = 'Ciphers & "joules" of <two> machines'


class Links(HTMLParser):
    """The addresses of a page's links."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if (tag, name) == ("a", "href")]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with four runs, two of them timed, a key, and the set of them."""
    here = tmp_path_factory.mktemp("published")
    for name in ("a laptop", "pi"):
        (here / f"measured {name}").mkdir()
        (here / "runs").mkdir(exist_ok=True)
        shutil.copytree(sealed_run(here / f"measured {name}"), here / "runs" / name)
    for run in (M4, M0PLUS):
        shutil.copytree(run, here / "runs" / run.name)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        assert cli.answer(["key", "new", "w.key", "--without-password"]) == 0
        (here / "board.csv").write_text(
            "submission,variant,primary,implementation,config,flash,enc(0:64)\na,as<con,y,r,o1,9,77\n"
        )
        told = ["--unit", "us", "--machine", "A board", "--source", "its authors", "--out", "board.json"]
        assert cli.answer(["import", "board.csv", *told]) == 0
        assert cli.answer(published("site")) == 0
    return here


def published(out: str, *more: str) -> list[str]:
    words = ["publish", "runs", "--out", out, "--key", "w.key", "--title", TITLE, "--author", "Doe, Jane"]
    return [*words, "--beside", "board.json", *more]


@pytest.fixture
def site(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(place)
    return place / "site"


def sections(page: str) -> dict[str, str]:
    return dict(re.findall(r'<section id="(\w+)".*?</h2>(.*?)</section>', page, re.DOTALL))


def test_the_same_runs_and_key_give_the_same_bytes_and_the_set_verifies(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(published("again")) == 0
    for path in site.rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (site.parent / "again" / path.relative_to(site)).read_bytes(), path
    capsys.readouterr()
    assert cli.answer(["verify", "again", "--key", "w.pub"]) == 0
    told = capsys.readouterr().out
    assert " files, 4 of them sealed runs, signed by key " in told
    assert re.search(
        rf"signed with it: {re.escape(TITLE)}; 4 runs, the newest of \d+ \w+ \d{{4}}, \d\d:\d\d UTC\n", told
    )
    shutil.rmtree("again")


@needs(MINISIGN, "minisign is missing: `apt-get install minisign`")
def test_minisign_and_sha256sum_check_the_set_by_the_line_that_its_page_prints(site: Path) -> None:
    page = sections((site / "index.html").read_text())["check"]
    line = next(line for line in re.sub(r"<[^>]+>", "\n", page).splitlines() if line.startswith("minisign"))
    command = ["bash", "-c", line.replace("&amp;", "&")]
    done = subprocess.run(command, cwd=site, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(": OK") == len((site / "SHA256SUMS").read_text().splitlines())


def test_what_was_measured_and_what_was_emulated_stand_apart(site: Path) -> None:
    found = sections((site / "index.html").read_text())
    assert re.findall(r"<h3>(.*?):", found["measured"]) == ["a laptop", "pi"]
    assert sorted(re.findall(r"<h3>(.*?):", found["emulated"])) == ["m0plus", "m4"]
    for name in ("compared-timed-measured.html", "compared-counted-emulated.html"):
        assert name in found["compared"]
        assert (site / name).is_file()
    assert "wattlock compare &#x27;a laptop&#x27; pi --html" in (site / "compared-timed-measured.html").read_text()


def test_figures_of_others_stand_apart_and_are_marked_as_published(site: Path) -> None:
    found = sections((site / "index.html").read_text())
    assert 'A board <span class="chip" data-evidence="published">' in found["published"]
    assert '<th scope="row">as&lt;con</th>' in found["published"]
    assert "µs, one measurement" in found["published"]
    assert not any("as&lt;con" in body for name, body in found.items() if name != "published")
    assert json.loads((site / "published" / "board.json").read_text())["evidence"] == "published"


def test_every_link_leads_to_a_file_of_the_set_and_every_file_is_signed(site: Path) -> None:
    links = {link for link in Links((site / "index.html").read_text()).found if not link.startswith(("#", "https://"))}
    assert all((site / unquote(link)).is_file() for link in links)
    sums = {line.split("  ")[1] for line in (site / "SHA256SUMS").read_text().splitlines()}
    assert sums == {str(path.relative_to(site)) for path in site.rglob("*") if path.is_file()} - {
        "SHA256SUMS",
        "SHA256SUMS.minisig",
    }
    assert sums - {unquote(link) for link in links} == {"index.html"}


def test_the_numbers_of_the_page_are_those_of_the_file_and_of_show(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = pl.read_parquet(site / "timed.parquet").filter(pl.col("cipher") == "aes128-cbc", pl.col("payload_B") == 64)
    assert rows.height == 2
    row = rows.row(0, named=True)
    assert row["per_byte_q1"] <= row["per_byte"] <= row["per_byte_q3"]
    assert f"{row['per_byte']:.2f} " in sections((site / "index.html").read_text())["measured"]
    capsys.readouterr()
    assert cli.answer(["show", "runs/a laptop", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    own = json.loads((site / "runs" / "a laptop" / "estimates.json").read_text())
    assert [case["cycles_per_byte"] for case in own] == [case["cycles_per_byte"] for case in shown]


@needs(CHROMIUM, "no chromium was found on the PATH")
def test_the_page_is_whole_on_a_phone_and_in_the_dark_and_axe_finds_nothing(site: Path) -> None:
    axe = files("axe_playwright_python") / "axe.min.js"
    command = [sys.executable, "-m", "support.set_browser", str(CHROMIUM), str(site / "index.html"), str(axe)]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    for visit in (seen := json.loads(done.stdout)):
        assert (visit["overflow_px"], visit["violations"], visit["complaints"], visit["requests"]) == (0, [], [], 1)
    assert len({visit["paper"] for visit in seen}) == 2


def unsealed(runs: Path) -> None:
    (runs / "pi" / "SHA256SUMS").unlink()
    (runs / "pi" / "records.jsonl").write_bytes((runs / "pi" / "headers.jsonl").read_bytes())


def damaged(runs: Path) -> None:
    (runs / "pi" / "headers.jsonl").write_bytes(b"{}\n")


def doubled(runs: Path) -> None:
    shutil.copytree(runs / "pi", runs / "pi again")


def emptied(runs: Path) -> None:
    shutil.rmtree(runs)
    runs.mkdir()


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (unsealed, "is not finished"),
        (damaged, "headers.jsonl is not what was sealed"),
        (doubled, "are the same run"),
        (emptied, "holds no run"),
        (shutil.rmtree, "there is no such folder"),
    ],
    ids=["unsealed", "damaged", "doubled", "empty", "none"],
)
def test_a_run_that_can_not_be_trusted_is_no_part_of_a_set(
    harm: Callable[[Path], None], told: str, site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs"
    shutil.copytree(site.parent / "runs" / "pi", runs / "pi")
    harm(runs)
    code = cli.answer(["publish", str(runs), "--out", str(tmp_path / "new"), "--key", "w.key"])
    error, hint = capsys.readouterr().err.splitlines()
    assert code == StoreError.exit_code
    assert told in error
    assert hint.startswith("hint: ")
    assert [path.name for path in tmp_path.iterdir() if path != runs] == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--out", "site"], "--out site: is there already"),
        (["--out", "none/new"], "none/"),
        (["--out", "new", "--licence", "my own"], "--licence my own: no licence is called so"),
        (["--out", "new", "--title", "two\nlines"], "--title 'two\\nlines': is empty, or no line of text"),
        (["--out", "new", "--url", "example"], "--url example: is no address"),
        (["--out", "new", "--key", "w.pub"], "w.pub: no secret key"),
        (["--out", "new", "--key", "no.key"], "no.key: No such file"),
        (["--out", "new", "--beside", "board.csv"], "board.csv: no set of published figures: the file: Invalid JSON"),
        (["--out", "new", "--beside", "./board.json"], "--beside: two files have one name"),
    ],
)
def test_wrong_options_are_an_error_and_a_hint_and_leave_nothing(
    words: list[str], told: str, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(site.parent.iterdir())
    assert cli.answer([*published("new"), *words]) == InputError.exit_code
    error, hint = capsys.readouterr().err.splitlines()
    assert told in error
    assert hint.startswith("hint: ")
    assert sorted(site.parent.iterdir()) == before


@pytest.mark.usefixtures("site")
def test_one_run_is_a_set_too(tmp_path: Path) -> None:
    out = tmp_path / "one"
    assert cli.answer(["publish", "runs/m4", "--out", str(out), "--key", "w.key"]) == 0
    assert "compared" not in sections((out / "index.html").read_text())
    assert (out.stat().st_mode & 0o777) == 0o755
    assert signed_set.check(out / "runs" / "m4.zip") == RunFolder.open("runs/m4").id


ROW = {"cipher": "aes128-gcm", "provider": "p", "operation": "seal", "data": "random", "aad_B": 0, "unit": "cycles/B"}
ROW |= {"keying": "ready", "encoding": "raw", "placement": "hot", "pattern": "independent", "state": "resolved"}


def rows(*lengths_B: int, **changed: object) -> pl.DataFrame:
    made = [
        {
            **ROW,
            "readiness": "steady",
            "payload_B": length_B,
            "per_byte_q1": 1.0,
            "per_byte": 2.0,
            "per_byte_q3": 3.0,
            **changed,
        }
        for length_B in lengths_B
    ]
    return pl.DataFrame(made)


def heads(html: str) -> list[list[str]]:
    return [re.findall(r'<th scope="col" class="n">(.*?)</th>', part) for part in html.split("<table>")[1:]]


def test_lengths_of_ebacs_have_their_table_and_others_stand_apart_where_enough_were_measured() -> None:
    assert heads(set_tables(rows(8, 64, 100, 576), "r")) == [["8 B", "64 B", "576 B"], ["100 B"]]
    assert heads(set_tables(rows(64, 100, 1500), "r")) == [["64 B", "100 B", "1,500 B"]]


def test_the_study_of_ebacs_has_each_cipher_at_each_length_of_its_tables_and_no_other() -> None:
    grids = load("ebacs").grid
    assert len({cipher for grid in grids for cipher in grid.cipher}) == 10
    assert [grid.payload_B for grid in grids] == [list(EBACS_B)] * len(grids)


def test_a_length_that_a_cipher_was_not_measured_at_is_a_dash() -> None:
    both = pl.concat([rows(8, 64), rows(64, cipher="des-cbc")])
    html = set_tables(both, "r")
    assert '<th scope="row">des-cbc</th><td>p</td><td class="n">–</td><td class="n">2.00 ' in html


def test_what_differs_has_a_table_of_its_own_and_what_is_not_resolved_stands_in_brackets() -> None:
    mixed = pl.concat([rows(64), rows(64, aad_B=16), rows(64, unit="ns/B"), rows(64, state="unresolved", data="zero")])
    html = set_tables(mixed, "r")
    assert html.count("<table>") == 4
    assert "Seal, cycles/B (random; 16 B of associated data)" in html
    assert '<td class="n">(2.00) <span class="quiet">1.00–3.00</span></td>' in html


def signed(runs: list[SetRun], published: list[OfOthers] | None = None) -> SignedSet:
    citation = Citation("t", ["Doe, Jane"], "2026-01-01T00:00:00", "CC0-1.0", "AB", "1.2")
    return SignedSet(citation, SecretKey.new().public, runs, {}, {}, [], published or [])


def test_an_invalid_run_is_listed_with_its_reasons_and_shows_no_number() -> None:
    run = SetRun("r", "id", "s", "cpu", "2026-01-01", "measured", rows(64), "0" * 64, {}, ["a <check> failed"])
    page = set_page(signed([run]))
    assert "r is invalid, and shows no number:</p><ul><li>A &lt;check&gt; failed." in page
    assert "⊘ invalid run" in page
    assert "measured" not in sections(page)
    assert 'data-evidence="measured"' not in page
    assert "2.00" not in page


def test_of_many_figures_of_others_the_page_has_the_first_and_says_so() -> None:
    figures = {"cipher": "c", "implementation": "i", "build": None, "operation": "encrypt", "payload_B": 8}
    many = pl.DataFrame([{**figures, "aad_B": None, "value": 5.0, "low": 4.0, "high": 6.0}] * 301)
    others = [OfOthers("o.json", "published/o.json", "m", "s", "f", "median", "cycles", many)]
    body = sections(set_page(signed([], others)))["published"]
    assert body.count('<th scope="row">c</th>') == 300
    assert "Here stand 300 of 301 figures; the file has all." in body
    assert re.findall(r'<th scope="col".*?>(.*?)</th>', body) == [
        "Cipher",
        "Implementation",
        "Operation",
        "Bytes",
        "cycles, median",
        "Quartiles",
    ]


def test_a_citation_holds_its_texts_as_they_are() -> None:
    made = Citation('A "set": 100 % {x}', ["Doe, Jane", "The {lab}"], "2026-02-03T04:05:06", "CC0-1.0", "AB", "1.2")
    cff = dict(line.strip("- ").split(": ", 1) for line in made.cff().splitlines() if ": " in line)
    assert json.loads(cff["title"]) == 'A "set": 100 % {x}'
    assert (cff["family-names"], cff["given-names"], cff["name"]) == ('"Doe"', '"Jane"', '"The {lab}"')
    assert (cff["date-released"], cff["license"]) == ('"2026-02-03"', '"CC0-1.0"')
    assert r'title = {{A "set": 100 \% \{x\}}}' in made.bibtex()
    assert r"author = {Doe, Jane and {The \{lab\}}}" in made.bibtex()
    assert "year = {2026}" in made.bibtex()
    assert made.licence_page == "https://creativecommons.org/publicdomain/zero/1.0/"
