"""Typed errors from what a vendor answered: status, headers, body."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

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
from octo_lab.core.text import clean
from octo_lab.llm.secret import Secret
from octo_lab.security.redact import Redactor

MAX_MESSAGE = 200
MAX_COMPLAINT = 2000

_QUOTA_WORDS = (
    "insufficient_quota",
    "insufficient balance",
    "insufficient_balance",
    "exceeded your current quota",
    "billing_hard_limit",
    "billing_not_active",
    "check your plan and billing",
    "arrear",
    "credit balance",
    "payment required",
    "out of credit",
)
_OVERFLOW_WORDS = (
    "context_length",
    "context length",
    "context size",
    "context window",
    "exceed_context",
    "maximum context",
    "prompt is too long",
)
_FILTER_WORDS = ("content_filter", "content_policy", "content management policy")
_HINTS: dict[type[ProviderError], str] = {
    AuthRejected: "check the key of {name!r}: it is missing, wrong or may not use this model",
    QuotaExceeded: "the account of {name!r} has no credit left: top it up or choose another model",
    RateLimited: "wait a moment, or choose another model",
    ModelNotFound: "check the model's name, and the base URL: it usually ends in /v1",
    ContextOverflow: "start afresh with /new or /clear, or ask for less at once",
    Unavailable: "the server is in trouble: try again, or choose another model",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """What a vendor says is wrong; ``words`` is all of it in lower case, to classify by."""

    message: str
    words: str


def error_from_reply(
    name: str, status: int, headers: Mapping[str, str], body: bytes, key: Secret | None = None
) -> ProviderError:
    """The error that an HTTP answer other than 2xx means; ``headers`` has lower-case names."""
    if location := headers.get("location", "") if 300 <= status < 400 else "":
        return _redirected(name, status, location, key)
    complaint = read_complaint(_json(body))
    return _error(name, status, complaint, retry_after(headers), key)


def error_from_object(
    name: str, body: Mapping[str, Any], key: Secret | None = None
) -> ProviderError:
    """The error that an error object inside a stream means."""
    complaint = read_complaint(body)
    return _error(name, _status(body), complaint, None, key)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The server's wish in seconds: ``retry-after-ms``, else ``retry-after`` (seconds or date)."""
    milliseconds = _seconds(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _seconds(value)
    return seconds if seconds is not None else _until(value)


def read_complaint(body: object) -> Complaint:
    """Find the vendor's message in any of the common shapes; a body of another shape gives ''."""
    error = _error_part(body)
    if isinstance(error, str):
        return Complaint(message=error, words=error.lower())
    if not isinstance(error, Mapping):
        return Complaint(message="", words="")
    message = error.get("message") or error.get("detail") or ""
    message = message if isinstance(message, str) else json.dumps(message)
    codes = (error.get("code"), error.get("type"), error.get("param"))
    words = " ".join([*(str(code) for code in codes if code), message])
    return Complaint(message=message, words=words.lower())


def shown(text: str, key: Secret | None = None) -> str:
    """A vendor's words on one line, without the key, at most 200 characters."""
    line = Redactor([key.reveal()] if key else [])(" ".join(clean(text[:4000]).split()))
    return line if len(line) <= MAX_MESSAGE else line[: MAX_MESSAGE - 1] + "…"


def _error(
    name: str, status: int, complaint: Complaint, wait: float | None, key: Secret | None
) -> ProviderError:
    kind = _kind(status, complaint.words)
    said = shown(complaint.message, key)
    text = f"{name!r} answered {status}" if status else f"{name!r} failed"
    hint = _HINTS.get(kind, "").format(name=name)
    return kind(
        f"{text}: {said}" if said else text,
        hint=hint,
        retry_after=wait,
        complaint=complaint.words[:MAX_COMPLAINT],
    )


def _redirected(name: str, status: int, location: str, key: Secret | None) -> BadRequest:
    """Nobody follows it: the key was meant for this server, and a prompt for this address."""
    place = location.partition("?")[0].partition("#")[0].removesuffix("/chat/completions")
    scheme, separator, rest = place.rpartition("://")
    host, slash, path = rest.partition("/")
    target = shown(f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}", key)
    return BadRequest(
        f"{name!r} answered {status}: it is now at {target!r}",
        hint="if you trust that address, make it the base URL",
    )


def _kind(status: int, words: str) -> type[ProviderError]:
    if status in (0, 400, 402, 403, 429) and any(word in words for word in _QUOTA_WORDS):
        return QuotaExceeded
    if status in (0, 400, 413, 422, 500) and any(word in words for word in _OVERFLOW_WORDS):
        return ContextOverflow
    if status in (0, 400, 403, 422) and any(word in words for word in _FILTER_WORDS):
        return ContentFiltered
    if status == 0:
        return _kind_by_words(words)
    return _kind_by_status(status)


def _kind_by_status(status: int) -> type[ProviderError]:
    match status:
        case 401 | 403:
            return AuthRejected
        case 402:
            return QuotaExceeded
        case 404:
            return ModelNotFound
        case 429:
            return RateLimited
        case 408 | 409 | 425:
            return Unavailable
        case _ if status >= 500:
            return Unavailable
        case _:
            return BadRequest


def _kind_by_words(words: str) -> type[ProviderError]:
    if "rate_limit" in words or "rate limit" in words or "too many requests" in words:
        return RateLimited
    if "invalid_request" in words or "bad request" in words or "badrequest" in words:
        return BadRequest
    if "authentication" in words or "invalid_api_key" in words:
        return AuthRejected
    return Unavailable


def _error_part(body: object) -> object:
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, Mapping):
        return None
    return body.get("error") or (body if "message" in body or "detail" in body else None)


def _status(body: Mapping[str, Any]) -> int:
    error = _error_part(body)
    code = error.get("code") or error.get("status") if isinstance(error, Mapping) else None
    text = str(code)
    return int(text) if text.isascii() and text.isdigit() and 400 <= int(text) <= 599 else 0


def _json(body: bytes) -> object:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _seconds(value: str) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _until(date: str) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (moment - utc_now()).total_seconds())
    except (ValueError, TypeError):
        return None
