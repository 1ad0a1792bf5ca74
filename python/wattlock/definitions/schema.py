"""The JSON Schema of definitions, for editors and for programs that write them; generated, and committed."""

import json
from collections.abc import Mapping

from pydantic.json_schema import models_json_schema

from wattlock.definitions.table import Table


def schema_text(title: str, models: Mapping[str, type[Table]]) -> str:
    """The JSON Schema (draft 2020-12) of several kinds of files as text.

    * `models`: by the folder in which the files lie, under which they stand in `properties`.
    """
    places, definitions = models_json_schema([(model, "validation") for model in models.values()])
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "type": "object",
        "properties": {folder: places[model, "validation"] for folder, model in models.items()},
        **definitions,
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
