"""Both ends of tally as `docs/specification.md` has them: a second implementation, which knows nothing of the crate."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

MASK = (1 << 64) - 1
SHORT, WHOLE, RESCUE = 0, 1, 2
REPORT, REPORT_WHOLE, REQUEST = 0, 1, 2
HELD = 64
CONSTANTS = [(15 - number) << 4 | number for number in range(12)]


class RefusedError(Exception):
    """Nothing of the frame was released."""


# Ascon, NIST SP 800-232.


State = tuple[int, int, int, int, int]


@lru_cache(maxsize=1 << 14)
def permuted(state: State, rounds: int) -> State:
    """Kept, as the end that opens goes through the states of the end that sealed."""
    x0, x1, x2, x3, x4 = state
    for constant in CONSTANTS[-rounds:]:
        x2 ^= constant ^ x1
        x0 ^= x4
        x4 ^= x3
        t0, t1, t2 = x0 ^ (~x1 & x2), x1 ^ (~x2 & x3), ~(x2 ^ (~x3 & x4))
        t3, t4 = x3 ^ (~x4 & x0), x4 ^ (~x0 & x1)
        x0, x1, x2, x3, x4 = t0 ^ t4, t1 ^ t0, t2 & MASK, t3 ^ ~t2, t4
        x0 ^= (x0 >> 19 ^ x0 << 45 ^ x0 >> 28 ^ x0 << 36) & MASK
        x1 ^= (x1 >> 61 ^ x1 << 3 ^ x1 >> 39 ^ x1 << 25) & MASK
        x2 ^= (x2 >> 1 ^ x2 << 63 ^ x2 >> 6 ^ x2 << 58) & MASK
        x3 ^= (x3 >> 10 ^ x3 << 54 ^ x3 >> 17 ^ x3 << 47) & MASK
        x4 ^= (x4 >> 7 ^ x4 << 57 ^ x4 >> 41 ^ x4 << 23) & MASK
    return x0, x1, x2, x3, x4


def words(octets: bytes) -> list[int]:
    return [int.from_bytes(octets[place : place + 8], "little") for place in range(0, len(octets), 8)]


def padded(octets: bytes, rate_B: int) -> bytes:
    return octets + b"\1" + bytes(-(len(octets) + 1) % rate_B)


def cxof(label: str, message: bytes, length_B: int) -> bytes:
    x0, *others = permuted((0x0000080000CC0004, 0, 0, 0, 0), 12)
    for word in [8 * len(label), *words(padded(label.encode(), 8)), *words(padded(message, 8))]:
        x0, *others = permuted((x0 ^ word, *others), 12)
    output = b""
    while len(output) < length_B:
        output += x0.to_bytes(8, "little")
        x0, *others = permuted((x0, *others), 12)
    return output[:length_B]


def ascon(key: bytes, nonce: bytes, associated: bytes, body: bytes, *, opening: bool) -> tuple[bytes, bytes]:
    """The other text and the whole tag of a plaintext, or of a ciphertext that is opened."""
    k0, k1 = words(key)
    n0, n1 = words(nonce)
    x0, x1, x2, x3, x4 = permuted((0x00001000808C0001, k0, k1, n0, n1), 12)
    x3, x4 = x3 ^ k0, x4 ^ k1
    if associated:
        blocks = words(padded(associated, 16))
        for left, right in zip(blocks[::2], blocks[1::2], strict=True):
            x0, x1, x2, x3, x4 = permuted((x0 ^ left, x1 ^ right, x2, x3, x4), 8)
    x4 ^= 1 << 63
    other = b""
    for place in range(0, len(body) + 1, 16):
        block = body[place : place + 16]
        stream = x0 | x1 << 64
        exchanged = (int.from_bytes(block, "little") ^ stream & (1 << 8 * len(block)) - 1).to_bytes(
            len(block), "little"
        )
        other += exchanged
        left, right = words(padded(exchanged if opening else block, 16)[:16])
        x0, x1 = x0 ^ left, x1 ^ right
        if len(block) == 16:
            x0, x1, x2, x3, x4 = permuted((x0, x1, x2, x3, x4), 8)
    *_, x3, x4 = permuted((x0, x1, x2 ^ k0, x3 ^ k1, x4), 12)
    return other, b"".join(word.to_bytes(8, "little") for word in (x3 ^ k0, x4 ^ k1))


# Keys.


def u32(number: int) -> bytes:
    return number.to_bytes(4, "big")


def nonce(kind: int, counter: int) -> bytes:
    return bytes([kind]) + bytes(11) + u32(counter)


def cut(tag: bytes, bits: int) -> bytes:
    """The first bits of a tag, in whole octets with zeros behind them."""
    length_B = -(-bits // 8)
    number = int.from_bytes(tag[:length_B], "big")
    unused = 8 * length_B - bits
    return (number >> unused << unused).to_bytes(length_B, "big")


def keys_of(octets: bytes) -> list[bytes]:
    return [octets[place : place + 16] for place in range(0, len(octets), 16)]


@dataclass(frozen=True)
class Parameters:
    hint_B: int = 1
    tag_bits: int = 32
    budget: int = 16
    report_every: int = 16
    verified_at: int = 128

    @property
    def acceptance_bits(self) -> int:
        return self.tag_bits - (2 * (self.budget + 1) - 1).bit_length()

    @property
    def acceptances(self) -> int:
        return -(-self.verified_at // self.acceptance_bits) - 1


class Generation:
    def __init__(self, key: bytes, number: int, link: bytes, tag_bits: int) -> None:
        self.number, self.link, self.tag_bits = number, link, tag_bits
        derived = cxof("tally1 generation", key + link + bytes([tag_bits]), 80)
        self.short, self.whole, self.down, self._next, self.confirm = keys_of(derived)

    def next(self, base: int, bitmap: int, total: bytes) -> "Generation":
        message = self._next + u32(self.number + 1) + u32(base) + u32(bitmap) + total
        return Generation(cxof("tally1 next", message, 16), self.number + 1, self.link, self.tag_bits)


class Root:
    def __init__(self, secret: bytes, link: bytes, of_sensor: bytes, of_gateway: bytes) -> None:
        self.link = link
        root = cxof("tally1 root", secret + link + of_sensor + of_gateway, 16)
        below = keys_of(cxof("tally1 below root", root, 80))
        self.first, self.rescue, self.hint_key, self.rescue_up, self.rescue_down = below
        self._hints: dict[tuple[int, int], bytes] = {}

    def generation(self, tag_bits: int) -> Generation:
        return Generation(self.first, 0, self.link, tag_bits)

    def again(self, rescue: int, number: int, confirm: bytes, tag_bits: int) -> Generation:
        key = cxof("tally1 again", self.rescue + u32(rescue) + u32(number) + confirm, 16)
        return Generation(key, number + 1, self.link, tag_bits)

    def hint(self, kind: int, counter: int, hint_B: int) -> bytes:
        if hint_B == 1:
            return bytes([kind << 6 | counter & 63])
        if hint_B == 0:
            return b""
        if (kind, counter) not in self._hints:
            message = self.hint_key + bytes([kind]) + u32(counter)
            self._hints[kind, counter] = cxof("tally1 hint", message, 2)
        return self._hints[kind, counter]


def opening(secret: bytes, link: bytes, of_sensor: bytes) -> bytes:
    return link + of_sensor + cxof("tally1 resume up", secret + link + of_sensor, 16)[:8]


def answer(secret: bytes, link: bytes, of_sensor: bytes, of_gateway: bytes) -> bytes:
    return of_gateway + cxof("tally1 resume down", secret + link + of_sensor + of_gateway, 16)[:8]


@dataclass
class Answered:
    """Which openings of a pair a gateway answers."""

    secret: bytes
    link: bytes
    newest: tuple[bytes, bytes] | None = None
    """The nonce of the newest opening that was answered, and the answer."""
    confirmed: bool = False

    def hear(self, flight: bytes, of_gateway: bytes) -> tuple[bool, bytes]:
        """Whether there is a new root, by this nonce, and the answer."""
        of_sensor = flight[4:12]
        if len(flight) != 20 or flight != opening(self.secret, self.link, of_sensor):
            raise RefusedError
        if self.newest and of_sensor[:4] <= self.newest[0][:4]:
            if self.confirmed or of_sensor != self.newest[0]:
                raise RefusedError
            return False, self.newest[1]
        said = answer(self.secret, self.link, of_sensor, of_gateway)
        self.newest, self.confirmed = (of_sensor, said), False
        return True, said


def total_of(tags: Sequence[bytes]) -> bytes:
    total = 0
    for tag in tags:
        total ^= int.from_bytes(tag, "big")
    return total.to_bytes(16, "big")


# The ends.


@dataclass
class Sensor:
    root: Root
    parameters: Parameters
    counter: int = 0
    tags: dict[int, bytes] = field(default_factory=dict)
    without_report: int = 0
    whole_only: bool = True
    rescues: int = 0
    unconfirmed: tuple[int, bytes] | None = None
    rescue_due: bool = False

    def __post_init__(self) -> None:
        self.generation = self.root.generation(self.parameters.tag_bits)

    @property
    def must_resume(self) -> bool:
        return self.without_report >= 256

    def seal(self, payload: bytes, *, whole: bool) -> tuple[int, bytes]:
        """The kind and the frame of the next message."""
        eighth = self.without_report >= 64 and self.counter % 8 == 0
        whole = whole or self.whole_only or eighth
        kind = WHOLE if whole else SHORT
        key = self.generation.whole if whole else self.generation.short
        body, tag = ascon(key, nonce(0, self.counter), b"", payload, opening=False)
        frame = self.root.hint(kind, self.counter, self.parameters.hint_B) + body
        frame += cut(tag, 128 if whole else self.parameters.tag_bits)
        self.tags[self.counter] = tag
        self.tags.pop(self.counter - 64, None)
        self.counter += 1
        self.without_report += 1
        return kind, frame

    def rescue_record(self) -> bytes:
        assert self.unconfirmed
        body, tag = ascon(self.root.rescue_up, nonce(0, self.rescues), b"", self.unconfirmed[1], opening=False)
        self.rescue_due = False
        return self.root.hint(RESCUE, self.rescues, self.parameters.hint_B) + body + tag

    def hear(self, frame: bytes) -> str:
        kind, low = (frame[0] >> 6, frame[0] & 63) if frame else (3, 0)
        if kind in (REPORT, REPORT_WHOLE) and len(frame) == 14 and low == self.generation.number & 63:
            return self._hear_report(kind, frame)
        if kind == REQUEST and len(frame) == 9:
            repeated = self.unconfirmed is not None and low == self.rescues & 63
            number = self.rescues if repeated else self.rescues + 1
            tag = ascon(self.root.rescue_down, nonce(REQUEST, number), b"", b"", opening=True)[1]
            if low == number & 63 and tag[:8] == frame[1:]:
                if not repeated:
                    self._begin_rescue()
                self.rescue_due = True
                return "rescue asked"
        raise RefusedError

    def _hear_report(self, kind: int, frame: bytes) -> str:
        body, tag = ascon(self.generation.down, nonce(kind, self.generation.number), b"", frame[1:6], opening=True)
        if tag[:8] != frame[6:]:
            raise RefusedError
        newest = max(self.counter - 1, 0)
        bitmap = int.from_bytes(body[1:], "big")
        base = newest - (newest - body[0]) % 256 if bitmap else 0
        listed = [base + bit for bit in range(32) if bitmap >> bit & 1]
        for counter in listed:
            if counter not in self.tags:
                # A base below zero stands for a counter that was never sent.
                proven = counter >= self.counter or counter < 0
                self._begin_rescue()
                return "forgery proven" if proven else "too old"
        self.generation = self.generation.next(base, bitmap, total_of([self.tags[counter] for counter in listed]))
        self.without_report, self.whole_only = 0, kind == REPORT_WHOLE
        self.unconfirmed, self.rescue_due = None, False
        return "next generation"

    def _begin_rescue(self) -> None:
        self.rescues += 1
        number, confirm = self.generation.number, self.generation.confirm
        self.unconfirmed = number, u32(number) + u32(self.counter) + confirm
        self.generation = self.root.again(self.rescues, number, confirm, self.parameters.tag_bits)
        self.rescue_due, self.whole_only = True, True


@dataclass
class Held:
    tag: bytes
    payload: bytes
    standing: str
    """unreported, frozen, attested, verified, doubted, refuted, expired"""
    acceptances: int = 0
    bits: int = 0


@dataclass
class Gateway:
    root: Root
    parameters: Parameters
    expected: int = 0
    there: set[int] = field(default_factory=set)
    held: dict[int, Held] = field(default_factory=dict)
    report: tuple[Generation, bytes] | None = None
    accepted: int = 0
    due_after: int = 1
    failures: int = 0
    in_row: int = 0
    rescues: int = 0
    confirmed: bool = False
    whole_only: bool = True
    """The sensor seals no short tags with the keys in use."""

    def __post_init__(self) -> None:
        self.generation = self.root.generation(self.parameters.tag_bits)

    @property
    def spent(self) -> bool:
        return self.failures >= self.parameters.budget

    def candidates(self, frame: bytes, told: tuple[int, int] | None) -> Iterator[tuple[int, int]]:
        hint_B = self.parameters.hint_B
        if hint_B == 0:
            assert told
            yield told
        elif hint_B == 1 and frame:
            yield from self._of_octet(frame[0])
        elif hint_B == 2:
            around = range(max(0, self.expected - 32), self.expected + 32)
            wanted = [*((kind, counter) for counter in around for kind in (SHORT, WHOLE)), (RESCUE, self.rescues + 1)]
            far = range(self.expected + 32, self.expected + 992)
            wanted += [(WHOLE, counter) for counter in far if counter % 8 == 0]
            yield from (found for found in wanted if self.root.hint(*found, 2) == frame[:2])

    def _of_octet(self, octet: int) -> Iterator[tuple[int, int]]:
        kind, low = octet >> 6, octet & 63
        lowest = max(0, self.expected - 32)
        counter = lowest + (low - lowest) % 64
        if kind == SHORT:
            yield kind, counter
        elif kind == WHOLE:
            yield from ((kind, counter + 64 * turn) for turn in range(16))
        elif kind == RESCUE and low == (self.rescues + 1) & 63:
            yield kind, self.rescues + 1

    def hear(self, frame: bytes, told: tuple[int, int] | None = None) -> tuple[int, int]:
        """Kind and counter of what opened."""
        record = frame[self.parameters.hint_B :]
        failed = []
        for kind, counter in list(self.candidates(frame, told)):
            outcome = self._hear_rescue(counter, record) if kind == RESCUE else self._try(kind, counter, record)
            if outcome == "opened":
                return kind, counter
            failed.append(outcome)
        if failed and set(failed) <= {"tag", "short"}:
            self.in_row += 1
        raise RefusedError

    def _try(self, kind: int, counter: int, record: bytes) -> str:
        bits = self.parameters.tag_bits if kind == SHORT else 128
        body_B = len(record) - -(-bits // 8)
        if body_B < 0:
            return "length"
        if kind == SHORT and (self.spent or (self.whole_only and not self.report)):
            return "short"
        if kind == SHORT and counter > self.expected + 63:
            return "ahead"
        if counter in self.there or counter < self.expected - 64:
            return "replayed"
        to_come = [self.report[0]] if self.report else []
        in_use = [] if kind == SHORT and self.whole_only else [self.generation]
        for generation in to_come + in_use:
            key = generation.short if kind == SHORT else generation.whole
            payload, tag = ascon(key, nonce(0, counter), b"", record[:body_B], opening=True)
            if cut(tag, bits) == record[body_B:]:
                self._accept(kind, counter, Held(tag, payload, "unreported"), generation)
                return "opened"
        self.failures += kind == SHORT
        return "tag"

    def _accept(self, kind: int, counter: int, message: Held, generation: Generation) -> None:
        if generation is not self.generation:
            self.generation, self.report, self.failures, self.whole_only = generation, None, 0, False
            for frozen in self._standing("frozen"):
                frozen.standing = "attested"
        self.there.add(counter)
        self.expected = max(self.expected, counter + 1)
        self.accepted += 1
        self.in_row = 0
        for attested in self._standing("attested"):
            attested.acceptances += 1
            bits = min(128, (attested.acceptances + 1) * self.parameters.acceptance_bits)
            if attested.acceptances >= self.parameters.acceptances:
                attested.standing, attested.bits = "verified", bits
        if kind == WHOLE:
            self.confirmed = True
            for verified in [*self._standing("attested"), message]:
                verified.standing, verified.bits = "verified", 128
        if len(self.held) == HELD:
            unverified = [number for number, other in self.held.items() if other.standing != "verified"]
            del self.held[min(unverified or self.held)]
        self.held[counter] = message

    def settled(self) -> dict[int, Held]:
        """Takes what is verified or lost."""
        settled = {
            counter: message
            for counter, message in sorted(self.held.items())
            if message.standing not in ("unreported", "frozen", "attested")
        }
        for counter in settled:
            del self.held[counter]
        return settled

    def _standing(self, *standings: str) -> list[Held]:
        return [message for message in self.held.values() if message.standing in standings]

    def speak(self) -> bytes | None:
        if self.in_row >= 4 and self.confirmed:
            number = self.rescues + 1
            tag = ascon(self.root.rescue_down, nonce(REQUEST, number), b"", b"", opening=False)[1]
            return bytes([REQUEST << 6 | number & 63]) + tag[:8]
        due = self.accepted >= (1 if self.spent else self.due_after)
        if not self.report and due:
            self._freeze()
        if not self.report:
            return None
        kind = REPORT_WHOLE if self.spent else REPORT
        number = self.generation.number
        body, tag = ascon(self.generation.down, nonce(kind, number), b"", self.report[1], opening=False)
        return bytes([kind << 6 | number & 63]) + body + tag[:8]

    def _freeze(self) -> None:
        for counter, message in self.held.items():
            if message.standing == "unreported" and counter < self.expected - 48:
                message.standing = "expired"
        unreported = sorted(counter for counter, message in self.held.items() if message.standing == "unreported")
        base = unreported[0] if unreported else 0
        listed = [counter for counter in unreported if counter < base + 32]
        for counter in listed:
            self.held[counter].standing = "frozen"
        bitmap = sum(1 << (counter - base) for counter in listed)
        total = total_of([self.held[counter].tag for counter in listed])
        self.report = self.generation.next(base, bitmap, total), bytes([base & 255]) + u32(bitmap)
        self.accepted, self.due_after = 0, self.parameters.report_every

    def _hear_rescue(self, number: int, record: bytes) -> str:
        if len(record) != 40:
            return "length"
        if number != self.rescues + 1:
            return "unexpected"
        body, tag = ascon(self.root.rescue_up, nonce(0, number), b"", record[:24], opening=True)
        if tag != record[24:]:
            return "tag"
        of_sensor, next_counter = int.from_bytes(body[:4], "big"), int.from_bytes(body[4:8], "big")
        confirm = body[8:]
        shares = [
            bool(held and (held.number, held.confirm) == (of_sensor, confirm))
            for held in (self.generation, self.report[0] if self.report else None)
        ]
        for counter, message in self.held.items():
            if message.standing not in ("unreported", "frozen", "attested"):
                continue
            if counter >= next_counter:
                message.standing = "refuted"
            elif not any(shares):
                message.standing = "doubted"
            elif message.standing == "attested" or (message.standing == "frozen" and shares[1]):
                message.standing, message.bits = "verified", 128
            else:
                message.standing = "expired" if counter < next_counter - 48 else "unreported"
        self.generation = self.root.again(number, of_sensor, confirm, self.parameters.tag_bits)
        self.expected, self.there = next_counter, set(range(next_counter - 64, next_counter))
        self.report, self.rescues, self.confirmed, self.whole_only = None, number, True, True
        self.failures = self.in_row = self.accepted = 0
        self.due_after = 1
        return "opened"
