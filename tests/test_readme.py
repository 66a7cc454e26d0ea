"""README's commands print what README shows, replayed in order in a copy of the checkout."""

import os
import re

import pytest

from tests import tour


@pytest.mark.skipif(os.name == "nt", reason="the tour is written for a POSIX shell")
@pytest.mark.needs("onnxruntime")
def test_the_tour_prints_what_it_shows(tmp_path):
    tour.clone(tmp_path)
    blocks = tour.CONSOLE.findall(tour.README.read_text("utf-8"))
    steps = [step for block in blocks for step in tour.steps(block)]
    assert len(steps) >= 12
    for command, expected in steps:
        printed = tour.settled(tour.shell(command, tmp_path))
        assert printed == tour.settled(expected), f"after: $ {command}"


def test_readme_shows_the_two_commands_first():
    text = tour.README.read_text("utf-8")
    first = re.search(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL).group(1)
    commands = [line.partition("#")[0].strip() for line in first.splitlines()]
    assert commands == ["make demo", "make test"]


def test_the_table_of_variables_is_the_one_that_is_read():
    text = tour.README.read_text("utf-8")
    assert text == tour.with_variables(text), "run `make generate`"
