"""`wattlock-net frames unprotect` on handshakes of every key management; tshark opens the same captures."""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support import wifi_air
from support.tools import needs
from support.tree import NET, TREE, require_programs
from support.wifi_air import (
    ANONCE,
    AP,
    CCMP_256,
    GCMP,
    GCMP_256,
    NEXT_AP,
    PEER,
    SNONCE,
    SSID,
    STATION,
    TKIP,
    Air,
    Network,
    ptk,
)

PMK, LONG = bytes(range(32)), bytes(range(100, 148))
# PBKDF2 of a passphrase (J.4.1): tshark makes the same of it.
PASSPHRASE = "correct horse"
PSK = hashlib.pbkdf2_hmac("sha1", PASSPHRASE.encode(), SSID, 4096, 32)
SHA384: dict[str, Any] = {"digest": "sha384", "kck_B": 24, "kek_B": 32, "mic": "sha384", "cipher": GCMP_256}
NETWORKS = [
    Network("psk", 2, PSK, digest="sha1", version=2, mic="sha1"),
    Network("psk-sha256", 6, PSK, version=3),
    Network("psk-ccmp256", 6, PSK, version=3, cipher=CCMP_256),
    Network("psk-gcmp", 2, PSK, digest="sha1", version=2, mic="sha1", cipher=GCMP),
    Network("ft-psk", 4, PSK, version=3),
    Network("802.1x", 1, PMK, digest="sha1", version=2, mic="sha1"),
    Network("802.1x-sha256", 5, PMK, version=3),
    Network("ft-eap", 3, PMK, version=3),
    Network("sae", 8, PMK),
    Network("sae-gcmp256", 8, PMK, cipher=GCMP_256),
    Network("ft-sae", 9, PMK),
    Network("owe-19", 18, PMK, mic="sha256"),
    Network("owe-20", 18, LONG, **SHA384),
    Network("owe-21", 18, bytes(64), digest="sha512", kck_B=32, kek_B=32, mic="sha512", cipher=GCMP_256),
    Network("suite-b", 11, PMK, mic="sha256", cipher=GCMP),
    Network("suite-b-192", 12, LONG, **SHA384),
    Network("ft-eap-sha384", 13, LONG, **SHA384),
]
NAMES = ["PSK", "PSK-SHA256", "PSK-SHA256", "PSK", "FT-PSK", "802.1X", "802.1X-SHA256", "FT-802.1X", "SAE", "SAE"]
NAMES += ["FT-SAE", "OWE", "OWE", "OWE", "Suite-B", "Suite-B-192", "FT-802.1X-SHA384"]
OF_PSK = {"psk", "psk-sha256", "psk-ccmp256", "psk-gcmp", "ft-psk"}
# tshark 4.0 reads the group key of the 192-bit suites and opens no frame with it, and follows no transition of theirs;
# of OWE it knows group 19 alone.
OF_PAIR_BY_TSHARK, NOT_BY_TSHARK = {"suite-b-192", "ft-eap-sha384"}, {"owe-20", "owe-21"}


@pytest.fixture(scope="module")
def probe() -> Path:
    """A missing program is a failure, not a reason to skip."""
    require_programs()
    return NET


def made(of: Network, path: Path) -> Air:
    """A handshake, traffic, and of a mobility domain the same at the next access point."""
    air, group = Air(of), bytes(range(7, 7 + of.temporal_B))
    air.beacon(AP)
    air.traffic(AP, air.four_way(group).temporal, group)
    if of.is_ft:
        air.beacon(NEXT_AP)
        group = group[::-1]
        air.traffic(NEXT_AP, air.roam(group).temporal, group)
    air.write(path)
    return air


def key(of: Network) -> list[str]:
    if of.name in OF_PSK:
        return ["--passphrase", PASSPHRASE, "--ssid", SSID.decode()]
    return ["--pmk", of.pmk.hex()]


def unprotect(probe: Path, path: Path, *options: str) -> tuple[dict[str, Any], str]:
    """The summary, and what was said beside it."""
    command = [str(probe), "frames", "unprotect", *options, str(path), str(path.with_suffix(".clear"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize(("of", "name"), list(zip(NETWORKS, NAMES, strict=True)))
def test_a_handshake_teaches_the_keys_of_pair_and_group_and_says_what_it_was(
    probe: Path, tmp_path: Path, of: Network, name: str
) -> None:
    air = made(of, tmp_path / "air.pcap")
    found, said = unprotect(probe, tmp_path / "air.pcap", *key(of))
    assert (found["done"], found["keys_learned"], said) == (air.protected, 4 if of.is_ft else 2, "")
    first, *roamed = found["handshakes"]
    assert (first["exchange"], first["key_management"], first["frames"]) == ("four_way", name, [1, 2, 3, 4])
    assert (first["keys"], first["why"]) == (2, None)
    assert [(one["exchange"], one["frames"], one["keys"]) for one in roamed] == (
        [("fast_transition", [1, 2], 2)] if of.is_ft else []
    )


@pytest.mark.parametrize("of", NETWORKS, ids=lambda of: of.name)
def test_another_key_opens_nothing_and_the_handshake_says_why(probe: Path, tmp_path: Path, of: Network) -> None:
    air = made(of, tmp_path / "air.pcap")
    wrong = ["--passphrase", "another horse", "--ssid", "home"] if of.name in OF_PSK else ["--pmk", "ee" * len(of.pmk)]
    found, said = unprotect(probe, tmp_path / "air.pcap", *wrong)
    assert (found["done"], found["failed"]["no_key"]) == (0, air.protected)
    assert {one["why"] for one in found["handshakes"]} == {"its MIC is right under none of the keys given"}
    assert said.count("its MIC is right under none of the keys given") == len(found["handshakes"])


@pytest.mark.parametrize("of", [of for of in NETWORKS if of.name not in OF_PSK], ids=lambda of: of.name)
def test_a_passphrase_opens_no_handshake_of_another_kind_and_the_summary_says_what_would(
    probe: Path, tmp_path: Path, of: Network
) -> None:
    made(of, tmp_path / "air.pcap")
    found, _ = unprotect(probe, tmp_path / "air.pcap", "--passphrase", PASSPHRASE, "--ssid", "home")
    for one in found["handshakes"]:
        assert one["why"].startswith("no key of this key management was given: --pmk")


def test_a_master_key_of_another_length_is_none_of_suite_b_of_192_bits(probe: Path, tmp_path: Path) -> None:
    made(NETWORKS[-2], tmp_path / "air.pcap")
    found, _ = unprotect(probe, tmp_path / "air.pcap", "--pmk", LONG.hex()[:64])
    assert found["handshakes"][0]["why"].endswith("--pmk with its 48 octets gives one, no passphrase does")


@pytest.mark.parametrize("missing", [1, 2, 3, 4])
def test_a_frame_of_the_four_that_is_missing_is_named_where_it_is_needed(
    probe: Path, tmp_path: Path, missing: int
) -> None:
    of = NETWORKS[8]
    air = made(of, tmp_path / "air.pcap")
    del air.frames[missing]  # the beacon stands before
    found, _ = unprotect(probe, air.write(tmp_path / "air.pcap"), *key(of))
    (one,) = found["handshakes"]
    assert one["frames"] == [number for number in (1, 2, 3, 4) if number != missing]
    # The third frame repeats the first one's nonce, and alone has the group key.
    right = {1: air.protected, 2: 0, 3: air.protected - 1, 4: air.protected}[missing]
    why = "frame 2 is missing: the station's nonce is not known" if missing == 2 else None
    assert (found["done"], one["why"]) == (right, why)


def test_a_domain_whose_network_has_no_name_needs_it_by_option(probe: Path, tmp_path: Path) -> None:
    of = NETWORKS[7]
    air = made(of, tmp_path / "air.pcap")
    air.frames = [frame for frame in air.frames if frame[0] not in {0x80, 0x20}]
    path = air.write(tmp_path / "air.pcap")
    found, _ = unprotect(probe, path, *key(of))
    assert found["handshakes"][0]["why"] == "the network's name is not known: --ssid gives it"
    assert unprotect(probe, path, *key(of), "--ssid", "other")[0]["done"] == 0
    # The response alone has both nonces: the request, which names the network, is not needed.
    assert unprotect(probe, path, *key(of), "--ssid", "other", "--ssid", "home")[0]["done"] == air.protected


def test_a_reassociation_that_was_changed_teaches_nothing(probe: Path, tmp_path: Path) -> None:
    of = NETWORKS[4]
    air = made(of, tmp_path / "air.pcap")
    for at, frame in enumerate(air.frames):
        if frame[0] in {0x20, 0x30}:
            where = frame.index(wifi_air.R0)
            air.frames[at] = frame[: where + 2] + b"x" + frame[where + 3 :]
    found, _ = unprotect(probe, air.write(tmp_path / "air.pcap"), *key(of))
    assert found["handshakes"][1]["keys"] == 0
    assert found["failed"]["no_key"] == air.protected // 2


def direct(path: Path, *, changed: bool = False) -> tuple[Air, int]:
    """A direct link between two stations and frames on it, each way; gives how many are its own."""
    of = NETWORKS[0]
    air, group = Air(of), bytes(16)
    air.beacon(AP)
    keys = air.four_way(group)
    link = air.direct_link(keys.temporal)
    if changed:
        link = bytes(16)
    before = air.protected
    for payload_B in wifi_air.PAYLOADS_B:
        for one, other in ((STATION, PEER), (PEER, STATION)):
            body = b"\xaa\xaa\x03\x00\x00\x00\x08\x00" + wifi_air.udp(payload_B)
            air.protect(link, air.mpdu(0, [one, other, AP], body))
    air.write(path)
    return air, air.protected - before


def test_the_setup_of_a_direct_link_teaches_its_key(probe: Path, tmp_path: Path) -> None:
    air, own = direct(tmp_path / "air.pcap")
    found, _ = unprotect(probe, tmp_path / "air.pcap", *key(NETWORKS[0]))
    assert (found["done"], own) == (air.protected, 2 * len(wifi_air.PAYLOADS_B))
    described = found["handshakes"][1]
    assert (described["exchange"], described["key_management"], described["frames"]) == ("direct_link", "TDLS", [2, 3])
    assert (described["keys"], described["why"]) == (1, None)
    # Without the pair's key nobody sees the setup.
    assert unprotect(probe, tmp_path / "air.pcap", "--pmk", "ee" * 32)[0]["done"] == 0
    _, own = direct(tmp_path / "other.pcap", changed=True)
    assert unprotect(probe, tmp_path / "other.pcap", *key(NETWORKS[0]))[0]["failed"]["mic"] == own


TABLE = TREE / "crates" / "frames" / "tests" / "handshakes.txt"
OLD = [
    Network("tkip", 2, PSK, cipher=TKIP, digest="sha1", version=1, mic="md5"),
    Network("wpa", 2, PSK, cipher=TKIP, digest="sha1", version=1, mic="md5", is_wpa=True),
]


def table() -> str:
    """Handshakes frame by frame, with the keys that they give: what the crate's own tests read."""
    lines = [
        "# Handshakes of every key management, of a network named home, and the keys that they give.",
        "# Source: support/wifi_air.py in tests/python, no part of this crate; oracles/test_handshakes.py says which",
        "# tshark opens. To write it anew, in that folder:",
        "# python -c 'import oracles.test_handshakes as t; t.TABLE.write_text(t.table())'",
        "# network, what, octets; of a group key its number stands before it",
    ]
    for of in [*NETWORKS, *OLD]:
        air, group = Air(of), bytes(range(7, 7 + of.temporal_B))
        air.beacon(AP)
        pair = air.four_way(group).temporal
        air.next_group(ptk(of, AP, ANONCE, SNONCE), group[::-1], 2)
        beacon, *frames, again = air.frames
        rows = [("passphrase" if of.name in OF_PSK or of in OLD else "master", of.pmk), ("beacon", beacon)]
        rows += [("frame", frame) for frame in frames]
        rows += [("pair", pair)]
        rows += [] if of.is_wpa else [("group", bytes([1]) + group)]
        rows += [("again", again), ("next", bytes([2]) + group[::-1])]
        if of.is_ft:
            air.frames.clear()
            rows += [("moved", air.roam(group).temporal)]
            rows += [("request", air.frames[0]), ("response", air.frames[1])]
        lines += [f"{of.name} {what} {octets.hex()}" for what, octets in rows]
    air = Air(NETWORKS[0])
    air.protect = lambda _key, mpdu, **_: air.say(mpdu)  # type: ignore[method-assign]
    link = air.direct_link(b"")
    rows = [("setup", air.frames[0]), ("setup", air.frames[1]), ("pair", link)]
    lines += [f"tdls {what} {octets.hex()}" for what, octets in rows]
    return "\n".join(lines) + "\n"


def test_the_table_of_the_crate_holds_these_handshakes() -> None:
    assert TABLE.read_text(encoding="utf-8") == table()


def opened_by_tshark(path: Path, of: Network) -> int:
    """UDP datagrams that tshark sees."""
    if of.name in OF_PSK:
        kind, text = "wpa-pwd", f"{PASSPHRASE}:{SSID.decode()}"
    elif of.name == "ft-eap":
        kind, text = "msk", "00" * 32 + of.pmk.hex()
    else:
        kind, text = "wpa-psk", of.pmk.hex()
    command = ["tshark", "-o", "wlan.enable_decryption:TRUE", "-o", f'uat:80211_keys:"{kind}","{text}"']
    command += ["-T", "fields", "-e", "udp.dstport", "-r", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout.split().count("2000")


needs_tshark = needs(shutil.which("tshark"), "no tshark: apt install tshark")


@needs_tshark
@pytest.mark.parametrize("of", [of for of in NETWORKS if of.name not in NOT_BY_TSHARK], ids=lambda of: of.name)
def test_tshark_opens_the_same_captures(tmp_path: Path, of: Network) -> None:
    made(of, tmp_path / "air.pcap")
    of_pair, roams = 2 * len(wifi_air.PAYLOADS_B), 2 if of.is_ft else 1
    least = of_pair if of.name in OF_PAIR_BY_TSHARK else roams * (of_pair + 1)
    assert least <= opened_by_tshark(tmp_path / "air.pcap", of) <= roams * (of_pair + 1)


@needs_tshark
def test_tshark_opens_the_same_direct_link(tmp_path: Path) -> None:
    _, own = direct(tmp_path / "air.pcap")
    assert opened_by_tshark(tmp_path / "air.pcap", NETWORKS[0]) == own
