"""Random programs of operations that may be lowered, with graphs within and foreign operations."""

import random

UNARY = (
    *("Abs", "Neg", "Relu", "Elu", "Celu", "Selu", "HardSwish", "Swish", "Mish", "Gelu"),
    *("LeakyRelu", "Softsign", "HardSigmoid", "ThresholdedRelu", "Shrink", "Softmax"),
    *("LogSoftmax", "Tanh", "acme.Deep", "acme.Scaled"),
)
BINARY = ("Add", "Sub", "Mul", "PRelu", "Max")
COMPARING = ("GreaterOrEqual", "LessOrEqual", "Less")
REDUCING = ("ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceSum")
PRIMITIVES = (
    *("Abs", "Neg", "Add", "Sub", "Mul", "Div", "Exp", "Log", "Max", "Min", "Pow", "Sqrt", "Tanh"),
    *("Erf", "Sigmoid", "Cast", "CastLike", "Constant", "Identity", "Where", "Less", "Greater"),
    *("Equal", "Or", "And", "Not", "ReduceSum", "ReduceMax", "ReduceMean", "Reciprocal", "Shape"),
    *("Size", "Slice", "Gather", "Reshape", "Unsqueeze", "Squeeze", "Concat", "Flatten", "If"),
    *("ConstantOfShape", "Expand", "Loop", "SequenceAt", "SequenceInsert", "SequenceEmpty"),
    *("SequenceLength", "ConcatFromSequence", "SplitToSequence", "MatMul", "Clip"),
)


class Lines:
    """Writes the lines of one graph: every value is float[2,3]."""

    def __init__(self, chosen: random.Random, names: list[str], prefix: str):
        self.chosen, self.names, self.prefix = chosen, names, prefix
        self.lines: list[str] = []

    def value(self) -> str:
        return self.chosen.choice(self.names)

    def fresh(self) -> str:
        return f"{self.prefix}{len(self.lines)}"

    def add(self, depth: int) -> None:
        """One more value, of a random kind."""
        pick, name = self.chosen.random(), self.fresh()
        if pick < 0.55:
            self.lines.append(f"{name} = {self.chosen.choice(UNARY)} ({self.value()})")
        elif pick < 0.7:
            operation = self.chosen.choice(BINARY)
            self.lines.append(f"{name} = {operation} ({self.value()}, {self.value()})")
        elif pick < 0.78:
            operation = self.chosen.choice(COMPARING)
            self.lines.append(f"{name}c = {operation} ({self.value()}, {self.value()})")
            self.lines.append(f"{name} = Where ({name}c, {self.value()}, {self.value()})")
        elif pick < 0.86:
            operation = self.chosen.choice(REDUCING)
            self.lines.append(f"{name}r = {operation} ({self.value()}, axes)")
            self.lines.append(f"{name} = Add ({name}r, {self.value()})")
        elif pick < 0.92:
            self.lines.append(f"{name} = acme.SwiGLU ({self.value()}, square, square)")
        elif depth < 2:
            branches = []
            for key in ("then_branch", "else_branch"):
                inner = Lines(self.chosen, list(self.names), f"{name}{key[0]}_")
                for _ in range(self.chosen.randint(1, 2)):
                    inner.add(depth + 1)
                body = "\n".join(inner.lines)
                last = inner.names[-1]
                branches.append(f"{key} = {name}{key[0]} () => ({last}) {{ {body} }}")
            self.lines.append(f"{name} = If (flag) <{', '.join(branches)}>")
        else:
            self.lines.append(f"{name} = Identity ({self.value()})")
        self.names.append(name)


def lines(seed: int) -> list[str]:
    """The lines of a program whose result is `y`."""
    chosen = random.Random(seed)
    graph = Lines(chosen, ["x"], "v")
    for _ in range(chosen.randint(1, 6)):
        graph.add(0)
    return [*graph.lines, f"y = Identity ({graph.names[-1]})"]


INPUTS = "float[2,3] x, float[3,3] square, bool flag, int64[1] axes"
