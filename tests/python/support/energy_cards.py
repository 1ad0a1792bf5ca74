"""Numbers, devices and estimates by hand: what the tests of the room `energy` share."""

import polars as pl

from wattlock.energy.device_cards import Card, Device, Number


def number(
    of: float, unit: str, *, off: float = 0.0, distribution: str = "normal", confidence: str = "primary"
) -> Number:
    return Number.model_validate(
        {
            "value": of,
            "unit": unit,
            "source": "the test",
            "confidence": confidence,
            "relative_uncertainty": off,
            "distribution": distribution,
            "because": "the test",
            "conditions": "the test",
        }
    )


def device(**numbers: Number) -> Device:
    words = {"title": "t", "isa": "x86_64", "note": "n", "narrowed_by": "b"}
    return Device("test", Card.model_validate({**words, **numbers}))


def estimates(**changed: list[object]) -> pl.DataFrame:
    columns: dict[str, list[object]] = {
        "case": [0],
        "payload_B": [100],
        "time_ns": [1000.0],
        "time_low_ns": [990.0],
        "time_high_ns": [1010.0],
        "cycles": [20_000.0],
        "cycles_low": [19_800.0],
        "cycles_high": [20_200.0],
        **changed,
    }
    return pl.DataFrame(
        columns, schema_overrides={name: pl.Float64 for name in columns if name not in {"case", "payload_B"}}
    )
