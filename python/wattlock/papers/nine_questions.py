"""What people ask of the papers first: nine questions, each answered by the judgements it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from wattlock.papers.implementations import BUILT_IN, CONSTANT_TIME, ERA, HARDWARE, KINDS, SHORT, Kind
from wattlock.papers.judge import (
    DEPENDS,
    STUDY,
    Bounds,
    ClaimComparison,
    Effect,
    Judgement,
    Verdict,
    above,
    all_hold,
    over_findings,
)

Judged = Mapping[str, Judgement]
MOST_MARKS = 6
NEGLIGIBLE_PERCENT = 1.0
"""A longer key that costs no more than this costs nothing: as its judges have it."""
WORDS: Mapping[Verdict, str] = {
    "reproduced": "Yes",
    "explained": "Yes, by the model",
    "not reproduced": "No",
    "not explained": "Not by the model",
    DEPENDS: "It depends on the library",
    "inconclusive": "Not decided",
}


class HeadlineFigure(NamedTuple):
    """A figure of a headline's picture, as the judgement of `claim` has it, and what it was compared with.

    * `has_band`: whether what counts as the claim is drawn: not where the question is another than the claim.
    """

    label: str
    claim: str
    effect: Effect
    bounds: Bounds | None = None
    has_band: bool = True


class HeadlineAnswer(NamedTuple):
    """An answer: a word, a sentence with its figures, the kind of implementation, and what the picture shows.

    * `axis`: what the picture's axis counts; `line`: where nothing differs, if anywhere.
    """

    word: str
    sentence: str
    kind: str
    axis: str
    line: float | None
    marks: tuple[HeadlineFigure, ...]


class Headline(NamedTuple):
    """A question with its answer; without one, what it would need and the command that measures it.

    * `claims`: ids of the judgements that the answer rests on, the first first.
    """

    question: str
    claims: tuple[str, ...]
    answer: HeadlineAnswer | None
    needs: str = ""
    command: str = ""


class HeadlineQuestion(NamedTuple):
    """A question, the claims that it rests on, and what makes its answer of their judgements."""

    text: str
    claims: tuple[str, ...]
    answer: Callable[[Judged], HeadlineAnswer | None]
    needs: str


def headlines(judgements: Iterable[Judgement]) -> list[Headline]:
    """The nine questions in their order, answered where the judgements do."""
    judged = {judgement.claim: judgement for judgement in judgements}
    found = []
    for question in QUESTIONS:
        answer = question.answer(judged)
        commands = (judged[claim].command for claim in question.claims)
        command = next((command for command in commands if command.startswith("wattlock")), STUDY)
        lacking = (question.needs, command) if answer is None else ("", "")
        found.append(Headline(question.text, question.claims, answer, *lacking))
    return found


def of_kind(judgement: Judgement, kind: Kind, finding: str = "") -> list[ClaimComparison]:
    """The deciding comparisons of a kind, of one finding where it is named."""
    comparisons = [
        comparison
        for comparison in judgement.compared
        if comparison.implementation == kind and comparison.bounds is not None
    ]
    return [comparison for comparison in comparisons if not finding or comparison.finding == finding]


def of_first_kind(judgement: Judgement, finding: str = "") -> list[ClaimComparison]:
    """The deciding comparisons of the first kind that has any: the papers' own, where it was measured."""
    return next((comparisons for kind in KINDS if (comparisons := of_kind(judgement, kind, finding))), [])


def _libraries(compared: Sequence[ClaimComparison]) -> dict[str, ClaimComparison]:
    """The first comparison of each library."""
    first: dict[str, ClaimComparison] = {}
    for comparison in compared:
        first.setdefault(comparison.library, comparison)
    return first


def _over_libraries(figure: str, compared: Sequence[ClaimComparison]) -> str:
    """A sentence with the first library's figure, and the range of the others'; `figure`: with {} for the number."""
    first, *others = _libraries(compared).values()
    sentence = f"{figure.format(first.effect.described())}, with {_named(first.library)}"
    if others:
        effects = sorted((comparison.effect for comparison in others), key=lambda effect: effect.value)
        ends = [_without_interval(effect) for effect in (effects[0], effects[-1])]
        whose = _named(others[0].library) if len(others) == 1 else f"{len(others)} other libraries"
        sentence += f"; with {whose} {' to '.join(dict.fromkeys(ends))}"
    return f"{sentence}."


def _without_interval(effect: Effect) -> str:
    return (effect if effect.beyond else effect._replace(low=effect.value, high=effect.value)).described()


def _named(library: str) -> str:
    return "the built-in code" if library == BUILT_IN else library


def _marks(claim: str, compared: Iterable[ClaimComparison]) -> tuple[HeadlineFigure, ...]:
    """A mark for each library."""
    by_library = _libraries(list(compared))
    return tuple(
        HeadlineFigure(name, claim, comparison.effect, comparison.bounds)
        for name, comparison in list(by_library.items())[:MOST_MARKS]
    )


def _cheaper(compared: Iterable[ClaimComparison]) -> Verdict:
    """Whether the numerator of ratios costs less, over all libraries."""
    sides = {above(-comparison.effect.high, -comparison.effect.low, -1.0) for comparison in compared} - {None}
    if len(sides) > 1:
        return DEPENDS
    return {True: "reproduced", False: "not reproduced", None: "inconclusive"}[sides.pop() if sides else None]  # type: ignore[return-value]


def _fastest(judged: Judged) -> HeadlineAnswer | None:
    """Blowfish before all others, by the papers' kind; the picture has it over AES."""
    ranking = judged["text-encrypt-ranking"]
    ratios = of_kind(judged["blowfish-vs-aes-text"], ERA)
    if not ranking.findings or not ratios:
        return None
    first = ranking.findings[0]
    comparisons = of_kind(ranking, ERA, first.says)
    if not comparisons:
        return None
    rival = comparisons[0].effect.what.partition(" over ")[0]
    # Sentence and picture are both of Blowfish over AES.
    sentence = _over_libraries("To encrypt text Blowfish costs {} times what AES does", ratios)
    if rival != "AES":
        sentence += " " + _over_libraries(
            f"{rival}, its cheapest rival, costs {{}} times what Blowfish does", comparisons
        )
    return HeadlineAnswer(WORDS[first.answers[ERA]], sentence, ERA, *OVER_AES, _marks("blowfish-vs-aes-text", ratios))


OVER_AES = ("Blowfish over AES, cost of a byte", 1.0)


def _over_aes(kind: Kind) -> Callable[[Judged], HeadlineAnswer | None]:
    """Blowfish over AES with AES of a kind."""

    def answer(judged: Judged) -> HeadlineAnswer | None:
        claim = "blowfish-vs-aes-text"
        comparisons = of_kind(judged[claim], kind)
        if not comparisons:
            return None
        sentence = _over_libraries("To encrypt text Blowfish costs {} times what AES does", comparisons)
        # Asked is who is cheaper, on which side of 1, and not whether it is by as much as the paper has it.
        marks = tuple(mark._replace(has_band=False) for mark in _marks(claim, comparisons))
        return HeadlineAnswer(WORDS[_cheaper(comparisons)], sentence, kind, *OVER_AES, marks)

    return answer


def _key_size(judged: Judged) -> HeadlineAnswer | None:
    """What the longest key costs over the shortest: AES of each kind, then the other ciphers."""
    aes = "aes-key-size-clear"
    kinds = {
        kind: kind_comparisons[0].effect for kind in KINDS[:-1] if (kind_comparisons := of_kind(judged[aes], kind))
    }
    if not kinds:
        return None
    claims = {"RC6": "rc6-key-size", "RC4": "rc4-key-size", "Blowfish": "blowfish-key-tradeoff"}
    others = [
        HeadlineFigure(name, claim, kind_comparisons[0].effect)
        for name, claim in claims.items()
        if (kind_comparisons := of_first_kind(judged[claim]))
    ]
    kind, first = next(iter(kinds.items()))
    matters = judged[aes].findings[0].answers[kind]
    none = [mark.label for mark in others if max(abs(mark.effect.low), abs(mark.effect.high)) <= NEGLIGIBLE_PERCENT]
    rest = f" For {_listed(none)} it costs nothing (within {NEGLIGIBLE_PERCENT:g} %)." if none else ""
    some = [f"{mark.label} {mark.effect.described()}" for mark in others if mark.label not in none]
    rest += f" For {_listed(some)}." if some else ""
    word = {"reproduced": "For AES, yes"}.get(matters, WORDS[matters])
    marks = (*(HeadlineFigure(f"AES, {SHORT[kind]}", aes, effect) for kind, effect in kinds.items()), *others)
    sentence = f"{_capital(first.what)}: {first.described()}.{rest}"
    return HeadlineAnswer(word, sentence, kind, "longest over shortest key, %", 0.0, marks)


def _data_type(judged: Judged) -> HeadlineAnswer | None:
    """What other data cost over text at equal size."""
    judgement = judged["data-type"]
    comparisons = of_first_kind(judgement)
    if not comparisons:
        return None
    of_first_library = [comparison for comparison in comparisons if comparison.library == comparisons[0].library]
    worst = max(comparisons, key=lambda comparison: abs(comparison.effect.value))
    answers = over_findings([finding.answers[_kind(comparisons)] for finding in judgement.findings if finding.answers])
    word = {"reproduced": "No", "not reproduced": "Yes"}.get(answers, WORDS[answers])
    marks = tuple(
        HeadlineFigure(comparison.effect.what.split()[1], "data-type", comparison.effect, comparison.bounds)
        for comparison in of_first_library[:MOST_MARKS]
    )
    sentence = f"The largest effect at equal size is {worst.effect.what}: {worst.effect.described()}, {worst.cases}."
    return HeadlineAnswer(word, sentence, _kind(comparisons), "over text, %", 0.0, marks)


def _sending(judged: Judged) -> HeadlineAnswer | None:
    """The radio's share where there are joules, and what is left of the ciphers' difference."""
    share, transfers = judged["transmission-dominates"], judged["adhoc-blowfish-rc6-vs-aes"]
    bounded = [
        comparison
        for comparison in transfers.compared
        if comparison.bounds is not None and comparison.effect.what.startswith("Blowfish")
    ]
    if not bounded:
        return None
    marks = tuple(
        HeadlineFigure(
            comparison.effect.what.replace(" over AES, sending", ",").strip(" ,"),
            transfers.claim,
            comparison.effect,
            comparison.bounds,
        )
        for comparison in sorted(bounded, key=lambda comparison: comparison.effect.what)
    )
    first = bounded[0]
    alike = max(abs(end - 1.0) for end in (first.effect.low, first.effect.high)) * 100 <= NEGLIGIBLE_PERCENT
    apart = f", no difference (within {NEGLIGIBLE_PERCENT:g} %)" if alike else ""
    word = "Most of the time"
    sentence = f"{_capital(first.effect.what.strip(' ,'))}: {first.effect.described()}{apart}."
    if share.effect is not None:
        where = share.effect.what.partition(", ")[2].strip(" ,")
        sentence = f"The radio takes at least {share.effect.described()} of the joules ({where}). {sentence}"
        word = "Most of the energy" if share.verdict in {"reproduced", "explained"} else "Not always the most"
    kind = f"{first.implementation}, by wattlock’s model of the air"
    return HeadlineAnswer(word, sentence, kind, "transfer, over AES’s", 1.0, marks[:MOST_MARKS])


def _encoding(judged: Judged) -> HeadlineAnswer | None:
    """Hexadecimal against base64, and either over raw output."""
    judgement = judged["encoding"]
    comparisons = of_first_kind(judgement)
    if not comparisons:
        return None
    first = comparisons[0]
    unbounded = [
        comparison
        for comparison in judgement.compared
        if comparison.bounds is None
        and (comparison.implementation, comparison.library) == (first.implementation, first.library)
    ]
    shown = [first, *unbounded][:3]
    marks = tuple(
        HeadlineFigure(
            _encodings(comparison.effect.what),
            "encoding",
            comparison.effect,
            comparison.bounds if comparison is first else None,
        )
        for comparison in shown
    )
    raw = [comparison.effect.value for comparison in unbounded]
    word = f"Up to {max(raw):.3g} %" if raw else WORDS[judgement.verdict]
    figures = _listed(
        [f"{_encodings(comparison.effect.what)} {comparison.effect.described()}" for comparison in [*unbounded, first]]
    )
    sentence = f"{_capital(figures)}, the most of all ciphers, with {_named(first.library)}."
    return HeadlineAnswer(word, sentence, _kind(comparisons), "cost of the call, %", 0.0, marks)


def _encodings(what: str) -> str:
    """`what hex costs over raw output with des64-cbc, ...` as `hex over raw`."""
    words = what.split()
    return f"{words[1]} over {words[4]}"


def _rc4(judged: Judged) -> HeadlineAnswer | None:
    """With which libraries the advice holds, and where RC4 and AES cross, or both ends."""
    small, large, crossing = (judged[claim] for claim in ("rc4-small-cpu", "rc4-aes-large", "rc4-aes-crossover"))
    advice = judged["advice-rc4-100"]
    below, from_100 = of_first_kind(small), of_first_kind(large)
    if not below or not from_100 or not any(finding.answers for finding in advice.findings):
        return None
    kind = _kind(below)
    word = over_findings([finding.answers.get(kind, "not tested") for finding in advice.findings])
    within_kind = of_kind(crossing, kind) or below
    sentence = _over_libraries(f"{_capital(within_kind[0].effect.what)}, key set-up included, is {{}}", within_kind)
    if word == DEPENDS:
        sides = (_listed([_named(name) for name in _advised(advice, kind, holds)]) for holds in (True, False))
        sides_said = ", not with ".join(side for side in sides if side)
        sentence = f"At the measured sizes other than about 100 B it holds with {sides_said}. {sentence}"
    word_said = WORDS.get(word, "Not decided")
    if sizes := of_kind(crossing, kind):
        return HeadlineAnswer(word_said, sentence, kind, "RC4 is cheaper from, B", None, _marks(crossing.claim, sizes))
    marks = tuple(
        HeadlineFigure(
            f"{library.effect.what.replace(' over ', '/').replace(' at', '')}, {library.library}", claim, library.effect
        )
        for claim, several in ((small.claim, below), (large.claim, from_100))
        for library in list(_libraries(several).values())[:2]
    )
    return HeadlineAnswer(word_said, sentence, kind, "as the paper has it: above 1", 1.0, marks)


def _advised(advice: Judgement, kind: Kind, holds: bool) -> list[str]:
    """The libraries of a kind with which all findings of the advice hold, or one of them does not."""
    found: dict[str, list[bool | None]] = {}
    for comparison in of_kind(advice, kind):
        found.setdefault(comparison.library, []).append(comparison.holds)
    return [name for name, several in found.items() if all_hold(several) is holds]


def _block_and_key(judged: Judged) -> HeadlineAnswer | None:
    """Whether a block as long as the key is the cheapest, and what the paper's profiles cost."""
    pareto, profiles = judged["rijndael-pareto"], judged["rijndael-profiles"]
    comparisons, steps = of_first_kind(pareto), of_first_kind(profiles)
    if not comparisons or not steps:
        return None
    kind = _kind(comparisons)
    of_library = [
        comparison
        for finding in profiles.findings
        for comparison in steps
        if comparison.finding == finding.says and comparison.library == steps[0].library
    ]
    verdict = over_findings([finding.answers.get(kind, "not tested") for finding in pareto.findings])
    word = {"reproduced": "Yes, block = key", "not reproduced": "Not block = key"}.get(verdict, WORDS[verdict])
    nearest = {
        name: min((comparison for comparison in comparisons if comparison.library == name), key=_order)
        for name in _libraries(comparisons)
    }
    sure = [_named(name) for name, comparison in nearest.items() if comparison.holds]
    sentences = [f"block = key costs least with {_listed(sure)}"] if sure else []
    sentences += [
        f"{'undecided' if comparison.holds is None else 'not'} with {_named(name)}: "
        f"{comparison.effect.what} is {comparison.effect.described()}"
        for name, comparison in nearest.items()
        if not comparison.holds
    ]
    first = of_library[0].effect
    sentence = f"{_capital('; '.join(sentences))}. {_capital(first.what.strip(' ,'))}: {first.described()}."
    marks = tuple(
        HeadlineFigure(comparison.finding.replace(", to ", ", "), profiles.claim, comparison.effect, comparison.bounds)
        for comparison in of_library
    )
    return HeadlineAnswer(word, sentence, kind, "profile over the one below, %", 0.0, marks[:MOST_MARKS])


def _order(comparison: ClaimComparison) -> tuple[int, float]:
    """What does not hold first, and of several the furthest off."""
    return (False, None, True).index(comparison.holds), comparison.effect.value


def _kind(compared: Sequence[ClaimComparison]) -> Kind:
    return next(kind for kind in KINDS if kind == compared[0].implementation)


def _listed(names: Sequence[str]) -> str:
    *most, last = names or [""]
    return f"{', '.join(most)} and {last}" if most else last


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]


ALL_SIX = "cases of Blowfish, RC6, AES, DES, 3DES and RC2 of one library that encrypt text"
OF_KIND = "cases of Blowfish and of AES by {} of one library that encrypt text"
QUESTIONS = (
    HeadlineQuestion("Was Blowfish the fastest?", ("text-encrypt-ranking", "blowfish-vs-aes-text"), _fastest, ALL_SIX),
    HeadlineQuestion(
        "Was Blowfish cheaper than constant-time AES?",
        ("blowfish-vs-aes-text",),
        _over_aes(CONSTANT_TIME),
        OF_KIND.format(CONSTANT_TIME),
    ),
    HeadlineQuestion(
        "And cheaper than AES instructions?", ("blowfish-vs-aes-text",), _over_aes(HARDWARE), OF_KIND.format(HARDWARE)
    ),
    HeadlineQuestion(
        "Does the key’s size matter?",
        ("aes-key-size-clear", "rc6-key-size", "rc4-key-size", "blowfish-key-tradeoff"),
        _key_size,
        "cases of AES with several keys",
    ),
    HeadlineQuestion(
        "Does the data’s type?", ("data-type",), _data_type, "cases of one cipher at one size by type of data"
    ),
    HeadlineQuestion(
        "What does sending add?",
        ("transmission-dominates", "adhoc-blowfish-rc6-vs-aes"),
        _sending,
        "transfers of text, audio and video by the model of the air",
    ),
    HeadlineQuestion(
        "What does encoding cost?", ("encoding",), _encoding, "cases of a cipher by encoding of the output"
    ),
    HeadlineQuestion(
        "AES below 100 B, RC4 above: does it hold?",
        ("advice-rc4-100", "rc4-small-cpu", "rc4-aes-large", "rc4-aes-crossover"),
        _rc4,
        "cases of RC4 and AES by packet size",
    ),
    HeadlineQuestion(
        "Is there a cheapest block and key?",
        ("rijndael-pareto", "rijndael-profiles"),
        _block_and_key,
        "the nine cases of Rijndael by block and key",
    ),
)
"""Nine, as they fill the page's first screen."""
