"""Where settings come from: files, environment, defaults."""
