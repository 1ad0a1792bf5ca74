"""`wattlock export`: the same numbers in every format, tables that LaTeX takes, and nothing private where asked."""

import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

from support import report_frames
from support.scripted_probe import direct, install
from support.tools import needs
from support.virtual_runs import study_of, write_study
from wattlock import cli
from wattlock.errors import EvidenceError, InputError, StoreError, UsageError
from wattlock.report.evidence import with_energy_columns
from wattlock.report.exported import WITHHELD, escaped, latex, public, public_frame
from wattlock.run.begin import measure

LATEX = next(filter(None, map(shutil.which, ("pdflatex", "tectonic"))), None)
NASTY = '50 % of $x_1$ & #2 {a}~^\\end{table} <µ|"q"> é漢 \u202e'


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A run in virtual time, one case of which failed by a library with a path."""
    monkeypatch.chdir(tmp_path)
    probe = install(tmp_path / "probe")
    monkeypatch.setenv("WATTLOCK_PROBE", str(probe))
    write_study(tmp_path / "virtual.toml", study_of())
    direct(probe, fails={"2": "can't open /home/alice/lib x.so: serial no 12AB34"})
    measure("virtual.toml", out="run")
    return "run"


def exported(capsysbinary: pytest.CaptureFixture[bytes], *words: str, code: int = 0) -> tuple[bytes, str]:
    capsysbinary.readouterr()
    assert cli.answer(["export", *words]) == code
    said = capsysbinary.readouterr()
    return said.out, said.err.decode()


def test_csv_json_and_parquet_hold_the_same_rows_and_columns(
    run: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    csv = pl.read_csv(io.BytesIO(exported(capsysbinary, run)[0]))
    rows = json.loads(exported(capsysbinary, run, "--format", "json")[0])
    exported(capsysbinary, run, "--out", "e.parquet")
    parquet = pl.read_parquet("e.parquet")
    assert csv.columns == list(rows[0]) == parquet.columns
    assert csv["cycles_per_byte"].to_list() == pytest.approx([row["cycles_per_byte"] for row in rows], nan_ok=True)
    assert parquet.to_dicts() == rows
    assert {row["run_is_valid"] for row in rows} == {True}


def test_a_column_of_a_quantity_names_its_unit(run: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    exported(capsysbinary, run, "--out", "e.parquet")
    numbers = [name for name, kind in pl.read_parquet("e.parquet").schema.items() if kind == pl.Float64]
    units = ("_ns", "cycles", "_low", "_high", "_per_byte", "_MB_s", "_percent", "_share", "_uJ")
    assert [name for name in numbers if not name.endswith(units)] == []


def test_public_withholds_paths_serial_numbers_host_and_user_and_no_number(
    run: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    private = json.loads(exported(capsysbinary, run, "--format", "json")[0])
    shown = json.loads(exported(capsysbinary, run, "--format", "json", "--public")[0])
    assert "/home/alice" in private[2]["reason"]
    assert "alice" not in shown[2]["reason"]
    assert "12AB34" not in shown[2]["reason"]
    assert [row["time_ns"] for row in shown] == [row["time_ns"] for row in private]
    assert [row["cipher"] for row in shown] == [row["cipher"] for row in private]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("lib /home/alice/a.so is gone", f"lib {WITHHELD} is gone"),
        ("~/keys/mine: no", f"{WITHHELD}: no"),
        (r"C:\Users\alice\x.dll", WITHHELD),
        ("/dev/serial/by-id/usb-PPK2_C0FFEE12", WITHHELD),
        ("Serial number: C0FFEE12", f"Serial number: {WITHHELD}"),
        ("the serial device", "the serial device"),
        ("on Mybox by alice", f"on {WITHHELD} by {WITHHELD}"),
        ("malice at 12 MB/s and/or 3 cycles/B", "malice at 12 MB/s and/or 3 cycles/B"),
        ("rc5-32/12 costs 9.6 ± 0.1 %", "rc5-32/12 costs 9.6 ± 0.1 %"),
    ],
)
def test_a_text_becomes_public(text: str, left: str) -> None:
    assert public(text, ["mybox", "alice", ""]) == left


def test_a_user_named_as_a_cipher_hides_none() -> None:
    frame = pl.DataFrame({"family": ["aes"], "provider": ["aes"]})
    assert public_frame(frame, ["aes"]).row(0) == ("aes", WITHHELD)


def test_latex_says_in_comments_what_the_run_was_and_what_was_left_out(
    run: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    described = exported(capsysbinary, run, "--format", "latex")[0].decode()
    assert "% processor: " in described
    assert "% left out: rc2-128-cbc rustcrypto encrypt 64 B: failed: can't open /home/alice" in described
    assert r"\toprule" in described
    assert "AES-128 &" in described


def test_no_text_of_a_run_is_a_command_of_latex() -> None:
    assert escaped("a_b & 5 %") == r"a\_b \& 5 \%"
    assert escaped("\\end{table}\n\n") == r"\textbackslash{}end\{table\}"
    assert escaped("漢\u202eé") == "??e"


needs_latex = needs(LATEX, "neither pdflatex nor tectonic is on the PATH, so that no table is compiled")
WIDEST_PT = 2
"""So much over the line is not seen."""


def compiled(tables: str, folder: Path) -> list[float]:
    """Compiles tables in a plain article; gives how many points what is too wide or too high is over."""
    (folder / "tables.tex").write_text(tables, encoding="utf-8")
    preamble = "\\documentclass{article}\\usepackage{booktabs,graphicx}"
    (folder / "document.tex").write_text(f"{preamble}\\begin{{document}}\\input{{tables}}\\end{{document}}")
    options = ["-interaction=nonstopmode", "-halt-on-error"] if "pdflatex" in str(LATEX) else ["--keep-logs"]
    command = [str(LATEX), *options, "document.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (folder / "document.pdf").stat().st_size > 10_000
    log = (folder / "document.log").read_text(encoding="utf-8", errors="replace")
    return [float(over) for over in re.findall(r"Overfull \\[hv]box \(([\d.]+)pt", log)]


def estimates(**changed: pl.Expr) -> pl.DataFrame:
    per_byte = {f"cycles_per_byte_{end}": pl.col(f"cycles_{end}") / pl.col("payload_B") for end in ("low", "high")}
    return with_energy_columns(report_frames.estimates()).with_columns(**per_byte, **changed)


@needs_latex
def test_the_tables_of_a_whole_study_compile_whatever_its_texts_hold(tmp_path: Path) -> None:
    named = pl.when(pl.col("case") % 2 == 0).then(pl.lit("b")).otherwise(pl.lit(NASTY))
    written = latex(estimates(data=pl.lit(NASTY), provider=named), {"run": NASTY, "note\n": f"{NASTY}\n\\undefined"})
    compiled(written, tmp_path)


@needs_latex
def test_tables_of_many_columns_and_long_names_are_no_wider_than_the_text(tmp_path: Path) -> None:
    long = pl.when(pl.col("case") % 2 == 0).then(pl.lit("openssl-tables")).otherwise(pl.lit("a library of my own"))
    code = pl.when(pl.col("case") % 3 == 0).then(pl.lit("tables, default provider")).otherwise(pl.lit("portable"))
    joules = {f"energy{end}_uJ{per}": pl.lit(0.012345) for end in ("", "_low", "_high") for per in ("", "_per_byte")}
    wide = estimates(provider=long, path=code, energy_evidence=pl.lit("assumed"), **joules)
    over = compiled(latex(wide, {"run": "wide"}), tmp_path)
    assert [one for one in over if one > WIDEST_PT] == []


@needs_latex
def test_more_tables_than_latex_keeps_waiting_compile(tmp_path: Path) -> None:
    many = pl.concat([estimates().head(3).with_columns(payload_B=pl.lit(size, pl.Int64)) for size in range(1, 301)])
    written = latex(many, {"run": "many"})
    assert written.count("begin{table}") >= 300
    compiled(written, tmp_path)


def test_an_invalid_run_gives_no_table_for_a_paper_and_says_so_in_the_others(
    run: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    exported(capsysbinary, run, "--format", "latex")
    direct(tmp_path / "probe" / "wattlock-probe", canaries={"5": 0.7})
    measure("virtual.toml", out="bad")
    assert "invalid" in exported(capsysbinary, "bad", "--format", "latex", code=EvidenceError.exit_code)[1]
    rows = json.loads(exported(capsysbinary, "bad", "--format", "json")[0])
    assert {row["run_is_valid"] for row in rows} == {False}


def test_what_can_not_be_exported_is_named_and_overwrites_nothing(
    run: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    kept = tmp_path / "kept.csv"
    kept.write_text("mine")
    plan = tmp_path / run / "plan.jsonl"
    plan.write_text(plan.read_text().replace('"schema":2', '"schema":99', 1))
    (tmp_path / run / "SHA256SUMS").unlink()
    assert "99" in exported(capsysbinary, run, "--out", str(kept), code=StoreError.exit_code)[1]
    assert kept.read_text() == "mine"
    exported(capsysbinary, "nowhere", code=StoreError.exit_code)


def test_parquet_needs_a_file_and_a_folder_that_is_not_there_is_named(
    run: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert "--out" in exported(capsysbinary, run, "--format", "parquet", code=UsageError.exit_code)[1]
    assert "nowhere/e.csv" in exported(capsysbinary, run, "--out", "nowhere/e.csv", code=InputError.exit_code)[1]


def test_an_ending_that_names_no_format_is_refused_unless_the_format_is_named(
    run: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    _, refusal = exported(capsysbinary, run, "--out", "e.exe", code=UsageError.exit_code)
    assert "e.exe: its ending names no format" in refusal
    assert ".csv, .parquet, .tex, .json" in refusal
    assert not Path("e.exe").exists()
    exported(capsysbinary, run, "--out", "e.exe", "--format", "json")
    assert json.loads(Path("e.exe").read_text(encoding="utf-8"))
