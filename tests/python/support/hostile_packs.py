"""Packs of runs as somebody hostile sends them, drawn from a seed: cut, swapped, forged, far too large.

What is `forged` has right sums: it may be a run that nobody measured, and a lab that takes it has to live with it. All
else is no pack of a run, and must be refused.
"""

import bz2
import gzip
import hashlib
import io
import json
import lzma
import random
import tarfile
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

import polars as pl

from support.labs import tar_of
from wattlock.store import run_folder
from wattlock.store.run_folder import BATCHES, HEADERS, SEALED, SUMS
from wattlock.store.run_plan import NAME as PLAN
from wattlock.store.run_plan import encode

Files = dict[str, bytes]
"""The members of a pack by their names, in their order."""
Members = list[tuple[tarfile.TarInfo | str, bytes]]


class Hostile(NamedTuple):
    """A pack, of which kind it is, the hash that it is sent under, and whether its sums are right."""

    kind: str
    content: bytes
    announced: str
    is_forged: bool


def hostile(run: Mapping[str, bytes], seed: int) -> Hostile:
    """A hostile pack made of a run's files; the same of the same seed."""
    draw = random.Random(seed)
    files = {name: run[name] for name in run_folder.MOST_B}
    own = hashlib.sha256(files[SUMS]).hexdigest()
    if draw.random() < SHARE_OF_FORGED:
        name = draw.choice(sorted(FORGED))
        forged = FORGED[name](dict(files), draw)
        forged[SUMS] = sums(forged)
        return Hostile(name, packed(forged), hashlib.sha256(forged[SUMS]).hexdigest(), is_forged=True)
    name = draw.choice(sorted(BROKEN))
    return Hostile(name, BROKEN[name](dict(files), draw), own, is_forged=False)


SHARE_OF_FORGED = 0.5


def packed(files: Mapping[str, bytes]) -> bytes:
    """A plain tar of these."""
    return tar_of(list(files.items()))


def sums(files: Mapping[str, bytes]) -> bytes:
    """SHA256SUMS as a seal writes it."""
    return "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in SEALED).encode()


def flipped(content: bytes, draw: random.Random, first: int = 0) -> bytes:
    """With one to eight of its bits turned, from octet `first` on."""
    changed = bytearray(content or b"x")
    for _ in range(draw.choice((1, 1, 1, 2, 8))):
        changed[draw.randrange(min(first, len(changed) - 1), len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


# What is no pack of a run.


def _cut(files: Files, draw: random.Random) -> bytes:
    whole = packed(files)
    return whole[: draw.randrange(len(whole) - 2 * tarfile.BLOCKSIZE)]


def _flipped_member(files: Files, draw: random.Random) -> bytes:
    name = draw.choice([one for one in files if files[one]])
    content = bytearray(files[name])
    content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    return packed({**files, name: bytes(content)})


def _named(files: Files, draw: random.Random) -> bytes:
    name = draw.choice(list(files))
    kinds = ("../{}", "/{}", "/etc/{}", "./{}", "runs/{}", "{}/", "{}\\..", "..\\{}", "{}.", " {}", "a/../{}", "{}\t")
    path = draw.choice(kinds).format(name)
    members = [(path if one == name else one, content) for one, content in files.items()]
    return tar_of(draw.choice([members, [*files.items(), (path, b"x")]]))


def _linked(files: Files, draw: random.Random) -> bytes:
    head = tarfile.TarInfo(draw.choice(list(files)))
    head.type, head.linkname = bytes([draw.choice([*b"1234567DKLMNSVgxX"])]), draw.choice(["/etc/passwd", "../x", PLAN])
    head.size = draw.choice([0, 0, 512])
    members: Members = [(head, bytes(head.size)), *((name, files[name]) for name in files if name != head.name)]
    draw.shuffle(members)
    return tar_of(members)


def _twice(files: Files, draw: random.Random) -> bytes:
    members = [*files.items(), (draw.choice(list(files)), draw.choice([b"", b"x", *files.values()]))]
    draw.shuffle(members)
    return tar_of(members)


def _extended(files: Files, draw: random.Random) -> bytes:
    form: Literal[1, 2] = draw.choice([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
    head = tarfile.TarInfo(draw.choice(["a" * draw.randint(101, 400), "\u00e4", *files]))
    head.pax_headers = {
        draw.choice(["size", "path", "linkpath", "GNU.sparse.size", "comment"]): draw.choice(["0", "/x"])
    }
    if form == tarfile.GNU_FORMAT and head.name in files:
        head.linkname = "a" * 200
    elif head.name in files:
        head.pax_headers["comment"] = "x"
    members: Members = [(head, b""), *((name, files[name]) for name in files if name != head.name)]
    return tar_of(members, form)


def _bomb(files: Files, draw: random.Random) -> bytes:
    name = draw.choice(list(files))
    head = tarfile.TarInfo(name)
    head.size = draw.choice([run_folder.MOST_B[name] + 1, 8**11 - 1, 2**40, 2**63 - 1, 2**64, 2**80])
    return head.tobuf(tarfile.GNU_FORMAT) + draw.randbytes(draw.randrange(4096))


def _negative(files: Files, draw: random.Random) -> bytes:
    name = draw.choice(list(files))
    block = bytearray(tarfile.TarInfo(name).tobuf(tarfile.USTAR_FORMAT))
    block[124:136] = draw.choice([b"\xff" * 12, b"\x80" + b"\xff" * 11, b"-0000000001\0", b"0x000000010\0"])
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block) + packed({one: files[one] for one in files if one != name})


def _several(files: Files, draw: random.Random) -> bytes:
    whole = packed(files)
    return whole + draw.choice([whole, whole[:1000], b"x", bytes(512) + b"x"])


def _joined(files: Files, _draw: random.Random) -> bytes:
    whole = packed(files)
    return whole[: -2 * tarfile.BLOCKSIZE] + whole


def _swapped(files: Files, draw: random.Random) -> bytes:
    one, other = draw.sample(list(files), 2)
    return packed({**files, one: files[other], other: files[one]})


def _lacking(files: Files, draw: random.Random) -> bytes:
    for name in draw.sample(list(files), draw.randint(1, 4)):
        del files[name]
    return packed(files)


def _squeezed(files: Files, draw: random.Random) -> bytes:
    ways: list[Callable[[bytes], bytes]] = [partial(gzip.compress, mtime=0), bz2.compress, lzma.compress]
    return draw.choice(ways)(packed(files))


def _noise(_files: Files, draw: random.Random) -> bytes:
    return draw.randbytes(draw.randrange(5000))


def _foreign_sums(files: Files, draw: random.Random) -> bytes:
    lines = files[SUMS].decode().splitlines(keepends=True)
    changed = draw.choice(
        [
            "".join(reversed(lines)),
            "".join(lines[:2]),
            "".join(lines) + lines[0],
            "".join(lines).upper(),
            "".join(lines).replace("\n", "\r\n"),
            "".join(lines).removesuffix("\n"),
            "".join(lines).replace("  ", " *"),
            "".join(lines).replace(PLAN, f"../{PLAN}"),
            "".join(lines).replace(lines[0][:64], "0" * 64),
            "",
            "\0" * 100,
        ]
    )
    return packed({**files, SUMS: changed.encode()})


def _flipped_head(files: Files, draw: random.Random) -> bytes:
    whole = bytearray(packed(files))
    name = draw.choice(list(files))
    at = whole.index(name.encode())
    whole[at + draw.randrange(len(name))] ^= 1 << draw.randrange(8)
    return bytes(whole)


def _filled_up(files: Files, draw: random.Random) -> bytes:
    """Octets where a file is filled up to a whole block."""
    whole = bytearray(packed(files))
    end = tarfile.BLOCKSIZE + len(files[SUMS])
    whole[draw.randrange(end, 2 * tarfile.BLOCKSIZE)] = draw.randint(1, 255)
    return bytes(whole)


BROKEN: Mapping[str, Callable[[Files, random.Random], bytes]] = {
    "cut": _cut,
    "a bit of a member": _flipped_member,
    "a bit of a name": _flipped_head,
    "what fills up a block": _filled_up,
    "paths": _named,
    "links and devices": _linked,
    "twice": _twice,
    "extended headers": _extended,
    "sizes": _bomb,
    "negative sizes": _negative,
    "two packs": _several,
    "two packs in one": _joined,
    "swapped": _swapped,
    "lacking": _lacking,
    "compressed": _squeezed,
    "noise": _noise,
    "foreign sums": _foreign_sums,
}


# What has right sums.

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**32, 2**63, 2**64, 10**40, 1.5, -1e308, 1e308, 5e-324),
    *(float("nan"), float("inf"), "", "x", "\0", "\ud800", "\u202e", "../../x", "x" * 5000, [], {}, [[]], {"": {}}),
)


def _odd(lines: bytes, draw: random.Random) -> list[Any]:
    """Lines of JSON with one to three values of theirs gone or odd."""
    parsed = [json.loads(line) for line in lines.splitlines()]
    for _ in range(draw.randint(1, 3)):
        at: Any = draw.choice(parsed) if parsed else {}
        while at:
            key = draw.choice(list(at) if isinstance(at, dict) else range(len(at)))
            if isinstance(at[key], dict | list) and at[key] and draw.random() < 0.8:
                at = at[key]
                continue
            if draw.random() < 0.3:
                del at[key]
            else:
                at[key] = draw.choice(ODD)
            break
    return parsed


def _written(lines: list[Any]) -> bytes:
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines).encode()


def _odd_plan(files: Files, draw: random.Random) -> Files:
    lines = [line for line in _odd(files[PLAN], draw) if not isinstance(line, dict) or line.get("kind") != "sum"]
    try:
        return {**files, PLAN: b"".join(encode(lines))}
    except UnicodeEncodeError:
        return {**files, PLAN: _written(lines)}


def _odd_headers(files: Files, draw: random.Random) -> Files:
    return {**files, HEADERS: _written(_odd(files[HEADERS], draw))}


def _schema(files: Files, draw: random.Random) -> Files:
    name = draw.choice([PLAN, HEADERS])
    lines = [json.loads(line) for line in files[name].splitlines()]
    for line in lines:
        if "schema" in line:
            line["schema"] = draw.choice([0, 1, 2, 3, 99, -1, "2", None, 2.0, True, [2], 2**70])
    lines = [line for line in lines if line.get("kind") != "sum"]
    return {**files, name: b"".join(encode(lines)) if name == PLAN else _written(lines)}


def _other_lines(files: Files, draw: random.Random) -> Files:
    name = draw.choice([PLAN, HEADERS])
    lines = files[name].splitlines(keepends=True)
    changes: list[Callable[[], object]] = [
        lambda: draw.shuffle(lines),
        lambda: lines.pop(draw.randrange(len(lines))),
        lambda: lines.append(draw.choice(lines)),
    ]
    draw.choice(changes)()
    return {**files, name: b"".join(lines)}


def _other_text(files: Files, draw: random.Random) -> Files:
    name = draw.choice([PLAN, HEADERS])
    text = files[name]
    deep = draw.choice([900, 5_000, 200_000])
    changed = draw.choice(
        [
            b"",
            b"\n",
            text.removesuffix(b"\n"),
            text.replace(b"\n", b"\r\n"),
            b"\xef\xbb\xbf" + text,
            text.decode().encode("utf-16"),
            text.replace(b":", b": "),
            text + b'{"kind":"note","x":"' + b"x" * draw.choice([10**5, 3 * 10**6]) + b'"}\n',
            text + b'{"kind":"note","x":' + b"[" * deep + b"]" * deep + b"}\n",
            text + b'{"kind":"note","x":' + b"9" * draw.choice([400, 5000]) + b"}\n",
            b"x" * draw.choice([10**5, 3 * 10**6]),
            bytes(draw.choice([10**3, 10**6])),
            text + b'{"kind":"header"}\n',
            text + b'{"kind":"end","process":0}\n',
            text + b'{"kind":["batch"]}\n',
        ]
    )
    return {**files, name: changed}


def _bits(files: Files, draw: random.Random) -> Files:
    name = draw.choice([PLAN, HEADERS, BATCHES])
    return {**files, name: flipped(files[name], draw)}


def _footer(files: Files, draw: random.Random) -> Files:
    """Bits of what Parquet says of itself: rows, sizes, offsets, types."""
    content = files[BATCHES]
    return {**files, BATCHES: flipped(content, draw, len(content) - int.from_bytes(content[-8:-4], "little") - 8)}


def _no_parquet(files: Files, draw: random.Random) -> Files:
    content = files[BATCHES]
    sized = content[:-8] + draw.choice([0, 1, 2**31, 2**32 - 1, len(content)]).to_bytes(4, "little") + content[-4:]
    cut = content[: draw.randrange(len(content))]
    return {
        **files,
        BATCHES: draw.choice([sized, cut, cut + b"PAR1", b"", b"PAR1PAR1", content + content, files[PLAN]]),
    }


def _columns(files: Files, draw: random.Random) -> Files:
    frame = pl.read_parquet(io.BytesIO(files[BATCHES]))
    name = draw.choice(frame.columns)
    made: Callable[[], pl.DataFrame] = draw.choice(
        [
            lambda: frame.drop(name),
            lambda: frame.rename({name: draw.choice(["", "x", "case\0", "../x"])}),
            lambda: frame.with_columns(pl.lit(draw.choice([0, -1, 2**40, None, "x", 1.5, True])).alias(name)),
            lambda: frame.with_columns(pl.lit(None, dtype=frame.schema[name]).alias(name)),
            lambda: frame.with_columns(x=pl.lit(1)),
            frame.clear,
            lambda: frame.select(pl.all().reverse()),
            lambda: pl.concat([frame, frame]),
            lambda: frame.with_columns(pl.struct(name).alias(name)),
            lambda: frame.with_columns(pl.concat_list(pl.col(name)).alias(name)),
            lambda: frame.with_columns(pl.col(name).cast(pl.String).cast(pl.Categorical).alias(name)),
        ]
    )
    return {**files, BATCHES: _parquet(made())}


def _claims(files: Files, draw: random.Random) -> Files:
    """Many rows in few octets: what says the same a million times is nearly nothing when it is written."""
    frame = pl.read_parquet(io.BytesIO(files[BATCHES]))
    rows = draw.choice([*8 * [10**4], *3 * [10**5], 10**6])
    if frame.is_empty():
        frame = pl.DataFrame({name: [None] for name in frame.columns}, schema=frame.schema)
    constant = frame.head(1).select(pl.all().repeat_by(rows).explode())
    return {**files, BATCHES: _parquet(constant)}


def _parquet(frame: pl.DataFrame) -> bytes:
    written = io.BytesIO()
    frame.write_parquet(written)
    return written.getvalue()


FORGED: Mapping[str, Callable[[Files, random.Random], Files]] = {
    "odd values of the plan": _odd_plan,
    "odd values of records": _odd_headers,
    "schema": _schema,
    "other lines": _other_lines,
    "other text": _other_text,
    "bits": _bits,
    "bits of Parquet's footer": _footer,
    "no Parquet": _no_parquet,
    "other columns": _columns,
    "many rows": _claims,
}
