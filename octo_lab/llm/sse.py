"""Server-sent events by the WHATWG algorithm, without I/O: feed it bytes, take events out."""

from __future__ import annotations

from typing import NamedTuple

from octo_lab.core.errors import Unavailable

MAX_EVENT = 1_048_576
_BOM = b"\xef\xbb\xbf"


class ServerSentEvent(NamedTuple):
    """One event; ``id`` is the last id the stream named."""

    data: str
    event: str = "message"
    id: str = ""


class SSEDecoder:
    """Incremental decoder of a ``text/event-stream`` body, cut anywhere.

    ``feed`` costs time linear in what it is fed and holds at most one unfinished event of
    ``limit`` bytes; a longer one raises Unavailable. An event that no blank line ends is no
    event. ``retry`` is the last reconnection time the stream named, in milliseconds.
    """

    def __init__(self, *, limit: int = MAX_EVENT) -> None:
        self.retry: int | None = None
        self._limit = limit
        self._held: list[bytes] = []  # pieces of the unfinished line
        self._data: list[bytes] = []
        self._size = 0  # bytes in _held and _data
        self._name = ""
        self._id = ""
        self._begun = False
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """The events that this piece completes, in order."""
        # The usual case, one whole event of one data line, needs no state machine.
        if chunk[-2:] == b"\n\n" and self._at_start and len(chunk) <= self._limit:
            name, data = "message", b"\n"
            if chunk[:6] == b"data: ":
                data = chunk[6:-2]
            elif chunk[:7] == b"event: ":
                line, _, rest = chunk[7:-2].partition(b"\ndata: ")
                if rest and b"\r" not in line and b"\n" not in line:
                    name, data = _text(line) or name, rest
            if b"\n" not in data and b"\r" not in data:
                self._after_cr = False
                return [ServerSentEvent(_text(data), name, self._id)]
        return self._lines(chunk)

    @property
    def _at_start(self) -> bool:
        """Whether the next byte begins an event, and not the stream."""
        return self._begun and not self._size and not self._name

    def _lines(self, chunk: bytes) -> list[ServerSentEvent]:
        if self._after_cr and chunk[:1] == b"\n":
            chunk = chunk[1:]
            self._after_cr = False
        if not chunk:
            return []
        self._after_cr = chunk[-1:] == b"\r"
        events: list[ServerSentEvent] = []
        for line in chunk.splitlines(keepends=True):  # of bytes: splits at CR, LF, CRLF only
            if line[-1:] in (b"\n", b"\r"):
                event = self._line(self._whole(line.rstrip(b"\r\n")))
                if event is not None:
                    events.append(event)
            else:
                self._hold(line)
        return events

    def _whole(self, end: bytes) -> bytes:
        """The line that ``end`` completes."""
        line = end
        if self._held:
            self._size -= sum(map(len, self._held))
            line = b"".join([*self._held, end])
            self._held.clear()
        if self._begun:
            return line
        self._begun = True
        return line.removeprefix(_BOM)

    def _hold(self, piece: bytes) -> None:
        self._held.append(piece)
        self._grow(len(piece))

    def _line(self, line: bytes) -> ServerSentEvent | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                self._data.append(value)
                self._grow(len(value) + 1)
            case b"event":
                self._name = _text(value)
            case b"id" if b"\0" not in value:
                self._id = _text(value)
            case b"retry" if value.isdigit():
                self.retry = int(value[:9])
            case _:
                pass
        return None

    def _dispatch(self) -> ServerSentEvent | None:
        name, self._name = self._name or "message", ""
        if not self._data:
            return None
        data = _text(b"\n".join(self._data))
        self._data.clear()
        self._size = 0
        return ServerSentEvent(data, name, self._id)

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > self._limit:
            self._refuse()

    def _refuse(self) -> None:
        raise Unavailable(
            f"The stream holds an event of more than {self._limit} bytes",
            hint="the server does not speak server-sent events as it should",
        )


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
