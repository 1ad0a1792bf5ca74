"""What ciphers cost on the device that a question names, and where each of these numbers is from."""

import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np

from wattlock.advise import cipher_costs, published
from wattlock.advise.cipher_costs import CipherCost, CostedMessage, Kind
from wattlock.advise.published import DeviceCosts, is_sound
from wattlock.advise.question import Question
from wattlock.energy import device_cards
from wattlock.energy.device_cards import Device
from wattlock.errors import InputError

if TYPE_CHECKING:
    from wattlock.run.result import Result


class Valued(NamedTuple):
    """What ciphers cost, and the card that values it: none where a meter measured the run. `name`: whose costs."""

    name: str
    device: Device | None
    priced: DeviceCosts


def messages(question: Question) -> list[CostedMessage]:
    """What the device seals and what it opens."""
    return [
        CostedMessage(size_B, per_s, opened=flow.direction == "receive")
        for flow in question.flow
        for size_B, per_s in flow.rates
    ]


def price(question: Question, cards: Path | None, *, allow_assumed: bool) -> Valued:
    """What ciphers cost by the device or the run that a question names.

    * `cards`: the user's folder of cards.

    Raises InputError where neither is named or both say the costs, or the run is invalid; EvidenceError where a number
    needs consent.
    """
    requested = question.device
    card = device_cards.load(requested.card, cards) if requested.card else None
    if requested.run is not None:
        if requested.costs:
            raise InputError("device.costs and device.run both say what the ciphers cost", hint="give one of them")
        # Loaded where there is a run: with its statistics it takes a fifth of a second.
        from wattlock.run.result import open_one_kind

        names = [requested.run] if isinstance(requested.run, str) else requested.run
        return of_runs([open_one_kind(name) for name in names], card, allow_assumed=allow_assumed)
    if card is None:
        hint = "--device nrf52840 takes published cycles; --run last what this machine took (`wattlock run advice`)"
        raise InputError("neither a device nor a run is named", hint=hint)
    card.refuse_doubted(allow_assumed=allow_assumed)
    priced = published.published_costs(
        card,
        messages(question),
        allow_assumed=allow_assumed,
        accelerator=requested.accelerator,
        given=Path(requested.costs) if requested.costs else None,
        cards=cards,
    )
    return Valued(card.name, card, priced)


def of_runs(results: Sequence["Result"], device: Device | None, *, allow_assumed: bool) -> Valued:
    """What ciphers cost by runs of one machine: valued by the card that is named, else by their own, else by the meter.

    Raises InputError where a run is invalid or has none of them, or two are of different machines, builds or cards.
    """
    for result in results:
        if result.reasons:
            named = f"run {result.plan['id']}" if len(results) > 1 else "the run"
            raise InputError(f"{named} is invalid: {result.reasons[0]}", hint="measure again on a quieter machine")
    for first, other in combinations(results, 2):
        _refuse_unlike(first, other)
    valued = [_of_run(result, device, allow_assumed=allow_assumed) for result in results]
    if len(valued) == 1:
        return valued[0]
    return valued[0]._replace(priced=DeviceCosts(pooled([result.priced.taken for result in valued]), [], [], []))


def _refuse_unlike(first: "Result", other: "Result") -> None:
    """Raises InputError where the costs of two runs can't be taken together."""
    from wattlock.run.result import machine

    if first.plan["id"] == other.plan["id"]:
        hint = "what it measured counts once: name another run, or leave it out"
        raise InputError(f"run {other.plan['id']} is named twice", hint=hint)
    pair = f"runs {first.plan['id']} and {other.plan['id']}"
    if machine(first.header) != machine(other.header) or first.core_classes != other.core_classes:
        raise InputError(f"{pair} are not of one machine", hint="name runs of the device that the question is about")
    if first.plan["probe_sha256"] != other.plan["probe_sha256"]:
        hint = "a build of its own may take other times: name runs of one build"
        raise InputError(f"{pair} are of two builds of the probe", hint=hint)
    cards_of = [
        (run.plan["device"], run.plan.get("device_card"), (run.meter or {}).get("name")) for run in (first, other)
    ]
    if cards_of[0] != cards_of[1]:
        raise InputError(f"{pair} differ in their device card or their meter", hint="name runs valued alike")


def _of_run(result: "Result", device: Device | None, *, allow_assumed: bool) -> Valued:
    """What ciphers cost by a run: valued by the card that is named, else by its own, else by its meter.

    Raises InputError where it has none of them.
    """
    from wattlock.energy.valuing import measured, value

    if device is None and result.plan["device"] is not None:
        device = device_cards.kept(result.plan["device"], result.plan["device_card"])
        # Who measured the run with a card has allowed its numbers then.
        allow_assumed = True
    if device is None:
        if result.meter is None or result.energies is None:
            raise InputError("the run has no energy", hint="name a device card with --device, or take a meter's run")
        scope, baseline = result.meter["scope"], result.meter["baseline"]
        valued = measured(result.estimates, result.energies, scope=scope, baseline=baseline)
        found = cipher_costs.measured(
            valued,
            processes=result.processes,
            clock_Hz=None,
            counts_cycles=False,
            narrowed_by="longer blocks, or a finer meter",
        )
        return Valued("the run's machine", None, DeviceCosts(found, [], [], []))
    device = device.on(next(iter(result.core_classes), None))
    clock = device.card.frequency
    found = cipher_costs.measured(
        value(result.estimates, device, isa=result.isa, allow_assumed=allow_assumed),
        processes=result.processes,
        clock_Hz=clock.in_SI if clock else None,
        counts_cycles=device.card.counts_cycles,
        narrowed_by="more processes of the run",
    )
    return Valued(device.name, device, DeviceCosts(found, [], [], []))


LEAST_SIGMA = 1e-6
"""No weight is infinite: a run whose interval rounds to nothing counts as this narrow."""


def pooled(runs: Iterable[Sequence[CipherCost]]) -> list[CipherCost]:
    """The costs of several runs of one device, each cipher of a provider once, in the order of the first run."""
    found: dict[tuple[str, str], list[CipherCost]] = {}
    for costs in runs:
        for cost in costs:
            found.setdefault((cost.cipher, cost.provider), []).append(cost)
    return [_one(several) for several in found.values()]


def _one(several: Sequence[CipherCost]) -> CipherCost:
    narrowest = min(several, key=lambda cost: cost.log_sigma)
    alike = [cost for cost in several if cost.sizes_B == narrowest.sizes_B and cost.evidence == narrowest.evidence]
    if len(alike) == 1:
        return narrowest
    weights = np.array([max(cost.log_sigma, LEAST_SIGMA) ** -2.0 for cost in alike])

    def mean(values: Sequence[Sequence[float]]) -> list[float]:
        return [float(value) for value in np.exp(weights @ np.log(np.asarray(values)) / weights.sum())]

    seal_J = mean([cost.seal_J for cost in alike])
    return narrowest._replace(
        seal_J=seal_J,
        open_J=mean([cost.open_J for cost in alike]),
        seal_s=mean([cost.seal_s for cost in alike]),
        open_s=mean([cost.open_s for cost in alike]),
        log_sigma=_scale(alike, weights, seal_J) / math.sqrt(weights.sum()),
        source=f"{len(alike)} runs",
        processes=sum(cost.processes for cost in alike),
    )


def _scale(alike: Sequence[CipherCost], weights: np.ndarray, mean_J: Sequence[float]) -> float:
    """By what the runs differ more than their uncertainties say, in the mean of the sizes; at least 1."""
    off = np.log(np.asarray([cost.seal_J for cost in alike]) / np.asarray(mean_J))
    chi_squared = float((weights @ off**2).mean())
    return max(1.0, math.sqrt(chi_squared / (len(alike) - 1)))


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


def described(cost: CipherCost) -> dict[str, str | float | None]:
    """Whose code a cost is of and how it was counted; None where a run says it."""
    return {key: getattr(cost.origin, key) if cost.origin else None for key in DESCRIBED}


def records(priced: DeviceCosts, question: Question) -> list[dict[str, Any]]:
    """All that is known, a row a cipher: `ranked`, and `why_not` where it is not."""
    found = [_record(cost, question, "") for cost in priced.taken]
    found += [_record(cost, question, f"assumed: {cost.doubt}") for cost in priced.unranked]
    found += [_record(cost, question, _passed_over(cost)) for cost in priced.slower]
    return found + [
        {
            "cipher": None,
            "provider": f"{engine.name}, hardware",
            "does": engine.does,
            "ranked": False,
            "why_not": NO_FIGURE,
            "source": engine.source,
        }
        for engine in priced.engines
    ]


def _passed_over(cost: CipherCost) -> str:
    """Why a cost is not ranked beside another of its cipher."""
    if cost.doubt:
        return f"assumed: {cost.doubt}"
    if cost.origin and not is_sound(cost):
        return f"its time: {cost.origin.timing}"
    return "a faster one is known"


def _record(cost: CipherCost, question: Question, why_not: str) -> dict[str, Any]:
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


def shown(question: Question) -> CostedMessage:
    """The message for which costs are shown, the question's first."""
    return messages(question)[0]._replace(per_s=1.0)


def operation(message: CostedMessage) -> str:
    """What the device does with it."""
    return "open" if message.opened else "seal"


def rows(priced: DeviceCosts, question: Question, *, slower: bool = False) -> list[dict[str, str]]:
    """All costs as a table for eyes, ciphers of one code in one row, `url` last; none where a run says the costs.

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
    for engine in priced.engines:
        found[(engine.name,)] = {
            "ciphers": engine.does,
            "implementation": engine.name,
            "language": "hardware",
            "counted on": "",
            "as": "",
            "timing": "",
            cycles_of: NO_FIGURE,
            "evidence": "",
            "ranked": f"no: {BRING}",
            "source": engine.source,
            "url": "",
        }
    return list(found.values())


def by_code(priced: DeviceCosts, question: Question) -> list[dict[str, Any]]:
    """What each ranked cipher takes by this code, by the best published code and by hardware, a row a cipher.

    * Of each kind: `cycles` of the question's first message with both ends of their interval, whose and how counted;
      null where nobody has a figure. No rows where a run says the costs.
    """
    costs = [cost for cost in (*priced.taken, *priced.unranked, *priced.slower) if cost.origin]
    first = shown(question)
    return [
        {"cipher": cipher, "message_B": first.octets_B, "operation": operation(first)}
        | {kind.replace(" ", "_"): _least(costs, cipher, kind, first) for kind in KINDS}
        for cipher in dict.fromkeys(cost.cipher for cost in priced.taken if cost.origin)
    ]


def _least(costs: list[CipherCost], cipher: str, kind: Kind, message: CostedMessage) -> dict[str, Any] | None:
    """The fewest cycles of a kind; what needs no consent before what does."""
    of_kind = [cost for cost in costs if cost.cipher == cipher and cost.origin and cost.origin.kind == kind]
    best = min(of_kind, key=lambda cost: (bool(cost.doubt), cost.spent([message])), default=None)
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


def by_code_rows(priced: DeviceCosts, question: Question) -> list[dict[str, str]]:
    """The costs by code as a table for eyes."""
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


def _ranked_by(priced: DeviceCosts, cipher: str) -> str:
    return ", ".join(cost.origin.kind for cost in priced.taken if cost.cipher == cipher and cost.origin)


def share_for_the_very_core(costs: list[CipherCost]) -> float:
    """The share of choices, by their costs, that were counted or published for the device's own core."""
    return sum(not cost.doubt for cost in costs) / len(costs)
