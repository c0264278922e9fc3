"""Names of tools as every vendor accepts them, and the way back."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from octo_lab.core.messages import ChatRequest

LONGEST = 64
_GOOD = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}", re.ASCII)
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")


@lru_cache(maxsize=1024)  # every request asks for every tool
def alias(name: str) -> str:
    """The name itself where it fits, else a like one with a hash that tells it from others."""
    if _GOOD.fullmatch(name):
        return name
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    plain = _NOT_IN_NAMES.sub("_", name)[: LONGEST - len(mark) - 2]
    start = "" if plain[:1].isalpha() or plain[:1] == "_" else "_"
    return f"{start}{plain}_{mark}"


def own_names(request: ChatRequest) -> dict[str, str]:
    """The true name of each alias that the request uses; a name that fits is left out."""
    called = (call.name for message in request.messages for call in message.tool_calls)
    names = {*(tool.name for tool in request.tools), *called}
    return {short: name for name in names if (short := alias(name)) != name}
