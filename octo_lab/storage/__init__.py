"""What is kept: one database, one writer, plain functions over a connection."""
