"""The tables. Every change here needs a new revision in ``migrations/versions``.

Turns form a tree through ``parent``; a session is a pointer (``head``) into it, as a git branch
is. A session with ``branch_of`` is an earlier version of that one, left behind by asking again.
At most one turn of a session runs at a time, but for those beside it, which have their own id
as ``side``: a unique index (``partial_indexes``) says so, and the running turns are the session's
lease.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
)

from octo_lab.storage.columns import Instant, Words

REVISION = "0008"

metadata = MetaData()
Id = String(64)

turns = Table(
    "turns",
    metadata,
    Column("id", Id, primary_key=True),
    Column("session_id", Id, nullable=False),
    Column("parent", Id, ForeignKey("turns.id"), index=True),
    Column("depth", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("prompt", Words, nullable=False),
    Column("slot", Words, nullable=False),
    Column("message_id", Words, nullable=False),
    Column("model", Words, nullable=False),
    Column("provider", Words, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("cached_tokens", BigInteger, nullable=False),
    Column("requests", BigInteger, nullable=False),
    Column("error", Words, nullable=False),
    Column("hint", Words, nullable=False),
    Column("partial", Words, nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("ended_at", Instant),
    Column("owner", Id, nullable=False),
    Column("written_tokens", BigInteger, nullable=False, server_default="0"),
    Column("reasoning_tokens", BigInteger, nullable=False, server_default="0"),
    Column("priced", BigInteger, nullable=False, server_default="0"),
    Column("cost", Float(53), nullable=False, server_default="0"),
    Column("taint", Words, nullable=False, server_default=""),
    Column("alarms", Words, nullable=False, server_default=""),
    Column("side", Words, nullable=False, server_default=""),
    Column("also", Words, nullable=False, server_default=""),
)
messages = Table(
    "messages",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("turn_id", Id, ForeignKey("turns.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("role", String(16), nullable=False),
    Column("content", Words, nullable=False),
    Column("reasoning", Words, nullable=False),
    Column("media", Words, nullable=False),
    Column("tool_calls", Words, nullable=False),
    Column("tool_call_id", Words, nullable=False),
    Column("tool_name", Words, nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("seconds", Float),
    Column("provider_state", Words, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("diff", Words, nullable=False, server_default=""),
    Column("origin", Words, nullable=False, server_default=""),
    sqlite_autoincrement=True,
)

file_changes = Table(
    "file_changes",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("turn_id", Id, ForeignKey("turns.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("path", Words, nullable=False),
    Column("before", String(64), nullable=False, index=True),
    Column("after", String(64), nullable=False, index=True),
    Column("mode", Integer, nullable=False),
    Column("made", Integer, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("undone", Boolean, nullable=False),
    Column("what", Words, nullable=False),
    sqlite_autoincrement=True,
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", Id, primary_key=True),
    Column("profile", Words, nullable=False),
    Column("channel", Words, nullable=False),
    Column("chat_id", Words, nullable=False),
    Column("title", Words, nullable=False),
    Column("workspace", Words, nullable=False),
    Column("head", Id, ForeignKey("turns.id"), index=True),
    Column("cursor", Id, ForeignKey("turns.id"), index=True),
    Column("archived", Boolean, nullable=False),
    Column("branch_of", Id, ForeignKey("sessions.id"), index=True),
    Column("model", Words),
    Column("turns", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("summary", BigInteger),
    Column("queue_mode", Words),
    Column("remark", Words, nullable=False, server_default=""),
    Index("sessions_of_chat", "profile", "channel", "chat_id", "updated_at"),
)

summaries = Table(
    "summaries",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("turn_id", Id, ForeignKey("turns.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("text", Words, nullable=False),
    Column("model", Words, nullable=False),
    Column("created_at", Instant, nullable=False),
    sqlite_autoincrement=True,
)

current_sessions = Table(
    "current_sessions",
    metadata,
    Column("profile", Words, primary_key=True),
    Column("channel", Words, primary_key=True),
    Column("chat_id", Words, primary_key=True),
    Column("workspace", Words, primary_key=True),
    Column("session_id", Id, ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False),
    Index("current_by_session", "session_id"),
)

owners = Table(
    "owners",
    metadata,
    Column("id", Id, primary_key=True),
    Column("pid", Integer, nullable=False),
    Column("process_started", Float(53), nullable=False),
    Column("boot_id", Words, nullable=False),
    Column("host", Words, nullable=False),
    Column("heartbeat_at", Instant, nullable=False),
)
