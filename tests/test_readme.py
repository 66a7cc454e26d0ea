"""README shows the two commands first, and the variables that are read."""

import re

from tests import tour


def test_readme_shows_the_two_commands_first():
    text = tour.README.read_text("utf-8")
    first = re.search(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL).group(1)
    commands = [line.partition("#")[0].strip() for line in first.splitlines()]
    assert commands == ["make demo", "make test"]


def test_readme_has_a_tour():
    blocks = tour.CONSOLE.findall(tour.README.read_text("utf-8"))
    assert sum(len(tour.steps(block)) for block in blocks) >= 12


def test_the_table_of_variables_is_the_one_that_is_read():
    text = tour.README.read_text("utf-8")
    assert text == tour.with_variables(text), "run `make generate`"
