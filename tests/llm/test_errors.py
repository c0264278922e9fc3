from __future__ import annotations

import json
from datetime import timedelta
from email.utils import format_datetime

import pytest

from octo_lab.core.clock import utc_now
from octo_lab.core.errors import (
    AuthRejected,
    BadRequest,
    ContentFiltered,
    ContextOverflow,
    ModelNotFound,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    Unavailable,
)
from octo_lab.llm.errors import error_from_reply, retry_after
from octo_lab.llm.secret import Secret

KEY = "sk-abcdef0123456789abcdef"


def error(status: int, message: str = "", code: str | None = None) -> ProviderError:
    body = json.dumps({"error": {"message": message, "code": code}}).encode()
    return error_from_reply("lab", status, {}, body, Secret(KEY))


@pytest.mark.parametrize(
    ("caught", "kind"),
    [
        (error(400), BadRequest),
        (error(400, "This model's maximum context length is 8192 tokens"), ContextOverflow),
        (error(400, "", "context_length_exceeded"), ContextOverflow),
        (error(400, "", "content_filter"), ContentFiltered),
        (error(401), AuthRejected),
        (error(402), QuotaExceeded),
        (error(403), AuthRejected),
        (error(403, "", "insufficient_quota"), QuotaExceeded),
        (error(404), ModelNotFound),
        (error(408), Unavailable),
        (error(413), BadRequest),
        (error(422), BadRequest),
        (error(429), RateLimited),
        (error(429, "You exceeded your current quota, check your plan."), QuotaExceeded),
        (error(429, "Limit reached. Add a payment method at /account/billing."), RateLimited),
        (error(500), Unavailable),
        (error(503), Unavailable),
        (error(529), Unavailable),
    ],
)
def test_status_and_code_choose_the_kind(caught: ProviderError, kind: type[ProviderError]) -> None:
    assert type(caught) is kind
    assert "'lab' answered" in caught.message


def test_the_vendors_message_is_short_one_line_and_without_keys() -> None:
    caught = error(401, f"Incorrect API key provided: {KEY}.\n" + "x" * 500)
    assert KEY not in str(caught)
    assert "\n" not in caught.message
    assert len(caught.message) < 240
    assert caught.message.startswith("'lab' answered 401: Incorrect API key provided:")


@pytest.mark.parametrize("body", [b"", b"<html>secret</html>", b"[]", b"\xff", b'{"a":1}', b'"x"'])
def test_a_body_of_another_shape_is_never_shown(body: bytes) -> None:
    assert error_from_reply("lab", 500, {}, body).message == "'lab' answered 500"


@pytest.mark.parametrize(
    "body", [{"error": "no"}, {"message": "no"}, {"detail": "no"}, [{"error": {"message": "no"}}]]
)
def test_every_common_shape_of_a_message_is_read(body: object) -> None:
    caught = error_from_reply("lab", 400, {}, json.dumps(body).encode())
    assert caught.message == "'lab' answered 400: no"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_the_servers_wish_is_read_in_seconds(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers) == seconds


def test_the_servers_wish_is_read_as_a_date() -> None:
    date = format_datetime(utc_now() + timedelta(seconds=90), usegmt=True)
    assert retry_after({"retry-after": date}) == pytest.approx(89, abs=2)


def test_a_date_that_is_past_means_now() -> None:
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0


def test_a_date_without_a_zone_is_utc() -> None:
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00"}) == 0.0


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_says_where_to_without_what_the_address_hides(status: int) -> None:
    location = f"https://user:{KEY}@new.example/v1/chat/completions?key={KEY}"
    moved = error_from_reply("lab", status, {"location": location}, b"", Secret(KEY))
    assert type(moved) is BadRequest
    assert moved.message == f"'lab' answered {status}: it is now at 'https://new.example/v1'"
    assert moved.hint == "if you trust that address, make it the base URL"
