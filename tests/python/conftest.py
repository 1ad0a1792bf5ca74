"""What holds for all tests: no test asserts speed, so that a busy machine fails none."""

from hypothesis import settings

settings.register_profile("wattlock", deadline=None)
settings.load_profile("wattlock")
