"""Small pictures: what stands where on the axis, what is said of it in words, and what a reader without eyes gets."""

import re

import pytest

from wattlock.report.drawings import Axis, StripRow, axis_of, strip, strip_described


def places(svg: str, kind: str, attribute: str) -> list[float]:
    return [float(one) for one in re.findall(rf'<\w+ class="{kind}"[^>]*? {attribute}="(-?[\d.]+)"', svg)]


def test_an_axis_holds_intervals_claimed_figures_and_the_line() -> None:
    rows = [StripRow("a", 2.0, 1.8, 2.2), StripRow("b", 0.5, 0.4, 0.6, claimed=0.16)]
    axis = axis_of(rows, log=True, line=4.0)
    assert axis.low < 0.16
    assert axis.high > 4.0
    assert axis.log
    places = [axis.place(value) for value in (0.16, 0.4, 1.0, 2.2, 4.0)]
    assert places == sorted(places)
    assert places[0] > 0
    assert places[-1] < 1


def test_on_a_logarithmic_axis_a_half_is_as_far_from_one_as_two() -> None:
    axis = axis_of([StripRow("", 0.5, 0.5, 0.5), StripRow("", 2.0, 2.0, 2.0)], log=True)
    assert axis.place(1.0) == pytest.approx(0.5)
    assert axis.place(1.0) - axis.place(0.5) == pytest.approx(axis.place(2.0) - axis.place(1.0))


def test_an_axis_with_a_value_below_zero_is_linear() -> None:
    assert not axis_of([StripRow("", -1.0, -2.0, 3.0)], log=True).log


def test_a_bound_that_lies_far_off_is_cut_and_a_near_one_is_not() -> None:
    near = axis_of([StripRow("", 10.0, 9.0, 11.0, bounds=(8.9, None))], log=False)
    far = axis_of([StripRow("", 10.0, 9.0, 11.0, bounds=(9.5, 4000.0))], log=False)
    assert near.low < 8.9
    assert far.high < 12


def test_ticks_are_few_round_and_within() -> None:
    for low, high, log in ((0.02, 900.0, True), (0.9, 1.1, True), (-3.0, 44.0, False), (1e-7, 1e-5, True)):
        axis = axis_of([StripRow("", low, low, high)], log=log)
        assert 1 <= len(axis.ticks) <= 6
        assert all(axis.low <= tick <= axis.high for tick in axis.ticks)
        assert list(axis.ticks) == sorted(axis.ticks)


def test_a_figure_that_is_alone_has_an_axis_too() -> None:
    axis = axis_of([StripRow("", 9.0, 9.0, 9.0)], log=False)
    assert axis.low < 9.0 < axis.high


def test_the_dot_lies_in_its_interval_and_the_diamond_where_it_is_claimed() -> None:
    axis = Axis(0.0, 100.0, log=False, ticks=(0.0, 50.0, 100.0))
    svg = strip([StripRow("", 50.0, 25.0, 75.0, bounds=(0.0, 50.0), claimed=100.0)], axis, "percent", width_px=216)
    (dot,), (start,), (end,) = places(svg, "found", "cx"), places(svg, "interval", "x1"), places(svg, "interval", "x2")
    assert (start, dot, end) == (58.0, 108.0, 158.0)
    assert places(svg, "counts", "x") == [8.0]
    assert places(svg, "counts", "width") == [100.0]
    assert 'class="claimed" d="M203.8 ' in svg


def test_an_open_bound_goes_to_the_end_of_the_axis() -> None:
    axis = Axis(0.0, 100.0, log=False, ticks=())
    svg = strip([StripRow("", 50.0, 25.0, 75.0, bounds=(50.0, None))], axis, "percent", width_px=216)
    assert (places(svg, "counts", "x"), places(svg, "counts", "width")) == ([108.0], [100.0])


def test_a_logarithmic_axis_says_so_and_the_picture_is_told_in_words() -> None:
    rows = [StripRow("a <b>", 2.0, 1.0, 4.0, claimed=3.0)]
    svg = strip(rows, axis_of(rows, log=True), "ratio", line=1.0)
    assert "ratio, log scale</text>" in svg
    words = strip_described(rows, "ratio")
    assert words == "ratio. a <b>: 2.00 (1.00 to 4.00), claimed 3.00"
    escaped = words.replace("<", "&lt;").replace(">", "&gt;")
    assert svg.count(escaped) == 2
    assert 'role="img"' in svg
    assert svg.count('class="even"') == 1
