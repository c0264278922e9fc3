"""Programs that go on running between calls: written to, read from, ended with their owner."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import anyio
from anyio.abc import TaskGroup

from octo_lab.core.errors import ToolFailed
from octo_lab.security.private_names import PrivateNames
from octo_lab.tools.exec_env import ExecEnvironment, Execution, Lookout
from octo_lab.tools.sandbox.words import how_it_ended

log = logging.getLogger(__name__)

State = Literal["running", "ended"]
_ENDING = 5.0
_LOOK = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramBounds:
    """How many run at once, for one conversation and in all, and for how long unused, in seconds;
    ``output`` bytes that nobody has read yet are kept, the newest; ``kept`` ended ones are known.
    """

    each: int = 4
    all: int = 16
    idle: float = 1800.0
    longest: float = 6 * 3600.0
    output: int = 200_000
    kept: int = 8


class Typed:
    """What was written to a program and not taken yet. A Feed; ``most`` bytes wait."""

    def __init__(self, most: int = 1_000_000) -> None:
        self._lock = threading.Lock()
        self._pieces: deque[bytes] = deque()
        self._room = most
        self._closed = False

    def write(self, data: bytes) -> None:
        with self._lock:
            if self._closed:
                raise ToolFailed("Its input was closed", hint="start it anew")
            if len(data) > self._room:
                raise ToolFailed("The program does not read what was written so far")
            self._room -= len(data)
            self._pieces.append(data)

    def close(self) -> None:
        with self._lock:
            self._closed = True

    def take(self) -> bytes | None:
        with self._lock:
            if self._pieces:
                piece = self._pieces.popleft()
                self._room += len(piece)
                return piece
            return None if self._closed else b""


class Unread:
    """The newest output that nobody has read; what is pushed out is counted."""

    def __init__(self, limit: int) -> None:
        self._lock = threading.Lock()
        self._limit = limit
        self._data = bytearray()
        self._lost = 0

    def add(self, data: bytes) -> None:
        with self._lock:
            self._data += data
            excess = len(self._data) - self._limit
            if excess > 0:
                del self._data[:excess]
                self._lost += excess

    def take(self) -> bytes:
        with self._lock:
            data, lost = bytes(self._data), self._lost
            self._data.clear()
            self._lost = 0
        return f"[… {lost} bytes omitted …]\n".encode() + data if lost else data

    def __bool__(self) -> bool:
        return bool(self._data)


@dataclass(slots=True, kw_only=True)
class Program:
    """One of them; ``end`` says how it ended, once it has, ``opened`` what private it has read."""

    name: str
    command: str
    session: str
    typed: Typed
    unread: Unread
    used: float
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    ended: anyio.Event = field(default_factory=anyio.Event)
    end: str = ""
    private: PrivateNames = PrivateNames()
    opened: list[str] = field(default_factory=list)

    @property
    def state(self) -> State:
        return "ended" if self.ended.is_set() else "running"


class Programs:
    """Owns them: each is a task of ``tasks``, so that none outlives it."""

    def __init__(
        self,
        exec_env: ExecEnvironment,
        tasks: TaskGroup,
        bounds: ProgramBounds | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._exec = exec_env
        self._tasks = tasks
        self._bounds = bounds or ProgramBounds()
        self._clock = clock
        self._programs: dict[str, Program] = {}
        self._count = 0

    def of(self, session: str) -> list[Program]:
        """Those of one conversation, the oldest first."""
        return [program for program in self._programs.values() if program.session == session]

    def get(self, session: str, name: str) -> Program:
        """Using it keeps it alive; raises ToolFailed when there is no such."""
        program = self._programs.get(name)
        if program is None or program.session != session:
            known = ", ".join(program.name for program in self.of(session)) or "none"
            raise ToolFailed(f"No program {name!r} here", hint=f"known: {known}")
        program.used = self._clock()
        return program

    def start(
        self,
        session: str,
        command: str,
        argv: Sequence[str],
        folder: str,
        private: PrivateNames = PrivateNames(),
    ) -> Program:
        """Raises ToolFailed when too many run."""
        self._check_room(session)
        self._count += 1
        program = Program(
            name=f"p{self._count}",
            command=command,
            session=session,
            typed=Typed(),
            unread=Unread(self._bounds.output),
            used=self._clock(),
            private=private,
        )
        self._programs[program.name] = program
        self._tasks.start_soon(self._run, program, tuple(argv), folder)
        self._forget_oldest(session)
        return program

    async def read(self, program: Program, seconds: float) -> bytes:
        """New output: what there is, or what comes within so many seconds."""
        with anyio.move_on_after(seconds):
            while not program.unread and not program.ended.is_set():  # noqa: ASYNC110 - a thread's
                await anyio.sleep(_LOOK)
            await anyio.sleep(min(_LOOK, seconds))  # a line often comes in pieces
        return program.unread.take()

    async def end(self, program: Program) -> None:
        """Returns when it and all it started are gone."""
        program.scope.cancel()
        with anyio.move_on_after(_ENDING):
            await program.ended.wait()

    async def end_all(self, session: str) -> None:
        """End those of a conversation that is over, and forget them."""
        own = self.of(session)
        for program in own:
            program.scope.cancel()
        for program in own:
            await self.end(program)
            self._programs.pop(program.name, None)

    def _check_room(self, session: str) -> None:
        running = [one for one in self._programs.values() if one.state == "running"]
        own = [one for one in running if one.session == session]
        if len(own) >= self._bounds.each or len(running) >= self._bounds.all:
            names = ", ".join(one.name for one in own) or "those of other conversations"
            raise ToolFailed("Too many programs run already", hint=f"end one first: {names}")

    def _forget_oldest(self, session: str) -> None:
        ended = [one for one in self.of(session) if one.state == "ended"]
        for program in ended[: -self._bounds.kept]:
            del self._programs[program.name]

    async def _run(self, program: Program, argv: tuple[str, ...], folder: str) -> None:
        execution = Execution(
            argv=argv,
            folder=folder,
            timeout=self._bounds.longest,
            output=0,
            feed=program.typed,
            listen=program.unread.add,
            lookout=Lookout(names=program.private, opened=program.opened.append),
        )
        try:
            with program.scope:
                async with anyio.create_task_group() as watch:
                    watch.start_soon(self._expire, program)
                    program.end = await self._outcome(execution)
                    watch.cancel_scope.cancel()
        finally:
            program.end = program.end or "ended"
            program.ended.set()

    async def _outcome(self, execution: Execution) -> str:
        try:
            return how_it_ended(await self._exec.exec(execution))
        except ToolFailed as exc:
            return f"failed: {exc}"
        except Exception as exc:
            log.warning("A program could not be run", exc_info=exc)
            return f"failed: {type(exc).__name__}"

    async def _expire(self, program: Program) -> None:
        """End it when nobody has used it for long."""
        left = self._bounds.idle
        while left > 0:
            await anyio.sleep(left)
            left = program.used + self._bounds.idle - self._clock()
        program.end = f"ended: not used for {self._bounds.idle:g} s"
        program.scope.cancel()
