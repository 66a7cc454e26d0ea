"""Kernels in WGSL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.backends.shader.printing import TEXT, Printer, as_float, is_odd

if TYPE_CHECKING:
    from rlx.backends.shader.ir import Kernel, Lit, Ref


_TEXT = {**TEXT, "select": "select({2}, {1}, {0})", "round": "round({0})"}
_BOOLEAN = {"xor": "{0} != {1}", "eq": "{0} == {1}"}


class _Wgsl(Printer):
    texts, booleans = _TEXT, _BOOLEAN
    functions = frozenset(
        {
            *("abs", "floor", "ceil", "trunc", "sqrt", "exp", "log", "exp2", "log2", "min", "max"),
            *("sin", "cos", "tan", "asin", "acos", "atan", "tanh", "inverseSqrt"),
        }
    )
    barrier = "workgroupBarrier();"

    def number(self, one: Lit) -> str:
        if one.type == "i32":
            return f"{one.value}i" if one.value > -(1 << 31) else "bitcast<i32>(0x80000000u)"
        odd = is_odd(one.value)
        return f"special(0x{one.value:08x}u)" if odd else f"{as_float(one.value)}f"

    def type_name(self, type: str) -> str:
        return type

    def bits(self, there: str, here: str, value: str) -> str:
        del there
        return f"bitcast<{here}>({value})"

    def named(self, ref: Ref, value: str, *, varies: bool) -> str:
        return f"var {ref.name}: {ref.type} = {value};" if varies else f"let {ref.name} = {value};"

    def counter(self, name: str, start: str) -> str:
        return f"var {name}: u32 = {start};"

    def source(self, kernel: Kernel) -> str:
        lines = []
        for place, buffer in enumerate(kernel.buffers):
            access = "read_write" if buffer.writable else "read"
            lines.append(
                f"@group(0) @binding({place}) var<storage, {access}> "
                f"{buffer.name}: array<{buffer.type}>;"
            )
        lines += [
            f"var<workgroup> {one.name}: array<{one.type}, {one.size}>;" for one in kernel.shared
        ]
        body = list(self.lines(kernel.body))
        if any("special(" in line for line in body):
            # a function of a private variable, so that no compiler sees the value and judges it
            lines += ["var<private> zero: u32 = 0u;"]
            lines += ["fn special(bits: u32) -> f32 { return bitcast<f32>(bits | zero); }"]
        lines += [
            f"@compute @workgroup_size({kernel.threads})",
            "fn main(@builtin(workgroup_id) group: vec3<u32>,",
            "        @builtin(local_invocation_index) local: u32) {",
            *(f"  let group_{axis} = group.{axis};" for axis in "xyz"),
            *body,
            "}",
        ]
        return "\n".join(lines) + "\n"


def source(kernel: Kernel) -> str:
    """The whole shader; its entry point is `main`, its buffers are bound in order in group 0."""
    return _Wgsl().source(kernel)
