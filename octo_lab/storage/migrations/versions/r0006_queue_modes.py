"""Dialogs remember what becomes of messages that come while a turn runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("queue_mode", sa.Text))
