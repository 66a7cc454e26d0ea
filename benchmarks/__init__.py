"""Measurements of what rlx costs, side by side with the alternative in one run."""
