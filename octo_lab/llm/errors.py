"""Typed errors from what a vendor answered: status, headers, body."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Mapping
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
from octo_lab.llm.complaints import Complaint, read_complaint
from octo_lab.llm.secret import Secret
from octo_lab.security.redact import Redactor

MAX_MESSAGE = 200
MAX_COMPLAINT = 2000
MAX_LOGGED = 4000

logger = logging.getLogger(__name__)

_QUOTA_WORDS = (
    *("insufficient_quota", "insufficient balance", "insufficient_balance", "billing_error"),
    *("insufficient credits", "insufficient_credits", "insufficient_user_quota", "out of credit"),
    *("exceeded your current quota", "exceeded_current_quota", "billing_hard_limit", "arrear"),
    *("billing_not_active", "check your plan and billing", "credit balance", "payment required"),
    *("credits expired", "freetieronly", "free tier of the model has been exhausted"),
    *(
        "insufficient account balance",
        "quota is not enough",
        "\u4f59\u989d\u4e0d\u8db3",
        "\u6b20\u8d39",
    ),
)
_OVERFLOW_WORDS = (
    *("context_length", "context length", "context size", "context window", "exceed_context"),
    *("maximum context", "prompt is too long", "input is too long", "maximum number of tokens"),
    *("range of input length", "request_too_large", "request too large", "model token limit"),
    *("maximum prompt length", "maximum model length", "string_above_max_length"),
    *("too many tokens", "token count exceeds", "prompt \u8d85\u957f"),
)
_TOO_MANY_ASKED = re.compile(
    r"max_(?:completion_|output_)?tokens?\b.{0,80}"
    r"(?:too (?:large|high|big)|exceed|valid range|less than|at most|greater than)"
)
_FILTER_WORDS = (
    *("content_filter", "content_policy", "content management policy", "responsibleaipolicy"),
    *("data_inspection_failed", "datainspectionfailed", "inappropriate content", "moderation"),
    *("considered high risk", "prohibited_content", "policy_violation", "usage policies"),
    *("usage policy", "\u654f\u611f\u5185\u5bb9"),
)
_KEY_WORDS = (
    *("api key not valid", "api_key_invalid", "invalid api key", "invalid_api_key"),
    *("incorrect api key", "authentication", "unauthorized", "permission_error"),
)
_NO_MODEL = re.compile(
    r"model_not_found|model not exist|not a valid model|not_found_error"
    r"|\u6a21\u578b\u4e0d\u5b58\u5728|\bmodel\b.{0,80}(?:does not exist|not found)"
)
# Words that are wiser than the status they come with.
_BUSY_WORDS = ("rate_limit", "rate limit", "too many requests", "throttl", "resource_exhausted")
_TEMPLATE_WORDS = ("jinja", "chat template")
_BROKEN_CALL = "tool_use_failed"  # Groq's model wrote a call that is none: it may do better
_HINTS: dict[type[ProviderError], str] = {
    AuthRejected: "check the key of {name!r}: it is missing, wrong or may not use this model",
    QuotaExceeded: "the account of {name!r} has no credit left: top it up or choose another model",
    RateLimited: "wait a moment, or choose another model",
    ModelNotFound: "check the model's name, and the base URL: it usually ends in /v1",
    ContextOverflow: "start afresh with /new or /clear, or ask for less at once",
    Unavailable: "the server is in trouble: try again, or choose another model",
}


def error_from_reply(
    name: str, status: int, headers: Mapping[str, str], body: bytes, key: Secret | None = None
) -> ProviderError:
    """The error that an HTTP answer other than 2xx means; ``headers`` has lower-case names."""
    if location := headers.get("location", "") if 300 <= status < 400 else "":
        return _redirected(name, status, location, key)
    _log(name, status, body, key)
    complaint = read_complaint(_json(body))
    wish = retry_after(headers)
    return _error(name, status, complaint, complaint.wait if wish is None else wish, key)


def error_from_object(
    name: str, body: Mapping[str, Any], key: Secret | None = None
) -> ProviderError:
    """The error that an error object inside a stream, or under status 200, means."""
    _log(name, 200, json.dumps(body).encode(), key)
    complaint = read_complaint(body)
    return _error(name, complaint.status, complaint, complaint.wait, key)


def error_from_text(name: str, text: str, key: Secret | None = None) -> ProviderError | None:
    """The error that plain words under status 200 mean, if they say that no retry helps."""
    words = " ".join(text.lower().split())
    if len(words) <= MAX_COMPLAINT and any(word in words for word in _QUOTA_WORDS):
        return _error(name, 0, Complaint(message=text, words=words), None, key)
    return None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The server's wish in seconds: ``retry-after-ms``, else ``retry-after`` (seconds or date)."""
    milliseconds = _seconds(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _seconds(value)
    return seconds if seconds is not None else _until(value)


def shown(text: str, key: Secret | None = None) -> str:
    """A vendor's words on one line, without the key, at most 200 characters."""
    line = Redactor([key.reveal()] if key else [])(" ".join(clean(text[:4000]).split()))
    return line if len(line) <= MAX_MESSAGE else line[: MAX_MESSAGE - 1] + "…"


def _error(
    name: str, status: int, complaint: Complaint, wait: float | None, key: Secret | None
) -> ProviderError:
    kind = _kind(status, complaint)
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


def _kind(status: int, complaint: Complaint) -> type[ProviderError]:
    words = complaint.words
    if status in (0, 400, 402, 403, 429) and _has(words, _QUOTA_WORDS):
        passes = complaint.wait is not None and "perday" not in words and "limit: 0" not in words
        return RateLimited if passes and status in (0, 429) else QuotaExceeded
    overflow = _has(words, _OVERFLOW_WORDS) or _TOO_MANY_ASKED.search(words)
    if status in (0, 400, 413, 422, 500) and overflow:
        return ContextOverflow
    if status in (0, 400, 403, 422) and _has(words, _FILTER_WORDS):
        return ContentFiltered
    if status == 0:
        return _kind_by_words(words)
    return _kind_by_both(status, words) or _kind_by_status(status)


def _has(words: str, known: Iterable[str]) -> bool:
    return any(word in words for word in known)


def _kind_by_both(status: int, words: str) -> type[ProviderError] | None:
    """Where vendors use a status of their own."""
    match status:
        case 400 if _has(words, _KEY_WORDS):
            return AuthRejected
        case 400 if _NO_MODEL.search(words):
            return ModelNotFound
        case 400 if _BROKEN_CALL in words:
            return Unavailable
        case 404 if "no endpoints found" in words:  # of a router: for such a request
            return BadRequest
        case 500 if _has(words, _TEMPLATE_WORDS):
            return BadRequest
        case _:
            return None


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
        case 408 | 409 | 425 | 498 | 499:
            return Unavailable
        case _ if status >= 500:
            return Unavailable
        case _:
            return BadRequest


def _kind_by_words(words: str) -> type[ProviderError]:
    if _has(words, _BUSY_WORDS):
        return RateLimited
    if _NO_MODEL.search(words):
        return ModelNotFound
    if "invalid_request" in words or "bad request" in words or "badrequest" in words:
        return BadRequest
    if _has(words, _KEY_WORDS):
        return AuthRejected
    return Unavailable


def _log(name: str, status: int, body: bytes, key: Secret | None) -> None:
    """A vendor's whole words are for whoever looks for a cause, and without the key."""
    if logger.isEnabledFor(logging.DEBUG):
        text = clean(body[:MAX_LOGGED].decode("utf-8", "replace"))
        logger.debug(
            "%r answered %s: %s", name, status, Redactor([key.reveal()] if key else [])(text)
        )


def _json(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
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
