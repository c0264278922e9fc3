"""The dialects of the protocol server, one file each."""
