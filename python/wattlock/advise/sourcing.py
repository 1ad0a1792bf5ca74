"""Where the ciphers' costs come from, as rows: those ranked, those not and why, slower code, hardware without one."""

import math
from typing import Any, get_args

from wattlock.advise.costs import Cost, Kind, Message
from wattlock.advise.pricing import messages
from wattlock.advise.published import Priced, is_sound
from wattlock.advise.question import Question

DESCRIBED = (
    "implementation",
    "language",
    "compiler",
    "flags",
    "core",
    "memory",
    "counted",
    "composed",
    "to_board",
    "timing",
    "url",
)
KINDS: tuple[Kind, ...] = get_args(Kind)
BY_CODE = "Cycles by this code, published code, hardware"
NO_FIGURE = "no figure published"
BRING = "count it and name it with --costs FILE"


def described(cost: Cost) -> dict[str, str | float | None]:
    """Whose code a cost is of and how it was counted; None where a run says it."""
    return {key: getattr(cost.origin, key) if cost.origin else None for key in DESCRIBED}


def records(priced: Priced, question: Question) -> list[dict[str, Any]]:
    """All that is known, a row a cipher: `ranked`, and `why_not` where it is not."""
    found = [_record(cost, question, "") for cost in priced.taken]
    found += [_record(cost, question, f"assumed: {cost.doubt}") for cost in priced.unranked]
    found += [_record(cost, question, _passed_over(cost)) for cost in priced.slower]
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


def _passed_over(cost: Cost) -> str:
    """Why a cost is not ranked beside another of its cipher."""
    if cost.doubt:
        return f"assumed: {cost.doubt}"
    if cost.origin and not is_sound(cost):
        return f"its time: {cost.origin.timing}"
    return "a faster one is known"


def _record(cost: Cost, question: Question, why_not: str) -> dict[str, Any]:
    first = shown(question)
    return {
        "cipher": cost.cipher,
        "provider": cost.provider,
        **described(cost),
        "message_B": first.octets_B,
        "operation": operation(first),
        "cycles": cost.spent([first]),
        "joules": cost.of("open_J" if first.opened else "seal_J", first.octets_B),
        "evidence": cost.evidence,
        "ranked": not why_not,
        "why_not": why_not or None,
        "source": cost.source,
        "because": cost.origin.because if cost.origin else None,
    }


def shown(question: Question) -> Message:
    """The message for which costs are shown, the question's first."""
    return messages(question)[0]._replace(per_s=1.0)


def operation(message: Message) -> str:
    """What the device does with it."""
    return "open" if message.opened else "seal"


def rows(priced: Priced, question: Question, *, slower: bool = False) -> list[dict[str, str]]:
    """The same as a table for eyes, ciphers of one code in one row, `url` last; none where a run says the costs.

    * `slower`: whether code is shown too of which a faster one is known.
    """
    found: dict[tuple[object, ...], dict[str, str]] = {}
    first = shown(question)
    cycles_of = f"cycles to {operation(first)} {first.octets_B} B"
    groups = [(priced.taken, "yes"), (priced.unranked, "no"), (priced.slower if slower else [], "passed over")]
    for costs, ranked in groups:
        for cost in costs:
            if cost.origin is None:
                continue
            reasons = {"yes": "yes", "no": f"no: {cost.doubt}", "passed over": f"no: {_passed_over(cost)}"}
            why = reasons[ranked]
            cycles = f"{cost.spent([first]):,.0f}"
            row = {
                "ciphers": cost.cipher,
                "implementation": cost.origin.implementation,
                "language": cost.origin.language,
                "counted on": cost.origin.core,
                "as": cost.origin.marks,
                "timing": cost.origin.timing,
                cycles_of: cycles,
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
            "timing": "",
            cycles_of: NO_FIGURE,
            "evidence": "",
            "ranked": f"no: {BRING}",
            "source": one.source,
            "url": "",
        }
    return list(found.values())


def by_code(priced: Priced, question: Question) -> list[dict[str, Any]]:
    """What each ranked cipher takes by this code, by the best published code and by hardware, a row a cipher.

    * Of each kind: `cycles` of the question's first message with both ends of their interval, whose and how counted;
      null where nobody has a figure. No rows where a run says the costs.
    """
    every = [cost for cost in (*priced.taken, *priced.unranked, *priced.slower) if cost.origin]
    first = shown(question)
    return [
        {"cipher": cipher, "message_B": first.octets_B, "operation": operation(first)}
        | {kind.replace(" ", "_"): _least(every, cipher, kind, first) for kind in KINDS}
        for cipher in dict.fromkeys(cost.cipher for cost in priced.taken if cost.origin)
    ]


def _least(every: list[Cost], cipher: str, kind: Kind, message: Message) -> dict[str, Any] | None:
    """The fewest cycles of a kind; what needs no consent before what does."""
    of_kind = [cost for cost in every if cost.cipher == cipher and cost.origin and cost.origin.kind == kind]
    best = min(of_kind, key=lambda one: (bool(one.doubt), one.spent([message])), default=None)
    if best is None or best.origin is None:
        return None
    cycles = best.spent([message])
    low, high = best.uniform or (0.0, 0.0)
    return {
        "cycles": cycles,
        "cycles_low": cycles * math.exp(low),
        "cycles_high": cycles * math.exp(high),
        "implementation": best.origin.implementation,
        "counted": best.origin.counted,
        "to_board": best.origin.to_board,
        "composed": best.origin.composed,
        "marks": best.origin.marks,
        "timing": best.origin.timing,
        "evidence": best.evidence,
        "doubt": best.doubt or None,
    }


def by_code_rows(priced: Priced, question: Question) -> list[dict[str, str]]:
    """The same as a table for eyes."""
    found = []
    for row in by_code(priced, question):
        cells = {"cipher": row["cipher"]}
        for kind in KINDS:
            cost = row[kind.replace(" ", "_")]
            cells[f"{TITLES[kind]}, cycles to {row['operation']} {row['message_B']} B"] = (
                "" if cost is None else _interval(cost)
            )
        found.append(cells | {"ranked by": _ranked_by(priced, row["cipher"])})
    return found


TITLES: dict[Kind, str] = {"this code": "this code", "published": "best published", "hardware": "hardware"}


def marked(cost: dict[str, Any]) -> str:
    """Cycles of a kind in a sentence, with how they were counted."""
    how = "composed" if cost["composed"] else cost["marks"].replace(" cycles", "")
    marks = [] if cost["counted"] == "hardware time" else [how]
    marks += ["assumed"] if cost["doubt"] else []
    return f"{cost['cycles']:,.0f}" + (f" ({', '.join(marks)})" if marks else "")


def _interval(cost: dict[str, Any]) -> str:
    middle, low, high = (f"{float(f'{cost[key]:.3g}'):,.0f}" for key in ("cycles", "cycles_low", "cycles_high"))
    marks = [cost["marks"]]
    marks += ["assumed"] if cost["doubt"] else []
    marks += ["time by tables"] if cost["timing"] == "table lookups" else []
    return f"{middle} ({low} to {high}, {', '.join(marks)})"


def _ranked_by(priced: Priced, cipher: str) -> str:
    return ", ".join(cost.origin.kind for cost in priced.taken if cost.cipher == cipher and cost.origin)


def share_for_the_very_core(costs: list[Cost]) -> float:
    """The share of choices, by their costs, that were counted or published for the device's own core."""
    return sum(not cost.doubt for cost in costs) / len(costs)
