"""Scopes: nested, undone on every way out, right across tasks, and not carried to threads."""

import asyncio
import contextvars
import threading

import pytest

import rlx
from rlx.device import DeviceSpec
from rlx.errors import InvalidDevice, SettingError
from rlx.settings import NO_SCOPE, current_scope, stamp

CUDA, CPU = (DeviceSpec("cuda"),), (DeviceSpec("cpu"),)


def test_a_scope_holds_inside_its_block_only():
    with rlx.use("CUDA"):
        assert current_scope().devices == CUDA
    assert current_scope() is NO_SCOPE


def test_a_scope_is_undone_when_an_exception_leaves_it():
    with pytest.raises(ZeroDivisionError), rlx.use("cpu"), rlx.use("cuda"):
        raise ZeroDivisionError
    assert current_scope() is NO_SCOPE


def test_an_inner_device_replaces_an_outer_backend():
    with rlx.use(backend="numpy"), rlx.use("cuda"):
        assert (current_scope().devices, current_scope().backend) == (CUDA, None)


def test_what_an_inner_scope_does_not_name_stays_and_requirements_add_up():
    outer = rlx.use("cpu", precision="f16", require=["strings"])
    with outer, rlx.use(require="deterministic", kernel_dispatch="native"):
        scope = current_scope()
    assert (scope.devices, scope.precision, scope.kernel_dispatch) == (CPU, "f16", "native")
    assert scope.require == ("strings", "deterministic")


def test_one_scope_may_be_entered_again_and_inside_itself():
    scope = rlx.use("cuda")
    for _ in range(2):
        with scope:
            with scope:
                assert current_scope().devices == CUDA
            assert current_scope().devices == CUDA
    assert current_scope() is NO_SCOPE


def test_asyncio_tasks_have_scopes_of_their_own():
    shared = rlx.use("cuda")

    async def task(scope, started, go):
        with scope:
            started.set()
            await go.wait()
            return current_scope().devices

    async def main():
        with rlx.use("cpu"):
            marks = [asyncio.Event() for _ in range(3)]
            ways = [
                asyncio.create_task(task(shared, marks[0], marks[2])),
                asyncio.create_task(task(rlx.use(precision="f16"), marks[1], marks[2])),
            ]
            await marks[0].wait()
            await marks[1].wait()
            assert current_scope().devices == CPU
            marks[2].set()
            return await asyncio.gather(*ways)

    assert asyncio.run(main()) == [CUDA, CPU]
    assert current_scope() is NO_SCOPE


def test_a_cancelled_task_leaves_its_scope():
    async def main():
        async def wait():
            with rlx.use("cuda"):
                await asyncio.sleep(60)

        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return current_scope()

    assert asyncio.run(main()) is NO_SCOPE


def test_a_new_thread_has_no_scope_unless_it_is_carried():
    seen = []
    with rlx.use("cuda"):
        carried = contextvars.copy_context()
        targets = [
            lambda: seen.append(current_scope().devices),
            lambda: carried.run(lambda: seen.append(current_scope().devices)),
        ]
        for target in targets:
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
    assert seen == [(), CUDA]


def test_leaving_in_another_order_is_an_error():
    outer, inner = rlx.use("cuda"), rlx.use("cpu")

    def crossed():
        outer.__enter__()
        inner.__enter__()
        outer.__exit__(None, None, None)

    with pytest.raises(SettingError) as caught:
        contextvars.copy_context().run(crossed)
    assert str(caught.value) == (
        "rlx.use(...): this scope is not the innermost one here, so it cannot be left. "
        "Fix: enter and leave a scope in the same task or thread, the innermost first."
    )


def test_auto_and_none_ask_for_nothing():
    with rlx.use("cuda"), rlx.use("auto", backend="auto"), rlx.use(None):
        assert current_scope().devices == CUDA


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"device": "cuda:x"},
            InvalidDevice,
            "the device 'cuda:x' has the index 'x', which is not a number. "
            "Fix: write cuda for any, or cuda:0 for the first.",
        ),
        (
            {"device": 1},
            InvalidDevice,
            "a device must be text, a DeviceSpec or a list of them, got 1. "
            "Fix: write a device as name or name:index, such as cuda or cuda:1.",
        ),
        (
            {"device": []},
            InvalidDevice,
            "the device list is empty. Fix: name a device, or pass None for any.",
        ),
        (
            {"device": ["cpu", DeviceSpec("cpu")]},
            InvalidDevice,
            "the device list names cpu twice. Fix: name each device once.",
        ),
        (
            {"device": DeviceSpec("cuda", -1)},
            InvalidDevice,
            "the device 'cuda:-1' has the index '-1', which is negative. "
            "Fix: write cuda for any, or an index from 0.",
        ),
        (
            {"backend": 3},
            SettingError,
            "rlx.use(...): a backend must be an id, got 3. "
            "Fix: name one, such as numpy; `rlx backends` lists them.",
        ),
        (
            {"require": [1]},
            SettingError,
            "rlx.use(...): require must be a list of capability names, got [1]. "
            "Fix: pass names, such as ['deterministic'].",
        ),
        (
            {"precision": "fp32"},
            SettingError,
            "rlx.use(...): unknown value 'fp32', allowed: f32, f16, bf16. Fix: did you mean f32?",
        ),
        (
            {"kernel_dispatch": True},
            SettingError,
            "rlx.use(...): unknown value True, allowed: native, prefer-native, common. "
            "Fix: write one of: native, prefer-native, common.",
        ),
    ],
)
def test_a_wrong_argument_is_refused_when_the_scope_is_made(arguments, error, message):
    with pytest.raises(error) as caught:
        rlx.use(**arguments)
    assert str(caught.value) == message


def test_the_stamp_changes_with_scope_and_environment_and_comes_back(monkeypatch):
    before = stamp()
    with rlx.use("cuda"):
        inside = stamp()
    with rlx.use("cuda"):
        assert stamp() == inside != before
    monkeypatch.setenv("RLX_BACKEND", "numpy")
    assert stamp() != before
    monkeypatch.delenv("RLX_BACKEND")
    assert stamp() == before
    assert hash(inside) != hash(before)
