"""Where the ciphers' costs come from, as rows: those ranked, those not and why, slower code, hardware without one."""

from typing import Any

from wattlock.advise.costs import Cost
from wattlock.advise.published import Priced
from wattlock.advise.question import Question

DESCRIBED = ("implementation", "language", "compiler", "flags", "core", "memory", "counted", "url")
NO_FIGURE = "no figure published"
BRING = "count it and name it with --costs FILE"


def described(cost: Cost) -> dict[str, str | None]:
    """Whose code a cost is of and how it was counted; None where a run says it."""
    return {key: getattr(cost.origin, key) if cost.origin else None for key in DESCRIBED}


def records(priced: Priced, question: Question) -> list[dict[str, Any]]:
    """All that is known, a row a cipher: `ranked`, and `why_not` where it is not."""
    found = [_record(cost, question, "") for cost in priced.taken]
    found += [_record(cost, question, f"assumed: {cost.doubt}") for cost in priced.unranked]
    found += [_record(cost, question, "a faster one is known") for cost in priced.slower]
    return found + [
        {
            "cipher": None,
            "provider": f"{one.name}, hardware",
            "does": one.does,
            "ranked": False,
            "why_not": NO_FIGURE,
            "source": one.source,
        }
        for one in priced.engines
    ]


def _record(cost: Cost, question: Question, why_not: str) -> dict[str, Any]:
    size_B = size(question)
    return {
        "cipher": cost.cipher,
        "provider": cost.provider,
        **described(cost),
        "message_B": size_B,
        "cycles": cost.of("cycles", size_B),
        "joules": cost.of("seal_J", size_B),
        "evidence": cost.evidence,
        "ranked": not why_not,
        "why_not": why_not or None,
        "source": cost.source,
        "because": cost.origin.because if cost.origin else None,
    }


def size(question: Question) -> int:
    """Octets of the question's first message, for which costs are shown."""
    return question.flow[0].rates[0][0]


def rows(priced: Priced, question: Question, *, slower: bool = False) -> list[dict[str, str]]:
    """The same as a table for eyes, ciphers of one code in one row, `url` last; none where a run says the costs.

    * `slower`: whether code is shown too of which a faster one is known.
    """
    found: dict[tuple[object, ...], dict[str, str]] = {}
    size_B = size(question)
    groups = [(priced.taken, "yes"), (priced.unranked, "no"), (priced.slower if slower else [], "no: a faster one is")]
    for costs, ranked in groups:
        for cost in costs:
            if cost.origin is None:
                continue
            why = f"no: {cost.doubt}" if ranked == "no" else ranked
            cycles = f"{cost.of('cycles', size_B):,.0f}"
            row = {
                "ciphers": cost.cipher,
                "implementation": cost.origin.implementation,
                "language": cost.origin.language,
                "counted on": cost.origin.core,
                "as": cost.origin.counted,
                f"cycles of {size_B} B": cycles,
                "evidence": cost.evidence,
                "ranked": why,
                "source": cost.source,
                "url": cost.origin.url,
            }
            key = (cost.origin, cycles, why)
            if key in found:
                found[key]["ciphers"] += f", {cost.cipher}"
            else:
                found[key] = row
    for one in priced.engines:
        found[(one.name,)] = {
            "ciphers": one.does,
            "implementation": one.name,
            "language": "hardware",
            "counted on": "",
            "as": "",
            f"cycles of {size_B} B": NO_FIGURE,
            "evidence": "",
            "ranked": f"no: {BRING}",
            "source": one.source,
            "url": "",
        }
    return list(found.values())
