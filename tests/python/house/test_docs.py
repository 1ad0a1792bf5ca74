"""The pages: what they tell a reader to type exists, what they point to is there, what they state holds."""

import json
import math
import re
import shlex
import subprocess
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from support.tree import NET, PROBE, TREE
from wattlock import cli, errors
from wattlock.cli import VERBS, load
from wattlock.energy import device_cards
from wattlock.study import names

METHOD = ["METHOD.md", *sorted(str(page.relative_to(TREE)) for page in (TREE / "docs" / "method").glob("*.md"))]
PAGES = [
    *sorted(page.name for page in TREE.glob("*.md")),
    "benchmarks/README.md",
    *sorted(
        str(page.relative_to(TREE))
        for page in (TREE / "experiments" / "tally").rglob("*.md")
        if "target" not in page.parts
    ),
    *sorted(str(page.relative_to(TREE)) for page in (TREE / "docs").rglob("*.md")),
]
EVERYWHERE = frozenset({"--help", "--version", "--install-completion"})
OF_OTHER_PROGRAMS = {"--upgrade"}  # uv

OPTION = re.compile(r'"(--[a-z][a-z-]*)"')
LARGEST_PICTURE_B = 300_000
PLACEHOLDER = re.compile(r"[<…]|^[A-Z][A-Z-]*$|^\.\.\.$")
PATH = re.compile(r"(\.ci|benchmarks|crates|docs|python|studies|tests)/[\w./-]+")
MACHINE_PATHS = re.compile(r"(?<![\w.~])/(?:home|root|tmp|work|Users)\b")
UNFINISHED = re.compile(r"\b(todo|fixme|tbd|wip|xxx|lorem)\b", re.IGNORECASE)


def text_of(page: str) -> str:
    return (TREE / page).read_text(encoding="utf-8")


def spans_of(text: str) -> Iterator[str]:
    """Everything between backquotes outside blocks, and each line of a block with its continuation."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    for block in blocks:
        yield from block.replace("\\\n", " ").splitlines()
    outside = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    yield from (span.replace("\n", " ") for span in re.findall(r"`([^`]+)`", outside))


def words_of(span: str) -> list[str]:
    """The words of one command: without what the shell does with its input and output, and without comments."""
    try:
        words = shlex.split(span, comments=True)
    except ValueError:
        words = span.split()
    return [word for word in re.split("\0[<>|]", "\0".join(words))[0].split("\0") if word]


def commands(program: str) -> list[tuple[str, list[str]]]:
    """The page and the words behind the program's name, of each span that calls it."""
    found = []
    for page in PAGES:
        for span in spans_of(text_of(page)):
            words = words_of(span.removeprefix("Example: "))
            if words and Path(words[0]).name == program:
                found.append((page, words[1:]))
    return found


@cache
def options_of(verb: str) -> frozenset[str]:
    names = (option for parameter in load(verb).params for option in (*parameter.opts, *parameter.secondary_opts))
    return EVERYWHERE | frozenset(names)


@cache
def help_of(program: Path, *verb: str) -> str:
    if not program.is_file():
        pytest.fail(f"{program} is missing: `make test` builds it")
    return subprocess.run([program, *verb, "--help"], capture_output=True, text=True, check=True).stdout


def verbs_of(program: Path) -> set[str]:
    return set(re.findall(r"^  (\w[\w-]*) ", help_of(program).partition("Commands:")[2], re.MULTILINE)) - {"help"}


def options_below(program: Path, verb: str) -> set[str]:
    return set(re.findall(r"--[a-z][a-z-]*", help_of(program, verb))) | EVERYWHERE


def options_in(words: list[str]) -> set[str]:
    return {word.partition("=")[0] for word in words if re.match("--[a-z]", word)}


def test_every_verb_of_wattlock_that_the_pages_show_exists_with_its_options() -> None:
    shown = commands("wattlock")
    assert {words[0] for _, words in shown if words} >= set(VERBS), "a verb is on no page"
    for page, words in shown:
        if not words or PLACEHOLDER.search(words[0]) or words[0] in EVERYWHERE:
            continue
        assert words[0] in VERBS, (page, words)
        assert options_in(words) <= options_of(words[0]), (page, words)


@pytest.mark.parametrize(
    ("program", "verbs"),
    [(PROBE, {"apply", "selftest", "catalogue", "doctor", "schema"}), (NET, {"air", "capture", "frames"})],
    ids=["wattlock-probe", "wattlock-net"],
)
def test_every_verb_of_a_program_that_the_pages_show_exists_with_its_options(program: Path, verbs: set[str]) -> None:
    shown = commands(program.name)
    assert {words[0] for _, words in shown if words} >= verbs
    for page, words in shown:
        if words:
            assert words[0] in verbs_of(program), (page, words)
            assert options_in(words) <= options_below(program, words[0]), (page, words)


def test_every_option_that_stands_alone_is_one_of_some_verb() -> None:
    known = {option for verb in VERBS for option in options_of(verb)} | OF_OTHER_PROGRAMS
    for program in (PROBE, NET):
        known |= {option for verb in verbs_of(program) for option in options_below(program, verb)}
    known |= {option for file in (TREE / "benchmarks").glob("*.py") for option in OPTION.findall(file.read_text())}
    known |= set(re.findall(r"--[a-z][a-z-]*", text_of("experiments/tally/program/src/options.rs")))
    for page in PAGES:
        for span in spans_of(text_of(page)):
            if re.match("--[a-z]", span):
                assert options_in(words_of(span)) <= known, (page, span)


def test_every_rule_of_make_that_the_pages_show_exists() -> None:
    rules = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
    shown = commands("make")
    assert {words[0] for _, words in shown if words} >= {"run", "test", "check", "bench"}
    for page, words in shown:
        assert {word for word in words if "=" not in word} <= rules, (page, words)


def test_make_run_ends_by_pointing_to_the_papers_and_to_the_picture_of_their_verdicts() -> None:
    recipe = text_of("Makefile").partition("\nrun:")[2].partition("\n\n")[0]
    papers, picture = recipe.splitlines()[-2:]
    assert "$(VENV)/bin/wattlock papers $(ENERGY)" in papers
    assert "docs/verdicts.png" in picture
    assert (TREE / "docs" / "verdicts.png").is_file()
    assert "docs/verdicts.png" in "".join(text_of("README.md").splitlines()[:25]), "not at the head"


def test_the_readme_takes_at_most_150_lines_and_shows_its_five_journeys() -> None:
    assert len(text_of("README.md").splitlines()) <= 150
    journeys = text_of("README.md").partition("## Five journeys")[2].partition("\n## ")[0].split("\n### ")[1:]
    assert len(journeys) == 5
    assert all("```\nwattlock " in journey and re.search(r"More:\s\[", journey) for journey in journeys)


def test_the_readme_prints_the_row_of_every_cipher_as_the_result_does() -> None:
    rows = re.findall(r"^[a-z0-9-]+ +encrypt .* resolved$", text_of("README.md"), re.MULTILINE)
    assert len(rows) == 9
    assert all(row in text_of("docs/results/first-look.md") for row in rows)


def test_studies_and_cards_that_the_pages_name_come_along() -> None:
    for page, words in commands("wattlock"):
        for option, value in pairwise(words):
            if PLACEHOLDER.search(value) or value.startswith("-") or value.endswith(".toml"):
                continue
            if option == "run":
                assert value in names(), (page, words)
            if option == "--device":
                assert value in device_cards.names(), (page, words)


def anchors_of(page: Path) -> set[str]:
    """The names by which a page's headings are linked to."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_and_every_path_leads_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if re.match("https?://", target):
            continue
        path, _, anchor = target.partition("#")
        file = (TREE / page).parent.joinpath(path).resolve() if path else TREE / page
        assert file.exists(), (page, target)
        assert file.is_relative_to(TREE), (page, target)
        assert not anchor or anchor in anchors_of(file), (page, target)
    paths = [span.rstrip("/") for span in spans_of(text_of(page)) if PATH.fullmatch(span)]
    assert [path for path in paths if not (TREE / path).exists()] == []


HAS_PLACEHOLDER = re.compile(r"[\w./-]+/[\w.-]*<[a-z]+>[\w./-]*")


@pytest.mark.parametrize("page", sorted((TREE / "docs" / "add").glob("*.md")), ids=lambda page: page.stem)
def test_a_page_that_says_where_to_add_names_folders_and_files_that_are_there(page: Path) -> None:
    spans = [span for span in spans_of(page.read_text(encoding="utf-8")) if "/" in span and " " not in span]
    paths = [span for span in spans if PATH.fullmatch(span) or HAS_PLACEHOLDER.fullmatch(span)]
    assert len(paths) >= 2, "a page that names no place helps nobody"
    assert [path for path in paths if not (TREE / path.partition("<")[0].rpartition("/")[0]).is_dir()] == []


def test_a_page_that_says_where_to_add_names_things_that_stand_in_their_files() -> None:
    pages = " ".join(" ".join(text_of(page) for page in PAGES if page.startswith("docs/add/")).split())
    named = re.findall(r"`(\w+)` (?:of|in) `([\w./]+\.(?:py|rs))`", pages)
    assert len(named) >= 6
    assert [(name, file) for name, file in named if not re.search(rf"\b{name}\b", text_of(file))] == []


def test_contributing_links_every_page_that_says_how_to_add() -> None:
    linked = set(re.findall(r"\]\((docs/add/[^)]+)\)", text_of("CONTRIBUTING.md")))
    assert linked == {page for page in PAGES if page.startswith("docs/add/")}


def test_the_site_has_every_page_once() -> None:
    listed = re.findall(r"^ +- (?:.+: )?(\S+\.md)$", text_of("mkdocs.yml"), re.MULTILINE)
    assert sorted(listed) == sorted(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_a_list_and_a_table_begin_after_an_empty_line(page: str) -> None:
    text = re.sub(r"^```.*?^```", "", text_of(page), flags=re.DOTALL | re.MULTILINE)
    begun = [
        line
        for before, line in pairwise(text.splitlines())
        if re.match(r"- |\d+\. |\|", line) and not re.match(r"\s*$|\s*- |\s*\d+\. |\||#|\s+\S|<!--", before)
    ]
    assert begun == [], "the site would make a paragraph of it"


def test_every_page_of_the_method_is_linked_from_its_summary() -> None:
    linked = set(re.findall(r"\]\((docs/method/[^)]+)\)", text_of("METHOD.md")))
    assert linked == set(METHOD) - {"METHOD.md"}


def test_the_summary_of_the_method_takes_two_screens() -> None:
    assert len(text_of("METHOD.md").splitlines()) <= 100


@pytest.mark.parametrize("page", sorted((TREE / "docs" / "results").glob("*.md")), ids=lambda page: page.stem)
def test_a_result_of_a_machine_says_when_and_on_which(page: Path) -> None:
    if page.stem == "mutants":  # of the tests, not of a machine
        return
    assert re.search(r"^- \*\*Date\*\*: 20\d\d-\d\d-\d\d$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert "- **Machine**: " in page.read_text(encoding="utf-8")


def test_the_picture_of_the_report_stays_small() -> None:
    assert (TREE / "docs" / "report.png").stat().st_size < LARGEST_PICTURE_B


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_no_path_of_a_machine_and_leaves_nothing_unfinished(page: str) -> None:
    assert MACHINE_PATHS.findall(text_of(page)) == []
    assert UNFINISHED.findall(text_of(page)) == []


def test_the_table_of_exit_codes_has_those_of_the_program_each_once() -> None:
    described = [int(code) for code in re.findall(r"\| (\d+) \|", text_of("docs/reference/exit-codes.md"))]
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.WattlockError)
    ]
    assert sorted(described) == sorted({0, cli.USAGE, cli.BUG, *(kind.exit_code for kind in kinds)})


STATED = [
    ("12,000 dependent multiplications", "crates/probe/src/clock/mod.rs", "CANARY_MULTIPLICATIONS: u64 = 12_000;"),
    (
        "3 cycles each",
        "crates/probe/src/clock/x86_64.rs",
        "is_three(vendor.ebx, family, model, core_type).then_some(3)",
    ),
    ("48,000 independent additions", "crates/probe/src/clock/mod.rs", "BURST_ADDITIONS: u64 = 48_000;"),
    ("| batch | 100 us |", "python/wattlock/run/process.py", "BATCH_NS = 100_000"),
    ("| warm-up | 20 us, at least one call |", "crates/bench/src/share/timing.rs", "WARM_NS: Nanoseconds = 20_000;"),
    ("| tries | 3 |", "crates/engine/src/shard.rs", "TRIES: u32 = 3;"),
    ("more than 4096 B", "crates/bench/src/constants.rs", "WHOLE_PAYLOAD_B: u64 = 4096;"),
    ("differ by more than 2 %", "crates/engine/src/canary.rs", "CLOCK_CHANGE_PERCENT: u64 = 2;"),
    ("over 2 % more of its canary", "crates/engine/src/canary.rs", "NEIGHBOUR_PERCENT: u64 = 2;"),
    ("over 2 % more of its canary", "python/wattlock/analysis/within.py", 'constant("neighbour_percent")'),
    ("over 75 % more of its canary", "crates/engine/src/state.rs", "LICENCE_PERCENT: u64 = 75;"),
    ("granted, 2 ms a visit at most", "crates/bench/src/share/granted.rs", "STATE_NS: Nanoseconds = 2_000_000;"),
    ("a burst of 12,000 wide operations", "crates/probe/src/clock/x86_64.rs", "WITNESS_ROUNDS: u64 = 1_500;"),
    ("at least 3 undisturbed rounds", "python/wattlock/analysis/within.py", "LEAST_CLEAN_ROUNDS = 3"),
    ("A case has 24 visits", "python/wattlock/run/process.py", "\nVISITS = 24"),
    ("8 to 96", "python/wattlock/run/process.py", "LEAST_VISITS, MOST_VISITS = 8, 96"),
    ("about 200 segments", "python/wattlock/run/process.py", "SEGMENTS_A_PROCESS = 200"),
    ("1.5 interquartile ranges", "python/wattlock/analysis/within.py", "FENCE = 1.5"),
    ("at least 4 rounds at each", "python/wattlock/analysis/within.py", "LEAST_ROUNDS_AT_A_PLACE = 4"),
    ("by more than 0.3 % and five standard errors", "python/wattlock/analysis/within.py", "APART_ERRORS = 0.003, 5.0"),
    ("lies beyond 0.5 %", "python/wattlock/analysis/estimate.py", "LINEARITY_BOUND = 0.005"),
    ("excludes the truth, by more than 0.3 %", "python/wattlock/analysis/self_checks.py", "MISS = 0.003"),
    ("is wider than ±0.5 %", "python/wattlock/analysis/self_checks.py", "MATTERS = 0.005"),
    ("the greater of 0.5 %", "python/wattlock/analysis/comparison.py", "SMALLEST_CLAIM = 0.005"),
    ("After 5, 8, 12, 20 and 30 processes", "python/wattlock/study/study.py", "default=[5, 8, 12, 20, 30]"),
]


@pytest.mark.parametrize(("statement", "file", "code"), STATED)
def test_a_constant_that_the_method_states_is_the_one_in_the_code(statement: str, file: str, code: str) -> None:
    assert statement in " ".join(" ".join(text_of(page) for page in METHOD).split())
    assert code in text_of(file), f"{file} has changed: the method says {statement!r}"


@cache
def catalogue() -> dict[str, dict[str, Any]]:
    """The first row of each id."""
    listed = subprocess.run([PROBE, "catalogue", "--format", "json"], capture_output=True, check=True)
    return {row["id"]: row for row in reversed(json.loads(listed.stdout))}


def test_the_page_of_providers_counts_the_catalogue_as_it_is() -> None:
    kinds = [row["mode"] for row in catalogue().values()]
    ciphers = [row for row in catalogue().values() if row["mode"] not in {"establish", "frame"}]
    families = {row["family"] for row in ciphers}
    aeads = {row["family"] for row in ciphers if row["mode"] == "aead"}
    numbers = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    text = " ".join(text_of("docs/reference/providers.md").split())
    assert f"{len(ciphers)} ids of {len(families)} families, {numbers[len(aeads)]} of them AEADs" in text
    assert f"{numbers[kinds.count('establish')]} schemes that establish keys or sign" in text
    assert f"{numbers[kinds.count('frame')]} protections of frames" in text
    assert f"there are {len(catalogue())} ids and" in text


def test_the_ledger_of_the_guide_is_the_programs_and_adds_up(capsys: pytest.CaptureFixture[str]) -> None:
    block = text_of("docs/guide/link.md").split("```\nline ", 1)[1].split("```", 1)[0]
    rows = [re.split(r" {2,}", line.strip()) for line in block.strip().splitlines()[1:]]
    *parts, total = [[float(row[2]), float(row[3]), float(row[5])] for row in rows]
    octets, nanoseconds, joules = (sum(column) for column in zip(*parts, strict=True))
    assert (octets, nanoseconds) == (total[0], total[1])
    rounded_J = sum(10.0 ** (math.floor(math.log10(column)) - 3) / 2 for *_, column in [*parts, total] if column)
    assert joules == pytest.approx(total[2], abs=rounded_J)
    assert cli.answer(["link", "adhoc-open", "--radio", "intel-5300"]) == 0
    assert "line " + block in capsys.readouterr().out


@pytest.mark.parametrize("page", sorted((TREE / "crates").glob("*/README.md")), ids=lambda page: page.parent.name)
def test_a_crates_page_has_no_link_that_breaks_outside_the_tree(page: Path) -> None:
    """It is shown by crates.io and docs.rs too, where nothing lies beside it."""
    links = re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
