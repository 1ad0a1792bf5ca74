"""`wattlock verify`: check a signed file, run or result set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wattlock.errors import NotVerified


def verify(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A file, a sealed run, or a result set.")],
    *,
    key: Annotated[
        str, typer.Option("--key", metavar="KEY", help="The public key: its file, or its line, as `minisign -P` takes.")
    ],
) -> None:
    """Check the signature of a file, or of a result set with the sum of each file and the seal of each run in it.

    Signatures are minisign's, so that `minisign -V` checks them as well. Ends with 14 where something isn't as signed.

    Examples: wattlock verify site --key wattlock.pub
    wattlock verify estimates.csv --key wattlock.pub
    """
    from wattlock.extras import require

    require("publish")
    from wattlock.publish import folder, minisign

    file = Path(key)
    text = minisign.read(file) if file.is_file() else key
    public = minisign.PublicKey.parse(text, named=f"--key {key}")
    found = folder.verify(path, public)
    for fault in found.faults:
        typer.echo(f"not verified: {fault}", err=True)
    if found.faults:
        more = f", and {len(found.faults) - 1} more" if len(found.faults) > 1 else ""
        raise NotVerified(f"{path}: {found.faults[0]}{more}", hint="fetch the set again from who published it")
    counted = f"{found.files} files, {found.runs} sealed runs" if path.is_dir() else "1 file"
    typer.echo(f"verified: {path}, {counted}, signed by key {public.id}")
    typer.echo(f"signed with it: {found.comment}")
