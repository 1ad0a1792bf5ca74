"""The kinds of implementations: each path has one."""

import json
from importlib.resources import files

from wattlock.analysis.effects import CONSTANT_TIME, HARDWARE, KINDS, PLAIN, VECTOR, kind_of


def test_each_path_of_the_records_has_a_kind() -> None:
    schema = json.loads((files("wattlock") / "data" / "records.schema.json").read_text())
    paths = {path["const"] for path in schema["record"]["$defs"]["CodePath"]["oneOf"]}
    assert set(KINDS) == paths


def test_code_by_tables_is_of_another_kind_than_bit_planes_vectors_and_instructions() -> None:
    kinds = [kind_of(path) for path in ("tables", "portable", "fixsliced", "avx512", "aesni", None)]
    assert kinds == [PLAIN, PLAIN, CONSTANT_TIME, VECTOR, HARDWARE, None]
