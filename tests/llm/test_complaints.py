from __future__ import annotations

import json
import logging
from typing import Any

import pytest

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
from octo_lab.llm.complaints import Complaint, read_complaint
from octo_lab.llm.errors import error_from_object, error_from_reply, error_from_text
from octo_lab.llm.secret import Secret

KEY = Secret("plain-word-key")


def anthropic(kind: str, message: str = "m") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


def gemini(code: int, status: str, message: str, *details: object) -> dict[str, Any]:
    error = {"code": code, "status": status, "message": message, "details": list(details)}
    return {"error": error}


def openai(message: str, code: str | None = None, type: str = "t") -> dict[str, Any]:
    return {"error": {"message": message, "type": type, "code": code}}


def minimax(code: int, message: str = "m") -> dict[str, Any]:
    return {"choices": None, "base_resp": {"status_code": code, "status_msg": message}}


RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "33.5s"}
PER_DAY = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}
QUOTA = "You exceeded your current quota, please check your plan and billing details."


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (529, anthropic("overloaded_error"), Unavailable),
        (429, anthropic("rate_limit_error"), RateLimited),
        (401, anthropic("authentication_error"), AuthRejected),
        (403, anthropic("permission_error"), AuthRejected),
        (402, anthropic("billing_error"), QuotaExceeded),
        (404, anthropic("not_found_error"), ModelNotFound),
        (413, anthropic("request_too_large"), ContextOverflow),
        (400, anthropic("invalid_request_error", "prompt is too long: 9 > 8"), ContextOverflow),
        (400, anthropic("invalid_request_error", "Your credit balance is low"), QuotaExceeded),
        (400, anthropic("invalid_request_error", "messages.1: bad"), BadRequest),
        (429, gemini(429, "RESOURCE_EXHAUSTED", QUOTA, RETRY), RateLimited),
        (429, gemini(429, "RESOURCE_EXHAUSTED", QUOTA, PER_DAY, RETRY), QuotaExceeded),
        (429, gemini(429, "RESOURCE_EXHAUSTED", QUOTA), QuotaExceeded),
        (400, gemini(400, "INVALID_ARGUMENT", "API key not valid. Pass one."), AuthRejected),
        (400, gemini(400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum "
                     "number of tokens allowed (8)."), ContextOverflow),
        (503, gemini(503, "UNAVAILABLE", "The model is overloaded."), Unavailable),
        (429, openai("out", "insufficient_quota"), QuotaExceeded),
        (429, openai("Limit reached. Try again in 20s.", "rate_limit_exceeded"), RateLimited),
        (400, openai("long", "context_length_exceeded"), ContextOverflow),
        (400, openai("no", "content_policy_violation"), ContentFiltered),
        (404, openai("The model 'x' does not exist", "model_not_found"), ModelNotFound),
        (400, openai("Unsupported parameter: 'max_tokens' is not supported with this model. Use "
                     "'max_completion_tokens' instead."), BadRequest),
        (400, openai("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"),
         ContextOverflow),
        (402, openai("Insufficient Balance"), QuotaExceeded),
        (400, openai("Model Not Exist"), ModelNotFound),
        (429, openai("Your account is suspended", type="exceeded_current_quota_error"),
         QuotaExceeded),
        (429, openai("The engine is overloaded", type="engine_overloaded_error"), RateLimited),
        (400, openai("The request was rejected because it was considered high risk",
                     type="content_filter"), ContentFiltered),
        (400, openai("Access denied, account in good standing?", "Arrearage"), QuotaExceeded),
        (400, openai("Input data may contain inappropriate content", "data_inspection_failed"),
         ContentFiltered),
        (429, openai("Requests throttled", "Throttling.AllocationQuota"), RateLimited),
        (403, openai("The free tier of the model has been exhausted",
                     "AllocationQuota.FreeTierOnly"), QuotaExceeded),
        (429, openai("\u8d26\u6237\u5df2\u6b20\u8d39", "1113"), QuotaExceeded),
        (413, openai("Request too large for model `x` on tokens per minute"), ContextOverflow),
        (400, openai("Failed to call a function.", "tool_use_failed"), Unavailable),
        (498, openai("Flex tier capacity exceeded"), Unavailable),
        (404, openai("No endpoints found that support image input"), BadRequest),
        (500, openai("Jinja Exception: System role not supported"), BadRequest),
        (403, openai("Your input was flagged: requires moderation"), ContentFiltered),
    ],
)  # fmt: skip
def test_each_vendors_answer_is_of_its_kind(
    status: int, body: object, kind: type[ProviderError]
) -> None:
    assert type(error_from_reply("lab", status, {}, json.dumps(body).encode())) is kind


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (anthropic("overloaded_error", "Overloaded"), Unavailable),
        (anthropic("rate_limit_error"), RateLimited),
        (anthropic("authentication_error"), AuthRejected),
        (anthropic("billing_error"), QuotaExceeded),
        (anthropic("not_found_error"), ModelNotFound),
        (anthropic("invalid_request_error"), BadRequest),
        (anthropic("api_error"), Unavailable),
        ([gemini(503, "UNAVAILABLE", "busy")][0], Unavailable),
        (minimax(1008, "insufficient balance"), QuotaExceeded),
        (minimax(1008), QuotaExceeded),
        (minimax(1002), RateLimited),
        (minimax(2049), AuthRejected),
        (minimax(2013), BadRequest),
        ({"code": "Arrearage", "message": "Access denied"}, QuotaExceeded),
        ({"error": {"code": 402, "message": "Insufficient credits"}}, QuotaExceeded),
        ({"error": {"code": 429, "message": QUOTA, "details": [RETRY]}}, RateLimited),
        (
            {"choices": [], "error": {"code": 502, "message": "Provider returned error"}},
            Unavailable,
        ),
    ],
)
def test_each_error_under_status_200_is_of_its_kind(
    body: dict[str, Any], kind: type[ProviderError]
) -> None:
    assert type(error_from_object("lab", body)) is kind


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("Please try again in 20s.", 21.0),
        ("Please try again in 1.5s.", 2.5),
        ("try again in 500ms", 1.5),
        ("Please try again in 6m0s.", 361.0),
        ("Please try again in 1h2m3s. Visit us", 3724.0),
        ("Please retry in 33.1s.", 34.1),
        ("Retry after 20 seconds.", 21.0),
        ("try again in 2 minutes", 121.0),
        ("try again later", None),
        ("try again in a moment", None),
    ],
)
def test_a_wait_that_only_the_text_names_is_heard(message: str, seconds: float | None) -> None:
    body = json.dumps(openai(message)).encode()
    assert error_from_reply("lab", 429, {}, body).retry_after == seconds


def test_the_header_comes_before_the_text_and_details_before_both_words() -> None:
    body = json.dumps(openai("try again in 20s")).encode()
    assert error_from_reply("lab", 429, {"retry-after": "3"}, body).retry_after == 3.0
    assert read_complaint(gemini(429, "X", "retry in 9s", RETRY)).wait == 33.5


def test_a_routers_error_tells_what_the_vendor_behind_it_said() -> None:
    raw = json.dumps(anthropic("invalid_request_error", "messages: bad"))
    body = {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw}}}
    caught = error_from_reply("lab", 400, {}, json.dumps(body).encode())
    assert caught.message == "'lab' answered 400: Provider returned error: messages: bad"


@pytest.mark.parametrize(
    "body", [None, 1, "x", [], {}, [1], {"a": 1}, {"error": 7}, {"error": {"details": 3}}]
)
def test_what_is_no_complaint_says_nothing(body: object) -> None:
    found = read_complaint(body)
    assert (found.message, found.status, found.wait) == ("", 0, None)
    assert body not in (None, 1, "x") or found == Complaint()


def test_plain_words_under_status_200_are_believed_when_they_are_about_money() -> None:
    caught = error_from_text("lab", "Your account is in arrears, plain-word-key", KEY)
    assert type(caught) is QuotaExceeded
    assert "plain-word-key" not in str(caught)
    assert error_from_text("lab", "<html>log in</html>") is None


def test_a_vendors_body_is_logged_only_for_debugging_and_without_the_key(
    caplog: pytest.LogCaptureFixture,
) -> None:
    body = json.dumps({"error": {"message": "no plain-word-key", "hidden": "whole"}}).encode()
    with caplog.at_level(logging.INFO, "octo_lab.llm.errors"):
        error_from_reply("lab", 400, {}, body, KEY)
    assert not caplog.records
    with caplog.at_level(logging.DEBUG, "octo_lab.llm.errors"):
        error_from_reply("lab", 400, {}, body, KEY)
    assert '"hidden": "whole"' in caplog.text
    assert "plain-word-key" not in caplog.text
