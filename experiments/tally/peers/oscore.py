"""OSCORE by aiocoap: what it puts on the wire for the messages of a trace, as `link-peers` beside it prints it.

`python oscore.py PEER TRACE`, the peer one of `ALGORITHMS`. Both ends are in one process, and send requests that nobody
answers: non-confirmable POST without options.
"""

import json
import socket
import sys
from importlib.metadata import version
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from aiocoap import NON, POST, Message
from aiocoap.error import Error
from aiocoap.oscore import (
    DEFAULT_HASHFUNCTION,
    DEFAULT_WINDOWSIZE,
    AeadAlgorithm,
    CanProtect,
    CanUnprotect,
    ProtectionInvalid,
    ReplayWindow,
    SecurityContextUtils,
    algorithms,
    hashfunctions,
)

ALGORITHMS = {"oscore": "AES-CCM-16-64-128", "oscore-ccm16": "AES-CCM-16-128-128"}
SECRET, SALT = bytes(range(16)), b""
QUIET_s = 0.5


class End(CanProtect, CanUnprotect, SecurityContextUtils):  # type: ignore[misc] # aiocoap has no types
    """One end's security context, in memory (RFC 8613, 3.1)."""

    def __init__(self, algorithm: str, sender_id: bytes, recipient_id: bytes) -> None:
        self.sender_id, self.recipient_id, self.id_context = sender_id, recipient_id, None
        self.alg_aead: AeadAlgorithm = algorithms[algorithm]
        self.hashfun = hashfunctions[DEFAULT_HASHFUNCTION]
        self.derive_keys(SALT, SECRET)
        self.sender_sequence_number = 0
        self.recipient_replay_window = ReplayWindow(DEFAULT_WINDOWSIZE, lambda: None)
        self.recipient_replay_window.initialize_empty()

    def post_seqnoincrease(self) -> None:
        """Nothing is kept: a context is used once."""


def tell(**line: Any) -> None:
    """Prints a line of JSON."""
    print(json.dumps(line), flush=True)


def payload(number: int, size_B: int) -> bytes:
    """What message `number` holds: its number, again and again, as `tally send` has it."""
    return bytes(islice(cycle(number.to_bytes(4, "big")), size_B))


def opened(end: End, datagram: bytes) -> bytes | None:
    """What a datagram holds; None where it does not open."""
    try:
        return bytes(end.unprotect(Message.decode(datagram))[0].payload)
    except (Error, ProtectionInvalid):
        return None


def main() -> None:
    """Sends each message of the trace, and tells which came out at the other end."""
    peer, path = sys.argv[1:]
    trace = [json.loads(line)["size_B"] for line in Path(path).read_text().splitlines()]
    messages = [payload(number, size_B) for number, size_B in enumerate(trace)]
    # The sensor has the empty identifier, which its requests carry for no octet.
    sensor, gateway = (End(ALGORITHMS[peer], *ids) for ids in ((b"", b"\x01"), (b"\x01", b"")))
    mode = f"{ALGORITHMS[peer]}, empty sender identifier, CoAP over UDP without token and options"
    tell(kind="peer", peer=peer, library="aiocoap", version=version("aiocoap"), mode=mode)
    with socket.socket(type=socket.SOCK_DGRAM) as out, socket.socket(type=socket.SOCK_DGRAM) as into:
        into.bind(("127.0.0.1", 0))
        into.settimeout(QUIET_s)
        host, port = into.getsockname()
        tell(kind="listening", address=f"{host}:{port}")
        to_host, to_port = sys.stdin.readline().strip().rsplit(":", 1)
        out.connect((to_host, int(to_port)))
        sent: list[int] = []
        verified: set[bytes] = set()
        for number, message in enumerate(messages):
            protected, _ = sensor.protect(Message(code=POST, payload=message))
            protected.mtype, protected.mid, protected.token = NON, number % 65536, b""
            datagram = protected.encode()
            sent.append(len(datagram))
            tell(kind="sent", of="message", way="up", octets_B=len(datagram))
            out.send(datagram)
            into.settimeout(0.002)
            verified |= heard(into, gateway)
        into.settimeout(QUIET_s)
        verified |= heard(into, gateway)
    for number, (message, wire_B) in enumerate(zip(messages, sent, strict=True)):
        was = message in verified
        tell(kind="message", number=number, payload_B=len(message), wire_B=wire_B, verified=was)


def heard(into: socket.socket, gateway: End) -> set[bytes]:
    """What came and opened, until nothing comes."""
    found: set[bytes] = set()
    while True:
        try:
            message = opened(gateway, into.recv(2048))
        except TimeoutError:
            return found
        if message is not None:
            found.add(message)


if __name__ == "__main__":
    main()
