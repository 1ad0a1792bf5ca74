"""Answers as rows: a summary of each, its ledger, its nodes, its hops, its positions."""

import math
from collections.abc import Sequence
from typing import Any

from wattlock.link.joules import Interval, RadioEnergy
from wattlock.link.ledger import Line
from wattlock.link.wifi.evaluate import Answer, Refused
from wattlock.link.wifi.position import Distribution
from wattlock.link.wifi.transfer import STATES

Row = dict[str, Any]


def summary(answer: Answer, first: Answer) -> Row:
    """One row of a scenario, compared with `first`.

    * `ratio`: of durations; None where one of the two loses packets for good, as it ends sooner for that.
      `no_ratio`: why there is none.
    """
    found, why = figures(answer), no_ratio(answer, first)
    return {
        "scenario": answer.named.label,
        "duration_s": found["duration_s"],
        "ratio": None if why else answer.duration_ns / first.duration_ns,
        "no_ratio": why,
        **found,
    }


def figures(answer: Answer) -> Row:
    """What a scenario takes.

    * `payload_Mb_s`: of the plaintext in the share of packets that arrive.
    """
    sent = answer.transfer
    plain_B = sum(group.parts.plain_B for group in answer.groups)
    cipher, radios = _cipher(answer), answer.by_states
    low, high = _share_interval(cipher, radios)
    return {
        "duration_s": answer.duration_ns * 1e-9,
        "payload_Mb_s": plain_B * 8e3 / answer.duration_ns * sent.delivered / sent.requested,
        "octets_B": sum(line.octets_B for line in sent.lines),
        "delivered_percent": 100 * sent.delivered / sent.requested,
        "retries": sent.retries,
        "total_J": answer.total_J,
        "marginal_J": answer.marginal_J,
        "cipher_J": cipher.J if cipher else None,
        "cipher_share": _share(cipher, radios),
        "cipher_share_low": low,
        "cipher_share_high": high,
        "evidence": answer.evidence,
    }


def refused(one: Refused) -> Row:
    """The row of a scenario that can't be: why, in place of numbers."""
    return {"scenario": one.label, "refused": one.error.message.removeprefix(f"link {one.label}: ")}


def no_ratio(answer: Answer, first: Answer) -> str | None:
    """Why a duration has no ratio to that of `first`; None where it has one."""
    for one, whose in ((answer, ""), (first, "the first ")):
        if not one.transfer.complete:
            return f"{whose}delivers {_percent(one)} of its packets"
    return None


def _percent(answer: Answer) -> str:
    # Never rounded to all of them.
    percent = math.floor(1000 * answer.transfer.delivered / answer.transfer.requested) / 10
    return f"{percent:g} %"


def ledger(answer: Answer) -> list[Row]:
    """A row a line, then one of their sums, which are the transfer's octets, nanoseconds and joules."""
    floor_J = sum(one.floor_J for one in answer.by_states) if answer.by_states else None
    found = [_line(answer, line) for line in answer.transfer.lines]
    if any(PER_LINE in one.by_line_J for one in answer.by_states):
        J = sum(one.by_line_J.get(PER_LINE, 0.0) for one in answer.by_states)
        found.append(_row(PER_LINE[0], J=J))
    if floor_J is not None:
        found.append(_row("idle floor", J=floor_J))
    octets_B, time_ns = (sum(row[key] for row in found) for key in ("octets_B", "time_ns"))
    total_J = math.fsum(row["energy_J"] for row in found) if answer.by_states else None
    return [*found, _row("total", None, octets_B, time_ns, percent=100.0, J=total_J)]


PER_LINE = ("packets by the linear model", None)


def nodes(answer: Answer) -> list[Row]:
    """A row a node and model of its card, from where the data comes; one without joules where a node has no card."""
    found: list[Row] = []
    for role in answer.named.scenario.roles:
        own = [_node(answer, one) for one in answer.radios if one.role == role]
        found += own or [{"node": role, "card": None, **_seconds(answer, role)}]
    return found


def hops(answer: Answer) -> list[Row]:
    """A row a hop, and one of what belongs to none."""
    lines = answer.transfer.lines
    found: list[Row] = []
    for hop in sorted({line.hop for line in lines}, key=lambda hop: hop or math.inf):
        own = [line for line in lines if line.hop == hop]
        joules = [J for line in own if (J := answer.joules_of(line)) is not None]
        octets_B, time_ns = sum(line.octets_B for line in own), sum(line.time_ns for line in own)
        marginal_J = sum(joules) if joules else None
        found.append({"hop": hop, "octets_B": octets_B, "time_ns": time_ns, "marginal_J": marginal_J})
    return found


def positions(answer: Answer) -> list[Row]:
    """Duration and joules of the radios over positions: as drawn, then 3 dB stronger and 3 dB weaker.

    A transfer that loses packets has no end: where the median, or a limit, is one of those, it is None.
    """
    return [
        {
            "signal_dB": one.offset_dB,
            "positions": one.positions,
            **_spread("duration", "s", one.ended_s),
            **_spread("energy", "J", one.energy_J),
            "delivered_percent": 100 * one.delivered.median,
            "delivered_low_percent": 100 * one.delivered.low,
            "complete_percent": 100 * one.complete,
        }
        for one in answer.positions
    ]


def works(answer: Answer) -> list[Row]:
    """What hosts compute: time, joules, evidence."""
    return [
        {"work": one.what, "node": one.role, "busy_ns": one.busy_ns, **_interval("energy", one.energy)}
        | {"evidence": one.evidence, "basis": one.basis}
        for one in answer.works
    ]


def record(answer: Answer, first: Answer) -> Row:
    """All of it, nested, for programs."""
    return {
        **summary(answer, first),
        "title": answer.named.title,
        "duration_ns": answer.duration_ns,
        "engine": answer.named.scenario.engine,
        "seed": answer.named.scenario.seed,
        "ledger": ledger(answer),
        "hops": hops(answer),
        "nodes": nodes(answer),
        "works": works(answer),
        "positions": positions(answer),
        "notes": sentences(answer),
    }


def _share(cipher: Interval | None, radios: Sequence[RadioEnergy]) -> float | None:
    """The cipher's joules as a share of the cipher's and the radios' marginal ones."""
    marginal_J = sum(one.marginal.J for one in radios)
    return cipher.J / (cipher.J + marginal_J) if cipher and marginal_J > 0 else None


def _share_interval(cipher: Interval | None, radios: Sequence[RadioEnergy]) -> tuple[float | None, float | None]:
    """95 % of that share: both sides at their far ends at once, which is wide on the safe side."""
    if cipher is None:
        return None, None
    low_J, high_J = (sum(getattr(one.marginal, side) for one in radios) for side in ("low_J", "high_J"))
    if low_J <= 0:
        return None, None
    return cipher.low_J / (cipher.low_J + high_J), cipher.high_J / (cipher.high_J + low_J)


def notes(answers: Sequence[Answer]) -> list[str]:
    """What a reader should hear beside the numbers of several answers; what is not of all of them says of which."""
    whose: dict[str, list[str]] = {}
    for one in answers:
        for sentence in sentences(one):
            whose.setdefault(sentence, []).append(one.named.label)
    return [sentence if len(of) == len(answers) else f"{'; '.join(of)}: {sentence}" for sentence, of in whose.items()]


def sentences(answer: Answer) -> list[str]:
    """What a reader should hear beside the numbers of one answer."""
    notes = []
    sent = answer.transfer
    if not sent.complete:
        lost = f"{sent.requested - sent.delivered} of {sent.requested} packets are lost for good"
        notes.append(f"{lost}: the duration is the sender's until it gave up, and is compared with none")
    if not answer.by_states:
        notes.append("no joules: name a radio card with --radio (`wattlock devices --kind radio`)")
    if answer.named.scenario.payload.cipher and not answer.works:
        hint = "--run names a run that measured it; or --device CARD --set cost.cycles_per_B=20 --allow-assumed"
        notes.append(f"the cipher's own cost is not counted: {hint}")
    if answer.positions and answer.positions[0].positions > 1:
        notes.append("ledger, nodes and hops are of the median position; the signal's rows are of all of them")
    if answer.positions and len({one.offset_dB for one in answer.positions}) > 1:
        notes.append("errors by noise are cliffs in this model: read the rows 3 dB stronger and weaker too")
    return notes


def _cipher(answer: Answer) -> Interval | None:
    """What the cipher spends at both ends, joined on the safe side."""
    found = [one.energy for one in answer.works if one.what.startswith("cipher") and one.energy]
    return Interval(*map(sum, zip(*found, strict=True))) if found else None


def _line(answer: Answer, line: Line) -> Row:
    percent = 100 * line.time_ns / answer.duration_ns
    return _row(line.what, line.hop, line.octets_B, line.time_ns, percent=percent, J=answer.joules_of(line))


def _row(
    what: str, hop: int | None = None, octets_B: int = 0, time_ns: int = 0, *, percent: float = 0.0, J: float | None
) -> Row:
    return {
        "line": what,
        "hop": hop,
        "octets_B": octets_B,
        "time_ns": time_ns,
        "time_percent": percent,
        "energy_J": J,
    }


def _node(answer: Answer, one: RadioEnergy) -> Row:
    return {
        "node": one.role,
        "card": one.card,
        "model": one.model,
        **_seconds(answer, one.role),
        **_interval("total", one.total),
        **_interval("marginal", one.marginal),
        "evidence": one.evidence,
        "assumed": ", ".join(one.doubted) or None,
    }


def _seconds(answer: Answer, role: Any) -> Row:
    states = answer.transfer.states_ns[role]
    # While the air waits for hosts, radios idle.
    waited_ns = answer.duration_ns - answer.transfer.duration_ns
    return {f"{state}_s": (states[state] + (waited_ns if state == "idle" else 0)) * 1e-9 for state in STATES}


def _interval(name: str, value: Interval | None) -> Row:
    keys = (f"{name}_J", f"{name}_low_J", f"{name}_high_J")
    return dict(zip(keys, value or (None, None, None), strict=True))


def _spread(name: str, unit: str, value: Distribution | None) -> Row:
    keys = (f"{name}_{unit}", f"{name}_low_{unit}", f"{name}_high_{unit}")
    finite = [one if math.isfinite(one) else None for one in value] if value else (None, None, None)
    return dict(zip(keys, finite, strict=True))
