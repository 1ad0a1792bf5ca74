"""`wattlock lab`: a web server for a team's runs, its index and its tokens."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wattlock.cli.echo import echo
from wattlock.cli.options import given
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table
from wattlock.errors import InputError, UsageError

if TYPE_CHECKING:
    from wattlock.lab.collection import Collection


class LabAction(StrEnum):
    """What to do with the lab."""

    serve = "serve"
    reindex = "reindex"
    token = "token"  # noqa: S105 - the word, and no secret
    tokens = "tokens"
    revoke = "revoke"
    remove = "remove"


class TokenScope(StrEnum):
    """What a token is for."""

    send = "send"
    read = "read"
    plan = "plan"
    admin = "admin"


OPTIONS = {"--bind": LabAction.serve, "--name": LabAction.serve, "--scope": LabAction.token, "--days": LabAction.token}
OPTIONS |= {"--fleet": LabAction.serve, "--target": LabAction.serve, "--https": LabAction.serve}
OPTIONS |= {"--need-token": LabAction.serve, "--id": LabAction.revoke, "--format": LabAction.tokens}


def lab(
    context: typer.Context,
    action: Annotated[LabAction, typer.Argument(metavar="ACTION", help="What to do.")] = LabAction.serve,
    run: Annotated[str, typer.Argument(metavar="HASH", help="The run to remove.", show_default=False)] = "",
    *,
    data: Annotated[
        Path, typer.Option("--data", metavar="DIR", help="The lab's folder; serve and token make it.")
    ] = Path("lab"),
    bind: Annotated[
        str, typer.Option("--bind", metavar="ADDRESS:PORT", help="Where to listen; port 0 takes a free one.")
    ] = "127.0.0.1:8893",
    name: Annotated[
        list[str] | None, typer.Option("--name", metavar="HOST", help="A name of this host for browsers.")
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            "--database",
            metavar="URL",
            envvar="WATTLOCK_DATABASE",
            show_envvar=False,
            help="The index in PostgreSQL, in place of DIR/lab.db; else WATTLOCK_DATABASE.",
        ),
    ] = None,
    need_token: Annotated[
        bool, typer.Option("--need-token", help="Don't start without a token, as behind a reverse proxy.")
    ] = False,
    https: Annotated[
        bool, typer.Option("--https", help="Speak https, by a certificate of its own that is kept for the address.")
    ] = False,
    fleet: Annotated[
        bool, typer.Option("--fleet", help="Measure from the page of the queue, here and on your named targets.")
    ] = False,
    target: Annotated[
        list[str] | None,
        typer.Option("--target", metavar="TARGET", help="Measure on this target, as of --on."),
    ] = None,
    scope: Annotated[
        TokenScope | None, typer.Option("--scope", help="What a token is for: send runs, read them, plan too, or all.")
    ] = None,
    days: Annotated[int | None, typer.Option("--days", min=1, max=3660, help="How long the token lets in.")] = None,
    token_id: Annotated[str | None, typer.Option("--id", metavar="ID", help="The token that ends now.")] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print the tokens.")] = Format.table,
) -> None:
    """Serve a team's runs: `push` sends them, pages show and compare them, each as JSON and CSV too.

    The run folders below DIR/runs are the truth, and DIR/lab.db is an index of them: `reindex` makes it again. A lab
    without a token is open to this machine and listens on loopback alone; once there is a token everybody needs one.
    `token` prints a new one this once, `tokens` lists them, `revoke` ends one. `remove HASH` takes a run out: its
    folder goes below DIR/removed, and it can be pushed again.

    With --fleet or --target the page of the queue measures studies on targets; nothing is lost where a device vanishes
    or the lab is killed.

    With --https a phone in the same network measures itself at /measure-this-device: a terminal shows its QR code.

    Examples: wattlock lab --data lab    wattlock lab --data lab --fleet --target qemu:cortex-m4
    wattlock lab --data lab --https --bind 192.168.1.2:8893
    wattlock lab token --data lab --scope send --days 90
    wattlock lab --data lab --bind 192.168.1.2:8893 --name lab.local    wattlock lab reindex --data lab
    """
    from wattlock import extras

    _refuse_unfit(context, action, data, run)
    extras.require("report")
    extras.require("lab")
    if action is LabAction.serve:
        if https:
            extras.require("page")
        wanted = _targets(target or [], named=fleet)
        _serve(data, bind, name or [], wanted, needs_token=need_token, database=database, tls=https)
        return
    actions: dict[LabAction, Callable[[], None]] = {
        LabAction.reindex: lambda: _reindex(data, database),
        LabAction.token: lambda: _token(data, database, scope, days),
        LabAction.tokens: lambda: _tokens(data, database, form),
        LabAction.remove: lambda: _remove(data, database, run),
        LabAction.revoke: lambda: _revoke(data, database, token_id),
    }
    actions[action]()


def _refuse_unfit(context: typer.Context, action: LabAction, data: Path, run: str) -> None:
    """Raises InputError for what another action takes."""
    if run and action is not LabAction.remove:
        raise UsageError(f"{run}: {action} takes no run", hint=f"wattlock lab remove HASH --data {data}")
    for option in given(context):
        if option in OPTIONS and OPTIONS[option] is not action:
            raise UsageError(f"{option} is for {OPTIONS[option]}", hint=f"wattlock lab {OPTIONS[option]} --data {data}")


def _targets(given: list[str], *, named: bool) -> list[str]:
    """Of the fleet. Raises InputError for one that there is not, MissingExtra where a fleet needs more packages."""
    from wattlock import extras

    if not (given or named):
        return []
    extras.require("cluster")
    extras.require("publish")
    from wattlock.lab.fleet.job_options import NAMED, targets
    from wattlock.targets import named as names

    wanted = [*([NAMED] if named else []), *given]
    for target in targets(wanted):
        try:
            names.target(target)
        except InputError as error:
            raise InputError(error.message.replace("--on ", "--target ", 1), hint=error.hint) from error
    return wanted


def _serve(
    data: Path, bind: str, names: list[str], targets: list[str], *, needs_token: bool, database: str | None, tls: bool
) -> None:
    from wattlock.lab.serve import How, serve

    say = partial(echo, err=True)
    serve(
        data,
        bind,
        say,
        names=names,
        targets=targets,
        how=How(needs_token, database, tls),
        show=_show_code,
    )


def _show_code(address: str) -> None:
    """Shows where a phone measures itself to its camera, where a terminal can."""
    from wattlock import extras

    if not sys.stdout.isatty() or extras.absent("page"):
        return
    from wattlock.page.certificate import code

    if (drawn := code(address, shutil.get_terminal_size().columns)) is not None:
        echo(f"A phone measures itself at {address}:", err=True)
        typer.echo(drawn)


def _existing(data: Path, database: str | None) -> Collection:
    """The lab whose folder is `data`. Raises InputError where that is no lab's."""
    from wattlock.lab.collection import Collection, is_lab

    if not is_lab(data):
        raise InputError(
            f"--data {data}: is no folder of a lab", hint="check the path; `wattlock lab --data DIR` makes one"
        )
    return Collection.open(data, database)


def _reindex(data: Path, database: str | None) -> None:
    lab = _existing(data, database)
    for line in lab.reindex():
        echo(f"warning: left out: {line}", err=True)
    echo(f"{lab.count()} runs are in the index", err=True)


def _token(data: Path, database: str | None, scope: TokenScope | None, days: int | None) -> None:
    from wattlock.lab import tokens
    from wattlock.lab.collection import Collection, is_lab

    if scope is None:
        raise UsageError(
            "--scope is missing",
            hint="send for machines that push, read for people, plan for who measures, admin for all",
        )
    is_new = not is_lab(data)
    token = tokens.make(Collection.open(data, database).engine, tokens.Scope(scope), days)
    if is_new:
        echo(f"a new lab in {data}", err=True)
    echo(token)
    echo("this is shown once; who has it may come in", err=True)


def _tokens(data: Path, database: str | None, form: Format) -> None:
    import polars as pl

    from wattlock.lab import tokens

    rows = tokens.listed(_existing(data, database).engine)
    columns = ("id", "scope", "created", "expires", "revoked")
    print_table(pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String)), form)


def _remove(data: Path, database: str | None, run: str) -> None:
    from wattlock.lab.tokens import By

    if not run:
        raise UsageError("the run is missing", hint=f"wattlock lab remove HASH --data {data}; its page has the hash")
    removed = _existing(data, database).remove(run, By(None, "this host"))
    echo(f"run {removed} is out of the lab; its folder is below {data / 'removed'}", err=True)


def _revoke(data: Path, database: str | None, token_id: str | None) -> None:
    from wattlock.lab import tokens

    if token_id is None:
        raise UsageError("--id is missing", hint=f"`wattlock lab tokens --data {data}` lists them")
    tokens.revoke(_existing(data, database).engine, token_id)
