"""Cassettes: model traffic kept in a JSON file, found again by order and by what was asked.

Request headers are never kept, keys are scrubbed from what is.
"""

from __future__ import annotations

import base64
import difflib
import ipaddress
import json
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote, urlsplit

from octo_lab.core.clock import utc_now
from octo_lab.core.errors import CassetteMismatch, ConfigError
from octo_lab.llm.asked import KEYS, Dialect, comparable, dialect_of, digest, place_of
from octo_lab.llm.cassette_scrub import scrub
from octo_lab.llm.secret import Secret
from octo_lab.security.redact import Redactor, redactor

FORMAT = 2  # 1 knew one dialect only, and no cuts
KEPT_HEADERS = ("content-type", "retry-after", "retry-after-ms")
MAX_DIFF_LINES = 12

_SHORTEST_KEY = 8  # a dummy such as "token" is no secret, and a common word
_EVENT_END = re.compile(r"(?<=\n\n)|(?<=\r\n\r\n)")


Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CassetteHeader:
    """Where the traffic came from; ``dialect`` is that of the first request."""

    tool: str
    recorded: str
    provider: str
    model: str
    host: str
    dialect: Dialect = ""


@dataclass(slots=True, kw_only=True)
class Exchange:
    """One request and the pieces of its answer; ``cut``: the connection broke before its end.

    ``order`` is when it was asked: of two at once the slower one is written second all the same.
    """

    path: str
    asked: Json
    digest: str
    status: int
    headers: dict[str, str]
    parts: list[bytes] = field(default_factory=list)
    cut: bool = False
    order: int = 0


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
    """Keeps exchanges in one file, written anew after each; the first names the header. The
    person's ``secrets``, looked up whenever it is written, are kept no more than a key is.
    """

    def __init__(self, path: Path, *, tool: str, secrets: Iterable[str] = ()) -> None:
        self.path = path
        self._others = secrets
        self._tool = tool
        self._header: CassetteHeader | None = None
        self._exchanges: list[Exchange] = []
        self._secrets: set[Secret] = set()
        self._begun = 0
        self._writing = threading.Lock()

    @property
    def use(self) -> TapeUse:
        count = len(self._exchanges)
        return TapeUse(mode="record", path=self.path, requests=count, held=count)

    @classmethod
    def create(cls, path: Path, secrets: Iterable[str] = ()) -> Recorder:
        """A recorder for a new file or an older cassette; raises ConfigError for any other."""
        if path.exists():
            read_cassette(path)
        if not path.parent.is_dir():
            raise ConfigError(f"No folder {str(path.parent)!r}", hint="make it, then record again")
        return cls(path, tool=f"octo_lab {version('octo_lab')}", secrets=secrets)

    def number(self) -> int:
        """The place of the request that is about to be sent."""
        self._begun += 1
        return self._begun

    def begin(
        self,
        *,
        order: int,
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
        path = urlsplit(url).path
        asked = comparable(body, path)
        return Exchange(
            order=order,
            path=path,
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
            self._exchanges.sort(key=lambda kept: kept.order)
            self._write()

    def _write(self) -> None:
        text = json.dumps(self._document(), indent=1, ensure_ascii=True)
        new = self.path.with_name(f"{self.path.name}.new")
        new.write_text(self._scrubbed(text) + "\n", encoding="utf-8")
        new.replace(self.path)

    def _scrubbed(self, text: str) -> str:
        """Without keys, in any form in which a server may repeat them."""
        for secret in self._secrets:
            key = secret.reveal()
            coded = base64.b64encode(key.encode()).decode().rstrip("=")
            for form in (key, quote(key, safe=""), json.dumps(key)[1:-1], coded):
                text = text.replace(form, "[key]")
        return redactor(tuple(self._others), shapes=False)(KEYS.sub("[key]", text))

    def _document(self) -> Json:
        header = self._header
        assert header is not None
        head = {name: getattr(header, name) for name in CassetteHeader.__dataclass_fields__}
        exchanges = [self._exchange_json(exchange) for exchange in self._exchanges]
        return {"octo_cassette": FORMAT, "header": head, "exchanges": exchanges}

    def _exchange_json(self, exchange: Exchange) -> Json:
        """The body is cut behind its events, wherever the network cut it: equal traffic is an
        equal file, and no key hides in a seam.
        """
        body = b"".join(exchange.parts).decode("utf-8", "surrogateescape")
        keys = (secret.reveal() for secret in self._secrets)
        events = [part for part in _EVENT_END.split(self._scrubbed(body)) if part]
        data: Json = {
            "path": exchange.path,
            "digest": exchange.digest,
            "asked": exchange.asked,
            "status": exchange.status,
            "headers": exchange.headers,
            "parts": scrub(events, Redactor((*keys, *self._others))),
        }
        return {**data, "cut": True} if exchange.cut else data


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
        self._used: dict[tuple[str, str], Exchange] = {}

    @property
    def use(self) -> TapeUse:
        count = self._answered
        return TapeUse(mode="replay", path=self._path, requests=count, held=self._held)

    def answer(self, path: str, body: bytes) -> Exchange:
        """Raises CassetteMismatch, which shows how the request differs from the next one."""
        asked = comparable(body, path)
        wanted = place_of(path), digest(asked)
        fitting = (one for one in self._unused if (place_of(one.path), one.digest) == wanted)
        found = next(fitting, None)
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
        if document["octo_cassette"] not in (1, FORMAT):
            raise ConfigError(f"{str(path)!r} is a cassette of another version", hint="record anew")
        header: Json = {"dialect": "chat"} if document["octo_cassette"] == 1 else {}
        return Cassette(
            header=_checked_header(CassetteHeader(**header, **document["header"])),
            exchanges=tuple(_exchange(one) for one in document["exchanges"]),
        )
    except OSError as exc:
        raise ConfigError(f"Cannot read the cassette {str(path)!r}: {exc.strerror}") from exc
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
        hint = "cassettes are made by %octo_record"
        raise ConfigError(f"{str(path)!r} is no cassette", hint=hint) from exc


def _header(tool: str, provider: str, model: str, url: str) -> CassetteHeader:
    return CassetteHeader(
        tool=tool,
        recorded=utc_now().date().isoformat(),
        provider=provider,
        model=model,
        host=_host_kind(urlsplit(url).hostname or ""),
        dialect=dialect_of(urlsplit(url).path),
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


def _checked_header(header: CassetteHeader) -> CassetteHeader:
    told = [getattr(header, name) for name in CassetteHeader.__dataclass_fields__]
    if not all(isinstance(value, str) for value in told):
        raise TypeError("a header holds texts")
    return header


def _exchange(data: Json) -> Exchange:
    """Raises TypeError for what only an edited file holds."""
    texts = [data["path"], data["digest"], *data["headers"], *data["headers"].values()]
    if not all(isinstance(text, str) for text in texts) or type(data["status"]) is not int:
        raise TypeError("an exchange of another form")
    return Exchange(
        path=data["path"],
        asked=data["asked"],
        digest=data["digest"],
        status=data["status"],
        headers=data["headers"],
        parts=[part.encode("utf-8", "surrogateescape") for part in data["parts"]],
        cut=data.get("cut", False),
    )


def _diff(recorded: Json, asked: Json) -> str:
    before, after = (
        json.dumps(side, indent=1, ensure_ascii=False).splitlines() for side in (recorded, asked)
    )
    lines = list(difflib.unified_diff(before, after, "recorded", "asked", n=1, lineterm=""))
    shown = [line if len(line) <= 160 else line[:159] + "…" for line in lines[:MAX_DIFF_LINES]]
    return "\n".join(shown + (["…"] if len(lines) > MAX_DIFF_LINES else []))
