"""The papers' data: whole, unique, and the same wherever it stands twice."""

import re

import pytest

from wattlock.definitions.shelf import parsed
from wattlock.errors import InputError
from wattlock.papers import literature

PAPERS = literature.load()


def test_every_id_stands_once() -> None:
    for ids in ([one.id for one in PAPERS.claims], [one.id for one in PAPERS.exhibits], [s.id for s in PAPERS.sources]):
        assert len(ids) == len(set(ids))
    assert (len(PAPERS.sources), len(PAPERS.claims), len(PAPERS.exhibits)) == (5, 61, 40)


def test_every_claim_and_every_exhibit_is_of_a_known_paper() -> None:
    known = {one.id for one in PAPERS.sources}
    assert all(set(claim.source) <= known for claim in PAPERS.claims)
    assert all(any(one.id.startswith(f"{paper}-") for paper in known) for one in PAPERS.exhibits)


def test_a_table_of_sending_has_a_figure_for_each_scenario() -> None:
    assert set(PAPERS.sending) == {"text", "audio", "video"}
    for table in PAPERS.sending.values():
        assert all(len(row) == len(table.columns) for row in table.duration_s.values())
    assert PAPERS.sending["audio"].of("blowfish", "bss_open") == 34.22


def test_the_image_of_toldinas_has_the_size_of_its_conditions() -> None:
    assert PAPERS.toldinas.payload_B == PAPERS.conditions["data"]["bitmap"]["bytes"] == 54 + 512 * 512 * 3
    assert PAPERS.toldinas.iterations == PAPERS.conditions["data"]["bitmap"]["iterations"]


def test_what_the_tables_give_is_what_the_tables_give() -> None:
    open_s = [table.of("none", "adhoc_open") for table in PAPERS.sending.values()]
    through_s = [table.of("none", "bss_open") for table in PAPERS.sending.values()]
    ratios = [b / a for a, b in zip(open_s, through_s, strict=True)]
    low, high = PAPERS.claim("bss-vs-adhoc").expect["ratio"]
    assert low <= min(ratios) <= max(ratios) <= high
    sooner = [
        (name, column)
        for table in PAPERS.sending.values()
        for name in ("blowfish", "rc6")
        for column in table.columns
        if table.of(name, column) < table.of("none", column)
    ]
    assert len(sooner) == 9
    assert "nine cells" in PAPERS.claim("ciphertext-faster-than-plaintext").says


def test_an_unknown_key_is_named_with_its_file() -> None:
    text = '[[source]]\nid="a"\nyear=2000\nauthors="b"\ntitle="c"\nmachine="d"\nplace="e"\n'
    with pytest.raises(InputError, match=re.escape("papers/sources.toml: source[0].place")):
        parsed("papers/sources.toml", text, literature._Sources)
