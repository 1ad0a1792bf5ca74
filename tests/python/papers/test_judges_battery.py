"""The judge of batteries: measured and computed discharges, and the papers' files over them."""

from typing import Any

import pytest

from support.papers_evidence import PAPERS, nothing
from wattlock.analysis.effects import Ratio
from wattlock.papers.judge import DischargeCurve, Evidence, Judgement
from wattlock.papers.themes import JUDGES


def judged(name: str, evidence: Evidence) -> Judgement:
    return JUDGES[name](PAPERS.claim(name), evidence)


def values(found: Judgement) -> list[float]:
    return [one.effect.value for one in found.compared]


def discharge(percent: float, **more: Any) -> DischargeCurve:
    given = {"cipher": "3des-cbc", "payload_B": 5_000_000, "calls": 600, "battery": "BAT0", "evidence": "measured"}
    left = Ratio(100 - percent, 100 - percent - 1, 100 - percent + 1)
    return DischargeCurve(left_percent=left, **{**given, **more})


def of_falls(name: str, *discharges: DischargeCurve) -> Judgement:
    return judged(name, nothing(discharges=discharges, machine=("handheld",)))


def test_a_battery_holds_no_less_than_nothing() -> None:
    # Twice 49.8 % leave 0.4 %, and twice 50.8 % would leave less than nothing.
    effect = of_falls("3des-battery", discharge(49.8, calls=300)).effect
    assert effect is not None
    assert effect[:2] == ("what is left after 600 encryptions of 5 MB", "%")
    assert effect[2:] == pytest.approx((0.4, 0, 2.4))


def test_measured_falls_stand_first_then_those_of_the_nearest_size() -> None:
    discharges = [
        discharge(10, battery="modelled", evidence="modelled"),
        discharge(10, battery="larger", payload_B=50_000_000),
        discharge(10, battery="smaller", payload_B=1_000_000),
        discharge(10, battery="b"),
        discharge(10, battery="a"),
        discharge(10, battery="other", cipher="aes128-cbc"),
    ]
    found = of_falls("3des-battery", *discharges)
    assert [one.implementation for one in found.compared] == [
        "battery a, measured",
        "battery b, measured",
        "battery smaller, measured",
        "battery larger, measured",
        "battery modelled, modelled",
    ]
    assert values(found) == pytest.approx([90, 90, 50, 99, 90])


@pytest.mark.parametrize(
    ("evidence", "said", "verdict"),
    [
        (("measured",), "a measured discharge of a battery", "reproduced"),
        (("modelled",), "a modelled discharge of a battery, where the paper discharged one", "explained"),
        (("assumed",), "an assumed discharge of a battery, where the paper discharged one", "explained"),
        (
            ("measured", "assumed"),
            "an assumed discharge of a battery and a measured discharge of a battery",
            "reproduced",
        ),
    ],
)
def test_whether_a_battery_was_emptied_is_said(evidence: tuple[str, ...], said: str, verdict: str) -> None:
    found = of_falls("3des-battery", *(discharge(55, evidence=one) for one in evidence))
    assert (found.evidence, found.verdict) == (said, verdict)
    assert of_falls("3des-battery").verdict == "not tested"


def test_how_far_a_file_of_blowfish_is_from_emptying_a_battery_is_told_in_orders_of_magnitude() -> None:
    million = {"cipher": "blowfish32-cbc", "payload_B": 13_926, "calls": 1_000_000}
    found = of_falls("blowfish-battery", discharge(7.5, **million), discharge(75, **million))
    assert values(found) == pytest.approx([7.5e-6, 7.5e-5])
    assert found.compared[0].effect[3:] == pytest.approx((6.5e-6, 8.5e-6))
    assert found.sentence.endswith("The claim is 7.0 orders of magnitude away.")
    assert "orders of magnitude" not in of_falls("blowfish-battery", discharge(0, **million)).sentence


# ---------- a capture


def test_on_another_machine_one_fall_alone_stands_beside() -> None:
    found = judged("3des-battery", nothing(discharges=[discharge(10), discharge(20)]))
    assert [one.effect.value for one in found.compared] == pytest.approx([90])
