"""Which file of a crate uses which, read from the Rust source: its `use` declarations and the paths in its code."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# A comment, a string, a character, a lifetime, a name, `::`, any other character.
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(?P<hashes>\#*)".*?"(?P=hashes)|b?c?"(?:[^"\\]|\\.)*"|b?'(?:[^'\\\n]|\\[^\n]+?)'|'\w+"""
    r"""|(?P<word>(?:r\#)?[A-Za-z_]\w*)|(?P<mark>::|[^\s\w])""",
    re.DOTALL,
)
DEFINING = {"fn", "struct", "enum", "union", "trait", "type", "const", "static", "macro_rules"}
NAME = r"(?:r#)?[A-Za-z_]\w*"
OPENING, CLOSING = {"(": 1, "[": 1, "{": 1}, {")", "]", "}"}
# A module by its names below the crate's root; the root is ().
Module = tuple[str, ...]


@dataclass
class Import:
    """One name that a `use` declaration brings; `*` for all of a module's."""

    name: str
    path: tuple[str, ...]
    module: Module
    is_public: bool


@dataclass
class Source:
    """What one file has: the names it defines by module, its imports, and the paths its code writes."""

    module: Module
    defined: dict[Module, set[str]] = field(default_factory=dict)
    macros: set[str] = field(default_factory=set)
    declared: set[str] = field(default_factory=set)
    imports: list[Import] = field(default_factory=list)
    paths: set[tuple[Module, tuple[str, ...]]] = field(default_factory=set)
    called: set[str] = field(default_factory=set)


def tokens(rust: str) -> list[str]:
    """Names and marks of the code; comments are left out, and so are literals."""
    return [found[0] for found in TOKEN.finditer(rust) if found["word"] or found["mark"]]


def end_of(code: list[str], start: int) -> int:
    """Where the bracket that opens at `start` closes."""
    depth = 0
    for place in range(start, len(code)):
        depth += (code[place] in OPENING) - (code[place] in CLOSING)
        if depth == 0:
            return place
    return len(code) - 1


def without_tests(code: list[str]) -> list[str]:
    """The code without what is compiled for tests alone."""
    kept, place = [], 0
    while place < len(code):
        if code[place : place + 7] != ["#", "[", "cfg", "(", "test", ")", "]"]:
            kept.append(code[place])
            place += 1
            continue
        place += 7
        # To the end of the item: its block, or its semicolon.
        while code[place] not in {"{", ";"}:
            place = end_of(code, place) + 1 if code[place] in OPENING else place + 1
        place = end_of(code, place) + 1 if code[place] == "{" else place + 1
    return kept


def leaves(tree: list[str], before: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The names that a `use` tree brings, each with its whole path."""
    if "{" in tree:
        opening = tree.index("{")
        prefix = (*before, *(word for word in tree[:opening] if word != "::"))
        inner, start, depth = tree[opening + 1 : end_of(tree, opening)], 0, 0
        for place, word in enumerate([*inner, ","]):
            depth += (word == "{") - (word == "}")
            if word == "," and depth == 0:
                if place > start:
                    yield from leaves(inner[start:place], prefix)
                start = place + 1
        return
    words = [word for word in tree if word != "::"]
    renamed = words[-1] if len(words) > 2 and words[-2] == "as" else None
    path = (*before, *(words[:-2] if renamed else words))
    if path[-1] == "self" and len(path) > 1:
        path = path[:-1]
    yield renamed or path[-1], path


class Reader:
    """Goes through the code of one file once."""

    def __init__(self, rust: str, module: Module) -> None:
        self.code = without_tests(tokens(rust))
        self.source = Source(module)
        self.scope = module
        self.closes: list[tuple[int, Module]] = []
        self.depth = 0
        self.read()

    def read(self) -> None:
        place = 0
        while place < len(self.code):
            place = self.step(place)

    def at(self, place: int) -> str:
        return self.code[place] if 0 <= place < len(self.code) else ""

    def step(self, place: int) -> int:
        """Reads what begins at `place`; gives where to go on."""
        word = self.code[place]
        if word == "mod" and self.at(place + 2) in {";", "{"}:
            return self.module(place)
        if self.closes and place == self.closes[-1][0]:
            self.scope = self.closes.pop()[1]
            return place + 1
        self.depth += (word == "{") - (word == "}")
        # `use<>` of a type is no import.
        if word == "use" and self.at(place - 1) not in {"<", ",", "+"}:
            return self.imports(place)
        if word in DEFINING:
            return self.item(place)
        if re.fullmatch(NAME, word) and self.at(place - 1) not in {".", "::"}:
            return self.path(place)
        return place + 1

    def module(self, place: int) -> int:
        name = self.at(place + 1)
        if self.at(place + 2) == ";":
            self.source.declared.add(name)
        else:
            self.define(name)
            self.closes.append((end_of(self.code, place + 2), self.scope))
            self.scope = (*self.scope, name)
        return place + 3

    def item(self, place: int) -> int:
        is_macro = self.code[place] == "macro_rules"
        name = self.at(place + 2 if is_macro else place + 1)
        if self.depth == 0:
            self.define(name)
        if is_macro:
            self.source.macros.add(name)
            return place + 3
        # `const fn` and `const unsafe fn`: the name comes later.
        return place + 1 if name in {"fn", "unsafe", "extern"} else place + 2

    def define(self, name: str) -> None:
        self.source.defined.setdefault(self.scope, set()).add(name)

    def imports(self, place: int) -> int:
        end = self.code.index(";", place)
        is_public = self.at(place - 1) == "pub" or (self.at(place - 1) == ")" and "pub" in self.code[place - 4 : place])
        tree = self.code[place + 1 : end]
        if tree[:1] != ["::"]:
            for name, path in leaves(tree):
                self.source.imports.append(Import(name, path, self.scope, is_public))
        return end + 1

    def path(self, place: int) -> int:
        names, end = [self.code[place]], place + 1
        while self.at(end) == "::" and re.fullmatch(NAME, self.at(end + 1)):
            names.append(self.at(end + 1))
            end += 2
        if self.at(end) == "!" and self.at(end + 1) in OPENING:
            self.source.called.add(names[-1])
        self.source.paths.add((self.scope, tuple(names)))
        return end


def module_of(file: Path, root: Path) -> Module:
    """The module that a file is: `a/b.rs` and `a/b/mod.rs` are `a::b`, the crate's root is ()."""
    parts = file.relative_to(root).with_suffix("").parts
    return parts[:-1] if parts[-1] == "mod" else () if parts in {("lib",), ("main",)} else parts


class Crate:
    """The files of one crate, and who uses whom."""

    def __init__(self, files: dict[str, str]) -> None:
        """`files`: source text by path below `src`; a file of tests is left out."""
        kept = {file: text for file, text in files.items() if "tests" not in Path(file).with_suffix("").parts}
        if "lib.rs" in kept:
            kept.pop("main.rs", None)  # a crate of its own, which uses the library by its name
        self.sources = {file: Reader(text, module_of(Path(file), Path())).source for file, text in kept.items()}
        self.files = {source.module: file for file, source in self.sources.items()}
        self.modules = set(self.files)
        for source in self.sources.values():
            self.modules |= set(source.defined)

    def file_of(self, module: Module) -> str:
        """The file that a module is written in: an inline one is in that of its parent."""
        while module not in self.files:
            module = module[:-1]
        return self.files[module]

    def lookup(
        self, module: Module, name: str, seen: frozenset[tuple[Module, str]] = frozenset()
    ) -> Module | str | None:
        """What `name` is in `module`: a module, the file that defines it, or nothing of this crate."""
        if (*module, name) in self.modules:
            return (*module, name)
        if (module, name) in seen:
            return None
        seen |= {(module, name)}
        source = self.sources[self.file_of(module)]
        if name in source.defined.get(module, ()):
            return self.file_of(module)
        brought = [entry for entry in source.imports if entry.module == module]
        for entry in brought:
            if entry.name == name:
                return self.resolve(module, entry.path, seen)
        for entry in brought:
            if entry.name == "*":
                holder = self.resolve(module, entry.path[:-1], seen)
                found = self.lookup(holder, name, seen) if isinstance(holder, tuple) else None
                if found is not None:
                    return found
        return None

    def resolve(
        self, module: Module, path: tuple[str, ...], seen: frozenset[tuple[Module, str]] = frozenset()
    ) -> Module | str | None:
        """What a path written in `module` leads to; of a name that a macro makes, the file that holds it."""
        here: Module = module
        for place, name in enumerate(path):
            if name == "crate":
                here = ()
            elif name == "super":
                here = here[:-1]
            elif name != "self":
                found = self.lookup(here, name, seen)
                if found is None:
                    # What nobody is seen to define: of another crate, or made by a macro of the module named before.
                    return self.file_of(here) if place else None
                if isinstance(found, str):
                    return found
                here = found
        return here

    def uses_of(self, file: str) -> set[str]:
        """The files whose names this file uses; names that it only hands on from its children are none."""
        source = self.sources[file]
        used = set()
        for entry in source.imports:
            if entry.name == "*":
                continue
            found = self.resolve(entry.module, entry.path)
            if isinstance(found, str) and not (entry.is_public and self.is_below(found, file)):
                used.add(found)
        used |= {found for module, path in source.paths if isinstance(found := self.resolve(module, path), str)}
        # A family of modules that a macro declares is used by it; a macro is in scope below the module that has it.
        below = {name for name, other in self.files.items() if other != file and self.file_of(name[:-1]) == file}
        used |= {self.files[name] for name in below if name[-1] not in source.declared}
        for called in source.called - source.macros:
            holders = [source.module[:depth] for depth in range(len(source.module))]
            used |= {self.files[m] for m in holders if m in self.files and called in self.sources[self.files[m]].macros}
        return used - {file}

    def imports_of_others(self, root: str) -> list[str]:
        """What a root imports beside its children's names; nothing where it has no children."""
        if root not in self.sources or len(self.files) == 1:
            return []
        children = {module[0] for module in self.files if module}
        paths = [entry.path for entry in self.sources[root].imports]
        own = [path[1:] if path[0] in {"self", "crate"} else path for path in paths]
        return ["::".join(path) for path, rest in zip(paths, own, strict=True) if rest[:1] and rest[0] not in children]

    def is_below(self, file: str, holder: str) -> bool:
        above, below = self.sources[holder].module, self.sources[file].module
        return len(below) > len(above) and below[: len(above)] == above

    def uses(self) -> dict[str, set[str]]:
        return {file: self.uses_of(file) for file in self.sources}


def crate_at(src: Path) -> Crate:
    return Crate({path.relative_to(src).as_posix(): path.read_text() for path in sorted(src.rglob("*.rs"))})
