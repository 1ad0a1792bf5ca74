"""Which cipher to take, and how many days of battery it costs."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wattlock.advise.answer import Advice, advise
    from wattlock.advise.question import Question, checked, load

__all__ = ["Advice", "Question", "advise", "checked", "load"]
_OF = {"Advice": "answer", "advise": "answer", "Question": "question", "checked": "question", "load": "question"}


def __getattr__(name: str) -> Any:
    # Loaded when asked for: `wattlock ciphers` needs `standing` alone.
    from importlib import import_module

    if name not in _OF:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"wattlock.advise.{_OF[name]}"), name)
