"""Asking a link of the real probe: what the tests of the room `link` share."""

from functools import cache
from typing import Any

from support.tree import NET, PROBE
from wattlock.link import scenario
from wattlock.link.ledger import LinkAnswer
from wattlock.link.wifi import evaluate
from wattlock.study.cases import CatalogueRow
from wattlock.targets import probe
from wattlock.targets.local import Local
from wattlock.targets.toolbox import Toolbox

TOOLBOX = Toolbox(NET)
CIPHERS = [
    "aes128-cbc",
    "aes128-ecb",
    "aes128-ctr",
    "aes128-gcm",
    "aes128-ccm8",
    "3des-cbc",
    "rc4-128",
    "blowfish128-cbc",
]
CIPHERS += ["rc6-20-128-cbc", "chacha20-poly1305", "ascon-aead128", "xor", "rijndael256-192-cbc"]


@cache
def catalogue() -> dict[str, CatalogueRow]:
    return {name: of[0] for name, of in probe.catalogue(Local(PROBE), CIPHERS)[0].items()}


def described(name: str = "adhoc-open", changes: dict[str, Any] | None = None, **more: Any) -> LinkAnswer:
    """The answer to a scenario that comes with wattlock, with some of its keys changed."""
    return evaluate([scenario.load(name, changes)], TOOLBOX, catalogue(), **more)[0]


def time_of(answer: LinkAnswer, *what: str) -> int:
    return sum(line.time_ns for line in answer.ledger.lines if not what or line.what in what)


def octets_of(answer: LinkAnswer, *what: str) -> int:
    return sum(line.octets_B for line in answer.ledger.lines if not what or line.what in what)
