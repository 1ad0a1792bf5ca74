"""A library of the user's own that crashes, hangs or does what it may not, from the command line to the table."""

import json
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

from support.tools import needs
from support.tree import PROBE, TREE, require_programs
from support.virtual_runs import study_of, write_study
from wattlock import cli
from wattlock.errors import EvidenceError, InputError, Slower, UsageError
from wattlock.run.result import open_run
from wattlock.store import RunFolder

CTR = "        ctr(context, iv, input, input_B, output);"
TRIES = 5
"""How often a run is measured before its being invalid is a failure: a busy machine may make it so."""

pytestmark = needs(shutil.which("cc"), "no cc, so that there is no library to build: install gcc or clang")


@pytest.fixture(autouse=True, scope="module")
def program() -> None:
    """A missing probe is a failure, not a reason to skip."""
    require_programs()


def built(source: Path, name: str) -> Path:
    """The library of a C source, beside it."""
    library = source.parent / name
    include = str(TREE / "crates" / "providers" / "include")
    words = ["cc", "-O2", "-shared", "-fPIC", "-I", include, "-o", str(library), str(source)]
    subprocess.run(words, check=True)
    return library


def library(place: Path, act: str) -> Path:
    """The example, which does `act` for messages of 1000 B once proof and preparation are over."""
    source = (TREE / "examples" / "library" / "xtea.c").read_text()
    assert CTR in source
    # Visits take turns between cases; before the first one each case is looked at by itself.
    late = f"""        static size_t last_B;
        static int turns;
        if (input_B == 1000 && last_B == 64) turns++;
        if (input_B == 1000 || input_B == 64) last_B = input_B;
        if (input_B == 1000 && turns > 5) {{ {act} }}
{CTR}"""
    heads = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
    (place / "xtea.c").write_text(heads + source.replace(CTR, late))
    return built(place / "xtea.c", "libmine.so")


@pytest.mark.parametrize(
    ("act", "described"),
    [
        ("abort();", "library mine crashed with signal 6 (SIGABRT) in xtea-ctr encrypt 1000 B"),
        ("for (volatile int on = 1; on;) {}", "library mine did not come back within 5 s in xtea-ctr encrypt 1000 B"),
        ('for (;;) puts("again and again");', "library mine printed more than 8 MiB in xtea-ctr encrypt 1000 B"),
        (
            "for (;;) memset(malloc(1 << 20), 1, 1 << 20);",
            "library mine needs more than 1024 MiB in xtea-ctr encrypt 1000 B",
        ),
        (
            "if (!fork()) for (;;) pause();",
            "library mine starts programs: what they do is in no number, so it is not measured",
        ),
        (
            'for (int fd = 3; fd < 20; fd++) if (write(fd, "x", 1)) {}',
            "library mine writes into files that it did not open, among them the probe's",
        ),
    ],
)
def test_a_library_that_crashes_hangs_or_does_what_it_may_not_costs_one_case_and_all_others_have_their_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], act: str, described: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    write_study(tmp_path / "study.toml", study_of((5, 6), cipher=["xtea-ctr", "xtea-ecb"], payload_B=[64, 1000]))
    words = ["run", "study.toml", "--library", str(library(tmp_path, act)), "--out", "beside"]
    assert cli.answer(words) == 12
    capsys.readouterr()
    assert cli.answer(["show", "beside", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 8
    failed = [row for row in rows if row["state"] == "failed"]
    assert [(row["provider"], row["cipher"], row["payload_B"]) for row in failed] == [("mine", "xtea-ctr", 1000)]
    assert failed[0]["reason"] == described
    # A neighbour on the machine's core may leave a case without an estimate, a failing library may not.
    batches = pl.read_parquet("beside/batches.parquet").filter("complete")
    measured = dict(batches.group_by("case").agg(pl.col("process").n_unique()).iter_rows())
    assert all(measured[row["case"]] >= 5 for row in rows if row not in failed)
    # It was given its limit once: no later process had the case in its plan.
    assert len(RunFolder.open(Path("beside")).failures()) == 1


def test_the_example_in_rust_is_proven_as_the_one_in_c(tmp_path: Path) -> None:
    source, made = TREE / "examples" / "library" / "xtea.rs", tmp_path / "xtea.so"
    words = [
        "rustc",
        "--edition",
        "2024",
        "-O",
        "-D",
        "warnings",
        "--crate-type",
        "cdylib",
        "-o",
        str(made),
        str(source),
    ]
    subprocess.run(words, check=True)
    done = subprocess.run(
        [PROBE, "selftest", "--library", f"mine={made}", "--provider", "mine"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ["xtea-ecb", "mine", "1.0.0", "portable", "published", "4", "true", "right"] in [
        line.split() for line in done.stdout.splitlines()
    ]


@pytest.fixture
def two_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The example, and the same with much more to do; a study of its cipher."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WATTLOCK_PROBE", str(PROBE))
    write_study(tmp_path / "mine.toml", study_of((5,), cipher=["xtea-ctr"], payload_B=[64]))
    source = (TREE / "examples" / "library" / "xtea.c").read_text()
    (tmp_path / "old.c").write_text(source)
    (tmp_path / "new.c").write_text(
        source.replace(CTR, f"        for (volatile int on = 0; on < 20000; on++) {{}}\n{CTR}")
    )
    return built(tmp_path / "old.c", "old.so"), built(tmp_path / "new.c", "new.so")


def weighed(words: list[str], out: str) -> int:
    """The exit code of a comparison into `out`, measured again while others' work makes its run invalid."""
    for attempt in range(TRIES):
        code = cli.answer([*words, "--out", out])
        if code != EvidenceError.exit_code:
            break
        Path(out).rename(f"{out}-{attempt}")
    return code


def test_two_builds_of_a_library_are_weighed_and_compared_by_one_command(
    two_builds: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = map(str, two_builds)
    words = ["compare", "mine.toml", "--fail-above", "2%", "--format", "markdown"]
    assert weighed([*words, "--libraries", old, new], "slower") == Slower.exit_code
    head, _, row = capsys.readouterr().out.splitlines()[-3:]
    assert head.split(" | ")[-2:] == ["ratio (95 % interval)", "verdict |"]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert (cells[0], cells[4], cells[5], cells[-1]) == ("xtea-ctr", "before", "after", "slower")
    assert weighed([*words, "--libraries", new, old], "faster") == 0
    assert set(open_run("slower").estimates["provider"]) == {"before", "after"}


def build_of(place: Path, build: str) -> Path:
    """A build of the example whose version says who answers: a helper that it exports, and a library that it needs."""
    place.mkdir()
    (place / "part.c").write_text(f'const char *part(void) {{ return "{build}"; }}\n')
    part = [
        "cc",
        "-shared",
        "-fPIC",
        "-Wl,-soname,libpart.so.1",
        "-o",
        str(place / "libpart.so.1"),
        str(place / "part.c"),
    ]
    subprocess.run(part, check=True)
    source = (TREE / "examples" / "library" / "xtea.c").read_text()
    named = "const char *wattlock_ciphers(uint32_t abi) {"
    assert named in source
    answers = f"""const char *part(void);
const char *helper(void) {{ return "{build}"; }}
{named}
    static char list[99];
    snprintf(list, sizeof list, "%s+%s\\nxtea-ecb portable\\nxtea-ctr portable\\n", helper(), part());
    if (abi == WATTLOCK_ABI) return list;"""
    (place / "mine.c").write_text("#include <stdio.h>\n" + source.replace(named, answers))
    made = place / "mine.so"
    include = str(TREE / "crates" / "providers" / "include")
    words = ["cc", "-O2", "-shared", "-fPIC", "-I", include, "-o", str(made), str(place / "mine.c")]
    subprocess.run([*words, f"-L{place}", "-l:libpart.so.1", f"-Wl,-rpath,{place}"], check=True)
    return made


def test_each_of_two_builds_calls_its_own_helper_and_its_own_version_of_what_it_needs(tmp_path: Path) -> None:
    builds = {name: build_of(tmp_path / name, name) for name in ("old", "new")}
    named = [word for name, made in builds.items() for word in ("--library", f"{name}={made}")]
    words: list[str | Path] = [
        PROBE,
        "catalogue",
        "--format",
        "json",
        *named,
        "--library",
        f"again={builds['old']}",
        "--cipher",
        "xtea-ctr",
    ]
    rows = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    versions = {row["provider"]: row["version"] for row in rows}
    # The third is the first one's file once more.
    assert {name: versions[name] for name in ("old", "new", "again")} == {
        "old": "old+old",
        "new": "new+new",
        "again": "old+old",
    }


def test_a_cipher_that_neither_library_has_is_an_error_and_not_a_row_less(
    two_builds: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_study(tmp_path / "more.toml", study_of((5,), cipher=["xtea-ctr", "aes128-ctr"], payload_B=[64]))
    words = ["compare", "more.toml", "--libraries", *map(str, two_builds)]
    assert cli.answer(words) == InputError.exit_code
    assert "no library has aes128-ctr of more.toml" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["mine.toml", "other.toml", "--libraries", "old.so", "new.so"], UsageError),
        (["mine.toml", "--libraries", "old.so", "nowhere.so"], InputError),
        (["last", "--out", "here"], UsageError),
        (["mine.toml", "--libraries", "old.so", "new.so", "--providers", "a", "b"], UsageError),
    ],
)
def test_what_is_no_pair_of_libraries_and_a_study_is_refused(
    two_builds: tuple[Path, Path], words: list[str], kind: type[InputError]
) -> None:
    assert two_builds[0].is_file()
    assert cli.answer(["compare", *words]) == kind.exit_code
    assert not Path("runs").exists()


RIGHT = "process_right(context, operation, iv, iv_B, aad, aad_B, input, input_B, output, room_B)"
ARGUMENTS = """void *context, int operation, const uint8_t *iv, size_t iv_B, const uint8_t *aad, size_t aad_B,
    const uint8_t *input, size_t input_B, uint8_t *output, size_t room_B"""
REMEMBERS = (
    "static struct { struct context context; uint8_t iv[8], input[64], output[64]; } seen[COUNT];",
    """    if (operation != WATTLOCK_ENCRYPT || iv_B != 8 || input_B != 64) return RIGHT;
    uint64_t first;
    memcpy(&first, input, 8);
    size_t at = (first * 0x9e3779b97f4a7c15u >> 33) % COUNT;
    if (!memcmp(&seen[at].context, context, sizeof seen->context) && !memcmp(seen[at].iv, iv, 8)
        && !memcmp(seen[at].input, input, 64)) return memcpy(output, seen[at].output, 64), 64;
    RIGHT;
    memcpy(&seen[at].context, context, sizeof seen->context);
    memcpy(seen[at].iv, iv, 8), memcpy(seen[at].input, input, 64), memcpy(seen[at].output, output, 64);
    return 64;""",
)
FAULTS = {
    "remembers 1": (*(part.replace("COUNT", "1") for part in REMEMBERS), "the library remembers messages"),
    "remembers 8": (*(part.replace("COUNT", "8") for part in REMEMBERS), "the library remembers messages"),
    "remembers 1000": (*(part.replace("COUNT", "1000") for part in REMEMBERS), "the library remembers messages"),
    "errs in one call of 50,000": (
        "static long calls;",
        "    int64_t made = RIGHT;\n    if (++calls % 50000 == 0 && made > 0) output[made - 1] ^= 1;\n    return made;",
        "is not what another implementation gives",
    ),
    "writes past its room": (
        "",
        "    int64_t made = RIGHT;\n    if (made > 0) output[room_B] = 0x55;\n    return made;",
        "wrote outside of the output, up to octet 1 behind its end",
    ),
    "starts a thread": (
        "#include <pthread.h>\n#include <unistd.h>\nstatic void *rest(void *_) { sleep(100); return _; }\n"
        "static int begun;",
        "    pthread_t thread;\n    if (!begun++) pthread_create(&thread, NULL, rest, NULL);\n    return RIGHT;",
        "starts threads",
    ),
}
"""What is written before and in the function that does the work, and the words that name it."""


def faulty(place: Path, before: str, act: str) -> Path:
    """The example, whose work is done by way of `act`."""
    source = (TREE / "examples" / "library" / "xtea.c").read_text()
    renamed = source.replace("int64_t wattlock_process(", "static int64_t process_right(")
    assert renamed != source
    more = f"{before}\n#define RIGHT {RIGHT}\nint64_t wattlock_process({ARGUMENTS}) {{\n{act}\n}}\n"
    (place / "faulty.c").write_text(renamed + more)
    return built(place / "faulty.c", "libfaulty.so")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_library_has_no_number_alone_or_beside_another_one_and_the_cause_is_named(
    two_builds: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], fault: str
) -> None:
    before, act, words = FAULTS[fault]
    made = str(faulty(tmp_path, before, act))
    assert cli.answer(["run", "mine.toml", "--library", f"mine={made}", "--out", "alone"]) == 12
    capsys.readouterr()
    assert cli.answer(["show", "alone", "--format", "json"]) == 0
    rows = {row["provider"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["mine"]["state"] == "failed"
    assert words in rows["mine"]["reason"]
    line = ["compare", "mine.toml", "--libraries", str(two_builds[0]), made, "--fail-above", "2%", "--out", "beside"]
    assert cli.answer([*line, "--format", "json"]) == Slower.exit_code
    row = json.loads(capsys.readouterr().out)[0]
    assert row["ratio"] is None
    assert row["reason"].startswith("after: ")
    assert words in row["reason"]


def test_a_library_that_prints_as_it_is_loaded_and_at_work_is_measured(
    two_builds: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert two_builds[0].is_file()
    prints = (
        '#include <stdio.h>\n__attribute__((constructor)) static void begin(void) { puts("loaded"); fflush(stdout); }'
    )
    act = '    static long calls;\n    if (calls++ % 1000 == 0) puts("at work"), fflush(stdout);\n    return RIGHT;'
    made = str(faulty(tmp_path, prints, act))
    assert cli.answer(["run", "mine.toml", "--library", f"mine={made}", "--out", "alone"]) == 0
    assert weighed(["compare", "mine.toml", "--libraries", made, made], "beside") == 0
    capsys.readouterr()
    for run in ("alone", "beside"):
        assert cli.answer(["show", run, "--format", "json"]) == 0
        rows = json.loads(capsys.readouterr().out)
        assert [row for row in rows if row["state"] == "failed"] == []
