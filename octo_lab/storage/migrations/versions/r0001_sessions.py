"""Sessions, their turns and messages, and the processes that run them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_ID = sa.String(64)


def upgrade() -> None:
    _turns()
    _messages()
    _sessions()
    _current_sessions()
    _owners()


def _turns() -> None:
    op.create_table(
        "turns",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("session_id", _ID, nullable=False),
        sa.Column("parent", _ID, sa.ForeignKey("turns.id")),
        sa.Column("depth", sa.Integer, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        *_texts("prompt", "slot", "message_id", "model", "provider"),
        sa.Column("input_tokens", sa.BigInteger, nullable=False),
        sa.Column("output_tokens", sa.BigInteger, nullable=False),
        sa.Column("cached_tokens", sa.BigInteger, nullable=False),
        sa.Column("requests", sa.BigInteger, nullable=False),
        *_texts("error", "hint", "partial"),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
        sa.Column("owner", _ID, nullable=False),
    )
    op.create_index("ix_turns_parent", "turns", ["parent"])
    running, slotted = sa.text("state = 'running'"), sa.text("slot <> ''")
    op.create_index(
        "one_running_turn",
        "turns",
        ["session_id"],
        unique=True,
        sqlite_where=running,
        postgresql_where=running,
    )
    op.create_index(
        "turns_by_slot", "turns", ["slot"], sqlite_where=slotted, postgresql_where=slotted
    )


def _messages() -> None:
    op.create_table(
        "messages",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("turn_id", _ID, sa.ForeignKey("turns.id", ondelete="CASCADE"), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        *_texts("content", "reasoning", "media", "tool_calls", "tool_call_id", "tool_name"),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("seconds", sa.Float),
        *_texts("provider_state"),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_messages_turn_id", "messages", ["turn_id"])


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", _ID, primary_key=True),
        *_texts("profile", "channel", "chat_id", "title", "workspace"),
        sa.Column("head", _ID, sa.ForeignKey("turns.id")),
        sa.Column("cursor", _ID, sa.ForeignKey("turns.id")),
        sa.Column("archived", sa.Boolean, nullable=False),
        sa.Column("branch_of", _ID, sa.ForeignKey("sessions.id")),
        sa.Column("model", sa.Text),
        sa.Column("turns", sa.Integer, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_sessions_branch_of", "sessions", ["branch_of"])
    op.create_index("ix_sessions_head", "sessions", ["head"])
    op.create_index("ix_sessions_cursor", "sessions", ["cursor"])
    op.create_index("sessions_of_chat", "sessions", ["profile", "channel", "chat_id", "updated_at"])


def _current_sessions() -> None:
    op.create_table(
        "current_sessions",
        sa.Column("profile", sa.Text, primary_key=True),
        sa.Column("channel", sa.Text, primary_key=True),
        sa.Column("chat_id", sa.Text, primary_key=True),
        sa.Column("workspace", sa.Text, primary_key=True),
        sa.Column(
            "session_id", _ID, sa.ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False
        ),
    )
    op.create_index("current_by_session", "current_sessions", ["session_id"])


def _owners() -> None:
    op.create_table(
        "owners",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("pid", sa.Integer, nullable=False),
        sa.Column("process_started", sa.Float(53), nullable=False),
        *_texts("boot_id", "host"),
        sa.Column("heartbeat_at", sa.BigInteger, nullable=False),
    )


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text, nullable=False) for name in names]
