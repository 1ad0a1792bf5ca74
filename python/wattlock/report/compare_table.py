"""The table of a comparison: a row a case and other run, what each costs, the ratio with its interval, the verdict."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from wattlock.report import formats
from wattlock.report.compare_facts import Against, CompareFacts
from wattlock.report.markup import cell, table, text
from wattlock.report.ratio_strips import LOOKS
from wattlock.report.ratios import COST, case_words, ratios

Row = dict[str, Any]


def compare_table(facts: CompareFacts) -> str:
    """Every case that two runs have; one without a ratio says why."""
    has_joules = any(other.rows["energy_ratio"].null_count() < other.rows.height for other in facts.others)
    several = len(facts.others) > 1
    titles = ratios(facts, COST)["title"].to_list()
    every = [(other, row) for other in facts.others for row in other.rows.iter_rows(named=True)]
    # A row without a group is of the one before it: compare.js gives it that.
    changed = [group if group != before else "" for before, group in pairwise([None, *titles])]
    rows = "".join(
        _row(other, row, group, several=several, has_joules=has_joules)
        for (other, row), group in zip(every, changed, strict=True)
    )
    first, other = facts.first.letter, facts.others[0].side.letter if not several else "run"
    joules = ["#Energy ratio", "#95 % interval", "Energy"] if has_joules else []
    head = ["Cipher", "Does", *(["Run"] if several else []), *joules]
    head += ["#Ratio", "#95 % interval", "Verdict", f"#Cost of {first}", f"#Cost of {other}", "Library", "Why"]
    return table("Every case that both runs have", head, [f"<tbody>{rows}</tbody>"], "case-table", "sortable")


def _row(other: Against, row: Row, group: str, *, several: bool, has_joules: bool) -> str:
    parts = [f'<th scope="row">{text(row["cipher"])}</th>', cell(case_words(row))]
    parts += [cell(other.side.brief)] if several else []
    if has_joules:
        parts += [*_ratio(row, "energy_ratio"), _verdict(row["energy_verdict"])]
    parts += [*_ratio(row, "ratio"), _verdict(row["verdict"])]
    parts += [_cost(row, "a"), _cost(row, "b"), cell(_libraries(row))]
    parts.append(f'<td class="reason">{text(row["reason"])}</td>' if row["reason"] else "<td></td>")
    of = f' data-group="{text(group)}"' if group else ""
    return f'<tr data-state="{text(row["verdict"])}"{of}>{"".join(parts)}</tr>'


def _ratio(row: Row, name: str) -> list[str]:
    value, low, high = row[name], row[f"{name}_low"], row[f"{name}_high"]
    if value is None:
        return [cell(formats.MISSING, True)] * 2
    return [
        cell(formats.within(value, low, high), True),
        cell(f"{formats.within(low, low, high)} to {formats.within(high, low, high)}", True),
    ]


def _verdict(verdict: str | None) -> str:
    if verdict is None:
        return cell(formats.MISSING)
    return f'<td class="state" data-look="{text(verdict)}">{LOOKS[verdict].shape} {text(verdict)}</td>'


def _cost(row: Row, side: str) -> str:
    per_byte, time = row[f"cycles_per_byte_{side}"], row[f"time_ns_{side}"]
    if row["quantity"] == "cycles" and per_byte is not None:
        return cell(f"{formats.number(per_byte)} cycles/B", True)
    value = "" if time is None else f' data-v="{time:.6g}"'
    return f'<td class="n"{value}>{text(formats.time(time))}</td>'


def _libraries(row: Row) -> str:
    sides = [" ".join(str(row[f"{name}_{side}"] or "") for name in ("provider", "path", "of")) for side in "ab"]
    sides = [" ".join(side.split()) for side in sides]
    return sides[0] if sides[0] == sides[1] else f"{sides[0]}; {sides[1]}"
