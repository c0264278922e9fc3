"""The tool ``http_request``: one request to an HTTP service, and its answer as it came."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from octo_lab.core.errors import ToolFailed
from octo_lab.core.text import head_and_tail
from octo_lab.security.net.ports import WebRequest, WebResponse
from octo_lab.tools.model_tool import model_tool
from octo_lab.tools.powers import Powers
from octo_lab.tools.tool import Tool, ToolContext
from octo_lab.tools.verdict import Verdict
from octo_lab.tools.web.decode import decode
from octo_lab.tools.web.hosts import host_of
from octo_lab.tools.web.page import described, kind_of

BODY_CHARS = 50_000
_BYTES = 1_000_000
_LONGEST = 120
_HEADERS = 50
_LINE = 500
_READING = frozenset({"GET", "HEAD"})
_DESCRIPTION = (
    "Send one HTTP request to a web service and read its answer: status, headers, body. For pages "
    "to read, web_fetch is better. Servers of this machine and of private networks are out of "
    "reach unless the owner allowed them."
)


class HttpRequestArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    url: str = Field(min_length=1, max_length=8192, description="https://…")
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] = "GET"
    headers: dict[str, str] = Field(default_factory=dict, max_length=_HEADERS)
    body: str | None = Field(default=None, max_length=_BYTES, description="Sent as it is.")
    json_body: Any = Field(default=None, description="Sent as JSON, in place of body.")
    timeout_secs: int = Field(default=30, ge=1, le=_LONGEST)


async def http_request(powers: Powers, ctx: ToolContext, args: HttpRequestArgs) -> str:
    response = await powers.web.fetch(request_of(args))
    return shown(response)


def request_of(args: HttpRequestArgs) -> WebRequest:
    """Raises ToolFailed for two bodies at once."""
    headers = {name.lower(): value for name, value in args.headers.items()}
    body = (args.body or "").encode("utf-8", "replace")
    if args.json_body is not None:
        if args.body is not None:
            raise ToolFailed("body and json_body cannot both be sent", hint="leave out one")
        body = json.dumps(args.json_body).encode()
        headers.setdefault("content-type", "application/json")
    return WebRequest(
        url=args.url,
        method=args.method,
        headers=headers,
        body=body,
        limit=_BYTES,
        timeout=float(args.timeout_secs),
    )


def shown(response: WebResponse) -> str:
    """As on the wire, the body bounded and only if it is text."""
    name = next((one.phrase for one in HTTPStatus if one == response.status), "")
    lines = [f"{response.url}", f"HTTP {response.status} {name}".rstrip()]
    lines += [f"{key}: {value}"[:_LINE] for key, value in list(response.headers.items())[:_HEADERS]]
    if not response.body:
        return "\n".join([*lines, "", "[no body]"])
    if kind_of(response) == "binary":
        return "\n".join([*lines, "", described(response)])
    cut = [f"[cut: only the first {_BYTES:,} bytes were read]"] if response.cut else []
    return "\n".join([*lines, "", head_and_tail(decode(response), BODY_CHARS), *cut])


def judge(args: HttpRequestArgs, workspace: Path) -> Verdict | None:
    """Reading is left to the rules about hosts; what may change something is asked about."""
    plain = args.method in _READING and args.body is None and args.json_body is None
    return None if plain else Verdict("ask", f"it sends a {args.method} request")


def detail(args: HttpRequestArgs) -> str:
    """All that would be sent, for the person who is asked."""
    lines = [f"{args.method} {args.url}", *(f"{name}: {it}" for name, it in args.headers.items())]
    body = json.dumps(args.json_body) if args.json_body is not None else args.body or ""
    return "\n".join([*lines, *(["", head_and_tail(body, 4000)] if body else [])])


def hosts(args: HttpRequestArgs) -> Sequence[str]:
    host = host_of(args.url)
    return (host,) if host else ()


def scopes(args: HttpRequestArgs, workspace: Path) -> Sequence[str]:
    return tuple(f"{args.method} {host}" for host in hosts(args))


def tool(powers: Powers) -> Tool:
    made = model_tool(
        partial(http_request, powers),
        HttpRequestArgs,
        name="http_request",
        group="web",
        source="outside",
        risk="network",
        asks=True,
        detail=detail,
        hosts=hosts,
        judge=judge,
        scopes=scopes,
        timeout=_LONGEST + 15.0,
        output=BODY_CHARS + _HEADERS * _LINE + 10_000,
    )
    return replace(made, description=_DESCRIPTION)
