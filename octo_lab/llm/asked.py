"""What of a request to a model is compared with a recorded one, whatever its dialect.

That is the model and the conversation, with ids, times and keys replaced. The system prompt and
the list of tools are octo_lab's own and change with its version, so they are left out, and so is
what a vendor encrypts or signs.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

Json = dict[str, Any]
Dialect = Literal["chat", "responses", "anthropic", "gemini", ""]

_UUID = re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b")
_TIME = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|\b\d\d:\d\d(?::\d\d(?:\.\d+)?)?\b"
)
KEYS = re.compile(
    r"\b(?:sk|rk|pk|gsk|xai|nvapi|AIza|gh[opsru]|hf)(?=[-_A-Za-z]*\d)[-_A-Za-z0-9]{20,}"
)
_ENDS: Mapping[str, Dialect] = {
    "/chat/completions": "chat",
    "/responses": "responses",
    "/messages": "anthropic",
    "enerateContent": "gemini",  # generateContent, streamGenerateContent
}
_TALKS = ("messages", "input", "contents")  # of chat and Anthropic, Responses, Gemini
_IDS = ("id", "tool_call_id", "call_id", "tool_use_id")
_OPAQUE = frozenset({"signature", "thoughtSignature", "thought_signature", "encrypted_content"})
_OPAQUE_DATA = frozenset({"redacted_thinking", "reasoning.encrypted"})
_OWN_WORDS = frozenset({"input", "args", "arguments", "response", "result"})


def dialect_of(path: str) -> Dialect:
    """The dialect of a request, told from its path; '' for what is none, as embeddings."""
    return next((name for end, name in _ENDS.items() if path.endswith(end)), "")


def comparable(body: bytes, path: str = "") -> Json:
    """What is compared. Of a body that is no JSON (a form with a recording) that is its digest,
    whatever the boundary of its parts.
    """
    try:
        request = json.loads(body)
    except ValueError:
        request = None
    if not isinstance(request, dict):
        return {"model": "", "form": _form_digest(body)}
    said = _TALKS if not path or dialect_of(path) else ()
    talks = {name: request[name] for name in said if name in request}
    rest = {name: value for name, value in request.items() if name != "model"}
    model = request.get("model") or _model_in(path)
    text = json.dumps({"model": model, **(_spoken(talks) or rest)}, ensure_ascii=False)
    asked: Json = json.loads(KEYS.sub("[key]", _TIME.sub("[time]", _UUID.sub("[id]", text))))
    names: dict[str, str] = {}
    return {name: _plain(value, names) for name, value in asked.items()}


def place_of(path: str) -> str:
    """What of a path is compared: not where a server has its dialect, but what is asked there."""
    return path.rpartition("/")[2]


def digest(asked: Json) -> str:
    text = json.dumps(asked, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _model_in(path: str) -> str:
    """Gemini names the model in the path."""
    return place_of(path).partition(":")[0] if dialect_of(path) == "gemini" else ""


def _spoken(talks: Json) -> Json:
    """The conversations without system messages."""
    return {name: _without_system(said) for name, said in talks.items()}


def _without_system(said: object) -> object:
    if not isinstance(said, list):
        return said
    return [
        item
        for item in said
        if not (isinstance(item, dict) and item.get("role") in ("system", "developer"))
    ]


def _plain(value: Any, names: dict[str, str]) -> Any:
    """The same with ids numbered by their first use, and without what only the vendor reads."""
    match value:
        case dict():
            return dict(_plain_fields(value, names))
        case list():
            return [_plain(item, names) for item in value]
        case _:
            return value


def _plain_fields(holder: Json, names: dict[str, str]) -> Iterable[tuple[str, Any]]:
    for name in _IDS:
        if isinstance(holder.get(name), str):
            names.setdefault(holder[name], f"call {len(names) + 1}")
    for name, value in holder.items():
        if name in _IDS and isinstance(value, str):
            yield name, names[value]
        elif _is_opaque(name, holder):
            yield name, "[opaque]"
        else:
            yield name, value if name in _OWN_WORDS else _plain(value, names)


def _is_opaque(name: str, holder: Json) -> bool:
    return name in _OPAQUE or (name == "data" and holder.get("type") in _OPAQUE_DATA)


def _form_digest(body: bytes) -> str:
    boundary, end, _ = body.partition(b"\r\n")
    if end and boundary.startswith(b"--"):
        body = body.replace(boundary, b"--")
    return hashlib.sha256(body).hexdigest()[:32]
