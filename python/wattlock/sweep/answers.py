"""The rows of a chunk: what `wattlock link`, `advise` or `battery` answers, or a run's cases; or why it can't."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, TypeAlias

import polars as pl

from wattlock.advise import advise, question
from wattlock.errors import EvidenceError, InputError, WattlockError
from wattlock.link import lowpower, wifi
from wattlock.link.ledger import LinkAnswer, figures
from wattlock.link.scenario import RefusedScenario, under
from wattlock.sweep.plan import Chunk, Kind, Ready, SweepPlan
from wattlock.sweep.rows import (
    CORE_KEY,
    FIGURES,
    BatteryRow,
    RunCase,
    checked,
    checked_lives,
    described,
    lives_figures,
    on_core,
    resampled_figures,
)
from wattlock.sweep.rows import figures as beside_ns3_figures
from wattlock.targets import toolbox

Row: TypeAlias = dict[str, Any]
MOST_TRIED = 1_000
"""So many rows of a grid are looked at for one that can be."""
MOST_ANSWERED = 20
"""So many of them are answered, since that takes longer; where all of those fail, later ones may not."""
Columns: TypeAlias = dict[str, type[pl.DataType]]
FIRST: Columns = {"row": pl.Int64, "grid": pl.Int64, "of": pl.String}
LINK: Columns = {
    "duration_s": pl.Float64,
    "payload_Mb_s": pl.Float64,
    "octets_B": pl.Int64,
    "frames": pl.Int64,
    "delivered_percent": pl.Float64,
    "retries": pl.Int64,
    "total_J": pl.Float64,
    "marginal_J": pl.Float64,
    "cipher_J": pl.Float64,
    "cipher_share_low": pl.Float64,
    "cipher_share_high": pl.Float64,
    "cipher_share": pl.Float64,
}
ADVICE: Columns = {
    "device": pl.String,
    "choice": pl.String,
    "cipher": pl.String,
    "provider": pl.String,
    "tag_bits": pl.Int64,
    "framing": pl.String,
    "encoding": pl.String,
    "aggregate": pl.Int64,
    "protection": pl.String,
    "days": pl.Float64,
    "days_low": pl.Float64,
    "days_high": pl.Float64,
    "tied": pl.Int64,
    "strongest": pl.String,
    "power_uW": pl.Float64,
    "air_B": pl.Float64,
    "latency_s": pl.Float64,
    "radio_share": pl.Float64,
    "free_percent": pl.Float64,
    "cipher_share": pl.Float64,
}
NS3: Columns = {
    "wattlock_s": pl.Float64,
    "ns3_s": pl.Float64,
    "wattlock_per_s": pl.Float64,
    "ns3_per_s": pl.Float64,
    "apart_percent": pl.Float64,
    "notes": pl.String,
}
LIVES: Columns = {"operation_uJ": pl.Float64, **dict.fromkeys(FIGURES, pl.Float64)}
RUN: Columns = {
    "run": pl.String,
    "case_cipher": pl.String,
    "case_provider": pl.String,
    "case_operation": pl.String,
    "case_payload_B": pl.Int64,
    "state": pl.String,
    "processes": pl.Int64,
    "level_percent": pl.Float64,
    "time_ns": pl.Float64,
    "time_low_ns": pl.Float64,
    "time_high_ns": pl.Float64,
    "drawn_low_ns": pl.Float64,
    "drawn_high_ns": pl.Float64,
    "drawn_wider": pl.Float64,
    "usual_low": pl.Float64,
    "usual_high": pl.Float64,
}
OF_KIND: dict[Kind, Columns] = {
    "wifi": LINK,
    "linear": LINK,
    "advise": ADVICE,
    "ns3": NS3,
    "battery": LIVES,
    "run": RUN,
}
LAST: Columns = {"evidence": pl.String, "error": pl.String, "hint": pl.String}

ANSWERED = {name for types in (*OF_KIND.values(), LAST) for name in types}


def columns(plan: SweepPlan) -> Columns:
    """The columns of a sweep's rows: what varies by its path, then the answers of the kinds that there are."""
    values: dict[str, list[Any]] = {}
    for grid in plan.grids:
        for path, several in grid.vary.items():
            values.setdefault(path, []).extend(several)
    kinds = {grid.kind for grid in plan.grids}
    answers = {name: kept for kind, types in OF_KIND.items() if kind in kinds for name, kept in types.items()}
    return FIRST | {path: _type_of(several) for path, several in values.items()} | answers | LAST


def answered(plan: SweepPlan, chunk: Chunk) -> pl.DataFrame:
    """The rows of a chunk, with the columns of the sweep.

    Raises ProbeError where a program fails.
    """
    grid, schema = plan.grids[chunk.grid], columns(plan)
    combinations = list(grid.combinations(chunk.start, chunk.stop))
    rows = [
        {"row": chunk.first_row + place, "grid": grid.number, "of": name, **_cells(varied, schema), **_answer(result)}
        for place, ((name, _, varied), result) in enumerate(
            zip(combinations, _results(plan, grid, combinations), strict=True)
        )
    ]
    return pl.DataFrame({column: [row.get(column) for row in rows] for column in schema}, schema=schema)


def refuse_hopeless(plan: SweepPlan) -> None:
    """Raises InputError where none of the first rows of a grid can be, EvidenceError where numbers need consent."""
    taken = FIRST.keys() | LAST.keys() | {name for grid in plan.grids for name in OF_KIND[grid.kind]}
    for grid in plan.grids:
        number = grid.number
        for path in grid.vary.keys() & taken:
            hint = "make a sweep of its own of this grid"
            raise InputError(f"grid[{number}].vary.{path}: a column of the answers has that name", hint=hint)
        errors: list[WattlockError] = []
        tried = 0
        for combination in grid.combinations(0, MOST_TRIED):
            [result] = _ready(plan, grid, [combination])
            if not isinstance(result, WattlockError):
                [answer] = _results(plan, grid, [combination], TRIED)
                if isinstance(answer, EvidenceError):
                    raise type(answer)(f"grid[{number}]: {answer.message}", hint=answer.hint)
                tried += 1
                if not isinstance(answer, WattlockError) or tried == MOST_ANSWERED:
                    break
                result = answer
            errors.append(result)
        else:
            what = f"grid[{number}]: none of its first {len(errors)} rows can be: {errors[0].message}"
            raise InputError(what, hint=errors[0].hint)


Answers: TypeAlias = "Callable[[SweepPlan, Sequence[Any]], Iterator[Row | WattlockError]]"
Combination: TypeAlias = tuple[str, dict[str, Any], dict[str, Any]]


def asked(plan: SweepPlan, grid: Ready, name: str, tables: dict[str, Any], varied: Mapping[str, Any]) -> Any:
    """What a combination asks: a scenario of 802.11, a message of another radio, a question of advice, a life, a case.

    Raises InputError where it can't be asked.
    """
    changes = grid.changes(varied)
    if grid.kind in {"wifi", "ns3", "linear"}:
        return under(name, tables, changes, plan.ciphers)
    if grid.kind == "battery":
        return checked_lives(name, tables, changes)
    if grid.kind == "run":
        return checked(name, tables, changes)
    label = f"profile {name}"
    if CORE_KEY in changes:
        changes = on_core(label, tables, changes, plan.own)
    return question.checked(label, tables, changes)


def _ready(plan: SweepPlan, grid: Ready, combinations: Sequence[Combination]) -> list[Any]:
    """What each combination asks, or the error that says why it can't be asked."""
    label = {"advise": "profile", "battery": "battery", "run": "run"}.get(grid.kind, "link")
    answers = ((name, _or_error(asked, plan, grid, name, *rest)) for name, *rest in combinations)
    return [_of(f"{label} {name}", answer) if isinstance(answer, WattlockError) else answer for name, answer in answers]


def _results(
    plan: SweepPlan, grid: Ready, combinations: Sequence[Combination], by: Mapping[Kind, Answers] | None = None
) -> Iterator[Row | WattlockError]:
    """What is answered to each combination, or why it can't be.

    * `by`: in place of `ANSWERS`.
    """
    ready = _ready(plan, grid, combinations)
    answers = iter(
        (by or ANSWERS)[grid.kind](plan, [answer for answer in ready if not isinstance(answer, WattlockError)])
    )
    return (answer if isinstance(answer, WattlockError) else next(answers) for answer in ready)


def _wifi(plan: SweepPlan, requested: Sequence[Any]) -> Iterator[Row | WattlockError]:
    net, user_cards, allow_assumed = toolbox.find(), plan.own, plan.allow_assumed
    answers = wifi.evaluate_each(
        requested, net, plan.ciphers, user_cards=user_cards, allow_assumed=allow_assumed, shifted=False
    )
    return map(_link_row, answers)


def _linear(plan: SweepPlan, requested: Sequence[Any]) -> Iterator[Row | WattlockError]:
    return map(_link_row, lowpower.evaluate_each(requested, user_cards=plan.own, allow_assumed=plan.allow_assumed))


def _link_row(answer: LinkAnswer | RefusedScenario) -> Row | WattlockError:
    if isinstance(answer, RefusedScenario):
        return _of(f"link {answer.label}", answer.error)
    return figures(answer)


def _advise(plan: SweepPlan, questions: Sequence[question.Question]) -> Iterator[Row | WattlockError]:
    def row(case: question.Question) -> Row:
        advice = advise(case, cards=plan.own, allow_assumed=plan.allow_assumed, today=date.fromisoformat(plan.day))
        best: Row = advice.ranked.row(0, named=True)
        facts = {"device": case.device.card, "tied": len(advice.tied), "strongest": advice.strongest.label}
        return best | facts | {"free_percent": advice.freed[0].percent}

    return (_or_error(row, question) for question in questions)


def _ns3(plan: SweepPlan, rows: Sequence[Any]) -> Iterator[Row | WattlockError]:
    for named, answer in zip(rows, beside_ns3_figures(rows, plan.ciphers), strict=True):
        yield (
            _of(f"link {named.label}", answer)
            if isinstance(answer, WattlockError)
            else answer | {"evidence": "modelled"}
        )


def _ns3_tried(plan: SweepPlan, rows: Sequence[Any]) -> Iterator[Row | WattlockError]:
    """Whether ns-3 can be asked, without its 20 s to start."""
    for named, answer in zip(rows, described(rows, plan.ciphers), strict=True):
        yield _of(f"link {named.label}", answer) if isinstance(answer, WattlockError) else {}


def _battery(plan: SweepPlan, rows: Sequence[BatteryRow]) -> Iterator[Row | WattlockError]:
    def row(carried: BatteryRow) -> Row:
        return lives_figures(carried, cards=plan.own, allow_assumed=plan.allow_assumed)

    return (_or_error(row, battery_row) for battery_row in rows)


def _run(plan: SweepPlan, cases: Sequence[RunCase]) -> Iterator[Row | WattlockError]:  # noqa: ARG001
    return (_or_error(resampled_figures, case) for case in cases)


ANSWERS: dict[Kind, Answers] = {
    "wifi": _wifi,
    "ns3": _ns3,
    "linear": _linear,
    "advise": _advise,
    "battery": _battery,
    "run": _run,
}
TRIED: dict[Kind, Answers] = ANSWERS | {"ns3": _ns3_tried}


def _or_error(act: Callable[..., Any], *given: Any) -> Any:
    try:
        return act(*given)
    except (InputError, EvidenceError) as error:
        return error


def _of(label: str, error: WattlockError) -> WattlockError:
    """An error without the label that the row itself says."""
    return type(error)(error.message.removeprefix(f"{label}: "), hint=error.hint)


def _answer(result: Row | WattlockError) -> Row:
    if isinstance(result, WattlockError):
        return {"error": result.message, "hint": result.hint}
    return {key: value for key, value in result.items() if key in ANSWERED}


def _cells(varied: Mapping[str, Any], schema: Columns) -> Row:
    return {path: _text(value) if schema[path] is pl.String else value for path, value in varied.items()}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _type_of(values: Sequence[Any]) -> type[pl.DataType]:
    """The column's type that holds all of these; what is mixed is text."""
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return pl.Boolean
    if kinds == {int} and all(-(2**63) <= value < 2**63 for value in values):
        return pl.Int64
    return pl.Float64 if kinds <= {int, float} else pl.String
