"""Measured durations of transfers, printed or a person's own CSV, and hypotheses why ciphertext took longer, ranked.

None of the hypotheses is a fact. The law is T = expansion * T_plain + encryption + host work + constant, times a spread
between runs that is a parameter itself: its logarithm is normal. T_plain is not taken as exact: it is one more unknown
for each data and condition, of which the plain transfer is one observation.
"""

import csv
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from wattlock.definitions import Shelf, Table, Text
from wattlock.errors import InputError
from wattlock.link import scenario
from wattlock.link.ledger import LinkAnswer
from wattlock.link.scenario import Named, Scenario

PLAIN = "none"
"""The cipher of what is sent unencrypted."""
COLUMNS = ("data", "cipher", "condition", "duration_s")
OPTIONAL = ("size_B",)
Seconds = Annotated[float, Field(gt=0)]
Numbers: TypeAlias = NDArray[np.float64]
EXPANSIONS = {1.0: "raw", 4 / 3: "base64", 16 / 9: "base64 twice", 2.0: "hexadecimal"}
"""What an encoding makes of the bytes: of three four, twice; two digits an octet."""
Encryption = Literal["", "fitted", "given"]
# Beyond this many spreads of the first fit a cell is left unexplained.
FAR = 2.0
# Two Bayesian criteria this far apart: strong evidence (Kass and Raftery, JASA 90(430), 1995, 3.2, at 6 of 2 ln B).
STRONG = 6.0
NOTHING = "nothing but the spread"
CAVEAT = "A hypothesis that fits is not a fact: whoever measured did not say what was sent, and none here saw it."
ROW: tuple[str, ...] = ("behind", "weight", "spread_percent", "worst_percent", "parameters", "bic", "aicc")
ROW += ("expansion", "encryption", "share", "host", "constant_s", "unexplained")


class Duration(NamedTuple):
    """How long one set of data took, under one cipher and condition; several runs are several of these.

    * `size_B`: the plain bytes of the set, where somebody knows them.
    """

    data: str
    cipher: str
    condition: str
    duration_s: float
    size_B: float | None = None

    @property
    def name(self) -> str:
        """The cell in words."""
        return f"{self.data} {self.cipher} {self.condition}"


class PrintedDurations(Table):
    """Durations as a paper prints them: by data and cipher, a column a condition."""

    source: Text
    conditions: Annotated[list[Text], Field(min_length=1)]
    duration_s: dict[str, dict[str, list[Seconds]]]

    @model_validator(mode="after")
    def _rows_are_full(self) -> Self:
        for data, rows in self.duration_s.items():
            for cipher, row in rows.items():
                if len(row) != len(self.conditions):
                    raise ValueError(f"{data}.{cipher} has {len(row)} of {len(self.conditions)} durations")
        return self


PRINTED = Shelf("table of durations", "tables", "published", PrintedDurations, marked_by="duration_s")


def names() -> list[str]:
    """The printed durations that come along."""
    return PRINTED.names()


def printed(name: str) -> tuple[list[Duration], str]:
    """Printed durations and their source.

    Raises InputError where there are none of that name.
    """
    _, tables = PRINTED.load(name)
    cells = [
        Duration(data, cipher, condition, duration_s)
        for data, rows in tables.duration_s.items()
        for cipher, row in rows.items()
        for condition, duration_s in zip(tables.conditions, row, strict=True)
    ]
    return cells, tables.source


def read_csv(path: Path) -> list[Duration]:
    """Durations of a CSV with the columns data, cipher, condition, duration_s and, where it is known, size_B.

    The cipher of what was sent plain is `none`. Raises InputError with line and column of what is wrong.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            missing = [name for name in COLUMNS if name not in (reader.fieldnames or [])]
            for mark, named in ((";", "semicolons"), ("\t", "tabs")):
                if missing and any(mark in name for name in reader.fieldnames or []):
                    hint = "save it with commas between columns and a point in numbers"
                    raise InputError(f"{path}: its columns are separated by {named}, not by commas", hint=hint)
            if missing:
                raise InputError(
                    f"{path}: has no column {missing[0]}", hint=f"the columns are {', '.join((*COLUMNS, *OPTIONAL))}"
                )
            return [_row(path, reader.line_num, row) for row in reader]
    except OSError as error:
        hint = f"a CSV with the columns {', '.join(COLUMNS)}, or one of {', '.join(names())}"
        raise InputError(f"{path}: can't be read: {error.strerror}", hint=hint) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: not CSV: {error}") from error


def load(name_or_path: str) -> tuple[list[Duration], str]:
    """Durations by the name of a publication or the path of a CSV, and their source."""
    path = Path(name_or_path)
    if name_or_path in names() or not (path.suffix or path.exists()):
        return printed(name_or_path)
    return read_csv(path), str(path)


def check(cells: Iterable[Duration], origin: str) -> None:
    """Raises InputError where ciphertext has no plain transfer of the same data and condition beside it."""
    cells = list(cells)
    plain = {(cell.data, cell.condition) for cell in cells if cell.cipher == PLAIN}
    alone = [cell for cell in cells if (cell.data, cell.condition) not in plain]
    if alone:
        raise InputError(
            f"{origin}: {alone[0].name} has no plain transfer beside it",
            hint=f"a row of {alone[0].data}, {PLAIN}, {alone[0].condition} says what it is compared with",
        )
    sized = sum(cell.size_B is not None for cell in cells)
    if 0 < sized < len(cells):
        raise InputError(
            f"{origin}: size_B is known of {sized} of {len(cells)} durations", hint="give it of all of them, or of none"
        )
    if all(cell.cipher == PLAIN for cell in cells):
        raise InputError(f"{origin}: has no ciphertext to explain", hint="rows of a cipher beside those of none")


def labels(cells: Sequence[Duration]) -> list[str]:
    """A name for each: the cell's, with its number behind where it was measured several times."""
    times: Counter[str] = Counter()
    often = Counter(cell.name for cell in cells)
    found = []
    for cell in cells:
        times[cell.name] += 1
        found.append(f"{cell.name} #{times[cell.name]}" if often[cell.name] > 1 else cell.name)
    return found


def _row(path: Path, line: int, row: dict[str, str | None]) -> Duration:
    words = {key: (row[key] or "").strip() for key in COLUMNS[:3]}
    for key, word in words.items():
        if not word:
            raise InputError(f"{path}: line {line}: {key} is empty")
    size = (row.get("size_B") or "").strip()
    size_B = _positive(path, line, "size_B", size) if size else None
    return Duration(**words, duration_s=_positive(path, line, "duration_s", row["duration_s"] or ""), size_B=size_B)


def _positive(path: Path, line: int, key: str, word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise InputError(f"{path}: line {line}: {key} must be a number above 0, is {word!r}")
    return value


# Hypotheses.


class Hypothesis(NamedTuple):
    """One way in which ciphertext may take longer.

    * `expansion`: of all ciphertext; None: one for each cipher, of `EXPANSIONS`.
    * `encryption`: its time is counted in, by speeds that are fitted or given; `host`: work a packet of ciphertext;
      `constant`: seconds a transfer.
    """

    name: str
    expansion: float | None = 1.0
    encryption: Encryption = ""
    host: bool = False
    constant: bool = False


class HypothesisFit(NamedTuple):
    """A hypothesis at its most likely.

    * `expansion`: by cipher; `encryption`, `host`: seconds for each second that the plain data takes under its fastest
      condition, or for each MB where sizes are known; with speeds given, `share` of their time is counted in.
    * `spread_percent`: standard deviation between runs, on the logarithmic scale; `worst_percent`: the farthest cell.
    * `bic`, `aicc`: criteria, lower is better; `behind`: BIC above the best one's.
    * `weight`: probability among these hypotheses, if one of them were true and all as likely before.
    * `unexplained`: cells more than two spreads of the first hypothesis off, with how far, in percent.
    """

    name: str
    parameters: int
    expansion: dict[str, float]
    encryption: dict[str, float]
    share: float | None
    host: float | None
    constant_s: float | None
    spread_percent: float
    worst_percent: float
    bic: float
    aicc: float
    behind: float
    weight: float
    unexplained: dict[str, float]


class Explanation(NamedTuple):
    """All hypotheses by BIC; nothing but the spread first where none is clearly better.

    * `sooner`: cells of ciphertext that arrived before the plaintext, with their ratio: only a spread can do that.
    * `speeds`: where those of the ciphers are from; `per`: what `encryption` and `host` are counted by.
    """

    source: str
    cells: int
    fits: list[HypothesisFit]
    sooner: dict[str, float]
    speeds: str
    per: str

    def rows(self) -> list[dict[str, Any]]:
        """A record a hypothesis, in their order."""
        return [{"hypothesis": fit.name} | {key: getattr(fit, key) for key in ROW} for fit in self.fits]

    def sentences(self) -> list[str]:
        """What may be said of it, plainly."""
        first = self.fits[0]
        rivals = [fit.name for fit in self.fits[1:] if fit.behind < STRONG]
        if first.name == NOTHING:
            sentences = [
                f"No hypothesis fits {self.cells} durations clearly better than a spread of "
                f"{first.spread_percent:.1f} % between runs alone ({self.source})."
            ]
        else:
            best = f"{first.name} fits {self.cells} durations best ({self.source})"
            sentences = [f"Of {len(self.fits)} hypotheses, {best}."]
            sentences.append(f"It needs a spread of {first.spread_percent:.1f} % between runs.")
        if rivals:
            sentences.append(f"Not clearly worse: {'; '.join(rivals)}.")
        if self.sooner:
            sentences.append(
                f"In {len(self.sooner)} durations ciphertext arrived sooner than plaintext: nothing in a cipher does "
                "that, so without a spread no hypothesis holds."
            )
        if first.unexplained:
            far = (f"{name} ({off:+.0f} %)" for name, off in first.unexplained.items())
            sentences.append(f"It leaves unexplained: {', '.join(far)}.")
        return [*sentences, f"Speeds of ciphers: {self.speeds}.", CAVEAT]


def hypotheses(*, speeds: bool = False) -> list[Hypothesis]:
    """The hypotheses that are fitted; with `speeds` encryption has those given besides its own."""
    encryption: list[Encryption] = ["fitted", "given"] if speeds else ["fitted"]
    words = {"fitted": "encryption counted in", "given": "encryption counted in at the speeds given"}
    found = [Hypothesis(NOTHING)]
    found += [Hypothesis(f"all ciphertext {word}", times) for times, word in EXPANSIONS.items() if times > 1]
    found.append(Hypothesis("an encoding for each cipher", None))
    expansions = [*((times, word) for times, word in EXPANSIONS.items()), (None, "an encoding for each cipher")]
    for times, word in expansions:
        before = "" if times == 1 else f"{'all ciphertext ' if times else ''}{word} and "
        found += [Hypothesis(before + words[kind], times, kind) for kind in encryption]
        found.append(Hypothesis(before + "host work a packet", times, host=True))
        found.append(Hypothesis(before + "a constant a transfer", times, constant=True))
    return found


def explain(
    cells: Iterable[Duration],
    source: str,
    *,
    speeds_B_per_s: Mapping[str, float] | None = None,
    speeds_from: str = "given",
) -> Explanation:
    """Fit every hypothesis to measured durations and rank them by BIC.

    The best of many fits random durations better than none does, by chance. So nothing but the spread stands first
    unless another is clearly better, by STRONG or more.

    * `cells`: durations in seconds, the plain ones of cipher `none` among them.
    * `speeds_B_per_s`: of the ciphers, from a run; then `size_B` of the data must be known. `speeds_from` names it.

    Raises InputError where a cell has no plain transfer beside it, where there are too few cells, or where speeds are
    given for other ciphers or without sizes.
    """
    cells = list(cells)
    check(cells, source)
    fitting = _Fitting(cells, source, speeds_B_per_s)
    tried = [(hypothesis, fitting.fit(hypothesis)) for hypothesis in hypotheses(speeds=speeds_B_per_s is not None)]
    least = min(solved.bic for _, solved in tried)
    tried.sort(key=lambda pair: (pair[0].name != NOTHING or pair[1].bic - least >= STRONG, pair[1].bic))
    relative = [math.exp(-(solved.bic - least) / 2) for _, solved in tried]
    far = FAR * tried[0][1].spread
    fits = [
        fitting.described(hypothesis, solved, behind=solved.bic - least, weight=weight / sum(relative), far=far)
        for (hypothesis, solved), weight in zip(tried, relative, strict=True)
    ]
    speeds = "fitted to these durations" if speeds_B_per_s is None else f"fitted, and from {speeds_from}"
    return Explanation(source, len(cells), fits, _sooner(cells), speeds, fitting.per)


class _Solved(NamedTuple):
    bic: float
    aicc: float
    spread: float
    parameters: int
    expansion: dict[str, float]
    terms: Numbers
    left: Numbers


class _Fitting:
    """The durations as arrays: an index of group (data and condition), cipher and size for each cell."""

    def __init__(self, cells: Sequence[Duration], source: str, speeds: Mapping[str, float] | None) -> None:
        self.cells = cells
        self.names = labels(cells)
        self.source = source
        self.ciphers = sorted({cell.cipher for cell in cells} - {PLAIN})
        groups = sorted({(cell.data, cell.condition) for cell in cells})
        self.groups = len(groups)
        self.group = np.array([groups.index((cell.data, cell.condition)) for cell in cells])
        self.cipher = np.array([self.ciphers.index(cell.cipher) if cell.cipher != PLAIN else -1 for cell in cells])
        self.log_T = np.log([cell.duration_s for cell in cells])
        self.is_cipher = (self.cipher >= 0).astype(np.float64)
        self.known = all(cell.size_B for cell in cells)
        self.per = "MB" if self.known else "second of the plain transfer under the fastest condition"
        self.size = self._sizes()
        self.at_speed = self._at_speed(speeds)

    def fit(self, hypothesis: Hypothesis) -> _Solved:
        if hypothesis.expansion is not None:
            chosen = dict.fromkeys(self.ciphers, hypothesis.expansion)
            return self._solve(hypothesis, chosen)
        # Each cipher's encoding is tried in turn, the others held, until none gets better.
        best = self._solve(hypothesis, {cipher: self._nearest_expansion(cipher) for cipher in self.ciphers})
        improved = True
        while improved:
            improved = False
            for cipher in self.ciphers:
                others = (times for times in EXPANSIONS if times != best.expansion[cipher])
                for times in others:
                    solved = self._solve(hypothesis, best.expansion | {cipher: times})
                    if solved.bic < best.bic - 1e-9:
                        best, improved = solved, True
        return best

    def described(
        self, hypothesis: Hypothesis, solved: _Solved, *, behind: float, weight: float, far: float
    ) -> HypothesisFit:
        terms = solved.terms
        fitted = hypothesis.encryption == "fitted"
        unexplained = {
            name: 100 * math.expm1(left)
            for name, left in sorted(zip(self.names, solved.left, strict=True), key=lambda pair: -abs(pair[1]))
            if abs(left) > far
        }
        return HypothesisFit(
            name=hypothesis.name,
            parameters=solved.parameters,
            expansion=solved.expansion,
            encryption=dict(zip(self.ciphers, terms.tolist(), strict=True)) if fitted else {},
            share=float(terms[0]) if hypothesis.encryption == "given" else None,
            host=float(terms[0]) if hypothesis.host else None,
            constant_s=float(terms[0]) if hypothesis.constant else None,
            spread_percent=100 * math.expm1(solved.spread),
            worst_percent=100 * math.expm1(float(np.max(np.abs(solved.left)))),
            bic=solved.bic,
            aicc=solved.aicc,
            behind=behind,
            weight=weight,
            unexplained=unexplained,
        )

    def _solve(self, hypothesis: Hypothesis, expansion: dict[str, float]) -> _Solved:
        times = np.array([1.0 if c < 0 else expansion[self.ciphers[c]] for c in self.cipher])
        design = self._design(hypothesis, times)
        of_terms = design.shape[1]
        start = self._plain_by_group(times)

        def left(unknown: Numbers) -> Numbers:
            plain = np.exp(unknown[: self.groups])[self.group]
            return np.asarray(np.log(times * plain + design @ unknown[self.groups :]) - self.log_T)

        unknown = self._least(left, times, design, start) if of_terms else start
        residuals = -left(unknown)
        choices = len(self.ciphers) if hypothesis.expansion is None else 0
        return self._judged(residuals, self.groups + of_terms + choices + 1, expansion, unknown[self.groups :])

    def _least(self, left: Callable[[Numbers], Numbers], times: Numbers, design: Numbers, start: Numbers) -> Numbers:
        """Least squares of logarithms, terms at least zero, begun where a straight line through the durations lies."""
        from scipy.optimize import least_squares

        plain = np.exp(start)[self.group]
        over = np.exp(self.log_T) - times * plain
        guess, *_ = np.linalg.lstsq(design, over, rcond=None)
        terms = np.maximum(guess, 1e-6)

        def slopes(unknown: Numbers) -> Numbers:
            plain = times * np.exp(unknown[: self.groups])[self.group]
            whole = plain + design @ unknown[self.groups :]
            of_groups = np.zeros((len(whole), self.groups))
            of_groups[np.arange(len(whole)), self.group] = plain / whole
            return np.hstack([of_groups, design / whole[:, None]])

        low = np.concatenate([np.full(self.groups, -np.inf), np.zeros(len(terms))])
        solved = least_squares(left, np.concatenate([start, terms]), jac=slopes, bounds=(low, np.inf))
        return np.asarray(solved.x)

    def _design(self, hypothesis: Hypothesis, times: Numbers) -> Numbers:
        """Columns of the additive terms, one row a cell; zero for plain cells."""
        columns: list[Numbers] = []
        if hypothesis.encryption == "fitted":
            columns += [self.size * (self.cipher == place) for place in range(len(self.ciphers))]
        if hypothesis.encryption == "given":
            columns.append(self.at_speed)
        if hypothesis.host:
            columns.append(self.size * times * self.is_cipher)
        if hypothesis.constant:
            columns.append(self.is_cipher)
        return np.column_stack(columns) if columns else np.empty((len(self.cells), 0))

    def _plain_by_group(self, times: Numbers) -> Numbers:
        """Logarithm of each group's plain time where there are no additive terms: exact then, a start else."""
        return np.asarray(
            np.bincount(self.group, self.log_T - np.log(times), self.groups)
            / np.bincount(self.group, minlength=self.groups)
        )

    def _nearest_expansion(self, cipher: str) -> float:
        plain = np.log(self._means())
        mine = self.cipher == self.ciphers.index(cipher)
        ratio = float(np.median((self.log_T - plain[self.group])[mine]))
        return min(EXPANSIONS, key=lambda times: abs(math.log(times) - ratio))

    def _means(self) -> Numbers:
        """The plain durations by group; of several runs their geometric mean."""
        plain = self.cipher < 0
        logs = np.bincount(self.group[plain], self.log_T[plain], self.groups)
        return np.asarray(np.exp(logs / np.bincount(self.group[plain], minlength=self.groups)))

    def _sizes(self) -> Numbers:
        if self.known:
            return np.array([(cell.size_B or 0.0) / 1e6 for cell in self.cells])
        # Packets are as many as bytes: the plain time under one condition stands for them.
        fastest: defaultdict[str, float] = defaultdict(lambda: math.inf)
        for cell, mean in zip(self.cells, self._means()[self.group], strict=True):
            fastest[cell.data] = min(fastest[cell.data], float(mean))
        return np.array([fastest[cell.data] for cell in self.cells])

    def _at_speed(self, speeds: Mapping[str, float] | None) -> Numbers:
        if speeds is None:
            return np.zeros(len(self.cells))
        if not self.known:
            raise InputError(
                f"{self.source}: speeds of ciphers need the bytes of the data", hint="add a column size_B, or no speeds"
            )
        missing = [cipher for cipher in self.ciphers if cipher not in speeds]
        if missing:
            raise InputError(
                f"{self.source}: there is no speed of {missing[0]}", hint=f"speeds are of {', '.join(speeds)}"
            )
        return np.array([0.0 if c.cipher == PLAIN else (c.size_B or 0.0) / speeds[c.cipher] for c in self.cells])

    def _judged(self, left: Numbers, parameters: int, expansion: dict[str, float], terms: Numbers) -> _Solved:
        cells = len(left)
        spare = cells - parameters - 1
        if spare < 1:
            raise InputError(
                f"{self.source}: {cells} durations are too few for {parameters} unknowns",
                hint="more conditions, more ciphers or repeated runs",
            )
        # Durations of four digits never agree better than this; without it a perfect fit would have no likelihood.
        variance = max(float(left @ left) / cells, 1e-10)
        deviance = cells * math.log(variance)
        bic = deviance + parameters * math.log(cells)
        aicc = deviance + 2 * parameters + 2 * parameters * (parameters + 1) / spare
        return _Solved(bic, aicc, math.sqrt(variance), parameters, expansion, terms, left)


def _sooner(cells: Iterable[Duration]) -> dict[str, float]:
    cells = list(cells)
    plain: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for cell in cells:
        if cell.cipher == PLAIN:
            plain[cell.data, cell.condition].append(cell.duration_s)
    ratios = {
        name: cell.duration_s / (sum(alike) / len(alike))
        for name, cell in zip(labels(cells), cells, strict=True)
        if cell.cipher != PLAIN and (alike := plain[cell.data, cell.condition])
    }
    return dict(sorted(((name, ratio) for name, ratio in ratios.items() if ratio < 1), key=lambda pair: pair[1]))


PAPER = "elminaam-wlan"
SCENARIOS = {
    "adhoc_open": "adhoc-open",
    "adhoc_wep": "adhoc-wep",
    "adhoc_poor": "adhoc-poor",
    "bss_tkip": "bss-tkip",
    "bss_open": "bss-open",
}
"""The tables' conditions, and the scenarios that stand for them."""
LAYERS: dict[str, dict[str, Any]] = {
    "802.11b, long preamble": {"phy": "b", "rate_Mb_s": 11},
    "802.11b, short preamble": {"phy": "b", "rate_Mb_s": 11, "preamble": "short"},
    "802.11b, 5.5 Mb/s": {"phy": "b", "rate_Mb_s": 5.5, "air.rate_control": "fixed"},
    "802.11b, 2 Mb/s": {"phy": "b", "rate_Mb_s": 2, "air.rate_control": "fixed"},
    "802.11g alone": {"phy": "g", "rate_Mb_s": 54},
    "802.11g beside 802.11b": {"phy": "g", "rate_Mb_s": 54, "basic_rates_Mb_s": [1, 2, 5.5, 11], "air.slot_us": 20},
    "802.11a": {"phy": "a", "rate_Mb_s": 54},
}
"""The physical layers before 802.11n. Beside 802.11b stations 802.11g has long slots; CTS to itself is not counted."""
# What fills an Ethernet packet, what many programs write at once, and TCP's least by RFC 9293, 3.7.1.
PACKETS_B: tuple[int | None, ...] = (None, 1_024, 536)
TRANSPORTS = ("tcp", "udp")
DATA_B = 2_000_000


# The tables print hundredths of a second.
ROUNDING_S = 0.005
# Ratios are printed, and compared, to the thousandth.
DECIMALS = 3
# A transfer that loses more has no duration to compare.
WHOLE = 0.99
POOR = "poor / good"
KINDS = ("total", "marginal")


class ConditionRatio(NamedTuple):
    """A ratio of two conditions."""

    name: str
    over: str
    under: str
    meaning: str


RATIOS = (
    ConditionRatio("BSS / ad hoc", "bss_open", "adhoc_open", "through an access point against ad hoc, open system"),
    ConditionRatio("WEP / open", "adhoc_wep", "adhoc_open", "WEP against open system, ad hoc"),
    ConditionRatio("TKIP / open", "bss_tkip", "bss_open", "TKIP against open system, through an access point"),
    ConditionRatio(POOR, "adhoc_poor", "adhoc_wep", "a poor signal against a good one, ad hoc with WEP"),
)


class Layer(NamedTuple):
    """One combination of the unnamed: physical layer, transport, packets; its answers by condition."""

    phy: str
    transport: str
    packet_B: int | None
    answers: dict[str, LinkAnswer]

    @property
    def name(self) -> str:
        """In words."""
        packets = "full packets" if self.packet_B is None else f"packets of {self.packet_B} octets"
        return f"{self.phy}, {self.transport.upper()}, {packets}"

    def seconds(self, condition: str) -> float | None:
        """How long the transfer takes: the median over the positions of a poor signal; None where it loses too much."""
        answer = self.answers[condition]
        if not answer.positions:
            return answer.duration_ns * 1e-9
        here = answer.positions[0]
        return here.duration_s.median if here.delivered.median >= WHOLE else None

    def ratio(self, ratio: ConditionRatio) -> float | None:
        """Of two conditions; None where one has no duration."""
        over, under = self.seconds(ratio.over), self.seconds(ratio.under)
        return over / under if over and under else None


def requested(radio: str | None) -> list[tuple[str, str, int | None, str, Named[Scenario]]]:
    """Every scenario to ask about: layer, transport, packets, condition.

    * `radio`: the card of all nodes, None for durations alone.
    """
    found = []
    for (phy, changes), transport, packet_B in product(LAYERS.items(), TRANSPORTS, PACKETS_B):
        for condition, name in SCENARIOS.items():
            changed: dict[str, Any] = {"payload.data_B": DATA_B, "transport": transport, "radio": radio, **changes}
            if packet_B is not None:
                changed["payload.payload_B"] = packet_B
            if condition == "adhoc_poor":
                changed["signal.positions"] = 20
            found.append((phy, transport, packet_B, condition, scenario.load(name, changed)))
    return found


def layers(
    keys: Sequence[tuple[str, str, int | None, str, Named[Scenario]]], answers: Iterable[LinkAnswer]
) -> list[Layer]:
    """The answers to `requested`, put together by layer."""
    by: dict[tuple[str, str, int | None], dict[str, LinkAnswer]] = {}
    for (phy, transport, packet_B, condition, _), answer in zip(keys, answers, strict=True):
        by.setdefault((phy, transport, packet_B), {})[condition] = answer
    return [Layer(*key, by_condition) for key, by_condition in by.items()]


def _pairs(cells: Sequence[Duration], ratio: ConditionRatio, cipher: str) -> list[tuple[float, float]]:
    """Of each kind of data the seconds of a ratio's two conditions."""
    seconds = {(cell.data, cell.condition): cell.duration_s for cell in cells if cell.cipher == cipher}
    return [(seconds[data, ratio.over], seconds[data, ratio.under]) for data in dict.fromkeys(c.data for c in cells)]


def printed_ratio(cells: Sequence[Duration], ratio: ConditionRatio, cipher: str = PLAIN) -> tuple[float, float]:
    """A ratio of the tables: its least and its greatest over the kinds of data."""
    found = [over / under for over, under in _pairs(cells, ratio, cipher)]
    return min(found), max(found)


def rounding(cells: Sequence[Duration], ratio: ConditionRatio, cipher: str = PLAIN) -> float:
    """How far a ratio of the tables may lie from that of the durations before they were rounded, at most."""
    pairs = _pairs(cells, ratio, cipher)
    return max((over + ROUNDING_S) / (under - ROUNDING_S) - over / under for over, under in pairs)


def ratio_rows(found: Sequence[Layer], cells: Sequence[Duration]) -> list[dict[str, Any]]:
    """The paper's ratios of plaintext, then a row a layer; `fits` names those ratios that it gives."""
    first: dict[str, Any] = {"physical_layer": "the paper, plaintext", "transport": None, "packet_B": None}
    for ratio in RATIOS:
        low, high = printed_ratio(cells, ratio)
        first[ratio.name] = f"{low:.{DECIMALS}f} to {high:.{DECIMALS}f}, each to {rounding(cells, ratio):.4f}"
    rows = [first | {"fits": None}]
    for layer in found:
        row: dict[str, Any] = {"physical_layer": layer.phy, "transport": layer.transport}
        row["packet_B"] = "full" if layer.packet_B is None else str(layer.packet_B)
        row |= {ratio.name: f"{value:.{DECIMALS}f}" if (value := layer.ratio(ratio)) else None for ratio in RATIOS}
        rows.append(row | {"fits": ", ".join(r.name for r in RATIOS if gives(layer, r, cells)) or None})
    return rows


def gives(layer: Layer, ratio: ConditionRatio, cells: Sequence[Duration]) -> bool:
    """Whether a layer's ratio, as it is printed, lies where the paper's do, as far as its durations are printed."""
    low, high = printed_ratio(cells, ratio)
    apart = rounding(cells, ratio)
    value = layer.ratio(ratio)
    return value is not None and low - apart <= round(value, DECIMALS) <= high + apart


def table_rows(layer: Layer, cells: Sequence[Duration]) -> list[dict[str, Any]]:
    """The plaintext of the three tables as one layer would give it.

    The data's size is the one that makes the plain ad hoc transfer as long as the paper's; all else follows.
    """
    plain = [cell for cell in cells if cell.cipher == PLAIN]
    measured_s = {cell.data: cell.duration_s for cell in plain if cell.condition == "adhoc_open"}
    rows = []
    for cell in plain:
        scale = measured_s[cell.data] / (layer.seconds("adhoc_open") or 1.0)
        answer = layer.answers[cell.condition]
        layer_s = layer.seconds(cell.condition)
        seconds = scale * layer_s if layer_s else None
        row: dict[str, Any] = {"data": cell.data, "condition": cell.condition, "data_MB": scale * DATA_B / 1e6}
        off_percent = round(100 * (seconds / cell.duration_s - 1), 6) + 0.0 if seconds else None
        row |= {"paper_s": cell.duration_s, "air_s": seconds, "off_percent": off_percent}
        spread = answer.positions[0].duration_s if answer.positions else None
        row |= {"air_low_s": scale * spread.low if spread else None}
        row |= {"air_high_s": scale * spread.high if spread else None}
        # Of a poor signal the joules are those of the median position.
        row |= {f"{key}_J": None if (J := getattr(answer, f"{key}_J")) is None else scale * J for key in KINDS}
        rows.append(row)
    return rows


def nearest(found: Sequence[Layer], cells: Sequence[Duration]) -> Layer:
    """The layer whose ratios lie nearest to the paper's, but for the one that a position chooses."""

    def off(layer: Layer) -> float:
        pairs = ((layer.ratio(ratio), *printed_ratio(cells, ratio)) for ratio in RATIOS if ratio.name != POOR)
        return sum(math.log((value or math.inf) / math.sqrt(low * high)) ** 2 for value, low, high in pairs)

    return min(found, key=off)


def missing_us(layer: Layer, ratio: ConditionRatio, wanted: float) -> float:
    """Microseconds a packet, not overlapped with the air, that would make a layer's ratio the one that is wanted."""
    over, under = layer.answers[ratio.over], layer.answers[ratio.under]
    return (wanted * under.duration_ns - over.duration_ns) / over.ledger.requested / 1e3


def sentences(found: Sequence[Layer], cells: Sequence[Duration]) -> list[str]:
    """Which layer gives which of the paper's ratios, and which of them nothing on the air gives: a sentence each."""
    sentences = []
    for ratio in RATIOS:
        low, high = printed_ratio(cells, ratio)
        fitting = [layer.name for layer in found if gives(layer, ratio, cells)]
        here = sorted(value for layer in found if (value := layer.ratio(ratio)))
        words = (
            f"{ratio.name}, {ratio.meaning}: the paper has {low:.{DECIMALS}f} to {high:.{DECIMALS}f}, by its rounding "
        )
        words += f"each to {rounding(cells, ratio):.4f}, the air {here[0]:.{DECIMALS}f} to {here[-1]:.{DECIMALS}f}"
        if ratio.name == POOR:
            end = "the position chooses it, which the paper doesn't give; "
            end += f"{len(fitting)} of {len(found)} layers give it from ours"
        elif fitting:
            end = f"{len(fitting)} of {len(found)} layers give it ({_few(fitting)})"
        else:
            near = nearest(found, cells)
            end = "no mechanism of the air gives it; work of a host or an access point could, "
            end += f"of {missing_us(near, ratio, math.sqrt(low * high)):.0f} us a packet if it was {near.name}"
        sentences.append(f"{words}: {end}.")
    fixed = [ratio for ratio in RATIOS if ratio.name != POOR]
    given = {layer.name: sum(gives(layer, ratio, cells) for ratio in fixed) for layer in found}
    most = max(given.values())
    both = [name for name, number in given.items() if number == most]
    sentences.append(f"No layer gives all of the first {len(fixed)}: the most is {most}, by {_few(both)}.")
    return [*sentences, *_of_ciphertext(cells)]


def _few(names: Sequence[str]) -> str:
    return "; ".join(names[:4]) + (f"; and {len(names) - 4} more" if len(names) > 4 else "")


def _of_ciphertext(cells: Sequence[Duration]) -> list[str]:
    plain = {(cell.data, cell.condition): cell.duration_s for cell in cells if cell.cipher == PLAIN}
    ratios = {cell.name: cell.duration_s / plain[cell.data, cell.condition] for cell in cells if cell.cipher != PLAIN}
    # Who walked a step in between explains what stands under a poor signal.
    good = [cell.name for cell in cells if cell.cipher != PLAIN and cell.condition != "adhoc_poor"]
    most, least = max(good, key=ratios.__getitem__), min(ratios, key=ratios.__getitem__)
    sooner = sum(ratio < 1 for ratio in ratios.values())
    grew = "1.00 raw, 1.33 as base64, 1.78 as base64 twice, 2.00 as hexadecimal"
    return [
        f"Ciphertext / plaintext: the paper has up to {ratios[most]:.2f} under a good signal ({most}); 802.11 carries "
        f"octets alike, so that no mechanism of the air gives more than the octets grew: {grew}.",
        f"Ciphertext sooner than plaintext: {sooner} of {len(ratios)} durations, down to {ratios[least]:.2f} "
        f"({least}); no mechanism of the air, and none of a cipher, gives that: it is the spread between runs, which "
        "the paper does not print (`wattlock explain elminaam-wlan` ranks the hypotheses).",
        "802.11b+ (22 Mb/s by PBCC, of one maker) is not among the layers.",
    ]
