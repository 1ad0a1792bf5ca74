"""Framings and the other end: what a listener with the key alone can open, and what is refused where nobody answers."""

from typing import Any

import pytest

from support.advice import ask
from wattlock.advise import load, prose, rank
from wattlock.advise.choices import framings
from wattlock.errors import InputError

ADVERTISED: dict[str, Any] = {"flow": [{"message": "8B", "every": "1s"}], "radio": {"card": "nrf52840-ble"}}
NONCE_B = 12
FIXED = bytes(range(NONCE_B))


def nonce(number: int, counted_B: int) -> bytes:
    """A sender's nonce: its fixed part and a counter behind it."""
    return FIXED[: NONCE_B - counted_B] + number.to_bytes(counted_B, "big")


def sent(name: str, number: int) -> bytes:
    """What a framing sends of the nonce of a message, by its numbers in the data."""
    frame = framings()[name]
    if frame.nonce == "full":
        return nonce(number, 8)
    return (
        nonce(number, 8)[-frame.nonce_B :]
        if frame.counter_log2 is None
        else nonce(number, frame.counter_log2 // 8)[-4:]
    )


def rebuilt(front: bytes) -> bytes:
    """What a listener that has just joined makes of it: it knows the key and the fixed part, and no number."""
    return FIXED[: NONCE_B - len(front)] + front


@pytest.mark.parametrize("number", [0, 1, 255, 256, 70_000, 2**32 - 1])
def test_a_listener_that_joins_late_rebuilds_the_nonce_of_any_framing_that_says_so(number: int) -> None:
    alone = [name for name, frame in framings().items() if frame.opens_alone]
    assert alone == ["full-nonce", "broadcast"]
    for name in alone:
        counted_B = 8 if framings()[name].nonce == "full" else 4
        assert rebuilt(sent(name, number)) == nonce(number, counted_B)


def test_one_octet_of_a_counter_does_not_tell_a_late_listener_the_nonce() -> None:
    assert not framings()["implicit-nonce"].opens_alone
    assert sent("implicit-nonce", 3) == sent("implicit-nonce", 259)
    assert rebuilt(sent("implicit-nonce", 259)) != nonce(259, 8)


def test_an_advertisement_is_sent_in_framings_that_open_alone_and_others_are_excluded_by_name() -> None:
    described = ask({"radio.link.advertising": True}, **ADVERTISED)
    assert {choice.framing for choice in described.choices} == {"full-nonce", "broadcast"}
    assert any("choices.framings" in one for one in described.inputs.assumed)
    with pytest.raises(InputError, match="excluded by framing") as refusal:
        ask({"radio.link.advertising": True, "choices.framings": ["implicit-nonce"]}, **ADVERTISED)
    assert "joins late" in refusal.value.hint
    both = ask(
        {"radio.link.advertising": True, "choices.framings": ["implicit-nonce", "broadcast", "dtls13"]}, **ADVERTISED
    )
    assert {choice.framing for choice in both.choices} == {"broadcast"}
    reasons = {reason.about for one in both.excluded for reason in one.reasons if one.choice.framing == "dtls13"}
    assert "framing" in reasons
    connected = ask(**ADVERTISED)
    assert "implicit-nonce" in {choice.framing for choice in connected.choices}
    assert not rank.by_answer(connected.choices[0], answered=True)


def test_what_a_framing_needs_of_the_other_end_stands_beside_it() -> None:
    said = dict(prose.framing(ask(**ADVERTISED)))
    assert "at most 127 lost in a row" in said["implicit-nonce"]
    assert "a way back to the device" in said["dtls13"]
    assert "each message opens by itself" in said["full-nonce"]


def test_a_counter_that_is_sent_whole_ends_with_its_bits() -> None:
    described = ask(
        {"choices.framings": ["broadcast", "implicit-nonce"], "choices.ciphers": ["ascon-aead128"]}, **ADVERTISED
    )
    limits = {choice.framing: choice.messages_a_key(20) for choice in described.choices}
    assert limits["broadcast"] == 2.0**32
    assert limits["implicit-nonce"] > limits["broadcast"]


def test_the_beacon_of_the_scenarios_can_be_opened_by_any_listener() -> None:
    from wattlock.advise import advise

    described = advise(load("beacon"), allow_assumed=True)
    assert all(choice.frame.opens_alone for choice in described.choices)
