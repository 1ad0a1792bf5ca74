"""The decision record: what an auditor reads, as the sections of a document."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import wattlock
from wattlock.advise import decision, pricing, prose
from wattlock.advise.advice import Advice
from wattlock.advise.days import SPLIT, DAY_s
from wattlock.advise.question import Flow, spoken, watts
from wattlock.advise.sensitivity import usual

Row = Mapping[str, Any]

ALTERNATIVES, OPTIONS = 20, 10

UNDECIDED = "to be named"

# What three digits round up to a thousand is written as one.
THOUSAND = 999.5


def as_object(of: Advice) -> dict[str, Any]:
    """The whole answer as one object: `ranked` first, then `excluded`."""
    first = of.information[0] if of.information else None
    return {
        "ranked": of.ranked.to_dicts(),
        "excluded": of.excluded_frame.to_dicts(),
        **decision.decision_object(of),
        "history": of.history_frame.to_dicts(),
        "costs": pricing.records(of.inputs.priced, of.question),
        "by_code": pricing.by_code(of.inputs.priced, of.question),
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


def whole(of: Advice, more: Mapping[str, Sequence[Row]], command: str, decider: str | None = None) -> dict[str, Any]:
    """The record as one object that JSON can hold: its head, the answer and the tables beside it."""
    about = {label.lower(): value for label, value in head(of, decider)}
    found: dict[str, Any] = finite({"title": title(of), **about, "command": command, **as_object(of), **more})
    return found


def finite(value: Any) -> Any:
    """Numbers that are none become null, as JSON has it."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):  # noqa: PLR0124 - nan
        return None
    if isinstance(value, dict):
        return {key: finite(one) for key, one in value.items()}
    if isinstance(value, list):
        return [finite(one) for one in value]
    return value


def title(of: Advice) -> str:
    """What the record is called."""
    return f"Decision record: {prose.title(of.question)}"


def head(of: Advice, decider: str | None) -> list[tuple[str, str]]:
    """What stands at a record's head."""
    return [("Status", "proposed"), ("Date", of.today.isoformat()), ("Decider", decider or UNDECIDED)]


class Link(NamedTuple):
    """Words that lead to an address."""

    words: str
    address: str


Cell = str | Link


class DaysBar(NamedTuple):
    """A line of the figure of days: its name, the median and the 95 % interval."""

    name: str
    days: float
    low: float
    high: float
    decided: bool


@dataclass(frozen=True)
class DaysFigure:
    """Days of battery of the options, beside those without cryptography."""

    bars: list[DaysBar]
    without: float
    kind: str


@dataclass(frozen=True)
class SplitFigure:
    """Where the battery's energy goes: named shares that add up to 1."""

    of: str
    shares: list[tuple[str, float]]
    kind: str


Figure = DaysFigure | SplitFigure


@dataclass(frozen=True)
class Section:
    """A part of the record.

    * `facts`: labels with values. `rows`: a table, whose columns are the keys of its first row. `figures`: by name.
    * `appendix`: whether it stands behind the record, and not on its paper.
    """

    title: str
    sentences: list[str] = field(default_factory=list)
    facts: list[tuple[str, str]] = field(default_factory=list)
    rows: list[dict[str, Cell]] = field(default_factory=list)
    figures: dict[str, Figure] = field(default_factory=dict)
    appendix: bool = False


def sections(of: Advice, more: Mapping[str, Sequence[Row]], command: str, decider: str | None = None) -> list[Section]:
    """The whole record: decision and consequences, context, options, reasons and evidence; then what backs them.

    * `more`: the tables beside the answer, by key. `command`: what repeats it. `decider`: who decides.
    """
    return [
        Section(
            "Decision", [decision.sentence(of)], head(of, decider), figures={"days": _days(of), "energy": _split(of)}
        ),
        Section("Consequences", [], decision.consequences(of)),
        _context(of),
        _options(of),
        Section("Reasons", [*prose.ties(of), *filter(None, [decision.tag(of)]), decision.cost(of)]),
        _evidence(of),
        _repeated(of, command),
        *_appendix(of, more),
    ]


def _context(of: Advice) -> Section:
    return Section("Context", [of.question.note] if of.question.note else [], _question(of) + _required(of))


def _options(of: Advice) -> Section:
    every, shown = decision.options(of), decision.first_options(of, OPTIONS)
    left = len(every) - len(shown)
    sentences = [
        "A row stands for all choices of a cipher, whatever their tag, framing and implementation; ciphers of one rank "
        "that differ by their mode alone share a row. It shows the longest-lasting of them, or what is decided."
    ]
    if left > 0:
        sentences.append(f"{left} more {'row' if left == 1 else 'rows'} of lower rank: see All choices.")
    if of.excluded:
        ciphers = ", ".join(dict.fromkeys(one.choice.cipher for one in of.excluded))
        sentences.append(f"Excluded, all or in part: {ciphers}; see Excluded.")
    return Section("Options considered", sentences, rows=[_option(of, one) for one in shown])


def _days(of: Advice) -> DaysFigure:
    bars = [
        DaysBar(
            f"{one.rank}. {one.name}",
            one.place.seconds / DAY_s,
            one.place.low_s / DAY_s,
            one.place.high_s / DAY_s,
            one.decided,
        )
        for one in decision.first_options(of, OPTIONS)
    ]
    return DaysFigure(bars, decision.without(of)["days"], of.evidence["answer"])


def _option(of: Advice, one: decision.Option) -> dict[str, Cell]:
    choice = of.choices[one.place.number]
    life = prose.span(one.place, in_hours=prose.short_lived(of.best))
    return {
        "option": f"{one.name} (decided)" if one.decided else one.name,
        "rank": str(one.rank),
        life.unit: life.middle,
        "95 %": life.interval,
        "choices": str(one.ways),
        "way": f"{choice.label}, by {choice.provider}",
        "cost evidence": choice.cost.evidence,
        "strength": f"{choice.security.strength_bits:g}",
    }


def _split(of: Advice) -> SplitFigure:
    shares = of.shares(decision.decided(of).number)
    named = [(decision.PARTS[group], shares[group]) for group in SPLIT if shares[group] > 0]
    return SplitFigure(of.strongest.label, named, of.evidence["answer"])


def _evidence(of: Advice) -> Section:
    assumed = [f"Assumed: {sentence}." for sentence in of.inputs.assumed]
    notes = [f"{note[0].upper()}{note[1:]}." for note in prose.notes(of)]
    return Section("Evidence", [*assumed, *notes], [(what.capitalize(), kind) for what, kind in of.evidence.items()])


def _repeated(of: Advice, command: str) -> Section:
    return Section(
        "How to repeat it",
        ["The samples come from the seed: the same command gives the same numbers."],
        [
            ("Command", command),
            ("Seed", f"{of.question.seed}, {of.monte_carlo.draws:,} samples"),
            ("wattlock", wattlock.__version__),
        ],
    )


def _appendix(of: Advice, more: Mapping[str, Sequence[Row]]) -> list[Section]:
    notes = {"experiments": _starts(of), "energy_first": [prose.BUDGET]}
    beside = [
        Section(TITLES[key], notes.get(key, []), rows=_plain(prose.described(key, rows)), appendix=True)
        for key, rows in more.items()
        if rows
    ]
    return [
        _choices(of),
        Section(
            "Excluded",
            [] if of.excluded else ["Nothing was."],
            rows=_plain(_linked(of.excluded_frame.to_dicts())),
            appendix=True,
        ),
        Section(
            "What would narrow the answer", _narrower(of), rows=_plain(of.information_frame.to_dicts()), appendix=True
        ),
        *beside,
        *_by_code(of),
        Section("Where the ciphers' costs come from", rows=_costs(of), appendix=True),
        Section("Sources on security", rows=_sources(of), appendix=True),
        Section("Legacy ciphers, for reference", _history(of), appendix=True),
    ]


def _by_code(of: Advice) -> Iterator[Section]:
    rows = pricing.by_code_rows(of.inputs.priced, of.question)
    if rows:
        note = "The interval is of what is not known of the code on this device; the device card's own comes on top."
        yield Section(pricing.BY_CODE, [note], rows=_plain(rows), appendix=True)


def _choices(of: Advice) -> Section:
    left = len(of.places) - ALTERNATIVES
    described = "1 more choice passes" if left == 1 else f"{left} more choices pass"
    return Section(
        "All choices",
        [
            "Days are medians with 95 % intervals; one rank holds choices that are tied.",
            *(f"{name}: {title}." for name, title in prose.framing(of)),
            *([f"These are the first {ALTERNATIVES}; {described}, in this order after them."] if left > 0 else []),
        ],
        rows=[dict(row) for row in prose.rows(of, ALTERNATIVES)],
        appendix=True,
    )


def _starts(of: Advice) -> list[str]:
    return [f"Each starts from what is usual: {prose.named(usual(of))}.", *filter(None, [prose.without_gain(of)])]


TITLES = {
    "experiments": "Ways to spend less",
    "energy_first": "A message's budget, energy first",
    "pareto": "Strength, days and latency",
    "sensitivity": "Where the answer changes",
}


def _linked(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Rows whose sources lead to their addresses."""
    return [
        {key: linked(value, row["url"]) if key == "source" else value for key, value in row.items() if key != "url"}
        for row in rows
    ]


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


def _required(of: Advice) -> list[tuple[str, str]]:
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
    found = prose.history(of.history)
    if not found:
        return ["None of the papers' ciphers is meant for messages of this size."]
    return ["What the papers advise, and why it is not followed. None of these was an option.", *found]


def _narrower(of: Advice) -> list[str]:
    if not of.information:
        return []
    return [f"Measure first: {prose.narrower(of.information[0])}."]


def _costs(of: Advice) -> list[dict[str, Cell]]:
    described = pricing.rows(of.inputs.priced, of.question, slower=True)
    if described:
        return _linked(described)
    costs = {(choice.cost.cipher, choice.cost.provider): choice.cost for choice in of.choices}
    return [
        {"cipher": cost.cipher, "provider": cost.provider, "evidence": cost.evidence, "source": cost.source}
        for cost in costs.values()
    ]


def _sources(of: Advice) -> list[dict[str, Cell]]:
    found: dict[tuple[str, str], dict[str, Cell]] = {}
    for choice in (of.choices[place.number] for place in of.places[:ALTERNATIVES]):
        for statement in choice.security.statements:
            row: dict[str, Cell] = {
                "cipher": choice.cipher,
                "about": statement.about,
                "says": statement.says,
                "source": linked(statement.source, statement.url),
                "read": "yes" if statement.read else "cited",
            }
            found.setdefault((choice.cipher, statement.says), row)
    return list(found.values())


def _plain(rows: Sequence[Row]) -> list[dict[str, Cell]]:
    return [{key.replace("_", " "): _number(value) for key, value in row.items()} for row in rows]


def _number(value: Any) -> Cell:
    if value is None:
        return ""
    if isinstance(value, Link):
        return value
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= THOUSAND else f"{value:.3g}"


WEB = ("https://", "http://")


def markdown(heading: str, parts: Sequence[Section], drawings: Mapping[str, str] | None = None) -> str:
    """The record as Markdown.

    * `drawings`: the files of its figures, by the figures' names.
    """
    lines = [f"# {heading}", ""]
    for part in parts:
        lines += [f"## {part.title}", ""]
        for sentence in part.sentences:
            lines += [_cell(sentence), ""]
        if part.facts:
            lines += [*(f"- {label}: {_cell(value)}" for label, value in part.facts), ""]
        for name, figure in part.figures.items():
            if drawings and name in drawings:
                title, note = caption(figure)
                lines += [f"![{title}]({drawings[name]})", "", f"{title} ({figure.kind}). {_cell(note)}", ""]
        if part.rows:
            columns = list(part.rows[0])
            lines += [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
            lines += [f"| {' | '.join(_cell(row.get(name, '')) for name in columns)} |" for row in part.rows]
            lines.append("")
    return "\n".join(lines)


def caption(figure: Figure) -> tuple[str, str]:
    """What a figure is called, and what it shows."""
    if isinstance(figure, DaysFigure):
        return "Days of battery", "A dot is the median, its bar the 95 % interval; bold: decided."
    return "Where the battery's energy goes", f"With {figure.of}: {_shares(figure)}."


def _shares(figure: SplitFigure) -> str:
    return ", ".join(f"{name} {prose.short_share(share)}" for name, share in figure.shares)


def _cell(value: Cell) -> str:
    if isinstance(value, Link):
        return f"[{_cell(value.words)}]({value.address})"
    return value.replace("|", "\\|").replace("\n", " ")


def linked(words: str, address: str) -> Cell:
    """Words that lead to their address where they have one on the web."""
    return Link(words, address) if address.startswith(WEB) else words
