"""How a result set is cited, and under which licence it may be used."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from wattlock.errors import InputError

LICENCE = "CC-BY-4.0"
NAMES = {
    "CC-BY-4.0": "Creative Commons Attribution 4.0 International",
    "CC0-1.0": "CC0 1.0 Universal (public domain)",
}
PAGES = {
    "CC-BY-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "CC0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
}


@dataclass(frozen=True, slots=True)
class Citation:
    """What a citation says.

    * `authors`: as `Family, Given`, or the name of a group; `date`: ISO 8601, of the newest run; `licence`: by its SPDX
      identifier; `key`: the number of the key that signed the set; `version`: of wattlock; `url`: where the set lies.
    """

    title: str
    authors: Sequence[str]
    date: str
    licence: str
    key: str
    version: str
    url: str | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.+-]*", self.licence):
            hint = "its SPDX identifier, as CC-BY-4.0 or CC0-1.0: https://spdx.org/licenses/"
            raise InputError(f"--licence {self.licence}: no licence is called so", hint=hint)
        for name, value in (("--title", self.title), *(("--author", author) for author in self.authors)):
            if not value.strip() or not value.isprintable():
                raise InputError(f"{name} {value!r}: is empty, or no line of text", hint="write it in one line")
        if self.url is not None and not re.fullmatch(r"https?://[^\s\"{}\\]+", self.url):
            raise InputError(f"--url {self.url}: is no address", hint="for example https://example.org/set/")

    @property
    def licence_name(self) -> str:
        """The licence's name; its identifier where that is all that is known."""
        return NAMES.get(self.licence, self.licence)

    @property
    def licence_page(self) -> str:
        """Where the licence's text stands."""
        return PAGES.get(self.licence, f"https://spdx.org/licenses/{self.licence}.html")

    def cff(self) -> str:
        """The set in the Citation File Format 1.2.0; a string of JSON is one of YAML."""
        lines = ["cff-version: 1.2.0", "message: If you use this result set, please cite it as below.", "type: dataset"]
        lines += [f"title: {_quoted(self.title)}", "authors:"]
        for author in self.authors:
            family, comma, given = (part.strip() for part in author.partition(","))
            lines += (
                [f"  - family-names: {_quoted(family)}", f"    given-names: {_quoted(given)}"]
                if comma
                else [f"  - name: {_quoted(author)}"]
            )
        lines += [f"date-released: {_quoted(self.date[:10])}", f"license: {_quoted(self.licence)}"]
        if self.url is not None:
            lines.append(f"url: {_quoted(self.url)}")
        return "\n".join([*lines, f"abstract: {_quoted(self.note)}"]) + "\n"

    def bibtex(self) -> str:
        """The set as an entry of BibTeX."""
        named = [author if "," in author else f"{{{_tex(author)}}}" for author in self.authors]
        fields = {
            "title": f"{{{_tex(self.title)}}}",
            "author": " and ".join(name if name.startswith("{") else _tex(name) for name in named),
            "year": self.date[:4],
            "month": str(int(self.date[5:7])),
            "note": _tex(self.note),
            **({"url": self.url} if self.url is not None else {}),
        }
        body = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
        return f"@misc{{wattlock-{self.key.lower()}-{self.date[:10]},\n{body}\n}}\n"

    @property
    def note(self) -> str:
        """What made the set, who signed it, and its licence."""
        return f"Measured with wattlock {self.version}; signed by the minisign key {self.key}; {self.licence}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _tex(text: str) -> str:
    """A text without commands of LaTeX; its letters stay, as BibTeX files are UTF-8 today."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(letter) or (f"\\{letter}" if letter in "{}$&#%_" else letter) for letter in text)
