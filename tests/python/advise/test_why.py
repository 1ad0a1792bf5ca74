"""Why not another: the tag's length in the answer, and where a cipher that somebody names stands."""

import json
import re

import pytest

from support.advice import ask
from wattlock import cli
from wattlock.advise import Advice, decision
from wattlock.errors import InputError, UsageError
from wattlock.targets import or_this_machine

ASK = ["advise", "--message", "64B", "--every", "1s", "--device", "nrf52840"]


@pytest.fixture(scope="module")
def answer() -> Advice:
    return ask()


def sentences(of: Advice, cipher: str) -> str:
    return " ".join(decision.why(of, cipher, or_this_machine(None)))


def test_a_short_tag_is_said_with_what_was_allowed_its_forgeries_and_what_a_longer_one_costs(answer: Advice) -> None:
    said = decision.tag(answer)
    assert said.startswith(
        "Tag: 64 bits or more are allowed (--set floor.tag=N); with 64 a forgery passes once in 2^64"
    )
    found = re.search(r"one of 128 costs 8 B a packet and ([\d.]+) % of the days\.$", said)
    assert found
    choices = {(one.cipher, one.tag_bits, one.framing): number for number, one in enumerate(answer.choices)}
    short, long = (choices[name, bits, "implicit-nonce"] for name, bits in (("aes256-ccm8", 64), ("aes256-ccm", 128)))
    share = 1 - float((answer.life_s[long] / answer.life_s[short]).mean())
    assert float(found[1]) == pytest.approx(100 * share, abs=0.1)


def test_a_whole_tag_is_said_with_what_the_shortest_allowed_one_saves() -> None:
    assert re.search(
        r"with 128 .*; one of (64|80) saves (8|6) B a packet",
        decision.tag(ask({"floor.tag": 80, "flow[0].every": "60s"})),
    )
    assert decision.tag(ask({"floor.tag": 128})).endswith("with 128 a forgery passes once in 2^128 tries.")


def test_the_screen_and_the_record_say_it_and_the_table_has_a_column_of_tags(
    answer: Advice, capsys: pytest.CaptureFixture[str]
) -> None:
    from wattlock.advise import record

    assert cli.answer(ASK) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert decision.tag(answer) in out
    assert "95 % tag" in out
    assert "; --why CIPHER." in out
    (reasons,) = (part for part in record.sections(answer, {}, "x") if part.title == "Reasons")
    assert decision.tag(answer) in reasons.sentences


def test_a_cipher_that_passes_is_placed_beside_what_is_decided(answer: Advice) -> None:
    said = sentences(answer, "AES-128-GCM")
    assert re.match(
        r"aes128-gcm passes: the best of its \d+ choices is .* rank 5\. What is decided lasts 4\.\d % longer", said
    )
    assert re.search(r"takes 98 B on the air \(decided: 94\)", said)
    tied = sentences(answer, "aes128-ccm8")
    assert "By days it can't be told from what is decided" in tied
    assert "256 bits, tag 64, approved beside 128 bits, tag 64, approved" in tied
    assert sentences(answer, answer.strongest.cipher).startswith(f"{answer.strongest.cipher} is what the answer says")


def test_a_cipher_that_does_not_pass_is_told_by_which_rule(answer: Advice) -> None:
    strict = ask({"floor.strength": 192})
    assert re.match(r"aes128-gcm is excluded by strength: 128 bits are less than 192", sentences(strict, "aes128-gcm"))
    assert "rc4-128 would be excluded whatever it costs: it is broken" in sentences(answer, "rc4-128")
    assert "a changed message is not noticed" in sentences(answer, "aes128-cbc")
    assert "The advice of" in sentences(answer, "blowfish128-cbc")


def test_a_cipher_without_a_figure_is_told_how_to_bring_one(answer: Advice) -> None:
    assert "wattlock advise --costs-template thumbv7em" in sentences(answer, "aes192-gcm")
    few = ask({"choices.ciphers": ["aes256-*"]})
    assert "choices.ciphers" in sentences(few, "aes128-gcm")
    assert decision.decided(few)
    with pytest.raises(InputError, match='no cipher "aes129-gcm"'):
        decision.why(answer, "aes129-gcm", or_this_machine(None))


def test_why_prints_sentences_or_json_and_no_table(answer: Advice, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer([*ASK, "--why", "aes128-gcm"]) == 0
    out = capsys.readouterr().out
    assert sentences(answer, "aes128-gcm") in " ".join(out.split())
    assert "rank  cipher" not in out
    assert cli.answer([*ASK, "--why", "aes128-gcm", "--format", "json"]) == 0
    assert " ".join(json.loads(capsys.readouterr().out)["why"]) == sentences(answer, "aes128-gcm")
    assert cli.answer([*ASK, "--why", "aes128-gcm", "--explain"]) == UsageError.exit_code
