"""IREE: programs compiled to VM modules for CPUs and GPUs, and run by its small runtime."""
