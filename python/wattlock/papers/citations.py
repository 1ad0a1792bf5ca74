"""The five papers as others cite them: BibTeX, and a line for a reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wattlock.papers.record import Source

VENUE = {"article": "journal", "inproceedings": "booktitle", "misc": "howpublished"}
"""The field of BibTeX that says where a kind of entry appeared."""


def bibtex(sources: Sequence[Source]) -> str:
    """An entry for each paper, keyed by its id; what is not known of it is left out."""
    return "\n".join(_entry(source) for source in sources)


def _entry(source: Source) -> str:
    fields = "".join(f"  {name} = {{{value}}},\n" for name, value in _fields(source))
    return f"@{source.kind}{{{source.id},\n{fields}}}\n"


def _fields(source: Source) -> Iterator[tuple[str, str]]:
    yield "author", " and ".join(_names(source))
    yield "title", f"{{{source.title}}}"
    yield "year", str(source.year)
    for name, value in ((VENUE[source.kind], source.venue), ("volume", source.volume), ("number", source.number)):
        if value is not None:
            yield name, value
    if source.pages is not None:
        yield "pages", source.pages.replace("-", "--")
    if source.doi is not None:
        yield "doi", source.doi


def _names(source: Source) -> list[str]:
    return [name.strip() for name in source.authors.split(",")]


def published(source: Source) -> str:
    """Where and when a paper appeared, in a line."""
    numbered = f" {source.volume or ''}{f'({source.number})' if source.number else ''}".rstrip()
    parts = [f"{source.venue}{numbered}" if source.venue else "", source.pages or "", str(source.year)]
    return ", ".join(part for part in parts if part)
