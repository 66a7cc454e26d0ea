"""Kernels in WGSL.

WGSL has no way to ask for IEEE 754's arithmetic: compilers take x - x for 0 and (x + c) - c for x,
whatever NaN, infinities and rounding make of them. So they are kept from seeing that two operands
are one: the last operand of every operation of floats, and every known float, passes as an integer
through a bit that is 0, which no compiler knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.backends.shader.ir import Lit
from rlx.backends.shader.printing import TEXT, ZERO, Printer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rlx.backends.shader.ir import Kernel, Let, Ref


_TEXT = {
    **TEXT,
    "select": "select({2}, {1}, {0})",
    "round": "round({0})",
    "not": "{0} == never",
}
_FLOAT = {"sub": "{0} + {1}", "ne": "({0} == {1}) == never"}
"""Differences, whose second operand is turned; and `!=`, which some answer to NaN as `==`."""
_HIDDEN = {
    "zero": ZERO.format(x="group.x"),
    "turn": "0x80000000u | zero",
    "never": "zero != 0u",
}
"""What no compiler sees through, in the order of definition."""
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
        return self.secret(one.value)

    def secret(self, bits: int) -> str:
        return f"bitcast<f32>(0x{bits:08x}u | zero)"

    def arithmetic(self, let: Let, names: Sequence[str]) -> str:
        last = let.args[-1]
        how = "^ turn" if let.op == "sub" else "| zero"
        bits = f"0x{last.value:08x}u" if isinstance(last, Lit) else f"bitcast<u32>({names[-1]})"
        hidden = [*names[:-1], f"bitcast<f32>({bits} {how})"]
        text = _FLOAT.get(let.op)
        return super().arithmetic(let, hidden) if text is None else text.format(*hidden)

    def type_name(self, type: str) -> str:
        return f"vec4<{type.removesuffix('x4')}>" if type.endswith("x4") else type

    def bits(self, there: str, here: str, value: str) -> str:
        del there
        return f"bitcast<{here}>({value})"

    def named(self, ref: Ref, value: str, *, varies: bool) -> str:
        if not varies:
            return f"let {ref.name} = {value};"
        return f"var {ref.name}: {self.type_name(ref.type)} = {value};"

    def counter(self, name: str, start: str) -> str:
        return f"var {name}: u32 = {start};"

    def source(self, kernel: Kernel) -> str:
        lines = []
        for place, buffer in enumerate(kernel.buffers):
            access = "read_write" if buffer.writable else "read"
            lines.append(
                f"@group(0) @binding({place}) var<storage, {access}> "
                f"{buffer.name}: array<{self.type_name(buffer.type)}>;"
            )
        lines += [
            f"var<workgroup> {one.name}: array<{self.type_name(one.type)}, {one.size}>;"
            for one in kernel.shared
        ]
        body = list(self.lines(kernel.body))
        lines += [
            f"@compute @workgroup_size({kernel.threads})",
            "fn main(@builtin(workgroup_id) group: vec3<u32>,",
            "        @builtin(local_invocation_index) local: u32) {",
            *(f"  let group_{axis} = group.{axis};" for axis in "xyz"),
            *(f"  let {name} = {value};" for name, value in _HIDDEN.items()),
            *body,
            "}",
        ]
        return "\n".join(lines) + "\n"


def source(kernel: Kernel) -> str:
    """The whole shader; its entry point is `main`, its buffers are bound in order in group 0."""
    return _Wgsl().source(kernel)
