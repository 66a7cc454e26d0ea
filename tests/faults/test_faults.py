"""Every fault in every adapter: found, told with its cause, ended nowhere else, survived."""

import pytest

from tests.faults import page
from tests.faults.fakes import MARK

SAYS_WHY = ("import raises", "SystemExit on import", "kernels fail", "factory fails once")
CODES = {
    "library missing": {"unavailable"},
    "too old": {"unavailable"},
    "import raises": {"unavailable", "open-failed"},
    "import hangs": {"unavailable"},
    "SystemExit on import": {"unavailable", "open-failed"},
    "no device": {"unavailable"},
    "kernels fail": {"unavailable", "execution"},
    "factory fails once": {"open-failed"},
    "backend misspelt": {"unknown-backend"},
    "option misspelt": {"setting"},
    "out of memory at compile": {"execution"},
    "SIGSEGV": {"unavailable"},
}
NEEDS_THE_ENGINE = ("option misspelt",)


@pytest.fixture(scope="module")
def table():
    return page.measured()


@pytest.fixture(scope="module")
def cells(table):
    return [
        (row, fault, cell)
        for row, found in table.items()
        for fault, cell in found.items()
        if cell is not None
    ]


def test_every_adapter_is_there(table):
    from rlx.registries import Registry

    registry = Registry.load(only=True)
    modules = {registry.get(row).factory.partition(":")[0].split(".providers")[0] for row in table}
    for one in registry.registrations:
        if one.factory is not None and one.dispatches:
            assert one.factory.partition(":")[0].split(".providers")[0] in modules, one.id


def test_every_fault_ends_nowhere_and_has_its_code(cells):
    assert len(cells) > 60
    for row, fault, cell in cells:
        assert cell["ended"] is None, f"{row}: {fault}"
        assert cell["code"] in CODES[fault], f"{row}: {fault}: {cell}"


def test_the_first_cause_is_kept(cells):
    for row, fault, cell in cells:
        if fault in SAYS_WHY or fault == "out of memory at compile":
            assert MARK in cell["cause"], f"{row}: {fault}: {cell}"
        assert cell["cause"].strip(), f"{row}: {fault}"


def test_a_crash_and_a_hang_are_found_in_a_child(cells):
    for row, fault, cell in cells:
        if fault in ("SIGSEGV", "import hangs"):
            assert cell["by"] in ("probe", "live"), row
            assert ("crashed with SIGSEGV" in cell["cause"]) == (fault == "SIGSEGV"), (
                f"{row}: {cell}"
            )


def test_what_failed_once_works_when_it_is_asked_again(table):
    for row, found in table.items():
        assert found["factory fails once"]["then"] == "works", row


def test_the_page_says_what_was_measured(table):
    now, then = page.lines(table), page.shown()
    old = f"docs/faults.md is not what was measured. Fix: run `{page.COMMAND}`."
    assert list(now) == list(then), old
    for (row, fault), text in now.items():
        if table[row][fault] is None and fault in NEEDS_THE_ENGINE:
            continue  # its engine is not installed here
        assert text == then[row, fault], old
