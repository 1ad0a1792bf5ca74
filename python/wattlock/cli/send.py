"""`wattlock send`: files through a cipher to another machine, both sides measured."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table

SHORT = ["side", "file", "cipher", "provider", "encoding", "transport", "plain_B", "encoded_B", "wire_B"]
SHORT += ["cipher_ms", "encode_ms", "transfer_ms", "transfer_cpu_ms", "throughput_MB_s", "lost_datagrams"]
JOULES = ["process_uJ", "transfer_uJ"]
"""The columns for eyes; JSON and CSV have all that the records say."""


class Encoding(StrEnum):
    """What is made of the ciphertext."""

    raw = "raw"
    base64 = "base64"
    hex = "hex"


def send(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="The files.")],
    *,
    to: Annotated[str, typer.Option("--to", metavar="HOST:PORT", help="Where `wattlock receive` listens.")],
    cipher: Annotated[str, typer.Option("--cipher", metavar="ID", help="Which cipher (`wattlock ciphers`).")],
    encoding: Annotated[Encoding, typer.Option("--encoding", help="What is made of the ciphertext.")] = Encoding.raw,
    udp: Annotated[bool, typer.Option("--udp", help="The data go in datagrams; what is lost is sent again.")] = False,
    datagram_B: Annotated[
        int | None, typer.Option("--datagram-B", min=1, max=65_000, help="Bytes of data in a datagram, with --udp.")
    ] = None,
    token_file: Annotated[
        Path, typer.Option("--token-file", metavar="PATH", help="A file with the token; `-` asks for it.")
    ] = Path("-"),
    provider: Annotated[str | None, typer.Option("--provider", metavar="NAME", help="Whose code encrypts.")] = None,
    timeout: Annotated[int, typer.Option("--timeout", min=1, help="The receiver's longest silence, seconds.")] = 60,
    meter: Annotated[str | None, typer.Option("--meter", metavar="NAME", help="This side's energy meter.")] = None,
    sys_root: Annotated[
        Path | None, typer.Option("--sys-root", metavar="DIR", help="Read the meter below DIR in place of /sys.")
    ] = None,
    stream: Annotated[
        Path | None, typer.Option("--stream", metavar="FILE", help="The meter's serial device or recording.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """Encrypt, encode and send files to a machine where `wattlock receive` runs; print what it cost both sides.

    The cipher is what is weighed: the files are only as secret as it is. Example: wattlock send report.pdf
    --to 192.168.1.2:7400 --cipher aes128-cbc --encoding base64
    """
    words = ["send", "--to", to, "--cipher", cipher, "--encoding", encoding.value, "--token-file", str(token_file)]
    words += ["--timeout", str(timeout), *(["--udp"] if udp else [])]
    words += given("--datagram-B", datagram_B) + given("--provider", provider) + given("--meter", meter)
    words += given("--sys-root", sys_root) + given("--stream", stream)
    carry_out([*words, "--", *map(str, files)], form)


def given(option: str, value: object) -> list[str]:
    """The words of an option that was given, none of one that was not."""
    return [] if value is None else [option, str(value)]


def carry_out(words: list[str], form: Format) -> None:
    """Carry out one side by the probe and print the files that arrived, before the error if there was one."""
    import polars as pl

    from wattlock.run import probe, transfer

    rows, error = transfer.carry_out(probe.find(), words)
    if form is Format.table:
        joules = JOULES if any(row["energy"] for row in rows) else []
        rows = [{name: _shown(row, name) for name in [*SHORT, *joules]} for row in rows]
    if rows or error is None:
        print_table(pl.DataFrame(rows, infer_schema_length=None), form)
    if error is not None:
        raise error


def _shown(row: dict[str, Any], name: str) -> Any:
    if not name.endswith("_ms"):
        return row[name]
    time_ns = row[f"{name.removesuffix('_ms')}_ns"]
    return None if time_ns is None else time_ns / 1e6
