"""A backend for rlx. Nothing here is imported before rlx opens the backend, or probes for it."""
