"""StableHLO: programs exported by jax for a device that need not be here, and run by jax there."""
