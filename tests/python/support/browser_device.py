"""A made-up browser: what a page says of the device that it is on."""

from typing import Any

DEVICE: dict[str, Any] = {
    "user_agent": "a browser",
    "model": None,
    "platform": "android",
    "platform_version": "15",
    "processors": 8,
    "is_isolated": True,
    "step_ns": 5_000,
    "has_ticker": True,
    "multiplications": 12_000,
    "additions": 48_000,
    "without_webcrypto": None,
}
