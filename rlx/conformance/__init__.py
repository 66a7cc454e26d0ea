"""Running claims against the oracle: what a backend can do, found by execution."""
