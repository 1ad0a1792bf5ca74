"""Keys, and what `wattlock verify` says of a signed file, run and set."""

import io
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from support.corruptions import damages, sealed_run
from wattlock import cli
from wattlock.errors import InputError, NotVerified, StoreError
from wattlock.publish import signed_set
from wattlock.publish.minisign import SecretKey
from wattlock.store import RunFolder
from wattlock.store.run_folder import SUMS

KEY = SecretKey.new()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return RunFolder.open(sealed_run(tmp_path_factory.mktemp("measured")))


@pytest.fixture
def made(run: RunFolder, tmp_path: Path) -> Path:
    """A signed set with one run."""
    place = tmp_path / "set"
    (place / "runs").mkdir(parents=True)
    (place / "index.html").write_text("numbers")
    signed_set.pack(run, place / "runs" / f"{run.id}.zip")
    signed_set.sign(place, KEY, "made for a test")
    return place


def test_a_signed_set_holds_with_its_files_and_runs(made: Path) -> None:
    found = signed_set.verify(made, KEY.public)
    assert (found.comment, found.faults) == ("made for a test", [])
    assert found.checked == "2 files, 1 of them sealed runs"


def change(path: Path) -> None:
    path.write_text("other numbers")


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (lambda made: change(made / "index.html"), ["index.html: is not what was signed"]),
        (lambda made: (made / "index.html").unlink(), ["index.html: is missing"]),
        (lambda made: change(made / "more.html"), ["more.html: was not signed"]),
        (lambda made: (made / "more").symlink_to("index.html"), ["more: was not signed"]),
        (lambda made: change(made / "a\x1b[2J\udcff"), [r"'a\x1b[2J\udcff': was not signed"]),
    ],
    ids=["changed", "missing", "added", "linked", "unprintable"],
)
def test_what_is_wrong_with_a_set_is_told_by_name(made: Path, harm: Callable[[Path], None], told: list[str]) -> None:
    harm(made)
    assert signed_set.verify(made, KEY.public).faults == told


def test_a_file_whose_name_is_two_lines_is_not_signed(tmp_path: Path) -> None:
    (tmp_path / "a\nb").touch()
    with pytest.raises(InputError, match="a list of sums has no place for this name"):
        signed_set.sign(tmp_path, KEY, "")
    assert [path.name for path in tmp_path.iterdir()] == ["a\nb"]


def test_a_link_in_place_of_a_signed_file_is_no_file_of_the_set(made: Path) -> None:
    (made / "index.html").rename(made.parent / "elsewhere")
    (made / "index.html").symlink_to(made.parent / "elsewhere")
    assert signed_set.verify(made, KEY.public).faults == ["index.html: is no file of its own"]


def test_sums_that_were_changed_or_lead_elsewhere_are_refused(made: Path) -> None:
    sums = made / SUMS
    sums.write_text(sums.read_text().replace("index.html", "../index.html"))
    with pytest.raises(NotVerified, match="SHA256SUMS: is not what was signed"):
        signed_set.verify(made, KEY.public)
    sums.with_name(signed_set.SIGNATURE).write_text(KEY.sign(sums, ""))
    with pytest.raises(StoreError, match=r"no sum of a file of this folder: '.*  \.\./index.html'"):
        signed_set.verify(made, KEY.public)
    sums.with_name(signed_set.SIGNATURE).unlink()
    with pytest.raises(NotVerified, match=r"is not signed: SHA256SUMS.minisig is missing"):
        signed_set.verify(made, KEY.public)


def test_a_run_that_was_packed_damaged_is_told_though_its_signature_holds(run: RunFolder, made: Path) -> None:
    damaged = made.parent / "damaged"
    shutil.copytree(run.path, damaged)
    opened = RunFolder.open(damaged)
    content = (damaged / "batches.parquet").read_bytes()
    (damaged / "batches.parquet").write_bytes(content[:-1] + b"\0")
    archive = made / "runs" / f"{run.id}.zip"
    signed_set.pack(opened, archive)
    signed_set.sign(made, KEY, "")
    assert signed_set.verify(made, KEY.public).faults == [f"runs/{run.id}.zip: batches.parquet is not what was sealed"]


def test_a_packed_run_is_the_same_bytes_again_and_holds_nothing_else(run: RunFolder, tmp_path: Path) -> None:
    for name in ("one.zip", "two.zip"):
        signed_set.pack(run, tmp_path / name)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    assert signed_set.check(tmp_path / "one.zip") == run.id
    with zipfile.ZipFile(tmp_path / "two.zip", "a") as archive:
        archive.writestr("../../evil", b"x")
    with pytest.raises(NotVerified, match=r"\.\./\.\./evil is not of a packed run"):
        signed_set.check(tmp_path / "two.zip")
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("run/plan.jsonl", bytes(10_000_000))
    with pytest.raises(NotVerified, match=r"plan\.jsonl is not of a packed run"):
        signed_set.check(tmp_path / "bomb.zip")


def test_a_packed_run_that_was_changed_anywhere_is_refused_or_the_same(run: RunFolder, tmp_path: Path) -> None:
    archive = tmp_path / "run.zip"
    signed_set.pack(run, archive)
    for what, changed in damages(archive.read_bytes(), 60, "packed"):
        archive.write_bytes(changed)
        try:
            assert signed_set.check(archive) == run.id, what
        except NotVerified:
            continue


def test_a_signed_run_holds_until_a_byte_of_it_changes(run: RunFolder, tmp_path: Path) -> None:
    path = tmp_path / "run"
    shutil.copytree(run.path, path)
    with pytest.raises(NotVerified, match="is not signed"):
        signed_set.verify(path, KEY.public)
    (path / signed_set.SIGNATURE).write_text(KEY.sign(path / SUMS, "a run"))
    found = signed_set.verify(path, KEY.public)
    assert (found.checked, found.unsigned) == ("plan.jsonl, batches.parquet, headers.jsonl, SHA256SUMS", [])
    (path / "headers.jsonl").write_bytes(b"{}\n")
    with pytest.raises(StoreError, match=r"headers\.jsonl is not what was sealed"):
        signed_set.verify(path, KEY.public)


def test_what_lies_beside_the_files_of_a_signed_run_is_named_as_not_checked(
    run: RunFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run"
    shutil.copytree(run.path, path)
    (path / signed_set.SIGNATURE).write_text(KEY.sign(path / SUMS, "a run"))
    change(path / "report.html")
    assert cli.answer(["verify", str(path), "--key", KEY.public.line]) == 0
    told = capsys.readouterr()
    assert told.out.startswith(f"verified: {path}: plan.jsonl, batches.parquet, headers.jsonl, SHA256SUMS, signed by ")
    assert told.err == "warning: not signed, so not checked: report.html\n"


@pytest.mark.parametrize("checked", ["set", "set/SHA256SUMS", "set/runs/../../set", "again"])
@pytest.mark.parametrize("key", ["set/minisign.pub", "linked.pub", "set/outside.pub"])
def test_a_key_that_comes_with_a_forged_set_proves_nothing(
    checked: str, key: str, made: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(made.parent)
    forger = SecretKey.new()
    Path("forged.pub").write_text(forger.public.file())
    (made / "minisign.pub").write_text(forger.public.file())
    Path("linked.pub").symlink_to("set/minisign.pub")
    (made / "outside.pub").symlink_to("../forged.pub")
    Path("again").symlink_to("set")
    signed_set.sign(made, forger, "forged")
    assert cli.answer(["verify", checked, "--key", key]) == InputError.exit_code
    error, hint = capsys.readouterr().err.splitlines()
    place = checked.removesuffix("/SHA256SUMS")
    assert error == f"error: --key {key}: lies in {place}, which it is to verify"
    assert hint == "hint: take the key from where you know its owner"
    assert cli.answer(["verify", checked, "--key", KEY.public.line]) == NotVerified.exit_code


def test_a_key_made_on_the_command_line_signs_and_verifies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.answer(["key", "new", "w.key", "--without-password"]) == 0
    public = capsys.readouterr().out.strip()
    assert Path("w.key").stat().st_mode & 0o777 == 0o600
    for file in ("w.key", "w.pub"):
        assert cli.answer(["key", "show", file]) == 0
        assert capsys.readouterr().out.strip() == public
    assert cli.answer(["key", "new", "w.key", "--without-password"]) == InputError.exit_code
    assert capsys.readouterr().err.startswith("error: w.key: there is one already\nhint: ")
    Path("numbers.csv").write_text("1,2\n")
    secret = SecretKey.parse(Path("w.key").read_text(), None, named="w.key")
    Path("numbers.csv.minisig").write_text(secret.sign(Path("numbers.csv"), "two numbers"))
    for key in ("w.pub", public):
        assert cli.answer(["verify", "numbers.csv", "--key", key]) == 0
        assert capsys.readouterr().out.endswith("signed with it: two numbers\n")
    Path("numbers.csv").write_text("1,3\n")
    assert cli.answer(["verify", "numbers.csv", "--key", "w.pub"]) == NotVerified.exit_code
    assert capsys.readouterr().err.startswith("error: numbers.csv: is not what was signed\nhint: ")


def test_all_faults_of_a_set_are_printed_and_counted(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(made / "index.html")
    change(made / "more.html")
    assert cli.answer(["verify", str(made), "--key", KEY.public.line]) == NotVerified.exit_code
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines()[:3] == [
        "not verified: index.html: is not what was signed",
        "not verified: more.html: was not signed",
        f"error: {made}: index.html: is not what was signed, and 1 more",
    ]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with an empty file, where nobody types."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    Path("empty").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["verify", "none", "--key", KEY.public.line], 14, "none: there is no such file"),
        (["verify", ".", "--key", KEY.public.line], 14, "SHA256SUMS is missing"),
        (["verify", ".", "--key", "none.pub"], 4, "--key none.pub: no public key"),
        (["key", "show", "none.pub"], 4, "none.pub: No such file or directory"),
        (["key", "new", "a.pub"], 4, "a.pub: .pub is the public key's ending"),
        (["key", "new", ".pub"], 4, ".pub: .pub is the public key's ending"),
        *((["key", "new", place, "--without-password"], 4, f"{place}: is a folder") for place in (".", "/", "..")),
        (["key", "new", "no/a.key"], 4, "no/a.key: there is no folder no"),
        (["key", "new", "no/..", "--without-password"], 4, "no/..: there is no folder no"),
        (["key", "new", "empty/a.key", "--without-password"], 4, "empty/a.key: can't be written: Not a directory"),
        (["key", "new", "a.key", "--password-file", "empty"], 4, "--password-file empty: its first line is empty"),
        (["key", "new", "a.key", "--password-file", "b", "--without-password"], 2, "don't go together"),
        (["key", "new", "a.key"], 4, "nobody can be asked for the key's password"),
    ],
)
def test_what_can_not_be_done_is_an_error_and_a_hint(
    words: list[str], code: int, told: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.answer(words) == code
    error, hint = capsys.readouterr().err.splitlines()
    assert error.startswith("error: ")
    assert told in error
    assert hint.startswith("hint: ")
    assert [path.name for path in place.iterdir()] == ["empty"]
