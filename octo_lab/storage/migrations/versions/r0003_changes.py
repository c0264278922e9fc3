"""What a turn changed in files is kept, to be shown and taken back."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("messages", sa.Column("diff", sa.Text, nullable=False, server_default=""))
    key = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.create_table(
        "file_changes",
        sa.Column("id", key, primary_key=True),
        sa.Column(
            "turn_id",
            sa.String(64),
            sa.ForeignKey("turns.id", ondelete="CASCADE"),
            nullable=False,
            index=True,
        ),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("before", sa.String(64), nullable=False, index=True),
        sa.Column("after", sa.String(64), nullable=False, index=True),
        sa.Column("mode", sa.Integer, nullable=False),
        sa.Column("made", sa.Integer, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("undone", sa.Boolean, nullable=False),
        sa.Column("what", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
