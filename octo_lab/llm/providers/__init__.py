"""One file per vendor: a wire format, or facts about one."""
