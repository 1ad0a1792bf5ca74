"""How help reads: examples a line each, nothing broken at a hyphen, no type where a name says it."""

import pytest

from wattlock import cli
from wattlock.cli.help import laid_out


def test_paragraphs_flow_and_examples_stand_a_line_each() -> None:
    text = """Does one
    thing.

    More of
    it. Examples: wattlock a --b;
    wattlock c    wattlock d 'e f'
    """
    assert laid_out(text) == "Does one thing.\n\nMore of it.\n\nExamples:\nwattlock a --b\nwattlock c\nwattlock d 'e f'"
    assert laid_out("Does it. Example: wattlock a") == "Does it.\n\nExample:\nwattlock a"
    assert laid_out("Does it.") == "Does it."


@pytest.mark.parametrize("verb", list(cli.VERBS))
def test_no_help_shows_the_type_of_a_flag_and_each_has_its_examples(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {}
    for asked in ("--help", "-h", "--help-all"):
        code = cli.answer([verb, asked])
        texts[asked] = capsys.readouterr().out
        assert code == (0 if texts[asked] else 2)
    assert texts["-h"] == texts["--help"]
    text = texts["--help-all"] or texts["-h"]
    assert "<bool>" not in text
    assert "<int range>" not in text
    assert f"\n  wattlock {verb}" in text
    named = {name for param in cli.load(verb).params for name in param.opts if name.startswith("--")}
    assert all(name in text and name in texts["-h"] for name in named)


@pytest.mark.parametrize("verb", list(cli.VERBS))
def test_a_verb_is_helped_on_one_screen_or_two(
    verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.answer([verb, "-h"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 60
    assert max(len(line) for line in lines if "wattlock" not in line) <= 80


def test_the_overview_names_no_types(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.answer(["--help"]) == 0
    assert "<bool>" not in capsys.readouterr().out


def test_a_wrong_option_of_a_verb_leads_to_the_verbs_own_help(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["advise", "--exprimen"], ["run", "--nothing"], ["compare", "a", "b", "--fail-abov", "2%"]):
        assert cli.answer(words) == 2
        assert f"hint: `wattlock {words[0]} --help` lists its options" in capsys.readouterr().err
    assert cli.answer(["shwo"]) == 2
    assert "hint: `wattlock --help` lists the verbs" in capsys.readouterr().err
