"""RNN, GRU and LSTM: one loop over time, with a cell for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rlx.backends.array.kernels.recurrent_activations import Activation, activations
from rlx.backends.array.kernels.widening import widened
from rlx.backends.array.site import Fresh

if TYPE_CHECKING:
    from rlx.backends.array.site import Builder, Kernel, Site

State = tuple[Any, ...]
MOST_UNROLLED = 8
"""How many steps are compiled one after the other, where a library compiles."""
Step = Callable[[Any, State], State]
"""(the step's x·Wᵀ + b, state) -> new state; the first of a state is the hidden state."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What makes a recurrent operation: its states, activations and step.

    `step(R, recurrent bias, peepholes, activations)` makes the step of one direction. A cell that
    adds both biases at the same place gets None for the second: it is in the first.
    """

    states: int
    defaults: tuple[str, ...]
    step: Callable[[Any, Any, Any, tuple[Activation, ...]], Step]
    one_bias: bool = True


def recurrent(site: Site, cell: Cell) -> Kernel:
    """Build the kernel of a recurrent operation from its cell."""
    xp, attributes = site.xp, site.attributes
    direction = attributes.get("direction", "forward")
    directions = 2 if direction == "bidirectional" else 1
    functions = activations(xp, attributes, cell.defaults, directions)
    batch_first = bool(attributes.get("layout", 0))

    def run(x: Any, w: Any, r: Any, b: Any = None, lens: Any = None, *rest: Any) -> Any:
        initial, peepholes = rest[: cell.states], (*rest, None, None, None)[cell.states]
        if batch_first:
            x = xp.permute_dims(x, (1, 0, 2))
        batch, hidden = x.shape[1], r.shape[-1]
        lens = None if lens is None else xp.astype(lens, xp.int64)
        results = []
        for d in range(directions):
            backwards = direction == "reverse" or d == 1
            start = [
                _start(xp, initial, i, d, (batch, hidden), x.dtype, batch_first)
                for i in range(cell.states)
            ]
            bias = _biases(b, d, together=cell.one_bias)
            step = cell.step(r[d, ...], bias[1], _direction(peepholes, d), functions[d])
            line = _flipped(xp, x, lens) if backwards else x
            given = xp.matmul(line, xp.matrix_transpose(w[d, ...]))
            if bias[0] is not None:
                given = given + bias[0]
            ys, last = _unroll(xp, given, tuple(start), step, lens)
            results.append((_flipped(xp, ys, lens) if backwards else ys, *last))
        y = _together(xp, [result[0] for result in results], axis=1)
        finals = [
            _together(xp, [result[i + 1] for result in results], axis=0) for i in range(cell.states)
        ]
        if batch_first:
            y = xp.permute_dims(y, (2, 0, 1, 3))
            finals = [xp.permute_dims(final, (1, 0, 2)) for final in finals]
        return (y, *finals)[: site.outputs] if site.outputs > 1 else y

    return Fresh(run)


def _together(xp: Any, parts: list[Any], axis: int) -> Any:
    """Stack the directions: of one, a view."""
    if len(parts) > 1:
        return xp.stack(parts, axis=axis)
    return parts[0][(*(slice(None),) * axis, None, ...)]


def _direction(operand: Any, d: int) -> Any:
    return None if operand is None else operand[d, ...]


def _biases(b: Any, d: int, *, together: bool) -> tuple[Any, Any]:
    """The biases of x·Wᵀ and of h·Rᵀ; or their sum, and None."""
    if b is None:
        return None, None
    half = b.shape[1] // 2
    first, second = b[d, :half], b[d, half:]
    return (first + second, None) if together else (first, second)


def _start(
    xp: Any, initial: State, index: int, d: int, shape: tuple[int, int], dtype: Any, first: bool
) -> Any:
    """The state before the first step."""
    given = initial[index] if index < len(initial) else None
    if given is None:
        return xp.zeros(shape, dtype=dtype)
    return given[:, d, :] if first else given[d, ...]


def _flipped(xp: Any, x: Any, lens: Any) -> Any:
    """(time, batch, …) turned around in time, each sequence within its own length."""
    if lens is None:
        return xp.flip(x, axis=0)
    step = xp.arange(x.shape[0], dtype=xp.int64)[:, None]
    order = xp.where(step < lens, lens - 1 - step, step)
    return x[order, xp.arange(x.shape[1], dtype=xp.int64)[None, :]]


def _unroll(xp: Any, given: Any, state: State, step: Step, lens: Any) -> tuple[Any, State]:
    """All steps: the hidden states (zero past a sequence's end), and the last states."""
    outputs = []
    if not given.shape[0]:
        own = tuple(xp.asarray(one, copy=True) for one in state)
        return xp.zeros((0, *state[0].shape), dtype=given.dtype), own
    if given.shape[0] > MOST_UNROLLED and hasattr(xp, "scan"):
        return _scanned(xp, given, state, step, lens)
    for t in range(given.shape[0]):
        new = step(given[t, ...], state)
        if lens is None:
            state = new
            outputs.append(state[0])
            continue
        alive = (lens > t)[:, None]
        state = tuple(xp.where(alive, n, old) for n, old in zip(new, state, strict=True))
        outputs.append(xp.where(alive, new[0], xp.zeros_like(new[0])))
    return xp.stack(outputs), state


def _scanned(xp: Any, given: Any, state: State, step: Step, lens: Any) -> tuple[Any, State]:
    """As `_unroll`, with one step that the library repeats: what it compiles stays short."""

    def advance(state: State, now: tuple[Any, Any]) -> tuple[State, Any]:
        t, x = now
        new = step(x, state)
        if lens is None:
            return new, new[0]
        alive = (lens > t)[:, None]
        kept = tuple(xp.where(alive, n, old) for n, old in zip(new, state, strict=True))
        return kept, xp.where(alive, new[0], xp.zeros_like(new[0]))

    last, outputs = xp.scan(advance, state, (xp.arange(given.shape[0]), given))
    return outputs, last


def _plus(x: Any, term: Any) -> Any:
    return x if term is None else x + term


def rnn(site: Site) -> Kernel:
    """Build RNN."""
    xp = site.xp

    def step(r: Any, _bias: Any, _peepholes: Any, functions: tuple[Activation, ...]) -> Step:
        turned = xp.matrix_transpose(r)
        return lambda x, state: (functions[0](x + xp.matmul(state[0], turned)),)

    return recurrent(site, Cell(1, ("Tanh",), step))


def gru(site: Site) -> Kernel:
    """Build GRU; the gates are update, reset, hidden."""
    xp = site.xp
    linear_before_reset = bool(site.attributes.get("linear_before_reset", 0))

    def step(r: Any, bias: Any, _peepholes: Any, functions: tuple[Activation, ...]) -> Step:
        n = r.shape[-1]
        gates, candidate = xp.matrix_transpose(r[: 2 * n, :]), xp.matrix_transpose(r[2 * n :, :])
        gates_bias = None if bias is None else bias[: 2 * n]
        candidate_bias = None if bias is None else bias[2 * n :]

        def advance(x: Any, state: State) -> State:
            h = state[0]
            both = functions[0](_plus(x[:, : 2 * n] + xp.matmul(h, gates), gates_bias))
            update, reset = both[:, :n], both[:, n:]
            if linear_before_reset:
                inner = reset * _plus(xp.matmul(h, candidate), candidate_bias)
            else:
                inner = _plus(xp.matmul(reset * h, candidate), candidate_bias)
            new = functions[1](x[:, 2 * n :] + inner)
            return ((1 - update) * new + update * h,)

        return advance

    return recurrent(site, Cell(1, ("Sigmoid", "Tanh"), step, one_bias=False))


def lstm(site: Site) -> Kernel:
    """Build LSTM; the gates are input, output, forget, cell, and the peepholes i, o, f."""
    xp = site.xp
    coupled = bool(site.attributes.get("input_forget", 0))

    def step(r: Any, _bias: Any, peepholes: Any, functions: tuple[Activation, ...]) -> Step:
        n = r.shape[-1]
        turned = xp.matrix_transpose(r)
        f, g, h = functions

        def advance(x: Any, state: State) -> State:
            hidden, cell = state
            gates = x + xp.matmul(hidden, turned)
            open_all = f(gates[:, : 3 * n])
            kept = 1 - open_all[:, :n] if coupled else open_all[:, 2 * n :]
            cell = kept * cell + open_all[:, :n] * g(gates[:, 3 * n :])
            return open_all[:, n : 2 * n] * h(cell, clipped=False), cell

        def advance_peeping(x: Any, state: State) -> State:
            hidden, cell = state
            gates = x + xp.matmul(hidden, turned)
            peep_i, peep_o, peep_f = (peepholes[k * n : (k + 1) * n] for k in range(3))
            at_i, at_o, at_f, at_c = (gates[:, k * n : (k + 1) * n] for k in range(4))
            opened = f(at_i + peep_i * cell)
            kept = 1 - opened if coupled else f(at_f + peep_f * cell)
            cell = kept * cell + opened * g(at_c)
            return f(at_o + peep_o * cell) * h(cell, clipped=False), cell

        return advance if peepholes is None else advance_peeping

    return recurrent(site, Cell(2, ("Sigmoid", "Tanh", "Tanh"), step))


KERNELS: dict[str, Builder] = {"RNN": widened(rnn), "GRU": widened(gru), "LSTM": widened(lstm)}
