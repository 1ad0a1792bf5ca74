"""What a sealed packet carries beside its ciphertext: `data/framings/session.toml`, with its sources."""

from functools import cache
from typing import Annotated, Literal

from pydantic import Field

from wattlock.definitions import Table, Text, shipped_text, validated
from wattlock.definitions.toml import tables_of
from wattlock.security.rules import Globs, Octets, matches


class Framing(Table):
    """What a sealed packet carries beside its ciphertext and its tag; the file's head says what each key means."""

    title: Text
    source: Text
    header_B: Octets
    nonce: Literal["full", "implicit", "record"]
    nonce_B: Octets = 0
    record: list[Text] = Field(default_factory=list)
    inner_B: Octets = 0
    block_B: Annotated[int, Field(ge=1)] = 1
    ciphers: Globs
    state: Text
    downlink: bool
    lost_most: Annotated[int, Field(ge=1)] | None = None
    amortised_bits: Annotated[int, Field(ge=32)] | None = None
    counter_log2: Annotated[int, Field(ge=1)] | None = None

    @property
    def opens_alone(self) -> bool:
        """Whether any listener with the key opens any message, whenever it joins and whatever was lost."""
        return self.lost_most is None and not self.downlink

    @property
    def needs(self) -> str:
        """What it needs of the other end, in a sentence."""
        lost = "" if self.lost_most is None else f"; at most {self.lost_most} lost in a row"
        return f"the other end keeps {self.state}{lost}{'; it needs a way back to the device' * self.downlink}"

    def carries(self, cipher: str) -> bool:
        """Whether it is defined for a cipher."""
        return matches(cipher, self.ciphers)

    def in_front_B(self, cipher: str, iv_B: int) -> int:
        """Octets in front of the ciphertext."""
        if self.nonce == "full":
            return self.header_B + iv_B
        sent = self.nonce == "implicit" or matches(cipher, self.record)
        return self.header_B + (self.nonce_B if sent else 0)

    def inside_B(self, plain_B: int) -> int:
        """Octets that are encrypted for `plain_B` of plaintext."""
        return -(-(plain_B + self.inner_B) // self.block_B) * self.block_B


@cache
def framings() -> dict[str, Framing]:
    """The framings by name."""
    name = "framings/session.toml"
    tables = tables_of(shipped_text(name), name)
    return {framing: validated(Framing, table, f"{name}: {framing}") for framing, table in tables.items()}
