"""What a cipher and an encoding make of a plaintext, and the packets that it then takes."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from wattlock.errors import InputError
from wattlock.study.cases import CatalogueRow

Encoding = Literal["raw", "base64", "hex", "base64x2"]
# Octets in a packet of 1500 without UDP's or TCP's own and those of IP; TCP with its timestamps (RFC 768, 791, 9293,
# 7323).
PACKET_B = {"udp": 1_500 - 28, "tcp": 1_500 - 52}
PADDED = {"ecb", "cbc"}
# A frame's protection and a key's establishment encrypt no message of the user's.
NO_MESSAGE = {"frame", "link", "establish", "sign"}


class PayloadParts(NamedTuple):
    """Octets of a payload by what they are; a whole transfer's, or one packet's.

    * `iv_B`: the IV or nonce, in front of the ciphertext; `padding_B`: PKCS#7 of ECB and CBC; `tag_B`: an AEAD's.
    * `encoding_B`: what base64 or hexadecimal adds.
    """

    plain_B: int = 0
    iv_B: int = 0
    padding_B: int = 0
    tag_B: int = 0
    encoding_B: int = 0

    @property
    def wire_B(self) -> int:
        """All of them: what is handed to UDP or TCP."""
        return sum(self)

    def times(self, count: int) -> "PayloadParts":
        """So many of them."""
        return PayloadParts(*(count * part for part in self))


class PacketGroup(NamedTuple):
    """Packets of one size.

    * `wire_B`: payload of each; `parts`: octets of all `packets` together.
    """

    wire_B: int
    packets: int
    parts: PayloadParts


def encoded_B(octets_B: int, encoding: Encoding) -> int:
    """Letters of `octets_B` octets in an encoding.

    Source: RFC 4648, sections 4 (base64 with its padding, no line breaks) and 8 (base16).
    """
    if encoding == "base64x2":
        return encoded_B(encoded_B(octets_B, "base64"), "base64")
    if encoding == "base64":
        return 4 * -(-octets_B // 3)
    return 2 * octets_B if encoding == "hex" else octets_B


def expanded(plain_B: int, cipher: CatalogueRow | None, encoding: Encoding = "raw") -> PayloadParts:
    """One message of `plain_B` octets as it leaves: encrypted, then encoded.

    * `cipher`: its row of the catalogue; None sends the plaintext.

    Raises InputError where the id is of no cipher of messages.
    """
    iv_B = padding_B = tag_B = 0
    if cipher:
        if cipher["mode"] in NO_MESSAGE or cipher.get("operations"):
            hint = "`wattlock ciphers` lists those that do"
            raise InputError(f"payload.cipher: {cipher['id']} encrypts no messages", hint=hint)
        block_B = cipher["block_bits"] // 8
        iv_B, tag_B = cipher["iv_B"], cipher["tag_bits"] // 8
        padding_B = block_B - plain_B % block_B if cipher["mode"] in PADDED else 0
    sealed_B = plain_B + iv_B + padding_B + tag_B
    return PayloadParts(plain_B, iv_B, padding_B, tag_B, encoded_B(sealed_B, encoding) - sealed_B)


def largest_plain_B(room_B: int, cipher: CatalogueRow | None, encoding: Encoding) -> int:
    """The longest plaintext whose message fits into `room_B` octets; 0 where none does."""
    low_B, high_B = 0, room_B
    while low_B < high_B:
        middle_B = (low_B + high_B + 1) // 2
        if expanded(middle_B, cipher, encoding).wire_B <= room_B:
            low_B = middle_B
        else:
            high_B = middle_B - 1
    return low_B


def whole(data_B: int, packet_B: int, cipher: CatalogueRow | None, encoding: Encoding) -> list[PacketGroup]:
    """A file that is encrypted once and then cut into packets of `packet_B` octets, the last one smaller."""
    parts = expanded(data_B, cipher, encoding)
    full, rest_B = divmod(parts.wire_B, packet_B)
    first = PayloadParts(*apportioned(full * packet_B, parts))
    last = PayloadParts(*(all_B - first_B for all_B, first_B in zip(parts, first, strict=True)))
    groups = (PacketGroup(packet_B, full, first), PacketGroup(rest_B, 1, last))
    return [group for group in groups if group.parts.wire_B]


def packets(sizes: Iterable[tuple[int, int]], cipher: CatalogueRow | None, encoding: Encoding) -> list[PacketGroup]:
    """Messages that are encrypted each for itself, a packet each: a capture's distribution, or equal ones.

    * `sizes`: octets of plaintext and how many messages have so many.
    """
    groups = []
    for plain_B, count in sizes:
        parts = expanded(plain_B, cipher, encoding)
        if count and parts.wire_B:
            groups.append(PacketGroup(parts.wire_B, count, parts.times(count)))
    return groups


def equal(data_B: int, plain_B: int) -> list[tuple[int, int]]:
    """The sizes of `data_B` octets in messages of `plain_B`, the last one smaller."""
    full, rest_B = divmod(data_B, plain_B)
    return [(size_B, count) for size_B, count in ((plain_B, full), (rest_B, 1)) if size_B and count]


def apportioned(total: int, weights: Sequence[int]) -> list[int]:
    """`total` in whole shares by `weights` that add up to it: each share ends where its weight's end is rounded to."""
    whole = sum(weights) or 1
    shares = []
    weight_so_far = end = 0
    for weight in weights:
        begin, weight_so_far = end, weight_so_far + weight
        end = total * weight_so_far // whole
        shares.append(end - begin)
    return shares


def size_B(file: str) -> int:
    """Octets of a file to be sent.

    Raises InputError where there is none, or nothing in it.
    """
    path = Path(file)
    try:
        found_B = path.stat().st_size
    except OSError as error:
        raise InputError(f"payload.file {file}: {error.strerror}", hint="check the path") from error
    if not path.is_file() or not found_B:
        raise InputError(f"payload.file {file}: is no file, or an empty one", hint="give a file with something in it")
    return found_B
