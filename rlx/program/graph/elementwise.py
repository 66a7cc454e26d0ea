"""A graph's operations on each element: arithmetic, activations, comparisons, selection, casts."""

from __future__ import annotations

from typing import Any

from rlx.errors import GraphError
from rlx.program.graph import names
from rlx.program.graph.nodes import Nodes
from rlx.program.graph.operands import NodeId, Operand, broadcast


class Elementwise(Nodes):
    """Operands broadcast as NumPy's do; their dtypes must be equal, since nothing is cast."""

    def binary(self, op: str, lhs: int, rhs: int) -> NodeId:
        """`op` of two nodes: add, sub, mul, div, max, min or pow; also `+`, `-`, `*`, `/`.

        Shapes broadcast to the result's. Any dtype but bool (pow: f32 f16 bf16 f64 i32 i64);
        integers divide toward zero.

        Raises:
            GraphError: an unknown `op`, unequal dtypes, or shapes that do not broadcast.
        """
        operation = names.look_up("binary", "op", op, names.BINARY)
        return self._two("binary", operation, ("lhs", lhs), ("rhs", rhs))

    def add(self, a: int, b: int) -> NodeId:
        """a + b; shapes broadcast, dtypes are equal and not bool.

        Raises:
            GraphError: unequal dtypes, or shapes that do not broadcast.
        """
        return self._two("add", "Add", ("a", a), ("b", b))

    def sub(self, a: int, b: int) -> NodeId:
        """a - b; as `add`."""
        return self._two("sub", "Sub", ("a", a), ("b", b))

    def mul(self, a: int, b: int) -> NodeId:
        """a · b; as `add`."""
        return self._two("mul", "Mul", ("a", a), ("b", b))

    def div(self, a: int, b: int) -> NodeId:
        """a / b; as `add`. Integers divide toward zero."""
        return self._two("div", "Div", ("a", a), ("b", b))

    def compare(self, op: str, lhs: int, rhs: int) -> NodeId:
        """A bool node: eq, ne, lt, le, gt or ge of two nodes; also `==`, `!=`, `<` and so on.

        Shapes broadcast to the result's; dtypes are equal, bool for eq and ne only.

        Raises:
            GraphError: an unknown `op`, unequal dtypes, or shapes that do not broadcast.
        """
        operation = names.look_up("compare", "op", op, names.COMPARISONS)
        if operation != "NotEqual":
            return self._two("compare", operation, ("lhs", lhs), ("rhs", rhs))
        equal = self._of(self._two("compare", "Equal", ("lhs", lhs), ("rhs", rhs)))
        return self._emit("compare", "Not", equal)

    def eq_(self, a: int, b: int) -> NodeId:
        """A bool node: a == b; as `compare`."""
        return self._two("eq_", "Equal", ("a", a), ("b", b))

    def lt_(self, a: int, b: int) -> NodeId:
        """A bool node: a < b; as `compare`."""
        return self._two("lt_", "Less", ("a", a), ("b", b))

    def where_(self, cond: int, a: int, b: int) -> NodeId:
        """Elements of `a` where `cond` (bool) is true, else of `b`; the three shapes broadcast.

        Raises:
            GraphError: `cond` is not bool, unequal dtypes, or shapes that do not broadcast.
        """
        given = (("cond", cond), ("a", a), ("b", b))
        operands = tuple(self._operand("where_", argument, one) for argument, one in given)
        _check_broadcast("where_", operands)
        return self._emit("where_", "Where", *operands)

    def activation(self, kind: str, input: int) -> NodeId:
        """A function of each element, of the same shape and dtype.

        `kind` is gelu (with the error function), gelu_approx (with tanh), silu, relu, sigmoid,
        tanh, exp, log, sqrt, rsqrt (1/√x), neg, abs, sin, cos, tan, atan, or round (halves to
        even). f32 f16 bf16 f64; neg, abs and relu take signed integers too.

        Raises:
            GraphError: an unknown `kind`, or a dtype that it does not take.
        """
        names.look_up("activation", "kind", kind, names.ACTIVATIONS)
        return self._activate("activation", kind.strip().lower(), "input", input)

    def gelu(self, x: int) -> NodeId:
        """x·Φ(x), with Φ the normal distribution's (the error function); f32 f16 bf16 f64.

        Raises:
            GraphError: another dtype.
        """
        return self._activate("gelu", "gelu", "x", x)

    def silu(self, x: int) -> NodeId:
        """x·sigmoid(x); dtypes as `gelu`."""
        return self._activate("silu", "silu", "x", x)

    def relu(self, x: int) -> NodeId:
        """max(x, 0); f32 f16 bf16 f64 i8 i16 i32 i64."""
        return self._activate("relu", "relu", "x", x)

    def exp(self, x: int) -> NodeId:
        """e to the power of x; dtypes as `gelu`."""
        return self._activate("exp", "exp", "x", x)

    def sqrt(self, x: int) -> NodeId:
        """√x; dtypes as `gelu`."""
        return self._activate("sqrt", "sqrt", "x", x)

    def neg(self, x: int) -> NodeId:
        """-x; f32 f16 bf16 f64 i8 i16 i32 i64."""
        return self._activate("neg", "neg", "x", x)

    def tanh(self, x: int) -> NodeId:
        """The hyperbolic tangent; dtypes as `gelu`."""
        return self._activate("tanh", "tanh", "x", x)

    def cast(self, x: int, to: str) -> NodeId:
        """The same values in the dtype `to`: f32 f16 bf16 f64 i8 u8 i16 i32 u32 i64 bool.

        Raises:
            GraphError: there is no such dtype.
        """
        operand = self._operand("cast", "x", x)
        return self._emit("cast", "Cast", operand, to=names.dtype_number("cast", to, "dtype"))

    def _two(
        self, method: str, operation: str, one: tuple[str, Any], other: tuple[str, Any]
    ) -> NodeId:
        operands = self._operand(method, *one), self._operand(method, *other)
        _check_broadcast(method, operands)
        return self._emit(method, operation, *operands)

    def _activate(self, method: str, kind: str, argument: str, value: Any) -> NodeId:
        operand = self._operand(method, argument, value)
        attributes = {"approximate": "tanh"} if kind == "gelu_approx" else {}
        first, *rest = names.ACTIVATIONS[kind]
        made = self._emit(method, first, operand, **attributes)
        for operation in rest:
            inputs = (operand, self._of(made)) if operation == "Mul" else (self._of(made),)
            made = self._emit(method, operation, *inputs)
        return made


def _check_broadcast(method: str, operands: tuple[Operand, ...]) -> None:
    known = [one.dims for one in operands if one.dims is not None]
    if not broadcast(known):
        given = (
            " and ".join(map(str, operands))
            if len(operands) == 2
            else ", ".join(map(str, operands))
        )
        raise GraphError(f"{method}: {given}, their shapes do not broadcast")
