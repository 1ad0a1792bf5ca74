"""The page of the papers: verdicts first, every claim and exhibit on it, offline, by keyboard, the same bytes twice."""

import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

import polars as pl
import pytest

from support import papers_made_up as worlds
from support import papers_run, report_frames
from support.counted_runs import M0PLUS, M4
from support.papers_run import PAPERS, material
from support.tools import missing
from support.tree import TESTS
from wattlock.papers.implementations import ERA
from wattlock.papers.judge import DECIDED, OPEN, Basis, Effect, Evidence, failing
from wattlock.papers.literature import THEMES
from wattlock.papers.material import Gathered, MaterialOptions
from wattlock.papers.nine_questions import headlines
from wattlock.papers.themes import JUDGES, judge_all, show_all
from wattlock.papers.verdicts import CoreJudged, judge_counted
from wattlock.report.papers_page import (
    LONG_LETTERS,
    SHORT,
    JudgedRuns,
    amounts,
    by_names,
    counts,
    exhibit_name,
    papers_page,
    strip,
)

LIMIT_S = 240
MOST_B = 2_500_000
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class MadeUpRuns(JudgedRuns):
    """A run that lies nowhere, so that no command finds it."""

    command = ["wattlock papers --length quick"]  # noqa: RUF012 - in place of a property


def evidence(**changes: Any) -> Evidence:
    transfers = [case.as_transfer() for case in papers_run.sent()]
    given: dict[str, Any] = {"estimates": papers_run.estimates(), "transfers": transfers, "run": "papers-quick-1"}
    return Evidence(**(given | changes))


def runs(cores: Sequence[CoreJudged] = ()) -> JudgedRuns:
    found = report_frames.result(papers_run.estimates(), pl.DataFrame(), id="papers-quick")
    header = report_frames.header(model_name="a core & <another>")
    found = replace(found, plan={**found.plan, "id": "papers-quick-1"}, header=header)
    notes = ["26% of the batches were disturbed"]
    return MadeUpRuns(
        [found.id], Gathered(evidence(), material(), [found], found.estimates, notes), MaterialOptions(), cores
    )


def made(cores: Sequence[CoreJudged] = (), **changes: Any) -> str:
    return papers_page(runs(cores), judge_all(evidence(**changes)), show_all(material()))


@pytest.fixture(scope="module")
def page() -> str:
    return made()


def test_every_claim_has_a_row_and_its_reasons_and_every_exhibit_its_place(page: str) -> None:
    table = page[page.index('id="verdict-table"') :]
    rows = table[: table.index("</table>")].count("<tr data-verdict=")
    assert rows == len(PAPERS.claims)
    for claim in PAPERS.claims:
        assert page.count(f'id="claim-{claim.id}"') == 1
        assert f'href="#claim-{claim.id}"' in page
    for one in PAPERS.exhibits:
        assert page.count(f'id="{one.id}"') == 1


def read_by_people(page: str) -> str:
    """What stands on a page in words: not its code, scripts, styles and BibTeX, and no address."""
    prose = re.sub(r"<(script|style|code|pre)\b.*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", prose)).split())


def test_negative_numbers_have_a_minus_sign_and_no_hyphen(page: str) -> None:
    for made_page in (page, papers_page(runs(), [worlds_judged("fails", one) for one in PAPERS.claims], [])):
        words = read_by_people(made_page)
        assert "−" in words
        assert re.findall(r"(?<![\w.\-–/])-[\d.]+", words) == []


def worlds_judged(kind: Any, claim: Any) -> Any:
    made_up = worlds.world(claim, kind)
    return JUDGES[claim.id](made_up.papers.claim(claim.id), made_up)


def test_papers_and_ciphers_are_read_by_their_names_and_not_by_their_ids(page: str) -> None:
    chapters = read_by_people(page[page.index('id="verdicts"') :])
    papers = [source.id for source in PAPERS.sources]
    ids = rf"(?<![\w-])(?:{'|'.join(papers)}|(?:aes|blowfish|des|3des|rsa|rijndael)\d+-\w+|rc[246]-\d[\w-]+)(?![\w-])"
    assert re.findall(ids, chapters) == []
    claims = "|".join(claim.id for claim in PAPERS.claims if "-" in claim.id)
    contradictions = chapters[chapters.index("Their own other sentences") :]
    assert re.findall(rf"(?<![\w-])(?:{claims})(?![\w-])", contradictions) == []


def test_the_lead_counts_the_verdicts(page: str) -> None:
    of = counts(judge_all(evidence()))
    assert sum(of.values()) == len(PAPERS.claims)
    lead = re.sub(r"<[^>]+>", "", page[page.index('class="lead"') :][:400]).replace("\u00a0", " ")
    assert f"{of['reproduced']} are reproduced" in lead
    assert f"{of['not reproduced']} are not; {of['depends on the implementation']} depend on the implementation" in lead
    assert f"a model explains {of['explained']}" in lead
    assert f"{of['inconclusive']} are inconclusive and {of['not tested']} not tested" in lead


def words_of(page: str, section: str) -> str:
    """A section as it is read."""
    inside = page[page.index(f'<section id="{section}"') :]
    inside = re.sub(r"<[^>]+>", " ", inside[: inside.index("</section>")])
    return " ".join(html.unescape(inside).replace("\u00a0", " ").split())


def test_the_answer_says_how_many_verdicts_rest_on_this_machine_and_how_many_on_models_and_tables(page: str) -> None:
    formatted, judgements = words_of(page, "answer"), judge_all(evidence())
    decided = Counter(one.basis for one in judgements if one.verdict in DECIDED)
    assert set(decided) == {"this machine", "the air", "their tables", "what is known"}
    starts: dict[str, Basis] = {
        "What this machine measured": "this machine",
        "wattlock’s model of the air": "the air",
        "What the papers print in tables": "their tables",
        "Arithmetic or the security data": "what is known",
    }
    for start, basis in starts.items():
        assert f"{start} decides {decided[basis]}: " in formatted
    assert "reproduced on this machine" not in formatted
    measured = [one for one in judgements if one.basis == "this machine" and one.verdict in DECIDED]
    assert all(one.evidence.startswith("measured") for one in measured)


def test_the_page_begins_with_nine_answers_that_lead_to_their_claims(page: str) -> None:
    answered = headlines(judge_all(evidence()))
    assert page.index('class="headlines"') < page.index('class="lead"') < page.index('id="verdict-table"')
    cards = re.findall(r'<article class="headline".*?</article>', page)
    assert len(cards) == len(answered) == 9
    for card, headline in zip(cards, answered, strict=True):
        targets = re.findall(r'href="#([^"]+)"', card)
        assert targets == [f"claim-{claim}" for claim in headline.claims]
        assert all(f'id="{target}"' in page for target in targets)
        read = html.unescape(re.sub(r"<[^>]+>", "", card)).replace("\u00a0", " ").replace("−", "-")
        if headline.answer is None:
            assert f"Not measured. It needs {headline.needs}." in read
            assert f"<code>{headline.command}</code>" in card
        else:
            assert f"{headline.answer.word}. {headline.answer.sentence} ({headline.answer.kind})" in read
            assert card.count('class="found"') == len(headline.answer.marks)


def test_pictures_of_the_same_axis_have_the_same_scale(page: str) -> None:
    cards = re.findall(r'<article class="headline".*?</article>', page)
    even = [re.findall(r'class="even" x1="([\d.]+)"', card) for card in cards if "Blowfish over AES, cost" in card]
    assert len(even) == 2
    assert even[0] == even[1] != []


def test_every_claim_stands_under_its_theme_with_a_strip_where_it_has_a_figure(page: str) -> None:
    judged = {one.claim: one for one in judge_all(evidence())}
    groups = re.findall(r'<tbody><tr class="theme">.*?</tbody>', page)
    assert len(groups) == len(THEMES)
    for theme, group in zip(THEMES, groups, strict=True):
        claims = [one.id for one in PAPERS.claims if one.theme == theme]
        assert re.findall(r'href="#claim-([^"]+)"', group) == claims != []
        assert group.count('class="strip"') == sum(judged[claim].effect is not None for claim in claims)


def test_a_strip_has_what_was_found_what_is_claimed_and_what_counts_as_it() -> None:
    judged = {one.claim: one for one in judge_all(evidence())}
    ratio, order = (strip(judged[one]) for one in ("rc6-vs-aes-text", "text-encrypt-ranking"))
    claim = PAPERS.claim("fragmentation")
    two_bounds = strip(JUDGES[claim.id](claim, worlds.world(claim, "holds")))
    assert [ratio.count(f'class="{one}"') for one in ("found", "interval", "counts", "claimed")] == [1, 1, 1, 1]
    assert "ratio, log scale" in ratio
    assert "claimed 0.58" in ratio
    assert (order.count('class="claimed"'), order.count('class="counts"')) == (0, 1)
    assert 'class="found"' in two_bounds
    assert 'class="counts"' not in two_bounds, "its bounds are of the time and of the energy"
    assert strip(judged["rc4-cycles"]) == ""


def test_further_figures_that_are_long_are_folded_and_each_stands_on_a_line(page: str) -> None:
    (one,) = [one for one in judge_all(evidence()) if one.claim == "rijndael-pareto"]
    assert len(one.also) > LONG_LETTERS
    claim = page.partition('id="claim-rijndael-pareto"')[2].partition('<details class="claim')[0]
    before, _, beside = claim.partition("<summary>More figures</summary>")
    assert "The paper" not in before.partition("<p>")[2].partition("</p>")[0]
    assert beside.count("<li>") >= 3


def test_a_findings_cell_names_what_does_not_hold(page: str) -> None:
    (one,) = [one for one in judge_all(evidence()) if one.claim == "text-encrypt-ranking"]
    names = failing(one, ERA, one.findings[0].says)
    assert names
    claim = page.partition('id="claim-text-encrypt-ranking"')[2].partition('<details class="claim')[0]
    assert f"not {html.escape('; '.join(names))}" in claim


def test_what_would_decide_names_the_claim_and_a_command(page: str) -> None:
    formatted = words_of(page, "unknown")
    for one in judge_all(evidence()):
        named = f"{by_names(PAPERS.claim(one.claim).says)} : it needs {by_names(one.needs)}."
        if one.command.startswith("wattlock"):
            named += f" {one.command}"
        assert (named in formatted) == (one.verdict in OPEN)


def test_many_comparisons_are_folded_and_few_are_not(page: str) -> None:
    says = {claim.id: html.escape(by_names(claim.says)) for claim in PAPERS.claims}
    for one in judge_all(evidence()):
        drawn = page.find(f"<caption>Comparisons: {says[one.claim]}</caption>", page.index(f'id="claim-{one.claim}"'))
        fold = f"<summary>All {len(one.compared)} comparisons</summary>"
        assert (drawn > 0) == (len(one.compared) > 1)
        assert (fold in page[drawn - 300 : drawn]) == (len(one.compared) > 8)


def test_the_same_run_judged_twice_gives_the_same_bytes(page: str) -> None:
    assert made() == page


def test_another_order_of_hashing_gives_the_same_bytes(page: str) -> None:
    program = "import hashlib, report.test_papers_page as t; print(hashlib.sha256(t.made().encode()).hexdigest())"
    seed = "1" if os.environ.get("PYTHONHASHSEED") == "4242" else "4242"
    known = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=known, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == hashlib.sha256(page.encode()).hexdigest()


def test_the_page_fetches_nothing_and_is_small_enough(page: str) -> None:
    assert len(page.encode()) < MOST_B
    outside = re.findall(r'(?:src|href)="(?!#|data:)([^"]+)"', re.sub(r"<script>.*?</script>", "", page, flags=re.S))
    assert outside == []
    assert "default-src 'none'" in page


def test_every_contradiction_is_on_the_page_as_a_sentence_and_leads_to_its_claims(page: str) -> None:
    section = page[page.index('<section id="contradictions"') :]
    section = section[: section.index("</section>")]
    formatted = words_of(page, "contradictions")
    assert section.count("<li>") == len(PAPERS.contradictions)
    assert "38 sentences of the papers" in formatted
    assert "and 4 of ours for what stands in their tables alone" in formatted
    for one in PAPERS.contradictions:
        by = f" ({', '.join(SHORT[paper] for paper in one.by)})" if one.by else ""
        assert f"{one.says} But{by} : {one.but}" in formatted or f"{one.says} But{by}: {one.but}" in formatted
        assert all(f'href="#claim-{claim}"' in section for claim in one.claims)


def test_text_of_a_run_is_escaped(page: str) -> None:
    assert "a core &amp; &lt;another&gt;" in page
    assert "<another>" not in page


@pytest.mark.parametrize(
    ("value", "formatted"), [(4.95e-7, "4.95 · 10⁻⁷ %"), (-3e-5, "-3.00 · 10⁻⁵ %"), (0.0, "0 %"), (0.0123, "0.0123 %")]
)
def test_a_figure_of_many_zeros_is_told_by_a_power_of_ten(value: float, formatted: str) -> None:
    assert amounts(Effect("x", "%", value, value, value))[0] == formatted


def test_a_command_within_a_note_is_set_as_code(page: str) -> None:
    assert "<code>wattlock papers --length full</code> goes so far" in page
    assert "`wattlock" not in page


def test_without_any_case_the_page_still_stands_and_judges_by_tables_alone() -> None:
    empty = papers_run.estimates().clear()
    shown = show_all(material(estimates=empty, sent=[], curves=None, capture=None))
    judgements = judge_all(evidence(estimates=empty, transfers=[]))
    html = papers_page(runs(), judgements, shown)
    assert counts(judgements)["not tested"] > 45
    assert html.count("Missing:") > 30


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("elminaam-wlan-table1", "Table 1"),
        ("elminaam-perf-fig6-9", "Figures 6 to 9"),
        ("singh-figA-C", "Figures A to C"),
        ("toldinas-fig5", "Figure 5"),
    ],
)
def test_an_exhibit_is_named_as_in_its_paper(name: str, words: str) -> None:
    assert exhibit_name(name) == words


# The accessibility checker, which `make test` installs as it does playwright.
AXE = files("axe_playwright_python") / "axe.min.js"


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What browsers see of the page with everything that may stand on it."""
    if CHROMIUM is None:
        missing("no chromium was found on the PATH")
    file = tmp_path_factory.mktemp("papers") / "papers.html"
    file.write_text(made(judge_counted([M4, M0PLUS])), encoding="utf-8")
    command = [sys.executable, "-m", "support.papers_browser", CHROMIUM, str(file), str(AXE)]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    seen: list[dict[str, Any]] = json.loads(done.stdout)
    return seen


def test_every_figure_is_drawn_before_a_script_has_run(visits: list[dict[str, Any]]) -> None:
    for visit in visits:
        assert visit["charts"] > 50
        assert visit["drawings"] == 6


def test_nothing_is_wider_than_a_phone_and_the_console_is_silent(visits: list[dict[str, Any]]) -> None:
    for visit in visits:
        assert visit["overflow_px"] == 0
        assert visit["complaints"] == []
        assert [one.partition(":")[0] for one in visit["requests"]] == ["file"] + ["data"] * (
            len(visit["requests"]) - 1
        )


def test_a_print_unfolds_every_claim(visits: list[dict[str, Any]]) -> None:
    for visit in visits:
        assert visit["unfolded"] == visit["claims"] == len(PAPERS.claims)


def test_after_printing_the_claims_are_folded_again(visits: list[dict[str, Any]]) -> None:
    assert [visit["open_after_printing"] for visit in visits] == [0, 0]


def test_a_link_lands_at_its_part_though_figures_are_drawn_above_it(visits: list[dict[str, Any]]) -> None:
    for visit in visits:
        assert len(visit["landed"]) > 20
        missed = [(link, top) for link, top, at_end in visit["landed"] if not (-1 <= top <= 40 or (at_end and top > 0))]
        assert missed == []
        assert sum(at_end for _, _, at_end in visit["landed"]) <= 2


def test_the_first_column_stays_in_sight_on_a_phone(visits: list[dict[str, Any]]) -> None:
    (phone,) = (visit for visit in visits if visit["width"] == 390)
    moved, *edges = phone["frozen"]
    assert moved == 200
    assert edges == [0, 0]


def test_the_keyboard_reaches_the_verdicts_and_sorts_them_both_ways(visits: list[dict[str, Any]]) -> None:
    for visit in visits:
        assert visit["first_focus"] == "Skip to the verdicts"
        (rising, formatted), (falling, told_back) = visit["upwards"], visit["downwards"]
        assert (formatted, told_back) == ("ascending", "descending")
        assert rising != visit["as_judged"]
        assert len(rising) == len(THEMES)
        for up, down, judged in zip(rising, falling, visit["as_judged"], strict=True):
            assert Counter(up) == Counter(judged)
            groups = list(dict.fromkeys(up))
            assert [groups.index(one) for one in up] == sorted(groups.index(one) for one in up)
            assert list(dict.fromkeys(down)) == groups[::-1]
        for group in visit["effects"]:
            numbers = [float(one) for one in group if one is not None]
            assert numbers == sorted(numbers)
            assert group[len(numbers) :] == [None] * (len(group) - len(numbers))


def test_the_first_screen_holds_all_nine_answers(visits: list[dict[str, Any]]) -> None:
    (wide,) = (visit for visit in visits if visit["width"] == 1440)
    assert wide["cards_end_px"] <= 900


def test_the_filter_keeps_the_verdicts_and_papers_that_are_ticked(visits: list[dict[str, Any]]) -> None:
    verdicts = Counter(one.verdict for one in judge_all(evidence()))
    of_toldinas = [
        one
        for one in judge_all(evidence())
        if "toldinas" in PAPERS.claim(one.claim).source and one.verdict != "not tested"
    ]
    themes = {PAPERS.claim(one.claim).theme for one in of_toldinas}
    for visit in visits:
        shown, told = visit["without"]
        assert Counter(shown) == verdicts - Counter({"not tested": verdicts["not tested"]})
        assert told == f"{len(shown)} of {len(PAPERS.claims)} claims"
        assert len(visit["of_paper"]) == len(of_toldinas) > 0
        assert all("toldinas" in papers.split() for papers in visit["of_paper"])
        assert visit["themes_of_paper"] == len(themes)
        assert visit["all"] == len(PAPERS.claims)


def test_a_claim_of_the_table_leads_to_its_reasons(visits: list[dict[str, Any]]) -> None:
    assert all(visit["opened"] for visit in visits)


def test_an_accessibility_scan_has_no_serious_finding(visits: list[dict[str, Any]]) -> None:
    for visit in visits:
        assert [one for one in visit["violations"] if one[0] in {"serious", "critical"}] == []


def test_a_shuffled_frame_has_the_same_verdicts() -> None:
    shuffled = papers_run.estimates().sample(fraction=1, shuffle=True, seed=7)
    verdicts = [one.verdict for one in judge_all(evidence(estimates=shuffled))]
    assert verdicts == [one.verdict for one in judge_all(evidence())]
