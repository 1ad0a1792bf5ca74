"""Rows that ns-3 answers beside the simulator of `wattlock link`: each scenario in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from wattlock.errors import InputError, WattlockError
from wattlock.link import ns3, wifi_air
from wattlock.link.wifi import largest_question
from wattlock.targets import toolbox

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wattlock.link.scenario import Named, Scenario
    from wattlock.study.cases import CatalogueRow

Asked: TypeAlias = "tuple[wifi_air.AirQuestion, wifi_air.AirAnswer, dict[str, Any], list[str]]"
"""A scenario's question, the simulator's answer, what ns-3 is asked, and in what the two are not the same."""
KEY, ENGINE, OURS = "engine", "ns3", "dcf"


def described(requested: Sequence[Named[Scenario]], ciphers: Mapping[str, CatalogueRow]) -> list[Asked | WattlockError]:
    """What ns-3 is asked of each scenario's packets of the commonest size, or why it can't be."""
    questions = [_or_error(largest_question, named, ciphers) for named in requested]
    pairs = zip(requested, questions, strict=True)
    answerable = [(named, question) for named, question in pairs if not isinstance(question, InputError)]
    answers = iter(wifi_air.answers(toolbox.find(), answerable))

    def words(question: wifi_air.AirQuestion | InputError) -> Any:
        if isinstance(question, InputError):
            return question
        answer = next(answers)
        if isinstance(answer, InputError):
            return answer
        found = _or_error(ns3.described, question, answer)
        return found if isinstance(found, InputError) else (question, answer, *found)

    return [words(question) for question in questions]


def figures(
    requested: Sequence[Named[Scenario]], ciphers: Mapping[str, CatalogueRow]
) -> Iterator[dict[str, Any] | WattlockError]:
    """Both engines' answers to each scenario, as `wattlock link --engine ns3` has them, or why there are none.

    Raises InputError where there is no ns-3, ProbeError where it can't be started.
    """
    questions = described(requested, ciphers)
    in_words = [question[2] for question in questions if not isinstance(question, WattlockError)]
    answers = iter(ns3.answers_apart(in_words) if in_words else [])
    for question in questions:
        if isinstance(question, WattlockError):
            yield question
            continue
        _, ours, _, notes = question
        theirs = next(answers)
        yield theirs if isinstance(theirs, WattlockError) else ns3.compared(ours, theirs, notes).row()


def _or_error(act: Any, *given: Any) -> Any:
    try:
        return act(*given)
    except InputError as error:
        return error
