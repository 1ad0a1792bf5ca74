"""wattlock weighs ciphers in joules: what encryption costs on this device in time, cycles and energy."""


def __getattr__(name: str) -> str:
    """Give `wattlock.__version__` when it is asked for: reading the installed metadata is slow for a start-up."""
    if name != "__version__":
        raise AttributeError(f"module 'wattlock' has no attribute {name!r}")
    from importlib.metadata import version

    return version("wattlock")
