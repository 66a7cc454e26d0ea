"""Per operation, values that a person can check by hand; the oracle has no part in them."""
