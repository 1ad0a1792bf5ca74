"""The routes of advice. An answer takes seconds: it is worked out in a child, two at a time, and kept for a while."""

from __future__ import annotations

from datetime import UTC, date, datetime
from functools import lru_cache

import polars as pl
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from wattlock.errors import EvidenceError, InputError
from wattlock.lab import advice_form, advice_page
from wattlock.lab.advising import Answer, answer
from wattlock.lab.collection import Collection, NoSuchRun
from wattlock.lab.doors import Lab, Reader, written
from wattlock.lab.turns import turns

KEPT = 32
"""Answers; a run never changes, and an answer says the day that it is of."""
RECORD_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
STATUS = {InputError: 400, EvidenceError: 409, NoSuchRun: 404}
router = APIRouter(dependencies=[Reader])


@router.get("/advise")
@router.get("/advise.{form}")
def get_advice(request: Request, lab: Lab, form: str = "") -> Response:
    """The form where nothing is filled in, else the decision record: as a page, JSON, CSV, one HTML file, Markdown."""
    if form:
        return _as_data(_answer(lab, advice_form.read(request.query_params.multi_items())), form)
    filled: dict[str, str] = {}
    choices = advice_form.choices(lab)
    try:
        filled = advice_form.read(request.query_params.multi_items())
        if not filled:
            return HTMLResponse(advice_page.form_page(filled, choices))
        return HTMLResponse(advice_page.answer_page(filled, choices, _answer(lab, filled)))
    except (InputError, EvidenceError, NoSuchRun) as error:
        return HTMLResponse(advice_page.form_page(filled, choices, error), STATUS[type(error)])


def _as_data(found: Answer, form: str) -> Response:
    if form == "html":
        headers = {"Content-Security-Policy": RECORD_POLICY}
        return Response(found.page, media_type="text/html; charset=utf-8", headers=headers)
    if form == "md":
        return Response(found.markdown, media_type="text/markdown; charset=utf-8")
    if form == "json":
        return JSONResponse(found.whole)
    return written(pl.DataFrame(found.ranked, infer_schema_length=None), form)


def _answer(lab: Collection, filled: dict[str, str]) -> Answer:
    """Raises as `advice_form.asked` and `advising.answer` do, and Busy where others have to be answered first."""
    if "run" in filled:
        # A run that was changed since is refused, and no answer of it is handed out.
        lab.folder(lab.find(filled["run"]).hash)
    return _kept(lab, tuple(filled.items()), datetime.now(UTC).date())


@lru_cache(KEPT)
def _kept(lab: Collection, filled: tuple[tuple[str, str], ...], _today: date) -> Answer:
    asked = advice_form.asked(dict(filled), lab)
    with turns.one():
        return answer(asked, lab.data)
