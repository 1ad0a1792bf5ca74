"""Templates and schemas of definitions: they say every key, they are valid, and they agree with what is read."""

import json
import re
import tomllib
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Annotated, Any, get_args

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from support.tree import PACKAGE, TREE, require_programs
from wattlock import cli
from wattlock.advise.choices import framings
from wattlock.advise.question import FORM as PROFILE
from wattlock.advise.question import PROFILES
from wattlock.definitions import DefinitionForm, Table
from wattlock.definitions.schema import TemplateEntry, entries, filled_in, keys
from wattlock.definitions.toml import path_of, problems_of
from wattlock.errors import StudyError

spec = spec_from_file_location("definitions_pages", TREE / "tools" / "definitions.py")
assert spec
assert spec.loader
tool = module_from_spec(spec)
spec.loader.exec_module(tool)

FORMS: list[DefinitionForm] = [form for forms in tool.FORMS.values() for form in forms]
every_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
FOLDERS = {
    "study": "studies",
    "profile": "profiles",
    "sweep": "sweeps",
    "device": "devices",
    "radio": "radios",
    "battery": "batteries",
    "costs": "costs",
}
STANDARDS = {"ble": "ble", "802.15.4": "802154", "lorawan": "lorawan", None: "wifi"}
WRONG: Any = [[[[]]]]
"""What no key may hold."""
PHRASES = (
    "core cycles|part cycles|board cycles|hardware time|constant in its memory|table lookups|data-dependent rotations|"
    "not told"
)
WORD = re.compile(rf"(?:{PHRASES}|[\w./-]*\w)")
MANY = 20
"""Words of a key that are not all listed: the units of a card's numbers."""
READ_BEFORE = {"flow.capture"}
"""Keys in whose place others stand once a file is read."""


def shipped() -> Iterator[tuple[DefinitionForm, Path]]:
    forms = {form.name: form for form in FORMS}
    for name, folder in FOLDERS.items():
        yield from ((forms[name], path) for path in sorted((PACKAGE / "data" / folder).rglob("*.toml")))
    for path in sorted((PACKAGE / "data" / "links").glob("*.toml")):
        standard = tomllib.loads(path.read_text()).get("link", {}).get("standard")
        yield forms[STANDARDS[standard]], path


def problems(form: DefinitionForm, tables: dict[str, Any]) -> set[str]:
    """The paths of all that the program finds wrong by a key's own kind."""
    try:
        form.model.model_validate(tables)
    except ValidationError as error:
        return {problem.path for problem in problems_of(error, form.model)}
    return set()


def violations(form: DefinitionForm, tables: dict[str, Any]) -> set[str]:
    """The paths of all that the schema refuses."""
    found = set()
    for error in Draft202012Validator(form.schema()).iter_errors(tables):
        path = list(error.absolute_path)
        if error.validator == "additionalProperties":
            path.append(next(key for key in error.instance if key not in error.schema["properties"]))
        if error.validator == "required":
            path.append(next(key for key in error.validator_value if key not in error.instance))
        found.add(path_of(path))
    return found


def held(tables: Any, path: list[str]) -> Any:
    """The first table at a path."""
    for key in path:
        tables = tables[key]
        tables = tables[0] if isinstance(tables, list) else tables
    return tables


@every_form
def test_a_template_is_valid_as_it_stands(form: DefinitionForm) -> None:
    form.model.model_validate(tomllib.loads(form.template()))
    assert violations(form, tomllib.loads(form.template())) == set()
    assert form.template().startswith(f"#:schema ./{form.name}.schema.json\n")


@every_form
def test_a_template_has_each_key_and_no_other_and_says_what_it_means(form: DefinitionForm) -> None:
    known = {path: table for table, path, _, _ in keys(form.schema())}
    paths = [entry.path for entry in form.entries()]
    assert len(set(paths)) == len(paths)
    assert set(paths) <= set(known)
    # A table that stands in several places, as the number of a card, is spelled out in one of them.
    assert {(known[path], path.rpartition(".")[2]) for path in paths} == {
        (table, path.rpartition(".")[2]) for path, table in known.items()
    }
    assert [path for _, path, one, _ in keys(form.schema()) if "description" not in one] == []


@every_form
def test_what_a_template_leaves_out_is_the_default_or_an_example_that_is_accepted(form: DefinitionForm) -> None:
    live, whole = tomllib.loads(form.template()), tomllib.loads(filled_in(form.template()))
    for entry in form.entries():
        if not entry.left_out or entry.path in READ_BEFORE:
            continue
        assert problems(form, with_key(live, whole, entry)) <= rules_of_tables(form), entry.path
        field = field_of(form, entry.path.split("."))
        default = field.get_default(call_default_factory=True)
        if entry.value and default is not PydanticUndefined and default not in (None, [], {}):
            value = tomllib.loads(f"value = {entry.value}")["value"]
            kind: Any = Annotated[(field.annotation, *field.metadata, "read as a file is")]
            assert TypeAdapter(kind).validate_python(value) == default, entry.path


@every_form
def test_a_template_names_every_word_that_a_key_may_hold(form: DefinitionForm) -> None:
    known = {path: one for _, path, one, _ in keys(form.schema())}
    for entry in form.entries():
        words = {word.lower() for word in tool.words(known[entry.path])}
        assert not entry.about or not 1 < len(words) < MANY or words <= set(WORD.findall(entry.about.lower())), (
            entry.path
        )


def field_of(form: DefinitionForm, path: list[str]) -> FieldInfo:
    """The field of a model that a path leads to."""
    *outer, last = path
    model: Any = form.model
    for key in outer:
        model = next(models(model.model_fields[key].annotation))
    found: FieldInfo = model.model_fields[last]
    return found


def with_key(live: dict[str, Any], whole: dict[str, Any], entry: TemplateEntry) -> dict[str, Any]:
    """The template with one key, or one table, put in."""
    *outer, key = entry.path.split(".")
    made: dict[str, Any] = json.loads(json.dumps(live))
    at: Any = made
    for number, part in enumerate(outer):
        if part not in at:
            at[part] = json.loads(json.dumps(held(whole, outer[:number])[part]))
            return made
        at = at[part][0] if isinstance(at[part], list) else at[part]
    at[key] = json.loads(json.dumps(held(whole, outer)[key]))
    return made


def rules_of_tables(form: DefinitionForm) -> set[str]:
    """Where rules between keys are broken: at tables, never at a key."""
    tables = [entry.path for entry in form.entries() if not entry.value]
    lists = {path for path in tables if f"[[{path}]]" in form.template()}
    return {""} | {".".join(numbered(path, lists)) for path in tables}


def numbered(path: str, lists: set[str]) -> Iterator[str]:
    """The keys of a path, the first place put to each list."""
    parts = path.split(".")
    for number, part in enumerate(parts):
        yield f"{part}[0]" if ".".join(parts[: number + 1]) in lists else part


def models(annotation: Any) -> Iterator[Any]:
    """The models in an annotation, also in its lists and among its kinds."""
    if isinstance(annotation, type) and issubclass(annotation, Table):
        yield annotation
    for part in get_args(annotation):
        yield from models(part)


@pytest.mark.parametrize(("form", "path"), list(shipped()), ids=lambda one: getattr(one, "stem", ""))
def test_a_schema_accepts_every_file_that_comes_along(form: DefinitionForm, path: Path) -> None:
    assert violations(form, tomllib.loads(path.read_text())) == set()


@every_form
def test_a_schema_refuses_a_wrong_value_at_the_same_key_as_the_program(form: DefinitionForm) -> None:
    for entry in form.entries():
        if entry.left_out:
            continue
        tables = tomllib.loads(form.template())
        *outer, key = entry.path.split(".")
        held(tables, outer)[key] = WRONG
        found = {path.partition("[")[0] if "." not in path else path for path in problems(form, tables)}
        assert found, entry.path
        refused = {path.partition("[")[0] if "." not in path else path for path in violations(form, tables)}
        assert found & refused, (entry.path, found, refused)


@every_form
def test_a_schema_refuses_an_unknown_key_and_a_missing_one_where_the_program_does(form: DefinitionForm) -> None:
    whole = tomllib.loads(form.template())
    needed = first_needed(form)
    for tables in (whole | {"nonsense": 1}, {key: value for key, value in whole.items() if key != needed}):
        assert problems(form, tables) == violations(form, tables) != set()


def first_needed(form: DefinitionForm) -> str:
    return next(path for table, path, _, needed in keys(form.schema()) if needed and not table)


def test_the_committed_schemas_and_pages_are_those_of_models_and_templates() -> None:
    for path, text in tool.written().items():
        assert path.read_text() == text, "`.venv/bin/python tools/definitions.py` writes them anew"


def test_a_template_and_one_edit_make_a_study_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    require_programs()
    assert cli.answer(["studies", "--template"]) == 0
    mine = tmp_path / "mine.toml"
    mine.write_text(capsys.readouterr().out.replace('"aes128-ctr", "chacha20"', '"ascon-aead128"'))
    assert cli.answer(["run", str(mine), "--dry-run"]) == StudyError.exit_code
    assert 'write "seal"' in capsys.readouterr().err
    mine.write_text(mine.read_text().replace('"encrypt", "decrypt"', '"seal"'))
    assert cli.answer(["run", str(mine), "--dry-run"]) == 0
    assert capsys.readouterr().out.count("ascon-aead128") == 2


@pytest.mark.parametrize(
    ("words", "start"),
    [
        (["studies", "--show", "papers/quick"], (PACKAGE / "data/studies/papers/quick.toml").read_text()),
        (["advise", "--show", "sensor"], (PACKAGE / "data/profiles/sensor.toml").read_text()),
        (["link", "--show", "bss-ccmp"], (PACKAGE / "data/links/bss-ccmp.toml").read_text()),
        (["devices", "--show", "cr2032", "--kind", "battery"], (PACKAGE / "data/batteries/cr2032.toml").read_text()),
        (["devices", "--show", "thumbv6m", "--kind", "costs"], (PACKAGE / "data/costs/thumbv6m.toml").read_text()),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_show_prints_the_file_as_it_is(words: list[str], start: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(words) == 0
    assert capsys.readouterr().out == start


@pytest.mark.parametrize(
    ("verb", "name"),
    [("studies", "study"), ("advise", "profile")]
    + [(f"link {name}", name) for name in ("wifi", "ble", "802154", "lorawan")]
    + [(f"devices {name}", name) for name in ("device", "radio", "battery", "costs")],
)
def test_every_verb_prints_the_schema_that_comes_along_and_the_template(
    verb: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    word, *kind = verb.split()
    assert cli.answer([word, "--schema", *kind]) == 0
    assert capsys.readouterr().out == (PACKAGE / f"data/schemas/{name}.schema.json").read_text()
    assert cli.answer([word, "--template", *kind]) == 0
    assert entries(capsys.readouterr().out)


def test_a_file_a_template_and_a_schema_are_not_asked_for_together(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["studies", "--template", "--schema"],
        ["studies", "--show", "quick", "--format", "json"],
        ["advise", "sensor", "--template"],
        ["link", "bss-ccmp", "--template", "wifi"],
        ["devices", "nrf52840", "--schema", "device"],
    ):
        assert cli.answer(words) == 2, words
        said = capsys.readouterr().err
        assert "don't go together" in said
        assert len(said.splitlines()) == 2


def test_a_name_that_is_nearly_right_is_met_with_the_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    for words, code in (
        (["studies", "--show", "quik"], 4),
        (["advise", "--show", "sensro"], 4),
        (["link", "--show", "bss-cmcp"], 4),
        (["devices", "--show", "nrf52480"], 4),
    ):
        assert cli.answer(words) == code
        said = capsys.readouterr().err
        assert 'did you mean "' in said
        assert len(said.splitlines()) == 2


def test_a_profile_of_the_template_is_answered_without_consent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(["advise", "--template"]) == 0
    (tmp_path / "mine.toml").write_text(capsys.readouterr().out)
    PROFILES.load(tmp_path / "mine.toml")


def test_the_template_of_a_profile_names_every_framing() -> None:
    about = next(entry.about for entry in PROFILE.entries() if entry.path == "choices.framings")
    assert set(framings()) <= set(WORD.findall(about))
