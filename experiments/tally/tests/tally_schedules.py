"""Random schedules of loss, order, noise, lucky forgeries and restarts, as steps of `ends` and the answers to them.

`python tests/tally_schedules.py 100000` compares so many with the crate's ends, `... 1000 long` of the second kind:
300 to 1,500 steps with outages, jammed reports and storms of bad frames, all parameters drawn.
"""

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tally_peer import (
    HELD,
    RESCUE,
    SHORT,
    WHOLE,
    Answered,
    Gateway,
    Parameters,
    RefusedError,
    Root,
    Sensor,
    ascon,
    cut,
    nonce,
    opening,
)

HEARD = {
    "next generation": "NextGeneration",
    "forgery proven": "ForgeryProven",
    "too old": "TooOld",
    "rescue asked": "RescueAsked",
}
HERE = Path(__file__).parents[1]
PROGRAM = ["cargo", "run", "--quiet", "--locked", "-p", "wattlock-tally", "--example", "ends"]
BATCH = 500
CHANCES = [0.0, 0.003, 0.01], [0.0, 0.0, 0.01], [0.0, 0.01, 0.5]
"""A step of a long schedule is an outage, the beginning of jammed reports, or a storm of bad frames."""
RARE = {
    "quiet",
    "64 and more ahead",
    "full gateway",
    "NextGeneration",
    "ForgeryProven",
    "TooOld",
    "RescueAsked",
    "base 256 too high",
    "generation 64",
    "rescue 64",
    "must resume",
    "spent",
    "opening new",
    "opening again",
    "opening refused",
}
"""What the long schedules have to come to."""
Step = tuple[str, str]


def made(own: Parameters, of_sensor: int, of_gateway: int) -> str:
    """The step that makes both ends; the numbers fill their nonces."""
    words = own.hint_B, own.report_every, own.tag_bits // 8, own.budget, own.verified_at, of_sensor, of_gateway
    return f"ends {' '.join(map(str, words))}"


SECRET, LINK = b"\x21" * 32, b"test"


class Schedule:
    """One schedule: steps, each with its answer, drawn by a seed."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.opened = random.Random(f"openings {seed}")
        self.steps: list[Step] = []
        self.up: list[tuple[int, int, bytes]] = []
        self.down: list[bytes] = []
        self.loss = self.draw.choice([0.0, 0.1, 0.3, 0.6])
        self.parameters = self.drawn()
        self.forgeries = self.draw.random() < 0.5
        self.forged: list[bytes] = []
        self.restarts = 0
        self.reached: set[str] = set()
        """What rare states it came to."""
        self.restart()

    def drawn(self) -> Parameters:
        return Parameters(hint_B=self.draw.randrange(3), report_every=self.draw.choice([1, 2, 4, 8, 16, 32]))

    def restart(self) -> None:
        nonces = self.restarts + 1, self.draw.randrange(256)
        self.restarts += 1
        root = Root(SECRET, LINK, bytes([nonces[0]]) * 8, bytes([nonces[1]]) * 8)
        self.sensor, self.gateway = Sensor(root, self.parameters), Gateway(root, self.parameters)
        self.answered = Answered(SECRET, LINK)
        self.add(made(self.parameters, *nonces), "ends")

    def add(self, step: str, answer: str) -> None:
        self.steps.append((step, answer))

    def lost(self) -> bool:
        return self.draw.random() < self.loss

    def message(self) -> None:
        if self.sensor.rescue_due:
            record = self.sensor.rescue_record()
            self.add("rescue", f"={record.hex()}")
            self.up.append((RESCUE, self.sensor.rescues, record))
            if not self.lost():
                self.hear(self.up[-1])
        whole, payload = self.draw.random() < 0.1, self.draw.randbytes(self.draw.randrange(40))
        counter = self.sensor.counter
        kind, frame = self.sensor.seal(payload, whole=whole)
        self.add(f"seal {int(whole)} ={payload.hex()}", f"{kind} ={frame.hex()}")
        self.up.append((kind, counter, frame))
        self.reached |= {"quiet"} if kind == WHOLE and not whole and not self.sensor.whole_only else set()
        late = self.draw.random() < 0.1
        if not self.lost() and not late:
            self.hear(self.up[-1])
        if len(self.up) > 1 and late:
            self.hear(self.up[-2])
        if self.draw.random() < 0.8:
            self.speak()

    def hear(self, frame: tuple[int, int, bytes]) -> None:
        kind, number, octets = frame
        expected, is_full = self.gateway.expected, len(self.gateway.held) == HELD
        try:
            found = self.gateway.hear(octets, (kind, number))
            answer = f"{found[0]} {found[1]}"
            if found[0] != RESCUE:
                self.reached |= {"64 and more ahead"} if found[1] - expected >= 64 else set()
                self.reached |= {"full gateway"} if is_full else set()
        except RefusedError:
            answer = "refused"
        self.add(f"up {kind} {number} ={octets.hex()}", answer)
        if kind == RESCUE:
            # What it refutes is settled before the genuine messages of those counters come.
            self.state()

    def speak(self) -> None:
        frame = self.gateway.speak()
        self.add("speak", "-" if frame is None else f"={frame.hex()}")
        if frame is not None:
            self.down.append(frame)
            if not self.lost():
                self.hear_down(frame)

    def hear_down(self, frame: bytes) -> None:
        try:
            is_ambiguous = self.misread(frame)
            answer = HEARD[self.sensor.hear(frame)]
            self.reached |= {answer} | ({"base 256 too high"} if is_ambiguous and answer == "NextGeneration" else set())
        except RefusedError:
            answer = "refused"
        self.add(f"down ={frame.hex()}", answer)

    def misread(self, frame: bytes) -> bool:
        """Whether this is a report whose base the sensor reads at least 256 too high."""
        frozen = [counter for counter, message in self.gateway.held.items() if message.standing == "frozen"]
        return len(frame) == 14 and bool(frozen) and self.sensor.counter - 1 - min(frozen) >= 256

    def trouble(self) -> None:
        """A frame of before, a changed one, noise, or a forgery with a lucky tag."""
        what = self.draw.randrange(6)
        if what == 0 and self.up:
            self.hear(self.draw.choice(self.up[-80:]))
        elif what == 1 and self.down:
            self.hear_down(self.draw.choice(self.down[-8:]))
        elif what == 2 and self.up:
            kind, number, octets = self.draw.choice(self.up[-3:])
            place = self.draw.randrange(8 * len(octets))
            changed = int.from_bytes(octets, "big") ^ 1 << place
            self.hear((kind, number, changed.to_bytes(len(octets), "big")))
        elif what == 3:
            self.hear_down(self.draw.randbytes(self.draw.choice([0, 1, 9, 14])))
        elif what == 4 and self.forgeries:
            self.forge()
        else:
            for _ in range(self.draw.randrange(1, 20)):
                counter = self.sensor.counter + self.draw.choice([0, 0, 0, 1, 70, 2**32 - 2 - self.sensor.counter])
                head = bytes([counter & 63]) if self.parameters.hint_B == 1 else b""
                self.hear((SHORT, counter, head + self.draw.randbytes(self.draw.choice([0, 3, 8, 60]))))

    def opens(self) -> None:
        """Now and then an opening: the next number, one of before (a restored sensor, a replay), or a changed one."""
        draw = self.opened
        if draw.random() < 0.2:
            newest = self.answered.newest[0] if self.answered.newest else bytes(8)
            number = int.from_bytes(newest[:4], "big") + draw.choice([-1, 0, 0, 0, 1, 2, 300])
            half = draw.choice([newest[4:], draw.randbytes(4)])
            flight = opening(SECRET, LINK, max(number, 0).to_bytes(4, "big") + half)
            if draw.random() < 0.1:
                changed = int.from_bytes(flight, "big") ^ 1 << draw.randrange(160)
                flight = changed.to_bytes(20, "big")
            of_gateway = draw.randbytes(8)
            try:
                is_new, said = self.answered.hear(flight, of_gateway)
                answer = f"{'new' if is_new else 'again'} ={said.hex()}"
            except RefusedError:
                answer = "refused"
            self.reached |= {f"opening {answer.split()[0]}"}
            self.add(f"opening ={flight.hex()} ={of_gateway.hex()}", answer)
            if draw.random() < 0.3:
                self.answered.confirmed = True
                self.add("confirmed", "confirmed")

    def forge(self) -> None:
        """A record that nobody sealed and whose short tag is right, as one in 2^32 guesses is."""
        generation = self.gateway.generation
        if self.gateway.report and self.draw.random() < 0.5:
            generation = self.gateway.report[0]
        counter = max(0, self.gateway.expected + self.draw.choice([-3, -1, 0, 0, 0, 1, 5, 31]))
        body, tag = ascon(generation.short, nonce(0, counter), b"", self.draw.randbytes(9), opening=False)
        hint = self.gateway.root.hint(SHORT, counter, self.parameters.hint_B)
        self.hear((SHORT, counter, hint + body + cut(tag, self.parameters.tag_bits)))
        if self.steps[-1][1] == f"{SHORT} {counter}":
            self.forged.append(self.gateway.held[counter].payload)

    def state(self) -> None:
        words = []
        held = {**self.gateway.settled(), **self.gateway.held}
        for counter, message in sorted(held.items()):
            if message.standing == "verified" and message.payload in self.forged:
                later = self.forged[self.forged.index(message.payload) + 1 :]
                assert len(later) >= self.parameters.acceptances, "a genuine message verified a forgery"
            word = message.standing
            if word == "attested":
                word += f".{message.acceptances}"
            elif word == "verified":
                word += f".{message.bits}.={message.payload.hex()}"
            words.append(f" {counter}:{word}")
        sensor, gateway = self.sensor, self.gateway
        self.reached |= {"generation 64"} if gateway.generation.number >= 64 else set()
        self.reached |= {"rescue 64"} if gateway.rescues >= 64 else set()
        self.reached |= {"must resume"} if sensor.must_resume else set()
        self.reached |= {"spent"} if gateway.spent else set()
        head = f"{sensor.generation.number} {sensor.counter} {int(sensor.must_resume)}"
        head += f" {gateway.generation.number} {gateway.expected}"
        self.add("state", f"{head} {int(gateway.spent)}{''.join(words)}")

    def carried_out(self, length: int) -> list[Step]:
        for _ in range(length):
            if self.draw.random() < 0.12:
                self.trouble()
            elif self.draw.random() < 0.005:
                self.restart()
            else:
                self.message()
            self.opens()
            self.state()
        return self.steps


class LongSchedule(Schedule):
    """A schedule of the second kind: what happens often is drawn for each."""

    def drawn(self) -> Parameters:
        self.outages, self.jams, self.storms = (self.draw.choice(chances) for chances in CHANCES)
        self.jammed = 0
        return Parameters(
            hint_B=self.draw.randrange(3),
            tag_bits=self.draw.choice([32, 40, 48, 56, 64]),
            budget=self.draw.choice([1, 2, 5, 16, 100, 1024]),
            report_every=self.draw.randrange(1, 33),
            verified_at=self.draw.choice([64, 128]),
        )

    def lost(self) -> bool:
        return self.draw.random() < self.loss / 3

    def carried_out(self, length: int) -> list[Step]:
        for _ in range(length):
            self.jammed = max(0, self.jammed - 1)
            happens = self.draw.random()
            if happens < 0.03:
                self.trouble()
            elif happens < 0.03 + self.outages:
                self.outage(self.draw.choice([10, 70, 300, 1_000]))
            elif happens < 0.04 + self.outages:
                self.late_report()
            elif happens < 0.04 + self.outages + self.jams:
                self.jammed = self.draw.randrange(60, 300)
            elif happens < 0.04 + self.outages + self.jams + self.storms:
                self.storm()
            elif happens > 0.9995:
                self.restart()
            else:
                self.message()
            self.opens()
            self.state()
        return self.steps

    def hear_down(self, frame: bytes) -> None:
        if not self.jammed:
            super().hear_down(frame)

    def outage(self, most: int) -> None:
        """Messages that nobody hears."""
        for _ in range(self.draw.randrange(1, most)):
            kind, frame = self.sensor.seal(b"", whole=False)
            self.add("seal 0 =", f"{kind} ={frame.hex()}")

    def late_report(self) -> None:
        """A report that is heard when its base can stand for a message 256 later."""
        frozen = [counter for counter, message in self.gateway.held.items() if message.standing == "frozen"]
        if not frozen or self.sensor.counter - min(frozen) > 256:
            return
        while self.sensor.counter < min(frozen) + 256 + self.draw.randrange(1, 64):
            kind, frame = self.sensor.seal(b"", whole=False)
            self.add("seal 0 =", f"{kind} ={frame.hex()}")
        self.jammed = 0
        self.speak()

    def storm(self) -> None:
        """Frames that bring a rescue."""
        counter = self.sensor.counter
        head = self.gateway.root.hint(WHOLE, counter, self.parameters.hint_B)
        for _ in range(4):
            self.hear((WHOLE, counter, head + self.draw.randbytes(20)))
        self.speak()


def schedule_of(seed: int, *, long: bool) -> Schedule:
    """The schedule of a seed, carried out between the second implementation's ends."""
    schedule = LongSchedule(seed) if long else Schedule(seed)
    schedule.carried_out(300 + 37 * seed % 1201 if long else 20 + seed % 60)
    return schedule


def disagreements(seeds: range, *, long: bool = False, reached: set[str] | None = None) -> Iterator[str]:
    """Runs the schedules of some seeds through the crate's ends, and says of each that differs where it begins to."""
    batch = 10 if long else BATCH
    for first in range(seeds.start, seeds.stop, batch):
        drawn = {}
        for seed in range(first, min(first + batch, seeds.stop)):
            schedule = schedule_of(seed, long=long)
            drawn[seed] = schedule.steps
            if reached is not None:
                reached |= schedule.reached
        lines = "".join(f"{step}\n" for steps in drawn.values() for step, _ in steps)
        done = subprocess.run(PROGRAM, cwd=HERE, input=lines, capture_output=True, text=True, check=True)
        answers = iter(done.stdout.splitlines())
        assert done.stdout.count("\n") == lines.count("\n")
        for seed, steps in drawn.items():
            wrong = [
                (step, answer, said) for (step, answer), said in zip(steps, answers, strict=False) if answer != said
            ]
            if wrong:
                step, answer, said = wrong[0]
                yield f"seed {seed}: {step}\n  expected {answer}\n  was      {said}"


if __name__ == "__main__":
    reached: set[str] = set()
    found = list(disagreements(range(int(sys.argv[1])), long="long" in sys.argv, reached=reached))
    agree = f"{sys.argv[1]} schedules agree state by state; they reached: {', '.join(sorted(reached))}\n"
    sys.stdout.write("".join(f"{line}\n" for line in found) or agree)
    sys.exit(bool(found))
