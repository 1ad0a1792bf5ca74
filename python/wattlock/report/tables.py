"""The smaller tables of the page: ranking, checks, inputs, what is not resolved, the numbers behind a figure."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from wattlock.analysis.comparison import GROUP
from wattlock.analysis.self_checks import Verdict
from wattlock.energy.device_cards import Device
from wattlock.report import chip, formats
from wattlock.report.cases_table import Row, does, state_words
from wattlock.report.described import host
from wattlock.report.evidence import departures
from wattlock.report.markup import cell, folded, table, text
from wattlock.report.run_answer import JOULES
from wattlock.run.result import Result


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
    told = [
        f"<span>{what} {chip.chips(ranked[name])}</span>"
        for what, name in kinds.items()
        if name in ranked.columns and ranked[name].null_count() < ranked.height
    ]
    return f'<p class="rests">{" ".join(told)}</p>' if told else ""


def _heading() -> pl.Expr:
    """Encrypt packets, Encrypt files, Decrypt packets, Key set-up."""
    does = pl.col("operation").replace(formats.OPERATION_NAMES)
    bare = (pl.col("payload_B") == 0) | pl.col("mode").eq("frame")
    what = pl.when(bare).then(pl.lit("")).when(pl.col("data") == "random")
    of = what.then(pl.lit(" packets")).otherwise(pl.lit(" files"))
    return pl.concat_str(does.str.head(1).str.to_uppercase(), does.str.slice(1), of).alias("heading")


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
    beside = f"{row['provider']}, unresolved" if row["case"] in unresolved else row["provider"]
    name = f'{text(row["cipher"])} <span class="quiet">{text(beside)}</span>'
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
    "gives core cycles, which hold still where the clock wanders.",
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
