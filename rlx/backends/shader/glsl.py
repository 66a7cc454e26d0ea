"""Kernels in GLSL 4.3."""

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
from rlx.backends.shader.wgsl import as_float, is_odd

_TYPES = {"f32": "float", "i32": "int", "u32": "uint", "bool": "bool"}
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
    "select": "{0} ? {1} : {2}",
    "fma": "fma({0}, {1}, {2})",
    "round": "roundEven({0})",
    "inverseSqrt": "inversesqrt({0})",
    "load": "{target}[{0}]",
    "load_shared": "{target}[{0}]",
}
_BOOLEAN = {"and": "{0} && {1}", "or": "{0} || {1}", "xor": "{0} != {1}"}
_BITS = {
    ("f32", "u32"): "floatBitsToUint({0})",
    ("f32", "i32"): "floatBitsToInt({0})",
    ("u32", "f32"): "uintBitsToFloat({0})",
    ("i32", "f32"): "intBitsToFloat({0})",
    ("u32", "i32"): "int({0})",
    ("i32", "u32"): "uint({0})",
}


def literal(one: Lit) -> str:
    """A number as GLSL writes it; what has no literal comes from its bits."""
    if one.type == "bool":
        return "true" if one.value else "false"
    if one.type == "u32":
        return f"{one.value}u"
    if one.type == "i32":
        return f"{one.value}" if one.value > -(1 << 31) else "int(0x80000000u)"
    return f"uintBitsToFloat(0x{one.value:08x}u)" if is_odd(one.value) else as_float(one.value)


def atom(one: Atom) -> str:
    """A name or a literal."""
    return one.name if isinstance(one, Ref) else literal(one)


def expression(let: Let) -> str:
    """What a value is computed as."""
    names = [atom(one) for one in let.args]
    if let.op == "cast":
        return f"{_TYPES[let.ref.type]}({names[0]})"
    if let.op == "bits":
        return _BITS[let.args[0].type, let.ref.type].format(*names)
    if let.op not in _TEXT:
        return f"{let.op}({', '.join(names)})"
    texts = _BOOLEAN if let.args[0].type == "bool" and let.op in _BOOLEAN else _TEXT
    return texts[let.op].format(*names, target=let.target)


def _lines(body: tuple[Statement, ...], depth: int) -> Iterator[str]:
    indent = "  " * depth
    for one in body:
        match one:
            case Let():
                # precise: neither contracted nor reordered, and NaN and infinities are kept
                exact = "precise " if one.ref.type == "f32" else ""
                kind = _TYPES[one.ref.type]
                yield f"{indent}{exact}{kind} {one.ref.name} = {expression(one)};"
            case Var():
                yield f"{indent}{_TYPES[one.ref.type]} {one.ref.name} = {atom(one.value)};"
            case Assign():
                yield f"{indent}{one.ref.name} = {atom(one.value)};"
            case Store():
                yield f"{indent}{one.target}[{atom(one.index)}] = {atom(one.value)};"
            case Barrier():
                yield f"{indent}memoryBarrierShared(); barrier();"
            case If():
                yield f"{indent}if ({atom(one.condition)}) {{"
                yield from _lines(one.body, depth + 1)
                yield f"{indent}}}"
            case Loop():
                name = one.ref.name
                yield (
                    f"{indent}for (uint {name} = {atom(one.start)}; "
                    f"{name} < {atom(one.stop)}; {name} += {one.step}u) {{"
                )
                yield from _lines(one.body, depth + 1)
                yield f"{indent}}}"


def source(kernel: Kernel) -> str:
    """The whole shader; its buffers are bound in order."""
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
        *_lines(kernel.body, 1),
        "}",
    ]
    return "\n".join(lines) + "\n"
