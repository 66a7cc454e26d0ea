"""Manifests: YAML text to nodes with line and column, to checked models, to layers."""
