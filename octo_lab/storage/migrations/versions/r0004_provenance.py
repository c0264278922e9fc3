"""Messages remember whose words they hold, turns that private data was seen."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    for table, name in (("messages", "origin"), ("turns", "taint")):
        op.add_column(table, sa.Column(name, sa.Text, nullable=False, server_default=""))
