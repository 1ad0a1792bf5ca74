"""Captures of 802.11 handshakes and of what follows them, made from the standard's text with pycryptodome alone.

Nothing here is the product's: keys are derived by hashlib and hmac, frames protected by Crypto's AES-CCM and AES-GCM,
keys wrapped by its AES-KW. tshark opens the same captures. Clauses are of IEEE Std 802.11-2020.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from Crypto.Cipher import AES, ARC4
from Crypto.Hash import CMAC

AP, NEXT_AP, STATION, PEER = (bytes([2, 0, 0, 0, 0, last]) for last in (1, 9, 2, 3))
ALL = b"\xff" * 6
SSID = b"home"
DOMAIN, R0 = b"\xa1\xb2", b"nas1.example"
IPV4, EAPOL, TDLS = b"\x08\x00", b"\x88\x8e", b"\x89\x0d"
ANONCE, SNONCE = (bytes((37 * at + seed) % 256 for at in range(32)) for seed in (3, 5))
IV = bytes((37 * at + 91) % 256 for at in range(16))
TKIP, CCMP, GCMP, GCMP_256, CCMP_256 = 2, 4, 8, 9, 10
FT_SHA384, REQUEST, RESPONSE, CONFIRM = 13, 5, 1, 2
PAYLOADS_B = (0, 1, 15, 16, 17, 40, 255, 256, 1000, 1400)
"""Each once in both directions."""


@dataclass(frozen=True)
class Network:
    """What a network's RSN element says, and the key that all begins with.

    * `akm`: number of the suite (table 9-151); `cipher`: of the cipher suite (table 9-149).
    * `digest`: of KDF-Hash-Length, or sha1 for the PRF. `kck_B`, `kek_B`, `mic`: table 12-11.
    * `is_wpa`: from before the standard, with an element of its own and the group key in a handshake of its own.
    """

    name: str
    akm: int
    pmk: bytes
    cipher: int = CCMP
    digest: str = "sha256"
    version: int = 0
    kck_B: int = 16
    kek_B: int = 16
    mic: str = "cmac"
    is_wpa: bool = False

    @property
    def is_ft(self) -> bool:
        return self.akm in {3, 4, 9, 13}

    @property
    def temporal_B(self) -> int:
        return 32 if self.cipher in {TKIP, GCMP_256, CCMP_256} else 16

    def sign(self, kck: bytes, data: bytes) -> bytes:
        """A MIC (12.7.2, table 12-11; 13.8.4 for the element of a fast transition)."""
        if self.mic == "cmac":
            return cmac(kck, data)
        return hmac.new(kck, data, self.mic).digest()[: self.kck_B]


def kdf(digest: str, key: bytes, label: bytes, context: bytes, length_B: int) -> bytes:
    """KDF-Hash-Length of 12.7.1.7.2; with sha1 the PRF of 12.7.1.2."""
    out = b""
    for count in range(1, 9):
        if digest == "sha1":
            out += hmac.new(key, label + b"\0" + context + bytes([count - 1]), digest).digest()
        else:
            text = struct.pack("<H", count) + label + context + struct.pack("<H", 8 * length_B)
            out += hmac.new(key, text, digest).digest()
    return out[:length_B]


@dataclass(frozen=True)
class Ptk:
    """KCK, KEK, and the temporal key."""

    kck: bytes
    kek: bytes
    temporal: bytes


def element(number: int, content: bytes) -> bytes:
    return bytes([number, len(content)]) + content


def rsn(of: Network, name: bytes = b"") -> bytes:
    """The RSN element, with the name of a key (PMKID list) where there is one (9.4.2.24)."""
    if of.is_wpa:
        suite = [b"\x00\x50\xf2" + bytes([number]) for number in (of.cipher, of.cipher, of.akm)]
        return element(221, b"\x00\x50\xf2\x01\x01\x00" + b"\x01\x00".join(suite))
    suite = [b"\x00\x0f\xac" + bytes([number]) for number in (of.cipher, of.cipher, of.akm)]
    body = b"\x01\x00" + b"\x01\x00".join(suite) + b"\xc0\x00"
    return element(48, body + (b"\x01\x00" + name if name else b""))


def group_element(group: bytes, key_id: int) -> bytes:
    """A group key as key data (12.7.2, GTK KDE)."""
    return element(221, b"\x00\x0f\xac\x01" + bytes([key_id, 0]) + group)


def mobility() -> bytes:
    return element(54, DOMAIN + b"\x00")


def transition(access_point: bytes, *, mic: bytes, nonces: bytes, covered: int, group: bytes = b"") -> bytes:
    """The fast transition element (9.4.2.47): the holders of the domain's keys as R0KH-ID and R1KH-ID."""
    parts = element(1, access_point) + element(3, R0) + group
    return element(55, bytes([0, covered]) + mic + nonces + parts)


def pmk_r1(of: Network, access_point: bytes) -> tuple[bytes, bytes, bytes]:
    """PMK-R1 and the names of it and of PMK-R0 (12.7.1.6.3, 12.7.1.6.4)."""
    length_B = len(of.pmk)
    context = bytes([len(SSID)]) + SSID + DOMAIN + bytes([len(R0)]) + R0 + STATION
    data = kdf(of.digest, of.pmk, b"FT-R0", context, length_B + 16)
    digest = hashlib.new(of.digest, b"FT-R0N" + data[length_B:]).digest()[:16]
    r1_name = hashlib.new(of.digest, b"FT-R1N" + digest + access_point + STATION).digest()[:16]
    return kdf(of.digest, data[:length_B], b"FT-R1", access_point + STATION, length_B), digest, r1_name


def ptk(of: Network, access_point: bytes, anonce: bytes, snonce: bytes) -> Ptk:
    """12.7.1.3; of a fast transition 12.7.1.6.5."""
    length_B = of.kck_B + of.kek_B + of.temporal_B
    if of.is_ft:
        r1 = pmk_r1(of, access_point)[0]
        whole = kdf(of.digest, r1, b"FT-PTK", snonce + anonce + access_point + STATION, length_B)
    else:
        pair, nonces = sorted([access_point, STATION]), sorted([anonce, snonce])
        whole = kdf(of.digest, of.pmk, b"Pairwise key expansion", b"".join(pair + nonces), length_B)
    return Ptk(whole[: of.kck_B], whole[of.kck_B : of.kck_B + of.kek_B], whole[of.kck_B + of.kek_B :])


def wrap(kek: bytes, data: bytes) -> bytes:
    """AES key wrap with the padding of key data (12.7.2)."""
    if len(data) % 8 or len(data) < 16:
        data += b"\xdd"
        data += bytes(max(-len(data) % 8, 16 - len(data)))
    return AES.new(kek, AES.MODE_KW).seal(data)


def cmac(key: bytes, data: bytes) -> bytes:
    made: bytes = CMAC.new(key, data, AES).digest()
    return made


def udp(payload_B: int) -> bytes:
    header = struct.pack(">BBHHHBBH4B4B", 0x45, 0, 28 + payload_B, 0, 0x4000, 64, 17, 0, 10, 0, 0, 1, 10, 0, 0, 2)
    return header + struct.pack(">HHHH", 1000, 2000, 8 + payload_B, 0) + bytes(payload_B)


@dataclass
class Air:
    """A capture under construction."""

    of: Network
    frames: list[bytes] = field(default_factory=list)
    protected: int = 0
    number: int = 0

    def mpdu(self, flags: int, addresses: list[bytes], body: bytes, control: int = 0x08) -> bytes:
        return (
            struct.pack("<BBH", control, flags, 0)
            + b"".join(addresses)
            + struct.pack("<H", len(self.frames) << 4)
            + body
        )

    def data(self, *, down: bool, access_point: bytes, to: bytes, kind: bytes, payload: bytes) -> bytes:
        addresses = [to, access_point, access_point] if down else [access_point, STATION, to]
        return self.mpdu(2 if down else 1, addresses, b"\xaa\xaa\x03\x00\x00\x00" + kind + payload)

    def say(self, mpdu: bytes) -> None:
        self.frames.append(mpdu)

    def protect(self, key: bytes, mpdu: bytes, key_id: int = 0) -> None:
        """By CCMP (12.5.3) or GCMP (12.5.5); frames here have neither QoS nor a fourth address."""
        self.number += 1
        self.protected += 1
        pn = self.number.to_bytes(6, "big")
        is_data, flags = mpdu[0] & 0x0C == 0x08, mpdu[1] | 0x40
        aad = bytes([mpdu[0] & 0x8F if is_data else mpdu[0], flags & 0xC7]) + mpdu[4:22] + bytes([mpdu[22] & 0x0F, 0])
        head = bytes([pn[5], pn[4], 0, key_id << 6 | 0x20, pn[3], pn[2], pn[1], pn[0]])
        cipher: Any
        if self.of.cipher in {GCMP, GCMP_256}:
            cipher = AES.new(key, AES.MODE_GCM, nonce=mpdu[10:16] + pn, mac_len=16)
        else:
            first = bytes([0 if is_data else 0x10])
            mac_len = 16 if self.of.cipher == CCMP_256 else 8
            cipher = AES.new(key, AES.MODE_CCM, nonce=first + mpdu[10:16] + pn, mac_len=mac_len)
        cipher.update(aad)
        sealed, tag = cipher.encrypt_and_digest(mpdu[24:])
        self.say(mpdu[:1] + bytes([flags]) + mpdu[2:24] + head + sealed + tag)

    def beacon(self, access_point: bytes) -> None:
        fixed = bytes(8) + b"\x64\x00\x11\x00"
        elements = element(0, SSID) + element(1, b"\x02\x04") + rsn(self.of) + (mobility() if self.of.is_ft else b"")
        self.say(self.mpdu(0, [ALL, access_point, access_point], fixed + elements, control=0x80))

    def key_frame(
        self, keys: Ptk, *, down: bool, info: int, nonce: bytes, data: bytes, replay: int, iv: bytes = bytes(16)
    ) -> bytes:
        """An EAPOL-Key frame (12.7.2)."""

        def packet(mic: bytes) -> bytes:
            kind, info_and_version = 254 if self.of.is_wpa else 2, info | self.of.version
            fixed = struct.pack(">BHHQ", kind, info_and_version, self.of.temporal_B, replay) + nonce + iv + bytes(16)
            body = fixed + mic + struct.pack(">H", len(data)) + data
            return struct.pack(">BBH", 2, 3, len(body)) + body

        empty = packet(bytes(self.of.kck_B))
        signed = packet(self.of.sign(keys.kck, empty)) if info & 0x100 else empty
        return self.data(down=down, access_point=AP, to=STATION if down else AP, kind=EAPOL, payload=signed)

    def four_way(self, group: bytes) -> Ptk:
        """The four frames of a handshake, whose third one tells the group key."""
        keys = ptk(self.of, AP, ANONCE, SNONCE)
        answer = rsn(self.of)
        if self.of.is_ft:
            empty = transition(AP, mic=bytes(24 if self.of.akm == FT_SHA384 else 16), nonces=bytes(64), covered=0)
            answer = rsn(self.of, pmk_r1(self.of, AP)[2]) + mobility() + empty
        described = answer + group_element(group, 1)
        third = (
            (True, 0x01C8, ANONCE, answer) if self.of.is_wpa else (True, 0x13C8, ANONCE, self.sealed(keys, described))
        )
        for down, info, nonce, data, replay in (
            (True, 0x0088, ANONCE, b"", 1),
            (False, 0x0108, SNONCE, answer, 1),
            (*third, 2),
            (False, 0x0108 if self.of.is_wpa else 0x0308, bytes(32), b"", 2),
        ):
            iv = self.iv(info)
            self.say(self.key_frame(keys, down=down, info=info, nonce=nonce, data=data, replay=replay, iv=iv))
        return keys

    def next_group(self, keys: Ptk, group: bytes, key_id: int) -> None:
        """The first frame of a group key handshake (12.7.7)."""
        data = self.sealed(keys, group if self.of.is_wpa else group_element(group, key_id))
        info = 0x0380 | key_id << 4 if self.of.is_wpa else 0x1380
        self.say(self.key_frame(keys, down=True, info=info, nonce=ANONCE, data=data, replay=3, iv=self.iv(0x1000)))

    def iv(self, info: int) -> bytes:
        """What stands before the KEK in the seed of ARC4; zeros where nothing is encrypted by it (12.7.2)."""
        return IV if self.of.version == 1 and info & 0x1000 else bytes(16)

    def sealed(self, keys: Ptk, data: bytes) -> bytes:
        """Key data under the KEK: by ARC4 without its first 256 octets under version 1, else wrapped by AES."""
        if self.of.version != 1:
            return wrap(keys.kek, data)
        return ARC4.new(IV + keys.kek, drop=256).encrypt(data)

    def roam(self, group: bytes) -> Ptk:
        """Reassociation at another access point of the domain (13.5.2): both frames have nonces and a MIC."""
        of, nonces = self.of, [bytes(value ^ 0x55 for value in one) for one in (ANONCE, SNONCE)]
        keys = ptk(of, NEXT_AP, *nonces)
        _, _, name = pmk_r1(of, NEXT_AP)
        key_data = b"\x01\x00" + bytes([len(group)]) + bytes(8) + wrap(keys.kek, group)
        for number, control, addresses, fixed, tail in (
            (5, 0x20, [NEXT_AP, STATION, NEXT_AP], b"\x11\x00\x0a\x00" + AP, b""),
            (6, 0x30, [STATION, NEXT_AP, NEXT_AP], b"\x11\x00\x00\x00\x01\xc0", element(2, key_data)),
        ):
            both = rsn(of, name) + mobility()
            empty = bytes(24 if of.akm == FT_SHA384 else 16)
            unsigned = transition(NEXT_AP, mic=empty, nonces=b"".join(nonces), covered=3, group=tail)
            mic = of.sign(keys.kck, STATION + NEXT_AP + bytes([number]) + both + unsigned)
            signed = transition(NEXT_AP, mic=mic, nonces=b"".join(nonces), covered=3, group=tail)
            names = element(0, SSID) if number == REQUEST else b""
            elements = names + element(1, b"\x02\x04") + both + signed
            self.say(self.mpdu(0, addresses, fixed + elements, control=control))
        return keys

    def traffic(self, access_point: bytes, temporal: bytes, group: bytes) -> None:
        """Data of the pair each way, one frame to all, and a deauthentication as 802.11w protects it."""
        for payload_B in PAYLOADS_B:
            for down in (True, False):
                to = STATION if down else access_point
                frame = self.data(down=down, access_point=access_point, to=to, kind=IPV4, payload=udp(payload_B))
                self.protect(temporal, frame)
        frame = self.data(down=True, access_point=access_point, to=ALL, kind=IPV4, payload=udp(40))
        self.protect(group, frame, key_id=1)
        self.protect(temporal, self.mpdu(0, [STATION, access_point, access_point], b"\x03\x00", control=0xC0))

    def direct_link(self, temporal: bytes) -> bytes:
        """The setup of a direct link through the access point, under the pair's key (12.7.8); gives the link's key."""
        of, (responder, initiator) = self.of, (ANONCE[::-1], SNONCE[::-1])
        inside = hashlib.sha256(min(responder, initiator) + max(responder, initiator)).digest()
        context = min(STATION, PEER) + max(STATION, PEER) + AP
        tpk = kdf("sha256", inside, b"TDLS PMK", context, 32)
        link, lifetime = element(101, AP + STATION + PEER), element(56, b"\x02\x00\x0e\x00\x00")
        suites = rsn(Network("link", 7, b""))
        for number, action, fixed in ((2, RESPONSE, b"\x00\x00\x01\x00\x00"), (3, CONFIRM, b"\x00\x00\x01")):
            around = b"\x00\x03", responder + initiator
            unsigned = element(55, around[0] + bytes(16) + around[1])
            mic = cmac(tpk[:16], STATION + PEER + bytes([number]) + link + suites + lifetime + unsigned)
            signed = element(55, around[0] + mic + around[1])
            body = b"\x02\x0c" + bytes([action]) + fixed + suites + signed + lifetime + link
            down = action == RESPONSE
            to = STATION if down else PEER
            self.protect(temporal, self.data(down=down, access_point=AP, to=to, kind=TDLS, payload=body))
        assert of.cipher == CCMP
        return tpk[16:]

    def write(self, path: Path) -> Path:
        """As a pcap of bare 802.11."""
        out = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 105)
        for second, frame in enumerate(self.frames):
            out += struct.pack("<IIII", second, 0, len(frame), len(frame)) + frame
        path.write_bytes(out)
        return path
