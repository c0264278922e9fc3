"""Models on this machine: servers found on loopback, and one started from a GGUF file."""
