"""What a judge says: bounds, digits and the parts of a sentence, and at which end of an interval a verdict turns."""

import math
from collections.abc import Sequence
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import papers_made_up as worlds
from support.papers_evidence import PAPERS, about, nothing
from wattlock.analysis.effects import Ratio
from wattlock.papers import judge
from wattlock.papers.implementations import CONSTANT_TIME, ERA, HARDWARE
from wattlock.papers.judge import Bounds, ClaimComparison, Effect, Judgement
from wattlock.papers.themes import JUDGES

CLAIM = PAPERS.claim("text-encrypt-ranking")
SAYS = CLAIM.says


def made(implementation: str = "as built", value: float = 2.0, **more: object) -> ClaimComparison:
    what = str(more.get("what", "what it takes"))
    holds, bounds = more.get("holds", True), more.get("bounds", Bounds(1, 3))
    assert holds is None or isinstance(holds, bool)
    assert bounds is None or isinstance(bounds, Bounds)
    return ClaimComparison(
        implementation, str(more.get("cases", "a")), Effect(what, "1", value, value, value), holds, bounds
    )


@pytest.mark.parametrize(
    ("bounds", "described"),
    [
        (Bounds(None, 5, "%"), "at most 5 % (our bound)"),
        (Bounds(70, None, "%", ours=False), "above 70 % (the paper’s bound)"),
        (Bounds(1, None), "above 1 (our bound)"),
        (Bounds(9, 9), "9 (our bound)"),
        (Bounds(75, 125, "B"), "75 to 125 B (our bound)"),
        (Bounds(0.95, 1, of="of each key by itself"), "of each key by itself 0.95 to 1 (our bound)"),
    ],
)
def test_bounds_are_told_with_their_unit_and_whose_they_are(bounds: Bounds, described: str) -> None:
    assert bounds.described() == described


@pytest.mark.parametrize(
    ("value", "described"),
    [
        (0.12345, "0.123"),
        (999, "999"),
        (999.7, "1,000"),
        (1000, "1,000"),
        (-1234.4, "-1,234"),
        (999_999, "999,999"),
        (1e6, "1e+06"),
        (-2.5e6, "-2.5e+06"),
    ],
)
def test_what_people_count_has_no_exponent_and_all_else_three_digits(value: float, described: str) -> None:
    assert Effect("a", "1", value, value, value).described() == described


def test_a_figure_is_told_with_its_unit_and_its_interval_unless_it_is_exact() -> None:
    assert Effect("a", "%", 5, 4, 6).described() == "5 % (4 to 6)"
    assert Effect("a", "1", 5, 4, 6).described() == "5 (4 to 6)"
    assert Effect("a", "uJ", 5, 5, 5).described() == "5 uJ"
    assert judge.percent_effect("a", Ratio(1.5, 1.25, 2.0)) == ("a", "%", 50, 25, 100)
    assert judge.ratio_effect("a", Ratio(1.5, 1.25, 2.0)) == ("a", "1", 1.5, 1.25, 2.0)


def test_a_model_explains_or_fails_to_and_what_cannot_be_told_is_open_either_way() -> None:
    said = [(judge.verdict(holds=one), judge.verdict(holds=one, by_model=True)) for one in (True, False, None)]
    assert said == [
        ("reproduced", "explained"),
        ("not reproduced", "not explained"),
        ("inconclusive", "inconclusive"),
    ]


@pytest.mark.parametrize(
    ("low", "high", "holds"),
    [
        (1, 3, True),
        (1.5, 2, True),
        (0.9, 3, None),
        (1, 3.1, None),
        (0.5, 1, None),
        (3, 4, None),
        (0.5, 0.99, False),
        (3.01, 4, False),
        (0, 9, None),
        (math.nan, 2, None),
        (2, math.nan, None),
    ],
)
def test_bounds_themselves_count_as_within(low: float, high: float, holds: bool | None) -> None:
    assert judge.within(low, high, 1, 3) is holds


@pytest.mark.parametrize(
    ("low", "high", "holds"), [(1.01, 2, True), (1, 2, None), (0.5, 1.01, None), (0.5, 1, False), (1, 1, False)]
)
def test_what_lies_on_a_bound_is_not_above_it(low: float, high: float, holds: bool | None) -> None:
    assert judge.above(low, high, 1) is holds


def test_an_open_side_takes_any_figure() -> None:
    assert judge.inside(-1e9, 5, Bounds(None, 5)) is True
    assert judge.inside(5.1, 6, Bounds(None, 5)) is False
    assert judge.inside(5, 1e9, Bounds(5, None)) is True
    assert judge.inside(1, 4.9, Bounds(5, None)) is False


def test_bands_are_as_wide_as_they_are_said_to_be() -> None:
    # The cube root of 8 is 2, so a third of its logarithm less or more is 4 or 16.
    assert judge.effect_band(8)[:2] == pytest.approx((4, 16))
    assert judge.effect_band(1 / 8)[:2] == pytest.approx((1 / 16, 1 / 4))
    assert judge.percent_band(700)[:3] == (about(300), about(1500), "%")
    assert judge.amount_band(100)[:3] == (75, 125, "1")
    assert judge.amount_band(-1)[:2] == (-1.25, -0.75)
    assert judge.amount_band(100, 0.01, "B")[:3] == (99, 101, "B")


def test_what_is_at_hand_and_what_was_said_of_it_stay_as_they_are() -> None:
    evidence = nothing()
    found = judge.judged(CLAIM, "e", [made()], control="c", needs="n")
    for whole, name in ((evidence, "run"), (found, "verdict")):
        with pytest.raises(FrozenInstanceError):
            setattr(whole, name, "other")


DESCRIBED = {
    "text-encrypt-ranking": "above 1 (our bound)",
    "audio-ranking": "above 1 (our bound)",
    "image-ranking": "above 1 (our bound)",
    "data-type": "-1 to 1 % (our bound)",
    "asymmetric-vs-symmetric": "100 to 10,000 (our bound)",
    "encoding": "-5 to 5 % (our bound)",
    "aes-key-size-clear": "above 1 % (our bound)",
    "aes-key-size-small": "0 to 10 % (our bound)",
    "rc4-key-size": "-1 to 1 % (our bound)",
    "long-key-advice": "above -10 % (our bound)",
    "rijndael-pareto": "above 1 (our bound)",
    "rc4-small-cpu": "above 1 (our bound)",
    "rc4-aes-crossover": "75 to 125 B (our bound)",
    "hybrid-saves": "at most 0 % (our bound)",
    "fragmentation": "the time above that of whole packets, the energy at most 0 % (our bound)",
    "packet-sizes": "above 0 % (our bound)",
    "3des-battery": "33.8 to 56.2 % (our bound)",
    "transmission-dominates": "0.5 to 1 (our bound)",
    "poor-signal": "above 70 % (the paper’s bound)",
    "ciphertext-faster-than-plaintext": "9 (our bound)",
    "advice-blowfish-rc6": "at most 0 % (our bound)",
    "advice-aes-decrypt-often": "at most 1 (our bound)",
    "advice-rc4-100": "at most 0 % (our bound)",
}


@pytest.mark.parametrize("name", list(DESCRIBED))
def test_a_claim_is_told_with_what_it_was_held_against(name: str) -> None:
    claim = PAPERS.claim(name)
    bounds = JUDGES[name](claim, worlds.world(claim, "holds")).compared[0].bounds
    assert bounds is not None
    assert bounds.described() == DESCRIBED[name]


# ---------- a sentence


def said(compared: list[ClaimComparison], also: str = "") -> str:
    return judge.judged(CLAIM, "measured time", compared, control="c", needs="n", also=also).sentence


def test_a_sentence_has_the_figure_where_it_was_found_the_claim_and_its_bounds() -> None:
    whole = f"What it takes is 2 with a, as built; the claim: {SAYS}. What counts as the claim: 1 to 3 (our bound)."
    assert said([made()]) == whole
    assert said([made()], also="And so on.") == f"{whole} And so on."
    assert said([made(bounds=None)]) == f"What it takes is 2 with a, as built; the claim: {SAYS}."
    # An id stays as it is written.
    assert said([made(what="rsa2048-oaep over AES")]).startswith("rsa2048-oaep over AES is 2")


def test_what_other_comparisons_give_is_left_to_the_table() -> None:
    assert said([made(), made(ERA, 3.0, cases="b"), made(ERA, 5.0, cases="c", holds=False)]) == said([made()])


@pytest.mark.parametrize(
    ("low", "high", "described"), [(5, math.inf, "above 5 B"), (-math.inf, 5, "below 5 B"), (4, 6, "5 B (4 to 6)")]
)
def test_a_figure_beyond_what_was_measured_is_told_as_lying_there(low: float, high: float, described: str) -> None:
    assert Effect("a", "B", 5, low, high).described() == described


def part(holds: bool | None, value: float) -> judge.PairEffect:
    return judge.PairEffect(str(value), Effect("a", "1", value, value, value), holds)


@pytest.mark.parametrize(
    ("parts", "holds", "value"),
    [
        ([(True, 3.0), (True, 2.0)], True, 2.0),
        # The one that fails is told, however far another is that can't be told.
        ([(True, 3.0), (False, 0.9), (None, 0.5)], False, 0.9),
        ([(None, 0.9), (True, 0.5)], None, 0.9),
    ],
)
def test_of_several_parts_the_one_is_told_that_decides(
    parts: list[tuple[bool | None, float]], holds: bool | None, value: float
) -> None:
    found = judge.together([part(*one) for one in parts], lambda one: -one.effect.value)
    assert (found[0], found[1].value) == (holds, value)


# ---------- kinds, libraries, findings

DEPENDS = "depends on the implementation"


def of_kinds(*holds: tuple[str, str, str, bool | None]) -> Judgement:
    """A judgement by comparisons: of each its finding, kind, library, and whether it holds."""
    findings = list(dict.fromkeys(one[0] for one in holds))
    bounds, two = Bounds(1, 3), Effect("what it takes", "1", 2, 2, 2)
    compared = [ClaimComparison(kind, of, two, hold, bounds, of, finding) for finding, kind, of, hold in holds]
    return judge.judged_by_kind(CLAIM, "measured time", findings, compared, control="c", needs="n")


def a(*holds: bool | None, kind: str = ERA) -> list[tuple[str, str, str, bool | None]]:
    """One finding, by libraries x, y, z."""
    return [("a", kind, library, hold) for library, hold in zip("xyz", holds, strict=False)]


@pytest.mark.parametrize(
    ("holds", "told"),
    [
        ((True,), "reproduced"),
        ((False,), "not reproduced"),
        ((None,), "inconclusive"),
        ((True, True), "reproduced"),
        ((True, False), DEPENDS),
        ((False, True, None), DEPENDS),
        ((True, None), "reproduced"),
        ((None, False), "not reproduced"),
    ],
)
def test_a_findings_answer_is_that_of_the_libraries_that_can_be_told(holds: tuple[bool | None, ...], told: str) -> None:
    assert of_kinds(*a(*holds)).verdict == told


def test_the_papers_kind_decides_and_the_others_have_their_own_answers() -> None:
    found = of_kinds(*a(False, False), *a(True, kind=CONSTANT_TIME), *a(True, None, kind=HARDWARE))
    assert found.verdict == "not reproduced"
    assert found.findings[0].answers == {ERA: "not reproduced", CONSTANT_TIME: "reproduced", HARDWARE: "reproduced"}
    assert of_kinds(*a(True, kind=HARDWARE)).verdict == "not tested"


def test_where_libraries_disagree_it_says_which_of_them_say_what() -> None:
    assert "It holds with x, z, and not with y." in of_kinds(*a(True, False, True)).sentence
    both = of_kinds(*a(True, False), ("b", ERA, "x", True))
    assert both.verdict == DEPENDS
    assert "A: it holds with x, and not with y." in both.sentence


@pytest.mark.parametrize(
    ("b", "told"),
    [(True, "reproduced"), (False, "not reproduced"), (None, "inconclusive")],
)
def test_a_claim_needs_all_its_findings(b: bool | None, told: str) -> None:
    found = of_kinds(*a(True, True), ("b", ERA, "x", b))
    assert found.verdict == told
    assert found.compared[0].finding == ("a" if b is True else "b")
    assert found.effect == found.compared[0].effect


LIBRARIES = ("built in", "x", "y")
WORLDS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(LIBRARIES), st.sampled_from([True, False, None])),
    min_size=1,
    unique_by=lambda one: one[:2],
)


@given(WORLDS, st.sampled_from(LIBRARIES[1:]))
def test_taking_a_library_away_never_turns_reproduced_into_not_reproduced_or_back(
    world: list[tuple[str, str, bool | None]], away: str
) -> None:
    def told(libraries: Sequence[str]) -> str:
        bounds, two = Bounds(1, 3), Effect("what it takes", "1", 2, 2, 2)
        compared = [
            ClaimComparison(ERA, library, two, holds, bounds, library, finding)
            for finding, library, holds in world
            if library in libraries
        ]
        return judge.judged_by_kind(CLAIM, "e", ["a", "b", "c"], compared, control="c", needs="n").verdict

    whole, less = told(LIBRARIES), told([one for one in LIBRARIES if one != away])
    assert {whole, less} != {"reproduced", "not reproduced"}


def test_only_an_open_verdict_asks_for_more() -> None:
    def asks(holds: bool | None) -> tuple[str, str, str]:
        found = judge.judged(
            CLAIM, "e", [made(holds=holds)], control="c", needs="n", ground=judge.Ground(unsure=("longer", "do"))
        )
        return found.verdict, found.needs, found.command

    assert asks(True) == ("reproduced", "", "")
    assert asks(False) == ("not reproduced", "", "")
    assert asks(None) == ("inconclusive", "longer", "do")
    open_one = judge.judged(CLAIM, "e", [made(holds=None)], control="c", needs="n")
    assert (open_one.needs, open_one.command) == (
        "a narrower interval: this one holds both",
        "wattlock papers --length full",
    )


def test_without_a_comparison_a_claim_is_not_tested_and_says_what_it_needs() -> None:
    found = judge.judged(CLAIM, "e", [], control="c", needs="cases", command="do", ground=judge.Ground("the air"))
    assert found.sentence == f"Nothing at hand decides whether {SAYS}: it needs cases."
    assert (found.verdict, found.effect, found.compared) == ("not tested", None, ())
    assert (found.needs, found.command, found.control) == ("cases", "do", "c")
    assert (found.evidence, found.basis) == ("nothing", "the air")


def test_what_another_machine_found_stands_beside_and_holds_nothing() -> None:
    claim = PAPERS.claim("aes-low-power-devices")
    needs = "a run on a handheld or a microcontroller (this one is of a computer)"
    nothing_here = f"Nothing at hand decides whether {claim.says}: it needs {needs}."
    found = judge.of_another_machine(claim, nothing(), [made(), made(ERA, 3.0, cases="b")], control="c")
    assert found.sentence == (
        f"{nothing_here} Beside it, here: what it takes is 2 (a, as built); what it takes is 3 (b, {ERA})."
    )
    assert [(one.holds, one.bounds) for one in found.compared] == [(None, None), (None, None)]
    assert (found.needs, found.command) == (needs, "wattlock papers --machine handheld")
    assert judge.of_another_machine(claim, nothing(), [], control="c").sentence == nothing_here
