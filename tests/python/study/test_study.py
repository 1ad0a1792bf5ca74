"""Studies: what is read, and what each mistake is told."""

from pathlib import Path
from string import printable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wattlock.errors import InputError, StudyError
from wattlock.study import load, names

HEAD = 'id = "mine"\ntitle = "t"\nquestion = "q?"\n'
GRID = '[[grid]]\ncipher = ["aes128-cbc", "des-cbc"]\noperation = ["encrypt"]\n'
SOUND = HEAD + GRID + "payload_B = [64]\n"
STUDIES_ARE = (
    "the studies are: advice, calibration, ebacs, first-look, mcu, mcu-costs, mcu-frames, mcu-quick, "
    "page, papers/battery, papers/full, papers/mcu, papers/quick, quick"
)
LISTS = "looks = [5, 8]\n"


def refused(tmp_path: Path, text: str) -> tuple[str, str]:
    """Give the message without the file's name, and the hint."""
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(StudyError) as caught:
        load(path)
    start = f"study {path}: "
    assert caught.value.message.startswith(start)
    return caught.value.message.removeprefix(start), caught.value.hint


def test_a_study_that_gives_only_what_it_must_gets_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(SOUND)
    study = load(path)
    assert (study.target_percent, study.smallest_effect_percent, study.file_B) == (1.0, 1.0, 350_000)
    assert study.looks == [5, 8, 12, 20, 30]
    (grid,) = study.grid
    assert (grid.provider, grid.keying, grid.encoding) == (None, ["ready"], ["raw"])
    assert (grid.placement, grid.pattern, grid.data) == (["hot"], ["independent"], None)


def test_every_study_that_comes_along_is_sound_and_carries_its_own_name() -> None:
    assert {"first-look", "quick", "papers/quick", "papers/full", "papers/battery"} <= set(names())
    for name in names():
        assert load(name).id == name.replace("/", "-")


def test_a_path_is_read_though_a_study_of_that_name_comes_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("quick").write_text(SOUND)
    assert load("quick").id == "quick"
    assert load("./quick").id == "mine"
    assert load(Path("quick")).id == "mine"


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("first-lok", "there is no study first-lok", 'did you mean "first-look"?'),
        (
            "zzz",
            "there is no study zzz",
            STUDIES_ARE,
        ),
        ("first-look.toml", "study first-look.toml: there is no such file", 'did you mean "first-look"?'),
        ("papers/quik", "there is no study papers/quik", 'did you mean "papers/quick"?'),
        *(
            (
                path,
                f"study {path}: there is no such file",
                STUDIES_ARE.replace("the", "is its path right? The", 1).replace("are:", "that have a name are:", 1),
            )
            for path in ("zzz.toml", "zzz/zzz")
        ),
        (
            ".",
            "study .: is not a file",
            STUDIES_ARE,
        ),
    ],
)
def test_a_study_that_is_not_there_is_told_the_nearest(name: str, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        load(name)
    assert (caught.value.message, caught.value.hint) == (message, hint)
    # As a name of any other kind that there is not.
    assert caught.value.exit_code == 4


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            HEAD + GRID + "payload_KB = [64]\n",
            "grid[0].payload_KB: unknown key",
            'did you mean "payload_B"? sizes are in bytes',
        ),
        (HEAD + "file_MB = 4\n" + GRID, "file_MB: unknown key", 'did you mean "file_B"? sizes are in bytes'),
        (SOUND + 'ciphers = ["x"]\n', "grid[0].ciphers: unknown key", 'did you mean "cipher"?'),
        (
            SOUND + "zzz = 1\n",
            "grid[0].zzz: unknown key",
            "the keys are: cipher, provider, operation, keying, encoding, placement, pattern, payload_B, data, aad_B, "
            "readiness, core_class",
        ),
        (
            HEAD.replace("title", "titel") + GRID,
            "titel: unknown key",
            'did you mean "title"?',
        ),
        (HEAD + "grid = []\n", "grid: is empty", ""),
        (HEAD, "grid: is missing", "`wattlock studies --template` prints one with all keys and what each means"),
        (
            SOUND.replace("[[grid]]", "[grid]"),
            'grid: must be a list, is {"cipher": ["aes128-cbc", "des-cbc"], "operation": ["encryp…',
            "write [[grid]] in two brackets",
        ),
        (SOUND.replace('["aes128-cbc", "des-cbc"]', "[]"), "grid[0].cipher: is empty", ""),
        (SOUND.replace("[64]", "[]"), "grid[0].payload_B: is empty", ""),
        (
            SOUND.replace('["aes128-cbc", "des-cbc"]', '"aes128-cbc"'),
            'grid[0].cipher: must be a list, is "aes128-cbc"',
            'write ["aes128-cbc"]',
        ),
        (SOUND.replace('"des-cbc"', "7"), "grid[0].cipher[1]: must be text, is 7", ""),
        (
            SOUND.replace('"encrypt"', '"encypt"'),
            'grid[0].operation[0]: no operation "encypt"',
            'did you mean "encrypt"?',
        ),
        (
            SOUND + 'placement = ["cache"]\n',
            'grid[0].placement[0]: no placement "cache"',
            "there are: hot, L2, DRAM",
        ),
        (
            SOUND.replace("[64]", '[64, "16 KiB"]'),
            'grid[0].payload_B[1]: must be a whole number, is "16 KiB"',
            "sizes are whole bytes, without a unit: 16_384",
        ),
        (
            SOUND.replace("[64]", "[1.5]"),
            "grid[0].payload_B[0]: must be a whole number, is 1.5",
            "sizes are whole bytes, without a unit: 16_384",
        ),
        (SOUND.replace("[64]", "[64, -3]"), "grid[0].payload_B[1]: must be at least 1, is -3", ""),
        (SOUND.replace("[64]", "[0]"), "grid[0].payload_B[0]: must be at least 1, is 0", ""),
        (
            SOUND.replace("[64]", "[67_108_865]"),
            "grid[0].payload_B[0]: must be at most 67108864, is 67108865",
            "",
        ),
        (
            SOUND.replace("[64]", "[262_144, 262_145]") + 'placement = ["hot", "L2"]\n',
            "grid[0].payload_B[1]: must be at most 262144 where placement is L2, is 262145",
            "",
        ),
        (
            HEAD + GRID + 'data = ["text"]\nplacement = ["L2"]\n',
            "file_B: must be at most 262144 where placement is L2, is 350000",
            "",
        ),
        (
            SOUND.replace("[64]", "[64, 1500, 64]"),
            "grid[0].payload_B[2]: 64 stands in grid[0].payload_B[0] already",
            "",
        ),
        (
            SOUND.replace('"des-cbc"', '"aes128-cbc"'),
            'grid[0].cipher[1]: "aes128-cbc" stands in grid[0].cipher[0] already',
            "",
        ),
        (
            HEAD + GRID,
            "grid[0]: nothing to work on",
            'give payload_B = [64, 1500] (bytes) or data = ["text", "image", "audio", "video"]',
        ),
        (SOUND + 'data = ["text"]\n', "grid[0]: has payload_B and data", "give them a grid each"),
        (
            SOUND + GRID.replace("encrypt", "key_setup") + "payload_B = [64]\n",
            "grid[1].payload_B: key_setup alone has no such factor",
            "leave payload_B out of this grid",
        ),
        (
            SOUND.replace('"encrypt"', '"encrypt", "decrypt"') + 'pattern = ["independent", "chained"]\n',
            "grid[0].pattern[1]: decrypted packets do not wait for one another",
            "give encrypt a grid of its own for the chained pattern",
        ),
        (HEAD + "looks = []\n" + GRID, "looks: is empty", ""),
        (HEAD + "looks = [4, 8]\n" + SOUND[len(HEAD) :], "looks[0]: must be at least 5, is 4", ""),
        (
            HEAD + "looks = [5, 12, 12]\n" + SOUND[len(HEAD) :],
            "looks[2]: must be more than 12, the look before, is 12",
            "",
        ),
        (HEAD + f"looks = {[*range(5, 26)]}\n" + SOUND[len(HEAD) :], "looks: must be at most 20 looks, is 21", ""),
        (SOUND.replace("cipher =", "provider = []\ncipher ="), "grid[0].provider: is empty", ""),
        (HEAD + "looks = [5, 2000]\n" + GRID, "looks[1]: must be at most 1000, is 2000", ""),
        (HEAD + "target_percent = 0\n" + GRID, "target_percent: must be more than 0, is 0", ""),
        (HEAD + "target_percent = nan\n" + GRID, "target_percent: must be a finite number, is NaN", ""),
        (HEAD + 'target_percent = "1 %"\n' + GRID, 'target_percent: must be a number, is "1 %"', ""),
        (HEAD + "file_B = -1\n" + GRID, "file_B: must be at least 1, is -1", ""),
        (
            SOUND.replace('"mine"', '"../mine"'),
            'id: must be lower-case letters, digits and single hyphens, is "../mine"',
            "",
        ),
        (SOUND.replace('"t"', '""'), 'title: must be at least 1 letter long, is ""', ""),
    ],
)
def test_a_mistake_in_a_study_is_named_with_its_place_and_a_way_out(
    tmp_path: Path, text: str, message: str, hint: str
) -> None:
    assert refused(tmp_path, text) == (message, hint)


def test_a_study_with_several_mistakes_names_them_all(tmp_path: Path) -> None:
    text = "zzz = 1\n" + SOUND.replace("[64]", "[-1, -2]").replace('"encrypt"', '"encypt"')
    message, hint = refused(tmp_path, text)
    assert message.splitlines() == [
        "zzz: unknown key",
        '  also grid[0].operation[0]: no operation "encypt"; did you mean "encrypt"?',
        "  also grid[0].payload_B[0]: must be at least 1, is -1",
        "  also grid[0].payload_B[1]: must be at least 1, is -2",
    ]
    assert hint.startswith("the keys are: id, title, question")


def test_of_endless_mistakes_the_first_are_named_and_the_others_counted(tmp_path: Path) -> None:
    message, _ = refused(tmp_path, SOUND.replace("[64]", f"[{', '.join(['-1'] * 50)}]"))
    assert len(message.splitlines()) == 21
    assert message.splitlines()[-1] == "  also 30 more mistakes"


@pytest.mark.parametrize("line", ["[[grid]", 'id = "twice"', "payload_B = 16 KiB", "looks = [5,"])
def test_what_is_not_toml_is_named_with_its_line(tmp_path: Path, line: str) -> None:
    message, _ = refused(tmp_path, f"{HEAD}{line}\n# the end\n")
    assert message.startswith("not TOML: ")
    assert "at line 4" in message or line == "looks = [5,"


def test_a_study_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"id = \xff\xfe")
    with pytest.raises(StudyError, match="not TOML: 'utf-8' codec"):
        load(path)


def test_the_ciphers_of_a_study_stand_with_the_place_that_names_them_first(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(SOUND + GRID.replace('"des-cbc"', '"rc4-128"') + 'data = ["video", "text"]\n')
    study = load(path)
    assert study.ciphers() == {
        "aes128-cbc": "grid[0].cipher[0]",
        "des-cbc": "grid[0].cipher[1]",
        "rc4-128": "grid[1].cipher[1]",
    }
    assert study.samples() == ["video", "text"]


VALUES = st.sampled_from(['"encrypt"', "[1]", '["hot"]', "-1", "nan", "{}", "true", "1979-05-27", '["text"]', "[[]]"])
KEYS = st.sampled_from(["id", "grid", "looks", "file_B", "payload_B", "cipher", "data", "pattern", "zz", "[[grid]]"])
LINES = st.builds(lambda key, value: key if key.startswith("[") else f"{key} = {value}", KEYS, VALUES)


@settings(deadline=None)
@given(st.one_of(st.text(printable), st.lists(LINES, max_size=8).map("\n".join), st.just("a=" + "[" * 5000)))
def test_whatever_a_study_file_holds_it_is_a_study_or_a_study_error(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_text(text)
    with pytest.raises(StudyError) as caught:
        load(path)
    assert caught.value.message.startswith(f"study {path}: ")
    assert all(line.startswith("  also ") for line in caught.value.message.split("\n")[1:])
