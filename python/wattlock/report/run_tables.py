"""The tables of a run's page: checks, inputs, ranking, every case; and its sections on a battery and kinds of core."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

import polars as pl

from wattlock.analysis.comparison import GROUP
from wattlock.analysis.discharges import curves
from wattlock.analysis.self_checks import Verdict
from wattlock.energy.device_cards import Device
from wattlock.report import formats
from wattlock.report.charts import Pen, figure_name
from wattlock.report.charts import discharge as curve
from wattlock.report.described import host
from wattlock.report.drawings import LOOKS, Mark, RatioRow, ratio_axis, ratio_rows, ratio_words
from wattlock.report.evidence import DRAWN_STATES, departures, state_words
from wattlock.report.formats import does, number
from wattlock.report.html import Column, cell, chip, chips, facts, folded, paragraphs, table, text
from wattlock.report.ratios import COST, ENERGY, Measure, case_words, cipher_title
from wattlock.report.run_answer import JOULES
from wattlock.run.result import Result
from wattlock.run.validity import INVALID_RUN


def self_check_table(self_checks: Sequence[Verdict]) -> str:
    """The checks that ran among the cases."""
    rows = (
        f'<tr><th scope="row">{text(check.named)}</th>{cell(check.state)}'
        + cell(formats.within(check.measured, check.low, check.high), True)
        + cell(" to ".join(formats.within(end, check.low, check.high) for end in (check.low, check.high)), True)
        + f"{cell(formats.within(check.truth, check.low, check.high), True)}</tr>"
        for check in self_checks
    )
    head = ["Check", "Verdict", "#Measured", "#95 % interval", "#Truth"]
    return table("Checks that ran among the cases", head, rows, kind="checks")


def input_table(inputs: Sequence[Mapping[str, Any]]) -> str:
    """The measured files by label, size and hash; never by name."""
    rows = (
        f'<tr><th scope="row">{text(file["data"])}</th>{cell(formats.size(file["size_B"]), True)}'
        f'<td class="hash"><code>{text(file["sha256"])}</code></td></tr>'
        for file in inputs
    )
    return table("Files that were encrypted", ["Data", "#Size", "SHA-256"], rows)


def drawn_table(drawn: pl.DataFrame, title: str) -> str:
    """The numbers behind a figure, one row a mark, behind a summary line."""
    shown = [column for column in ("operation", "payload_B", "data") if drawn[column].n_unique() > 1]
    heads = {"operation": "Does", "payload_B": "#Payload, B", "data": "Data"}
    has_interval = drawn["low"].null_count() < drawn.height
    rows = (
        f'<tr><th scope="row">{text(row["name"])}</th>'
        + "".join(
            cell(f"{row[column]:,}" if column == "payload_B" else row[column], column == "payload_B")
            for column in shown
        )
        + cell(row["text"], True)
        + (cell(row["range"], True) if has_interval else "")
        + "</tr>"
        for row in drawn.sort(*shown, "value").iter_rows(named=True)
    )
    interval = ["#95 % interval"] if has_interval else []
    head = ["Cipher", *(heads[column] for column in shown), f"#{drawn_unit(title)}", *interval]
    return folded("The numbers", table(title, head, rows))


def drawn_unit(title: str) -> str:
    """An axis title with a capital."""
    return title[:1].upper() + title[1:]


def ranking_tables(ranking: pl.DataFrame, unresolved: Collection[int], first: Row | None) -> str:
    """One folded table a ranked group of two and more; the answer's group stands open.

    `unresolved` holds the numbers of the cases that carry that mark.
    """
    ordered = ranking.filter(pl.len().over(GROUP) > 1).sort(_rank_of_group(), *GROUP, "ratio_to_best")
    parts = []
    for heading, members in ordered.group_by(_heading(), maintain_order=True):
        tables = []
        for values, ranked in members.group_by(GROUP, maintain_order=True):
            named = dict(zip(GROUP, values, strict=True))
            is_first = first is not None and all(first[name] == value for name, value in named.items())
            tables.append(_one_ranking(named, ranked, unresolved, is_first))
        parts.append(f'<h3>{text(heading[0])}</h3>{rests_on(members)}<div class="groups">{"".join(tables)}</div>')
    return "".join(parts)


def rests_on(ranked: pl.DataFrame) -> str:
    """The chips of a ranking's numbers: joules first; nothing for a ranking that was not told."""
    kinds = {"Joules": "energy_evidence", "Cycles and time": "time_evidence"}
    spoken = [
        f"<span>{what} {chips(ranked[name])}</span>"
        for what, name in kinds.items()
        if name in ranked.columns and ranked[name].null_count() < ranked.height
    ]
    return f'<p class="rests">{" ".join(spoken)}</p>' if spoken else ""


def _heading() -> pl.Expr:
    """Encrypt packets, Encrypt files, Decrypt packets, Key set-up."""
    does = pl.col("operation").replace(formats.OPERATION_NAMES)
    bare = (pl.col("payload_B") == 0) | pl.col("mode").eq("frame")
    what = pl.when(bare).then(pl.lit("")).when(pl.col("data") == "random")
    kind_words = what.then(pl.lit(" packets")).otherwise(pl.lit(" files"))
    return pl.concat_str(does.str.head(1).str.to_uppercase(), does.str.slice(1), kind_words).alias("heading")


def _rank_of_group() -> pl.Expr:
    """Encryption before decryption before the rest, packets before files."""
    does = pl.col("operation").replace_strict({"encrypt": 0, "decrypt": 1}, default=2, return_dtype=pl.Int64)
    return 2 * does + (pl.col("data") != "random").cast(pl.Int64)


def group_title(group: Row) -> str:
    """A ranked group under its heading: CBC, 1,500 B."""
    modes = {"stream": "Stream ciphers", "establish": "Key establishment", "frame": "Frames", "link": "Links"}
    mode = modes.get(group["mode"], str(group["mode"]).upper())
    parts = [mode, *([formats.size(group["payload_B"])] if group["payload_B"] else [])]
    parts += [f"{formats.size(group['aad_B'])} of associated data"] if group["aad_B"] else []
    parts += [] if group["data"] in ("random", "none") else [group["data"]]
    return ", ".join([*parts, *departures(group)])


def _one_ranking(group: Row, members: pl.DataFrame, unresolved: Collection[int], is_open: bool) -> str:
    body = [f"<tbody>{''.join(rows)}</tbody>" for rows in ranking_rows(members, unresolved)]
    title = group_title(group)
    return folded(title, table(f"Ranking: {title}", ranking_head(members), body), is_open)


def ranking_head(members: pl.DataFrame) -> list[str]:
    """The heads of a ranked group's columns: joules first where it has any."""
    joules = ["#µJ per byte", "#95 % interval"] if _has_joules(members) else []
    return ["Cipher", "#Place", *joules, "#Cycles per byte", "#95 % interval", "#Times the best", "#95 % interval"]


def _has_joules(members: pl.DataFrame) -> bool:
    return "energy_uJ_per_byte" in members.columns and members["energy_uJ_per_byte"].null_count() < members.height


def ranking_rows(members: pl.DataFrame, unresolved: Collection[int]) -> list[list[str]]:
    """The rows of a ranked group as HTML, a list a tie group."""
    tie_groups, place = [], 1
    with_joules = _has_joules(members)
    for _, tied in members.group_by("tie_group", maintain_order=True):
        shown = f"{place}=" if tied.height > 1 else str(place)
        tie_groups.append([_ranked(row, shown, unresolved, with_joules) for row in tied.iter_rows(named=True)])
        place += tied.height
    return tie_groups


def _ranked(row: Row, place: str, unresolved: Collection[int], with_joules: bool) -> str:
    cost = row["cycles_per_byte"], row["cycles_per_byte_low"], row["cycles_per_byte_high"]
    ratio = row["ratio_to_best"], row["ratio_low"], row["ratio_high"]
    is_best = ratio[0] == 1
    joules = tuple(row[name] for name in JOULES) if with_joules else None
    detail = f"{row['provider']}, unresolved" if row["case"] in unresolved else row["provider"]
    name = f'{text(row["cipher"])} <span class="quiet">{text(detail)}</span>'
    numbers = [place]
    numbers += [formats.estimate(*joules), formats.interval(*joules)] if joules else []
    numbers += [formats.estimate(*cost), formats.interval(*cost)]
    numbers += ["1", formats.MISSING] if is_best else [formats.estimate(*ratio), formats.interval(*ratio)]
    return f'<tr><th scope="row">{name}</th>{"".join(cell(shown, True) for shown in numbers)}</tr>'


def without_number_table(estimates: pl.DataFrame) -> str:
    """The cases that are not resolved, each with its reason; nothing where there are none."""
    rows = estimates.filter(pl.col("state") != "resolved")
    if rows.is_empty():
        return ""
    order = {state: place for place, state in enumerate(("failed", "invalid", "unresolved"))}
    ordered = sorted(rows.iter_rows(named=True), key=lambda row: (order.get(row["state"], 9), row["case"]))
    body = (
        f'<tr><th scope="row">{text(row["cipher"])}</th><td class="state">{text(state_words(row))}</td>'
        f"{cell(_case_words(row))}"
        f'<td class="reason">{text(row["reason"] or "no reason was recorded")}</td></tr>'
        for row in ordered
    )
    return table("Cases that are not resolved", ["Cipher", "State", "Does", "Reason"], body)


def _case_words(row: Row) -> str:
    """What a case does, in words: encrypt, 1,500 B, random."""
    return f"{does(row)}, {formats.size(row['payload_B'])}, {row['data']}" if row["payload_B"] else does(row)


CAUSES = "a switch, a migration, a change of the clock, a neighbour on the core or wide vectors held back"
STEPS = (
    "Every case is timed in batches of many calls, in random order, round after round, in fresh processes: one "
    "process’s memory layout alone moves a result by percents, so processes are what is repeated.",
    "Beside each batch runs a short chain of multiplications whose cycles are known. Batch time over its time "
    "gives core cycles, which don't depend on the clock's speed.",
    "A batch is dropped for a cause (a context switch, a migration, a changed clock, a neighbour on the core, wide "
    "vectors that the core held back), "
    "never for its value. Every batch is kept in the run’s records.",
    "A case is done when its 95 % interval is narrow enough; one that never gets there is called unresolved.",
)
"""How every run is measured, in brief."""


def lost_states(estimates: pl.DataFrame) -> list[str]:
    """How many cases are in each state that is not resolved: `4 unresolved`."""
    counts = dict(estimates.group_by("state").len().iter_rows())
    return [f"{counts[state]} {state}" for state in ("unresolved", "failed", "invalid") if counts.get(state)]


def checked(run: Result) -> str:
    """What came of the self-checks: passed, not resolved or failed."""
    if not run.verdicts:
        return "No self-checks ran among the cases."
    if all(check.state == "passed" for check in run.verdicts):
        return "Self-checks passed."
    return f"Self-checks: {formats.listing([f'{check.named} {check.state}' for check in run.verdicts])}."


def verdict(run: Result, estimates: pl.DataFrame) -> str:
    """What came of the self-checks, and how many cases are resolved."""
    lost = lost_states(estimates)
    cases, resolved = run.estimates.height, run.estimates.filter(pl.col("state") == "resolved").height
    share = f"{resolved:,} of {cases:,} cases ({formats.percent(resolved / max(cases, 1))})"
    if run.reasons:
        return f"No. {checked(run)} {share} were precise enough, but the self-check failed."
    return f"{checked(run)} {share} are resolved{', ' + formats.listing(lost) if lost else ''}."


def conditions(run: Result) -> list[tuple[str, str]]:
    """What the run was measured under: label and value."""
    clock = "not known on this core, so there are no cycles"
    known = [GHz for GHz in (run.clock.GHz, run.clock.low_GHz, run.clock.high_GHz) if GHz is not None]
    if len(known) == 3:
        middle, low, high = map(formats.number, known)
        clock = f"{middle} GHz at the median, {low} to {high} GHz from the 5th to the 95th percentile"
    return [
        *_device(dict(host(run))),
        ("Clean batches", f"{formats.percent(run.clean_share)} of {run.batches:,}; the others met {CAUSES}"),
        (f"Core clock{f', {run.core_classes[0]}' if len(run.core_classes) > 1 else ''}", clock),
        ("Effort", f"{run.processes} fresh processes, {formats.duration(run.wall_s)}"),
    ]


def _device(known: Mapping[str, str]) -> list[tuple[str, str]]:
    """What was measured on, where it was not this machine: processor, class of core, and the way to it."""
    way = known.get("Reached by", "local")
    if way == "local":
        return []
    named = [part for part in (known.get("Processor"), known.get("Core class")) if part]
    return [("Device", ", ".join([*named, f"reached by {way}"]))]


def joules_notes(run: Result, card: Device | None) -> list[str]:
    """Where the joules come from: the card, else the run's meter; nothing where there is neither."""
    if card is not None:
        shown = card_shown(run, card)
        narrower = shown.card.narrowed_by
        return [
            f"Valued by the card {shown.name}; these joules are {shown.card.evidence}.",
            *card_notes(shown),
            *([f"What would narrow the interval: {narrower}."] if narrower else []),
        ]
    return list(_meter_notes(run))


def card_shown(run: Result, card: Device) -> Device:
    """The card for a kind of core whose numbers nobody verified, where the run has such a kind."""
    return next((shown for kind in run.core_classes if (shown := card.on(kind)).card.evidence == "assumed"), card)


def card_notes(card: Device) -> list[str]:
    """What there is to know of a card."""
    return [note for note in (card.card.title, card.card.note) if note]


def _meter_notes(run: Result) -> Iterator[str]:
    meter = run.meter
    if meter is None or run.energies is None:
        return
    reading = formats.number(meter["read_ns"] / 1e3) if meter["read_ns"] is not None else None
    read = "" if reading is None else f" One read takes {reading} µs; none falls inside a block."
    overlaps = (
        f" {formats.listing(list(meter['overlaps']))} count some of the same joules." if meter["overlaps"] else ""
    )
    lacking = run.energies["energy_uJ"].null_count()
    without = f" {lacking:,} cases have none: the table of cases says why." if lacking else ""
    gain_percent = 100 * meter["gain_relative_uncertainty"]
    yield (
        f"Measured by the meter {meter['name']}: {meter['scope']}. A call’s joules are net of the baseline "
        f"({meter['baseline']}): what the machine draws else is subtracted.{without}"
    )
    yield (
        f"The interval holds the meter’s gain, ±{formats.number(1.96 * gain_percent, 2)} % "
        f"({meter['gain_source']}). It is the same in all cases, so that it cancels in the ratio of two."
        f"{read}{overlaps}"
    )


RESULTS = ("time_", "cpu_", "cycles", "throughput", "half_width", "energy_", "power_")
WORDS = ("energy_state", "energy_reason")
Row = dict[str, Any]


def _cycles(row: Row) -> str:
    return formats.estimate(row["cycles"], row["cycles_low"], row["cycles_high"])


def _joules(row: Row) -> tuple[float | None, float | None, float | None]:
    return row["energy_uJ_per_byte"], row["energy_low_uJ_per_byte"], row["energy_high_uJ_per_byte"]


def _setting(row: Row) -> str:
    return ", ".join(departures(row)) or "plain"


def _implementation(row: Row) -> str:
    return " ".join(str(row[name]) for name in ("provider", "path", "of", "version") if row[name])


def _clean(row: Row) -> str:
    return formats.MISSING if row["clean_share"] is None else formats.percent(row["clean_share"])


def _chip(column: str) -> Callable[[Row], str]:
    return lambda row: chip(row[column]) or formats.MISSING


BEFORE = (
    Column("Does", does),
    Column("Payload, B", lambda row: f"{row['payload_B']:,}" if row["payload_B"] else formats.MISSING, "payload_B"),
    Column("Data", lambda row: row["data"] if row["payload_B"] else formats.MISSING),
    Column("State", state_words, kind="state"),
)
TIME_COLUMNS = (
    Column("Time a call", lambda row: formats.time(row["time_ns"]), "time_ns"),
    Column("CPU time", lambda row: formats.time(row["cpu_ns"]), "cpu_ns"),
    Column("Cycles a call", _cycles, "cycles"),
    Column("Cycles per byte", lambda row: formats.number(row["cycles_per_byte"]), "cycles_per_byte"),
    Column("± %", lambda row: formats.number(row["half_width_percent"], 2), "half_width_percent"),
    Column("MB/s", lambda row: formats.number(row["throughput_MB_s"]), "throughput_MB_s"),
)
AAD = Column("Associated data, B", lambda row: f"{row['aad_B'] or 0:,}", "aad_B")
JOULE_COLUMNS = (
    Column("µJ per byte", lambda row: formats.estimate(*_joules(row)), "energy_uJ_per_byte"),
    Column("95 % interval", lambda row: formats.interval(*_joules(row)), "energy_high_uJ_per_byte"),
)
RESTS_ON = {
    "energy_evidence": Column("Joules are", lambda row: row["energy_evidence"] or "", html=_chip("energy_evidence")),
    "time_evidence": Column("Times are", lambda row: row["time_evidence"] or "", html=_chip("time_evidence")),
}
"""What numbers rest on, where it differs from case to case; else it is said once above the table."""

METERED = (
    Column("Random ± %", lambda row: formats.number(row["energy_random_percent"], 2), "energy_random_percent"),
    Column("Gross µJ a call", lambda row: formats.number(row["energy_gross_uJ"]), "energy_gross_uJ"),
    Column("Net W", lambda row: formats.number(row["power_net_W"]), "power_net_W"),
    Column("Energy is", lambda row: row["energy_state"] or formats.MISSING),
    Column("Why", lambda row: row["energy_reason"] or "", kind="reason"),
)
"""What a meter adds."""

AFTER = (
    Column("Implementation", _implementation),
    Column("Setting", _setting),
    Column("Processes", lambda row: str(row["processes"]), "processes"),
    Column("Clean", _clean, "clean_share"),
    Column("Case", lambda row: str(row["case"]), "case"),
    Column("Reason", lambda row: row["reason"] or "", kind="reason"),
)


def cases_table(estimates: pl.DataFrame) -> str:
    """Every case with its state and, where it is not resolved, the reason; numbers only where the case has some.

    Those of an invalid run stand in the study's order and can't be sorted: they are not ranked.
    """
    has_energy = estimates["energy_uJ_per_byte"].null_count() < estimates.height
    metered = METERED if "energy_state" in estimates.columns else ()
    before = (*BEFORE[:2], AAD, *BEFORE[2:]) if (estimates["aad_B"].fill_null(0) > 0).any() else BEFORE
    mixed = [column for name, column in RESTS_ON.items() if estimates[name].drop_nulls().n_unique() > 1]
    columns = (*before, *(JOULE_COLUMNS if has_energy else ()), *metered, *TIME_COLUMNS, *mixed, *AFTER)
    lost = ~pl.col("state").is_in([*DRAWN_STATES, INVALID_RUN])
    results = [name for name in estimates.columns if name.startswith(RESULTS) and name not in WORDS]
    blanked = estimates.with_columns(pl.when(lost).then(None).otherwise(pl.col(name)).alias(name) for name in results)
    rows = "".join(
        f'<tr data-state="{text(row["state"])}"><th scope="row">{text(row["cipher"])}</th>'
        f"{''.join(column.cell(row) for column in columns)}</tr>"
        for row in blanked.iter_rows(named=True)
    )
    head = ["Cipher", *(f"#{column.head}" if column.number else column.head for column in columns)]
    kind = "" if INVALID_RUN in estimates["state"] else "sortable"
    return table("Every case of the study", head, [f"<tbody>{rows}</tbody>"], "case-table", kind)


HEIGHT_PX = 360
LEVELS = "Level over calls"


def level_curves(run: Result) -> pl.DataFrame:
    """The level over calls, as `discharge` draws it; no row where there is no more than one level."""
    several = len({case["provider"] for case in run.cases}) > 1
    names = {
        case["case"]: (f"{case['cipher']} {case['provider']}" if several else case["cipher"], case["payload_B"])
        for case in run.cases
    }
    drawn = curves(run.levels, names)
    return drawn if drawn["operations"].n_unique() > 1 else drawn.clear()


def discharge_section(run: Result, pen: Pen) -> str:
    """What a call takes out of the battery, and the level over calls; nothing where none was discharged."""
    if run.battery is None or run.discharges is None:
        return ""
    about = [
        f"Each case was repeated while {run.battery['name']} alone fed the machine, and its level was logged. The "
        "joules are measured and gross: all that the battery fed meanwhile, screen and radio as well, divided by the "
        "calls. The interval holds the gauge’s steps and its gain "
        f"(standard uncertainty {number(100 * run.battery['gain_relative_uncertainty'], 2)} %)."
    ]
    head = ["Case", "#Calls", "#Hours", "#Level, %", "#Calls per %", "#Energy of a call, µJ", "#95 % interval", "State"]
    rows = ("".join(("<tr>", *_cells(row), "</tr>")) for row in run.discharges.iter_rows(named=True))
    rests = f'<p class="rests"><span>Joules {chip("measured")}</span></p>'
    shown = table("What a call takes out of the battery", head, rows)
    return f"{paragraphs(about)}{rests}{_figure(level_curves(run), pen)}{shown}"


def _figure(levels: pl.DataFrame, pen: Pen) -> str:
    if levels.is_empty():
        return ""
    chart = curve(levels).properties(
        height=HEIGHT_PX, description="charge left in percent; over calls, one line a case"
    )
    rests = chips(levels["evidence"])
    return (
        f'<div class="plates"><figure data-name="{figure_name(LEVELS)}"><figcaption><strong>{LEVELS} {rests}</strong> '
        '<span class="quiet">As the battery told it, in its own steps.</span></figcaption>'
        f"{pen.draw(chart, figure_name(LEVELS))}"
        "</figure></div>"
    )


def _cells(row: dict[str, object]) -> list[str]:
    def formatted(name: str) -> str:
        value = row[name]
        return number(value, 3) if isinstance(value, float) else ""

    levels = f"{row['from_percent']:.0f} to {row['to_percent']:.0f}" if row["from_percent"] is not None else ""
    bounds = f"{formatted('energy_low_uJ')} to {formatted('energy_high_uJ')}" if row["energy_uJ"] is not None else ""
    state = f"{row['state']}: {row['reason']}" if row["reason"] else str(row["state"])
    name = f"{row['cipher']} {row['provider']} {row['operation']}, {row['payload_B']:,} B"
    return [
        f'<th scope="row">{text(name)}</th>',
        cell(f"{row['calls']:,}", True),
        cell(formatted("hours"), True),
        cell(levels, True),
        cell(formatted("calls_per_percent"), True),
        cell(formatted("energy_uJ"), True),
        cell(bounds, True),
        cell(state, False),
    ]


WIDTH_PX = 520


class _Cores(NamedTuple):
    """The kinds of core, the study's first one first, and a row a case and other kind, as `core_class_ratios` has."""

    names: list[str]
    rows: pl.DataFrame


def core_class_section(run: Result) -> str:
    """The ratios of every other kind of core to the first: in words, as figures, in a table; nothing of one kind."""
    if run.core_class_ratios is None:
        return ""
    cores = _Cores(run.core_classes, run.core_class_ratios)
    measures = [measure for measure in (ENERGY, COST) if cores.rows[measure.ratio].count()]
    first = cores.names[0]
    about = [
        f"Every case was measured on the {formats.listing(list(cores.names))} cores, each kind in processes of its "
        f"own, by its own canary and its own self-checks. A ratio is that of a case to the same case on the {first} "
        "cores, with its 95 % interval. Cycles of two kinds of core are not alike, and so times are compared.",
    ]
    sentences = [
        sentence for name in cores.names[1:] for measure in measures for sentence in _said(cores, name, measure)
    ]
    parts = [paragraphs([*sentences, *about]), facts(_clocks(run))]
    for name in cores.names[1:]:
        figures = "".join(_cores_figure(cores, name, measure) for measure in measures)
        heading = f"{name.capitalize()} cores beside {cores.names[0]} ones"
        parts.append(f'<h3>{text(heading)}</h3><div class="plates">{figures}</div>')
    return f"{''.join(parts)}{folded('The ratio of every case', _cores_table(cores))}"


def _of_what(measure: Measure) -> str:
    """Cycles of two kinds of core are not compared: what is no joules is time."""
    return measure.of or "time"


def _of(cores: _Cores, name: str) -> pl.DataFrame:
    return cores.rows.filter(pl.col("core_class_b") == name)


def _said(cores: _Cores, name: str, measure: Measure) -> Iterator[str]:
    found = _of(cores, name)[measure.ratio].drop_nulls().to_list()
    if not found:
        return
    middle, first = median(found), cores.names[0]
    takes = f"take {formats.number(middle)} times the {_of_what(measure)} of the {first} ones"
    if len(found) == 1:
        yield f"The {name} cores {takes}."
        return
    ends = f"from {formats.number(min(found))} to {formats.number(max(found))}"
    yield f"At the median of {len(found)} cases the {name} cores {takes} ({ends})."


def _clocks(run: Result) -> list[tuple[str, str]]:
    known = ((name, run.clocks[name].GHz) for name in run.core_classes)
    return [(f"Clock, {name}", "not known" if GHz is None else f"{formats.number(GHz)} GHz") for name, GHz in known]


def _cores_figure(cores: _Cores, name: str, measure: Measure) -> str:
    """A row a cipher; a mark a case."""
    drawn = _of(cores, name).filter(pl.col(measure.ratio).is_not_null())
    if drawn.is_empty():
        return ""
    rows = []
    for (cipher, provider), cases in drawn.group_by("cipher", "provider_a", maintain_order=True):
        marks = [_mark(row, measure) for row in cases.iter_rows(named=True)]
        several = drawn.filter(pl.col("cipher") == cipher)["provider_a"].n_unique() > 1
        label = f"{cipher_title(str(cipher))} of {provider}" if several else cipher_title(str(cipher))
        middle = ratio_words(median(mark.ratio for mark in marks))
        rows.append(RatioRow(label, marks, middle if len(marks) == 1 else f"median {middle}"))
    axis = ratio_axis([mark for row in rows for mark in row.marks])
    what = _of_what(measure)
    title = f"{what.capitalize()} on {name} cores, times that on {cores.names[0]} ones"
    return (
        f"<figure><figcaption><strong>{text(title)}</strong> "
        f'<span class="quiet">Each mark is one case; the line spans all cases of the row.</span></figcaption>'
        f"{ratio_rows(rows, axis, f'{what}, times {cores.names[0]}', WIDTH_PX)}</figure>"
    )


def _mark(row: Row, measure: Measure) -> Mark:
    name = measure.ratio
    return Mark(row[name], row[f"{name}_low"], row[f"{name}_high"], row[measure.verdict])


def _cores_table(cores: _Cores) -> str:
    has_joules = bool(cores.rows["energy_ratio"].count())
    joules = ["#Energy ratio", "#95 % interval", "Energy"] if has_joules else []
    first = cores.names[0]
    head = ["Cipher", "Library", "Case", "Cores", *joules, "#Time ratio", "#95 % interval", "Verdict"]
    head += [f"#Time on {first}", "#Time", "Why"]
    rows = ("".join(_cores_cells(row, has_joules=has_joules)) for row in cores.rows.iter_rows(named=True))
    return table("Every case on each kind of core", head, (f"<tr>{row}</tr>" for row in rows), kind="sortable")


def _cores_cells(row: Row, *, has_joules: bool) -> Iterator[str]:
    yield f'<th scope="row">{text(row["cipher"])}</th>'
    yield cell(str(row["provider_a"]))
    yield cell(case_words(row) if row["payload_B"] else does(row))
    yield cell(str(row["core_class_b"]))
    for measure in (ENERGY, COST) if has_joules else (COST,):
        value, low, high = (row[f"{measure.ratio}{end}"] for end in ("", "_low", "_high"))
        if value is None:
            yield from (cell(formats.MISSING, True), cell(formats.MISSING, True), cell(formats.MISSING))
            continue
        yield f'<td class="n" data-v="{value:.6g}">{text(formats.within(value, low, high))}</td>'
        yield cell(f"{formats.within(low, low, high)} to {formats.within(high, low, high)}", True)
        verdict = row[measure.verdict]
        yield f'<td><span data-look="{text(verdict)}">{LOOKS[verdict].shape} {text(verdict)}</span></td>'
    yield from (cell(formats.time(row[f"time_ns_{side}"]), True) for side in "ab")
    yield f'<td class="reason">{text(row["reason"] or "")}</td>'
