"""What `.ci/try-probes` judges: the selftests of static probes, each with one thing wrong."""

import json
from collections.abc import Callable
from copy import deepcopy
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from support.tree import TREE

spec = spec_from_file_location("probe_selftests", TREE / "tools" / "selftests.py")
assert spec is not None
assert spec.loader is not None
selftests = module_from_spec(spec)
spec.loader.exec_module(selftests)

Rows = list[dict[str, Any]]


def row(cipher: str, provider: str, result: str) -> dict[str, Any]:
    detail = {"wrong": "it gives another output", "absent": "a static probe opens no library"}.get(result)
    return {"cipher": cipher, "provider": provider, "result": result, "path": None, "detail": detail}


RIGHT = [row("aes128-cbc", "rustcrypto", "right"), row("rc4-128", "rustcrypto", "right"), row("", "openssl", "absent")]


def test_the_libraries_that_a_static_probe_names_are_read_from_its_source() -> None:
    assert {"openssl", "botan", "wolfssl"} < set(selftests.closed_libraries())


def test_processors_that_prove_the_same_ciphers_are_right() -> None:
    assert selftests.mistakes({"one": RIGHT, "other": RIGHT}, ["openssl"]) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows[0].update(result="wrong", detail="it gives another output"), "is wrong: it gives another"),
        (lambda rows: rows.pop(1), "other: no row of rc4-128 of rustcrypto"),
        (lambda rows: rows[1].update(cipher="", result="absent"), "other: absent are openssl, rustcrypto, not openssl"),
        (lambda rows: rows.pop(), "other: absent are , not openssl"),
        (lambda rows: rows.append(rows[2]), "absent are openssl, openssl, not"),
    ],
)
def test_a_selftest_with_one_thing_wrong_is_no_right_one(change: Callable[[Rows], object], said: str) -> None:
    rows = deepcopy(RIGHT)
    change(rows)
    found = selftests.mistakes({"one": RIGHT, "other": rows}, ["openssl"])
    assert any(said in sentence for sentence in found), found


def test_no_selftest_at_all_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    assert selftests.main([]) == 1
    assert selftests.mistakes({"one": []}, []) == ["one: no cipher"]
    assert capsys.readouterr().out == ""


def test_a_processor_with_extensions_keeps_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    closed = [row("", name, "absent") for name in selftests.closed_libraries()]
    (tmp_path / "rows.json").write_text(json.dumps([*RIGHT[:2], *closed]))
    assert selftests.main([f"riscv64 rv64,v=true={tmp_path}/rows.json"]) == 0
    assert capsys.readouterr().out == f"riscv64 rv64,v=true: 2 right, 0 wrong, {len(closed)} absent ()\n"
