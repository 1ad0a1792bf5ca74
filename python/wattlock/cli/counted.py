"""Runs that counted on a microcontroller, as `show`, `export`, `report` and `run` tell of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wattlock import extras
from wattlock.cli.echo import echo
from wattlock.targets.parts import short_title

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl

    from wattlock.report.counted import CountedFacts
    from wattlock.run.counts import Counts
    from wattlock.store import RunFolder

SHORT = ["cipher", "provider", "operation", "payload_B", "instructions", "cycles", "cycles_per_byte"]
SHORT += ["cycles_error_percent", "repetitions", "part_cycles", "flash_B", "ram_B", "stack_B", "state"]
"""The columns for eyes, `reason` where a case has one; JSON and CSV have all of them."""

SHOWN_REASONS = 5


def short_columns(estimates: pl.DataFrame) -> list[str]:
    """The columns of a run that counted for eyes: those that hold anything."""
    from wattlock.cli.table import short

    columns = [*SHORT, "reason"] if estimates["reason"].count() else SHORT
    if "energy_uJ" in estimates.columns:
        place = columns.index("flash_B")
        energy = ["energy_uJ", "energy_low_uJ", "energy_high_uJ", "energy_evidence"]
        columns = [*columns[:place], *energy, *columns[place:]]
    empty = {name for name in columns if not estimates[name].count()} - {"cycles"}
    return short([name for name in columns if name not in empty], estimates)


def about(found: Counts, device: str | None) -> dict[str, str | bool | None]:
    """What the run was: what stands in each row that is exported."""
    return {
        "run": found.id,
        "study": found.plan["study"]["id"],
        "created": found.plan["created"],
        "core": found.core,
        "board": found.board,
        "part": found.part[0] if found.part else None,
        "part_clock_Hz": str(found.part[1]) if found.part else None,
        "isa": found.isa,
        "emulator": found.emulator,
        "compiler": found.compiler,
        "probe_sha256": found.plan["probe_sha256"],
        "wattlock": found.plan["wattlock"],
        "joules_by": device,
    }


def counted_facts(found: Counts, device: str | None = None, *, is_assumed: bool = False) -> CountedFacts:
    """A run that counted in the words of its page."""
    from wattlock.report.counted import CountedFacts

    study, error = found.plan["study"], found.described.error if found.described else None
    return CountedFacts(
        study=study["id"],
        on=_on(found),
        title=study["title"],
        question=study["question"],
        id=found.id,
        created=found.plan["created"],
        target=found.place,
        error_percent=found.error_percent,
        figures=error.figures if error else None,
        conditions=list(_conditions(found)),
        not_modelled=found.not_modelled,
        warnings=found.warnings,
        card=device,
        is_assumed=is_assumed,
        adapters=found.adapters,
        evidence=found.evidence,
    )


def _on(found: Counts) -> str:
    if found.board is not None:
        return f"board:{found.board}@PORT"
    return f"qemu:{found.core}" + (f"/{found.part[0]}@{found.part[1] / 1e6:g}MHz" if found.part else "")


def _conditions(found: Counts) -> Iterator[tuple[str, str]]:
    build: dict[str, Any] = found.header["fingerprint"]["build"]
    known = {
        "Core": found.described.name if found.described else found.core,
        "Board": f"{found.board}, clock by its file {found.counted.part_clock_Hz} Hz" if found.board else None,
        "Part": f"{short_title(found.part[0])} at {found.part[1] / 1e6:g} MHz" if found.part else None,
        "Emulator": found.emulator,
        "Compiler": found.compiler,
        "Flags": build["flags"],
        "Commit": f"{build['commit']}{' with changes' if build['dirty'] else ''}" if build["commit"] else None,
        "Probe, SHA-256": found.plan["probe_sha256"],
        "wattlock": found.plan["wattlock"],
        "Cases": f"{found.estimates.height} in {found.processes} processes, {found.wall_s:.0f} s",
    }
    yield from ((label, value) for label, value in known.items() if value)


def write_page(found: Counts, page: Path, device: str | None = None, *, allow_assumed: bool = False) -> pl.DataFrame:
    """Writes the page of a run that counted, valued by a card where one is named; gives its estimates."""
    from wattlock.energy.counted import valued_counts
    from wattlock.report.counted import write_counted

    estimates = valued_counts(found, device, allow_assumed=allow_assumed)
    is_assumed = device is not None and "assumed" in estimates["energy_evidence"]
    write_counted(page, counted_facts(found, device, is_assumed=is_assumed), estimates, found.ranking)
    return estimates


def _failures(found: Counts) -> Iterator[str]:
    """Why cases have no count, a line a reason, those of the most cases first."""
    import polars as pl

    failed = found.estimates.filter(pl.col("state") == "failed")
    reasons = failed.group_by("reason", maintain_order=True).len().sort("len", descending=True, maintain_order=True)
    for reason, count in reasons.head(SHOWN_REASONS).iter_rows():
        yield f"{count} failed: {reason}"
    if reasons.height > SHOWN_REASONS:
        yield f"and for {reasons.height - SHOWN_REASONS} more reasons: `wattlock show {found.id}` has them"


def say_what_was_counted(folder: RunFolder) -> pl.DataFrame:
    """Says what came of a run, and draws its page where the extra for that is installed; gives its estimates."""
    from wattlock.report.counted_answer import groups_of, said
    from wattlock.run.counts import read

    found = read(folder)
    states = dict(found.estimates.group_by("state").len().iter_rows())
    counted = ", ".join(f"{count} {state}" for state, count in sorted(states.items(), key=lambda item: -item[1]))
    echo(f"{found.estimates.height} cases in {found.wall_s:.0f} s on {found.title}: {counted}", err=True)
    for line in [*_failures(found), *(f"warning: {warning}" for warning in found.warnings)]:
        echo(line, err=True)
    if told := said(found.place, groups_of(found.estimates, found.ranking)):
        echo(" ".join(told), err=True)
    if extras.absent("report"):
        echo(f"note: no report is drawn; `{extras.install('report')}`, then `{folder.reporting}`", err=True)
    else:
        page = folder.path / "report.html"
        write_page(found, page)
        echo(f"The report: {page}", err=True)
    echo(f"The numbers: {folder.showing}", err=True)
    return found.estimates
