"""Portable GPU backends: programs as compute shaders, written by one generator."""
