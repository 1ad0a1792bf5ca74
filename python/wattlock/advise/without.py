"""The same traffic without any cryptography of the application: a reference for the days, never a choice."""

from collections.abc import Iterable

from wattlock.advise.choices import Choice
from wattlock.advise.history import free
from wattlock.advise.question import Question

NAME = "no cryptography"


def bare(like: Choice) -> Choice:
    """A choice without cipher, nonce and tag; encoding, messages in a packet and the link's own protection stay."""
    row = like.row.copy()
    row.update({"id": "null", "mode": "stream", "block_bits": 8, "iv_B": 0, "tag_bits": 0})
    return like._replace(row=row, cost=free("null"), tag_bits=0, framing="full-nonce", resumed=False)


def bares(likes: Iterable[Choice]) -> list[Choice]:
    """Those that such choices have, each once."""
    first = {(one.encoding, one.aggregate, one.protection): one for one in reversed(list(likes))}
    return [bare(one) for one in first.values()]


def without_sessions(question: Question) -> Question:
    """The question as a device asks it that exchanges no keys."""
    return question.model_copy(update={"session": None})
