"""Gathers what the papers are judged and drawn from: runs, the air's answers, batteries, the catalogue, a capture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from wattlock.errors import EvidenceError, InputError, WattlockError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from wattlock.papers.exhibits import Material
    from wattlock.papers.judges import Capture, Evidence, Fall, Security
    from wattlock.report.papers_page import PapersFacts
    from wattlock.run.result import Result
    from wattlock.targets.toolbox import Toolbox

FILE_B = 5_000_000
DRAWS = 2000
BATTERY = "laptop-57wh"
LENGTHS = {"papers-quick": "quick", "papers-full": "full", "papers-battery": "battery"}
"""The lengths of `wattlock papers` by their studies."""
ISAS_OF_32_BITS = {"x86", "arm", "riscv32"}
"""As Rust names the architecture that a probe was built for."""
FALLING = ("3des-cbc", "cast128-cbc", "idea-cbc", "aes128-cbc")


class Found(NamedTuple):
    """All that was gathered; `folder`: of the first run."""

    evidence: Evidence
    material: Material
    facts: PapersFacts
    folder: Path


def gather(
    names: Sequence[str],
    device: str | None,
    *,
    allow_assumed: bool,
    radio: str,
    battery: str | None,
    capture: Path | None,
    machine: str,
) -> Found:
    """Reads the runs and asks the probe for the rest.

    Raises StoreError for a folder that is no sound run, EvidenceError where runs are of two builds or machines.
    """
    import polars as pl

    from wattlock.energy.valuing import valued
    from wattlock.papers import record, sending
    from wattlock.papers.exhibits import Material
    from wattlock.papers.judges import Evidence
    from wattlock.run.result import read
    from wattlock.store import RunFolder, find
    from wattlock.targets import local, probe, toolbox

    folders = [RunFolder.open(find(name)) for name in names]
    results = [read(folder) for folder in folders]
    _refuse_mixed(results)
    frames = [valued(result, device, allow_assumed=allow_assumed) for result in results]
    # What an invalid run measured is no result: nothing of it is judged or drawn.
    sound = [frame.clear() if one.reasons else frame for one, frame in zip(results, frames, strict=True)]
    estimates = pl.concat(sound, how="diagonal_relaxed")
    reasons = [f"run {one.plan['id']}: {reason}" for one in results for reason in one.reasons]
    papers, net = record.load(), toolbox.find()
    sent = sending.send(papers, estimates, net, radio, allow_assumed=allow_assumed)
    rows, _ = probe.catalogue(local.find())
    curves, falls, notes = _batteries(results, estimates, device, battery, allow_assumed=allow_assumed)
    counted = _capture(net, capture)
    catalogue = [several[0] for several in rows.values()]
    evidence = Evidence(
        estimates=estimates,
        transfers=sent.transfers,
        falls=falls,
        security=_security(catalogue),
        capture=counted,
        machine=_machine(machine, results[0].header["fingerprint"]),
        run=str(results[0].plan["id"]),
        papers=papers,
    )
    sizes = counted.sizes if counted else None
    material = Material(papers, estimates, sent.cells, curves, sizes, catalogue, radio)
    command = _command(names, results, device, radio, battery, capture, machine, allow_assumed=allow_assumed)
    facts = _facts(results, estimates, command, reasons, notes)
    return Found(evidence, material, facts, folders[0].path)


def _refuse_mixed(results: Sequence[Result]) -> None:
    """Raises EvidenceError where the runs are of several builds or processors: docs/method/build.md."""
    for what, of in (
        ("builds of the probe", [one.plan["probe_sha256"][:12] for one in results]),
        ("processors", [one.header["fingerprint"]["hardware"]["model_name"] for one in results]),
    ):
        if len(set(of)) > 1:
            hint = "judge them one by one, and `wattlock compare` them"
            raise EvidenceError(f"the runs are of two {what}: {of[0]} and {of[1]}", hint=hint)


def _batteries(
    results: Sequence[Result],
    estimates: pl.DataFrame,
    device: str | None,
    card: str | None,
    *,
    allow_assumed: bool,
) -> tuple[pl.DataFrame | None, list[Fall], list[str]]:
    """Measured falls, else those by joules and a battery's card: curves, rows for the judges, what to warn of."""
    from wattlock.papers import falls as fallen

    emptied = [
        fall
        for result in results
        if result.battery is not None and result.falls is not None
        for fall in fallen.measured(result.falls, _battery_of(result))
    ]
    # What was drawn is shown also where the gauge is too coarse to judge it by.
    if any(result.battery is not None and result.falls is not None for result in results):
        return _measured_curves(results), emptied, []
    import polars as pl

    from wattlock.energy import battery_cards, tasks
    from wattlock.energy.lifetime import Surroundings
    from wattlock.energy.valuing import clock_of

    able = estimates.filter(pl.col("cipher").is_in(FALLING), pl.col("energy_uJ").is_not_null())
    plain = {"operation": "encrypt", "data": "random", "provider": "rustcrypto", "keying": "ready", "encoding": "raw"}
    able = able.filter(*(pl.col(name) == level for name, level in plain.items()))
    able = able.filter(pl.col("payload_B") == pl.col("payload_B").max().over("cipher"))
    try:
        chosen = battery_cards.load(card or BATTERY)
        falls = fallen.modelled(estimates, chosen, allow_assumed=allow_assumed)
        plan = tasks.plan(
            chosen, "linear", [], draws=DRAWS, seed=1, at=Surroundings(20.0, 5.0), allow_assumed=allow_assumed
        )
    except WattlockError as error:
        if card is not None:
            raise
        return None, [], [f"no battery is computed: {error.message}"]
    if able.is_empty():
        return None, falls, []
    clock = clock_of(results[0], device)
    work = tasks.from_estimates(able, file_B=FILE_B, clock_Hz=clock.Hz, counts_cycles=clock.counts_cycles)
    curves = tasks.curves(work, tasks.Duty(1.0, None, 0.0), plan)
    return curves.with_columns(battery=pl.lit(chosen.name)), falls, []


def _measured_curves(results: Sequence[Result]) -> pl.DataFrame:
    import polars as pl

    from wattlock.analysis.falls import curves

    frames = []
    for result in results:
        if result.battery is not None:
            names = {cell["cell"]: (cell["cipher"], cell["payload_B"]) for cell in result.cells}
            encrypting = {cell["cell"] for cell in result.cells if cell["operation"] == "encrypt"}
            levels = [line for line in result.levels if line["cell"] in encrypting]
            frames.append(curves(levels, names).with_columns(battery=pl.lit(_battery_of(result))))
    return pl.concat(frames).filter(pl.col("payload_B") == FILE_B)


def _battery_of(result: Result) -> str:
    return str((result.battery or {})["name"]).removeprefix("battery:")


def _security(catalogue: Sequence[Mapping[str, Any]]) -> dict[str, Security]:
    from wattlock.papers.judges import Security
    from wattlock.security import standing

    found = {}
    for row in catalogue:
        try:
            stands = standing(row)
        except InputError:  # a cipher of which nothing is said can't be called sound
            continue
        found[str(row["id"])] = Security(
            stands.strength_bits, int(row["key_bits"] or 0), stands.status, bool(stands.authenticated)
        )
    return found


def _capture(net: Toolbox, file: Path | None) -> Capture | None:
    if file is None:
        return None
    from wattlock.link.capture import NOT_COUNTED, census
    from wattlock.papers.judges import Capture

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


def _command(  # noqa: PLR0917 - as the verb has them
    names: Sequence[str],
    results: Sequence[Result],
    device: str | None,
    radio: str,
    battery: str | None,
    capture: Path | None,
    machine: str,
    *,
    allow_assumed: bool,
) -> list[str]:
    """The commands that measure again, then the one that judges these runs again.

    A run holds its card: to measure again the card must be named, and allowed where nobody verified it.
    """
    from wattlock.energy.valuing import card_of

    given = {"--radio": radio, "--battery": battery, "--capture": capture.name if capture else None}
    given["--machine"] = machine if machine != "computer" else None
    options = "".join(f" {option} {value}" for option, value in given.items() if value is not None)
    measure = []
    for one in results:
        card = card_of(one, device)
        valued = f" --device {device or card.name}" if card is not None else ""
        if allow_assumed or (card is not None and card.card.evidence == "assumed"):
            valued += " --allow-assumed"
        study = str(one.plan["study"]["id"])
        if study in LENGTHS:
            # Of one run this judges too, as it was judged here.
            measure.append(f"wattlock papers --length {LENGTHS[study]}{valued}{options if len(results) == 1 else ''}")
        else:
            measure.append(f"wattlock run {study}{valued}")
    runs = "".join(f" --run {_findable(name)}" for name in names)
    named = (f" --device {device}" if device else "") + options + (" --allow-assumed" if allow_assumed else "")
    return [*dict.fromkeys(measure), f"wattlock papers{runs}{named}"]


def _findable(name: str) -> str:
    """A run as it is found again: by its id where it lies on the shelf, also if it was called the last one."""
    import shlex

    from wattlock.store import find
    from wattlock.store.shelf import ROOT

    folder = find(name)
    return shlex.quote(folder.name if folder.parent.resolve() == ROOT.resolve() else name)


def _facts(
    results: Sequence[Result],
    estimates: pl.DataFrame,
    command: Sequence[str],
    reasons: Sequence[str],
    notes: Sequence[str],
) -> PapersFacts:
    from wattlock.cli.facts import host
    from wattlock.report.papers_page import PapersFacts

    kinds = estimates["energy_evidence"].drop_nulls().unique().sort().to_list()
    joules = (
        f"Joules here are {' and '.join(kinds)}."
        if kinds
        else "There are no joules: no meter was read and no device card named. Claims on energy are judged by time."
    )
    warnings = [f"run {one.plan['id']}: {line}" for one in results for line in one.warnings]
    return PapersFacts(
        studies=list(dict.fromkeys(str(one.plan["study"]["id"]) for one in results)),
        runs=[str(one.plan["id"]) for one in results],
        created=max(str(one.plan["created"]) for one in results),
        duration_s=sum(one.wall_s for one in results),
        host=list(host(results[0])),
        command=command,
        joules=joules,
        reasons=reasons,
        warnings=[*warnings, *notes],
    )
