"""Makes the message of an ask: the prompt rendered, context attached, options checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from octo_lab.core.errors import UsageError
from octo_lab.core.mail import AskOptions, Attachment
from octo_lab.core.text import between_commas
from octo_lab.notebook.attach import attached, last_cells, mentioned, typed_cells
from octo_lab.notebook.fix import last_failure
from octo_lab.notebook.interpolate import interpolate
from octo_lab.notebook.options import Parsed
from octo_lab.notebook.place import Place

Given = Mapping[str, Any]
WISHES = {
    "code": "Answer with one fenced Python code block and nothing else.",
    "json": "Answer with one JSON value and nothing else.",
    "html": "Answer with HTML and nothing else.",
    "text": "Answer in plain text, without Markdown.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """The prompt as the model gets it, what is attached, and what to tell the person."""

    text: str
    attachments: tuple[Attachment, ...]
    notices: tuple[str, ...]


def compose(shell: InteractiveShell, parsed: Parsed) -> Composed:
    """The prompt with all that goes with it; raises UsageError."""
    given, namespace = parsed.given, shell.user_ns
    cells = typed_cells(shell)
    text, found, notice = parsed.text, list[Attachment](), ""
    if "raw" not in given:
        text, pictures = interpolate(text, namespace)
        if pictures:
            found.append(Attachment(name="pictures of the prompt", media=pictures))
        named, notice = mentioned(parsed.text, namespace, cells)
        found += named
    if "fix" in given:
        found.append(last_failure(shell))
    found += [attached(what, namespace, cells) for what in given.get("attach", ())]
    if given.get("context"):
        found.append(last_cells(given["context"], cells, shell.user_ns.get("_oh", {})))
    wish = WISHES.get(given.get("format", ""))
    return Composed(
        text=f"{text}\n\n{wish}" if wish else text,
        attachments=tuple(found),
        notices=(notice,) if notice else (),
    )


def ask_options(shell: InteractiveShell, given: Given, place: Place, slot: str) -> AskOptions:
    """The options of one ask; raises UsageError."""
    tools = given.get("tools")
    return AskOptions(
        model=given.get("model"),
        session=given.get("session"),
        tools=() if given.get("no_tools") else between_commas(tools) if tools is not None else None,
        temperature=given.get("temperature"),
        max_tokens=given.get("max_tokens"),
        stop=tuple(given.get("stop_at", ())),
        timeout=given.get("timeout"),
        slot=slot,
        append=bool(given.get("append")),
        headless=place.headless,
        response_schema=_schema(shell, given.get("schema")),
    )


def _schema(shell: InteractiveShell, name: Any) -> Mapping[str, Any] | None:
    """A JSON Schema: a dict or pydantic model, by value or by the name of a variable, or a file."""
    if name is None:
        return None
    value = shell.user_ns.get(name, name) if isinstance(name, str) else name
    if hasattr(value, "model_json_schema"):
        value = value.model_json_schema()
    if isinstance(value, str):
        value = _schema_file(Path(value))
    if not isinstance(value, dict):
        raise UsageError(f"--schema {name!r} is no JSON Schema", hint="give a dict or a model")
    return value


def _schema_file(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise UsageError(f"--schema {str(path)!r} is no variable and no file") from None
    except ValueError as exc:
        raise UsageError(f"{str(path)!r} holds no JSON: {exc}") from None
