"""What following the papers' advice would save today, and why it is not done: broken and legacy ciphers as history."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np

from wattlock.advise import days
from wattlock.advise.choices import Choice
from wattlock.advise.costs import Cost
from wattlock.advise.days import DAY_s, MonteCarlo
from wattlock.advise.inputs import Inputs
from wattlock.advise.question import Question
from wattlock.advise.sending import Packet, Spent
from wattlock.energy.battery import Array
from wattlock.papers.record import Claim, claims, sources
from wattlock.security import Cited, status_of
from wattlock.study.cases import CatalogueRow

FREE = "none: taken as free"
# Which claim of the papers is advice for a cipher.
ADVICE = {
    "blowfish128-cbc": "advice-blowfish-rc6",
    "rc6-20-128-cbc": "advice-blowfish-rc6",
    "rc4-128": "advice-rc4-100",
}


class Past(NamedTuple):
    """One cipher of the papers' advice, without authentication, as the papers sent it.

    * `saves_percent`: of days against the best sound choice, median; low and high are 95 %. `at_most`: the cipher has
      no cost on this device and was taken as free.
    """

    cipher: str
    advice: str
    days: float
    saves_percent: float
    saves_low_percent: float
    saves_high_percent: float
    at_most: bool
    not_done: str


class History:
    """The papers' advice for a question."""

    def __init__(self, question: Question, of: Inputs) -> None:
        self.question = question
        self.of = of
        largest = max(size_B for flow in question.flow for size_B, _ in flow.rates)
        known = {claim.id: claim for claim in claims()}
        self.advice = {name: known[claim] for name, claim in ADVICE.items()}
        self.ids = [name for name, claim in self.advice.items() if largest >= claim.expect.get("from_B", 0)]

    def choices(self, rows: Mapping[str, CatalogueRow], like: Sequence[Choice]) -> list[Choice]:
        """The ciphers as choices: sent bare with its whole IV, on the link of the first choice."""
        return [self._choice(rows[name], like[0]) for name in self.ids if name in rows]

    def described(
        self, old: Sequence[Choice], spent: Mapping[Packet, Spent], monte_carlo: MonteCarlo, best_s: Array
    ) -> list[Past]:
        """What each would save against the best sound choice."""
        loads = [days.load(self.question, one, self.of.sender, self.of.draws, spent) for one in old]
        if not loads:
            return []
        life_s = days.seconds(loads, monte_carlo, self.of.battery)
        found = []
        for choice, life in zip(old, life_s, strict=True):
            saves = 100 * (life / best_s - 1)
            low, high = np.quantile(saves, (0.025, 0.975))
            statement = next(one for one in choice.security.statements if one.about == "status")
            found.append(
                Past(
                    choice.cipher,
                    _advice(self.advice[choice.cipher]),
                    float(np.median(life)) / DAY_s,
                    float(np.median(saves)),
                    float(low),
                    float(high),
                    choice.provider == FREE,
                    _not_done(choice, statement),
                )
            )
        return found

    def _choice(self, row: CatalogueRow, like: Choice) -> Choice:
        name = row["id"]
        # Any of its modes stands for it where the run has no other: CBC and CTR cost alike by the byte.
        family = name.rpartition("-")[0] if row["mode"] in {"cbc", "ctr"} else name
        known = [cost for cost in self.of.costs if fnmatchcase(cost.cipher, f"{family}*")]
        cost = min(known, key=lambda one: one.of("seal_J", 1024)) if known else free(name)
        cost = cost._replace(cipher=name)
        return Choice(row, status_of(row), cost, 0, "full-nonce", "raw", 1, like.protection, resumed=False)


def _advice(claim: Claim) -> str:
    by = [f"{one.authors} ({one.year})" for one in sources() if one.id in claim.source]
    return f"The advice of {' and '.join(by)} is to {claim.says}"


def _not_done(choice: Choice, statement: Cited) -> str:
    standing = f"{choice.cipher} is {choice.security.status}: {statement.says} ({statement.source})"
    joined = "but" if choice.security.status in {"approved", "acceptable"} else "and"
    return f"{standing}; {joined} sent as the papers sent it, nothing notices a changed message"


def free(cipher: str) -> Cost:
    """A cost of nothing, as a bound for what is not known."""
    nothing = [0.0, 0.0]
    return Cost(cipher, FREE, [0, 1], nothing, nothing, nothing, nothing, 0.0, False, "modelled", FREE, "")
