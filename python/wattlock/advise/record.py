"""The decision record: what an auditor reads, as sections of sentences, facts and tables; and as Markdown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import wattlock
from wattlock.advise.answer import Advice, notes
from wattlock.advise.days import GROUPS, DAY_s
from wattlock.advise.quantity import LEAST, percent, spoken
from wattlock.advise.question import Flow

Row = Mapping[str, Any]
ALTERNATIVES = 20
THOUSAND = 1_000


@dataclass(frozen=True)
class Section:
    """A part of the record.

    * `facts`: labels with values. `rows`: a table, whose columns are the keys of its first row.
    """

    title: str
    sentences: list[str] = field(default_factory=list)
    facts: list[tuple[str, str]] = field(default_factory=list)
    rows: list[dict[str, str]] = field(default_factory=list)


def title(of: Advice) -> str:
    """What the record is called."""
    return f"Decision record: {of.asked.title}"


def sections(of: Advice, more: Mapping[str, Sequence[Row]], command: str) -> list[Section]:
    """The whole record: question, answer, constraints, alternatives, evidence, sources, what would change it.

    * `more`: the tables beside the answer, by key. `command`: what repeats it.
    """
    found = [
        Section("The answer", _answer(of)),
        Section("The question", [of.asked.note] if of.asked.note else [], _question(of)),
        Section("What a choice must keep", [], _floor(of)),
        Section(
            "Alternatives",
            ["Days are medians with 95 % intervals; one rank holds choices that are tied."],
            rows=_ranked(of),
        ),
        Section(
            "Excluded, and by which rule",
            [] if of.excluded else ["Nothing was."],
            rows=_plain(of.excluded_frame.to_dicts()),
        ),
        Section("What the papers advise, and why it is not followed", _history(of)),
        Section(
            "Evidence",
            [*(f"Assumed: {one}." for one in of.things.assumed), *(f"{one}." for one in notes(of))],
            _evidence(of),
        ),
        Section("What would change the decision", _change(of), rows=_plain(of.narrowing_frame.to_dicts())),
    ]
    found += [Section(TITLES[key], rows=_plain(list(rows))) for key, rows in more.items() if rows]
    found.append(Section("Where the ciphers' costs come from", rows=_costs(of)))
    found.append(Section("Sources on security", rows=_sources(of)))
    found.append(
        Section(
            "How to repeat it",
            ["The draws come from the seed: the same command gives the same numbers."],
            [
                ("Command", command),
                ("Seed", str(of.asked.seed)),
                ("Draws", f"{of.world.draws:,}"),
                ("Asked on", of.today.isoformat()),
                ("wattlock", wattlock.__version__),
            ],
        )
    )
    return found


TITLES = {
    "experiments": "Ways to spend less",
    "energy_first": "A message's budget, energy first",
    "pareto": "Strength, days and latency",
    "sensitivity": "Where the answer flips",
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


def _answer(of: Advice) -> list[str]:
    best, choice, load = of.best, of.choices[of.best.number], of.loads[of.best.number]
    between = f"{_number(best.low_s / DAY_s)} to {_number(best.high_s / DAY_s)}"
    days = f"{_number(best.seconds / DAY_s)} days of battery ({between})"
    said = [f"{choice.cipher} of {choice.provider} ({choice.label}): {days}."]
    if len(of.tied) > 1:
        names = "; ".join(dict.fromkeys(one.label for one in of.tied[1:6]))
        said.append(f"It is tied with {len(of.tied) - 1} more ({names} ...): choose among them on security.")
        said.append(f"The strongest of them is {of.strongest.label} of {of.strongest.provider}.")
    # The four always; what a device does beside them where it shows.
    of_all = {group: load.group_W(group) / load.total_W for group in GROUPS}
    shares = ", ".join(
        f"{group} {percent(of_all[group])}" for group in GROUPS if group in ALWAYS or of_all[group] >= LEAST
    )
    said.append(f"Of the energy: {shares}.")
    return said


ALWAYS = ("cipher", "radio", "handshake", "idle")


def _question(of: Advice) -> list[tuple[str, str]]:
    asked = of.asked
    flows = (f"{flow.name}: {_sizes(flow)} every {spoken(flow.every)}, {flow.direction}" for flow in asked.flow)
    found = [
        ("Traffic", "; ".join(flows)),
        ("Device", of.things.name),
        ("Radio", f"{of.things.sender.radio.name}, {of.things.sender.rest} between messages"),
        ("Battery", f"{of.things.battery.battery.name}, by the {of.things.battery.model} model"),
        ("Asleep", f"{of.things.draws.sleep_W * 1e6:.4g} uW"),
    ]
    if asked.session:
        found.append(
            ("Session", f"{asked.session.sent} + {asked.session.received} B every {spoken(asked.session.every)}")
        )
    if asked.keep_alive:
        found.append(("Keep-alive", f"every {spoken(asked.keep_alive.every)}"))
    if asked.association:
        found.append(("Association", f"{spoken(asked.association.time)} every {spoken(asked.association.every)}"))
    if asked.wake_up:
        found.append(("Wake-up", spoken(asked.wake_up.time)))
    if asked.source:
        found.append(("Conditions by", asked.source))
    return found


def _sizes(flow: Flow) -> str:
    return " + ".join(f"{count} x {size_B} B" for size_B, count in flow.sizes or [[flow.message or 0, 1]])


def _floor(of: Advice) -> list[tuple[str, str]]:
    floor = of.asked.floor
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


def _ranked(of: Advice) -> list[dict[str, str]]:
    found = []
    for place in of.places[:ALTERNATIVES]:
        choice, load = of.choices[place.number], of.loads[place.number]
        found.append(
            {
                "rank": str(place.group),
                "choice": choice.label,
                "provider": choice.provider,
                "days": _number(place.seconds / DAY_s),
                "95 %": f"{_number(place.low_s / DAY_s)} to {_number(place.high_s / DAY_s)}",
                "cipher": f"{load.group_W('cipher') / load.total_W:.1%}",
                "radio": f"{load.group_W('radio') / load.total_W:.1%}",
                "latency": "not known" if load.latency_s != load.latency_s else spoken(load.latency_s),
                "B on the air": _number(load.octets_B),
                "strength": f"{choice.stands.strength_bits:g}",
            }
        )
    return found


def _history(of: Advice) -> list[str]:
    return [
        f"{one.advice}. {one.cipher} would change the days by {'at most ' if one.at_most else ''}"
        f"{one.saves_percent:+.2g} % "
        f"({one.saves_low_percent:+.2g} to {one.saves_high_percent:+.2g}). Not done: {one.not_done}."
        for one in of.history
    ] or ["None of their ciphers is meant for messages of this size."]


def _evidence(of: Advice) -> list[tuple[str, str]]:
    return [(what.capitalize(), kind) for what, kind in of.evidence.items()]


def _change(of: Advice) -> list[str]:
    if not of.narrowing:
        return []
    first = of.narrowing[0]
    return [
        f"Measure first: {first.number} ({first.how}). It would narrow the interval by {max(first.narrower, 0):.0%}."
    ]


def _costs(of: Advice) -> list[dict[str, str]]:
    costs = {(one.cost.cipher, one.cost.provider): one.cost for one in of.choices}
    return [
        {"cipher": cost.cipher, "provider": cost.provider, "evidence": cost.evidence, "source": cost.source}
        for cost in costs.values()
    ]


def _sources(of: Advice) -> list[dict[str, str]]:
    found: dict[tuple[str, str], dict[str, str]] = {}
    for choice in (of.choices[place.number] for place in of.places[:ALTERNATIVES]):
        for said in choice.stands.statements:
            row = {
                "cipher": choice.cipher,
                "about": said.about,
                "says": said.says,
                "source": said.source,
                "read": "yes" if said.read else "cited",
            }
            found.setdefault((choice.cipher, said.says), row)
    return list(found.values())


def _plain(rows: Sequence[Row]) -> list[dict[str, str]]:
    return [{key.replace("_", " "): _number(value) for key, value in row.items()} for row in rows]


def _number(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= THOUSAND else f"{value:.3g}"
