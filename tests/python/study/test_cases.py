"""Cases: how a grid becomes them, and the choice among them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wattlock.errors import StudyError
from wattlock.study import Case, CatalogueRow, Grid, InputFile, Study, expand, load, missing, only

FILES = [InputFile("input-1", Path("/letter"), 900, "aa"), InputFile("input-2", Path("/film"), 300_000, "bb")]


def row(cipher: str, provider: str = "rustcrypto", *, available: bool = True, tag_bits: int = 0) -> CatalogueRow:
    """Give a catalogue row, made up from the id."""
    family, _, mode = cipher.rpartition("-")
    return CatalogueRow(
        id=cipher,
        card=cipher,
        family=family.rstrip("0123456789"),
        mode=mode,
        provider=provider,
        available=available,
        reason=None if available else "no such file",
        path="fixsliced" if available else None,
        of=None,
        version="1" if available else None,
        file=None,
        file_sha256=None,
        key_bits=128,
        effective_bits=128,
        block_bits=128,
        rounds=None,
        iv_B=16,
        tag_bits=tag_bits,
        timing="constant",
        proof="",
        source="",
    )


def rows(ciphers: Iterable[str]) -> dict[str, list[CatalogueRow]]:
    """Give the catalogue rows of some ids, of one provider."""
    return {cipher: [row(cipher)] for cipher in ciphers}


def study(*grids: dict[str, object], **more: object) -> Study:
    """Give a study of these grids; what a grid leaves out is one cipher's encryption."""
    defaults = {"cipher": ["aes128-cbc"], "operation": ["encrypt"]}
    whole = {"id": "mine", "title": "t", "question": "q", "grid": [defaults | grid for grid in grids]}
    return Study.model_validate(whole | more)


def cases(*grids: dict[str, object], inputs: Iterable[InputFile] = ()) -> list[Case]:
    """Expand a study of these grids."""
    one = study(*grids)
    return expand(one, rows(one.ciphers()), list(inputs))


def test_the_factors_of_a_grid_are_crossed_in_the_order_of_the_file() -> None:
    found = cases({"cipher": ["des-cbc", "aes128-cbc"], "operation": ["encrypt", "decrypt"], "payload_B": [64, 14]})
    assert [(c.case, c.cipher, c.operation, c.payload_B) for c in found] == [
        (0, "des-cbc", "encrypt", 64),
        (1, "des-cbc", "encrypt", 14),
        (2, "des-cbc", "decrypt", 64),
        (3, "des-cbc", "decrypt", 14),
        (4, "aes128-cbc", "encrypt", 64),
        (5, "aes128-cbc", "encrypt", 14),
        (6, "aes128-cbc", "decrypt", 64),
        (7, "aes128-cbc", "decrypt", 14),
    ]
    assert {(c.role, c.data) for c in found} == {("study", "random")}


def test_every_factor_reaches_the_case() -> None:
    factors = {"keying": ["each"], "encoding": ["hex"], "placement": ["DRAM"], "pattern": ["chained"]}
    expected = Case(0, "study", "aes128-cbc", "rustcrypto", "encrypt", "each", "hex", "DRAM", "chained", 64, "random")
    assert cases({"payload_B": [64], **factors}) == [expected]


def test_a_case_that_two_grids_name_is_measured_once() -> None:
    found = cases({"payload_B": [64, 14]}, {"payload_B": [14, 1500]})
    assert [(c.case, c.payload_B) for c in found] == [(0, 64), (1, 14), (2, 1500)]


def test_two_names_of_one_cipher_are_one_case() -> None:
    one = study({"cipher": ["rc2-64-e64-cbc", "rc2-64-cbc"], "payload_B": [64]})
    known = {"rc2-64-e64-cbc": [row("rc2-64-cbc")], "rc2-64-cbc": [row("rc2-64-cbc")]}
    assert [case.cipher for case in expand(one, known)] == ["rc2-64-cbc"]


def test_a_key_setup_is_one_case_a_cipher_whatever_it_is_crossed_with() -> None:
    found = cases({"operation": ["encrypt", "key_setup"], "payload_B": [64, 14], "encoding": ["raw", "hex"]})
    setups = [case for case in found if case.operation == "key_setup"]
    assert len(found) == 5
    assert [(c.payload_B, c.data, c.keying, c.encoding, c.placement) for c in setups] == [
        (0, "none", "ready", "raw", "hot")
    ]


def test_sample_files_have_the_size_of_the_study() -> None:
    one = study({"data": ["video", "text"]}, file_B=5000)
    assert [(c.data, c.payload_B) for c in expand(one, rows(one.ciphers()))] == [("video", 5000), ("text", 5000)]


def test_inputs_take_the_place_of_the_sample_files_and_keep_their_size() -> None:
    found = cases({"data": ["text", "image"]}, {"payload_B": [64]}, inputs=FILES)
    assert [(c.data, c.payload_B) for c in found] == [("input-1", 900), ("input-2", 300_000), ("random", 64)]


def test_inputs_to_a_study_without_files_are_refused() -> None:
    with pytest.raises(StudyError) as caught:
        cases({"payload_B": [64]}, inputs=FILES)
    assert caught.value.message == "study mine.toml: has no grid with data, nothing would work on the inputs"
    assert caught.value.hint == 'add a [[grid]] with data = ["text"]: its files are replaced by the inputs'


def test_an_input_too_large_for_its_placement_is_refused() -> None:
    with pytest.raises(StudyError, match="an input of 300000 B is over the 262144 B that placement L2 takes"):
        cases({"data": ["text"], "placement": ["L2"]}, inputs=FILES)


@pytest.mark.parametrize(
    ("nearest", "hint"),
    [
        ("aes128-cbc", 'did you mean "aes128-cbc"? `wattlock ciphers` lists all of them'),
        (None, "`wattlock ciphers` lists all of them"),
    ],
)
def test_an_unknown_cipher_is_named_with_its_place_and_the_nearest(nearest: str | None, hint: str) -> None:
    one = study({"cipher": ["des-cbc", "aes128cbc"], "payload_B": [64]})
    with pytest.raises(StudyError) as caught:
        expand(one, rows(["des-cbc"]), nearest={"aes128cbc": nearest})
    assert caught.value.message == 'study mine.toml: grid[0].cipher[1]: no cipher "aes128cbc"'
    assert caught.value.hint == hint


def test_an_unknown_provider_is_named_with_the_known_ones() -> None:
    with pytest.raises(StudyError) as caught:
        cases({"provider": ["rustcrypto", "libressl"], "payload_B": [64]})
    assert caught.value.message == 'study mine.toml: grid[0].provider[1]: no provider "libressl"'
    assert caught.value.hint == "the providers are: rustcrypto"


def test_what_only_a_browser_has_is_measured_by_its_own_verb_and_the_hint_is_told_once() -> None:
    one = load("page")
    with pytest.raises(StudyError) as caught:
        expand(one, rows(one.ciphers()))
    assert caught.value.message.count('no provider "webcrypto"') == 2
    assert "wattlock page" not in caught.value.message
    assert caught.value.hint == "only a browser has it: `wattlock page` measures there"


def test_the_first_look_asks_what_it_says() -> None:
    one = load("first-look")
    sealing = {"aes128-gcm": [row("aes128-gcm", tag_bits=128)]}
    found = expand(one, {**rows(one.ciphers()), **sealing})
    assert Counter(case.operation for case in found) == {
        "encrypt": 124 + 40 + 1,
        "decrypt": 124,
        "key_setup": 18,
        "seal": 2,
    }
    assert Counter(case.data for case in found if case.data not in ("random", "none")) == dict.fromkeys(
        ["text", "image", "audio", "video"], 10
    )
    assert {case.payload_B for case in found if case.data == "random"} == {14, 64, 1500, 16384}
    pausing = [case for case in found if case.readiness == "after-pause"]
    assert [(case.cipher, case.operation) for case in pausing] == [("aes128-ctr", "encrypt"), ("aes128-gcm", "seal")]
    twins = [replace(case, case=0, readiness="steady") for case in pausing]
    assert all(twin in [replace(case, case=0) for case in found] for twin in twins)


def test_readiness_is_a_factor_that_only_can_choose() -> None:
    both = cases(
        {"cipher": ["des-cbc"], "operation": ["encrypt"], "payload_B": [64], "readiness": ["steady", "after-pause"]}
    )
    assert [case.readiness for case in both] == ["steady", "after-pause"]
    assert [case.readiness for case in only(both, rows(["des-cbc"]), ["readiness=after-pause"])] == ["after-pause"]


CHOICES = cases(
    {"cipher": ["aes128-cbc", "aes256-cbc", "des-cbc"], "operation": ["encrypt", "decrypt"], "payload_B": [64, 1500]}
)


@pytest.mark.parametrize(
    ("expression", "count"),
    [
        ("cipher=aes*", 8),
        ("cipher=aes*,operation=decrypt", 4),
        ("cipher=aes128*,cipher=des*", 8),
        (" family = des , payload_B=64 ", 2),
        ("rounds=None", 12),
        ("cipher=*", 12),
        ("aes128*", 4),
        ("aes128*,operation=decrypt", 2),
    ],
)
def test_only_keeps_what_matches_every_field(expression: str, count: int) -> None:
    chosen = only(CHOICES, rows(case.cipher for case in CHOICES), [expression])
    assert len(chosen) == count
    assert [case.case for case in chosen] == list(range(count))


@pytest.mark.parametrize(
    ("expression", "message", "hint"),
    [
        ("ciper=aes*", '--only "ciper=aes*": no field "ciper"', 'did you mean "cipher"?'),
        (
            "cipher=rc4*",
            '--only "cipher=rc4*": none of 12 cases matches',
            "`--dry-run` without `--only` lists the cases",
        ),
        (
            "AES128_CBC",
            '--only "AES128_CBC": none of 12 cases matches',
            'did you mean "cipher=aes128-cbc"?',
        ),
        (
            "cipher=aes*,operation=encypt",
            '--only "cipher=aes*,operation=encypt": none of 12 cases matches',
            'did you mean "operation=encrypt"?',
        ),
        ("=aes*", '--only "=aes*": "=aes*" is not FIELD=GLOB', "for example cipher=aes*"),
        ("", '--only "": "" is not FIELD=GLOB', "for example cipher=aes*"),
        ("cipher=aes*,", '--only "cipher=aes*,": "" is not FIELD=GLOB', "for example cipher=aes*"),
    ],
)
def test_only_names_what_it_does_not_understand(expression: str, message: str, hint: str) -> None:
    with pytest.raises(StudyError) as caught:
        only(CHOICES, rows(case.cipher for case in CHOICES), [expression])
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_of_several_ids_any_may_match_and_a_field_must() -> None:
    known = rows(case.cipher for case in CHOICES)
    assert len(only(CHOICES, known, ["aes128-cbc", "des*"])) == 8
    assert len(only(CHOICES, known, ["aes128-cbc", "des*", "operation=encrypt"])) == 4


MANY = {
    "aes128-cbc": [row("aes128-cbc"), row("aes128-cbc", "openssl")],
    "idea-cbc": [row("idea-cbc", "openssl", available=False), row("idea-cbc", "libgcrypt")],
    "rc5-cbc": [row("rc5-cbc", "botan", available=False)],
    "aes128-gcm": [row("aes128-gcm", tag_bits=128), row("aes128-gcm", "mine", tag_bits=128)],
}


def test_a_study_without_providers_takes_the_usual_one_or_the_first_that_has_the_cipher() -> None:
    one = study({"cipher": ["aes128-cbc", "idea-cbc", "rc5-cbc"], "payload_B": [64]})
    assert [case.provider for case in expand(one, MANY)] == ["rustcrypto", "libgcrypt", "botan"]


def test_a_case_that_can_not_be_had_here_stays_and_is_told() -> None:
    one = study({"cipher": ["aes128-cbc", "idea-cbc"], "provider": ["openssl", "rustcrypto"], "payload_B": [64]})
    found = expand(one, MANY)
    assert len(found) == 4
    assert missing(found, MANY) == [
        "idea-cbc of openssl can't be had: no such file",
        "idea-cbc of rustcrypto can't be had: rustcrypto has no such cipher",
    ]
    many = {
        f"rc5-32-{rounds}-128-cbc": [row(f"rc5-32-{rounds}-128-cbc", "botan", available=False)] for rounds in range(5)
    }
    four = study({"cipher": list(many), "provider": ["botan"], "payload_B": [64]})
    first = ", ".join(list(many)[:3])
    assert missing(expand(four, many), many) == [f"{first} and 2 more of botan can't be had: no such file"]


def test_a_library_of_the_users_adds_the_cases_of_the_ciphers_that_it_has() -> None:
    one = study({"cipher": ["aes128-cbc", "aes128-gcm"], "operation": ["key_setup"]})
    found = expand(one, MANY, libraries=["mine"])
    assert [(case.cipher, case.provider) for case in found] == [
        ("aes128-cbc", "rustcrypto"),
        ("aes128-gcm", "rustcrypto"),
        ("aes128-gcm", "mine"),
    ]


def test_only_sealing_and_opening_cross_the_associated_data() -> None:
    one = study(
        {
            "cipher": ["aes128-gcm"],
            "operation": ["seal", "open_forged", "key_setup"],
            "aad_B": [0, 13],
            "payload_B": [64],
        }
    )
    assert [(case.operation, case.aad_B) for case in expand(one, MANY)] == [
        *(("seal", 0), ("seal", 13), ("open_forged", 0), ("open_forged", 13)),
        ("key_setup", 0),
    ]


@pytest.mark.parametrize(
    ("cipher", "operation", "hint"),
    [
        ("aes128-gcm", "encrypt", 'it authenticates: write "seal"'),
        ("aes128-gcm", "decrypt", 'it authenticates: write "open"'),
        ("aes128-cbc", "seal", 'it does not authenticate: write "encrypt"'),
        ("aes128-cbc", "open_forged", 'it does not authenticate: write "decrypt"'),
    ],
)
def test_an_operation_of_the_other_kind_of_cipher_is_refused(cipher: str, operation: str, hint: str) -> None:
    one = study({"cipher": [cipher], "operation": [operation], "payload_B": [64]})
    with pytest.raises(StudyError) as caught:
        expand(one, MANY)
    assert caught.value.message == f'study mine.toml: grid[0].operation[0]: {cipher} has no operation "{operation}"'
    assert caught.value.hint == hint


def scheme(cipher: str, *operations: str) -> CatalogueRow:
    return {**row(cipher), "operations": list(operations), "public_key_B": 32, "message_B": 32}


def test_key_establishment_has_no_payload_and_reads_its_keys_before_or_in_each_call() -> None:
    rows = {"x25519": [scheme("x25519", "generate", "agree")]}
    found = expand(study({"cipher": ["x25519"], "operation": ["generate", "agree"], "keying": ["ready", "each"]}), rows)
    assert [(case.operation, case.payload_B, case.data, case.keying) for case in found] == [
        ("generate", 0, "none", "ready"),
        ("agree", 0, "none", "ready"),
        ("agree", 0, "none", "each"),
    ]


@pytest.mark.parametrize(
    ("rows", "operation", "hint"),
    [
        ({"x25519": [scheme("x25519", "generate", "agree")]}, "encrypt", "it has generate, agree"),
        ({"x25519": [scheme("x25519", "generate", "agree")]}, "key_setup", "it has generate, agree"),
        ({"des-cbc": [row("des-cbc")]}, "agree", 'it is a cipher: write "encrypt" or "decrypt"'),
        ({"aes128-gcm": [row("aes128-gcm", tag_bits=128)]}, "sign", 'it is a cipher: write "seal" or "open"'),
    ],
)
def test_an_operation_that_a_scheme_or_cipher_lacks_is_refused_with_those_that_it_has(
    rows: dict[str, list[CatalogueRow]], operation: str, hint: str
) -> None:
    (cipher,) = rows
    with pytest.raises(StudyError) as caught:
        expand(study({"cipher": [cipher], "operation": [operation], "payload_B": [64]}), rows)
    assert caught.value.message.endswith(f'{cipher} has no operation "{operation}"')
    assert caught.value.hint == hint


def test_a_protocol_of_frames_is_a_case_a_payload() -> None:
    frames: dict[str, list[CatalogueRow]] = {"ccmp128": [{**row("ccmp128"), "operations": ["protect", "unprotect"]}]}
    found = expand(study({"cipher": ["ccmp128"], "operation": ["protect"], "payload_B": [64, 1500]}), frames)
    assert [(case.operation, case.payload_B) for case in found] == [("protect", 64), ("protect", 1500)]


def several(*values: str) -> st.SearchStrategy[list[str]]:
    """Some of these values, each once."""
    return st.lists(st.sampled_from(values), min_size=1, unique=True)


GRIDS = st.fixed_dictionaries(
    {
        "cipher": several("aes128-cbc", "des-cbc", "rc4-128"),
        "operation": several("encrypt", "decrypt", "key_setup"),
        "keying": several("ready", "each"),
        "encoding": several("raw", "base64", "hex"),
        "payload_B": st.lists(st.integers(1, 9), min_size=1, unique=True),
    }
)


@given(st.lists(GRIDS, min_size=1, max_size=3))
def test_cases_are_all_different_and_each_comes_from_a_grid(grids: list[dict[str, object]]) -> None:
    found = cases(*grids)
    assert [case.case for case in found] == list(range(len(found)))
    assert found == cases(*grids)
    keys = {(c.cipher, c.operation, c.keying, c.encoding, c.payload_B) for c in found}
    assert len(keys) == len(found)
    parsed = [Grid.model_validate(grid) for grid in grids]
    expected = {
        (c, o, *(("ready", "raw", 0) if o == "key_setup" else (k, e, p)))
        for g in parsed
        for c in g.cipher
        for o in g.operation
        for k in g.keying
        for e in g.encoding
        for p in g.payload_B or []
    }
    assert keys == expected


def test_a_study_may_ask_how_keys_of_an_establishment_are_read(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    head = 'id = "keys"\ntitle = "t"\nquestion = "q"\n[[grid]]\ncipher = ["x25519"]\n'
    file.write_text(f'{head}operation = ["agree"]\nkeying = ["ready", "each"]\n')
    assert [case.keying for case in expand(load(str(file)), {"x25519": [scheme("x25519", "agree")]})] == [
        "ready",
        "each",
    ]
    file.write_text(f'{head}operation = ["generate"]\nkeying = ["each"]\n')
    with pytest.raises(StudyError, match="generate alone has no such factor"):
        load(str(file))
