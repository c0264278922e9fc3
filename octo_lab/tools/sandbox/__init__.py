"""Walls around the programs that tools run: built as argument lists, chosen by trying."""
