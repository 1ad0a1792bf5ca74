"""`wattlock key`: a key that signs result sets, in minisign's format."""

from __future__ import annotations

import os
import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wattlock.cli.echo import echo
from wattlock.errors import InputError, UsageError

if TYPE_CHECKING:
    from wattlock.publish.minisign import SecretKey


class KeyAction(StrEnum):
    """What is done."""

    new = "new"
    show = "show"


PasswordFile = Annotated[
    Path | None,
    typer.Option("--password-file", metavar="FILE", help="The key's password, its first line; else it is asked for."),
]


def key(
    action: Annotated[KeyAction, typer.Argument(metavar="new|show", help="Make a key pair, or print a public key.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The secret key; for show, either one.")],
    *,
    password_file: PasswordFile = None,
    without_password: Annotated[
        bool, typer.Option("--without-password", help="new: don't encrypt the secret key: who reads it can sign.")
    ] = False,
) -> None:
    """Make an Ed25519 key that signs result sets, or print the public key of one, in the format of minisign.

    The public key lies beside the secret one, its ending .pub; publish it where others trust it to be yours.
    Checking a password takes some seconds and 1 GiB of memory, as in minisign.

    Examples: wattlock key new wattlock.key    wattlock key show wattlock.pub
    """
    from wattlock.extras import require

    require("publish")
    if action is KeyAction.show:
        echo(_public(file, password_file))
        return
    from wattlock.publish.minisign import SecretKey
    from wattlock.store.disk import write_out

    _refuse_place(file)
    if without_password and password_file is not None:
        raise UsageError("--without-password and --password-file don't go together", hint="leave one of them out")
    public = file.with_suffix(".pub")
    for path in (file, public):
        if os.path.lexists(path):
            raise InputError(f"{path}: there is one already", hint="name another file: a lost key is lost for good")
    made = SecretKey.new()
    text = made.file(None if without_password else password(password_file, again=True))
    _write_secret(file, text)
    write_out(public, made.public.file())
    echo(made.public.line)
    echo(f"wrote {file}, which is yours alone, and {public}, which is for all; key {made.public.id}", err=True)


def secret_key(file: Path, password_file: Path | None) -> SecretKey:
    """A secret key out of its file, the password asked for where it has one."""
    from wattlock.publish import minisign

    text = minisign.read(file)
    return minisign.SecretKey.parse(text, _password_of(text, password_file), named=str(file))


LONGEST_LINE = 4096
"""Letters of a password's file that are read; minisign takes 1,023 octets."""


def password(file: Path | None, *, again: bool = False) -> str:
    """A password out of a file, or from the person. Raises InputError where there is neither."""
    import sys

    if file is not None:
        with file.open(encoding="utf-8", errors="replace") as opened:
            lines = opened.readline(LONGEST_LINE).splitlines()
        if not lines or not lines[0]:
            raise InputError(f"--password-file {file}: its first line is empty", hint="write the password into it")
        return lines[0]
    if not sys.stdin.isatty():
        hint = "name a file of it by --password-file; `key new --without-password` makes a key without one"
        raise InputError("nobody can be asked for the key's password", hint=hint)
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=again, err=True))


def _password_of(text: str, file: Path | None) -> str | None:
    from wattlock.publish.minisign import is_encrypted

    return password(file) if is_encrypted(text) else None


def _public(file: Path, password_file: Path | None) -> str:
    from wattlock.publish import minisign

    text = minisign.read(file)
    if minisign.is_secret(text):
        return secret_key(file, password_file).public.line
    return minisign.PublicKey.parse(text, named=str(file)).line


def _refuse_place(file: Path) -> None:
    """Raises InputError where a secret key can't be written, before a password is asked for."""
    if file.is_dir():
        raise InputError(f"{file}: is a folder", hint=f"name a file: {file / 'wattlock.key'}")
    if file.name.endswith(".pub"):
        raise InputError(f"{file}: .pub is the public key's ending", hint="name the secret key: wattlock.key")
    if not file.parent.exists():
        hint = f"make it by `mkdir -p {shlex.quote(str(file.parent))}`"
        raise InputError(f"{file}: there is no folder {file.parent}", hint=hint)


def _write_secret(file: Path, text: str) -> None:
    """Writes a file that nobody else can read, from its first byte on."""
    from wattlock.store.disk import unwritten

    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
            try:
                opened.write(text)
                opened.flush()
            except OSError:
                file.unlink()
                raise
    except OSError as error:
        raise unwritten(file, error) from error
