"""The decision record: what an auditor reads, as sections of sentences, facts and tables; and as Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import wattlock
from wattlock.advise import prose, sourcing
from wattlock.advise.advice import Advice
from wattlock.advise.quantity import spoken, watts
from wattlock.advise.question import Flow
from wattlock.advise.what_if import usual

Row = Mapping[str, Any]
ALTERNATIVES = 20
# What three digits round up to a thousand is written as one.
THOUSAND = 999.5


@dataclass(frozen=True)
class Section:
    """A part of the record.

    * `facts`: labels with values. `rows`: a table, whose columns are the keys of its first row.
    """

    title: str
    sentences: list[str] = field(default_factory=list)
    facts: list[tuple[str, str]] = field(default_factory=list)
    rows: list[dict[str, str]] = field(default_factory=list)


def as_object(of: Advice) -> dict[str, Any]:
    """The whole answer as one object: `ranked` first, then `excluded`."""
    first = of.information[0] if of.information else None
    return {
        "ranked": of.ranked.to_dicts(),
        "excluded": of.excluded_frame.to_dicts(),
        "history": of.history_frame.to_dicts(),
        "costs": sourcing.records(of.inputs.priced, of.question),
        "tied": [choice.label for choice in of.tied],
        "strongest": of.strongest.label,
        "assumed": of.inputs.assumed,
        "answer": prose.lead(of),
        "notes": prose.notes(of),
        "evidence": of.evidence,
        "narrowing": of.information_frame.to_dicts(),
        "narrow_by": None if first is None else {"number": first.number, "measure": first.how},
        "question": of.question.model_dump(mode="json"),
        "asked_on": of.today.isoformat(),
    }


def title(of: Advice) -> str:
    """What the record is called."""
    return f"Decision record: {prose.title(of.question)}"


def sections(of: Advice, more: Mapping[str, Sequence[Row]], command: str) -> list[Section]:
    """The whole record: question, answer, constraints, alternatives, evidence, sources, what would change it.

    * `more`: the tables beside the answer, by key. `command`: what repeats it.
    """
    found = [
        Section("The answer", prose.lead(of)),
        Section("The question", [of.question.note] if of.question.note else [], _question(of)),
        Section("What a choice must keep", [], _floor(of)),
        Section(
            "Alternatives",
            [
                "Days are medians with 95 % intervals; one rank holds choices that are tied.",
                *(f"{name}: {title}." for name, title in prose.framing(of)),
                *_left(len(of.places) - ALTERNATIVES),
            ],
            rows=prose.rows(of, ALTERNATIVES),
        ),
        Section(
            "Excluded, and by which rule",
            [] if of.excluded else ["Nothing was."],
            rows=_plain(of.excluded_frame.to_dicts()),
        ),
        Section("What the papers advise, and why it is not followed", _history(of)),
        Section(
            "Evidence",
            [
                *(f"Assumed: {one}." for one in of.inputs.assumed),
                *(f"{one[0].upper()}{one[1:]}." for one in prose.notes(of)),
            ],
            _evidence(of),
        ),
        Section("What would change the decision", _change(of), rows=_plain(of.information_frame.to_dicts())),
    ]
    notes = {"experiments": _starts(of), "energy_first": [prose.BUDGET]}
    found += [
        Section(TITLES[key], notes.get(key, []), rows=_plain(prose.described(key, rows)))
        for key, rows in more.items()
        if rows
    ]
    found.append(Section("Where the ciphers' costs come from", rows=_costs(of)))
    found.append(Section("Sources on security", rows=_sources(of)))
    found.append(
        Section(
            "How to repeat it",
            ["The draws come from the seed: the same command gives the same numbers."],
            [
                ("Command", command),
                ("Seed", str(of.question.seed)),
                ("Draws", f"{of.monte_carlo.draws:,}"),
                ("Asked on", of.today.isoformat()),
                ("wattlock", wattlock.__version__),
            ],
        )
    )
    return found


def _left(many: int) -> list[str]:
    described = "1 more choice passes" if many == 1 else f"{many} more choices pass"
    return [f"These are the first {ALTERNATIVES}; {described}, in this order after them."] if many > 0 else []


def _starts(of: Advice) -> list[str]:
    return [f"Each starts from what is usual: {prose.named(usual(of))}."]


TITLES = {
    "experiments": "Ways to spend less",
    "energy_first": "A message's budget, energy first",
    "pareto": "Strength, days and latency",
    "sensitivity": "Where the answer changes",
}


def markdown(heading: str, parts: Sequence[Section]) -> str:
    """The record as Markdown."""
    lines = [f"# {heading}", ""]
    for part in parts:
        lines += [f"## {part.title}", ""]
        for sentence in part.sentences:
            lines += [_cell(sentence), ""]
        if part.facts:
            lines += [*(f"- {label}: {_cell(value)}" for label, value in part.facts), ""]
        if part.rows:
            head = list(part.rows[0])
            lines += [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
            lines += [f"| {' | '.join(_cell(row.get(name, '')) for name in head)} |" for row in part.rows]
            lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _question(of: Advice) -> list[tuple[str, str]]:
    question = of.question
    flows = (
        f"{flow.name}: {_sizes(flow)} every {spoken(flow.every)}, {DIRECTIONS[flow.direction]}"
        for flow in question.flow
    )
    found = [
        ("Traffic", "; ".join(flows)),
        ("Device", of.inputs.name),
        ("Radio", f"{of.inputs.sender.radio.name}, {of.inputs.sender.rest} between messages"),
        ("Battery", f"{of.inputs.battery.battery.name}, by the {of.inputs.battery.model} model"),
        ("Asleep", watts(of.inputs.draws.sleep_W)),
    ]
    if question.session:
        found.append(
            (
                "Session",
                f"{question.session.sent} B sent, {question.session.received} B received, "
                f"every {spoken(question.session.every)}",
            )
        )
    if question.keep_alive:
        found.append(("Keep-alive", f"every {spoken(question.keep_alive.every)}"))
    if question.association:
        found.append(("Association", f"{spoken(question.association.time)} every {spoken(question.association.every)}"))
    if question.wake_up:
        found.append(("Wake-up", spoken(question.wake_up.time)))
    if question.source:
        found.append(("Conditions by", question.source))
    return found


DIRECTIONS = {"send": "sent", "receive": "received"}


def _sizes(flow: Flow) -> str:
    if flow.sizes is None:
        return f"{flow.message} B"
    return " + ".join(f"{count} x {size_B} B" for size_B, count in flow.sizes)


def _floor(of: Advice) -> list[tuple[str, str]]:
    floor = of.question.floor
    found = [
        ("Strength", f"{floor.strength:g} bits at least"),
        ("Authenticated", "yes" if floor.authenticated else "not asked"),
    ]
    found.append(("Tag", f"{floor.tag} bits at least"))
    if floor.approved:
        found.append(("Approved by", floor.approved.upper()))
    for label, value in (("Data stays secret for", floor.lifetime), ("Latency at most", floor.latency)):
        if value is not None:
            found.append((label, spoken(value)))
    if floor.memory is not None:
        found.append(("Memory at most", f"{floor.memory} B"))
    return found


def _history(of: Advice) -> list[str]:
    return prose.history(of.history) or ["None of their ciphers is meant for messages of this size."]


def _evidence(of: Advice) -> list[tuple[str, str]]:
    return [(what.capitalize(), kind) for what, kind in of.evidence.items()]


def _change(of: Advice) -> list[str]:
    if not of.information:
        return []
    return [f"Measure first: {prose.narrower(of.information[0])}."]


def _costs(of: Advice) -> list[dict[str, str]]:
    described = sourcing.rows(of.inputs.priced, of.question, slower=True)
    if described:
        return described
    costs = {(one.cost.cipher, one.cost.provider): one.cost for one in of.choices}
    return [
        {"cipher": cost.cipher, "provider": cost.provider, "evidence": cost.evidence, "source": cost.source}
        for cost in costs.values()
    ]


def _sources(of: Advice) -> list[dict[str, str]]:
    found: dict[tuple[str, str], dict[str, str]] = {}
    for choice in (of.choices[place.number] for place in of.places[:ALTERNATIVES]):
        for statement in choice.security.statements:
            row = {
                "cipher": choice.cipher,
                "about": statement.about,
                "says": statement.says,
                "source": statement.source,
                "read": "yes" if statement.read else "cited",
            }
            found.setdefault((choice.cipher, statement.says), row)
    return list(found.values())


def _plain(rows: Sequence[Row]) -> list[dict[str, str]]:
    return [{key.replace("_", " "): _number(value) for key, value in row.items()} for row in rows]


def _number(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= THOUSAND else f"{value:.3g}"
