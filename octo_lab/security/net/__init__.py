"""The guarded way to the network: which addresses may be reached, and by whom."""
