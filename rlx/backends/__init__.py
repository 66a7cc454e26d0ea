"""The engines, one module or folder each; nothing here is imported until a session opens it."""
