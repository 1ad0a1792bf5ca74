"""Definitions of every kind: one way to find a file, to change it, and to say what is wrong with it."""

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from wattlock import cli
from wattlock.advise import cipher_costs, question
from wattlock.definitions import Shelf, Table, own_folder, validated
from wattlock.definitions.changes import assignment, with_changes
from wattlock.definitions.shelf import VARIABLE
from wattlock.definitions.toml import tables_of
from wattlock.energy import battery_cards, device_cards, radio_cards
from wattlock.errors import InputError, StudyError, WattlockError
from wattlock.link import scenario
from wattlock.study import study
from wattlock.sweep import plan


class Law(Table):
    law: Literal["uniform", "normal"]
    low: float


class Cat(Table):
    kind: Literal["cat"]
    lives: int


class Dog(Table):
    kind: Literal["dog"]
    legs: int


class Kind(Table):
    title: str
    distance: Annotated[float, Field(gt=0)] | Law | None = None
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] | None = None
    part: list[Law] = Field(default_factory=list)
    named: dict[str, Law] = Field(default_factory=dict)


def refused(**tables: object) -> tuple[list[str], str]:
    with pytest.raises(InputError) as caught:
        validated(Kind, tables, "kind mine")
    assert caught.value.message.startswith("kind mine: ")
    return caught.value.message.removeprefix("kind mine: ").split("\n  also "), caught.value.hint


def test_a_mistake_inside_a_list_or_a_mapping_is_told_with_the_keys_of_that_table() -> None:
    assert refused(title="t", part=[{"law": "uniform", "low": 1.0, "lov": 2.0}]) == (
        ["part[0].lov: unknown key"],
        'did you mean "low"?',
    )
    assert refused(title="t", named={"a": {"law": "uniform"}}) == (["named.a.low: is missing"], "")


def test_of_a_value_of_several_kinds_only_what_is_wrong_by_the_kind_that_was_meant_is_told() -> None:
    assert refused(title="t", distance={"law": "gamma", "low": 1.0})[0] == ['distance.law: no law "gamma"']
    assert refused(title="t", distance={"law": "gamma", "lo": 1.0})[0] == [
        "distance.lo: unknown key",
        'distance.law: no law "gamma"; there are: uniform, normal',
    ]
    assert refused(title="t", distance=-1.0)[0] == ["distance: must be more than 0, is -1.0"]


def test_a_tag_that_is_unknown_or_missing_is_told_with_those_there_are() -> None:
    assert refused(title="t", pet={"kind": "cow"}) == (['pet.kind: no kind "cow"'], "there are: cat, dog")
    assert refused(title="t", pet={"lives": 9}) == (["pet.kind: is missing"], "there are: cat, dog")
    assert refused(title="t", pet={"kind": "cat", "tail": 4, "lives": 9}) == (
        ["pet.tail: unknown key"],
        "the keys are: kind, lives",
    )


def test_a_misspelt_key_is_not_told_as_missing_beside_it_and_another_missing_one_is() -> None:
    assert refused(titel="t", part=[{"law": "uniform"}])[0] == ["titel: unknown key", "part[0].low: is missing"]


def test_a_key_with_a_line_end_stays_on_its_line() -> None:
    assert refused(title="t", **{"a\nb": 1})[0] == ['"a\\nb": unknown key']


def test_changes_are_put_where_their_path_says_and_the_tables_stay_as_they_were() -> None:
    tables = {"a": {"b": 1}, "flow": [{"every": 1}, {"every": 2}]}
    found = with_changes("kind mine", tables, {"a.b": 2, "a.c": 3, "flow[1].every": 5, "d.e": 7})
    assert found == {"a": {"b": 2, "c": 3}, "flow": [{"every": 1}, {"every": 5}], "d": {"e": 7}}
    assert tables == {"a": {"b": 1}, "flow": [{"every": 1}, {"every": 2}]}
    assert with_changes("kind mine", tables, {"a.b": None})["a"] == {}
    assert with_changes("kind mine", {}, {"flow.every": 5}, lists=["flow"]) == {"flow": [{"every": 5}]}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("a.b.c", "kind mine: a.b.c: b is no table"),
        ("flow.every", "kind mine: flow.every: there are 2 of flow"),
        ("flow[2].every", "kind mine: flow[2].every: there is no flow[2]"),
        ("a[0]", "kind mine: a[0]: a is no list"),
        ("a-b", 'kind mine: a-b: "a-b" is no key'),
    ],
)
def test_a_path_that_leads_nowhere_is_refused(path: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        with_changes("kind mine", {"a": {"b": 1}, "flow": [{"every": 1}, {"every": 2}]}, {path: 1})
    assert caught.value.message == message


def test_a_change_is_a_key_and_a_value_of_toml_or_a_word() -> None:
    assert assignment("a.b = 3", "x=1") == ("a.b", 3)
    assert assignment('a=["x", "y"]', "x=1") == ("a", ["x", "y"])
    assert assignment("every=1s", "x=1") == ("every", "1s")
    for text in ("a", "=1"):
        with pytest.raises(InputError, match="is not KEY=VALUE") as caught:
            assignment(text, "x=1")
        assert caught.value.hint == "for example x=1"


LAW = 'title = "mine"\n'


def test_a_shelf_reads_the_users_folder_only_where_its_kind_lies_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "devices").mkdir()
    (tmp_path / "devices" / "mine.toml").write_text(LAW)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert own_folder() == tmp_path
    shelves = [Shelf("kind", "kinds", "devices", Kind, own_too=own) for own in (True, False)]
    assert shelves[0].load("mine") == ("mine", Kind(title="mine"))
    assert "mine" not in shelves[0].shipped()
    with pytest.raises(InputError, match="there is no kind mine"):
        shelves[1].load("mine")


def test_a_shelf_raises_its_own_error_and_names_a_users_file_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    shelf = Shelf("kind", "kinds", "devices", Kind, error_class=StudyError)
    for text, message in ((LAW + "[", "not TOML"), ("", "title: is missing")):
        path.write_text(text)
        with pytest.raises(StudyError) as caught:
            shelf.load(path)
        assert caught.value.message.startswith(f"kind {path}: {message}")
    # What is no definition at all is an input, of whatever kind it was to be.
    with pytest.raises(InputError, match="is not a file"):
        shelf.load(tmp_path)


TEMPLATES = {
    device_cards.DEVICES: ["devices", "--template", "device"],
    battery_cards.BATTERIES: ["devices", "--template", "battery"],
    radio_cards.RADIOS: ["devices", "--template", "radio"],
    cipher_costs.COSTS: ["devices", "--template", "costs"],
    question.PROFILES: ["advise", "--template"],
    plan.SWEEPS: ["sweep", "--template"],
    study.STUDIES: ["studies", "--template"],
    scenario.SCENARIOS: ["link", "--template", "wifi"],
}


@pytest.mark.parametrize("shelf", TEMPLATES, ids=lambda shelf: shelf.kind)
def test_an_empty_file_is_refused_with_the_command_that_prints_a_whole_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], shelf: Shelf[Any]
) -> None:
    words = TEMPLATES[shelf]
    path = tmp_path / "empty.toml"
    path.write_text("")
    with pytest.raises(WattlockError, match="is missing") as caught:
        shelf.load(path)
    assert caught.value.hint == f"`wattlock {' '.join(words)}` prints one with all keys and what each means"
    assert cli.answer(words) == 0
    path.write_text(capsys.readouterr().out)
    shelf.load(path)


def test_a_byte_order_mark_before_toml_is_no_part_of_it() -> None:
    for text in ("\ufeffa = 1\n", "\ufeffa = 1\n".encode()):
        assert tables_of(text, "mine") == {"a": 1}
