"""The explaining drawings: they show their data as text, in the page's colours, on a phone's width."""

import re
import tomllib
from importlib.resources import files
from typing import Any
from xml.etree import ElementTree

import pytest

from support.tree import TREE
from wattlock.report import drawings as diagrams
from wattlock.report.drawings import WIDTH, standalone, width_of

SVG = "{http://www.w3.org/2000/svg}"
ROWS: list[dict[str, Any]] = [
    {"family": "aes", "mode": "cbc", "block_bits": 128},
    {"family": "rijndael192", "mode": "cbc", "block_bits": 192},
    {"family": "des", "mode": "ctr", "block_bits": 64},
    {"family": "rc4", "mode": "stream", "block_bits": 8},
    {"family": "aes-gcm", "mode": "aead", "block_bits": 128},
    {"family": "ccmp128", "mode": "frame", "block_bits": 128},
    {"family": "xor", "mode": "stream", "block_bits": 8},
    {"family": "rsa2048-oaep", "mode": "establish", "public_key_B": 270, "operations": ["generate", "encrypt"]},
    {"family": "x25519", "mode": "establish", "public_key_B": 32, "operations": ["generate", "agree"]},
]


def data() -> dict[str, Any]:
    return tomllib.loads((files("wattlock") / "data" / "papers" / "diagrams.toml").read_text(encoding="utf-8"))


def drawings() -> list[str]:
    of = data()
    exchanges = [diagrams.exchange(one["title"], one["parties"], one["messages"]) for one in of["exchange"]]
    return [*exchanges, diagrams.taxonomy(ROWS), diagrams.feature_model(of["feature"]), diagrams.loop(**of["loop"])]


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314 - our own


def texts(svg: str) -> list[str]:
    return [one.text or "" for one in parsed(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("number", range(6))
def test_a_drawing_says_itself_in_words_and_stays_on_the_sheet(number: int) -> None:
    root = parsed(drawings()[number])
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title")
    described = root.findtext(f"{SVG}desc") or ""
    assert len(described) > 60
    height = float((root.get("viewBox") or "").split()[3])
    for one in root.iter(f"{SVG}text"):
        x, width = float(one.get("x", 0)), width_of(one.text or "", float(one.get("font-size", 0)))
        left = x - {"start": 0.0, "middle": width / 2, "end": width}[one.get("text-anchor", "start")]
        assert left >= -1, one.text
        assert left + width <= WIDTH + 8, one.text
        assert float(one.get("y", 0)) < height
    for box in root.iter(f"{SVG}rect"):
        assert float(box.get("x", 0)) + float(box.get("width", 0)) <= WIDTH + 1


def test_the_sizes_of_authentication_are_those_that_the_frames_crate_writes() -> None:
    source = (TREE / "crates" / "frames" / "src" / "authentication.rs").read_text()
    numbers = dict(re.findall(r"pub const (\w+): usize = (\d+);", source))
    plain, challenge = int(numbers["PLAIN_B"]), int(numbers["CHALLENGE_B"])
    open_system, shared_key, handshake = (
        [message["octets_B"] for message in one["messages"]] for one in data()["exchange"]
    )
    assert open_system == [plain, plain]
    assert shared_key == [plain, plain + 2 + challenge, plain + 2 + challenge + 8, plain]
    source = (TREE / "crates" / "frames" / "src" / "handshake" / "key_frame.rs").read_text()
    before, mic = re.search(r"MIC_AT: usize = (\d+);", source), re.search(r"MICS_B: \[usize; 4\] = \[(\d+),", source)
    assert before is not None
    assert mic is not None
    # Behind the MIC stands the length of the key data, in two octets.
    fixed_B = int(before[1]) + int(mic[1]) + 2
    assert [size - fixed_B for size in handshake] == [0, 22, 56, 0]


def test_the_taxonomy_has_each_family_of_the_catalogue_in_its_class() -> None:
    assert diagrams.classified(ROWS) == [
        (diagrams.HEADINGS[0], "streams, without a mode", ["RC4"]),
        (diagrams.HEADINGS[0], "blocks of 64 bits, in a mode of operation", ["DES"]),
        (diagrams.HEADINGS[0], "blocks of 128 bits, in a mode of operation", ["AES"]),
        (diagrams.HEADINGS[0], "blocks of 192 bits, in a mode of operation", ["Rijndael"]),
        (diagrams.HEADINGS[0], "authenticated encryption", ["AES-GCM"]),
        (diagrams.HEADINGS[0], "protection of 802.11 frames", ["CCMP-128"]),
        (diagrams.HEADINGS[1], "encryption of a short message", ["RSA-2048-OAEP"]),
        (diagrams.HEADINGS[1], "key agreement", ["X25519"]),
        (diagrams.HEADINGS[2], "baselines", ["XOR"]),
    ]
    assert {"RC4", "AES-GCM", "X25519"} <= set(texts(diagrams.taxonomy(ROWS)))


def test_a_drawing_is_escaped_and_takes_its_colours_from_the_page_or_stands_alone() -> None:
    svg = diagrams.exchange("a", ["<b>", "c&d"], [{"from": 0, "says": "<script>", "octets_B": 1}])
    assert "<script>" not in svg
    assert "<script>" in texts(svg)
    assert re.findall(r'(?:fill|stroke)="(?!var\(--|none)', svg) == []
    assert "var(" not in standalone(svg)
    parsed(standalone(svg))


def test_a_loop_goes_back_from_the_step_that_asks() -> None:
    svg = diagrams.loop("t", ["one", "two", "three?", "four"], question=2, back_to=1)
    assert "Step 3 goes back to step 2" in svg
    assert [words for words in texts(svg) if words in {"yes", "no"}] == ["no", "yes"]
