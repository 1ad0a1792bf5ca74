"""`wattlock costs`: cost entries for `advise` out of a run that counted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wattlock.cli.echo import echo


def costs(
    *,
    run: Annotated[str, typer.Option("--from", metavar="RUN", help="A run that counted: its path, its id, or last.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the file here, not to standard output.")
    ] = None,
) -> None:
    """Write what ciphers cost on a core out of a run that counted, as `wattlock advise --costs FILE` takes it.

    Examples: wattlock costs --from last --out mine.toml; wattlock costs --from runs/m4
    """
    from wattlock.advise.counted_costs import costs_file
    from wattlock.cli.options import chosen
    from wattlock.errors import EvidenceError
    from wattlock.run.result import open_run
    from wattlock.store.disk import write_out

    found = open_run(run)
    if "time" in found.quantities:
        hint = "`wattlock advise --run RUN` takes it as it is; `wattlock run mcu-quick --on qemu:cortex-m4` counts"
        raise EvidenceError(f"run {run}: it measured on a machine, and counted no cycles on a core", hint=hint)
    text = costs_file(found, chosen())
    if out is None:
        echo(text, nl=False)
    else:
        write_out(out, text, "--out")
