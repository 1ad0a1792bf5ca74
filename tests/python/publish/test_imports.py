"""Figures of others: three formats, read as they were printed or refused by line."""

import contextlib
import json
import re
from pathlib import Path

import pytest

from support.corruptions import damages
from wattlock import cli
from wattlock.errors import InputError
from wattlock.publish import imported as imports
from wattlock.publish.imported import ImportedFigure, PublishedSet

LWC = """submission,variant,primary,implementation,config,flash,enc(0:8),dec(0:8),enc(16:0)
ascon,ascon128v12,yes,armv6,o3,1234,1000,1100,-
_reference_,aes-gcm,yes,felicsv01,os,1920,170785,170937,166000
"""
LWC_HASH = "submission,variant,primary,implementation,config,flash,h(64)\nascon,asconhash,yes,ref,o1,900,5000\n"
PQM4_CSV = """Speed Evaluation,,,,,,,,
Key Encapsulation Schemes,,,,,,,,
Scheme,Implementation,Key Generation [cycles] (mean),Key Generation [cycles] (min),Key Generation [cycles] (max),\
Encapsulation [cycles] (mean),Encapsulation [cycles] (min),Encapsulation [cycles] (max)
ml-kem-768 (10 executions),m4fspeed,642096,639116,651103,658754,655785,667769
Signature Schemes,,,,,,,,
Scheme,Implementation,Sign [cycles] (mean),Sign [cycles] (min),Sign [cycles] (max)
ml-dsa-44 (1000 executions),m4f,3943121,1812557,17009165
Memory Evaluation,,,,,,,,
Scheme,Implementation,Key Generation [bytes]
ml-kem-768,m4fspeed,2000
"""
PQM4_MD = """# Speed Evaluation
## Key Encapsulation Schemes
| scheme | implementation | key generation [cycles] | encapsulation [cycles] |
| ------ | -------------- | ----------------------- | ---------------------- |
| ml-kem-768 (10 executions) | m4fspeed | AVG: 642,096 <br /> MIN: 639,116 <br /> MAX: 651,103 | AVG: 658,754 <br /> \
MIN: 655,785 <br /> MAX: 667,769 |
## Signature Schemes
| scheme | implementation | sign [cycles] |
| ------ | -------------- | ------------- |
| ml-dsa-44 (1000 executions) | m4f | AVG: 3,943,121 <br /> MIN: 1,812,557 <br /> MAX: 17,009,165 |
# Memory Evaluation
| Scheme | Implementation | Key Generation [bytes] |
| ml-kem-768 | m4fspeed | 2,000 |
"""
AT = "20240107 box amd64 1700000000"
SUPERCOP = f"""{AT} crypto_aead aes128gcm/timingleaks try x ok 1 2 3
{AT} crypto_aead aes128gcm/timingleaks implementation crypto_aead/aes128gcm/aesni -
{AT} crypto_aead aes128gcm/timingleaks compiler gcc_-O3 12.2.0
{AT} crypto_aead aes128gcm/timingleaks encrypt_cycles 16000064 1000 +0-10+10+20
{AT} crypto_aead aes128gcm/timingleaks encrypt_cycles 16000064 1000 +0
{AT} crypto_stream chacha20 implementation crypto_stream/chacha20/e/ref 2
{AT} crypto_stream chacha20 xor_cycles 1536 3000
{AT} crypto_dh curve25519 keypair_cycles - 120000 -5+5
"""


def imported(tmp_path: Path, text: str, unit: str | None = None, name: str = "file") -> PublishedSet:
    path = tmp_path / name
    path.write_text(text)
    return imports.read(path, form=None, source="https://example.org", machine="a board", unit=unit)


def test_an_lwc_file_is_read_column_by_column_and_what_was_not_measured_is_not_there(tmp_path: Path) -> None:
    found = imported(tmp_path, LWC, "us")
    assert (found.format, found.unit, found.statistic, found.evidence) == ("lwc", "us", "one measurement", "published")
    assert len(found.figures) == 5
    first, *_, last = found.figures
    assert first == ImportedFigure(
        cipher="ascon128v12",
        implementation="armv6",
        operation="encrypt",
        build="o3",
        payload_B=8,
        aad_B=0,
        value=1000,
    )
    assert (last.cipher, last.operation, last.payload_B, last.aad_B, last.value) == ("aes-gcm", "encrypt", 0, 16, 166e3)
    (hashed,) = imported(tmp_path, LWC_HASH, "cycles").figures
    assert (hashed.operation, hashed.payload_B, hashed.aad_B) == ("hash", 64, None)


def test_an_lwc_file_does_not_say_its_unit_so_that_it_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="doesn't say whether it has cycles or microseconds") as error:
        imported(tmp_path, LWC)
    assert "--unit us for the AVR boards" in error.value.hint
    with pytest.raises(InputError, match="files of pqm4 have cycles"):
        imported(tmp_path, PQM4_CSV, "us")


def test_both_forms_of_pqm4_hold_the_same_speeds_and_no_memory(tmp_path: Path) -> None:
    found, again = imported(tmp_path, PQM4_CSV), imported(tmp_path, PQM4_MD)
    assert found.figures == again.figures
    assert (found.format, found.statistic) == ("pqm4", "mean")
    assert [(one.cipher, one.operation, one.value, one.count) for one in found.figures] == [
        ("ml-kem-768", "key generation", 642096, 10),
        ("ml-kem-768", "encapsulation", 658754, 10),
        ("ml-dsa-44", "sign", 3943121, 1000),
    ]
    assert (found.figures[2].low, found.figures[2].high) == (1812557, 17009165)


def test_measurements_of_supercop_are_joined_over_lines_to_their_quartiles(tmp_path: Path) -> None:
    found = imported(tmp_path, SUPERCOP)
    aead, stream, dh = found.figures
    assert (found.format, found.statistic) == ("supercop", "median")
    assert (aead.cipher, aead.implementation, aead.operation) == ("aes128gcm/timingleaks", "aesni", "aead encrypt")
    assert (aead.payload_B, aead.aad_B, aead.build, aead.count) == (64, 16, "20240107 amd64 gcc -O3", 5)
    # 990, 1000, 1000, 1010 and 1020.
    assert (aead.low, aead.value, aead.high) == (1000, 1000, 1010)
    assert (stream.operation, stream.payload_B, stream.aad_B, stream.value) == ("stream xor", 1536, None, 3000)
    assert (stream.low, stream.high, stream.count) == (3000, 3000, 1)
    assert (dh.operation, dh.payload_B, dh.value) == ("dh keypair", None, 120000)


@pytest.mark.parametrize(
    ("text", "unit", "told"),
    [
        ("", None, "has none of the known formats"),
        ("a,b\n1,2\n", None, "has none of the known formats"),
        ("\0\xff" * 99, None, "has none of the known formats"),
        (LWC.replace("1100", "11x0"), "us", r"line 2, dec\(0:8\): '11x0' is no number"),
        (LWC.replace("1100", "-5"), "us", r"line 2, dec\(0:8\): '-5' is no number"),
        (LWC.replace("1100", "nan"), "us", "'nan' is no number"),
        (LWC.replace(",166000", ""), "us", "line 3: another number of columns"),
        (LWC.replace("implementation", "code"), "us", "has no column implementation"),
        (LWC.splitlines()[0], "us", "has no figure"),
        (PQM4_CSV.replace(",667769", ""), None, "line 4: another number of columns"),
        (PQM4_CSV.replace("642096", "?"), None, r"line 4: '\?' is no number"),
        (PQM4_MD.replace("MIN: 655,785", ""), None, "line 5: another number of columns"),
        (SUPERCOP.replace("3000", "1e400"), None, "line 7: has no number of cycles"),
        (SUPERCOP.replace("3000", "9" * 5000), None, "line 7: has no number of cycles"),
        (SUPERCOP + SUPERCOP.replace(" box ", " other "), None, "measurements of 2 machines, box, other"),
        (LWC.replace("1100", '"' + "1" * 200_000), "us", "no table: field larger than field limit"),
        (SUPERCOP.replace("-5+5", "-5*5"), None, r"line 8: '-5\*5' are no differences"),
        (SUPERCOP.replace(" 1536 ", " x "), None, "line 7: 'x' is no number of bytes"),
        (SUPERCOP.replace(" 3000", ""), None, "line 7: has no number of cycles"),
    ],
)
def test_a_file_that_is_not_whole_is_refused_by_its_line(
    text: str, unit: str | None, told: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=told):
        imported(tmp_path, text, unit)


def test_two_abis_of_a_machine_are_two_figures(tmp_path: Path) -> None:
    found = imported(tmp_path, SUPERCOP + SUPERCOP.replace("amd64", "x86"))
    assert len(found.figures) == 6
    assert {one.build for one in found.figures if one.operation == "aead encrypt"} == {
        "20240107 amd64 gcc -O3",
        "20240107 x86 gcc -O3",
    }


@pytest.mark.parametrize(("text", "unit"), [(LWC, "us"), (PQM4_CSV, None), (PQM4_MD, None), (SUPERCOP, None)])
def test_a_damaged_file_is_read_or_refused(text: str, unit: str | None, tmp_path: Path) -> None:
    for _, changed in damages(text.encode(), 300, text[:9]):
        with contextlib.suppress(InputError):
            assert imported(tmp_path, changed.decode("latin-1"), unit).figures


def test_a_counter_that_ran_backwards_is_no_cost(tmp_path: Path) -> None:
    found = imported(tmp_path, f"{SUPERCOP}{AT} crypto_stream chacha20 cycles 64 10 -20-30-40\n")
    assert len(found.figures) == 3


def test_a_set_comes_back_as_it_was_written_and_another_file_is_refused_by_its_key(tmp_path: Path) -> None:
    found = imported(tmp_path, PQM4_CSV)
    (tmp_path / "set.json").write_bytes(found.write())
    assert PublishedSet.read(tmp_path / "set.json") == found
    changed = json.loads(found.write())
    for change, told in (
        ({"evidence": "measured"}, "evidence: Input should be 'published'"),
        ({"more": 1}, "more: Extra inputs are not permitted"),
        ({"figures": []}, "figures: "),
    ):
        (tmp_path / "set.json").write_text(json.dumps(changed | change))
        with pytest.raises(InputError, match=re.escape(f"no set of published figures: {told}")):
            PublishedSet.read(tmp_path / "set.json")


def test_import_prints_what_is_kept_and_marks_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lwc.csv").write_text(LWC)
    words = ["import", "lwc.csv", "--unit", "us", "--source", "s", "--machine", "uno", "--only", "ascon*"]
    assert cli.answer([*words, "--table", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {(row["cipher"], row["evidence"], row["unit"], row["source"]) for row in rows} == {
        ("ascon128v12", "published", "us", "s")
    }
    assert cli.answer([*words, "--payload-B", "7"]) == InputError.exit_code
    assert "error: lwc.csv: none of its 5 figures is kept\nhint: " in capsys.readouterr().err
    assert cli.answer([*words, "--out", "uno.json"]) == 0
    assert len(PublishedSet.read(Path("uno.json")).figures) == 2
