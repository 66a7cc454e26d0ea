"""How many kernels a program takes: chains, rows and tails are one each."""

import numpy as np
import pytest

import rlx.backends.shader.namespace as xp
from rlx.backends.shader import glsl, wgsl
from rlx.backends.shader.driver import Limits
from rlx.backends.shader.schedule import works
from rlx.backends.shader.tensor import Tensor


def limits(buffers=8):
    return Limits(
        threads=256,
        shared_bytes=1 << 15,
        buffers=buffers,
        binding_bytes=1 << 27,
        buffer_bytes=1 << 31,
        alignment=256,
    )


def memory(*shape):
    return Tensor.of_source(np.zeros(shape, np.float32))


def softmax(x):
    grown = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return grown / xp.sum(grown, axis=-1, keepdims=True)


def layer_norm(x):
    off = x - xp.sum(x, axis=-1, keepdims=True) / 64.0
    return off / xp.sqrt(xp.sum(off * off, axis=-1, keepdims=True) / 64.0 + 1e-5)


CASES = {
    "a chain of elements": (lambda x: xp.tanh(x * 2.0 + 1.0) / 3.0, 1),
    "movements": (lambda x: xp.permute_dims(x[:, ::2], (1, 0)) + 1.0, 1),
    "a softmax": (softmax, 1),
    "a normalisation": (layer_norm, 1),
    "a softmax of a normalisation": (lambda x: softmax(layer_norm(x)), 1),
    "a sum and what follows": (lambda x: xp.sqrt(xp.sum(x, axis=0) + 1.0), 1),
    "a product with bias and activation": (lambda x: xp.tanh(xp.matmul(x.T, x) + 1.0), 1),
    "two products": (lambda x: xp.matmul(xp.matmul(x.T, x), x.T), 2),
}


@pytest.mark.parametrize("name", CASES)
def test_a_program_takes_so_many_kernels(name):
    """Counted without a device."""
    make, count = CASES[name]
    assert len(works([make(memory(100, 64))], limits())) == count


def test_what_would_bind_too_many_buffers_goes_to_memory_first():
    """A sum of 20 arrays where a shader binds 8."""
    total = memory(4)
    for _ in range(19):
        total = total + memory(4)
    made = works([total], limits())
    assert len(made) > 1
    assert all(len(one.kernel.buffers) <= 8 for one in made)


def test_a_tail_that_would_bind_too_many_buffers_is_cut():
    """A product is written by itself then, and the rest is right."""
    total = xp.matmul(memory(8, 8), memory(8, 8))
    for _ in range(12):
        total = total + memory(8, 8)
    assert all(len(one.kernel.buffers) <= 4 for one in works([total], limits(4)))


WGSL = """\
@group(0) @binding(0) var<storage, read> in0: array<f32>;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
  let group_x = group.x;
  let group_y = group.y;
  let group_z = group.z;
  let zero = (group.x * (group.x + 1u)) & 1u;
  let turn = 0x80000000u | zero;
  let never = zero != 0u;
  let v1 = group_x * 64u;
  let v2 = v1 + local;
  let v3 = v2 < 3u;
  if (v3) {
    let v4 = in0[v2];
    let v5 = v4 + bitcast<f32>(0x3fc00000u | zero);
    result[v2] = v5;
  }
}
"""
GLSL = """\
#version 430
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer B0 { float in0[]; };
layout(std430, binding = 1) buffer B1 { float result[]; };
void main() {
  uint local = gl_LocalInvocationIndex;
  uint group_x = gl_WorkGroupID.x;
  uint group_y = gl_WorkGroupID.y;
  uint group_z = gl_WorkGroupID.z;
  uint zero = (gl_WorkGroupID.x * (gl_WorkGroupID.x + 1u)) & 1u;
  uint v1 = group_x * 64u;
  uint v2 = v1 + local;
  bool v3 = v2 < 3u;
  if (v3) {
    float v4 = in0[v2];
    precise float v5 = v4 + 1.5e00;
    result[v2] = v5;
  }
}
"""


@pytest.mark.parametrize(("printer", "text"), [(wgsl, WGSL), (glsl, GLSL)])
def test_a_kernel_is_printed_so(printer, text):
    """The same kernel in both languages, whole."""
    (work,) = works([memory(3) + 1.5], limits())
    found = printer.source(work.kernel)
    assert found.replace("precise float v4", "float v4") == text
