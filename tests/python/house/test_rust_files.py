"""The laws of files in Rust: no circle of them in a crate, and a root imports nothing but its children's names."""

import pytest

from support.circles import circles
from support.rust_files import Crate, crate_at
from support.tree import CRATES

SRC = {path.parent.name: path for path in sorted(CRATES.glob("*/src"))}


@pytest.mark.parametrize("crate", SRC)
def test_no_files_of_a_crate_use_one_another_in_a_circle(crate: str) -> None:
    uses = crate_at(SRC[crate]).uses()
    assert uses
    assert circles(uses) == []


@pytest.mark.parametrize("crate", SRC)
def test_a_crates_root_imports_nothing_but_its_childrens_names(crate: str) -> None:
    assert crate_at(SRC[crate]).imports_of_others("lib.rs") == []


def uses(**files: str) -> dict[str, set[str]]:
    """Who uses whom in a made-up crate; `__` in a name stands for `/`."""
    return Crate({f"{name.replace('__', '/')}.rs": text for name, text in files.items()}).uses()


def test_an_import_is_of_the_file_that_defines_the_name_however_it_is_reached() -> None:
    found = uses(
        lib="mod a; mod b; pub use a::{Thing, make as made}; pub const LIMIT: u8 = 3;",
        a="pub struct Thing; pub fn make() {}",
        b="use crate::{Thing, LIMIT as MOST}; use super::made;",
    )
    assert found == {"lib.rs": set(), "a.rs": set(), "b.rs": {"a.rs", "lib.rs"}}


def test_a_parent_that_uses_a_childs_name_beside_handing_it_on_is_in_the_circle() -> None:
    child = "use super::Port; pub struct Line;"
    files = {"lib": "mod a;", "a__b": child}
    only_hands_on = "mod b; pub use b::Line; pub trait Port {}"
    assert circles(uses(a=only_hands_on, **files)) == []
    for used in (
        "pub fn all() -> Line { Line }",
        "fn f() { b::Line; }",
        "use self::b as one; fn f(_: one::Line) {}",
    ):
        assert circles(uses(a=only_hands_on + used, **files)) == [{"a.rs", "a/b.rs"}]


def test_paths_in_code_are_imports_and_so_are_macros_and_globs() -> None:
    assert circles(uses(lib="mod a; mod b;", a="fn f() { super::b::g() }", b="pub fn g() -> crate::a::T {}")) == [
        {"a.rs", "b.rs"}
    ]
    by_macro = uses(lib="macro_rules! list { () => {}; } mod a; pub use a::X;", a="list! { x } pub struct X;")
    assert by_macro["a.rs"] == {"lib.rs"}
    by_glob = uses(lib="mod a; mod b;", a="pub struct T;", b="use super::a::*; fn f(_: T) {}")
    assert by_glob["b.rs"] == {"a.rs"}


def test_modules_that_a_macro_declares_are_used_by_the_file_that_calls_it() -> None:
    found = uses(lib="mod list;", list__mod="all! { x; }", list__x="use crate::list::Kind;")
    assert circles(found) == [{"list/mod.rs", "list/x.rs"}]


def test_what_is_no_use_is_passed_over() -> None:
    found = uses(
        lib="mod a; mod b;",
        a="""// use crate::b::T;
/* super::b::T */ const S: &str = "crate::b::T"; const R: &str = r#"crate::b::T"#; const C: char = '"';
fn f<'t>(t: &'t u8) { t.b(); std::b::T; ::b::T; }
#[cfg(test)] mod tests { use crate::b::T; }
#[cfg(test)] use crate::b::T;""",
        b="pub struct T; use crate::a; impl T { fn a() {} }",
        a__tests="use crate::b::T;",
    )
    assert found == {"lib.rs": set(), "a.rs": set(), "b.rs": set()}


def test_a_root_that_imports_from_elsewhere_is_seen() -> None:
    root = "mod a; use std::fmt; pub use a::X; pub use self::a::Y; use crate::a::Z; use super::a::W;"
    assert Crate({"lib.rs": root, "a.rs": ""}).imports_of_others("lib.rs") == ["std::fmt", "super::a::W"]
    assert Crate({"lib.rs": "use std::fmt;"}).imports_of_others("lib.rs") == []
