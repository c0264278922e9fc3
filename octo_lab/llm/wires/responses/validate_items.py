"""Which input items the OpenAI Responses dialect accepts, and in which company."""

from __future__ import annotations

import base64
import binascii
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from octo_lab.llm.wires.checks import Refused, a_name, a_text, an_array, an_object, only, require
from octo_lab.llm.wires.pictures import PICTURES

Json = Mapping[str, Any]
_MESSAGE = {"type", "id", "role", "content", "status", "phase"}
_CALL = {"type", "id", "call_id", "name", "arguments", "status"}
_RESULT = {"type", "id", "call_id", "output", "status"}
_THINKING = {"type", "id", "summary", "content", "encrypted_content", "status"}
_ROLES = ("user", "assistant", "system", "developer")
_STATUSES = ("in_progress", "completed", "incomplete")
_DETAILS = ("low", "high", "auto", "original")
_LONGEST_ID = 64


def check_items(value: object) -> None:
    """Raises Refused for the first item that does not fit, or lacks what belongs to it."""
    items = an_array(value, "input")
    require(bool(items), "Invalid 'input': empty array.", "input")
    for index, item in enumerate(items):
        where = f"input[{index}]"
        item = an_object(item, where)
        kind = item.get("type", "message" if "role" in item else None)
        check = _KINDS.get(str(kind))
        if check is None:
            raise Refused(f"Invalid value: {kind!r}.", f"{where}.type")
        check(item, where)
        status = item.get("status") or "completed"
        require(status in _STATUSES, f"Invalid value: {status!r}.", f"{where}.status")
    ids = Counter(item["id"] for item in items if item.get("id"))
    for id, count in ids.items():
        require(count == 1, f"Duplicate item found with id {id}.", "input")
    _pairs(items)
    _thoughts(items)


def _pairs(items: Sequence[Json]) -> None:
    open_calls: list[str] = []
    known: set[str] = set()
    for index, item in enumerate(items):
        call_id = item.get("call_id", "")
        if item.get("type") == "function_call":
            require(call_id not in known, "Duplicate call id.", f"input[{index}].call_id")
            known.add(call_id)
            open_calls.append(call_id)
        elif item.get("type") == "function_call_output":
            require(
                call_id in open_calls,
                f"No tool call found for function call output with call_id {call_id}.",
                "input",
            )
            open_calls.remove(call_id)
    missing = ", ".join(open_calls)
    require(not open_calls, f"No tool output found for function call {missing}.", "input")


def _thoughts(items: Sequence[Json]) -> None:
    """Thinking stands before what the same model then said or called."""
    for item, following in zip(items, [*items[1:], {}], strict=True):
        if item.get("type") == "reasoning":
            kind = following.get("type", "")
            said = kind in ("function_call", "reasoning") or following.get("role") == "assistant"
            require(
                said,
                f"Item '{item.get('id')}' of type 'reasoning' was provided without its required "
                "following item.",
                "input",
            )


def _message(item: Json, where: str) -> None:
    only(item, _MESSAGE, where)
    role = item.get("role")
    require(role in _ROLES, f"Invalid value: {role!r}.", f"{where}.role")
    content = item.get("content")
    if isinstance(content, str):
        a_text(content, f"{where}.content")
        return
    parts = an_array(content, f"{where}.content")
    require(bool(parts), f"Invalid '{where}.content': empty array.", f"{where}.content")
    kinds = ("output_text", "refusal") if role == "assistant" else _INPUTS
    for index, part in enumerate(parts):
        _part(an_object(part, f"{where}.content[{index}]"), kinds, f"{where}.content[{index}]")


def _call(item: Json, where: str) -> None:
    only(item, _CALL, where)
    _an_id(item.get("call_id"), f"{where}.call_id")
    a_name(item.get("name"), f"{where}.name")
    try:
        arguments = json.loads(a_text(item.get("arguments"), f"{where}.arguments"))
    except ValueError:
        arguments = None
    an_object(arguments, f"{where}.arguments")


def _result(item: Json, where: str) -> None:
    only(item, _RESULT, where)
    _an_id(item.get("call_id"), f"{where}.call_id")
    output = item.get("output")
    if isinstance(output, str):
        return
    parts = an_array(output, f"{where}.output")
    require(bool(parts), f"Invalid '{where}.output': empty array.", f"{where}.output")
    for index, part in enumerate(parts):
        _part(an_object(part, f"{where}.output[{index}]"), _INPUTS, f"{where}.output[{index}]")


def _thinking(item: Json, where: str) -> None:
    only(item, _THINKING, where)
    a_text(item.get("id"), f"{where}.id")
    for name, kind in (("summary", "summary_text"), ("content", "reasoning_text")):
        for index, part in enumerate(an_array(item.get(name) or [], f"{where}.{name}")):
            _part(an_object(part, where), (kind,), f"{where}.{name}[{index}]")
    require("summary" in item, "Missing required parameter.", f"{where}.summary")
    require(
        bool(item.get("encrypted_content")),
        f"Item with id '{item.get('id')}' not found. Items are not persisted when `store` is set "
        "to false.",
        "input",
    )


def _part(part: Json, kinds: tuple[str, ...], where: str) -> None:
    kind = str(part.get("type"))
    allowed = ", ".join(kinds)
    require(
        kind in kinds, f"Invalid value: '{kind}'. Supported values are: {allowed}.", f"{where}.type"
    )
    only(part, _PART_FIELDS[kind], where)
    match kind:
        case "input_image":
            _image(part, where)
        case "input_file":
            a_text(part.get("file_data") or part.get("file_url") or part.get("file_id"), where)
        case "refusal":
            a_text(part.get("refusal"), f"{where}.refusal")
        case "input_text":
            a_text(part.get("text"), f"{where}.text")
        case _:
            text = part.get("text")
            require(isinstance(text, str), "expected a string", f"{where}.text")


def _image(part: Json, where: str) -> None:
    require(part.get("detail", "auto") in _DETAILS, "Invalid value.", f"{where}.detail")
    if part.get("file_id"):
        return
    url = a_text(part.get("image_url"), f"{where}.image_url")
    if url.startswith(("https://", "http://")):
        return
    mime, mark, data = url.removeprefix("data:").partition(";base64,")
    require(
        url.startswith("data:") and bool(mark) and mime in PICTURES,
        f"Invalid '{where}.image_url': you uploaded an unsupported image.",
        f"{where}.image_url",
    )
    try:
        sound = bool(base64.b64decode(data, validate=True))
    except binascii.Error:
        sound = False
    require(sound, f"Invalid base64 in '{where}.image_url'.", f"{where}.image_url")


def _an_id(value: object, where: str) -> None:
    text = a_text(value, where)
    require(
        len(text) <= _LONGEST_ID,
        f"Invalid '{where}': string too long. Expected a string with maximum length "
        f"{_LONGEST_ID}, but got a string with length {len(text)} instead.",
        where,
    )


_INPUTS = ("input_text", "input_image", "input_file")
_KINDS: Mapping[str, Callable[[Json, str], None]] = {
    "message": _message,
    "function_call": _call,
    "function_call_output": _result,
    "reasoning": _thinking,
}
_PART_FIELDS: Mapping[str, set[str]] = {
    "input_text": {"type", "text"},
    "input_image": {"type", "image_url", "file_id", "detail"},
    "input_file": {"type", "file_id", "file_data", "file_url", "filename"},
    "output_text": {"type", "text", "annotations", "logprobs"},
    "refusal": {"type", "refusal"},
    "summary_text": {"type", "text"},
    "reasoning_text": {"type", "text"},
}
