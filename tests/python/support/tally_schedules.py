"""Random schedules of loss, order, noise, lucky forgeries and restarts, as steps of `ends` and the answers to them.

`python -m support.tally_schedules 100000` compares so many with the crate's ends.
"""

import random
import subprocess
import sys
from collections.abc import Iterator

from support.tally_peer import RESCUE, SHORT, Gateway, Parameters, RefusedError, Root, Sensor, ascon, cut, nonce
from support.tree import TREE

HEARD = {
    "next generation": "NextGeneration",
    "forgery proven": "ForgeryProven",
    "too old": "TooOld",
    "rescue asked": "RescueAsked",
}
PROGRAM = ["cargo", "run", "--quiet", "--locked", "-p", "wattlock-tally", "--example", "ends"]
BATCH = 500
Step = tuple[str, str]


class Schedule:
    """One schedule: steps, each with its answer, drawn by a seed."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.steps: list[Step] = []
        self.up: list[tuple[int, int, bytes]] = []
        self.down: list[bytes] = []
        self.loss = self.draw.choice([0.0, 0.1, 0.3, 0.6])
        self.parameters = Parameters(hint_B=self.draw.randrange(3), report_every=self.draw.choice([1, 2, 4, 8, 16, 32]))
        self.forgeries = self.draw.random() < 0.5
        self.forged: list[bytes] = []
        self.restarts = 0
        self.restart()

    def restart(self) -> None:
        nonces = self.restarts + 1, self.draw.randrange(256)
        self.restarts += 1
        root = Root(b"\x21" * 32, b"test", bytes([nonces[0]]) * 8, bytes([nonces[1]]) * 8)
        self.sensor, self.gateway = Sensor(root, self.parameters), Gateway(root, self.parameters)
        self.add(f"ends {self.parameters.hint_B} {self.parameters.report_every} {nonces[0]} {nonces[1]}", "ends")

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
        late = self.draw.random() < 0.1
        if not self.lost() and not late:
            self.hear(self.up[-1])
        if len(self.up) > 1 and late:
            self.hear(self.up[-2])
        if self.draw.random() < 0.8:
            self.speak()

    def hear(self, frame: tuple[int, int, bytes]) -> None:
        kind, number, octets = frame
        try:
            found = self.gateway.hear(octets, (kind, number))
            answer = f"{found[0]} {found[1]}"
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
            answer = HEARD[self.sensor.hear(frame)]
        except RefusedError:
            answer = "refused"
        self.add(f"down ={frame.hex()}", answer)

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
        head = f"{sensor.generation.number} {sensor.counter} {gateway.generation.number} {gateway.expected}"
        self.add("state", f"{head} {int(gateway.spent)}{''.join(words)}")

    def carried_out(self, length: int) -> list[Step]:
        for _ in range(length):
            if self.draw.random() < 0.12:
                self.trouble()
            elif self.draw.random() < 0.005:
                self.restart()
            else:
                self.message()
            self.state()
        return self.steps


def disagreements(seeds: range) -> Iterator[str]:
    """Runs the schedules of some seeds through the crate's ends, and says of each that differs where it begins to."""
    for first in range(seeds.start, seeds.stop, BATCH):
        drawn = {
            seed: Schedule(seed).carried_out(20 + seed % 60) for seed in range(first, min(first + BATCH, seeds.stop))
        }
        lines = "".join(f"{step}\n" for steps in drawn.values() for step, _ in steps)
        done = subprocess.run(PROGRAM, cwd=TREE, input=lines, capture_output=True, text=True, check=True)
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
    found = list(disagreements(range(int(sys.argv[1]))))
    sys.stdout.write("".join(f"{line}\n" for line in found) or f"{sys.argv[1]} schedules agree state by state\n")
    sys.exit(bool(found))
