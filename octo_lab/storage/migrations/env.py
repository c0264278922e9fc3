"""Run by Alembic: migrate over the connection, and in the transaction, of the caller."""

from __future__ import annotations

from alembic import context

from octo_lab.storage.partial_indexes import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
