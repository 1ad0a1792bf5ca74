"""tally by a second implementation, made from its specification: known answers, and the crate's session by frames."""

import math
import os

import tally_peer
import tally_schedules
from tally_peer import Answered, Gateway, Parameters, RefusedError, Root, Sensor
from tally_schedules import HERE

LONG = 20
"""Long schedules that always run."""
VECTORS = HERE / "link" / "vectors"


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
    """The session of "Test vectors" in docs/specification.md, as its lines."""
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


def starts() -> list[list[str]]:
    """The openings of "Test vectors" in docs/specification.md, each with what the gateway does about it."""
    secret, link = b"\x21" * 32, b"test"
    answered, said = Answered(secret, link), []

    def hears(of_sensor: str, of_gateway: str) -> None:
        flight = tally_peer.opening(secret, link, bytes.fromhex(of_sensor))
        try:
            is_new, answer = answered.hear(flight, bytes.fromhex(of_gateway))
            said.append(["opening", flight.hex(), "new" if is_new else "again", answer.hex()])
        except RefusedError:
            said.append(["opening", flight.hex(), "refused"])

    hears("00000003 a0a1a2a3", "00000009 b0b1b2b3")
    hears("00000003 a0a1a2a3", "0000000a b4b5b6b7")
    # The sensor was restored: its number comes again. And an opening of before is replayed.
    hears("00000003 a4a5a6a7", "0000000a b4b5b6b7")
    hears("00000002 a8a9aaab", "0000000a b4b5b6b7")
    answered.confirmed = True
    said.append(["confirmed"])
    hears("00000003 a0a1a2a3", "0000000a b4b5b6b7")
    hears("00000004 00000000", "0000000a b4b5b6b7")
    hears("00000003 ffffffff", "0000000b b8b9babb")
    # The gateway was restored: its number comes again, and a recorded opening with it.
    answered = Answered(secret, link)
    said.append(["restored"])
    hears("00000003 a0a1a2a3", "00000009 bcbdbebf")
    return said


def test_the_second_implementation_answers_openings_as_the_vectors_say() -> None:
    assert starts() == lines("starts.txt")


def test_both_implementations_agree_state_by_state_over_random_schedules() -> None:
    schedules = int(os.environ.get("WATTLOCK_TALLY_SCHEDULES", "300"))
    assert list(tally_schedules.disagreements(range(schedules))) == []


def test_both_implementations_agree_over_long_schedules_that_come_to_each_rare_state() -> None:
    reached: set[str] = set()
    assert list(tally_schedules.disagreements(range(LONG), long=True, reached=reached)) == []
    assert reached == tally_schedules.RARE


def test_the_risk_page_counts_the_forgery_whose_whole_tag_is_right_by_chance() -> None:
    page = (HERE / "docs" / "risk.md").read_text(encoding="utf-8")
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


def test_the_risk_page_counts_the_tries_of_a_whole_record_below_both_roots_of_a_gateway() -> None:
    page = (HERE / "docs" / "risk.md").read_text(encoding="utf-8")
    # A hint of one octet stands for 16 counters; the root in use has the keys of a frozen report too.
    tries = 16 * 2 + 16
    assert f"up to {tries} tries" in page
    assert f"| 2^{math.log2(tries) - 128:.1f} a frame |" in page
