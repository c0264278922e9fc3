"""What the Anthropic messages dialect accepts, read as strictly as the vendor's schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from octo_lab.llm.wires.anthropic.validate_blocks import content_blocks, extra
from octo_lab.llm.wires.anthropic.validate_options import options
from octo_lab.llm.wires.checks import Problem, Refused, a_text, an_array, an_object, require

Json = Mapping[str, Any]
VERSIONS = ("2023-06-01", "2026-10-21")
# fmt: off
_FIELDS = frozenset((
    "model", "messages", "max_tokens", "system", "stream", "temperature", "top_p", "top_k",
    "stop_sequences", "tools", "tool_choice", "thinking", "output_config", "metadata",
    "service_tier", "cache_control", "container", "inference_geo",
))
# fmt: on
_SAMPLING = ("temperature", "top_p", "top_k")
_MAX_MARKS = 4
_THINKING = ("thinking", "redacted_thinking")


def header_problem(headers: Mapping[str, str]) -> Problem | None:
    """What is wrong with the version that a request names."""
    version = headers.get("anthropic-version")
    if version is None:
        return Problem("header is required", "anthropic-version")
    if version not in VERSIONS:
        return Problem(f"{version!r} is not a valid version", "anthropic-version")
    return None


def request_problem(
    body: object, version: str = VERSIONS[0], betas: Sequence[str] = ()
) -> Problem | None:
    """The first reason why the vendor would answer 400 to this request, or None."""
    try:
        _request(an_object(body, "body"), version, betas)
    except Refused as exc:
        return exc.problem
    return None


def _request(body: Json, version: str, betas: Sequence[str]) -> None:
    extra(body, _FIELDS, "")
    a_text(body.get("model"), "model")
    limit = body.get("max_tokens")
    require(
        type(limit) is int and limit >= 1,
        "Input should be greater than or equal to 1",
        "max_tokens",
    )
    require(type(body.get("stream", False)) is bool, "Input should be a valid boolean", "stream")
    if version != VERSIONS[0]:
        for name in _SAMPLING:
            require(name not in body, "Extra inputs are not permitted", name)
    turns = _turns(body)
    _pairs(turns)
    options(body, betas)
    content_blocks(body.get("system", "x"), "system", "system", signed=True)
    _thinking(body, turns)
    marks = sum(1 for block in _markable(body, turns) if block.get("cache_control"))
    require(
        marks <= _MAX_MARKS,
        f"A maximum of {_MAX_MARKS} blocks with cache_control may be provided. Found {marks}.",
        "",
    )


def _turns(body: Json) -> list[Json]:
    """The messages as the vendor takes them: neighbours of one role are one."""
    items = an_array(body.get("messages"), "messages")
    require(bool(items), "at least one message is required", "messages")
    signed = "claude" in str(body["model"]).lower()
    turns: list[Json] = []
    for index, item in enumerate(items):
        where = f"messages.{index}"
        message = an_object(item, where)
        extra(message, frozenset({"role", "content"}), where)
        role = message.get("role")
        require(role in ("user", "assistant"), f"Unexpected role {role!r}", f"{where}.role")
        blocks = content_blocks(
            message.get("content"), str(role), f"{where}.content", signed=signed
        )
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"].extend(blocks)
        else:
            turns.append({"role": role, "content": list(blocks), "where": where})
    require(turns[0]["role"] == "user", 'first message must use the "user" role', "messages")
    return turns


def _pairs(turns: Sequence[Json]) -> None:
    """Every call is answered once, at the head of the next turn; no id is used twice."""
    waiting: list[str] = []
    seen: set[str] = set()
    for turn in turns:
        where = f"{turn['where']}.content"
        if turn["role"] == "user":
            _results(turn["content"], waiting, where)
            waiting = []
            continue
        for block in turn["content"]:
            if block["type"] == "tool_use":
                require(block["id"] not in seen, "`tool_use` ids must be unique", where)
                seen.add(block["id"])
                waiting.append(block["id"])
    require(not waiting, _unanswered(waiting), turns[-1]["where"])
    last = turns[-1]
    if last["role"] == "assistant" and last["content"][-1]["type"] == "text":
        text = last["content"][-1]["text"]
        require(
            text == text.rstrip(),
            "final assistant content cannot end with trailing whitespace",
            "messages",
        )


def _results(blocks: Sequence[Json], waiting: list[str], where: str) -> None:
    over = False
    for block in blocks:
        if block["type"] != "tool_result":
            over = True
            continue
        id = block["tool_use_id"]
        require(not over, "`tool_result` blocks must come first", where)
        require(
            id in waiting,
            f"unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` "
            "block must have a corresponding `tool_use` block in the previous message.",
            where,
        )
        waiting.remove(id)
    require(not waiting, _unanswered(waiting), where)


def _unanswered(ids: Sequence[str]) -> str:
    return (
        "`tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(ids)}. Each `tool_use` block must have a corresponding `tool_result` block "
        "in the next message."
    )


def _thinking(body: Json, turns: Sequence[Json]) -> None:
    """What the transcript must be like for a model that is told to think."""
    for turn in turns:
        if turn["role"] == "assistant":
            require(
                turn["content"][-1]["type"] not in _THINKING,
                "The final block in an assistant message cannot be `thinking`.",
                turn["where"],
            )
    if body.get("thinking", {}).get("type") != "enabled":
        return
    last = next((turn for turn in reversed(turns) if turn["role"] == "assistant"), None)
    kinds = [block["type"] for block in last["content"]] if last else []
    if last and ("tool_use" in kinds or turns[-1] is last):
        require(
            kinds[0] in _THINKING,
            f"Expected `thinking` or `redacted_thinking`, but found `{kinds[0]}`. When `thinking` "
            "is enabled, a final `assistant` message must start with a thinking block.",
            f"{last['where']}.content.0.type",
        )


def _markable(body: Json, turns: Sequence[Json]) -> Iterator[Json]:
    yield from body.get("tools", ())
    if isinstance(body.get("system"), list):
        yield from body["system"]
    for turn in turns:
        yield from turn["content"]
