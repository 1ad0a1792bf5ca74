"""What is wrong with the entries of a list: they are judged field by field, and the first that is wrong is named."""

from typing import Any

import pytest

from wattlock.store.record_schema import fault_by

COUNT = {"type": ["integer", "null"], "format": "uint32", "minimum": 1}
ENTRY = {
    "type": "object",
    "required": ["calls"],
    "properties": {"calls": COUNT, "name": {"type": "string"}, "parts": {"type": "array", "items": COUNT}},
}
SCHEMA = {"type": "array", "items": {"$ref": "#/$defs/Entry"}, "$defs": {"Entry": ENTRY}}
SOUND = {"calls": 1, "name": "a"}


@pytest.mark.parametrize("entry", [SOUND, {"calls": None}, {"calls": 1, "more": []}, {"calls": 1, "parts": [1, 2]}])
def test_entries_that_are_as_the_schema_has_them_have_no_fault(entry: dict[str, Any]) -> None:
    assert fault_by([SOUND, entry, SOUND], SCHEMA) is None


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ({"calls": True}, "[1].calls is True, not integer or null"),
        ({"calls": 1.0}, "[1].calls is 1.0, not integer or null"),
        ({"calls": 0}, "[1].calls is 0, and is to be at least 1"),
        ({"calls": [1]}, "[1].calls is [1], not integer or null"),
        ({"name": "a"}, "[1] has no calls"),
        ({"calls": 1, "parts": [1, 0]}, "[1].parts[1] is 0, and is to be at least 1"),
        ([], "[1] is [], not object"),
        (1, "[1] is 1, not object"),
    ],
)
def test_a_wrong_entry_among_sound_ones_is_named(entry: object, wrong: str) -> None:
    assert fault_by([SOUND, entry, SOUND, {"calls": -1}], SCHEMA) == wrong
