"""Keys that a person set and that change nothing: the question is answered again without each of them."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from pydantic import BaseModel

from wattlock.advise.advice import Advice
from wattlock.advise.question import Question
from wattlock.errors import WattlockError

# Enough to tell whether anything changes: the same draws give the same numbers.
DRAWS = 100
# What names things, what an answer can't be without, and what only moves its draws.
ALWAYS = {"title", "note", "source", "seed", "draws", "flow", "device.card", "device.run"}


def unused_keys(question: Question, answer: Callable[[Question], Advice]) -> list[str]:
    """The keys without which the answer is the same.

    * `answer`: answers a question as it was answered.
    """
    few = question.model_copy(update={"draws": DRAWS})
    variants = list(_without(few))
    if not variants:
        return []
    whole = answer(few)
    found = []
    for key, other in variants:
        try:
            if _same(whole, answer(other)):
                found.append(key)
        except WattlockError:
            # Without it there is no such answer.
            continue
    return found


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
    if [(out.choice.label, out.reasons) for out in one.excluded] != [
        (out.choice.label, out.reasons) for out in other.excluded
    ]:
        return False
    times = [[load.latency_s for load in described.loads] for described in (one, other)]
    return (
        np.array_equal(one.life_s, other.life_s)
        and np.array_equal(one.charge_s, other.charge_s)
        and np.array_equal(times[0], times[1], equal_nan=True)
        and one.inputs.assumed == other.inputs.assumed
    )
