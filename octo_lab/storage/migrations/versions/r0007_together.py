"""Turns run beside another and answer several messages; dialogs hold what is to be told next."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
_RUNNING = sa.text("state = 'running'")


def upgrade() -> None:
    for table, name in (("turns", "side"), ("turns", "also"), ("sessions", "remark")):
        op.add_column(table, sa.Column(name, sa.Text, nullable=False, server_default=""))
    op.drop_index("one_running_turn", "turns")
    op.create_index(
        "one_running_turn",
        "turns",
        ["session_id", "side"],
        unique=True,
        sqlite_where=_RUNNING,
        postgresql_where=_RUNNING,
    )
