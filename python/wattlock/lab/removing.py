"""Who keeps the lab takes a run out of it: the folder is put aside on the lab's host, and it can be sent again."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, RedirectResponse

from wattlock.lab import tokens
from wattlock.lab.doors import Lab, address_of, reading
from wattlock.lab.fleet.job_pages import given_by, is_form, mark_of
from wattlock.lab.tokens import Denied, Scope

router = APIRouter()


def mark_for(request: Request, lab: Lab) -> str | None:
    """The mark that a form of who may remove runs has; null for anybody else."""
    try:
        tokens.check(lab.engine, reading(request), Scope.admin)
    except Denied:
        return None
    return mark_of(request)


@router.post("/runs/{hash_}/remove")
async def post_remove(request: Request, lab: Lab, hash_: str) -> Response:
    """Takes a run out: a form of its page, or JSON, by a token for admin."""
    _, token = await given_by(request, lab, Scope.admin)
    removed = await run_in_threadpool(lab.remove, hash_, tokens.By(token, address_of(request)))
    return RedirectResponse("/runs", 303) if is_form(request) else JSONResponse({"removed": removed})
