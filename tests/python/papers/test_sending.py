"""What the papers' sending asks of the air."""

import pytest

from support import papers_run
from support.links import TOOLBOX
from wattlock.link import scenario
from wattlock.link.wifi import evaluate
from wattlock.papers.transfer_times import send


def test_what_is_lost_for_good_is_paid_for_by_what_arrives() -> None:
    sent = send(papers_run.PAPERS, papers_run.estimates(), TOOLBOX, None)
    of_signal = {one.signal_dBm: one for one in sent.others if one.scenario == "whole"}
    changes = {"phy": "b", "rate_Mb_s": 11, "transport": "udp", "payload.data_B": 100_000}
    lossy = evaluate([scenario.load("adhoc-open", {**changes, "signal.rssi_dBm": -88.0})], TOOLBOX, {})[0]
    arrived = lossy.ledger.delivered / lossy.ledger.requested
    assert 0 < arrived < 1
    assert of_signal[-88.0].duration_s.value * arrived == pytest.approx(lossy.duration_ns * 1e-9)
    assert of_signal[-60.0].duration_s.value < of_signal[-88.0].duration_s.value
