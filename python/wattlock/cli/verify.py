"""`wattlock verify`: check a signed file, run or result set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from wattlock.cli.echo import echo
from wattlock.errors import InputError, NotVerified


def verify(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A file, a sealed run, or a result set.")],
    *,
    key: Annotated[
        str,
        typer.Option(
            "--key", metavar="KEY", help="The public key: its file outside PATH, or its line, as `minisign -P`."
        ),
    ],
) -> None:
    """Check the signature of a file, or of a result set with the sum of each file and the seal of each run in it.

    Signatures are minisign's, so that `minisign -V` checks them as well. Ends with 14 where something isn't as signed.
    The key must come from where you know its owner: one that lies in PATH is refused.

    Examples: wattlock verify site --key wattlock.pub
    wattlock verify estimates.csv --key wattlock.pub
    """
    from wattlock.extras import require

    require("publish")
    from wattlock.publish import minisign, signed_set
    from wattlock.store.run_folder import SUMS

    file = Path(key)
    place = path.parent if path.name == SUMS else path
    if file.is_file() and _is_inside(file, place):
        what = f"--key {key}: lies in {place}, which it is to verify"
        raise InputError(what, hint="take the key from where you know its owner")
    text = minisign.read(file) if file.is_file() else key
    public = minisign.PublicKey.parse(text, named=f"--key {key}")
    found = signed_set.verify(path, public)
    for fault in found.faults:
        echo(f"not verified: {fault}", err=True)
    if found.faults:
        more = f", and {len(found.faults) - 1} more" if len(found.faults) > 1 else ""
        raise NotVerified(f"{path}: {found.faults[0]}{more}", hint="fetch the set again from who published it")
    echo(f"verified: {path}: {found.checked}, signed by key {public.id}")
    echo(f"signed with it: {found.comment}")
    if found.unsigned:
        echo(f"warning: not signed, so not checked: {', '.join(found.unsigned)}", err=True)


def _is_inside(file: Path, place: Path) -> bool:
    """Whether a file lies below a folder, itself or what it links to."""
    return any(path.is_relative_to(place.resolve()) for path in (file.resolve(), file.parent.resolve() / file.name))
