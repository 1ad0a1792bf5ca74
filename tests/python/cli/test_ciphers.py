"""What `wattlock ciphers` prints of one id: nothing that is untrue of it, and all that the catalogue knows."""

import json
from typing import Any

import pytest

from support.tree import PROBE, require_programs
from wattlock import cli


@pytest.fixture(autouse=True)
def program(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing program is a failure, not a reason to skip."""
    require_programs()
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.answer(["ciphers", *words]) == 0
    return capsys.readouterr().out


def as_json(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(shown(capsys, *words, "--format", "json"))
    return rows


@pytest.mark.parametrize(
    ("cipher", "operations", "message", "sizes_B"),
    [
        ("rsa2048-oaep", "generate, encrypt, decrypt", "ciphertext", (256, 256)),
        ("x25519", "generate, agree", "the other public key", (32, 32)),
        ("ed25519", "generate, sign, verify", "signature", (32, 64)),
        ("ml-kem-768", "generate, encapsulate, decapsulate", "ciphertext", (1184, 1088)),
    ],
)
def test_a_public_key_is_shown_with_its_operations_and_the_bytes_on_the_wire(
    capsys: pytest.CaptureFixture[str], cipher: str, operations: str, message: str, sizes_B: tuple[int, int]
) -> None:
    public_key_B, message_B = sizes_B
    (row,) = as_json(capsys, "--show", cipher)
    assert (", ".join(row["operations"]), row["public_key_B"], row["message_B"]) == (operations, *sizes_B)
    page = shown(capsys, "--show", cipher).splitlines()
    assert f"key         public key of {public_key_B} bytes" in page
    assert f"operations  {operations}" in page
    assert f"wire        public key {public_key_B} bytes, {message} {message_B} bytes" in page


@pytest.mark.parametrize("cipher", ["rsa3072-oaep", "ecdh-p256", "ecdsa-p256", "ml-dsa-65"])
def test_no_key_size_and_no_tag_is_told_of_a_public_key(capsys: pytest.CaptureFixture[str], cipher: str) -> None:
    (row,) = as_json(capsys, "--show", cipher)
    assert {row[name] for name in ("key_bits", "effective_bits", "tag_bits", "authenticated")} == {None}
    page = shown(capsys, "--show", cipher)
    assert "authenticated" not in page
    assert "effective" not in page


def test_the_list_sets_no_length_of_a_public_key_beside_key_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    rows = {row["id"]: row for row in as_json(capsys)}
    assert (rows["ml-kem-768"]["key_bits"], rows["ml-kem-768"]["public_key_B"]) == (None, 1184)
    assert (rows["aes192-cbc"]["key_bits"], rows["aes192-cbc"]["effective_bits"]) == (192, 192)


@pytest.mark.parametrize(
    ("cipher", "timing"),
    [
        ("aes128-ctr", "constant time"),
        ("rc6-20-128-cbc", "timing varies: data-dependent rotations"),
        ("blowfish128-cbc", "timing varies: table lookups"),
    ],
)
def test_how_the_time_of_a_code_varies_is_told_in_words(
    capsys: pytest.CaptureFixture[str], cipher: str, timing: str
) -> None:
    page = shown(capsys, "--show", cipher)
    assert timing in page
    assert not any(f"{what} time" in page for what in ("rotations", "lookups", "branches"))


def test_code_by_tables_beside_better_is_marked_as_history(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, "--show", "aes128-cbc").splitlines()
    at = next(number for number, line in enumerate(lines) if "wattlock-tables" in line)
    described = " ".join(line.strip() for line in lines[at : at + 2])
    assert "(tables, plain software, timing varies: table lookups, not constant-time: for history)" in described
    (hardware,) = [line for line in lines if " rustcrypto 0" in line]
    assert "history" not in hardware
    (row,) = as_json(capsys, "--show", "des-cbc")
    kinds = {provider["provider"]: provider["kind"] for provider in row["providers"]}
    assert (kinds["rustcrypto"], kinds["wattlock-tables"]) == ("plain software", "plain software")


def test_the_list_holds_what_is_asked_for_alone(capsys: pytest.CaptureFixture[str]) -> None:
    every = as_json(capsys)
    asked = as_json(capsys, "aes128*", "rc4-*", "--provider", "rustcrypto")
    assert {row["id"] for row in asked} == {
        row["id"]
        for row in every
        if row["id"].startswith(("aes128", "rc4-")) and row["provider"] == "rustcrypto" and row["available"]
    }
    broken = as_json(capsys, "--status", "broken")
    assert {row["id"] for row in broken} == {row["id"] for row in every if row["status"] == "broken"} != set()
    assert cli.answer(["ciphers", "aes*", "--status", "wonderful"]) == 4
    assert "statuses: " in capsys.readouterr().err
