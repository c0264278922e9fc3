"""Run modes: the gateway in a notebook, in a process, under papermill."""
