"""Kernels that jax has better ones of than the portable ones."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from rlx.backends.array import native_jax_convolution

if TYPE_CHECKING:
    from rlx.backends.array.site import Builder

OVERRIDES: Mapping[str, Builder] = MappingProxyType({**native_jax_convolution.OVERRIDES})
