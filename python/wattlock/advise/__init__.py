"""Which cipher to take, and how many days of battery it costs."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wattlock.advise.answer import Advice, advise
    from wattlock.advise.question import Question, checked, load, read
    from wattlock.advise.record import as_object

__all__ = ["Advice", "Question", "advise", "as_object", "checked", "load", "read"]
_OF = {"Advice": "answer", "advise": "answer", "as_object": "record"} | dict.fromkeys(
    ("Question", "checked", "load", "read"), "question"
)


def __getattr__(name: str) -> Any:
    # Loaded when asked for: many need the question alone.
    from importlib import import_module

    if name not in _OF:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"wattlock.advise.{_OF[name]}"), name)
