"""The routes of the pages over several runs (devices, a case over time, the papers' questions), and of who keeps it."""

from __future__ import annotations

import polars as pl
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from wattlock.lab import change_page, devices_page, log_page, papers_answers, questions_page, tokens
from wattlock.lab.collection import DEVICE_FIELDS, NoSuchRun
from wattlock.lab.doors import Lab, Reader, allowed, written
from wattlock.lab.layout import address_of_lab
from wattlock.lab.tokens import Scope

Keeper = allowed(Scope.admin)
router = APIRouter(dependencies=[Reader])


@router.get("/devices")
def get_devices(lab: Lab) -> Response:
    """The devices with what each has measured."""
    return HTMLResponse(devices_page.devices(lab.runs()))


@router.get("/devices.{form}")
def get_devices_as_data(lab: Lab, form: str) -> Response:
    """The devices as data."""
    return written(pl.DataFrame(lab.devices(), schema=DEVICE_FIELDS, infer_schema_length=None), form)


@router.get("/change")
@router.get("/change.{form}")
def get_change(lab: Lab, form: str = "", series: str | None = None, case: str | None = None) -> Response:
    """A case through the runs of a device and a study, DEVICE/STUDY, and where it changed."""
    known, shown = change_page.asked_for(lab, series, case)
    if not form:
        return HTMLResponse(change_page.over_time(known, shown))
    if shown is None:
        raise NoSuchRun("no run is here yet", hint="push runs of one study on one device")
    return written(shown.table, form)


@router.get("/papers")
@router.get("/papers.{form}")
def get_papers(request: Request, lab: Lab, form: str = "") -> Response:
    """The papers' questions, answered by what each device measured."""
    found = papers_answers.answered(lab)
    if form:
        return written(questions_page.frame(found), form)
    return HTMLResponse(questions_page.papers(found, address_of_lab(request)))


@router.get("/log", dependencies=[Keeper])
def get_log(lab: Lab) -> Response:
    """The audit log."""
    return HTMLResponse(log_page.log(tokens.actions(lab.engine)))


@router.get("/tokens", dependencies=[Keeper])
@router.get("/tokens.{form}", dependencies=[Keeper])
def get_tokens(lab: Lab, form: str = "") -> Response:
    """The tokens, without what lets in."""
    known = tokens.listed(lab.engine)
    return written(log_page.tokens_frame(known), form) if form else HTMLResponse(log_page.tokens(known))
