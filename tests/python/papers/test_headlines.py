"""The nine headlines: every figure is a judgement's, the word turns with it, and what was not measured says so."""

import re
from functools import cache

import pytest

from support import papers_made_up as worlds
from support.papers_evidence import KINDS, PAPERS, Kind, nothing, row, run_of
from wattlock.papers.headlines import QUESTIONS, Headline, headlines
from wattlock.papers.judges import JUDGES, Judgement, judge_all
from wattlock.papers.judges.implementations import CONSTANT_TIME, ERA, HARDWARE

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
