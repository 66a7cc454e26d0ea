"""Hostile files: what they hold, how they are judged in a process of their own, and the table."""
