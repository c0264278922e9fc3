"""The notebook face: kernel, magics, display and panels."""
