"""Worlds of what is sent: transfers in all scenarios, small packets, fragments, the papers' tables, a capture."""

from collections.abc import Callable

from support.papers_evidence import PAPERS, Kind, World, nothing, spread
from wattlock.analysis.effects import Ratio
from wattlock.papers.judge import AirAnswer, Capture, Evidence
from wattlock.papers.literature import Claim

COLUMNS = ("adhoc_open", "adhoc_wep", "adhoc_poor", "bss_tkip", "bss_open")


def sent(seconds: Callable[[Claim, Kind, str, str, str], float]) -> World:
    """Transfers of all data and ciphers in all scenarios."""

    def world(claim: Claim, kind: Kind) -> Evidence:
        transfers = [
            AirAnswer(column, data, cipher, spread(kind, seconds(claim, kind, column, data, cipher)))
            for column in COLUMNS
            for data in ("text", "audio", "video")
            for cipher in ("none", "aes", "blowfish", "rc6")
        ]
        return nothing(transfers=transfers)

    return world


def as_claimed(claim: Claim, kind: Kind, _: str, data: str, cipher: str) -> float:
    if cipher in {"blowfish", "rc6"}:
        return 10.0 if kind == "fails" else 10 * float(claim.expect[data])
    return 10.0


def by_column(column: str, holds: float, fails: float) -> World:
    def seconds(_: Claim, kind: Kind, here: str, __: str, ___: str) -> float:
        return 10.0 * ((fails if kind == "fails" else holds) if here == column else 1.0)

    return sent(seconds)


def joules(_: Claim, kind: Kind) -> Evidence:
    radio = {"holds": 9.0, "fails": 0.1, "unclear": 1.0}[kind]
    transfers = [
        AirAnswer("adhoc_open", "text", cipher, spread("holds", 10.0), spread(kind, radio), spread(kind, 1.0))
        for cipher in ("aes", "blowfish", "rc6", "des", "3des", "rc2")
    ]
    return nothing(transfers=transfers)


def overheads(_: Claim, kind: Kind) -> Evidence:
    share = {"holds": 0.9, "fails": 0.2, "unclear": 0.5}[kind]
    found = Ratio(share, share - 0.05, share + 0.05)
    return nothing(
        transfers=[AirAnswer("packet", "", "none", spread("holds", 1e-3), overhead_share=found, payload_B=64)]
    )


def fragments(_: Claim, kind: Kind) -> Evidence:
    energy = {"holds": 0.7, "fails": 1.4, "unclear": 1.0}[kind]
    transfers = []
    for signal in (-50.0, -80.0):
        for scenario, times in (("whole", 1.0), ("fragmented", energy)):
            time = 1.0 if scenario == "whole" else 1.3
            transfers.append(
                AirAnswer(scenario, "", "aes", spread("holds", time), spread(kind, times), signal_dBm=signal)
            )
    return nothing(transfers=transfers)


def tables(_: Claim, kind: Kind) -> Evidence:
    """The papers' tables are the world: as printed, with every ciphertext late, and without the two ciphers."""
    changed = {}
    for data, table in PAPERS.sending.items():
        rows = dict(table.duration_s)
        for cipher in ("blowfish", "rc6"):
            if kind == "unclear":
                del rows[cipher]
            elif kind == "fails":
                rows[cipher] = [2 * one for one in rows["none"]]
        changed[data] = table.model_copy(update={"duration_s": rows})
    return nothing(papers=PAPERS.model_copy(update={"sending": changed}))


def captured(_: Claim, kind: Kind) -> Evidence:
    beacons, data = {"holds": (900, 300), "fails": (300, 900), "unclear": (11, 10)}[kind]
    return nothing(capture=Capture({("management", 100): beacons, ("control", 14): 5, ("data", 1024): data}))
