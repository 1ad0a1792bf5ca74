"""The strict model of a table of TOML."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[str, Field(min_length=1)]


class Table(BaseModel):
    """A table of a definition: no unknown key, no value of a wrong type made to fit."""

    # Made when first used: most tables are parts of others, which hold what they need of them.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)
