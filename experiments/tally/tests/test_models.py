"""The judge of tally's formal models (`models/check.py`): what counts as held, and as caught."""

import runpy

import pytest

from tally_schedules import HERE

TOOL = runpy.run_path(str(HERE / "models" / "check.py"))
WHOLE = "State-vector 108 byte, depth reached 94, errors: 0\n"
CAUGHT = "pan:1: assertion violated  !((forged&(1<<at))) (at depth 46)\nerrors: 1\n"


@pytest.mark.parametrize(
    ("model", "finds", "printed", "wrong"),
    [
        ("record.pml", "", WHOLE, None),
        ("record.pml", "", "error: max search depth too small\n" + WHOLE, "the search was cut short"),
        ("record.pml", "", "gcc: error: no such file", "the search was cut short"),
        ("record.pml", "", CAUGHT, "found: assertion violated"),
        ("record.pml", "forged", WHOLE, "found nothing, expected 'forged'"),
        ("record.pml", "forged", CAUGHT, None),
        ("record.pml", "report_body", CAUGHT, "expected 'report_body'"),
        ("verifpal/link.vp", "", "a0a0c0\n", None),
        ("verifpal/link.vp", "", "a0a0c1\n", "found: a0a0c1"),
        ("verifpal/link.vp", "a0a0c1", "a0a0c0\n", "found nothing"),
        ("verifpal/link.vp", "a0a0c1", "a1a0c1\n", "expected 'a0a0c1'"),
        ("verifpal/link.vp", "a0a0c1", "parse error: `g`\n", "the search was cut short"),
    ],
)
def test_a_case_passes_only_if_it_found_what_it_had_to_find(
    model: str, finds: str, printed: str, wrong: str | None
) -> None:
    fault = TOOL["fault"](TOOL["Case"](model, "says", finds=finds), printed)
    assert fault is None if wrong is None else wrong in fault


def test_each_model_has_a_claim_that_holds_and_a_broken_variant_that_it_has_to_catch() -> None:
    cases = TOOL["cases"]()
    on_disk = {
        path.relative_to(TOOL["MODELS"]).as_posix()
        for path in TOOL["MODELS"].rglob("*")
        if path.suffix in (".pml", ".vp")
    }
    assert on_disk == {case.model for case in cases if not case.finds} == {case.model for case in cases if case.finds}


def test_each_name_that_a_case_defines_is_asked_for_in_its_model() -> None:
    for case in TOOL["cases"]():
        text = (TOOL["MODELS"] / case.model).read_text(encoding="utf-8")
        names = [define.partition("=")[0] for define in case.define] + [old for old, _ in case.replace]
        assert [name for name in names if name not in text] == []


def test_a_machine_without_the_checkers_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert TOOL["main"]([]) == 0
    printed = capsys.readouterr().out
    assert "skipped: spin is missing" in printed
    assert "`apt-get install spin gcc`" in printed
