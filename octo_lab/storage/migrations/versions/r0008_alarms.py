"""Turns remember which texts in their conversation read like orders."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("turns", sa.Column("alarms", sa.Text, nullable=False, server_default=""))
