"""Keys and signatures beside those of minisign itself."""

import base64
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.tools import needs
from wattlock.errors import InputError, NotVerified
from wattlock.publish import minisign
from wattlock.publish.minisign import ED25519, PREHASHED, SENSITIVE, DerivationLimits, PublicKey, SecretKey

MINISIGN = shutil.which("minisign")
with_minisign = needs(MINISIGN, "minisign is missing: `apt-get install minisign`")
INTERACTIVE = DerivationLimits(524_288, 2**24)
"""libsodium's least limits for a person who waits: 16 MiB."""


def run(*words: str | Path, typed: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(MINISIGN), *map(str, words)], input=typed, capture_output=True, text=True, check=False)


@pytest.fixture
def message(tmp_path: Path) -> Path:
    path = tmp_path / "message.bin"
    path.write_bytes(os.urandom(100_000))
    return path


@pytest.fixture
def key() -> SecretKey:
    return SecretKey.new()


def signed(message: Path, key: SecretKey, comment: str = "a set") -> str:
    text = key.sign(message, comment)
    message.with_name(f"{message.name}.minisig").write_text(text)
    return text


@with_minisign
def test_minisign_verifies_what_wattlock_signed(message: Path, key: SecretKey) -> None:
    signed(message, key, "timestamp:1\tfile:ö")
    done = run("-V", "-H", "-m", message, "-P", key.public.line)
    assert done.returncode == 0, done.stderr
    assert "Trusted comment: timestamp:1\tfile:ö" in done.stdout
    message.write_bytes(message.read_bytes()[:-1])
    assert run("-V", "-m", message, "-P", key.public.line).returncode == 1


@with_minisign
def test_what_minisign_signed_is_verified_where_it_signed_the_hash(message: Path, tmp_path: Path) -> None:
    secret, public = tmp_path / "m.key", tmp_path / "m.pub"
    assert run("-G", "-W", "-s", secret, "-p", public).returncode == 0
    assert run("-S", "-s", secret, "-m", message, "-t", "by minisign").returncode == 0
    text = message.with_name("message.bin.minisig").read_text()
    key = PublicKey.parse(public.read_text(), named="m.pub")
    assert key.verify(message, text) == "by minisign"
    assert SecretKey.parse(secret.read_text(), None, named="m.key").public == key
    assert key.file() == public.read_text()
    assert run("-S", "-l", "-s", secret, "-m", message).returncode == 0
    with pytest.raises(InputError, match=r"message\.bin\.minisig: a signature of the file itself"):
        key.verify(message, message.with_name("message.bin.minisig").read_text())


@with_minisign
def test_minisign_signs_with_a_key_of_wattlock_and_its_password(message: Path, key: SecretKey, tmp_path: Path) -> None:
    secret = tmp_path / "w.key"
    secret.write_text(key.file("correct horse", INTERACTIVE))
    assert run("-S", "-s", secret, "-m", message, typed="wrong\n").returncode != 0
    done = run("-S", "-s", secret, "-m", message, "-t", "ours", typed="correct horse\n")
    assert done.returncode == 0, done.stderr
    assert key.public.verify(message, message.with_name("message.bin.minisig").read_text()) == "ours"


def test_a_key_comes_back_out_of_its_file_by_its_password_alone(key: SecretKey) -> None:
    text = key.file("correct horse", INTERACTIVE)
    assert SecretKey.parse(text, "correct horse", named="k") == key
    assert SecretKey.parse(key.file(None), None, named="k") == key
    with pytest.raises(InputError, match="k: the password is wrong"):
        SecretKey.parse(text, "wrong", named="k")
    with pytest.raises(InputError, match="k: this key has a password"):
        SecretKey.parse(text, None, named="k")
    assert key.seed.hex() not in repr(key)


def test_limits_become_the_parameters_of_scrypt_as_in_libsodium() -> None:
    assert SENSITIVE.scrypt() == (2**20, 8, 1)
    assert INTERACTIVE.scrypt() == (2**14, 8, 1)
    assert DerivationLimits(0, 2**24).scrypt() == (2**10, 8, 1), "few operations decide"
    assert DerivationLimits(2**25, 2**24).scrypt() == (2**14, 8, 64), "little memory decides"
    for limits in (DerivationLimits(2**25, 2**31), DerivationLimits(2**63, 2**24)):
        with pytest.raises(InputError, match="checking the key's password takes"):
            limits.scrypt()


def test_the_same_key_file_and_comment_give_the_same_signature(message: Path, key: SecretKey) -> None:
    assert key.sign(message, "one") == key.sign(message, "one")
    assert key.sign(message, "one") != key.sign(message, "two")


def test_each_octet_of_a_signature_matters(message: Path, key: SecretKey) -> None:
    lines = signed(message, key).splitlines()
    for line in (1, 3):
        for at in range(len(lines[line].rstrip("="))):
            changed = list(lines)
            other = "A" if lines[line][at] != "A" else "B"
            changed[line] = lines[line][:at] + other + lines[line][at + 1 :]
            with pytest.raises((InputError, NotVerified)):
                key.public.verify(message, "\n".join(changed))


def test_a_signature_names_what_is_wrong(message: Path, key: SecretKey) -> None:
    text = signed(message, key)
    other = SecretKey.new()
    with pytest.raises(NotVerified, match=f"signed by key {key.public.id}, not by {other.public.id}"):
        other.public.verify(message, text)
    with pytest.raises(NotVerified, match="the trusted comment is not what was signed"):
        key.public.verify(message, text.replace("a set", "b set"))
    with pytest.raises(NotVerified, match="is not what was signed"):
        PublicKey(key.number, other.public.key).verify(message, text)
    message.write_bytes(b"")
    with pytest.raises(NotVerified, match=r"message.bin: is not what was signed"):
        key.public.verify(message, text)
    for cut in ("", "\n".join(text.splitlines()[:3]), text.replace("trusted comment", "comment")):
        with pytest.raises(InputError, match="no signature of minisign"):
            key.public.verify(message, cut)


def test_a_comment_of_two_lines_or_without_end_is_refused(message: Path, key: SecretKey) -> None:
    for comment in ("one\ntwo", "a\x1b[2J", "a" * 8200):
        with pytest.raises(InputError, match="comment"):
            key.sign(message, comment)


@pytest.mark.parametrize("text", ["", "untrusted comment: x\n", "comment\nRWQ=\n", "\n" * 9, "ü", "RWQ" + "A" * 53])
def test_what_is_no_key_is_refused_by_name(text: str) -> None:
    with pytest.raises(InputError, match=r"^some\.key: "):
        PublicKey.parse(text, named="some.key") and SecretKey.parse(text, None, named="some.key")


def test_a_key_file_is_a_short_text(tmp_path: Path) -> None:
    for content, what in ((b"a" * 20_000, "is longer than a key"), (b"\xff\xfe", "is no text")):
        (tmp_path / "k").write_bytes(content)
        with pytest.raises(InputError, match=what):
            minisign.read(tmp_path / "k")


def test_the_hash_of_a_signed_file_does_not_pass_as_a_file_that_was_signed(message: Path, key: SecretKey) -> None:
    lines = signed(message, key).splitlines()
    algorithm, number, signature = minisign.SIGNATURE.unpack(base64.b64decode(lines[1]))
    assert algorithm == PREHASHED
    hashed = message.with_name("hash")
    hashed.write_bytes(hashlib.blake2b(message.read_bytes()).digest())
    # A signature of the file itself would hold: that is why none is taken.
    assert key.public._holds(signature, hashed.read_bytes())
    lines[1] = minisign._encoded(minisign.SIGNATURE.pack(ED25519, number, signature))
    with pytest.raises(InputError, match=r"hash\.minisig: a signature of the file itself, not of its hash") as caught:
        key.public.verify(hashed, "\n".join(lines))
    assert caught.value.hint == "sign the file again: `minisign -S` of 0.10 and newer signs its hash"
    lines[1] = minisign._encoded(minisign.SIGNATURE.pack(b"Ex", number, signature))
    with pytest.raises(InputError, match="unknown algorithm b'Ex'"):
        key.public.verify(message, "\n".join(lines))


def test_a_signature_with_the_line_ends_of_windows_holds(message: Path, key: SecretKey) -> None:
    assert key.public.verify(message, "\r\n".join(signed(message, key, "far").splitlines())) == "far"


def test_a_keys_number_stands_in_its_file_without_leading_zeros() -> None:
    key = PublicKey(number=(0x0ADD95654FA8D254).to_bytes(8, "little"), key=bytes(32))
    assert key.id == "0ADD95654FA8D254"
    assert key.file().splitlines()[0] == "untrusted comment: minisign public key ADD95654FA8D254"
    assert PublicKey.parse(key.file(), named="m.pub") == key
