"""What holds for all tests: none asserts speed, so that a busy machine fails none, and none reads what another kept."""

import pytest
from hypothesis import settings

from wattlock.run import result

settings.register_profile("wattlock", deadline=None)
settings.load_profile("wattlock")


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result, "cache_folder", _no_home)


def _no_home() -> None:
    raise RuntimeError
