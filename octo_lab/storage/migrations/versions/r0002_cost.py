"""Turns keep what they cost, and the tokens that are priced apart."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_NEW = ("written_tokens", "reasoning_tokens", "priced")


def upgrade() -> None:
    for name in _NEW:
        op.add_column("turns", sa.Column(name, sa.BigInteger, nullable=False, server_default="0"))
    cost = sa.Column("cost", sa.Float(53), nullable=False, server_default="0")
    op.add_column("turns", cost)
