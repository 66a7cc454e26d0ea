"""Freezing: layers of manifests become the checked, immutable content of a registry."""
