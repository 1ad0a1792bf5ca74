"""Answers of radios that are not 802.11 as rows: a summary, and all of it for programs."""

from __future__ import annotations

from typing import Any

from wattlock.link.lowpower.linear import Answer


def title(answer: Answer) -> str:
    """A message in words, with its length."""
    octets = "octet" if answer.message.payload_B == 1 else "octets"
    return f"{answer.message.title}, {answer.message.payload_B:,} {octets}"


def nodes(answer: Answer) -> list[dict[str, Any]]:
    """What each node spends."""
    return [one._asdict() for one in answer.energies]


def summary(label: str, answer: Answer, first: Answer) -> dict[str, Any]:
    """One row of a message, compared with `first`; joules are those of all nodes that have a card."""
    energies = answer.energies
    return {
        "scenario": label,
        "duration_s": answer.ledger.time_ns * 1e-9,
        "ratio": answer.ledger.time_ns / first.ledger.time_ns if first.ledger.time_ns else None,
        "octets_B": answer.ledger.octets_B,
        "frames": answer.ledger.frames,
        "total_uJ": sum(one.total_uJ for one in energies),
        "marginal_uJ": sum(one.marginal_uJ for one in energies),
        "evidence": "assumed" if any(one.assumed for one in energies) else "modelled",
    }


def record(label: str, answer: Answer, first: Answer) -> dict[str, Any]:
    """All of it, nested, for programs."""
    found = summary(label, answer, first) | {"title": title(answer), "payload_B": answer.message.payload_B}
    return found | {"ledger": answer.rows(), "nodes": nodes(answer)}
