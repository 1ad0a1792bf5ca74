"""The laws of the house: who may import whom, where `unsafe` lives, how large a file may grow."""

import ast
import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.circles import circles
from support.tree import CRATES, PACKAGE, ROOMS, SUPPORT, TESTS, TREE
from wattlock.study.cases import sha256
from wattlock.targets import local, toolbox

# Crates, and whose they may use: those that stand before them, of these the ones that are named.
CRATES_BELOW = {
    "engine": set(),
    "air": set(),
    "ciphers": set(),
    "frames": set(),
    "firmware": {"ciphers", "engine", "frames"},
    "records": {"engine"},
    "bench": {"engine", "records", "ciphers", "frames"},
    "meters": {"engine", "records"},
    "page": {"bench", "ciphers", "engine", "records"},
    "providers": {"bench", "ciphers", "records"},
    "terminal": {"bench", "ciphers", "providers", "records"},
    "cores": set(),
    "probe": {"engine", "records", "ciphers", "cores", "frames", "bench", "meters", "providers", "terminal"},
    "net": {"engine", "records", "ciphers", "frames", "air", "bench", "meters", "providers", "terminal"},
    "test_tools": set(),
}
UNSAFE_ROOMS = [
    "providers/src/adapter",
    "providers/src/libraries",
    "ciphers/src/kernels",
    "probe/src/clock",
    "firmware/src/board",
    "page/src/browser",
]
BARE_CRATES = ["ciphers", "frames", "air", "engine", "records", "bench"]
NO_ROOM = {"util", "utils", "common", "helpers", "misc", "core"}
HEAVY = {"polars", "altair", "scipy", "numpy", "vl_convert"}
LONGEST_PYTHON, LONGEST_FILE, LONGEST_RUST_TEST = 1_000, 500, 700
LONGEST_FUNCTION, LONGEST_VERB, MOST_PARAMETERS = 60, 80, 8
# Lines of the comment at a crate's root.
LEAST_PAGE = 9

SOURCES = sorted(PACKAGE.rglob("*.py"))
PYTHON = sorted([*SOURCES, *TESTS.rglob("*.py")])
RUST = sorted(path for path in CRATES.rglob("*.rs") if "target" not in path.parts)
RUST_TESTS = [path for path in RUST if "tests" in path.parts or path.name == "tests.rs"]
RUST_CODE = [path for path in RUST if path not in RUST_TESTS]


def imports(tree: ast.AST) -> Iterator[str]:
    """Full names of all modules that are imported, at any depth of the code."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def run_at_import(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a module is imported: not those of functions, nor those for type checkers."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            yield from run_at_import(node.orelse)
            continue
        yield node
        for inner in ("body", "orelse", "finalbody"):
            yield from run_at_import(getattr(node, inner, []))


def looks_right(room: str, source: str) -> list[str]:
    """The imports of `source`, a file of `room`, that the street forbids."""
    wrong = []
    for name in imports(ast.parse(source)):
        parts = name.split(".")
        if (
            parts[0] == "wattlock"
            and len(parts) > 1
            and parts[1] in ROOMS
            and ROOMS.index(parts[1]) > ROOMS.index(room)
        ):
            wrong.append(name)
    return wrong


def code_of(rust: str) -> str:
    """Rust without comments and strings, as far as looking for a keyword needs it."""
    rust = re.sub(r"//[^\n]*|/\*.*?\*/", "", rust, flags=re.DOTALL)
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', rust, flags=re.DOTALL)


def says_unsafe(rust: str) -> bool:
    return bool(re.search(r"\bunsafe\b(?!_code)", code_of(rust)))


def test_every_room_is_on_the_street() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    assert rooms <= set(ROOMS)


@pytest.mark.parametrize("room", [room for room in ROOMS if (PACKAGE / room).is_dir()])
def test_a_room_imports_only_from_the_rooms_before_it(room: str) -> None:
    wrong = {
        path.name: found for path in (PACKAGE / room).rglob("*.py") if (found := looks_right(room, path.read_text()))
    }
    assert wrong == {}


def modules() -> dict[str, Path]:
    """Every module of the package by its full name."""
    found = {".".join(("wattlock", *path.relative_to(PACKAGE).with_suffix("").parts)): path for path in SOURCES}
    return {name.removesuffix(".__init__"): path for name, path in found.items()}


def test_no_files_of_a_room_import_one_another_in_a_circle() -> None:
    every = modules()
    uses = {
        name: {used if used in every else used.rpartition(".")[0] for used in imports(ast.parse(path.read_text()))}
        & set(every) - {name}
        for name, path in every.items()
    }
    assert circles(uses) == []


def test_the_law_of_circles_sees_a_long_one_and_passes_over_a_diamond() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [{"a", "b", "c"}]
    assert circles({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": set()}) == []


def test_the_law_of_imports_sees_an_import_to_the_right() -> None:
    assert looks_right("study", "def f():\n    from wattlock.store import runs") == ["wattlock.store.runs"]
    assert looks_right("study", "from wattlock import report") == ["wattlock.report"]
    assert looks_right("cli", "import wattlock.study.cases") == []


def names_this_machine(source: str) -> bool:
    """Whether `source` takes this machine as the device, by itself or as the default."""
    named = ("wattlock.targets.local", "wattlock.targets.Local", "wattlock.targets.or_this_machine")
    return any(f"{name}.".startswith(f"{known}.") for name in imports(ast.parse(source)) for known in named)


def test_a_device_comes_in_from_outside() -> None:
    outside = {
        path.relative_to(PACKAGE).as_posix(): path.read_text() for path in SOURCES if path.parts[-2] != "targets"
    }
    found = {path for path, source in outside.items() if names_this_machine(source)}
    # The calls of a notebook, which have a default, and where the device of a verb comes in.
    assert found == {"notebook.py", "run/begin.py", "papers/material.py", "advise/answer.py", "cli/options.py"}
    assert not any(
        name.startswith("wattlock.targets.local") for text in outside.values() for name in imports(ast.parse(text))
    )


def test_the_law_of_devices_sees_this_machine_by_each_of_its_names() -> None:
    assert names_this_machine("def f():\n    from wattlock.targets import local, probe")
    assert names_this_machine("from wattlock.targets.local import find")
    assert names_this_machine("from wattlock.targets import Target, or_this_machine")
    assert not names_this_machine("from wattlock.targets import Target, probe, toolbox")


def test_no_verb_imports_a_heavy_library_when_it_is_imported() -> None:
    for path in (PACKAGE / "cli").rglob("*.py"):
        statements = run_at_import(ast.parse(path.read_text()).body)
        names = {
            name.split(".")[0]
            for node in statements
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in imports(node)
        }
        assert not names & HEAVY, path


def test_unsafe_lives_in_its_places_alone() -> None:
    described = [path for path in RUST if says_unsafe(path.read_text())]
    inside = [CRATES / room for room in UNSAFE_ROOMS]
    assert [path for path in described if not any(path.is_relative_to(room) for room in inside)] == []


def test_the_law_of_unsafe_sees_a_block_and_passes_over_comments_and_lints() -> None:
    assert says_unsafe("fn f() { unsafe { g() } }")
    assert not says_unsafe('#![forbid(unsafe_code)] // unsafe\n/* unsafe */ const S: &str = "unsafe";')


def forbids_unsafe(path: Path, src: Path) -> bool:
    """Whether the module of `path`, or one that holds it, forbids unsafe; a forbid holds for all modules inside."""
    holders = [path, src / "lib.rs", src / "main.rs"]
    for folder in path.parents:
        if folder.is_relative_to(src) and folder != src:
            holders += [folder / "mod.rs", folder.with_suffix(".rs")]
    return any(holder.exists() and "#![forbid(unsafe_code)]" in holder.read_text() for holder in holders)


def test_every_module_elsewhere_forbids_unsafe() -> None:
    allowed = [CRATES / room for room in UNSAFE_ROOMS if (CRATES / room).is_dir()]
    for src in CRATES.glob("*/src"):
        # The root of a crate with such a place can't forbid: it would forbid there too.
        roots = {src / "lib.rs", src / "main.rs"} if any(room.is_relative_to(src) for room in allowed) else set()
        elsewhere = [p for p in src.rglob("*.rs") if p not in roots and not any(p.is_relative_to(r) for r in allowed)]
        assert elsewhere
        assert [str(path.relative_to(TREE)) for path in elsewhere if not forbids_unsafe(path, src)] == []


@pytest.mark.parametrize("crate", [crate for crate in BARE_CRATES if (CRATES / crate).is_dir()])
def test_a_crate_for_microcontrollers_needs_no_operating_system(crate: str) -> None:
    assert re.search(
        r"^#!\[(cfg_attr\(not\((test|feature = \"std\")\), )?no_std", (CRATES / crate / "src/lib.rs").read_text(), re.M
    )


def crates_used(manifest: str, *, tests: bool = False) -> set[str]:
    """Folders of the workspace's own crates that a manifest names, for a system or for all; with those of its tests."""
    whole = tomllib.loads(manifest)
    wanted = {"dependencies", "build-dependencies"} | ({"dev-dependencies"} if tests else set())
    places = [whole, *whole.get("target", {}).values()]
    names = {name for place in places for key in wanted for name in place.get(key, {})}
    return {name.removeprefix("wattlock-").replace("-", "_") for name in names if name.startswith("wattlock-")}


def manifest_of(crate: str) -> str:
    return (CRATES / crate / "Cargo.toml").read_text()


def test_every_crate_has_its_place() -> None:
    assert {path.parent.name for path in CRATES.glob("*/Cargo.toml")} == set(CRATES_BELOW)


@pytest.mark.parametrize("crate", CRATES_BELOW)
def test_a_crate_uses_only_crates_below_it(crate: str) -> None:
    order = list(CRATES_BELOW)
    assert all(order.index(below) < order.index(crate) for below in CRATES_BELOW[crate])
    assert crates_used(manifest_of(crate)) <= CRATES_BELOW[crate]
    of_tests = crates_used(manifest_of(crate), tests=True)
    assert of_tests <= {other for other in order if order.index(other) < order.index(crate)} | {"test_tools"}


def test_the_law_of_crates_sees_a_dependency_of_one_system_alone() -> None:
    manifest = "[target.'cfg(unix)'.dependencies]\nwattlock-net = { workspace = true }\n"
    assert crates_used(manifest + "[dependencies]\nwattlock-test-tools = '1'\nserde = '1'") == {"net", "test_tools"}


def linked(crate: str) -> set[str]:
    """The workspace's own crates that a crate links, over all steps."""
    below = crates_used(manifest_of(crate))
    return below.union(*map(linked, below)) if below else set()


def test_a_change_of_the_toolbox_makes_no_other_instrument() -> None:
    linked_by_probe = linked("probe")
    assert linked_by_probe.isdisjoint({"net", "air", "test_tools"})
    # A run is bound to the program's hash, which holds the commit at which these were last changed, and no other.
    listed = re.search(r"const SOURCES: .*?= \[(.*?)\];", (CRATES / "probe" / "build.rs").read_text(), re.DOTALL)
    assert listed
    sources = set(re.findall(r'"crates/(\w+)"', listed[1]))
    assert sources == linked_by_probe | {"probe"}
    assert not re.search(r'"crates"', listed[1])


def test_a_run_is_bound_to_the_instruments_own_bytes(tmp_path: Path) -> None:
    program, net = tmp_path / local.NAME, tmp_path / toolbox.NAME
    program.write_bytes(b"the instrument")
    net.write_bytes(b"the toolbox")
    before = sha256(program)
    net.write_bytes(b"the toolbox, changed")
    assert sha256(program) == before == hashlib.sha256(b"the instrument").hexdigest()


def test_nothing_outside_a_crate_is_compiled_by_path() -> None:
    """What another crate has is linked; `#[path]` would compile it a second time."""
    files = [*RUST, *(TREE / "fuzz").glob("*/*.rs")]
    assert [str(path) for path in files if re.search(r"#\[path\s*=", path.read_text())] == []


def test_every_crate_says_on_a_page_what_it_is() -> None:
    without = {"firmware", "probe", "test_tools"}
    roots = [CRATES / crate / "src" / "lib.rs" for crate in CRATES_BELOW if crate not in without]
    short = {
        root.parts[-3]: len(lines)
        for root in roots
        if len(lines := [line for line in root.read_text().splitlines() if line.startswith("//!")]) < LEAST_PAGE
    }
    assert short == {}


def test_no_room_has_a_name_that_says_nothing() -> None:
    named = [
        path
        for path in (*PACKAGE.rglob("*"), *CRATES.rglob("*"))
        if path.stem in NO_ROOM and "target" not in path.parts
    ]
    assert named == []


def test_every_test_lies_in_the_folder_of_a_room_and_what_is_no_test_in_support() -> None:
    tests = [path.relative_to(TESTS) for path in TESTS.rglob("*.py")]
    rooms = {*ROOMS, "house", "oracles"}
    assert {path.parts[0] for path in tests if path.name.startswith("test_")} <= rooms
    assert {path.as_posix() for path in tests if not path.name.startswith("test_")} == {
        "conftest.py",
        *(path.relative_to(TESTS).as_posix() for path in SUPPORT.glob("*.py")),
    }


@pytest.mark.parametrize(
    ("sources", "most"),
    [(PYTHON, LONGEST_PYTHON), (RUST_CODE, LONGEST_FILE), (RUST_TESTS, LONGEST_RUST_TEST)],
    ids=["Python", "Rust", "tests in Rust"],
)
def test_no_file_is_too_long(sources: list[Path], most: int) -> None:
    assert len(sources) > 10
    assert [path.name for path in sources if len(path.read_text().splitlines()) > most] == []


def twice(names: Iterator[str]) -> list[str]:
    """Those of `names` that stand more than once."""
    return sorted(name for name, times in Counter(names).items() if times > 1)


def classes_of(source: str) -> Iterator[str]:
    """The classes that a file defines, within others too."""
    return (node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef))


def test_a_class_and_a_file_have_a_name_of_their_own_in_the_package() -> None:
    assert twice(name for path in SOURCES for name in classes_of(path.read_text())) == []
    assert twice(path.name for path in SOURCES if path.name != "__init__.py") == []


def test_a_name_that_stands_twice_is_seen() -> None:
    assert twice(classes_of("class A:\n    class B: ...\ndef f():\n    class A: ...\n")) == ["A"]


def too_large(source: str, *, verb: str = "") -> list[str]:
    """The functions that are too long or take too much, `self` apart; a verb's parameters are its options."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        given = node.args
        names = [
            one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg) if one
        ]
        parameters = len(set(names) - {"self", "cls"})
        lines = node.body[-1].end_lineno - node.lineno + 1  # type: ignore[operator]
        is_verb = node.name == verb
        if lines > (LONGEST_VERB if is_verb else LONGEST_FUNCTION) or (parameters > MOST_PARAMETERS and not is_verb):
            found.append(f"{node.name}: {lines} lines, {parameters} parameters")
    return found


def test_no_function_has_more_than_60_lines_or_8_parameters_and_no_verb_more_than_80_lines() -> None:
    found = {
        str(path.relative_to(PACKAGE)): large
        for path in SOURCES
        if (large := too_large(path.read_text(), verb=path.stem if path.parent.name == "cli" else ""))
    }
    assert found == {}


def test_the_law_of_functions_counts_lines_and_parameters() -> None:
    long = "def f():\n" + "    pass\n" * LONGEST_FUNCTION
    assert too_large(long) == ["f: 61 lines, 0 parameters"]
    assert too_large(long, verb="f") == []
    assert too_large("class A:\n    def f(self, a, b, c, d, *e, g, h, i, **k): ...") == ["f: 1 lines, 9 parameters"]
    assert too_large("class A:\n    def f(self, a, b, c, d, *e, g, h, i): ...") == []


def test_the_wheel_and_the_crates_carry_one_version() -> None:
    python = tomllib.loads((TREE / "pyproject.toml").read_text())["project"]["version"]
    rust = tomllib.loads((TREE / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert python == rust


def test_every_family_of_ciphers_has_its_line_and_its_feature() -> None:
    folder = CRATES / "ciphers" / "src" / "families"
    listed = re.findall(
        r"^    (?:#\[cfg\(feature = \"([a-z0-9-]+)\"\)\] )?(\w+);$", (folder / "mod.rs").read_text(), re.MULTILINE
    )
    assert {f"{family}.rs" for _, family in listed} == {path.name for path in folder.glob("*.rs")} - {"mod.rs"}
    features = tomllib.loads((CRATES / "ciphers" / "Cargo.toml").read_text())["features"]["all"]
    assert {feature for feature, _ in listed if feature} <= set(features)
