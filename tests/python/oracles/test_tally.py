"""tally by a second implementation, made from docs/tally.md: known answers, and the crate's session frame by frame."""

import math
import os

from support import tally_peer, tally_schedules
from support.tally_peer import Gateway, Parameters, RefusedError, Root, Sensor
from support.tree import CRATES, TREE

LONG = 20
"""Long schedules that always run."""
VECTORS = CRATES / "tally" / "vectors"


def lines(name: str) -> list[list[str]]:
    text = (VECTORS / name).read_text(encoding="ascii")
    return [line.split() for line in text.splitlines() if not line.startswith("#")]


def octets(hexadecimal: str) -> bytes:
    return b"" if hexadecimal == "-" else bytes.fromhex(hexadecimal)


def test_the_second_ascon_gives_the_known_answers() -> None:
    kinds = []
    for kind, *fields in lines("ascon.txt"):
        kinds.append(kind)
        if kind == "cxof":
            label, message, digest = map(octets, fields)
            assert tally_peer.cxof(label.decode("latin-1"), message, len(digest)) == digest
        else:
            key, nonce, associated, plaintext, sealed = map(octets, fields)
            body, tag = tally_peer.ascon(key, nonce, associated, plaintext, opening=False)
            assert body + tag == sealed
            assert tally_peer.ascon(key, nonce, associated, body, opening=True) == (plaintext, tag)
    assert (kinds.count("aead"), kinds.count("cxof")) == (84, 84)


def session() -> list[list[str]]:
    """The session of "Test vectors" in docs/tally.md, as its lines."""
    secret, link, of_sensor, of_gateway = bytes(range(32)), b"roof", b"\1" * 8, b"\2" * 8
    said = [["opening", tally_peer.opening(secret, link, of_sensor).hex()]]
    said.append(["answer", tally_peer.answer(secret, link, of_sensor, of_gateway).hex()])
    root, parameters = Root(secret, link, of_sensor, of_gateway), Parameters(report_every=4)
    sensor, gateway = Sensor(root, parameters), Gateway(root, parameters)

    def speak() -> None:
        frame = gateway.speak()
        if frame is not None:
            said.append(["down", frame.hex()])
            sensor.hear(frame)

    for number in range(20):
        if number == 14:
            for _ in range(4):
                try:
                    gateway.hear(b"\x0e" * 9)
                except RefusedError:
                    continue
                raise AssertionError("noise opened")
            speak()
            record = sensor.rescue_record()
            said.append(["rescue", record.hex()])
            gateway.hear(record)
        _, frame = sensor.seal(bytes([0x21, 0x05, number]), whole=number == 7)
        said.append(["up", frame.hex()])
        gateway.hear(frame)
        for counter, message in gateway.settled().items():
            assert (message.standing, message.payload) == ("verified", bytes([0x21, 0x05, counter]))
            said.append(["verified", str(counter), str(message.bits)])
        speak()
    return said


def test_the_second_implementation_says_the_session_of_the_vectors_frame_by_frame() -> None:
    assert session() == lines("tally1.txt")


def test_both_implementations_agree_state_by_state_over_random_schedules() -> None:
    schedules = int(os.environ.get("WATTLOCK_TALLY_SCHEDULES", "300"))
    assert list(tally_schedules.disagreements(range(schedules))) == []


def test_both_implementations_agree_over_long_schedules_that_come_to_each_rare_state() -> None:
    reached: set[str] = set()
    assert list(tally_schedules.disagreements(range(LONG), long=True, reached=reached)) == []
    assert reached == tally_schedules.RARE


def test_the_risk_page_counts_the_forgery_whose_whole_tag_is_right_by_chance() -> None:
    page = (TREE / "docs" / "tally-risk.md").read_text(encoding="utf-8")
    for failures, n, row in [
        (16, 4, "n = 4: 2^-122.9 |"),
        (16, 2, "n = 2: 2^-78.0;"),
        (1024, 6, "n is 6 for 128 bits (2^-117 "),
    ]:
        own = Parameters(budget=failures)
        assert n in (own.acceptances, 2)
        bound = 2.0 ** -(own.acceptance_bits * (n + 1)) + 2 * (failures + 1) * 2.0**-128
        figure = f"{-math.log2(bound):.1f}".removesuffix(".0" if failures == 1024 else "-")
        assert f"2^-{figure}" in row
        assert row in page
