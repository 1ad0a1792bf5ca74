"""Keys and signatures in minisign's format: Ed25519, the file hashed by BLAKE2b-512 before it is signed.

# Source
jedisct1/minisign, `src/minisign.c` and `src/minisign.h` of 0.12, and the description at https://jedisct1.github.io/minisign/.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import struct
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from wattlock.errors import InputError, NotVerified

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

SUFFIX = ".minisig"
ED25519, PREHASHED = b"Ed", b"ED"
"""The algorithm of a key; of a signature over a file's BLAKE2b-512. A signature of `Ed` is over the file itself."""
SCRYPT, PLAIN, CHECKSUM = b"Sc", b"\0\0", b"B2"
UNTRUSTED, TRUSTED = "untrusted comment: ", "trusted comment: "
SECRET = struct.Struct("<2s2s2s32sQQ104s")
"""Algorithm, key derivation, checksum; salt, opslimit, memlimit; key number, seed, public key and checksum."""
PUBLIC = struct.Struct("<2s8s32s")
SIGNATURE = struct.Struct("<2s8s64s")
LONGEST_COMMENT_B = 8192 - len(TRUSTED) - 1
LONGEST_FILE_B = 16384
"""A key or a signature is shorter."""
LONGEST_PASSWORD_B = 1023


@dataclass(frozen=True)
class DerivationLimits:
    """What deriving a key from a password may cost: libsodium's `opslimit` and `memlimit` (bytes) of scrypt."""

    operations: int
    memory_B: int

    def scrypt(self) -> tuple[int, int, int]:
        """N, r and p of scrypt. Raises InputError where that takes more than a key of minisign does.

        # Source
        libsodium, `crypto_pwhash/scryptsalsa208sha256/pwhash_scryptsalsa208sha256.c`, `pickparams`.
        """
        if self.memory_B > SENSITIVE.memory_B or self.operations > SENSITIVE.operations:
            what = f"checking the key's password takes {self.operations} operations and {self.memory_B} bytes"
            hint = f"minisign's keys take at most {SENSITIVE.operations} and {SENSITIVE.memory_B}: is the file damaged?"
            raise InputError(what, hint=hint)
        operations, r = max(32768, self.operations), 8
        by_operations = operations < self.memory_B // 32
        largest = operations // (4 * r) if by_operations else self.memory_B // (128 * r)
        n = 1 << max(1, largest.bit_length() - 1)
        return n, r, 1 if by_operations else max(1, operations // 4 // n // r)


SENSITIVE = DerivationLimits(33_554_432, 2**30)
"""libsodium's limits for what is seldom opened, as minisign takes them: seconds, and 1 GiB."""


@dataclass(frozen=True)
class PublicKey:
    """What signatures are verified with: a number of 8 octets that names it, and 32 octets of Ed25519."""

    number: bytes
    key: bytes

    @classmethod
    def parse(cls, text: str, *, named: str) -> Self:
        """A public key's file, or its second line alone; `named`: what errors call it. Raises InputError."""
        algorithm, number, key = PUBLIC.unpack(_decoded(_key_line(text), PUBLIC.size, f"{named}: no public key"))
        if algorithm != ED25519:
            raise InputError(
                f"{named}: a key of an unknown algorithm, {algorithm!r}", hint="minisign has Ed25519 alone"
            )
        return cls(number, key)

    @property
    def id(self) -> str:
        """The number in hexadecimal, 16 digits."""
        return _id(self.number)

    @property
    def line(self) -> str:
        """The key in one line, as `minisign -P` and `wattlock verify --key` take it."""
        return _encoded(PUBLIC.pack(ED25519, self.number, self.key))

    def file(self) -> str:
        """The key as a file."""
        # minisign writes its number without leading zeros.
        return f"{UNTRUSTED}minisign public key {self.id.lstrip('0') or 0}\n{self.line}\n"

    def verify(self, path: Path, signature: str) -> str:
        """Gives the trusted comment of a file's signature.

        Raises InputError where that is no signature, NotVerified where it is of another key, file or comment.
        """
        return self.verify_hashed(_hashed(path), signature, named=str(path))

    def verify_hashed(self, hashed: bytes, signature: str, *, named: str) -> str:
        """As `verify`, of a file whose BLAKE2b-512 is `hashed`; `named`: what errors call it."""
        lines = [line.rstrip("\r") for line in signature.split("\n")]
        comments = len(lines) >= 4 and lines[0].startswith(UNTRUSTED) and lines[2].startswith(TRUSTED)
        what = f"{named}{SUFFIX}: no signature of minisign"
        if not comments:
            raise InputError(what, hint="it has four lines: a comment, a signature, a trusted comment, its signature")
        algorithm, number, signed = SIGNATURE.unpack(_decoded(lines[1], SIGNATURE.size, what))
        whole, comment = _decoded(lines[3], 64, what), lines[2].removeprefix(TRUSTED)
        if algorithm == ED25519:  # the hash of a signed file would pass as a file that was signed so
            hint = "sign the file again: `minisign -S` of 0.10 and newer signs its hash"
            raise InputError(f"{named}{SUFFIX}: a signature of the file itself, not of its hash", hint=hint)
        if algorithm != PREHASHED:
            raise InputError(f"{what}: unknown algorithm {algorithm!r}", hint="minisign signs hashed files as ED")
        if number != self.number:
            hint = "name the public key of who signed it by --key"
            raise NotVerified(f"{named}: signed by key {_id(number)}, not by {self.id}", hint=hint)
        if not self._holds(signed, hashed):
            raise NotVerified(
                f"{named}: is not what was signed", hint="it was changed after the signing: fetch it again"
            )
        if not self._holds(whole, signed + comment.encode()):
            hint = "the comment was changed after the signing: fetch the signature again"
            raise NotVerified(f"{named}{SUFFIX}: the trusted comment is not what was signed", hint=hint)
        return comment

    def _holds(self, signature: bytes, message: bytes) -> bool:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        key: Ed25519PublicKey = Ed25519PublicKey.from_public_bytes(self.key)
        try:
            key.verify(signature, message)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True)
class SecretKey:
    """What signs: the public key's number, and the 32 octets that Ed25519's keys are made of."""

    number: bytes
    seed: bytes

    def __repr__(self) -> str:
        return f"SecretKey({_id(self.number)})"

    @classmethod
    def new(cls) -> Self:
        """A key of the system's random numbers."""
        return cls(os.urandom(8), os.urandom(32))

    @classmethod
    def parse(cls, text: str, password: str | None, *, named: str) -> Self:
        """A secret key's file; `password`: null where it has none. Raises InputError."""
        fields = SECRET.unpack(_decoded(_key_line(text), SECRET.size, f"{named}: no secret key"))
        algorithm, derivation, checksum, salt, operations, memory_B, body = fields
        if (algorithm, checksum) != (ED25519, CHECKSUM) or derivation not in {SCRYPT, PLAIN}:
            hint = "minisign has Ed25519, scrypt and BLAKE2b: is the file damaged?"
            raise InputError(f"{named}: a secret key of an unknown kind", hint=hint)
        if derivation == SCRYPT:
            if password is None:
                raise InputError(f"{named}: this key has a password", hint="name a file of it by --password-file")
            body = _xor(body, _derived(password, salt, DerivationLimits(operations, memory_B)))
        number, seed, public, sum_ = struct.unpack("<8s32s32s32s", body)
        key = cls(number, seed)
        if derivation == SCRYPT and sum_ != _checksum(number + seed + public):
            raise InputError(f"{named}: the password is wrong", hint="or the file is damaged")
        if key.public.key != public:
            raise InputError(f"{named}: the secret key and the public key in it differ", hint="the file is damaged")
        return key

    @property
    def public(self) -> PublicKey:
        """The public key of it."""
        return PublicKey(self.number, self._ed25519().public_key().public_bytes_raw())

    def file(self, password: str | None, limits: DerivationLimits = SENSITIVE) -> str:
        """The key as a file, encrypted by a password; null leaves it open to who can read it."""
        body = self.number + self.seed + self.public.key
        salt, derivation = bytes(32), PLAIN
        if password is None:
            limits, body = DerivationLimits(0, 0), body + bytes(32)
        else:
            salt, derivation = os.urandom(32), SCRYPT
            body = _xor(body + _checksum(body), _derived(password, salt, limits))
        packed = SECRET.pack(ED25519, derivation, CHECKSUM, salt, limits.operations, limits.memory_B, body)
        return f"{UNTRUSTED}minisign {'encrypted ' if password is not None else ''}secret key\n{_encoded(packed)}\n"

    def sign(self, path: Path, comment: str) -> str:
        """The signature of a file with a comment that is signed too, as the text of its `.minisig`.

        The same key, file and comment give the same text. Raises InputError where the comment is not one line.
        """
        return self.sign_hashed(_hashed(path), comment)

    def sign_hashed(self, hashed: bytes, comment: str) -> str:
        """As `sign`, of a file whose BLAKE2b-512 is `hashed`."""
        if any(unicodedata.category(letter) == "Cc" and letter != "\t" for letter in comment):
            raise InputError("a trusted comment is one line, without control characters", hint="write it in one line")
        if len(comment.encode()) > LONGEST_COMMENT_B:
            raise InputError(f"the trusted comment has more than {LONGEST_COMMENT_B} octets", hint="shorten it")
        key = self._ed25519()
        signed = key.sign(hashed)
        lines = [
            f"{UNTRUSTED}signature from wattlock by key {_id(self.number)}",
            _encoded(SIGNATURE.pack(PREHASHED, self.number, signed)),
            f"{TRUSTED}{comment}",
            _encoded(key.sign(signed + comment.encode())),
        ]
        return "\n".join(lines) + "\n"

    def _ed25519(self) -> Ed25519PrivateKey:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self.seed)


def is_secret(text: str) -> bool:
    """Whether a key's file has the length of a secret key."""
    return len(_key_line(text).strip()) > len(_encoded(bytes(PUBLIC.size)))


def is_encrypted(text: str) -> bool:
    """Whether a secret key's file says that it has a password."""
    try:
        return base64.b64decode(_key_line(text))[2:4] == SCRYPT
    except ValueError:
        return False


def read(path: Path) -> str:
    """A key's or a signature's file as text. Raises InputError where it is too long, or no text."""
    with path.open("rb") as file:
        content = file.read(LONGEST_FILE_B + 1)
    if len(content) > LONGEST_FILE_B:
        raise InputError(f"{path}: is longer than a key or a signature", hint="name the file that minisign wrote")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise InputError(f"{path}: is no text", hint="name the file that minisign wrote") from None


def _id(number: bytes) -> str:
    return f"{int.from_bytes(number, 'little'):016X}"


def _key_line(text: str) -> str:
    lines = text.splitlines()
    return lines[1] if len(lines) > 1 else text


def _decoded(line: str, size_B: int, what: str) -> bytes:
    try:
        decoded = base64.b64decode(line.strip(), validate=True)
    except (binascii.Error, ValueError):
        decoded = b""
    if len(decoded) != size_B or _encoded(decoded) != line.strip():  # the last digit may have bits to spare
        raise InputError(what, hint=f"it has {size_B} octets in base64, as minisign writes them")
    return decoded


def _encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _hashed(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, hashlib.blake2b).digest()


def _checksum(key: bytes) -> bytes:
    return hashlib.blake2b(ED25519 + key, digest_size=32).digest()


def _derived(password: str, salt: bytes, limits: DerivationLimits) -> bytes:
    n, r, p = limits.scrypt()
    octets = password.encode()
    if len(octets) > LONGEST_PASSWORD_B:
        raise InputError(
            f"the password has more than {LONGEST_PASSWORD_B} octets", hint="minisign reads no longer ones"
        )
    room_B = 128 * r * (n + p + 2) + 2**16
    return hashlib.scrypt(octets, salt=salt, n=n, r=r, p=p, maxmem=room_B, dklen=104)


def _xor(mask: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(mask, other, strict=True))
