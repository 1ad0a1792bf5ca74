"""The nine headlines: every figure is a judgement's, the word turns with it, and what was not measured says so."""

import re
from functools import cache

import pytest

from support import papers_made_up as worlds
from support.papers_evidence import KINDS, PAPERS, Kind, nothing, row, run_of
from wattlock.papers.implementations import CONSTANT_TIME, ERA, HARDWARE
from wattlock.papers.judge import Judgement, amount_band
from wattlock.papers.nine_questions import QUESTIONS, Headline, headlines
from wattlock.papers.themes import JUDGES, judge_all
from wattlock.report.papers_page import rows_of
from wattlock.study import study as studies

FIGURE = re.compile(r"[\d.,]+(?:e-?\d+)?(?: %| B)? \(-?[\d.,e-]+ to [\d.,e-]+\)")
FASTEST, CONSTANT, INSTRUCTIONS, KEY, DATA, SENDING, ENCODING, RC4, BLOCK = range(9)


@cache
def judged(kind: Kind) -> list[Judgement]:
    found = []
    for claim in PAPERS.claims:
        evidence = worlds.world(claim, kind)
        found.append(JUDGES[claim.id](evidence.papers.claim(claim.id), evidence))
    return found


def of_costs(*cases: tuple[str, float, dict[str, str]]) -> list[Headline]:
    """The headlines of a run of files: family, cost and what else the case is."""
    rows = [row(family, cost, data="text", **more) for family, cost, more in cases]
    return headlines(judge_all(run_of(rows)))


def word(headline: Headline) -> str:
    assert headline.answer is not None
    return headline.answer.word


def test_there_are_nine_questions_and_each_rests_on_claims_that_there_are() -> None:
    known = {claim.id for claim in PAPERS.claims}
    assert len(QUESTIONS) == 9
    assert all(question.claims and set(question.claims) <= known for question in QUESTIONS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_of_a_sentence_and_a_picture_is_a_judgements(kind: Kind) -> None:
    by_id = {one.claim: one for one in judged(kind)}
    answers = [(one.claims, one.answer) for one in headlines(judged(kind)) if one.answer]
    assert len(answers) >= 7
    for claims, answer in answers:
        effects = {compared.effect for claim in claims for compared in by_id[claim].compared}
        described = {effect.described() for effect in effects}
        assert set(FIGURE.findall(answer.sentence)) <= described
        assert any(figure in answer.sentence for figure in described)
        for mark in answer.marks:
            assert mark.claim in claims
            assert mark.effect in {compared.effect for compared in by_id[mark.claim].compared}


@pytest.mark.parametrize(
    ("question", "holds", "fails"),
    [
        (FASTEST, "Yes", "No"),
        (KEY, "For AES, yes", "No"),
        (DATA, "No", "Yes"),
        (RC4, "Yes", "No"),
        (BLOCK, "Yes, block = key", "Not block = key"),
    ],
)
def test_the_word_turns_with_the_claim(question: int, holds: str, fails: str) -> None:
    assert word(headlines(judged("holds"))[question]) == holds
    assert word(headlines(judged("fails"))[question]) == fails


def test_without_a_case_each_question_says_what_it_needs_and_which_command_measures_it() -> None:
    for one in headlines(judge_all(nothing())):
        assert one.answer is None
        assert one.needs
        assert one.command.startswith("wattlock papers")


def test_a_kind_of_aes_answers_its_own_question_alone() -> None:
    constant = {"provider": "rustcrypto", "path": "fixsliced"}
    found = of_costs(("aes", 3e6, constant), ("blowfish", 1e6, {"provider": "rustcrypto", "path": "portable"}))
    assert [one.answer is not None for one in found[:3]] == [False, True, False]
    answer = found[CONSTANT].answer
    assert answer is not None
    assert answer.kind == CONSTANT_TIME
    assert answer.word == "Yes"
    assert "0.333" in answer.sentence
    assert found[FASTEST].needs != found[INSTRUCTIONS].needs
    assert HARDWARE in found[INSTRUCTIONS].needs


def test_the_first_sentence_and_its_picture_are_of_the_same_ratio() -> None:
    names = ("blowfish", "aes", "rc6", "des", "3des", "rc2")
    answer = of_costs(*((name, 1e6 * 1.3**place, {}) for place, name in enumerate(names)))[FASTEST].answer
    assert answer is not None
    assert answer.axis.startswith("Blowfish over AES")
    assert answer.sentence.startswith(
        f"To encrypt text Blowfish costs {answer.marks[0].effect.described()} times what AES"
    )
    rivals = ("blowfish", "rc6", "aes", "des", "3des", "rc2")
    other = of_costs(*((name, 1e6 * 1.3**place, {}) for place, name in enumerate(rivals)))[FASTEST].answer
    assert other is not None
    assert "times what AES does" in other.sentence
    assert "RC6, its cheapest rival, costs" in other.sentence


def test_no_band_is_drawn_where_what_is_asked_is_the_side_of_1() -> None:
    """Blowfish at a third of AES's cost is cheaper, though not by what the paper has."""
    constant = {"provider": "rustcrypto", "path": "fixsliced"}
    found = of_costs(("aes", 3e6, constant), ("blowfish", 1e6, {"provider": "rustcrypto", "path": "portable"}))
    answer = found[CONSTANT].answer
    assert answer is not None
    assert answer.word == "Yes"
    (row_,) = rows_of(answer)
    assert row_.bounds is None
    assert row_.claimed is not None, "the paper's figure stands there all the same"


def test_where_the_size_is_said_the_keying_is_said_with_it() -> None:
    answer = headlines(judged("holds"))[RC4].answer
    assert answer is not None
    assert "key set-up included" in answer.sentence


def test_where_libraries_disagree_the_word_says_so_and_the_sentence_has_both() -> None:
    found = of_costs(
        *((family, cost, {}) for family, cost in (("aes", 1e6), ("blowfish", 2e6))),
        *((family, cost, {"provider": "openssl"}) for family, cost in (("aes", 2e6), ("blowfish", 1e6))),
    )
    assert found[FASTEST].answer is None, "the ranking is of six ciphers"
    names = ("blowfish", "rc6", "aes", "des", "3des", "rc2")
    both = of_costs(
        *((name, 1e6 * 1.3**place, {}) for place, name in enumerate(names)),
        *((name, 1e6 * 1.3**-place, {"provider": "openssl"}) for place, name in enumerate(names)),
    )
    answer = both[FASTEST].answer
    assert answer is not None
    assert (answer.word, answer.kind) == ("It depends on the library", ERA)
    assert "; with openssl " in answer.sentence
    assert {mark.label for mark in answer.marks} == {"libtomcrypt", "openssl"}


@pytest.mark.parametrize(("kind", "said"), [("holds", False), ("fails", True)])
def test_transfers_that_do_not_differ_are_said_not_to(kind: Kind, said: bool) -> None:
    answer = headlines(judged(kind))[SENDING].answer
    assert answer is not None
    assert ("no difference (within 1 %)" in answer.sentence) is said


def test_the_advice_on_rc4_says_that_its_own_bound_counts_for_neither() -> None:
    advice = next(one for one in judged("holds") if one.claim == "advice-rc4-100")
    assert "sizes of about 100 B count for neither" in advice.control


def rc4_and_aes(rc4: dict[str, dict[int, float]], aes: float) -> Headline:
    """The answer on RC4 where AES costs a constant a byte and RC4, by provider, what is said at each size."""
    rows = [
        row(family, cost * size_B, payload_B=size_B, provider=provider, keying="each")
        for provider, by_size in rc4.items()
        for size_B, per_byte in by_size.items()
        for family, cost in (("rc4", per_byte), ("aes", aes))
    ]
    return headlines(judge_all(run_of(rows)))[RC4]


GAINS_FROM_64 = {14: 9.0, 64: 5.0, 127: 1.0, 1500: 1.0}
GAINS_FROM_190 = {14: 9.0, 64: 5.0, 127: 4.0, 192: 3.0, 1500: 1.0}


def test_rc4_that_gains_only_from_190_bytes_on_does_not_hold_the_advice_on_100() -> None:
    """Of the sizes beyond about 100 B the first decides: what is left out is only what the word about leaves open."""
    assert word(rc4_and_aes({"libtomcrypt": GAINS_FROM_64}, 3.5)) == "Yes"
    assert word(rc4_and_aes({"libtomcrypt": GAINS_FROM_190}, 3.5)) == "No"
    both = rc4_and_aes({"libtomcrypt": GAINS_FROM_64, "openssl": GAINS_FROM_190}, 3.5).answer
    assert both is not None
    assert both.word == "It depends on the library"
    said = both.sentence.casefold()
    assert said.startswith("at the measured sizes other than about 100 b it holds with libtomcrypt, not with openssl. ")


@pytest.mark.parametrize("name", ["papers/quick", "papers/full"])
def test_the_papers_studies_measure_the_first_size_that_is_no_longer_about_100_bytes(name: str) -> None:
    about = amount_band(100).high
    assert about is not None
    for grid in studies.load(name).grid:
        if grid.keying == ["ready", "each"] and grid.payload_B:
            assert min(size for size in grid.payload_B if size > about) <= 1.05 * about
