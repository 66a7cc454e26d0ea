"""Arrays that are not what they seem: read as what they mean, or refused by name."""

import numpy as np
import onnx.parser
import pytest

import rlx
from rlx.errors import InputError
from tests.backends.libraries import EVERY, cases, own, session_on

X = np.arange(6, dtype=np.float32).reshape(2, 3)
PROGRAM = """
<ir_version: 10, opset_import: ["" : 21]>
p (float[N, 3] x) => (float[N, 3] y, float[N, 3] z) { y = Neg (x)  z = Identity (x) }
"""


@pytest.fixture(params=EVERY)
def model(request):
    program = rlx.load(onnx.parser.parse_model(PROGRAM))
    with session_on(request.param, program) as session, session.compile(program) as compiled:
        yield compiled


def check(model, given, meant=X):
    for native in (False, True):
        y, z = model(given, native=native)
        np.testing.assert_array_equal(np.asarray(y), -meant)
        np.testing.assert_array_equal(np.asarray(z), meant)


class Custom(np.ndarray):
    """An array that computes nothing."""

    def __array_ufunc__(self, *_, **__):
        raise RuntimeError("not here")

    __array_function__ = __array_ufunc__


@pytest.mark.parametrize(
    "given",
    [
        X.view(Custom),
        X[::-1, ::-1].copy()[::-1, ::-1],
        np.asfortranarray(X),
        np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(np.float32).reshape(2, 3),
        np.arange(24, dtype=np.float32).reshape(4, 6)[::2, ::2],
        np.broadcast_to(np.float32(3), (2, 3)),
        X[:0],
    ],
    ids=["subclass", "negative", "fortran", "unaligned", "strided", "broadcast", "empty"],
)
def test_any_layout_and_any_subclass_is_read(model, given):
    check(model, given, np.array(given.view(np.ndarray)))


def test_a_mask_is_never_ignored(model):
    for native in (False, True):
        with pytest.raises(InputError) as caught:
            model(np.ma.masked_array(X, X > 2), native=native)
        assert str(caught.value) == (
            "p: input 'x' is a masked array, whose mask would be ignored. "
            "Fix: pass x.filled(value)."
        )


@pytest.mark.needs("torch")
def test_a_tensor_that_is_negated_by_a_bit_is_read_as_negated(model):
    """DLPack hands over the memory, which holds the other sign, without a word."""
    import torch

    view = torch._neg_view(torch.from_numpy(X.copy()))
    check(model, view, -X)
    check(model, torch.complex(torch.zeros(2, 3), torch.from_numpy(X.copy())).conj().imag, -X)


@pytest.mark.needs("torch")
def test_a_tensor_that_requires_gradients_is_refused(model):
    """By every backend, PyTorch's own among them, as PyTorch's `numpy()` refuses it."""
    import torch

    for given in (torch.nn.Parameter(own("torch", X)), own("torch", X).requires_grad_() * 1):
        with pytest.raises(InputError) as caught:
            model(given)
        assert str(caught.value) == (
            f"p: input 'x' is a {type(given).__name__} that requires gradients, "
            "and what is computed here has none. Fix: pass x.detach()."
        )
    check(model, given.detach())


@pytest.mark.parametrize("name", cases("jax"))
def test_an_array_that_is_gone_or_traced_is_refused(name):
    import jax

    program = rlx.load(onnx.parser.parse_model(PROGRAM))
    gone = own(name, X) + 0
    gone.delete()
    with session_on(name, program) as session, session.compile(program) as model:
        with pytest.raises(InputError, match="Array has been deleted"):
            model(gone)
        with pytest.raises(InputError, match="NumPy can't read"):
            jax.jit(lambda x: model(x, native=True))(own(name, X))
