"""The variables that are documented are those that are read, and one module reads them."""

import re
from pathlib import Path

import rlx
from rlx.settings import VARIABLES

SOURCES = {
    path: path.read_text(encoding="utf-8") for path in Path(rlx.__file__).parent.rglob("*.py")
}


def test_every_variable_that_the_code_names_is_in_the_table():
    named = {
        name for text in SOURCES.values() for name in re.findall(r"\bRLX_[A-Z_]*[A-Z]\b", text)
    }
    examples = {"RLX_TEST_REQUIRE", "RLX_FAVOURITE"}  # the latter shows what an unknown one gives
    assert named - examples == {variable.name for variable in VARIABLES}


def test_only_one_module_reads_them():
    reads = re.compile(r"""(environb?(\.get)?|getenv)[(\[]\s*b?["']RLX_""")
    assert [path.name for path, text in SOURCES.items() if reads.search(text)] == []
    readers = [p.name for p, text in SOURCES.items() if "os.environ" in text and "_NAMES" in text]
    assert readers == ["reading.py"]


def test_every_variable_says_what_it_means():
    for variable in VARIABLES:
        assert variable.meaning
        assert not variable.meaning.endswith(".")
        assert str(variable.origin) == variable.name
