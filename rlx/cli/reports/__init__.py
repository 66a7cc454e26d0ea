"""What `rlx validate` finds, and its forms: text with excerpts, JSON, GitHub, SARIF."""
