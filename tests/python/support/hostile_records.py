"""What a probe must not write, as data: by name, what comes in place of honest records, and its refusal."""

import copy
import json
from collections.abc import Callable
from typing import Any

from support.virtual_runs import case_of
from wattlock.run.process import VISITS, Order

Records = list[dict[str, Any]]
Kind = tuple[Callable[[Records], list[Any]], str]
"""Gives what is written in place of the honest records of a process (bytes as they are, all else as a line of JSON),
and what the refusal says."""

GONE = object()
PROCESS = 1
CASES = [case_of(0, "aes128-cbc"), case_of(1, "des-cbc")]


def plan_of(process: int) -> list[dict[str, Any]]:
    visits = dict.fromkeys((0, 1), VISITS)
    return list(Order(process, 3, CASES, None, visits=visits).plan({}))


def of(kind: str, path: str, value: object) -> Callable[[Records], list[Any]]:
    """The honest records, but for one value of the first record of a kind; `GONE` takes the value away."""

    def changed(records: Records) -> list[Any]:
        found = copy.deepcopy(records)
        place: Any = next(record for record in found if record["kind"] == kind)
        *above, last = (int(step) if step.isdigit() else step for step in path.split("."))
        for step in above:
            place = place[step]
        if value is GONE:
            del place[last]
        else:
            place[last] = value
        return found

    return changed


def before_the_end(*lines: Any) -> Callable[[Records], list[Any]]:
    """The honest records with others before the last one."""
    return lambda records: [*records[:-1], *lines, records[-1]]


def failure(**changed: Any) -> dict[str, Any]:
    known = {"process": PROCESS, "case": 0, "error": "no such key", "follows": "skip_case"}
    return {"kind": "failure", **known, **changed}


LEVEL = {"kind": "battery_level", "process": PROCESS, "case": 0, "t_ns": 1, "unix_ns": 1, "repeats_done": 1}
METER = {"name": "m", "kind": "k", "domain": "d", "scope": "s", "unit": "u", "quantum_nJ": 1.0, "overlaps": []}
METER |= {"update_period_ns": 1, "gain_relative_uncertainty": 0.1, "gain_source": "s"}
BLOCK = {"kind": "energy_block", "process": PROCESS, "superblock": 0, "position": 0, "attempt": 0, "role": "case"}
BLOCK |= {"calls": 1, "wall_ns": 1, "canary_before_ticks": 1, "canary_after_ticks": 1, "case": 0}

HEADERS: dict[str, Kind] = {
    "a header of schema 3": (of("header", "schema", 3), "records of schema 3"),
    "a header of schema 0": (of("header", "schema", 0), "records of schema 0"),
    "a header of schema null": (of("header", "schema", None), "records of schema None"),
    "a header of schema true": (of("header", "schema", "1"), "records of schema '1'"),
    "a header without a schema": (of("header", "schema", GONE), "records of schema None"),
    "a header of another process": (of("header", "process", 7), "a header of process 7"),
    "a header of process -1": (
        of("header", "process", -1),
        "process is -1: input should be greater than or equal to 0",
    ),
    "a header of process null": (of("header", "process", None), "process is None: input should be"),
    "a header of process '1'": (of("header", "process", "1"), "process is '1': input should be"),
    "a header without a process": (of("header", "process", GONE), "has no process"),
    "a header of another seed": (of("header", "seed", 5), "a header of seed 5"),
    "a header without a seed": (of("header", "seed", GONE), "has no seed"),
    "a header of a seed beyond 64 bits": (
        of("header", "seed", 2**64),
        "seed is 18446744073709551616: input should be less",
    ),
    "a header without a fingerprint": (of("header", "fingerprint", GONE), "has no fingerprint"),
    "a fingerprint of null": (of("header", "fingerprint", None), "fingerprint is None: input should be"),
    "a fingerprint that is a list": (of("header", "fingerprint", []), r"fingerprint is \[\]: input should be"),
    "a fingerprint without a kernel": (of("header", "fingerprint.kernel", GONE), "fingerprint has no kernel"),
    "a fingerprint without a build": (of("header", "fingerprint.build", GONE), "fingerprint has no build"),
    "a fingerprint without its isa": (of("header", "fingerprint.build.isa", GONE), "fingerprint.build has no isa"),
    "a system that is a number": (
        of("header", "fingerprint.kernel.os", 5),
        "fingerprint.kernel.os is 5: input should be",
    ),
    "0 ticks a second": (
        of("header", "ticks_per_second", 0),
        "ticks_per_second is 0: input should be greater than or equal to 1",
    ),
    "-5 ticks a second": (of("header", "ticks_per_second", -5), "ticks_per_second is -5"),
    "1.5 ticks a second": (of("header", "ticks_per_second", 1.5), "ticks_per_second is 1.5: input should be"),
    "fast ticks a second": (of("header", "ticks_per_second", "fast"), "ticks_per_second is 'fast': input should be"),
    "true ticks a second": (of("header", "ticks_per_second", True), "ticks_per_second is True: input should be"),
    "no ticks a second": (of("header", "ticks_per_second", GONE), "wrote a header without ticks_per_second"),
    "-36000 cycles a canary": (of("header", "canary_cycles", -36_000), "canary_cycles is -36000: input should be"),
    "0 cycles a canary": (
        of("header", "canary_cycles", 0),
        "canary_cycles is 0: input should be greater than or equal to 1",
    ),
    "1e300 cycles a canary": (of("header", "canary_cycles", 1e300), "canary_cycles is 1e.300: input should be"),
    "a canary of text": (of("header", "canary_cycles", "x"), "canary_cycles is 'x': input should be"),
    "a quiet level of 0": (of("header", "quiet_ppm", 0), "quiet_ppm is 0: input should be greater than or equal to 1"),
    "a quiet level of -1": (of("header", "quiet_ppm", -1), "quiet_ppm is -1"),
    "a timer of null": (of("header", "timer_ticks", None), "wrote a header without timer_ticks"),
    "processor -1": (of("header", "pinned_cpu", -1), "pinned_cpu is -1"),
    "a meter in a run without one": (of("header", "meter", METER), "a header with a meter"),
    "a meter that is none": (of("header", "meter", {"name": "m"}), "meter has no domain"),
    "a battery in a run without one": (of("header", "battery", METER), "a header with a battery"),
    "cases of null": (of("header", "cases", None), "cases is None: input should be"),
    "cases that are an object": (of("header", "cases", {}), r"cases is \{\}: input should be"),
    "a case that is a number": (of("header", "cases.0", 3), r"cases\[0\] is 3: input should be"),
    "no cases": (of("header", "cases", []), "a batch of a case that it was not asked for"),
    "no cases and no batches": (
        lambda records: [records[0] | {"cases": []}, records[-1] | {"batches": 0}],
        "said nothing of case 0",
    ),
    "a case that was not planned": (of("header", "cases.0.case", 99), "of case 99, which it was not asked for"),
    "a case twice": (of("header", "cases.1.case", 0), "of case 0 twice"),
    "a case without its calls": (of("header", "cases.0.calls", GONE), r"cases\[0\] has no calls"),
    "a case of 0 calls": (
        of("header", "cases.0.calls", 0),
        r"cases\[0\].calls is 0: input should be greater than or equal to 1",
    ),
    "a case of 0 segments": (of("header", "cases.0.segments", 0), r"cases\[0\].segments is 0"),
    "a short case of a million segments": (of("header", "cases.0.segments", 10**6), "cut case 0 into 1000000"),
    "a case of another cipher": (of("header", "cases.0.cipher", "xor"), "case 0 with cipher 'xor'"),
    "a case of another role": (of("header", "cases.0.role", "aa_test"), "case 0 with role 'aa_test'"),
    "a case of an unknown operation": (
        of("header", "cases.0.operation", "melt"),
        "is 'melt': input should be 'encrypt'",
    ),
}

BATCHES: dict[str, Kind] = {
    "a batch of another process": (of("batch", "process", 9), "a batch of a process that it was not asked for"),
    "a batch of an unknown case": (of("batch", "case", 99), "a batch of a case that it was not asked for"),
    "a batch of segment 5": (of("batch", "segment", 5), "a batch of a segment that"),
    "a batch of round 999": (of("batch", "round", 999), "a batch of a round that"),
    "a fourth try": (of("batch", "attempt", 3), "a batch of a attempt that"),
    "-1 ticks": (of("batch", "ticks", -1), "is no batch that the schema knows"),
    "1.5 ticks": (of("batch", "ticks", 1.5), "is no batch that the schema knows"),
    "1e30 ticks": (of("batch", "ticks", 10**30), "is no batch that the schema knows"),
    "ticks of text": (of("batch", "ticks", "5"), "is no batch that the schema knows"),
    "no ticks": (of("batch", "ticks", GONE), "is no batch that the schema knows"),
    "ticks of null": (of("batch", "ticks", None), "is no batch that the schema knows"),
    "0 calls": (of("batch", "calls", 0), "is no batch that the schema knows"),
    "a canary of 0 ticks": (of("batch", "canary_before_ticks", 0), "is no batch that the schema knows"),
    "a canary of -9 ticks": (of("batch", "canary_after_ticks", -9), "is no batch that the schema knows"),
    "clean yes": (of("batch", "clean", "yes"), "is no batch that the schema knows"),
    "an unknown cause": (of("batch", "cause", "weather"), "is no batch that the schema knows"),
    "a batch twice": (lambda records: [*records[:2], *records[1:]], "a batch twice"),
    "a batch that is missing": (lambda records: [records[0], *records[2:]], "ended with .* batches, and"),
}

OTHERS: dict[str, Kind] = {
    "batches without a header": (lambda records: records[1:], "began without a header"),
    "a bare failure": (lambda _: [failure()], "began without a header"),
    "a failure before the header": (lambda records: [failure(), *records], "began without a header"),
    "an end alone": (lambda records: records[-1:], "began without a header"),
    "a failure of another process": (before_the_end(failure(process=0)), "a failure of process 0"),
    "a failure of an unknown case": (before_the_end(failure(case=50)), "of case 50, which it was not asked for"),
    "a failure twice": (before_the_end(failure(), failure()), "of case 0 twice"),
    "a failure without an error": (before_the_end(failure(error=None)), "error is None: input should be"),
    "a failure with an unknown sequel": (
        before_the_end(failure(follows="panic")),
        "'panic': input should be 'repeat_block'",
    ),
    "a header twice": (lambda records: [records[0], *records], "two headers"),
    "an end twice": (lambda records: [*records, records[-1]], "went on after its last record"),
    "batches behind the end": (lambda records: [*records, records[1]], "went on after its last record"),
    "the end before the batches": (lambda records: [records[0], records[-1], *records[1:-1]], "went on after its last"),
    "no end": (lambda records: records[:-1], "without all of its records"),
    "an end of more batches": (of("end", "batches", 5000), "ended with 5000 batches, and"),
    "an end of another process": (of("end", "process", 0), "a end of process 0"),
    "an end without a number": (of("end", "batches", GONE), "has no batches"),
    "an end that measured": (of("end", "energy_blocks", 3), "ended with 3 energy blocks, and 0 came"),
    "a block of energy": (before_the_end(BLOCK), "a block of energy that it was not asked for"),
    "a level of a battery": (before_the_end(LEVEL), "a level of a battery that it was not asked for"),
    "a session of wattlock's": (
        before_the_end({"kind": "session", "wall_s": 1, "next_process": 2}),
        'kind "session", which there is none',
    ),
    "a session without fields": (before_the_end({"kind": "session"}), "a session not as the schema has it"),
    "an exclusion of a sound process": (
        before_the_end({"kind": "left_out", "process": 0, "why": "spite"}),
        'kind "left_out", which there is none of',
    ),
    "a foreign record": (before_the_end({"kind": "tide", "height_m": 3}), 'kind "tide", which there is none of'),
    "a kind of 100,000 letters": (before_the_end({"kind": "k" * 100_000}), 'kind "kkkkkk'),
    "a kind that is a number": (before_the_end({"kind": 5}), "has no kind"),
    "nothing": (lambda _: [], "without all of its records"),
    "an empty line": (lambda _: [b"\n"], "is not JSON"),
    "a list": (lambda _: [[1]], "has no kind"),
    "an empty object": (lambda _: [{}], "has no kind"),
    "null": (lambda _: [None], "has no kind"),
    "words": (lambda _: [b"Segmentation fault\n"], "is not JSON"),
    "bytes": (lambda _: [bytes(range(128, 256)), b"\n"], "is not JSON"),
    "zeros": (lambda _: [bytes(5000), b"\n"], "is not JSON"),
    "UTF-16": (lambda records: [json.dumps(records[0]).encode("utf-16"), b"\n"], "is not JSON"),
    "100,000 brackets": (lambda _: [b"[" * 100_000, b"\n"], "is not JSON"),
    "a number of 10,000 digits": (lambda _: [b'{"kind":' + b"9" * 10_000 + b"}\n"], "is not JSON"),
    "a number that is none": (
        lambda records: [records[0], b'{"kind":"failure","case":NaN}\n'],
        "not as the schema|no process",
    ),
    "half a line at the end": (lambda records: [*records[:-1], b'{"kind":"en'], "without all of its records"),
    "two records on a line": (lambda _: [b'{"kind":"header"}{"kind":"end"}\n'], "is not JSON"),
    "a line of 70 MB": (lambda _: [b"x" * 70_000_000], "a line of more than .* bytes"),
    "a header of 5 MB": (of("header", "fingerprint.hardware.model_name", "x" * 5_000_000), "a line of more than"),
    "batches without end": (lambda records: [*records[:-1], *records[1:-1] * 30], "more than .* lines"),
    "failures without end": (lambda records: [records[0], *[failure()] * 5000], "of case 0 twice|more than .* lines"),
}
KINDS: dict[str, Kind] = HEADERS | BATCHES | OTHERS


def written(name: str, records: Records) -> bytes:
    """What a process writes that is hostile in this way."""
    parts = KINDS[name][0](records)
    return b"".join(one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in parts)
