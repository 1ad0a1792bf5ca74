"""What is wrong with the entries of a list: the first that is wrong is named."""

from typing import Any

import pytest

from wattlock.store.record_schema import judge_of

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
    assert judge_of(SCHEMA)([SOUND, entry, SOUND]) is None


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ({"calls": True}, "[1].calls is True: input should be a valid integer"),
        ({"calls": 1.0}, "[1].calls is 1.0: input should be a valid integer"),
        ({"calls": 0}, "[1].calls is 0: input should be greater than or equal to 1"),
        ({"calls": [1]}, "[1].calls is [1]: input should be a valid integer"),
        ({"name": "a"}, "[1] has no calls"),
        ({"calls": 1, "parts": [1, 0]}, "[1].parts[1] is 0: input should be greater than or equal to 1"),
        ([], "[1] is []: input should be a valid dictionary"),
        (1, "[1] is 1: input should be a valid dictionary"),
    ],
)
def test_a_wrong_entry_among_sound_ones_is_named(entry: object, wrong: str) -> None:
    assert judge_of(SCHEMA)([SOUND, entry, SOUND, {"calls": -1}]) == wrong
