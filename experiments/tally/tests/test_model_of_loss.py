"""The model of loss of `wattlock link --compare` against both ends of tally as they run, and its frames."""

import math
import random
import statistics
import subprocess
from collections.abc import Sequence

import pytest

import tally_peer
from tally_peer import Gateway, Parameters, RefusedError, Root, Sensor
from tally_schedules import HEARD, HERE, PROGRAM, made
from wattlock.link import designs
from wattlock.link.designs import compared

DESIGNS, RADIOS, TALLY = compared().design, compared().radio, compared().tally
SIGMAS = 4
MESSAGES, BATCHES, FIRST, LAST = 3_000, 15, 100, 60
PAYLOAD_B = 2


def within(found: Sequence[float], expected: float) -> bool:
    """Whether the mean of batches agrees with an expected value within its own sampling error."""
    size = len(found) // BATCHES
    means = [statistics.fmean(found[place * size : (place + 1) * size]) for place in range(BATCHES)]
    error = statistics.stdev(means) / math.sqrt(BATCHES)
    return abs(statistics.fmean(means) - expected) <= SIGMAS * error + 1e-9


class Simulated:
    """Both ends of tally as they run, under loss of messages and reports; the first messages are left out.

    * `steps`: what they did, with their answers, as the crate's own ends are told it.
    * `acknowledged`: a report goes in the acknowledgement of the next message that arrives, not of two in a row.
    """

    def __init__(self, share: float, *, acknowledged: bool = False) -> None:
        draw = random.Random(7)
        root = Root(b"\x21" * 32, b"test", b"\1" * 8, b"\2" * 8)
        parameters = Parameters(report_every=TALLY.report_every)
        sensor, gateway = Sensor(root, parameters), Gateway(root, parameters)
        self.steps = [(made(parameters, 1, 2), "ends")]
        self.sent_B: list[float] = []
        self.said_B: list[float] = []
        self.delivered: set[int] = set()
        self.verified: dict[int, int] = {}
        self.bits: set[int] = set()
        ready: bytes | None = None
        for slot in range(MESSAGES):
            kind, frame = sensor.seal(slot.to_bytes(PAYLOAD_B, "big"), whole=False)
            self.steps.append((f"seal 0 ={slot.to_bytes(PAYLOAD_B, 'big').hex()}", f"{kind} ={frame.hex()}"))
            self.sent_B.append(len(frame))
            self.said_B.append(0)
            if draw.random() < share:
                continue
            gateway.hear(frame)
            self.steps.append((f"up {kind} {slot} ={frame.hex()}", f"{kind} {slot}"))
            self.delivered.add(slot)
            # The crate's end is told what it holds, which takes what is settled.
            self.steps.append(("state", ""))
            for counter, message in gateway.settled().items():
                assert message.standing == "verified"
                assert int.from_bytes(message.payload, "big") == counter
                self.verified[counter] = slot
                self.bits.add(message.bits)
            report, ready = ready, None
            if report is None:
                ready = gateway.speak()
                self.steps.append(("speak", "-" if ready is None else f"={ready.hex()}"))
                if not acknowledged:
                    report, ready = ready, None
            if report is not None:
                self.said_B[-1] = len(report)
                if draw.random() >= share:
                    self.steps.append((f"down ={report.hex()}", HEARD[sensor.hear(report)]))
        assert not sensor.rescues


@pytest.mark.parametrize(("name", "share"), [("tally", 0.05), ("tally", 0.1), ("tally", 0.2), ("tally-ack", 0.2)])
def test_the_model_of_tally_agrees_with_both_ends_as_they_run_within_sampling_error(name: str, share: float) -> None:
    ends = Simulated(share, acknowledged=DESIGNS[name].reports == "acknowledged")
    steady = range(FIRST, MESSAGES - LAST)
    arrived = [slot for slot in steady if slot in ends.delivered]
    model = designs.outcome(DESIGNS[name], 128, share)
    assert model.share == 1.0
    assert all(slot in ends.verified for slot in arrived)
    assert min(ends.bits) >= 128
    assert model.wait is not None
    assert within([ends.verified[slot] - slot for slot in arrived], model.wait)
    reports = designs.cycle(DESIGNS[name], share)
    said_B = (1 - share) * reports.repeats / reports.accepted * TALLY.report_B
    assert within([ends.said_B[slot] for slot in steady], said_B)
    sealed_B = DESIGNS["tally"].sealed_B(PAYLOAD_B, RADIOS["ble"])
    assert {ends.sent_B[slot] for slot in steady} == {sealed_B}
    # As many octets for each message verified, both ways.
    total_B = sum(ends.sent_B[slot] + ends.said_B[slot] for slot in steady) / len(arrived)
    assert total_B == pytest.approx((sealed_B + said_B) / ((1 - share) * model.share), rel=0.03)


def test_the_crates_own_ends_say_the_same_under_loss_frame_by_frame() -> None:
    steps = Simulated(0.2).steps
    told = "".join(f"{step}\n" for step, _ in steps)
    done = subprocess.run(PROGRAM, cwd=HERE, input=told, capture_output=True, text=True, check=True)
    said = [line for line, (step, _) in zip(done.stdout.splitlines(), steps, strict=True) if step != "state"]
    assert said == [answer for step, answer in steps if step != "state"]


def test_the_model_of_tally_would_not_agree_with_ends_that_lose_less() -> None:
    ends = Simulated(0.05)
    arrived = [slot for slot in range(FIRST, MESSAGES - LAST) if slot in ends.delivered]
    wrong = designs.outcome(DESIGNS["tally"], 128, 0.2).wait
    assert wrong is not None
    assert not within([ends.verified[slot] - slot for slot in arrived], wrong)


def test_tallys_frames_have_the_octets_of_the_second_implementations() -> None:
    for hint_B in (1, 2):
        root = Root(b"\x21" * 32, b"test", b"\1" * 8, b"\2" * 8)
        parameters = Parameters(hint_B=hint_B, report_every=1)
        sensor, gateway = Sensor(root, parameters), Gateway(root, parameters)
        _, whole = sensor.seal(bytes(12), whole=False)
        gateway.hear(whole)
        report = gateway.speak()
        assert report is not None
        sensor.hear(report)
        _, short = sensor.seal(bytes(12), whole=False)
        gateway.hear(short)
        head = root.hint(0, gateway.expected, hint_B)
        for _ in range(4):
            with pytest.raises(RefusedError):
                gateway.hear(head + bytes(8))
        request = gateway.speak()
        assert request is not None
        sensor.hear(request)
        record = sensor.rescue_record()
        name, radio = ("tally", RADIOS["ble"]) if hint_B == 1 else ("tally-bare", RADIOS["lora-sf7"])
        assert len(short) == DESIGNS[name].sealed_B(12, radio)
        assert len(whole) == len(short) + 12
        assert (len(report), len(request)) == (TALLY.report_B, TALLY.request_B)
        assert len(record) == TALLY.rescue_B + hint_B
    assert parameters.acceptance_bits == DESIGNS["tally"].bits
    assert parameters.acceptances == -(-128 // DESIGNS["tally"].bits) - 1
    assert Parameters().report_every == TALLY.report_every


def test_rounds_of_a_report_are_those_that_the_second_implementation_permutes(monkeypatch: pytest.MonkeyPatch) -> None:
    permuted = tally_peer.permuted
    rounds: list[int] = []

    def counted(state: tally_peer.State, number: int) -> tally_peer.State:
        rounds.append(number)
        return permuted(state, number)

    monkeypatch.setattr(tally_peer, "permuted", counted)
    for label_B, message_B, output_B in ((11, 44, 16), (17, 21, 80), (11, 21, 2), (8, 7, 9)):
        rounds.clear()
        tally_peer.cxof("x" * label_B, bytes(message_B), output_B)
        # It permutes once more behind its last word, which nobody needs.
        assert sum(rounds) - designs.P12 == designs.cxof_rounds(label_B, message_B, output_B)
    rounds.clear()
    tally_peer.ascon(bytes(16), bytes(16), b"", bytes(5), opening=True)
    assert sum(rounds) == 2 * designs.P12
