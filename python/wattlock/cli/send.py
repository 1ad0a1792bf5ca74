"""`wattlock send`: files through a cipher to another machine, both sides measured."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from wattlock.cli.options import SysRoot, given, refuse_without
from wattlock.cli.table import Format
from wattlock.cli.table import show as print_table
from wattlock.errors import UsageError

SHORT = ["side", "file", "cipher", "provider", "encoding", "transport", "plain_B", "encoded_B", "wire_B"]
SHORT += ["cipher_ms", "encode_ms", "transfer_ms", "transfer_cpu_ms", "throughput_MB_s", "lost_datagrams"]
JOULES = ["process_uJ", "transfer_uJ"]
"""The columns for eyes; JSON and CSV have all that the records say."""
# The probe's own limits.
MOST_SILENCE_s, MOST_TIME_s, MOST_B = 86_400, 604_800, 1 << 30


class Encoding(StrEnum):
    """What is made of the ciphertext."""

    raw = "raw"
    base64 = "base64"
    hex = "hex"


@dataclass(frozen=True)
class SideMeter:
    """The meter of one side of a transfer."""

    meter: Annotated[
        str | None,
        typer.Option("--meter", metavar="NAME", help="This side's energy meter, powercap:package-0, or a sum A+B."),
    ] = None
    sys_root: SysRoot = None
    stream: Annotated[
        Path | None, typer.Option("--stream", metavar="FILE", help="The meter's serial device or recording.")
    ] = None

    def words(self) -> list[str]:
        """As the toolbox is asked for it."""
        return passed("--meter", self.meter) + passed("--sys-root", self.sys_root) + passed("--stream", self.stream)

    def refuse_place_alone(self) -> None:
        """Raises InputError where something says where a meter is, and no meter is named."""
        places = {"--sys-root": self.sys_root, "--stream": self.stream}
        for option, place in places.items():
            if place is not None and self.meter is None:
                hint = "it says where a meter is: name the meter, `wattlock meters` lists them"
                raise UsageError(f"{option} needs --meter", hint=hint)


def send(
    context: typer.Context,
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
    timeout: Annotated[
        int, typer.Option("--timeout", min=1, max=MOST_SILENCE_s, help="The receiver's longest silence, seconds.")
    ] = 60,
    by: SideMeter = SideMeter(),
    form: Annotated[Format, typer.Option("--format", help="How to print the table.")] = Format.table,
) -> None:
    """Encrypt, encode and send files to a machine where `wattlock receive` runs; print what it cost both sides.

    The cipher is what is measured: the files are only as secret as it is. Ends with 10 where a side refuses
    (docs/transfer.md). Example: wattlock send report.pdf --to 192.168.1.2:7400 --cipher aes128-cbc --encoding base64
    """
    options = given(context)
    refuse_without(options, "--datagram-B", "--udp", "datagrams are of UDP: add --udp, or leave --datagram-B out")
    by.refuse_place_alone()
    words = ["send", "--to", to, "--cipher", cipher, "--encoding", encoding.value, "--token-file", str(token_file)]
    words += ["--timeout", str(timeout), *(["--udp"] if udp else [])]
    words += passed("--datagram-B", datagram_B) + passed("--provider", provider) + by.words()
    carry_out([*words, "--", *map(str, files)], form)


def passed(option: str, value: object) -> list[str]:
    """The words of an option that has a value, none of one that has none."""
    return [] if value is None else [option, str(value)]


def carry_out(words: list[str], form: Format) -> None:
    """Carry out one side by the probe and print the files that arrived, before the error if there was one."""
    import polars as pl

    from wattlock.targets import toolbox

    rows, error = toolbox.rows_of_run(toolbox.find(), words)
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
