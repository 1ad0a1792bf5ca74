"""What a row of a sweep may be of, beside scenarios: ns-3, a core as a device card, a case drawn again, a battery."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pydantic import Field

from wattlock.advise.cipher_costs import COSTS, COUNTED_FILE
from wattlock.analysis import estimate
from wattlock.analysis.estimate import UNSEEN_ERROR, level_of_a_look, t_half_width
from wattlock.definitions import Table, Text, suggestion, validated
from wattlock.definitions.changes import with_changes
from wattlock.energy import battery_operations, device_cards
from wattlock.energy.battery_cards import Surroundings
from wattlock.energy.battery_operations import Circumstances, OwnOperation
from wattlock.energy.tasks import Duty
from wattlock.errors import EvidenceError, InputError, WattlockError
from wattlock.link import ns3, wifi_air
from wattlock.link.wifi import largest_question
from wattlock.run.result import read
from wattlock.store import RunFolder, find, run_folder
from wattlock.targets import toolbox

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wattlock.link.scenario import Named, Scenario
    from wattlock.study.cases import CatalogueRow

Asked: TypeAlias = "tuple[wifi_air.AirQuestion, wifi_air.AirAnswer, dict[str, Any], list[str]]"
"""A scenario's question, the simulator's answer, what ns-3 is asked, and in what the two are not the same."""
ENGINE_KEY, ENGINE, OURS = "engine", "ns3", "dcf"


def described(requested: Sequence[Named[Scenario]], ciphers: Mapping[str, CatalogueRow]) -> list[Asked | WattlockError]:
    """What ns-3 is asked of each scenario's packets of the commonest size, or why it can't be."""
    questions = [_or_error(largest_question, named, ciphers) for named in requested]
    pairs = zip(requested, questions, strict=True)
    answerable = [(named, question) for named, question in pairs if not isinstance(question, InputError)]
    answers = iter(wifi_air.answers(toolbox.find(), answerable))

    def words(question: wifi_air.AirQuestion | InputError) -> Any:
        if isinstance(question, InputError):
            return question
        answer = next(answers)
        if isinstance(answer, InputError):
            return answer
        found = _or_error(ns3.described, question, answer)
        return found if isinstance(found, InputError) else (question, answer, *found)

    return [words(question) for question in questions]


def figures(
    requested: Sequence[Named[Scenario]], ciphers: Mapping[str, CatalogueRow]
) -> Iterator[dict[str, Any] | WattlockError]:
    """Both engines' answers to each scenario, as `wattlock link --engine ns3` has them, or why there are none.

    Raises InputError where there is no ns-3, ProbeError where it can't be started.
    """
    questions = described(requested, ciphers)
    in_words = [question[2] for question in questions if not isinstance(question, WattlockError)]
    answers = iter(ns3.answers_apart(in_words) if in_words else [])
    for question in questions:
        if isinstance(question, WattlockError):
            yield question
            continue
        _, ours, _, notes = question
        theirs = next(answers)
        yield theirs if isinstance(theirs, WattlockError) else ns3.compared(ours, theirs, notes).row()


def _or_error(act: Any, *given: Any) -> Any:
    try:
        return act(*given)
    except InputError as error:
        return error


CORE_KEY, CARD_PATH, COSTS_PATH = "core", "device.card", "device.costs"


class Counted(NamedTuple):
    """The cycles that were counted on a core: their file, and the instruction set whose device cards may value them."""

    file: str
    isa: str


@cache
def counted() -> dict[str, Counted]:
    """What was counted, by core; a core in the flash of one part is not among them."""
    names = [name for name in COSTS.shipped() if name.endswith(COUNTED_FILE)]
    found = {name: COSTS.load(name)[1] for name in names}
    return {
        core: Counted(str(COSTS.find(name).source), file.isa) for name, file in found.items() for core in file.cores
    }


def refuse_unknown(label: str, core: object, *, advised: bool) -> None:
    """Raises InputError where no cycles were counted on a core, or where no advice is asked for.

    * `label`: of the grid in errors.
    """
    if not advised:
        hint = "of a link cost.sender names a device card, cost.cycles_per_B the cipher's cycles; of a battery device"
        raise InputError(f"{label}: {CORE_KEY}: is for advise alone", hint=hint)
    if not isinstance(core, str) or core not in counted():
        hint = suggestion(str(core), sorted(counted()), "cycles were counted on")
        raise InputError(f"{label}: {CORE_KEY}: no cycles were counted on {core}", hint=hint)


def on_core(
    label: str, tables: Mapping[str, Any], changes: Mapping[str, Any], cards: Path | None = None
) -> dict[str, Any]:
    """Changes of a profile in which the core has become what advice knows: a device card and a file of costs.

    * `label`: what the profile is called in errors. `tables`: of the profile. `cards`: the user's folder of cards.

    The card is the one that the changes name, else the profile's own where it is of the core's instruction set, else
    the first of that set that comes with wattlock and values cycles.

    Raises InputError where the card that the changes name is of another instruction set.
    """
    core, found = changes[CORE_KEY], counted()[changes[CORE_KEY]]
    others = {path: value for path, value in changes.items() if path != CORE_KEY} | {COSTS_PATH: found.file}
    card = with_changes(label, tables, others)["device"].get("card")
    if isinstance(card, str) and (isa := device_cards.load(card, cards).card.isa) != found.isa:
        if card != tables.get("device", {}).get("card"):
            hint = f"leave {CARD_PATH} out, or name a card of {found.isa}"
            raise InputError(f"{label}: {CARD_PATH}: {card} is of {isa}, the core {core} of {found.isa}", hint=hint)
        card = None
    return others if card else others | {CARD_PATH: _first_card(found.isa)}


@cache
def _first_card(isa: str) -> str:
    """The first card of an instruction set that comes with wattlock and values cycles."""
    loaded = ((name, device_cards.DEVICES.load(name)[1]) for name in device_cards.DEVICES.shipped())
    return next(name for name, card in loaded if card.isa == isa and card.counts_cycles)


CASE_KEY = "case"
SHOWN = ("cipher", "provider", "operation", "payload_B")
TIMED = ("processes", "time_ns", "time_low_ns", "time_high_ns", "state")


class Resampling(Table):
    """How the processes of a case are drawn again.

    * `case`: its number in the run. `draws`: samples; the same ones for all cases of as many processes with one `seed`.
    """

    case: int = Field(ge=0)
    draws: int = Field(default=10_000, ge=1_000, le=1_000_000)
    seed: int = Field(default=1, ge=0)


class RunCase(NamedTuple):
    """A case as its run says it.

    * `run`: the hash that names it. `told`: columns of its estimate. `values`: the log of its time in each process.
    * `level`: of its printed interval.
    """

    run: str
    told: Mapping[str, Any]
    values: list[float]
    level: float
    drawing: Resampling


def source(name: str) -> tuple[str, dict[str, Any]]:
    """A sealed run by its folder's name, and what it says of its cases, by their numbers.

    Raises StoreError where there is no such run or it is not sealed, EvidenceError where it counted, InputError where
    it is invalid.
    """
    folder = RunFolder.open(find(name))
    sha256, result = run_folder.sums_sha256(folder), read(folder).timed()
    if result.reasons:
        raise InputError(f"run {name}: is invalid: {result.reasons[0]}", hint="measure again: it shows no intervals")
    values = dict(result.summaries.group_by("case", maintain_order=True).agg("log_canaries").iter_rows())
    cases = {
        str(row["case"]): {
            **{key: row[key] for key in (*SHOWN, *TIMED, "reason", "time_evidence")},
            "values": values.get(row["case"], []),
        }
        for row in result.estimates.iter_rows(named=True)
    }
    level = level_of_a_look(result.plan["study"]["looks"])
    return folder.path.resolve().name, {"hash": sha256, "level": level, "cases": cases}


def numbers(run: Mapping[str, Any]) -> list[int]:
    """The numbers of all cases of a run."""
    return sorted(int(number) for number in run["cases"])


def checked(name: str, run: Mapping[str, Any], changes: Mapping[str, Any]) -> RunCase:
    """A case and how it is drawn, from the values of a row.

    Raises InputError naming every key that is wrong, and where the run has no such case, or the draws are too few.
    """
    label = f"run {name}"
    drawing = validated(Resampling, with_changes(label, {}, changes), label)
    case = run["cases"].get(str(drawing.case))
    if case is None:
        raise InputError(f"{label}: has no case {drawing.case}", hint=f"it has {len(run['cases'])}, the first is 0")
    if drawing.draws < (least := estimate.least_draws(run["level"])):
        level = f"{100 * (1 - run['level']):.4g} %"
        raise InputError(f"{label}: draws: are too few for a level of {level}", hint=f"it takes {least:,} and more")
    return RunCase(run["hash"], case, case["values"], run["level"], drawing)


def resampled_figures(case: RunCase) -> dict[str, Any]:
    """The case's time with its printed interval, and the interval by drawing its processes again.

    Both are of one level, and the error that no process can tell of is joined to both alike. `drawn_wider` is the ratio
    of their widths, `usual_low` and `usual_high` what it is for 95 of a hundred samples of a normal distribution.

    Raises InputError where the case has no estimate or an invalid one, or too few processes to draw from.
    """
    facts, values, level = case.told, case.values, case.level
    if facts["state"] in {"invalid", "failed"} or facts["time_ns"] is None or len(values) < 2:
        raise InputError(f"the case is {facts['state']}: {facts['reason']}", hint="it has no interval to be used")
    unseen = t_half_width(0.0, len(values), level, UNSEEN_ERROR)
    ends = estimate.ends(values, level, case.drawing.draws, case.drawing.seed)
    below, above = (math.hypot(end, unseen) for end in ends)
    if math.isinf(below + above):
        what = f"{len(values)} processes that hardly differ, or so few, have no interval at a level of"
        raise InputError(f"{what} {100 * (1 - level):.4g} %", hint="a study with more in `looks`, 8 and up, has one")
    low, high = estimate.usual_widths(len(values), level, case.drawing.draws)
    return {
        "run": case.run,
        **{f"case_{key}": facts[key] for key in SHOWN},
        **{key: facts[key] for key in TIMED},
        "drawn_low_ns": facts["time_ns"] * math.exp(-below),
        "drawn_high_ns": facts["time_ns"] * math.exp(above),
        "drawn_wider": (below + above) / math.log(facts["time_high_ns"] / facts["time_low_ns"]),
        "usual_low": low,
        "usual_high": high,
        "level_percent": 100 * (1 - level),
        "evidence": facts["time_evidence"],
    }


OPTION = re.compile(r"--([a-z][\w-]*)")
FIGURES = ("power_W", *(f"{what}{side}" for what in ("operations", "days") for side in ("", "_low", "_high")))


class Life(Table):
    """An operation and what surrounds the battery that carries it: the options of `wattlock battery` as keys.

    * `draws`: lives. All rows of one `seed` draw the same batteries, so that they differ by what varies alone.
    """

    energy_uJ: float | None = None
    cycles: float | None = None
    time_us: float | None = None
    device: Text | None = None
    duty: float = Field(default=1.0, ge=0, le=1)
    per_second: float | None = Field(default=None, ge=0)
    idle_W: float = 0.0
    model: Text = "linear"
    without: list[Text] = Field(default_factory=list)
    temperature_C: float = 20.0
    temperature_sigma_C: float = 5.0
    draws: int = Field(default=10_000, ge=100, le=1_000_000)
    seed: int = Field(default=1, ge=0)


class BatteryRow(NamedTuple):
    """A battery card's name, and what it carries."""

    card: str
    life: Life


def checked_lives(card: str, tables: Mapping[str, Any], changes: Mapping[str, Any]) -> BatteryRow:
    """A battery and what it carries, from the values of a row.

    Raises InputError naming every key that is wrong.
    """
    label = f"battery {card}"
    life = validated(Life, with_changes(label, tables, changes), label)
    if (life.energy_uJ is None) == (life.cycles is None):
        has = "neither energy_uJ nor cycles" if life.cycles is None else "both energy_uJ and cycles"
        raise InputError(f"{label}: has {has}", hint='for example "energy_uJ" = 12.5 under [grid.fixed]')
    if life.energy_uJ is not None and life.device is not None:
        raise InputError(
            f"{label}: device: values cycles, and energy_uJ is joules already", hint="leave one of them out"
        )
    if life.per_second is not None and life.duty < 1:
        raise InputError(f"{label}: duty: is there beside per_second", hint="leave one of them out")
    return BatteryRow(card, life)


def lives_figures(carried: BatteryRow, *, cards: Path | None, allow_assumed: bool) -> dict[str, Any]:
    """Operations and days that the battery carries: medians and 95 % intervals of the drawn lives.

    Raises InputError where there is no such load, model or law, EvidenceError for numbers that need consent.
    """
    card, life = carried
    duty = Duty(life.duty, life.per_second, life.idle_W)
    at = Surroundings(life.temperature_C, life.temperature_sigma_C)
    around = Circumstances(life.model, life.without, at, life.draws, life.seed)
    operation = OwnOperation(life.energy_uJ, life.cycles, life.time_us)
    try:
        work = battery_operations.of_own(operation, life.device, cards=cards, allow_assumed=allow_assumed)
        found = battery_operations.battery(card, work, duty, around, cards=cards, allow_assumed=allow_assumed).table
    except (InputError, EvidenceError) as error:
        raise _in_keys(error) from error
    row = found.row(0, named=True)
    return {"operation_uJ": row["energy_uJ"], **{name: row[name] for name in FIGURES}, "evidence": row["evidence"]}


def _in_keys(error: WattlockError) -> WattlockError:
    """An error in which options of `wattlock battery` are called as the keys of a sweep."""

    def key(option: re.Match[str]) -> str:
        name = option[1].replace("-", "_")
        return name if name in Life.model_fields else option[0]

    return type(error)(OPTION.sub(key, error.message), hint=OPTION.sub(key, error.hint or ""))
