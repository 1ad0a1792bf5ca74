"""The decision record: what an auditor reads, as the sections of a document."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import wattlock
from wattlock.advise import decision, pricing, prose
from wattlock.advise.answer import Advice
from wattlock.advise.days import SPLIT, DAY_s
from wattlock.advise.experiments import usual
from wattlock.advise.question import Flow, spoken, watts

Row = Mapping[str, Any]

ALTERNATIVES, OPTIONS = 20, 10

UNDECIDED = "to be named"

# What three digits round up to a thousand is written as one.
THOUSAND = 999.5


def as_object(advice: Advice) -> dict[str, Any]:
    """The whole answer as one object: `ranked` first, then `excluded`."""
    first = advice.information[0] if advice.information else None
    return {
        "ranked": advice.ranked.to_dicts(),
        "excluded": advice.excluded_frame.to_dicts(),
        **decision.decision_object(advice),
        "history": advice.history_frame.to_dicts(),
        "costs": pricing.records(advice.inputs.priced, advice.question),
        "by_code": pricing.by_code(advice.inputs.priced, advice.question),
        "tied": [choice.label for choice in advice.tied],
        "strongest": advice.strongest.label,
        "assumed": advice.inputs.assumed,
        "answer": prose.lead(advice),
        "notes": prose.notes(advice),
        "evidence": advice.evidence,
        "narrowing": advice.information_frame.to_dicts(),
        "narrow_by": None if first is None else {"number": first.number, "measure": first.how},
        "question": advice.question.model_dump(mode="json"),
        "asked_on": advice.today.isoformat(),
    }


def whole(
    advice: Advice, more: Mapping[str, Sequence[Row]], command: str, decider: str | None = None
) -> dict[str, Any]:
    """The record as one object that JSON can hold: its head, the answer and the tables beside it."""
    about = {label.lower(): value for label, value in head(advice, decider)}
    found: dict[str, Any] = finite({"title": title(advice), **about, "command": command, **as_object(advice), **more})
    return found


def finite(value: Any) -> Any:
    """Numbers that are none become null, as JSON has it."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):  # noqa: PLR0124 - nan
        return None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return value


def title(advice: Advice) -> str:
    """What the record is called."""
    return f"Decision record: {prose.title(advice.question)}"


def head(advice: Advice, decider: str | None) -> list[tuple[str, str]]:
    """What stands at a record's head."""
    return [("Status", "proposed"), ("Date", advice.today.isoformat()), ("Decider", decider or UNDECIDED)]


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


def sections(
    advice: Advice, more: Mapping[str, Sequence[Row]], command: str, decider: str | None = None
) -> list[Section]:
    """The whole record: decision and consequences, context, options, reasons and evidence; then what backs them.

    * `more`: the tables beside the answer, by key. `command`: what repeats it. `decider`: who decides.
    """
    return [
        Section(
            "Decision",
            [decision.sentence(advice)],
            head(advice, decider),
            figures={"days": _days(advice), "energy": _split(advice)},
        ),
        Section("Consequences", [], decision.consequences(advice)),
        _context(advice),
        _options(advice),
        Section("Reasons", [*prose.ties(advice), *filter(None, [decision.tag(advice)]), decision.cost(advice)]),
        _evidence(advice),
        _repeated(advice, command),
        *_appendix(advice, more),
    ]


def _context(advice: Advice) -> Section:
    return Section(
        "Context", [advice.question.note] if advice.question.note else [], _question(advice) + _required(advice)
    )


def _options(advice: Advice) -> Section:
    options, shown = decision.options(advice), decision.first_options(advice, OPTIONS)
    left = len(options) - len(shown)
    sentences = [
        "A row stands for all choices of a cipher, whatever their tag, framing and implementation; ciphers of one rank "
        "that differ by their mode alone share a row. It shows the longest-lasting of them, or what is decided."
    ]
    if left > 0:
        sentences.append(f"{left} more {'row' if left == 1 else 'rows'} of lower rank: see All choices.")
    if advice.excluded:
        ciphers = ", ".join(dict.fromkeys(exclusion.choice.cipher for exclusion in advice.excluded))
        sentences.append(f"Excluded, all or in part: {ciphers}; see Excluded.")
    return Section("Options considered", sentences, rows=[_option(advice, option) for option in shown])


def _days(advice: Advice) -> DaysFigure:
    bars = [
        DaysBar(
            f"{first_option.rank}. {first_option.name}",
            first_option.place.seconds / DAY_s,
            first_option.place.low_s / DAY_s,
            first_option.place.high_s / DAY_s,
            first_option.decided,
        )
        for first_option in decision.first_options(advice, OPTIONS)
    ]
    return DaysFigure(bars, decision.without(advice)["days"], advice.evidence["answer"])


def _option(advice: Advice, option: decision.Option) -> dict[str, Cell]:
    choice = advice.choices[option.place.number]
    life = prose.span(option.place, in_hours=prose.short_lived(advice.best))
    return {
        "option": f"{option.name} (decided)" if option.decided else option.name,
        "rank": str(option.rank),
        life.unit: life.middle,
        "95 %": life.interval,
        "choices": str(option.ways),
        "way": f"{choice.label}, by {choice.provider}",
        "cost evidence": choice.cost.evidence,
        "strength": f"{choice.security.strength_bits:g}",
    }


def _split(advice: Advice) -> SplitFigure:
    shares = advice.shares(decision.decided(advice).number)
    named = [(decision.PARTS[group], shares[group]) for group in SPLIT if shares[group] > 0]
    return SplitFigure(advice.strongest.label, named, advice.evidence["answer"])


def _evidence(advice: Advice) -> Section:
    assumed = [f"Assumed: {sentence}." for sentence in advice.inputs.assumed]
    notes = [f"{note[0].upper()}{note[1:]}." for note in prose.notes(advice)]
    return Section(
        "Evidence", [*assumed, *notes], [(what.capitalize(), kind) for what, kind in advice.evidence.items()]
    )


def _repeated(advice: Advice, command: str) -> Section:
    return Section(
        "How to repeat it",
        ["The samples come from the seed: the same command gives the same numbers."],
        [
            ("Command", command),
            ("Seed", f"{advice.question.seed}, {advice.monte_carlo.draws:,} samples"),
            ("wattlock", wattlock.__version__),
        ],
    )


def _appendix(advice: Advice, more: Mapping[str, Sequence[Row]]) -> list[Section]:
    notes = {"experiments": _starts(advice), "energy_first": [prose.BUDGET]}
    sections = [
        Section(TITLES[key], notes.get(key, []), rows=_plain(prose.described(key, rows)), appendix=True)
        for key, rows in more.items()
        if rows
    ]
    return [
        _choices(advice),
        Section(
            "Excluded",
            [] if advice.excluded else ["Nothing was."],
            rows=_plain(_linked(advice.excluded_frame.to_dicts())),
            appendix=True,
        ),
        Section(
            "What would narrow the answer",
            _narrower(advice),
            rows=_plain(advice.information_frame.to_dicts()),
            appendix=True,
        ),
        *sections,
        *_by_code(advice),
        Section("Where the ciphers' costs come from", rows=_costs(advice), appendix=True),
        Section("Sources on security", rows=_sources(advice), appendix=True),
        Section("Legacy ciphers, for reference", _history(advice), appendix=True),
    ]


def _by_code(advice: Advice) -> Iterator[Section]:
    rows = pricing.by_code_rows(advice.inputs.priced, advice.question)
    if rows:
        note = "The interval is of what is not known of the code on this device; the device card's own comes on top."
        yield Section(pricing.BY_CODE, [note], rows=_plain(rows), appendix=True)


def _choices(advice: Advice) -> Section:
    left = len(advice.places) - ALTERNATIVES
    described = "1 more choice passes" if left == 1 else f"{left} more choices pass"
    return Section(
        "All choices",
        [
            "Days are medians with 95 % intervals; one rank holds choices that are tied.",
            *(f"{name}: {title}." for name, title in prose.framing(advice)),
            *([f"These are the first {ALTERNATIVES}; {described}, in this order after them."] if left > 0 else []),
        ],
        rows=[dict(row) for row in prose.rows(advice, ALTERNATIVES)],
        appendix=True,
    )


def _starts(advice: Advice) -> list[str]:
    return [
        f"Each starts from what is usual: {prose.named(usual(advice))}.",
        *filter(None, [prose.without_gain(advice)]),
    ]


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


def _question(advice: Advice) -> list[tuple[str, str]]:
    question = advice.question
    flows = (
        f"{flow.name}: {_sizes(flow)} every {spoken(flow.every)}, {DIRECTIONS[flow.direction]}"
        for flow in question.flow
    )
    found = [
        ("Traffic", "; ".join(flows)),
        ("Device", advice.inputs.name),
        ("Radio", f"{advice.inputs.sender.radio.name}, {advice.inputs.sender.rest} between messages"),
        ("Battery", f"{advice.inputs.battery.battery.name}, by the {advice.inputs.battery.model} model"),
        ("Asleep", watts(advice.inputs.draws.sleep_W)),
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


def _required(advice: Advice) -> list[tuple[str, str]]:
    floor = advice.question.floor
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


def _history(advice: Advice) -> list[str]:
    found = prose.history(advice.history)
    if not found:
        return ["None of the papers' ciphers is meant for messages of this size."]
    return ["What the papers advise, and why it is not followed. None of these was an option.", *found]


def _narrower(advice: Advice) -> list[str]:
    if not advice.information:
        return []
    return [f"Measure first: {prose.narrower(advice.information[0])}."]


def _costs(advice: Advice) -> list[dict[str, Cell]]:
    described = pricing.rows(advice.inputs.priced, advice.question, slower=True)
    if described:
        return _linked(described)
    costs = {(choice.cost.cipher, choice.cost.provider): choice.cost for choice in advice.choices}
    return [
        {"cipher": cost.cipher, "provider": cost.provider, "evidence": cost.evidence, "source": cost.source}
        for cost in costs.values()
    ]


def _sources(advice: Advice) -> list[dict[str, Cell]]:
    found: dict[tuple[str, str], dict[str, Cell]] = {}
    for choice in (advice.choices[place.number] for place in advice.places[:ALTERNATIVES]):
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
