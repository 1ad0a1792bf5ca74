"""Transfers of the reader's own: what is read of their records, and where they stand beside the papers' tables."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.papers_run import PAPERS, material
from wattlock.errors import InputError
from wattlock.papers.exhibit import DrawnExhibit
from wattlock.papers.themes import show_all
from wattlock.papers.transfer_times import Transferred, read

CATALOGUE = [{"id": "aes128-cbc", "family": "aes"}, {"id": "null", "family": "null"}]


def record(cipher: str, transfer_ns: int, **changes: Any) -> dict[str, Any]:
    """A record of `wattlock send`, with what a reader leaves aside."""
    row = {
        "schema": 2,
        "side": "send",
        "cipher": cipher,
        "provider": "rustcrypto",
        "transport": "tcp",
        "encoding": "raw",
    }
    row |= {"plain_sha256": "aa", "plain_B": 1_000_000, "wire_B": 1_000_016, "cipher_ns": 1_000_000, "encode_ns": 0}
    return row | {"transfer_ns": transfer_ns, "process_uJ": None, "transfer_uJ": None} | changes


def written(path: Path, *records: dict[str, Any]) -> str:
    path.write_text(json.dumps(list(records)))
    return str(path)


def shown(own: list[Transferred]) -> dict[str, DrawnExhibit]:
    return {one.exhibit.id: one for one in show_all(material(transferred=own))}


def test_an_array_and_an_object_a_line_are_read_alike_and_the_kind_of_data_is_named(tmp_path: Path) -> None:
    rows = [record("aes128-cbc", 3_000_000), record("null", 1_000_000)]
    whole = read([f"audio={written(tmp_path / 'a.json', *rows)}"], CATALOGUE)
    (tmp_path / "b.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    lines = read([str(tmp_path / "b.jsonl")], CATALOGUE)
    assert [one.data for one in whole] == ["audio", "audio"]
    assert [one._replace(data="audio") for one in lines] == whole
    assert whole[0].name == "aes"
    assert whole[0].duration_s == pytest.approx(4e-3)


@pytest.mark.parametrize(
    ("content", "says"),
    [("{", "it is no JSON"), ('[{"side": "send"}]', "record 1 is none of a transfer: cipher"), ("[]", "no record")],
)
def test_a_file_that_holds_no_transfers_is_refused_with_what_writes_one(
    tmp_path: Path, content: str, says: str
) -> None:
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(InputError, match=says) as refused:
        read([str(tmp_path / "a.json")], CATALOGUE)
    assert "--format json" in str(refused.value.hint)


def test_measured_transfers_stand_beside_the_modelled_ones_over_the_plaintext_of_the_same_file(tmp_path: Path) -> None:
    rows = [record("aes128-cbc", 3_000_000), record("null", 1_000_000), record("null", 3_000_000)]
    rows += [record("aes128-cbc", 9_000_000, plain_sha256="bb"), record("aes128-cbc", 5_000, side="receive")]
    own = read([f"audio={written(tmp_path / 'a.json', *rows)}"], CATALOGUE)
    page = shown(own)
    table2 = {of.title: of for of in page["elminaam-wlan-table2"].panels}
    measured, modelled = table2["Your own transfers"], table2["The same by the model of the air"]
    # The median plaintext of that file took 2 + 1 ms, and the file without one is held to none.
    assert measured.rows.select("name", "value", "evidence").rows() == [("AES", pytest.approx(4 / 3), "measured")]
    assert modelled.evidence == ["modelled"]
    assert (measured.ends, measured.unit) == (modelled.ends, modelled.unit)
    assert measured.marks is not None
    table = PAPERS.sending["audio"]
    assert table.of("aes", "adhoc_open") / table.of("none", "adhoc_open") == pytest.approx(
        measured.marks.filter(name="AES")["value"][0]
    )
    listed = table2["Your own transfers, measured"].rows
    assert set(listed["evidence"]) == {"measured"}
    assert listed["transfers"].to_list() == [1, 2, 1, 1]
    assert not [of for of in page["elminaam-wlan-table1"].panels if "own" in of.title]


def test_without_a_kind_they_stand_beside_the_first_table_and_without_plaintext_the_note_says_what_to_send(
    tmp_path: Path,
) -> None:
    one = shown(read([written(tmp_path / "a.json", record("aes128-cbc", 3_000_000))], CATALOGUE))[
        "elminaam-wlan-table1"
    ]
    assert [of.title for of in one.panels if "own" in of.title] == ["Your own transfers, measured"]
    assert "`audio=FILE`" in one.notes[-1]
    assert "`--cipher null`" in one.notes[-1]


def test_joules_that_a_meter_gave_are_listed(tmp_path: Path) -> None:
    row = record("null", 1_000_000, process_uJ=5.0, transfer_uJ=15.0)
    panel = shown(read([written(tmp_path / "a.json", row)], CATALOGUE))["elminaam-wlan-table1"].panels
    (listed,) = [of.rows for of in panel if of.title == "Your own transfers, measured"]
    assert listed["energy, J"].to_list() == [pytest.approx(20e-6)]
