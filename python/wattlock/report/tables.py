"""The smaller tables of the page: ranking, checks, inputs, what is not resolved, the numbers behind a figure."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl

from wattlock.analysis.ranking import GROUP
from wattlock.analysis.self_checks import Verdict
from wattlock.report import chip, formats
from wattlock.report.answer import JOULES
from wattlock.report.cases import Row, does, state_words
from wattlock.report.evidence import departures
from wattlock.report.markup import cell, folded, table, text


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
