"""The designs that are compared and the radios that carry them: `data/framings/designs.toml`, with its sources."""

from functools import cache
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from wattlock.definitions import Table, Text, shipped
from wattlock.link.lowpower.lorawan import Lorawan

Whole = Annotated[int, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]


class RadioOf(Table):
    """One radio of the comparison; the file's head says what each key means.

    * `protected`: its standard's keys with its own protection, where that can be left out.
    """

    title: Text
    card: Text
    tx_power_dBm: float | None = None
    link: dict[str, Any] | None = None
    protected: dict[str, Any] | None = None
    own_bits: Count
    hint_B: Whole

    @property
    def is_lora(self) -> bool:
        """Whether a frame of LoRa can be sent without LoRaWAN's."""
        return self.lorawan is not None

    @property
    def lorawan(self) -> Lorawan | None:
        """Its keys of LoRaWAN."""
        if self.link is None or self.link["standard"] != "lorawan":
            return None
        return Lorawan(**self.link)


class Design(Table):
    """One design; the file's head says what each key means."""

    title: Text
    source: Text
    own: bool = False
    header_B: Whole = 0
    inner_B: Whole = 0
    block_B: Count = 1
    hinted: bool = False
    bare_hint_B: Whole | None = None
    cipher: Text | None = None
    tag_B: Whole = 0
    each: Count = 1
    marks: list[Whole] = Field(default=[0])
    rulers: Annotated[int, Field(ge=1, le=9)] | None = None
    bits: Whole = 0
    cycle: bool = False
    reports: Literal["report", "polled", "acknowledged"] = "report"
    flights_B: list[Count] = Field(default_factory=list)
    flights_source: str = ""
    session_s: Annotated[float, Field(gt=0)] | None = None
    session_source: str = ""
    state_B: Whole | None = None
    state: str = ""

    @property
    def bits_at_release(self) -> int:
        """Bits of authenticity that every message has when it arrives."""
        return 0 if self.each > 1 else self.bits

    def over(self, radio: RadioOf) -> Self:
        """The design on a radio: the radio's own protection has the bits of that."""
        return self.model_copy(update={"bits": radio.own_bits}) if self.own else self

    def hint_B(self, radio: RadioOf) -> int:
        """Whole that tell the receiver counter and kind, on a radio."""
        if self.bare_hint_B is not None:
            return self.bare_hint_B
        return radio.hint_B if self.hinted else 0

    def sealed_B(self, payload_B: int, radio: RadioOf, *, tagged: bool = True) -> int:
        """Whole of a message as it is handed to the radio; `tagged`: whether it carries the tag."""
        if self.own:
            return payload_B
        return self.hint_B(radio) + self.header_B + self.inside_B(payload_B) + (self.tag_B if tagged else 0)

    def inside_B(self, payload_B: int) -> int:
        """Whole that are encrypted."""
        return -(-(payload_B + self.inner_B) // self.block_B) * self.block_B

    def is_for(self, radio: RadioOf) -> bool:
        """Whether a radio can carry it."""
        if self.reports != "report":
            return radio.link is not None and radio.link["standard"] == "802.15.4"
        return self.bare_hint_B is None or radio.is_lora


class Tally(Table):
    """tally's frames beside its records, octets; `report_every`: messages from one report to the next."""

    report_every: Count
    report_B: Count
    rescue_B: Count
    request_B: Count


class File(Table):
    """The whole file."""

    radio: dict[str, RadioOf]
    design: dict[str, Design]
    tally: Tally


@cache
def compared() -> File:
    """Radios, designs and tally's numbers."""
    return shipped("framings/designs.toml", File)
