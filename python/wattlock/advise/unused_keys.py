"""Keys that a person set and that change nothing: the question is answered again without each of them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from pydantic import BaseModel

from wattlock.advise.advice import Advice
from wattlock.advise.exclude import Excluded
from wattlock.advise.inputs import Inputs
from wattlock.advise.question import Question
from wattlock.energy.battery import Array
from wattlock.errors import WattlockError
from wattlock.security import Cited

# Enough to tell whether anything changes: the same draws give the same numbers.
DRAWS = 100
# By more than this a number computed alone differs from that computed beside others.
ROUNDING = 1e-9
# What names things, what an answer can't be without, and what only moves its draws.
ALWAYS = {"title", "note", "source", "seed", "draws", "flow", "device.card", "device.run"}


class First(NamedTuple):
    """What is seen of an answer before all of it is there: which choices are unsound, and the first that passes.

    * `latency_s`, `charge_s`: of that choice, the seconds that the charge lasts in each draw.
    """

    unsound: list[Excluded]
    label: str
    latency_s: float
    charge_s: Array


class Answers(NamedTuple):
    """How a question is answered: what it is computed with, the first choice alone, and all of the answer.

    * `inputs`: of a question, with those of another whose parts are taken where they are the same.
    """

    inputs: Callable[[Question, Inputs], Inputs]
    first: Callable[[Inputs], First | None]
    whole: Callable[[Inputs], Advice]


def unused_keys(question: Question, known: Inputs, answers: Answers) -> list[str]:
    """The keys without which the answer is the same.

    Most change what the first choice lasts: the others are computed only where they don't.

    * `known`: what the question was answered with.
    """
    few = question.model_copy(update={"draws": DRAWS})
    variants = list(_without(few))
    if not variants:
        return []
    usual = answers.inputs(few, known)
    first = answers.first(usual)
    whole: Advice | None = None
    found = []
    for key, changed in variants:
        try:
            other = answers.inputs(changed, usual)
            if other.assumed != usual.assumed or _differ(first, answers.first(other)):
                continue
            answered = answers.whole(other)
        except WattlockError:
            # Without it there is no such answer.
            continue
        whole = whole or answers.whole(usual)
        if _same(whole, answered):
            found.append(key)
    return found


def _differ(first: First | None, other: First | None) -> bool:
    """Whether the whole answers differ for sure: by more than rounding."""
    if first is None or other is None:
        return first is not other
    return (
        _reasons(first.unsound) != _reasons(other.unsound)
        or first.label != other.label
        or not np.array_equal(first.latency_s, other.latency_s, equal_nan=True)
        or not np.allclose(first.charge_s, other.charge_s, rtol=ROUNDING, atol=0)
    )


def _reasons(excluded: Sequence[Excluded]) -> list[tuple[str, list[Cited]]]:
    return [(out.choice.label, out.reasons) for out in excluded]


def _without(question: Question) -> Iterator[tuple[str, Question]]:
    """The question without each of the keys that were set, but for those of `ALWAYS`."""
    for table in sorted(question.model_fields_set - ALWAYS):
        value = getattr(question, table)
        if value is None:
            continue
        if not isinstance(value, BaseModel):
            yield table, _default(question, table)
            continue
        if Question.model_fields[table].default is None:
            yield table, _default(question, table)
        for key, other in _keys(value):
            if f"{table}.{key}" not in ALWAYS:
                yield f"{table}.{key}", question.model_copy(update={table: other})


def _keys(table: BaseModel) -> Iterator[tuple[str, BaseModel]]:
    """A table without each of its keys that were set and that it can be without."""
    for key in sorted(table.model_fields_set):
        value = getattr(table, key)
        if type(table).model_fields[key].is_required() or value is None:
            continue
        if isinstance(value, dict):
            for one in value:
                rest = {name: kept for name, kept in value.items() if name != one}
                # A power that was written as a current stands there by its key.
                path = one if key == "currents_A" else f"{key}.{one}"
                yield path, table.model_copy(update={key: rest})
        else:
            yield key, _default(table, key)


def _default(table: Any, key: str) -> Any:
    """A copy of a table in which a key was never set."""
    usual = type(table).model_fields[key].get_default(call_default_factory=True)
    found = table.model_copy(update={key: usual})
    found.model_fields_set.discard(key)
    return found


def _same(one: Advice, other: Advice) -> bool:
    """Whether two answers hold the same choices with the same days, for the same reasons and on the same grounds."""
    if [choice.label for choice in one.choices] != [choice.label for choice in other.choices]:
        return False
    if _reasons(one.excluded) != _reasons(other.excluded):
        return False
    times = [[load.latency_s for load in described.loads] for described in (one, other)]
    return (
        np.array_equal(one.life_s, other.life_s)
        and np.array_equal(one.charge_s, other.charge_s)
        and np.array_equal(times[0], times[1], equal_nan=True)
        and one.inputs.assumed == other.inputs.assumed
    )
