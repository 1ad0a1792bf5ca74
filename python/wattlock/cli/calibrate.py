"""`wattlock calibrate`: fit a device card's power."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wattlock.cli.echo import echo
from wattlock.cli.options import AllowAssumed, SysRoot
from wattlock.cli.table import Format, show
from wattlock.errors import EvidenceError, UsageError

if TYPE_CHECKING:
    from wattlock.run.result import Result

STUDY = "calibration"


def calibrate(  # noqa: PLR0917 - Typer gives every option by its name
    meter: Annotated[
        str | None,
        typer.Option(
            "--meter", metavar="NAME", help="Run known loads under this meter and fit a card of this machine."
        ),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(
            "--run", metavar="RUN", help="Fit the card to a run that a meter measured: its path, id or `last`."
        ),
    ] = None,
    published: Annotated[
        str | None, typer.Option("--published", metavar="RUN", help="Fit the power to a published run, as toldinas.")
    ] = None,
    sys_root: SysRoot = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Write the card; `--device FILE` takes it later.")
    ] = None,
    allow_assumed: AllowAssumed = False,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """Fit a device card: to this machine under a meter, or to a published run, naming its figures that can't be right.

    Examples: wattlock calibrate --meter powercap:package-0 --save this.toml
    wattlock calibrate --published toldinas --allow-assumed
    """
    if sum(given is not None for given in (meter, run, published)) != 1:
        raise UsageError("name one of --meter, --run and --published", hint="`wattlock meters` lists the meters")
    if published is not None:
        if save is not None:
            raise UsageError("--save writes a card of this machine", hint="leave it out with --published")
        _print_published(published, form, allow_assumed=allow_assumed)
        return
    if meter is not None:
        from wattlock.cli.run import MeterOptions
        from wattlock.cli.run import run as carry_out

        carry_out(STUDY, by=MeterOptions(meter, sys_root=sys_root))
    _print_fit(run or "last", save, form)


def _print_fit(name: str, save: Path | None, form: Format) -> None:
    """Print a row a load; the fit, and where its card went, go to standard error."""
    import polars as pl

    from wattlock.energy import calibration
    from wattlock.energy.valuing import valued
    from wattlock.run.result import open_one_kind
    from wattlock.store.disk import write_out

    result = open_one_kind(name)
    meter = result.meter
    if meter is None:
        raise EvidenceError(
            f"run {name} was not measured by a meter", hint="`wattlock run STUDY --meter NAME` does that"
        )
    _refuse_invalid(result)
    estimates = valued(result, None, allow_assumed=False)
    found = calibration.fit(estimates, gain=meter["gain_relative_uncertainty"], GHz=result.clock.GHz)
    for line in calibration.notes(found):
        echo(line, err=True)
    show(pl.DataFrame(found.loads), form)
    if save is not None:
        machine = result.header["fingerprint"]["hardware"]["model_name"] or "unnamed processor"
        card = calibration.card(found, isa=result.isa, machine=machine, run=result.plan["id"], meter=meter)
        write_out(save, calibration.as_toml(card), "--save")
        echo(f"the card: {save}; `wattlock run STUDY --device {save}` takes it", err=True)


def _refuse_invalid(result: Result) -> None:
    if result.reasons:
        raise EvidenceError(f"the run is invalid: {result.reasons[0]}", hint="measure again on a quieter machine")


def _print_published(name: str, form: Format, *, allow_assumed: bool) -> None:
    """Print every figure of a published run beside what the fitted power makes of its time; the fit goes to stderr."""
    import polars as pl

    from wattlock.energy.published_power import published as fit

    found = fit(name, allow_assumed=allow_assumed)
    doubtful = sum(bool(case.why) for case in found.cases)
    words = [
        f"{found.source}: card {found.device}, battery {found.battery}",
        f"power {found.power_W:.4g} W ({found.power_low_W:.3g} to {found.power_high_W:.3g}, {found.evidence}): "
        f"{found.percent_per_s:.4g} % of the battery a second, {found.uJ_per_byte:.3g} uJ a byte",
        f"the worst of {len(found.cases)} rows is {found.worst_percent:.1f} % off; {doubtful} rows are doubtful",
    ]
    for law in found.laws:
        formula = f"percent = {law.a:.4g} + {law.b:.4g} * rounds + {law.c:.5g} / block_bits"
        words.append(f"{law.operation}: {formula}, R^2 {law.r_squared:.3f}")
    for line in words:
        echo(line, err=True)
    show(pl.DataFrame([case._asdict() for case in found.cases]), form)
