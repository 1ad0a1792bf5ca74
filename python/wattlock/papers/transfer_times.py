"""What the papers sent, as the air answers it, and transfers that a person measured.

The paper names no physical layer, rate or packet size; what stands here for them is ours: 802.11b with 11 Mb/s and
long preambles, TCP, packets as full as they get. The data is as large as makes the plain ad hoc transfer as long as the
paper's. A cipher adds what it lengthens the file by, and its own time, which the sender waits for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import polars as pl
from pydantic import ConfigDict, Field, ValidationError

from wattlock.analysis.effects import Ratio
from wattlock.definitions import Table
from wattlock.errors import InputError
from wattlock.link import scenario
from wattlock.link.durations import SCENARIOS
from wattlock.link.ledger import LinkAnswer
from wattlock.link.wifi import evaluate
from wattlock.papers.implementations import KEY_BITS, place_of
from wattlock.papers.judge import AirAnswer
from wattlock.papers.literature import Papers
from wattlock.targets.toolbox import Toolbox

SENT_B = 1_000_000
POSITIONS = 20
PLAIN = "none"
SMALL_B = (14, 64, 100)
SIGNALS_dBm = (-60.0, -80.0, -84.0, -86.0, -88.0)
FRAGMENT_B = 500
PADDED_IV_B = {"aes": 32, "rc4": 0}
"""What a file grows by at most: an IV and a block of padding."""
OF_A_BLOCK_OF_8_B = 16


class Sending(NamedTuple):
    """One data set under one cipher in one condition.

    * `air_s`: on the air; `host_s`: the sender's cipher, None where the run has no such case.
    * `radio_J`: of all nodes' radios, None without cards; `host_J`: of the cipher's work, None where nothing values it.
    * `data_B`: of plaintext. `paper_s`: as printed, None where the paper prints none.
    """

    data: str
    cipher: str
    condition: str
    data_B: float
    air_s: Ratio
    host_s: Ratio | None
    radio_J: Ratio | None
    host_J: Ratio | None
    paper_s: float | None
    evidence: str

    @property
    def duration_s(self) -> Ratio:
        """The transfer with the cipher's own time before it."""
        if self.host_s is None:
            return self.air_s
        return Ratio(*(air_s + host_s for air_s, host_s in zip(self.air_s, self.host_s, strict=True)))

    def as_transfer(self) -> AirAnswer:
        """As the judges read it."""
        return AirAnswer(
            self.condition, self.data, self.cipher, self.duration_s, self.radio_J, self.host_J, evidence=self.evidence
        )


class SentAnswers(NamedTuple):
    """All answers: the tables' cases, and what the judges need beside."""

    cases: list[Sending]
    others: list[AirAnswer]

    @property
    def transfers(self) -> list[AirAnswer]:
        """As the judges read them."""
        return [*(case.as_transfer() for case in self.cases), *self.others]


def send(
    papers: Papers,
    estimates: pl.DataFrame,
    net: Toolbox,
    radio: str | None,
    *,
    allow_assumed: bool = False,
) -> SentAnswers:
    """Asks the air once for all that the papers say of sending.

    * `estimates`: a run's, for the ciphers' own time. * `radio`: the card of all nodes, None for durations alone.
    """
    tables = [scenario.load(name, _full({"radio": radio}, poor=key)) for key, name in SCENARIOS.items()]
    small = [_variant({"radio": radio, "payload.payload_B": size_B, "transport": "udp"}) for size_B in SMALL_B]
    signals = [
        _variant({"radio": radio, "signal.rssi_dBm": signal, "transport": "udp", **cut})
        for signal in SIGNALS_dBm
        for cut in ({}, {"air.fragment_B": FRAGMENT_B})
    ]
    answers = evaluate([*tables, *small, *signals], net, {}, allow_assumed=allow_assumed)
    rows = dict(zip(SCENARIOS, answers, strict=False))
    cases = [case for data in _kinds(papers) for case in _cases(papers, estimates, rows, data)]
    of_small, of_signals = answers[len(rows) :][: len(small)], answers[len(rows) + len(small) :]
    others = [_small(size_B, answer) for size_B, answer in zip(SMALL_B, of_small, strict=True)]
    for number, answer in enumerate(of_signals):
        if answer.ledger.delivered:
            name = "fragmented" if number % 2 else "whole"
            others.append(_plain(name, answer, signal_dBm=SIGNALS_dBm[number // 2]))
    return SentAnswers(cases, others)


def _full(changes: Mapping[str, Any], *, poor: str) -> dict[str, Any]:
    changed = {"payload.data_B": SENT_B, "transport": "tcp", "phy": "b", "rate_Mb_s": 11, **changes}
    return changed | ({"signal.positions": POSITIONS} if poor == "adhoc_poor" else {})


def _variant(changes: Mapping[str, Any]) -> scenario.Named[scenario.Scenario]:
    return scenario.load("adhoc-open", {**_full({}, poor=""), "payload.data_B": 100_000, **changes})


def _kinds(papers: Papers) -> list[str]:
    """The data sets of the tables, and the images, of whose transfer the paper prints nothing."""
    return [*papers.sending, "image"]


def _cases(papers: Papers, estimates: pl.DataFrame, rows: Mapping[str, LinkAnswer], data: str) -> list[Sending]:
    table = papers.sending.get(data)
    plain_s = rows["adhoc_open"].duration_ns * 1e-9
    data_B = SENT_B * (table.of(PLAIN, "adhoc_open") / plain_s) if table else _images_B(papers)
    found = []
    ciphers = list(next(iter(papers.sending.values())).duration_s)
    for cipher in ciphers:
        grown = data_B + (0 if cipher == PLAIN else PADDED_IV_B.get(cipher, OF_A_BLOCK_OF_8_B))
        cost = None if cipher == PLAIN else _cost(estimates, cipher, data)
        for condition, answer in rows.items():
            air_s, radio_J = _taken(answer, grown / SENT_B)
            paper_s = table.of(cipher, condition) if table else None
            host_s, host_J = _host(cost, data_B)
            kinds = {answer.evidence, *([cost["energy_evidence"]] if cost and host_J else [])}
            evidence = "assumed" if "assumed" in kinds else "modelled"
            found.append(Sending(data, cipher, condition, data_B, air_s, host_s, radio_J, host_J, paper_s, evidence))
    return found


def _images_B(papers: Papers) -> float:
    """The paper says the range of its images and not how many: one of each end stands for them."""
    image = papers.conditions["data"]["image"]
    return 1e3 * float(image["from_KB"] + image["to_KB"])


def _taken(answer: LinkAnswer, times: float) -> tuple[Ratio, Ratio | None]:
    """Seconds and radio joules of so many times the data; of drawn positions the median and 95 %."""
    if answer.positions:
        here = answer.positions[0]
        spread_s = Ratio(*(times * s for s in (here.duration_s.median, here.duration_s.low, here.duration_s.high)))
        energy = here.energy_J
        spread_J = Ratio(*(times * J for J in (energy.median, energy.low, energy.high))) if energy else None
        return spread_s, spread_J
    seconds = times * answer.duration_ns * 1e-9
    return Ratio(seconds, seconds, seconds), _radio(answer, times)


def _radio(answer: LinkAnswer, times: float) -> Ratio | None:
    if not answer.by_states:
        return None
    sides = ("J", "low_J", "high_J")
    return Ratio(*(times * sum(getattr(radio.total, side) for radio in answer.by_states) for side in sides))


def _cost(estimates: pl.DataFrame, family: str, data: str) -> dict[str, Any] | None:
    """The case that encrypts this data: software of the papers' era that is built in, or what else there is."""
    rows = estimates.filter(
        pl.col("family") == family,
        pl.col("operation") == "encrypt",
        pl.col("data") == data,
        pl.col("keying") == "ready",
        pl.col("encoding") == "raw",
        pl.col("key_bits") == KEY_BITS[family],
        pl.col("time_ns").is_not_null(),
    )
    return min(rows.iter_rows(named=True), key=lambda row: (place_of(row), row["case"]), default=None)


def _host(cost: Mapping[str, Any] | None, data_B: float) -> tuple[Ratio | None, Ratio | None]:
    if cost is None:
        return None, None
    times = data_B / cost["payload_B"]
    seconds = Ratio(*(times * 1e-9 * cost[name] for name in ("time_ns", "time_low_ns", "time_high_ns")))
    if cost.get("energy_uJ") is None:
        return seconds, None
    return seconds, Ratio(*(times * 1e-6 * cost[name] for name in ("energy_uJ", "energy_low_uJ", "energy_high_uJ")))


def _plain(name: str, answer: LinkAnswer, *, signal_dBm: float | None = None) -> AirAnswer:
    """As much as asked of the data that arrives: what is lost for good was paid for, too."""
    seconds, joules = _taken(answer, answer.ledger.requested / answer.ledger.delivered)
    return AirAnswer(name, "", PLAIN, seconds, joules, signal_dBm=signal_dBm, evidence=answer.evidence)


def _small(size_B: int, answer: LinkAnswer) -> AirAnswer:
    """Of the radios' joules beyond idling, what is not spent on the payload's own octets."""
    lines = [(line.what, answer.joules_of(line) or 0.0) for line in answer.ledger.lines]
    whole = sum(joules for _, joules in lines)
    share = 1 - sum(joules for what, joules in lines if what == "payload") / whole if whole else None
    found = _plain("packet", answer)
    overhead = Ratio(share, share, share) if share is not None else None
    return found._replace(payload_B=size_B, overhead_share=overhead)


KINDS = ("text", "audio", "image", "video")
LARGEST_B = 2**24
HINT = "write it by `wattlock send FILE --to HOST:PORT --cipher ID --format json > FILE`"
Count = Annotated[int, Field(ge=0)]


class Transferred(NamedTuple):
    """One file that went from one machine to another, as one side measured it.

    * `data`: what the file holds, None where nobody said. `name`: the cipher's family where it is one of the catalogue,
      else its id; `plain`: its plaintext's SHA-256, by which transfers of one file are known.
    * `cipher_s`: cipher and encoder, before the transfer; `duration_s`: with the transfer itself.
    * `energy_J`: of both, beyond what the machine draws at rest; None without a meter.
    """

    data: str | None
    side: str
    name: str
    cipher: str
    provider: str
    transport: str
    encoding: str
    plain: str
    plain_B: int
    wire_B: int
    cipher_s: float
    duration_s: float
    energy_J: float | None

    @property
    def how(self) -> str:
        """How it went: what differs in this is not compared."""
        return f"{self.transport.upper()}, {self.encoding}, {'sender' if self.side == 'send' else 'receiver'}"


class _Row(Table):
    """What is read of a record; the rest of it is left aside."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True, allow_inf_nan=False)

    side: Literal["send", "receive"]
    cipher: str
    provider: str
    transport: str
    encoding: str
    plain_sha256: str
    plain_B: Annotated[int, Field(gt=0)]
    wire_B: Count
    cipher_ns: Count
    encode_ns: Count
    transfer_ns: Count
    process_uJ: float | None = None
    transfer_uJ: float | None = None


def read(names: Iterable[str], catalogue: Sequence[Mapping[str, Any]]) -> list[Transferred]:
    """The transfers of several files, in their order.

    * `names`: paths, or KIND=PATH where the kind of the data is said.

    Raises InputError naming the file, and the record that is none.
    """
    families = {str(row["id"]): str(row["family"]) for row in catalogue}
    return [transfer for name in names for transfer in _of_file(name, families)]


def path_of(name: str) -> tuple[str | None, Path]:
    """`audio=sent.json` as the kind of data and the file; a path alone has no kind."""
    kind, equals, path = name.partition("=")
    return (kind, Path(path)) if equals and kind in KINDS else (None, Path(name))


def _of_file(name: str, families: Mapping[str, str]) -> list[Transferred]:
    data, path = path_of(name)
    try:
        with path.open("rb") as file:
            octets = file.read(LARGEST_B + 1)
        if len(octets) > LARGEST_B:
            what = f"--transfers {path}: has more than {LARGEST_B >> 20} MiB"
            raise InputError(what, hint="name a file of fewer transfers")
        text = octets.decode()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise InputError(f"--transfers {path}: can't be read: {why}", hint=HINT) from error
    found = []
    for number, record in enumerate(_records(path, text), 1):
        try:
            row = _Row.model_validate(record)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "it"
            message = f"--transfers {path}: record {number} is none of a transfer: {place}: {first['msg']}"
            raise InputError(message, hint=HINT) from error
        found.append(_transferred(row, data, families))
    if not found:
        raise InputError(f"--transfers {path}: it holds no record", hint=HINT)
    return found


def _records(path: Path, text: str) -> list[Any]:
    """One array, or an object a line."""
    try:
        whole = json.loads(text) if text.lstrip().startswith("[") else [json.loads(line) for line in text.splitlines()]
    except json.JSONDecodeError as error:
        raise InputError(f"--transfers {path}: it is no JSON: {error.msg}", hint=HINT) from error
    return list(whole)


def _transferred(row: _Row, data: str | None, families: Mapping[str, str]) -> Transferred:
    cipher_s = (row.cipher_ns + row.encode_ns) * 1e-9
    joules = None
    if row.process_uJ is not None and row.transfer_uJ is not None:
        joules = (row.process_uJ + row.transfer_uJ) * 1e-6
    return Transferred(
        data=data,
        side=row.side,
        name=families.get(row.cipher, row.cipher),
        cipher=row.cipher,
        provider=row.provider,
        transport=row.transport,
        encoding=row.encoding,
        plain=row.plain_sha256,
        plain_B=row.plain_B,
        wire_B=row.wire_B,
        cipher_s=cipher_s,
        duration_s=cipher_s + row.transfer_ns * 1e-9,
        energy_J=joules,
    )
