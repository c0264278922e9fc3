"""Run modes without a person at the notebook: papermill and the gateway."""
