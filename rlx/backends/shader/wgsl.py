"""Kernels in WGSL."""

from __future__ import annotations

from collections.abc import Iterator

from rlx.backends.shader.ir import (
    Assign,
    Atom,
    Barrier,
    If,
    Kernel,
    Let,
    Lit,
    Loop,
    Ref,
    Statement,
    Store,
    Var,
)

_TEXT = {
    "copy": "{0}",
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "rem": "{0} % {1}",
    "neg": "-{0}",
    "eq": "{0} == {1}",
    "ne": "{0} != {1}",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "gt": "{0} > {1}",
    "ge": "{0} >= {1}",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "xor": "{0} ^ {1}",
    "invert": "~{0}",
    "not": "!{0}",
    "shl": "{0} << {1}",
    "shr": "{0} >> {1}",
    "select": "select({2}, {1}, {0})",
    "fma": "fma({0}, {1}, {2})",
    "round": "round({0})",
    "load": "{target}[{0}]",
    "load_shared": "{target}[{0}]",
}
_BOOLEAN = {"xor": "{0} != {1}", "eq": "{0} == {1}"}
_FUNCTIONS = frozenset(
    {
        *("abs", "floor", "ceil", "trunc", "sqrt", "exp", "log", "exp2", "log2", "min", "max"),
        *("sin", "cos", "tan", "asin", "acos", "atan", "tanh", "inverseSqrt"),
    }
)


def literal(one: Lit) -> str:
    """A number as WGSL writes it; what has no literal comes from its bits."""
    if one.type == "bool":
        return "true" if one.value else "false"
    if one.type == "u32":
        return f"{one.value}u"
    if one.type == "i32":
        return f"{one.value}i" if one.value > -(1 << 31) else "bitcast<i32>(0x80000000u)"
    return f"special(0x{one.value:08x}u)" if is_odd(one.value) else f"{as_float(one.value)}f"


def is_odd(bits: int) -> bool:
    """True for NaN, infinities and subnormal numbers: no literal is sure to give them."""
    exponent = bits >> 23 & 0xFF
    return exponent == 0xFF or (exponent == 0 and bits & 0x7FFFFF != 0)


def as_float(bits: int) -> str:
    """A float32, by its bits, as the shortest decimal that gives it back."""
    import struct

    import numpy as np

    value = np.float32(struct.unpack("<f", struct.pack("<I", bits))[0])
    text = np.format_float_scientific(value, unique=True, trim="0")
    return text.replace("e+", "e")


def atom(one: Atom) -> str:
    """A name or a literal."""
    return one.name if isinstance(one, Ref) else literal(one)


def expression(let: Let) -> str:
    """What a value is computed as."""
    names = [atom(one) for one in let.args]
    if let.op == "cast":
        return f"{let.ref.type}({names[0]})"
    if let.op == "bits":
        return f"bitcast<{let.ref.type}>({names[0]})"
    if let.op in _FUNCTIONS:
        return f"{let.op}({', '.join(names)})"
    texts = _BOOLEAN if let.args[0].type == "bool" and let.op in _BOOLEAN else _TEXT
    return texts[let.op].format(*names, target=let.target)


def _lines(body: tuple[Statement, ...], depth: int) -> Iterator[str]:
    indent = "  " * depth
    for one in body:
        match one:
            case Let():
                yield f"{indent}let {one.ref.name} = {expression(one)};"
            case Var():
                yield f"{indent}var {one.ref.name}: {one.ref.type} = {atom(one.value)};"
            case Assign():
                yield f"{indent}{one.ref.name} = {atom(one.value)};"
            case Store():
                yield f"{indent}{one.target}[{atom(one.index)}] = {atom(one.value)};"
            case Barrier():
                yield f"{indent}workgroupBarrier();"
            case If():
                yield f"{indent}if ({atom(one.condition)}) {{"
                yield from _lines(one.body, depth + 1)
                yield f"{indent}}}"
            case Loop():
                name = one.ref.name
                yield (
                    f"{indent}for (var {name}: u32 = {atom(one.start)}; "
                    f"{name} < {atom(one.stop)}; {name} += {one.step}u) {{"
                )
                yield from _lines(one.body, depth + 1)
                yield f"{indent}}}"


def source(kernel: Kernel) -> str:
    """The whole shader; its entry point is `main`, its buffers are bound in order in group 0."""
    lines = []
    for place, buffer in enumerate(kernel.buffers):
        access = "read_write" if buffer.writable else "read"
        lines.append(
            f"@group(0) @binding({place}) var<storage, {access}> "
            f"{buffer.name}: array<{buffer.type}>;"
        )
    lines += [f"var<workgroup> {one.name}: array<{one.type}, {one.size}>;" for one in kernel.shared]
    body = list(_lines(kernel.body, 1))
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
