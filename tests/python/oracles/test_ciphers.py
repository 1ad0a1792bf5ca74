"""The probe's ciphers against other people's: pycryptodome for most, libtomcrypt for RC5 and RC6.

Every message goes through the installed program, `wattlock-probe apply`, as an outsider would send it.
"""

import ctypes
import ctypes.util
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pytest
from Crypto.Cipher import AES, ARC2, ARC4, DES, DES3, Blowfish
from Crypto.Util.Padding import pad
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.tools import missing
from support.tree import PROBE, require_programs

# An example starts two processes; the sum of all examples stays below a quarter of a minute.
few = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

MODES = st.sampled_from(["ecb", "cbc", "ctr"])
MESSAGES = st.binary(max_size=100) | st.binary(min_size=1000, max_size=1100)
Block = Callable[[bytes], bytes]


@dataclass(frozen=True)
class Library:
    """A library's cipher: its module, the bytes of a block, what `new` is told besides."""

    module: object
    block_B: int
    effective_bits: int | None = None

    def encrypt(self, mode: str, key: bytes, iv: bytes, message: bytes) -> bytes:
        """The library's ciphertext, padded where the mode needs whole blocks."""
        new = getattr(self.module, "new")  # noqa: B009 - modules of pycryptodome share no type
        extra = {} if self.effective_bits is None else {"effective_keylen": self.effective_bits}
        if mode == "ctr":
            counter = {"nonce": b"", "initial_value": int.from_bytes(iv, "big")}
            return bytes(new(key, AES.MODE_CTR, **counter, **extra).encrypt(message))
        padded = pad(message, self.block_B)
        if mode == "ecb":
            return bytes(new(key, AES.MODE_ECB, **extra).encrypt(padded))
        return bytes(new(key, AES.MODE_CBC, iv=iv, **extra).encrypt(padded))


@pytest.fixture(autouse=True, scope="module")
def program() -> None:
    """A missing program is a failure, not a reason to skip; said once, and not found again by every example."""
    require_programs()


def applied(cipher: str, operation: str, key: bytes, iv: bytes, message: bytes, *, provider: str = "") -> bytes:
    """What the probe makes of `message`; the key travels as the first line of its input.

    * `provider`: of the card's first code where it is empty.
    """
    command = [str(PROBE), "apply", "--cipher", cipher, "--operation", operation, "--key-file", "-"]
    if provider:
        command += ["--provider", provider]
    if iv:
        command += ["--iv", iv.hex()]
    done = subprocess.run(command, input=key.hex().encode() + b"\n" + message, capture_output=True, check=False)
    assert done.returncode == 0, f"{cipher}: {done.stderr.decode()}"
    return done.stdout


def agree(cipher: str, key: bytes, iv: bytes, message: bytes, theirs: bytes, *, provider: str = "") -> None:
    """Both encrypt alike, and the probe decrypts what the other encrypted."""
    assert applied(cipher, "encrypt", key, iv, message, provider=provider).hex() == theirs.hex(), (cipher, provider)
    assert applied(cipher, "decrypt", key, iv, theirs, provider=provider).hex() == message.hex(), (cipher, provider)


def agree_in_mode(
    cipher: str, library: Library, mode: str, key: bytes, data: st.DataObject, *, provider: str = ""
) -> None:
    """Draws an IV and a message and compares."""
    # A counter about to run over is drawn often enough to be met.
    ivs = st.binary(min_size=library.block_B, max_size=library.block_B) | st.just(b"\xff" * library.block_B)
    iv = b"" if mode == "ecb" else data.draw(ivs, label="iv")
    message = data.draw(MESSAGES, label="message")
    agree(f"{cipher}-{mode}", key, iv, message, library.encrypt(mode, key, iv, message), provider=provider)


def keys(lengths_B: Iterable[int]) -> st.SearchStrategy[bytes]:
    """Keys of these lengths, each as likely."""
    return st.sampled_from(list(lengths_B)).flatmap(lambda length: st.binary(min_size=length, max_size=length))


@few
@given(MODES, keys([16, 24, 32]), st.data())
def test_aes_agrees_with_pycryptodome(mode: str, key: bytes, data: st.DataObject) -> None:
    agree_in_mode(f"aes{8 * len(key)}", Library(AES, 16), mode, key, data)


@few
@given(MODES, keys([8]), st.data())
def test_des_agrees_with_pycryptodome(mode: str, key: bytes, data: st.DataObject) -> None:
    agree_in_mode("des", Library(DES, 8), mode, key, data)


def is_triple(key: bytes) -> bool:
    """Whether pycryptodome takes the key: neighbouring single keys differ in more than parity."""
    try:
        DES3.adjust_key_parity(key)
    except ValueError:
        return False
    return True


@few
@given(MODES, keys([16, 24]).filter(is_triple), st.data())
def test_3des_with_two_and_three_keys_agrees_with_pycryptodome(mode: str, key: bytes, data: st.DataObject) -> None:
    agree_in_mode("3des2" if len(key) == 16 else "3des", Library(DES3, 8), mode, key, data)


OF_TABLES = {
    "aes128": (Library(AES, 16), 16),
    "aes192": (Library(AES, 16), 24),
    "aes256": (Library(AES, 16), 32),
    "des": (Library(DES, 8), 8),
    "3des2": (Library(DES3, 8), 16),
    "3des": (Library(DES3, 8), 24),
}
"""Ciphers that stand here by tables too: the other's, and the bytes of a key."""


@few
@given(st.sampled_from(list(OF_TABLES)), MODES, st.data())
def test_our_tables_agree_with_pycryptodome(cipher: str, mode: str, data: st.DataObject) -> None:
    library, key_B = OF_TABLES[cipher]
    right = keys([key_B]).filter(is_triple) if cipher.startswith("3des") else keys([key_B])
    agree_in_mode(cipher, library, mode, data.draw(right, label="key"), data, provider="wattlock-tables")


@few
@given(MODES, keys(range(5, 129)), st.integers(40, 1024), st.data())
def test_rc2_agrees_with_pycryptodome_for_every_effective_length(
    mode: str, key: bytes, effective_bits: int, data: st.DataObject
) -> None:
    key_bits = 8 * len(key)
    cipher = f"rc2-{key_bits}" if effective_bits == key_bits else f"rc2-{key_bits}-e{effective_bits}"
    agree_in_mode(cipher, Library(ARC2, 8, effective_bits), mode, key, data)


@few
@given(MODES, keys(range(5, 57)), st.data())
def test_blowfish_agrees_with_pycryptodome_for_every_key_length(mode: str, key: bytes, data: st.DataObject) -> None:
    agree_in_mode(f"blowfish{8 * len(key)}", Library(Blowfish, 8), mode, key, data)


@few
@given(keys(range(5, 257)), MESSAGES)
def test_rc4_agrees_with_pycryptodome_for_every_key_length(key: bytes, message: bytes) -> None:
    agree(f"rc4-{8 * len(key)}", key, b"", message, ARC4.new(key).encrypt(message))


def tomcrypt_block(name: str, key: bytes, rounds: int) -> Block:
    """The encryption of one block by libtomcrypt; skips where the library is not on this machine."""
    path = ctypes.util.find_library("tomcrypt")
    if path is None:
        missing("libtomcrypt is not on this machine")
    library = ctypes.CDLL(path)
    # Larger than any schedule: the library's union of them has about 4.2 KB.
    schedule = ctypes.create_string_buffer(16384)
    status = library[f"{name}_setup"](key, len(key), rounds, schedule)
    assert status == 0, f"libtomcrypt refuses the key: {status}"

    def encrypt(block: bytes) -> bytes:
        output = ctypes.create_string_buffer(len(block))
        assert library[f"{name}_ecb_encrypt"](block, output, schedule) == 0
        return output.raw

    return encrypt


def composed(block: Block, block_B: int, mode: str, iv: bytes, message: bytes) -> bytes:
    """The mode by its definition in NIST SP 800-38A, over a block cipher that encrypts one block."""
    if mode == "ctr":
        start, end = int.from_bytes(iv, "big"), 1 << (8 * block_B)
        count = -(-len(message) // block_B)
        stream = b"".join(block(((start + i) % end).to_bytes(block_B, "big")) for i in range(count))
        return xor(message, stream)
    padded = pad(message, block_B)
    written: list[bytes] = []
    for at in range(0, len(padded), block_B):
        before = b"" if mode == "ecb" else (written[-1] if written else iv)
        written.append(block(xor(padded[at : at + block_B], before) if before else padded[at : at + block_B]))
    return b"".join(written)


def xor(left: bytes, right: bytes) -> bytes:
    """As long as the left one; the right one is no shorter."""
    return bytes(a ^ b for a, b in zip(left, right, strict=False))


@few
@given(MODES, keys([16]), st.sampled_from([12, 16, 20]), st.binary(min_size=8, max_size=8), MESSAGES)
def test_rc5_agrees_with_libtomcrypt(mode: str, key: bytes, rounds: int, iv: bytes, message: bytes) -> None:
    # libtomcrypt refuses fewer than 12 rounds; those of 8 stand on their vectors.
    theirs = composed(tomcrypt_block("rc5", key, rounds), 8, mode, iv, message)
    agree(f"rc5-32-{rounds}-128-{mode}", key, b"" if mode == "ecb" else iv, message, theirs)


@few
@given(MODES, keys([16, 24, 32]), st.binary(min_size=16, max_size=16), MESSAGES)
def test_rc6_agrees_with_libtomcrypt(mode: str, key: bytes, iv: bytes, message: bytes) -> None:
    theirs = composed(tomcrypt_block("rc6", key, 20), 16, mode, iv, message)
    agree(f"rc6-20-{8 * len(key)}-{mode}", key, b"" if mode == "ecb" else iv, message, theirs)
