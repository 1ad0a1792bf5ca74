"""Circles in a graph of who uses whom."""


def circles(uses: dict[str, set[str]]) -> list[set[str]]:
    """The groups of modules that import one another, in a circle of any length."""
    reached = {name: set(used) for name, used in uses.items()}
    for middle in uses:
        for name in uses:
            if middle in reached[name]:
                reached[name] |= reached[middle]
    found = [{other for other in reached[name] if name in reached.get(other, ())} for name in uses]
    return [group for place, group in enumerate(found) if group and group not in found[:place]]
