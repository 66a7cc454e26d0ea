"""What every backend promises beside right answers: each broken promise is named."""

import numpy as np
import pytest

from rlx.backends.protocol import Backend, Executable
from rlx.session import compiling, opening
from rlx.testing.promises import members
from tests.testing.conftest import Fake


class Writes(Fake):
    def compute(self, operation, inputs):
        made = super().compute(operation, inputs)
        if inputs[0].flags.writeable:
            inputs[0][...] = 0
        return made


class Views(Fake):
    def finish(self, outputs, inputs):
        if inputs[0].flags.writeable:
            inputs[0][...] = outputs[0] if inputs[0].shape == outputs[0].shape else 0
            return [inputs[0]]
        return outputs


class Reuses(Fake):
    kept = {}  # noqa: RUF012 - that is what is wrong with it

    def finish(self, outputs, inputs):
        key = (outputs[0].shape, outputs[0].dtype.str)
        kept = self.kept.setdefault(key, np.empty_like(outputs[0]))
        kept[...] = outputs[0]
        return [kept]


class Closes(Fake):
    def close(self):
        super().close()
        if self.closed > 1:
            raise OSError("closed already")


class Precise(Fake):
    def compile(self, program, options):
        if options.precision == "f16":
            raise ValueError("what is f16?")
        return super().compile(program, options)


class Nameless(Fake):
    version = ""


class Narrow(Fake):
    def compile(self, program, options, extra="x"):
        return super().compile(program, options)

    def close(self, *, now=True):
        super().close()


@pytest.mark.parametrize(
    ("kind", "promise"),
    [
        (Writes, "test_add: run writes to input 0"),
        (Views, "test_relu: output 0 is a view of input 0"),
        (Reuses, "test_relu: a later run writes to the outputs of an earlier one"),
        (Closes, "backend.close raises when it is called again: OSError: closed already"),
        (
            Precise,
            "compile in f16 must raise PrecisionError, got ValueError: what is f16?",
        ),
        (Nameless, "backend.version must be text, got ''"),
    ],
)
def test_a_broken_promise_is_named(check, kind, promise):
    report = check(kind)
    assert promise in report.broken
    assert not report.passed


def test_other_promises_are_kept(check):
    assert check(Narrow).broken == ()


def test_inputs_with_other_strides_must_give_the_same_answer(check):
    class Packed(Fake):
        def compute(self, operation, inputs):
            if not inputs[0].flags.c_contiguous:
                inputs = [np.zeros_like(x) for x in inputs]
            return super().compute(operation, inputs)

    broken = check(Packed).broken
    assert broken
    assert all("inputs with other strides give another answer: output 0" in one for one in broken)


def test_the_promises_are_the_protocols_members():
    assert sorted(members(Backend)) == sorted(opening.MEMBERS)
    assert sorted(members(Executable)) == sorted(compiling.MEMBERS)
