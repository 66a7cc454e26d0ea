"""Kernels in GLSL 4.3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.backends.shader.printing import TEXT, ZERO, Printer, as_float, is_odd

if TYPE_CHECKING:
    from rlx.backends.shader.ir import Kernel, Lit, Ref

_TYPES = {
    **{"f32": "float", "i32": "int", "u32": "uint", "bool": "bool"},
    **{"f32x4": "vec4", "i32x4": "ivec4", "u32x4": "uvec4"},
}
_BITS = {
    ("f32", "u32"): "floatBitsToUint({0})",
    ("f32", "i32"): "floatBitsToInt({0})",
    ("u32", "f32"): "uintBitsToFloat({0})",
    ("i32", "f32"): "intBitsToFloat({0})",
    ("u32", "i32"): "int({0})",
    ("i32", "u32"): "uint({0})",
}
_TEXT = {
    **TEXT,
    "select": "{0} ? {1} : {2}",
    "round": "roundEven({0})",
    "inverseSqrt": "inversesqrt({0})",
}
_BOOLEAN = {"and": "{0} && {1}", "or": "{0} || {1}", "xor": "{0} != {1}"}


class _Glsl(Printer):
    texts, booleans = _TEXT, _BOOLEAN
    barrier = "memoryBarrierShared(); barrier();"

    def number(self, one: Lit) -> str:
        if one.type == "i32":
            return f"{one.value}" if one.value > -(1 << 31) else "int(0x80000000u)"
        # compilers take 0 times anything for 0, although they are told to be precise
        hidden = is_odd(one.value) or one.value & 0x7FFFFFFF == 0
        return self.secret(one.value) if hidden else as_float(one.value)

    def secret(self, bits: int) -> str:
        return f"uintBitsToFloat(0x{bits:08x}u | zero)"

    def type_name(self, type: str) -> str:
        return _TYPES[type]

    def bits(self, there: str, here: str, value: str) -> str:
        return _BITS[there, here].format(value)

    def named(self, ref: Ref, value: str, *, varies: bool) -> str:
        # precise: neither contracted nor reordered, and NaN and infinities are kept
        exact = "precise " if ref.type == "f32" and not varies else ""
        return f"{exact}{_TYPES[ref.type]} {ref.name} = {value};"

    def counter(self, name: str, start: str) -> str:
        return f"uint {name} = {start};"

    def source(self, kernel: Kernel) -> str:
        lines = ["#version 430", f"layout(local_size_x = {kernel.threads}) in;"]
        for place, buffer in enumerate(kernel.buffers):
            access = "" if buffer.writable else "readonly "
            lines.append(
                f"layout(std430, binding = {place}) {access}buffer B{place} "
                f"{{ {_TYPES[buffer.type]} {buffer.name}[]; }};"
            )
        lines += [f"shared {_TYPES[one.type]} {one.name}[{one.size}];" for one in kernel.shared]
        lines += [
            "void main() {",
            "  uint local = gl_LocalInvocationIndex;",
            *(f"  uint group_{axis} = gl_WorkGroupID.{axis};" for axis in "xyz"),
            f"  uint zero = {ZERO.format(x='gl_WorkGroupID.x')};",
            *self.lines(kernel.body),
            "}",
        ]
        return "\n".join(lines) + "\n"


def source(kernel: Kernel) -> str:
    """The whole shader; its buffers are bound in order."""
    return _Glsl().source(kernel)
