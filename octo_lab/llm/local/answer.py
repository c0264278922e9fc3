"""Reads the JSON a local model writes: an answer's text as it comes, a call when it is whole."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from octo_lab.core.ids import new_id
from octo_lab.core.messages import ToolCall
from octo_lab.core.text import clean

_HEAD = re.compile(r'\s*\{\s*"answer"\s*:\s*"')
_LONGEST_HEAD = 400  # a grammar allows white space, models write little of it
_RUN = re.compile(r'(?:[^"\\]+|\\u[0-9a-fA-F]{4}|\\["\\/bfnrt])*')
_HIGH = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """``text`` was not told before; ``whole``: the JSON has its end."""

    text: str = ""
    call: ToolCall | None = None
    whole: bool = True


class AnswerText:
    """Feed it the text in pieces of any size; it tells what of it is the answer."""

    def __init__(self) -> None:
        self._raw = ""
        self._inside = False  # in the string of the answer
        self._ended = False

    def feed(self, piece: str) -> str:
        """What the person may read of it now."""
        if self._ended:
            return ""
        self._raw += piece
        if not self._inside and len(self._raw) - len(piece) < _LONGEST_HEAD:
            head = _HEAD.match(self._raw)
            if head:
                self._inside, self._raw = True, self._raw[head.end() :]
        return self._read() if self._inside else ""

    def close(self) -> Ending:
        if self._inside:
            return Ending(whole=self._ended)
        try:
            found = json.loads(self._raw)
        except (ValueError, RecursionError):
            return Ending(whole=False)
        if not isinstance(found, dict):
            return Ending(text=self._raw)
        if isinstance(found.get("tool"), str):
            arguments = json.dumps(found.get("arguments") or {}, ensure_ascii=False)
            call = ToolCall(id=f"call_{new_id()}", name=found["tool"], arguments=arguments)
            return Ending(call=call)
        answer = found.get("answer", found)
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        return Ending(text=clean(text))

    def _read(self) -> str:
        run = _RUN.match(self._raw)
        end = run.end() if run else 0
        self._ended = self._raw[end : end + 1] == '"'
        if not self._ended and (half := _HIGH.search(self._raw, 0, end)):
            end = half.start()  # the other half of a character is to come
        text, self._raw = self._raw[:end], self._raw[end:]
        return clean(str(json.loads(f'"{text}"', strict=False)))
