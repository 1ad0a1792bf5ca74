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
        command = next((one for one in commands if one.startswith("wattlock")), STUDY)
        lacking = (question.needs, command) if answer is None else ("", "")
        found.append(Headline(question.text, question.claims, answer, *lacking))
    return found


def of_kind(judgement: Judgement, kind: Kind, finding: str = "") -> list[ClaimComparison]:
    """The deciding comparisons of a kind, of one finding where it is named."""
    own = [one for one in judgement.compared if one.implementation == kind and one.bounds is not None]
    return [one for one in own if not finding or one.finding == finding]


def of_first_kind(judgement: Judgement, finding: str = "") -> list[ClaimComparison]:
    """The deciding comparisons of the first kind that has any: the papers' own, where it was measured."""
    return next((own for kind in KINDS if (own := of_kind(judgement, kind, finding))), [])


def _libraries(compared: Sequence[ClaimComparison]) -> dict[str, ClaimComparison]:
    """The first comparison of each library."""
    first: dict[str, ClaimComparison] = {}
    for one in compared:
        first.setdefault(one.library, one)
    return first


def _over_libraries(figure: str, compared: Sequence[ClaimComparison]) -> str:
    """A sentence with the first library's figure, and the range of the others'; `figure`: with {} for the number."""
    first, *others = _libraries(compared).values()
    sentence = f"{figure.format(first.effect.described())}, with {_named(first.library)}"
    if others:
        effects = sorted((one.effect for one in others), key=lambda one: one.value)
        ends = [_without_interval(one) for one in (effects[0], effects[-1])]
        whose = _named(others[0].library) if len(others) == 1 else f"{len(others)} other libraries"
        sentence += f"; with {whose} {' to '.join(dict.fromkeys(ends))}"
    return f"{sentence}."


def _without_interval(effect: Effect) -> str:
    return (effect if effect.beyond else effect._replace(low=effect.value, high=effect.value)).described()


def _named(library: str) -> str:
    return "the built-in code" if library == BUILT_IN else library


def _marks(claim: str, compared: Iterable[ClaimComparison]) -> tuple[HeadlineFigure, ...]:
    """A mark for each library."""
    own = _libraries(list(compared))
    return tuple(HeadlineFigure(name, claim, one.effect, one.bounds) for name, one in list(own.items())[:MOST_MARKS])


def _cheaper(compared: Iterable[ClaimComparison]) -> Verdict:
    """Whether the numerator of ratios costs less, over all libraries."""
    sides = {above(-one.effect.high, -one.effect.low, -1.0) for one in compared} - {None}
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
    own = of_kind(ranking, ERA, first.says)
    if not own:
        return None
    rival = own[0].effect.what.partition(" over ")[0]
    # Sentence and picture are both of Blowfish over AES.
    sentence = _over_libraries("To encrypt text Blowfish costs {} times what AES does", ratios)
    if rival != "AES":
        sentence += " " + _over_libraries(f"{rival}, its cheapest rival, costs {{}} times what Blowfish does", own)
    return HeadlineAnswer(WORDS[first.answers[ERA]], sentence, ERA, *OVER_AES, _marks("blowfish-vs-aes-text", ratios))


OVER_AES = ("Blowfish over AES, cost of a byte", 1.0)


def _over_aes(kind: Kind) -> Callable[[Judged], HeadlineAnswer | None]:
    """Blowfish over AES with AES of a kind."""

    def answer(judged: Judged) -> HeadlineAnswer | None:
        claim = "blowfish-vs-aes-text"
        own = of_kind(judged[claim], kind)
        if not own:
            return None
        sentence = _over_libraries("To encrypt text Blowfish costs {} times what AES does", own)
        # Asked is who is cheaper, on which side of 1, and not whether it is by as much as the paper has it.
        marks = tuple(mark._replace(has_band=False) for mark in _marks(claim, own))
        return HeadlineAnswer(WORDS[_cheaper(own)], sentence, kind, *OVER_AES, marks)

    return answer


def _key_size(judged: Judged) -> HeadlineAnswer | None:
    """What the longest key costs over the shortest: AES of each kind, then the other ciphers."""
    aes = "aes-key-size-clear"
    kinds = {kind: own[0].effect for kind in KINDS[:-1] if (own := of_kind(judged[aes], kind))}
    if not kinds:
        return None
    claims = {"RC6": "rc6-key-size", "RC4": "rc4-key-size", "Blowfish": "blowfish-key-tradeoff"}
    others = [
        HeadlineFigure(name, claim, own[0].effect)
        for name, claim in claims.items()
        if (own := of_first_kind(judged[claim]))
    ]
    kind, first = next(iter(kinds.items()))
    matters = judged[aes].findings[0].answers[kind]
    none = [mark.label for mark in others if max(abs(mark.effect.low), abs(mark.effect.high)) <= NEGLIGIBLE_PERCENT]
    rest = f" For {_listed(none)} it costs nothing (within {NEGLIGIBLE_PERCENT:g} %)." if none else ""
    some = [f"{mark.label} {mark.effect.described()}" for mark in others if mark.label not in none]
    rest += f" For {_listed(some)}." if some else ""
    word = {"reproduced": "For AES, yes"}.get(matters, WORDS[matters])
    marks = (*(HeadlineFigure(f"AES, {SHORT[one]}", aes, effect) for one, effect in kinds.items()), *others)
    sentence = f"{_capital(first.what)}: {first.described()}.{rest}"
    return HeadlineAnswer(word, sentence, kind, "longest over shortest key, %", 0.0, marks)


def _data_type(judged: Judged) -> HeadlineAnswer | None:
    """What other data cost over text at equal size."""
    judgement = judged["data-type"]
    own = of_first_kind(judgement)
    if not own:
        return None
    of_first_library = [one for one in own if one.library == own[0].library]
    worst = max(own, key=lambda one: abs(one.effect.value))
    answers = over_findings([finding.answers[_kind(own)] for finding in judgement.findings if finding.answers])
    word = {"reproduced": "No", "not reproduced": "Yes"}.get(answers, WORDS[answers])
    marks = tuple(
        HeadlineFigure(one.effect.what.split()[1], "data-type", one.effect, one.bounds)
        for one in of_first_library[:MOST_MARKS]
    )
    sentence = f"The largest effect at equal size is {worst.effect.what}: {worst.effect.described()}, {worst.cases}."
    return HeadlineAnswer(word, sentence, _kind(own), "over text, %", 0.0, marks)


def _sending(judged: Judged) -> HeadlineAnswer | None:
    """The radio's share where there are joules, and what is left of the ciphers' difference."""
    share, transfers = judged["transmission-dominates"], judged["adhoc-blowfish-rc6-vs-aes"]
    bounded = [one for one in transfers.compared if one.bounds is not None and one.effect.what.startswith("Blowfish")]
    if not bounded:
        return None
    marks = tuple(
        HeadlineFigure(
            one.effect.what.replace(" over AES, sending", ",").strip(" ,"), transfers.claim, one.effect, one.bounds
        )
        for one in sorted(bounded, key=lambda one: one.effect.what)
    )
    first = bounded[0]
    alike = max(abs(end - 1.0) for end in (first.effect.low, first.effect.high)) * 100 <= NEGLIGIBLE_PERCENT
    apart = f", no difference (within {NEGLIGIBLE_PERCENT:g} %)" if alike else ""
    word = "Most of the time"
    sentence = f"{_capital(first.effect.what.strip(' ,'))}: {first.effect.described()}{apart}."
    if share.effect is not None:
        where = share.effect.what.partition(", ")[2].strip(" ,")
        sentence = f"The radio takes {share.effect.described()} of the joules or more ({where}). {sentence}"
        word = "Most of the energy" if share.verdict in {"reproduced", "explained"} else "Not always the most"
    kind = f"{first.implementation}, by wattlock’s model of the air"
    return HeadlineAnswer(word, sentence, kind, "transfer, over AES’s", 1.0, marks[:MOST_MARKS])


def _encoding(judged: Judged) -> HeadlineAnswer | None:
    """Hexadecimal against base64, and either over raw output."""
    judgement = judged["encoding"]
    own = of_first_kind(judgement)
    if not own:
        return None
    first = own[0]
    beside = [
        one
        for one in judgement.compared
        if one.bounds is None and (one.implementation, one.library) == (first.implementation, first.library)
    ]
    shown = [first, *beside][:3]
    marks = tuple(
        HeadlineFigure(_encodings(one.effect.what), "encoding", one.effect, one.bounds if one is first else None)
        for one in shown
    )
    raw = [one.effect.value for one in beside]
    word = f"Up to {max(raw):.3g} %" if raw else WORDS[judgement.verdict]
    figures = _listed([f"{_encodings(one.effect.what)} {one.effect.described()}" for one in [*beside, first]])
    sentence = f"{_capital(figures)}, the most of all ciphers, with {_named(first.library)}."
    return HeadlineAnswer(word, sentence, _kind(own), "cost of the call, %", 0.0, marks)


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
    told = of_kind(crossing, kind) or below
    sentence = _over_libraries(f"{_capital(told[0].effect.what)}, key set-up included, is {{}}", told)
    if word == DEPENDS:
        sides = (_listed([_named(name) for name in _advised(advice, kind, holds)]) for holds in (True, False))
        sides_said = ", not with ".join(one for one in sides if one)
        sentence = f"At the measured sizes other than about 100 B it holds with {sides_said}. {sentence}"
    word_said = WORDS.get(word, "Not decided")
    if sizes := of_kind(crossing, kind):
        return HeadlineAnswer(word_said, sentence, kind, "RC4 is cheaper from, B", None, _marks(crossing.claim, sizes))
    marks = tuple(
        HeadlineFigure(f"{one.effect.what.replace(' over ', '/').replace(' at', '')}, {one.library}", claim, one.effect)
        for claim, several in ((small.claim, below), (large.claim, from_100))
        for one in list(_libraries(several).values())[:2]
    )
    return HeadlineAnswer(word_said, sentence, kind, "as the paper has it: above 1", 1.0, marks)


def _advised(advice: Judgement, kind: Kind, holds: bool) -> list[str]:
    """The libraries of a kind with which all findings of the advice hold, or one of them does not."""
    found: dict[str, list[bool | None]] = {}
    for one in of_kind(advice, kind):
        found.setdefault(one.library, []).append(one.holds)
    return [name for name, several in found.items() if all_hold(several) is holds]


def _block_and_key(judged: Judged) -> HeadlineAnswer | None:
    """Whether a block as long as the key is the cheapest, and what the paper's profiles cost."""
    pareto, profiles = judged["rijndael-pareto"], judged["rijndael-profiles"]
    own, steps = of_first_kind(pareto), of_first_kind(profiles)
    if not own or not steps:
        return None
    kind = _kind(own)
    of_library = [
        one
        for finding in profiles.findings
        for one in steps
        if one.finding == finding.says and one.library == steps[0].library
    ]
    verdict = over_findings([finding.answers.get(kind, "not tested") for finding in pareto.findings])
    word = {"reproduced": "Yes, block = key", "not reproduced": "Not block = key"}.get(verdict, WORDS[verdict])
    nearest = {name: min((one for one in own if one.library == name), key=_order) for name in _libraries(own)}
    sure = [_named(name) for name, one in nearest.items() if one.holds]
    told = [f"block = key costs least with {_listed(sure)}"] if sure else []
    told += [
        f"{'undecided' if one.holds is None else 'not'} with {_named(name)}: "
        f"{one.effect.what} is {one.effect.described()}"
        for name, one in nearest.items()
        if not one.holds
    ]
    first = of_library[0].effect
    sentence = f"{_capital('; '.join(told))}. {_capital(first.what.strip(' ,'))}: {first.described()}."
    marks = tuple(
        HeadlineFigure(one.finding.replace(", to ", ", "), profiles.claim, one.effect, one.bounds) for one in of_library
    )
    return HeadlineAnswer(word, sentence, kind, "profile over the one below, %", 0.0, marks[:MOST_MARKS])


def _order(one: ClaimComparison) -> tuple[int, float]:
    """What does not hold first, and of several the furthest off."""
    return (False, None, True).index(one.holds), one.effect.value


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
