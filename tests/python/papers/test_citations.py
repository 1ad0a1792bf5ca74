"""The papers as BibTeX: an entry each, closed, keyed by its id, without what nobody could look up."""

import re

from wattlock.papers.literature import PaperSource, bibtex, published, sources

KEPT = {"author", "title", "year"}


def made(**more: str) -> PaperSource:
    given = {"id": "a", "year": 2001, "authors": "A. One, B. Two", "title": "On AES", "machine": "c"}
    return PaperSource.model_validate(given | more)


def fields(entry: str) -> dict[str, str]:
    return dict(re.findall(r"^  (\w+) = \{(.*)\},$", entry, re.MULTILINE))


def test_every_paper_has_an_entry_that_closes() -> None:
    written = bibtex(sources())
    assert re.findall(r"^@\w+\{([\w-]+),$", written, re.MULTILINE) == [source.id for source in sources()]
    assert written.count("{") == written.count("}")
    for source, entry in zip(sources(), written.split("\n\n"), strict=True):
        found = fields(entry)
        assert found.keys() >= KEPT
        assert found["year"] == str(source.year)
        assert len(found["author"].split(" and ")) == len(source.authors.split(","))
        assert ("journal" in found) == (source.kind == "article")
        assert ("booktitle" in found) == (source.kind == "inproceedings")


def test_what_is_known_of_a_paper_stands_in_its_entry_and_its_line() -> None:
    known = made(kind="article", venue="Journal of Watts", volume="3", number="4", pages="10-12", doi="10.1/x")
    assert fields(bibtex([known])) == {
        "author": "A. One and B. Two",
        "title": "{On AES}",
        "year": "2001",
        "journal": "Journal of Watts",
        "volume": "3",
        "number": "4",
        "pages": "10--12",
        "doi": "10.1/x",
    }
    assert published(known) == "Journal of Watts 3(4), 10-12, 2001"


def test_what_is_not_known_is_left_out() -> None:
    assert fields(bibtex([made()])).keys() == KEPT
    assert published(made()) == "2001"
    assert published(made(kind="inproceedings", venue="WATTS", volume="3")) == "WATTS 3, 2001"
