"""Cassettes: model traffic kept in a JSON file, found again by order and by what was asked.

Compared are the model and the conversation, with ids and times replaced; the system prompt and
the list of tools are octo_lab's own and change with its version, so they are not. Request headers
are never kept, keys are scrubbed from what is.
"""

from __future__ import annotations

import difflib
import hashlib
import ipaddress
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from octo_lab.core.clock import utc_now
from octo_lab.core.errors import CassetteMismatch, ConfigError
from octo_lab.llm.secret import Secret

FORMAT = 1
KEPT_HEADERS = ("content-type", "retry-after", "retry-after-ms")
MAX_DIFF_LINES = 12

_UUID = re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b")
_TIME = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|\b\d\d:\d\d(?::\d\d(?:\.\d+)?)?\b"
)
_KEY = re.compile(
    r"\b(?:sk|rk|pk|gsk|xai|nvapi|AIza|gh[opsru]|hf)(?=[-_A-Za-z]*\d)[-_A-Za-z0-9]{20,}"
)
_SHORTEST_KEY = 8  # a dummy such as "token" is no secret, and a common word
Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CassetteHeader:
    """Where the traffic came from."""

    tool: str
    recorded: str
    provider: str
    model: str
    host: str


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One request and the pieces of its answer, as they arrived."""

    path: str
    asked: Json
    digest: str
    status: int
    headers: dict[str, str]
    parts: list[bytes] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cassette:
    """A whole recording."""

    header: CassetteHeader
    exchanges: tuple[Exchange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TapeUse:
    """What a cassette is used for: ``requests`` so far recorded or answered, ``held`` in it."""

    mode: Literal["record", "replay"]
    path: Path
    requests: int
    held: int = 0


class Recorder:
    """Keeps exchanges in one file, written anew after each; the first names the header."""

    def __init__(self, path: Path, *, tool: str) -> None:
        self.path = path
        self._tool = tool
        self._header: CassetteHeader | None = None
        self._exchanges: list[Exchange] = []
        self._secrets: set[Secret] = set()
        self._writing = threading.Lock()

    @property
    def use(self) -> TapeUse:
        count = len(self._exchanges)
        return TapeUse(mode="record", path=self.path, requests=count, held=count)

    @classmethod
    def create(cls, path: Path) -> Recorder:
        """A recorder for a new file or an older cassette; raises ConfigError for any other."""
        if path.exists():
            read_cassette(path)
        if not path.parent.is_dir():
            raise ConfigError(f"No folder {str(path.parent)!r}", hint="make it, then record again")
        return cls(path, tool=f"octo_lab {version('octo_lab')}")

    def begin(
        self,
        *,
        url: str,
        body: bytes,
        source: tuple[str, str, Secret | None],
        status: int,
        headers: Mapping[str, str],
    ) -> Exchange:
        provider, model, key = source
        if key and len(key.reveal()) >= _SHORTEST_KEY:
            self._secrets.add(key)
        if self._header is None:
            self._header = _header(self._tool, provider, model, url)
        asked = comparable(body)
        return Exchange(
            path=urlsplit(url).path,
            asked=asked,
            digest=digest(asked),
            status=status,
            headers={name: headers[name] for name in KEPT_HEADERS if name in headers},
        )

    def keep(self, exchange: Exchange) -> None:
        """Add an exchange that has ended, and write the file. Twice is once.

        Blocks on the disk; several threads may call it.
        """
        with self._writing:
            if any(exchange is kept for kept in self._exchanges):
                return
            self._exchanges.append(exchange)
            self._write()

    def _write(self) -> None:
        text = json.dumps(self._document(), indent=1, ensure_ascii=True)
        for secret in self._secrets:
            text = text.replace(secret.reveal(), "[key]")
        new = self.path.with_name(f"{self.path.name}.new")
        new.write_text(_KEY.sub("[key]", text) + "\n", encoding="utf-8")
        new.replace(self.path)

    def _document(self) -> Json:
        header = self._header
        assert header is not None
        head = {name: getattr(header, name) for name in CassetteHeader.__dataclass_fields__}
        exchanges = [_exchange_json(exchange) for exchange in self._exchanges]
        return {"octo_cassette": FORMAT, "header": head, "exchanges": exchanges}


class Player:
    """Answers requests from a cassette: the next unused exchange that asked the same.

    A request asked again after its last recorded answer gets that answer again, so that a cell
    can be run twice.
    """

    def __init__(self, cassette: Cassette, path: Path = Path()) -> None:
        self.header = cassette.header
        self._path = path
        self._held = len(cassette.exchanges)
        self._answered = 0
        self._unused = list(cassette.exchanges)
        self._used: dict[str, Exchange] = {}

    @property
    def use(self) -> TapeUse:
        count = self._answered
        return TapeUse(mode="replay", path=self._path, requests=count, held=self._held)

    def answer(self, path: str, body: bytes) -> Exchange:
        """Raises CassetteMismatch, which shows how the request differs from the next one."""
        asked = comparable(body)
        wanted = digest(asked)
        found = next((one for one in self._unused if one.digest == wanted), None)
        if found is not None:
            self._unused.remove(found)
            self._used[wanted] = found
        found = found or self._used.get(wanted)
        if found is None:
            raise self._mismatch(asked)
        self._answered += 1
        return found

    def _mismatch(self, asked: Json) -> CassetteMismatch:
        hint = "record it again, or end the replay"
        if not self._unused:
            return CassetteMismatch("The cassette holds no further answer", hint=hint)
        return CassetteMismatch(
            f"The request is not the recorded one:\n{_diff(self._unused[0].asked, asked)}\n",
            hint=hint,
        )


def read_cassette(path: Path) -> Cassette:
    """Read a file; raises ConfigError when it is missing or no cassette."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["octo_cassette"] != FORMAT:
            raise ConfigError(f"{str(path)!r} is a cassette of another version", hint="record anew")
        return Cassette(
            header=CassetteHeader(**document["header"]),
            exchanges=tuple(_exchange(one) for one in document["exchanges"]),
        )
    except OSError as exc:
        raise ConfigError(f"Cannot read the cassette {str(path)!r}: {exc.strerror}") from exc
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        hint = "cassettes are made by %octo_record"
        raise ConfigError(f"{str(path)!r} is no cassette", hint=hint) from exc


def comparable(body: bytes) -> Json:
    """What of a request is compared: model and conversation, without ids, times and keys."""
    request = json.loads(body)
    text = json.dumps(
        {
            "model": request.get("model", ""),
            "messages": [m for m in request.get("messages", []) if m.get("role") != "system"],
        },
        ensure_ascii=False,
    )
    asked: Json = json.loads(_KEY.sub("[key]", _TIME.sub("[time]", _UUID.sub("[id]", text))))
    return _without_ids(asked)


def digest(asked: Json) -> str:
    text = json.dumps(asked, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _without_ids(asked: Json) -> Json:
    names: dict[str, str] = {}
    for message in asked["messages"]:
        for holder in (message, *(message.get("tool_calls") or ())):
            for name in ("id", "tool_call_id"):
                if name in holder:
                    holder[name] = names.setdefault(holder[name], f"call {len(names) + 1}")
    return asked


def _header(tool: str, provider: str, model: str, url: str) -> CassetteHeader:
    return CassetteHeader(
        tool=tool,
        recorded=utc_now().date().isoformat(),
        provider=provider,
        model=model,
        host=_host_kind(urlsplit(url).hostname or ""),
    )


def _host_kind(host: str) -> str:
    if host == "localhost":
        return "loopback"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "named"
    if address.is_loopback:
        return "loopback"
    return "private" if address.is_private else "public"


def _exchange_json(exchange: Exchange) -> Json:
    return {
        "path": exchange.path,
        "digest": exchange.digest,
        "asked": exchange.asked,
        "status": exchange.status,
        "headers": exchange.headers,
        "parts": [part.decode("utf-8", "surrogateescape") for part in exchange.parts],
    }


def _exchange(data: Json) -> Exchange:
    return Exchange(
        path=data["path"],
        asked=data["asked"],
        digest=data["digest"],
        status=data["status"],
        headers=data["headers"],
        parts=[part.encode("utf-8", "surrogateescape") for part in data["parts"]],
    )


def _diff(recorded: Json, asked: Json) -> str:
    before, after = (
        json.dumps(side, indent=1, ensure_ascii=False).splitlines() for side in (recorded, asked)
    )
    lines = list(difflib.unified_diff(before, after, "recorded", "asked", n=1, lineterm=""))
    shown = [line if len(line) <= 160 else line[:159] + "…" for line in lines[:MAX_DIFF_LINES]]
    return "\n".join(shown + (["…"] if len(lines) > MAX_DIFF_LINES else []))
