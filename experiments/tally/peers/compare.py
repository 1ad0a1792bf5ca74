"""Octets of other people's secure links beside the octets by clause: `python peers/compare.py [--peer NAME]`.

Each peer sends one trace through one seeded lossy proxy, which captures what it sends; `docs/peers.md` says which peers
and how. Ends with an error where what was captured is not what the clauses say.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

from wattlock.link.designs import compared

HERE = Path(__file__).parent
LOSSES = (0.0, 0.1, 0.3)
SEED = 1
PAYLOAD_B = 16
SIZES = range(4, 68)
"""Payloads of the trace that octets are compared on, without loss; those of the others have `PAYLOAD_B`."""

RADIO = "ble"
"""Whose counter of an octet designs send that leave its form open."""

TALLY = "tally"
LATER = 100
"""Messages that tally's sensor sends behind the trace: they verify the last ones of it."""

KEY = "07" * 32
OPENING_B, ANSWER_B = 20, 16
"""tally's resumption: docs/specification.md."""

Line = dict[str, Any]


class Difference(NamedTuple):
    """Octets that a peer sends beside those of the design, with the clause that says why."""

    octets_B: int
    clause: str


class Peer(NamedTuple):
    """A peer: the design that it carries out, what it always sends beside that, and what it is carried by."""

    design: str
    always: tuple[Difference, ...] = ()
    over_tcp: bool = False
    lossless: bool = False


COAP = Difference(5, "RFC 7252, 3: CoAP's header of 4, and the marker before a payload")
OSCORE = frozenset({"oscore", "oscore-ccm16"})
PEERS = {
    "noise": Peer("noise"),
    "dtls13": Peer(
        "dtls13",
        (Difference(1, "RFC 9147, 4: a sequence number of 16 bits"), Difference(2, "RFC 9147, 4: a length")),
    ),
    "dtls12": Peer("dtls12-ccm8"),
    "tls13": Peer("tls13", over_tcp=True, lossless=True),
    "wireguard": Peer("wireguard", (Difference(20, "RFC 791, 3.1: the inner IP header"),)),
    "oscore": Peer("oscore", (COAP,)),
    "oscore-ccm16": Peer("oscore-ccm16", (COAP,)),
    "edhoc": Peer("oscore", lossless=True),
    TALLY: Peer("tally"),
}
"""In the order of the table; `edhoc` is the handshake of its design, and carries no messages."""


def differences(name: str, line: Line) -> list[Difference]:
    """Why a message of a peer has other octets than the design's, each with its clause."""
    found, beyond_B = list(PEERS[name].always), line["payload_B"] % 16
    if name in OSCORE and line["number"] > 255:
        found.append(Difference(1, "RFC 8613, 6.1: a sequence number above 255 has two octets"))
    if name == "wireguard" and beyond_B:
        found.append(Difference(beyond_B - 16, "NDSS 2017, 5.4.6: boringtun does not pad to 16"))
    if name == TALLY and line["tag"] == "whole":
        found.append(Difference(12, "docs/specification.md, The sensor: a whole tag until the first report"))
    return found


def by_clause_B(name: str, payload_B: int) -> int:
    """Octets that a peer's design adds to a message."""
    return compared().design[PEERS[name].design].sealed_B(payload_B, compared().radio[RADIO]) - payload_B


class Session(NamedTuple):
    """What a peer said, and of its datagrams what the proxy captured; `None` over TCP."""

    lines: list[Line]
    captured: list[Line] | None

    def of(self, kind: str) -> list[Line]:
        """Its lines of a kind."""
        return [line for line in self.lines if line["kind"] == kind]

    @property
    def flights(self) -> str:
        """Octets of the handshake's flights, the sensor's first."""
        sent = [(line["way"], line["octets_B"]) for line in self.of("sent") if line["of"] == "handshake"]
        return " + ".join(str(sum(size for _, size in flight)) for _, flight in groupby(sent, lambda one: one[0]))

    @property
    def delivered(self) -> int:
        """Messages that the proxy let pass."""
        if self.captured is None:
            return len(self.of("message"))
        kinds = [line["of"] for line in self.of("sent") if line["way"] == "up"]
        fates = [line["fate"] for line in self.captured if line["way"] == "up"]
        return sum(kind == "message" and fate == "passed" for kind, fate in zip(kinds, fates, strict=True))

    @property
    def verified(self) -> int:
        """Messages that came out as they went in."""
        return sum(line["verified"] for line in self.of("message"))

    def check(self, name: str) -> Iterator[str]:
        """What is not as it should be."""
        if self.captured is not None:
            for way in ("up", "down"):
                said = [line["octets_B"] for line in self.of("sent") if line["way"] == way]
                seen = [len(line["octets"]) // 2 for line in self.captured if line["way"] == way]
                if said != seen:
                    yield f"{name}: the proxy captured other datagrams ({way}) than the peer sent"
        for line in self.of("message"):
            size_B = line["payload_B"]
            expected_B = size_B + by_clause_B(name, size_B) + sum(one.octets_B for one in differences(name, line))
            if line["wire_B"] != expected_B:
                yield f"{name}: message {line['number']} of {size_B} octets: {line['wire_B']} sent, not {expected_B}"
        if self.verified != self.delivered:
            yield f"{name}: {self.delivered} messages came, {self.verified} of them verified"


def call(words: str) -> list[str]:
    """A call of tally's program."""
    return [str(HERE / "target" / "debug" / "tally"), *words.split()]


@contextmanager
def listening(words: Sequence[str], log: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A part of `tally` with its address; its lines go to a file."""
    with log.open("w") as out, subprocess.Popen(words, stdout=out, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr  # noqa: S101 - it is a pipe
        first = process.stderr.readline()
        try:
            if not first.startswith("listening on "):
                sys.exit(first)
            yield first.split()[-1], process
        finally:
            process.terminate()


def read(log: Path) -> list[Line]:
    """The lines of a file."""
    return [json.loads(line) for line in log.read_text().splitlines()]


def proxy(to: str, loss: float) -> list[str]:
    """The lossy proxy in front of an address."""
    return call(f"proxy --to {to} --loss {loss} --seed {SEED} --timeout 600")


def session(name: str, trace: Path, loss: float, python: Path) -> Session:
    """A peer's trace through the proxy."""
    program = [str(HERE / "target" / "debug" / "wattlock-link-peers")]
    words = [*([str(python), str(HERE / "oscore.py")] if name in OSCORE else program), name, str(trace)]
    log = trace.with_suffix(".proxy")
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout  # noqa: S101, PT018 - they are pipes
        lines = [json.loads(line) for line in islice(process.stdout, 2)]
        if len(lines) == 2:
            own, over_tcp = lines[1]["address"], PEERS[name].over_tcp
            with nullcontext((own, None)) if over_tcp else listening(proxy(own, loss), log) as (address, _):
                print(address, file=process.stdin, flush=True)
                lines += map(json.loads, process.stdout)
    if process.returncode:
        sys.exit(f"error: {name} ended with exit code {process.returncode}")
    return Session(lines, None if over_tcp else read(log))


def session_of_tally(trace: Path, loss: float) -> Session:
    """The same of tally, whose two ends are programs of their own."""
    sizes = [line["size_B"] for line in read(trace)]
    log = {end: trace.with_suffix(f".{end}-{loss}") for end in ("timed", "sensor", "gateway", "proxy")}
    timed = enumerate(sizes + [PAYLOAD_B] * LATER)
    log["timed"].write_text("".join(f'{{"time_ns": {5_000_000 * at}, "size_B": {size_B}}}\n' for at, size_B in timed))
    pair = {end: f"--key {KEY} --new --state {log[end]}.state" for end in ("sensor", "gateway")}
    with (
        listening(call(f"receive {pair['gateway']} --timeout 3"), log["gateway"]) as (own, gateway),
        listening(proxy(own, loss), log["proxy"]) as (address, _),
        log["sensor"].open("w") as out,
    ):
        subprocess.run(call(f"send {pair['sensor']} --to {address} --trace {log['timed']}"), stdout=out, check=True)
        gateway.wait()
    said, heard, captured = (read(log[end]) for end in ("sensor", "gateway", "proxy"))
    sent = [line for line in said if line["kind"] == "sent"]
    # An opening that is said again is answered again, without a line.
    answers = sum(line["way"] == "down" and len(line["octets"]) == 2 * ANSWER_B for line in captured)
    went = [("handshake", "up", OPENING_B) for line in said if line["kind"] == "opening"]
    went += [("handshake", "down", ANSWER_B)] * answers
    went += [("message" if line["message"] < len(sizes) else "upkeep", "up", line["frame_B"]) for line in sent]
    went += [("upkeep", "down", line["frame_B"]) for line in heard if line["kind"] == "downlink"]
    lines: list[Line] = [{"kind": "peer", "library": "tally", "version": ""}]
    lines += [{"kind": "sent", "of": of, "way": way, "octets_B": octets_B} for of, way, octets_B in went]
    verified = {line["payload"] for line in heard if line["kind"] == "verified"}
    for number, (size_B, line) in enumerate(zip(sizes, sent, strict=False)):
        known = {"number": number, "payload_B": size_B, "wire_B": line["frame_B"], "tag": line["tag"]}
        lines.append({"kind": "message", **known, "verified": line["payload"] in verified})
    return Session(lines, captured)


def aiocoap() -> Path:
    """Python with aiocoap, in an environment of its own that is made anew where the lock file changed."""
    folder, lock = HERE / ".venv", HERE / "requirements.lock"
    python, installed = folder / "bin" / "python", folder / "installed.lock"
    if not installed.exists() or installed.read_text() != lock.read_text():
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", lock], check=True)
        installed.write_text(lock.read_text())
    return python


def row(name: str, folder: Path, messages: int, python: Path) -> tuple[list[str], list[str]]:
    """Cells of the table, and what is not as it should be."""
    peer, design = PEERS[name], compared().design[PEERS[name].design]
    sizes, steady = folder / f"{name}-sizes.jsonl", folder / f"{name}.jsonl"
    sizes.write_text("".join(f'{{"size_B": {size_B}}}\n' for size_B in SIZES))
    steady.write_text(f'{{"size_B": {PAYLOAD_B}}}\n' * messages)

    def run(trace: Path, loss: float) -> Session:
        return session_of_tally(trace, loss) if name == TALLY else session(name, trace, loss, python)

    runs = [run(steady, loss) for loss in LOSSES[: 1 if peer.lossless else None]]
    wrong = [what for one in (*runs, run(sizes, 0.0)) for what in one.check(name)]
    told, sent = runs[0].lines[0], runs[0].of("message")
    transport = ["-", "-", "-"]
    if sent:
        added = sorted({line["wire_B"] - PAYLOAD_B for line in sent})
        found = dict.fromkeys(one for line in sent for one in differences(name, line))
        reasons = [f"{one.octets_B:+}: {one.clause}" for one in found]
        captured = " or ".join(map(str, added))
        transport = [captured, str(by_clause_B(name, PAYLOAD_B)), "; ".join(reasons) or "equal"]
    flights = [runs[0].flights or "-", (runs[0].flights and " + ".join(map(str, design.flights_B))) or "-"]
    shares = [f"{one.delivered:,} / {one.verified:,}" if sent else "-" for one in runs]
    library = f"{told['library']} {told['version']}".strip()
    return [name, library, peer.design, *transport, *flights, *shares], wrong


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", action="append", choices=[*PEERS], help="this peer alone, or these")
    parser.add_argument("--messages", type=int, default=1000, help="messages of 16 octets (1000)")
    arguments = parser.parse_args()
    names = arguments.peer or [*PEERS]
    built = {**os.environ, "CARGO_TARGET_DIR": "target"}
    subprocess.run(["cargo", "build", "--quiet", "--locked"], cwd=HERE, check=True, env=built)
    program = ["cargo", "build", "--quiet", "--locked", "-p", "wattlock-tally-program", "--target-dir", "peers/target"]
    subprocess.run(program, cwd=HERE.parent, check=True)
    python = aiocoap() if OSCORE.intersection(names) else Path(sys.executable)
    heads = ["peer", "library", "design", "octets added", "by clause", "why", "handshake", "by clause"]
    heads += [f"{100 * loss:.0f} % lost" for loss in LOSSES]
    print("|", " | ".join(heads), "|")
    print("|---" * len(heads) + "|")
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            cells, found = row(name, Path(folder), arguments.messages, python)
            print("|", " | ".join(cells + ["-"] * (len(heads) - len(cells))), "|", flush=True)
            wrong += found
    if wrong:
        sys.exit("\n".join(f"error: {what}" for what in wrong[:20]))


if __name__ == "__main__":
    main()
