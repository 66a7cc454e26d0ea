"""Artifacts: what a target compiler made, in a checked envelope that another machine can load."""
