"""Groups of options: a verb takes a dataclass, the command line its fields."""

from dataclasses import dataclass
from typing import Annotated, Any

import pytest
import typer

from wattlock.cli.help import spread


@dataclass(frozen=True)
class Meter:
    name: Annotated[str | None, typer.Option("--meter", help="A meter.")] = None
    period_ms: Annotated[int, typer.Option("--period-ms", min=1)] = 5


def verb(
    study: Annotated[str, typer.Argument()], *, by: Meter = Meter(), dry: Annotated[bool, typer.Option("--dry")] = False
) -> None:
    """A verb."""
    typer.echo(f"{study} {by} {dry}")


def answer(*words: str) -> Any:
    single = typer.Typer()
    single.command()(spread(verb))
    return typer.main.get_command(single).main(list(words), standalone_mode=False)


def test_a_groups_fields_are_options_and_reach_the_verb_as_the_group(capsys: pytest.CaptureFixture[str]) -> None:
    answer("quick", "--meter", "a", "--period-ms", "7", "--dry")
    assert capsys.readouterr().out == f"quick {Meter('a', 7)} True\n"


def test_what_is_not_given_has_the_fields_default(capsys: pytest.CaptureFixture[str]) -> None:
    answer("quick")
    assert capsys.readouterr().out == f"quick {Meter()} False\n"
    verb("quick", by=Meter("b"))
    assert capsys.readouterr().out == f"quick {Meter('b')} False\n"


def test_a_field_keeps_the_bounds_of_its_option() -> None:
    with pytest.raises(typer.TyperException, match=r"at least 1|greater than or equal to 1"):
        answer("quick", "--period-ms", "0")
