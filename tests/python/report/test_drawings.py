"""Small pictures: what stands where on the axis, what is said of it in words, and what a reader without eyes gets."""

import re
import tomllib
from importlib.resources import files
from typing import Any
from xml.etree import ElementTree

import pytest

from support.tree import TREE
from wattlock.report import drawings as diagrams
from wattlock.report.drawings import WIDTH, Axis, StripRow, axis_of, standalone, strip, strip_described, width_of


def places(svg: str, kind: str, attribute: str) -> list[float]:
    return [float(one) for one in re.findall(rf'<\w+ class="{kind}"[^>]*? {attribute}="(-?[\d.]+)"', svg)]


def test_an_axis_holds_intervals_claimed_figures_and_the_line() -> None:
    rows = [StripRow("a", 2.0, 1.8, 2.2), StripRow("b", 0.5, 0.4, 0.6, claimed=0.16)]
    axis = axis_of(rows, log=True, line=4.0)
    assert axis.low < 0.16
    assert axis.high > 4.0
    assert axis.log
    places = [axis.place(value) for value in (0.16, 0.4, 1.0, 2.2, 4.0)]
    assert places == sorted(places)
    assert places[0] > 0
    assert places[-1] < 1


def test_on_a_logarithmic_axis_a_half_is_as_far_from_one_as_two() -> None:
    axis = axis_of([StripRow("", 0.5, 0.5, 0.5), StripRow("", 2.0, 2.0, 2.0)], log=True)
    assert axis.place(1.0) == pytest.approx(0.5)
    assert axis.place(1.0) - axis.place(0.5) == pytest.approx(axis.place(2.0) - axis.place(1.0))


def test_an_axis_with_a_value_below_zero_is_linear() -> None:
    assert not axis_of([StripRow("", -1.0, -2.0, 3.0)], log=True).log


def test_a_bound_that_lies_far_off_is_cut_and_a_near_one_is_not() -> None:
    near = axis_of([StripRow("", 10.0, 9.0, 11.0, bounds=(8.9, None))], log=False)
    far = axis_of([StripRow("", 10.0, 9.0, 11.0, bounds=(9.5, 4000.0))], log=False)
    assert near.low < 8.9
    assert far.high < 12


def test_ticks_are_few_round_and_within() -> None:
    for low, high, log in ((0.02, 900.0, True), (0.9, 1.1, True), (-3.0, 44.0, False), (1e-7, 1e-5, True)):
        axis = axis_of([StripRow("", low, low, high)], log=log)
        assert 1 <= len(axis.ticks) <= 6
        assert all(axis.low <= tick <= axis.high for tick in axis.ticks)
        assert list(axis.ticks) == sorted(axis.ticks)


def test_a_figure_that_is_alone_has_an_axis_too() -> None:
    axis = axis_of([StripRow("", 9.0, 9.0, 9.0)], log=False)
    assert axis.low < 9.0 < axis.high


def test_the_dot_lies_in_its_interval_and_the_diamond_where_it_is_claimed() -> None:
    axis = Axis(0.0, 100.0, log=False, ticks=(0.0, 50.0, 100.0))
    svg = strip([StripRow("", 50.0, 25.0, 75.0, bounds=(0.0, 50.0), claimed=100.0)], axis, "percent", width_px=216)
    (dot,), (start,), (end,) = places(svg, "found", "cx"), places(svg, "interval", "x1"), places(svg, "interval", "x2")
    assert (start, dot, end) == (58.0, 108.0, 158.0)
    assert places(svg, "counts", "x") == [8.0]
    assert places(svg, "counts", "width") == [100.0]
    assert 'class="claimed" d="M203.8 ' in svg


def test_an_open_bound_goes_to_the_end_of_the_axis() -> None:
    axis = Axis(0.0, 100.0, log=False, ticks=())
    svg = strip([StripRow("", 50.0, 25.0, 75.0, bounds=(50.0, None))], axis, "percent", width_px=216)
    assert (places(svg, "counts", "x"), places(svg, "counts", "width")) == ([108.0], [100.0])


def test_a_logarithmic_axis_says_so_and_the_picture_is_told_in_words() -> None:
    rows = [StripRow("a <b>", 2.0, 1.0, 4.0, claimed=3.0)]
    svg = strip(rows, axis_of(rows, log=True), "ratio", line=1.0)
    assert "ratio, log scale</text>" in svg
    words = strip_described(rows, "ratio")
    assert words == "ratio. a <b>: 2.00 (1.00 to 4.00), claimed 3.00"
    escaped = words.replace("<", "&lt;").replace(">", "&gt;")
    assert svg.count(escaped) == 2
    assert 'role="img"' in svg
    assert svg.count('class="even"') == 1


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
