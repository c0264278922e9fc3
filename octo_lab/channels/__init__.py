"""Front ends that carry people's words: one file each."""
