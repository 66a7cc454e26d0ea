"""Kernels by family; each module holds one table, `KERNELS`, from operation to builder."""
