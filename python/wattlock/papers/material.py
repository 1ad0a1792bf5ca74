"""What the papers are judged and drawn from: runs, the air's answers, batteries, the catalogue, a capture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from wattlock.analysis import estimate, within
from wattlock.analysis.discharges import curves
from wattlock.energy import battery_cards, tasks
from wattlock.energy.battery_cards import Surroundings
from wattlock.energy.valuing import clock_of, valued, without_card
from wattlock.errors import EvidenceError, InputError, WattlockError
from wattlock.link.capture_file import NOT_COUNTED, census
from wattlock.papers import battery_life as battery_discharges
from wattlock.papers import literature, transfer_times
from wattlock.papers.exhibit import DrawnExhibit, Material
from wattlock.papers.implementations import place_of
from wattlock.papers.judge import Capture, DischargeCurve, Evidence, Judgement, Security
from wattlock.papers.themes import judge_all, show_all
from wattlock.run.result import Result, open_one_kind
from wattlock.security import status_of
from wattlock.targets import Target, or_this_machine, probe, toolbox
from wattlock.targets.toolbox import Toolbox

FILE_B = 5_000_000
DRAWS = 2000
BATTERY = "laptop-57wh"
ISAS_OF_32_BITS = {"x86", "arm", "riscv32"}
"""As Rust names the architecture that a probe was built for."""
DISCHARGING = ("3des-cbc", "cast128-cbc", "idea-cbc", "aes128-cbc")


@dataclass(frozen=True)
class MaterialOptions:
    """What is read beside the runs.

    * `device`: the card that values them; `radio`, `battery`: those of sending, and of what joules empty.
    * `capture`: of 802.11, for its packets' sizes. `transfers`: files of records of `wattlock send` and `receive`, each
      a path or KIND=PATH. `machine`: what was measured on, as claims name it.
    """

    device: str | None = None
    allow_assumed: bool = False
    radio: str = "intel-5300"
    battery: str | None = None
    capture: Path | None = None
    transfers: Sequence[str] = ()
    machine: str = "computer"


class Gathered(NamedTuple):
    """All that was gathered: for the judges, for the exhibits; the runs and their cases, and what to warn of."""

    evidence: Evidence
    material: Material
    results: list[Result]
    estimates: pl.DataFrame
    notes: list[str]


class Judged(NamedTuple):
    """The papers on these runs: a judgement for each claim, and every exhibit."""

    judgements: list[Judgement]
    exhibits: list[DrawnExhibit]
    gathered: Gathered


def judge(
    runs: Sequence[str | Path], options: MaterialOptions | None = None, *, target: Target | None = None
) -> Judged:
    """Judge every claim of the papers by runs, and make each of their figures and tables.

    * `runs`: paths, ids or `last`; of one build on one machine. Without any, and of one whose self-check failed, what
      needs no timing is judged. `target`: whose probe knows the catalogue; without it this machine.

    Raises StoreError for a folder that is no sound run, EvidenceError where runs are of two builds or machines.
    """
    gathered = gather(runs, options or MaterialOptions(), or_this_machine(target))
    return Judged(judge_all(gathered.evidence), show_all(gathered.material), gathered)


def gather(runs: Sequence[str | Path], options: MaterialOptions, target: Target) -> Gathered:
    """Reads the runs and asks the probe and the toolbox for the rest.

    Raises as `judge`.
    """
    results = [open_one_kind(name) for name in runs]
    _refuse_mixed(results)
    frames = [valued(result, options.device, allow_assumed=options.allow_assumed) for result in results]
    # What an invalid run measured is no result: nothing of it is judged or drawn.
    sound = [frame.clear() if result.reasons else frame for result, frame in zip(results, frames, strict=True)]
    sound = sound or [_nothing_measured()]
    estimates = pl.concat(sound, how="diagonal_relaxed")
    # An emulator's times are drawn as such; no claim speaks of them.
    of_devices = estimates.filter(pl.col("time_evidence").ne_missing("emulated"))
    papers, net = literature.load(), toolbox.find()
    sent = transfer_times.send(papers, of_devices, net, options.radio, allow_assumed=options.allow_assumed)
    rows, _ = probe.catalogue(target)
    drawn, discharges, no_battery = _batteries(
        results, estimates, options.device, options.battery, allow_assumed=options.allow_assumed
    )
    counted = _capture(net, options.capture)
    catalogue = [several[0] for several in rows.values()]
    transferred = transfer_times.read(options.transfers, catalogue)
    evidence = Evidence(
        estimates=of_devices,
        transfers=sent.transfers,
        discharges=discharges,
        security=_security(catalogue),
        capture=counted,
        machine=_machine(options.machine, results[0].header["fingerprint"]) if results else (options.machine,),
        run=str(results[0].plan["id"]) if results else "no run",
        papers=papers,
    )
    sizes = counted.sizes if counted else None
    material = Material(papers, estimates, sent.cases, drawn, sizes, catalogue, options.radio, no_battery, transferred)
    notes = [f"no battery is computed: {no_battery}"] if no_battery else []
    if of_devices.height < estimates.height:
        notes.append("no claim is judged by emulated times: they are drawn, and are the cost of no device")
    return Gathered(evidence, material, results, estimates, notes)


def _nothing_measured() -> pl.DataFrame:
    """The estimates of no run: no row, and every column."""
    across = estimate.across_processes(pl.DataFrame(schema=within.SUMMARY_SCHEMA), [5], 1.0)
    return without_card(estimate.estimates([], across, {}, {}))


def _refuse_mixed(results: Sequence[Result]) -> None:
    """Raises EvidenceError where runs are of several builds, processors (docs/method/build.md) or kinds of evidence."""
    for what, values in (
        ("builds of the probe", [result.plan["probe_sha256"][:12] for result in results]),
        ("kinds of evidence", [result.evidence for result in results]),
        ("processors", [result.header["fingerprint"]["hardware"]["model_name"] for result in results]),
    ):
        if len(set(values)) > 1:
            hint = "judge them one by one, and `wattlock compare` them"
            raise EvidenceError(f"the runs are of two {what}: {values[0]} and {values[1]}", hint=hint)


def _batteries(
    results: Sequence[Result],
    estimates: pl.DataFrame,
    device: str | None,
    card: str | None,
    *,
    allow_assumed: bool,
) -> tuple[pl.DataFrame | None, list[DischargeCurve], str]:
    """Measured falls, else those by joules and a battery's card: curves, rows for the judges, why there are none."""
    measured = [
        discharge
        for result in results
        if result.battery is not None and result.discharges is not None
        for discharge in battery_discharges.measured(result.discharges, _battery_of(result))
    ]
    # What was drawn is shown also where the gauge is too coarse to judge it by.
    if any(result.battery is not None and result.discharges is not None for result in results):
        return _measured_curves(results), measured, ""
    able = estimates.filter(pl.col("cipher").is_in(DISCHARGING), pl.col("energy_uJ").is_not_null())
    plain = {"operation": "encrypt", "data": "random", "keying": "ready", "encoding": "raw"}
    able = able.filter(*(pl.col(name) == level for name, level in plain.items()))
    able = able.filter(pl.col("payload_B") == pl.col("payload_B").max().over("cipher"))
    # Of each cipher one code: software of the papers' era that is built in, where there is any.
    last_first = sorted(able.iter_rows(named=True), key=place_of, reverse=True)
    able = able.filter(pl.col("case").is_in(list({row["cipher"]: row["case"] for row in last_first}.values())))
    chosen = battery_cards.load(card or BATTERY)
    try:
        discharges = battery_discharges.modelled(estimates, chosen, allow_assumed=allow_assumed)
        plan = tasks.battery_plan(
            chosen, "linear", [], draws=DRAWS, seed=1, at=Surroundings(20.0, 5.0), allow_assumed=allow_assumed
        )
        if able.is_empty():
            return None, discharges, ""
        clock = clock_of(results[0], device)
        work = tasks.from_estimates(able, file_B=FILE_B, clock_Hz=clock.Hz, counts_cycles=clock.counts_cycles)
        carried = tasks.curves(work, tasks.Duty(1.0, None, 0.0), plan)
    except WattlockError as error:
        return None, [], error.message
    return carried.with_columns(battery=pl.lit(chosen.name)), discharges, ""


def _measured_curves(results: Sequence[Result]) -> pl.DataFrame:
    frames = []
    for result in results:
        if result.battery is not None:
            names = {case["case"]: (case["cipher"], case["payload_B"]) for case in result.cases}
            encrypting = {case["case"] for case in result.cases if case["operation"] == "encrypt"}
            levels = [line for line in result.levels if line["case"] in encrypting]
            frames.append(curves(levels, names).with_columns(battery=pl.lit(_battery_of(result))))
    return pl.concat(frames).filter(pl.col("payload_B") == FILE_B)


def _battery_of(result: Result) -> str:
    return str((result.battery or {})["name"]).removeprefix("battery:")


def _security(catalogue: Sequence[Mapping[str, Any]]) -> dict[str, Security]:
    found = {}
    for row in catalogue:
        try:
            status = status_of(row)
        except InputError:  # a cipher of which nothing is said can't be called sound
            continue
        best = next((statement for statement in status.statements if statement.about == "strength"), None)
        found[str(row["id"])] = Security(
            status.strength_bits,
            int(row["key_bits"] or 0),
            status.status,
            bool(status.authenticated),
            status.attack_bits,
            f"{best.says} ({best.source})" if best else "",
        )
    return found


def _capture(net: Toolbox, file: Path | None) -> Capture | None:
    if file is None:
        return None
    counted = census(net, file)
    frames: dict[tuple[str, int], int] = {}
    for row in counted.sizes:
        key = row["frame"], row["size_B"]
        frames[key] = frames.get(key, 0) + row["count"]
    left_out = {words: counted.summary[key] for key, (words, _) in NOT_COUNTED.items()}
    return Capture(frames, left_out, is_cut=counted.summary["cut"])


def _machine(named: str, fingerprint: Mapping[str, Any]) -> tuple[str, ...]:
    """What the runs' machine is, as claims name it: as the user says, and what its processor is by its own name."""
    model = str(fingerprint["hardware"]["model_name"] or "")
    is_32_bit = str(fingerprint["build"]["isa"]) in ISAS_OF_32_BITS
    # What is sold as a Pentium today is another core, and runs in 64 bits.
    is_pentium = is_32_bit and "pentium" in model.lower()
    return named, *(["32-bit"] if is_32_bit else []), *(["pentium"] if is_pentium else [])
