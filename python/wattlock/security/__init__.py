"""How each cipher stands, by sourced statements, and the rules of advice that follow."""

from wattlock.security.status import (
    Authority,
    Book,
    Cited,
    Limit,
    SecurityStatus,
    Status,
    load,
    parse,
    statements,
    status_of,
)

__all__ = [
    "Authority",
    "Book",
    "Cited",
    "Limit",
    "SecurityStatus",
    "Status",
    "load",
    "parse",
    "statements",
    "status_of",
]
