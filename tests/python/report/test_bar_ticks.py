"""The scale below bars: steps of 1, 2 and 5 with as many ticks as there is room for."""

import re

from wattlock.report import main_figure


def test_the_step_is_the_least_of_1_2_and_5_that_leaves_room() -> None:
    for share, step in ((0.9, 1), (1.6, 2), (2.5, 5), (5.5, 10)):
        most = share * main_figure.MOST_TICKS
        drawn = re.findall(r">([\d,.]+)</text>", main_figure._ticks(most, 0.0, 1.0, 10.0, ""))
        assert [float(tick) for tick in drawn] == [place * step for place in range(int(most / step) + 1)], share
