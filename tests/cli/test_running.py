"""`rlx run`, `explain` and `demo`: promises kept, reasons shown."""

import numpy as np
import pytest

from tests.cli.conftest import MLP, PROJECT

X = np.array([[1, 2], [3, -4]], np.float32)


def by_hand(x):
    w1 = np.array([[1, -1, 0.5], [2, 1, -0.5]], np.float32)
    hidden = np.maximum(x @ w1 + np.array([0, 0.5, 1], np.float32), 0)
    return hidden @ np.array([[1], [2], [-1]], np.float32)


@pytest.fixture
def x(tmp_path):
    np.save(tmp_path / "x.npy", X)
    return "x=x.npy"


@pytest.mark.parametrize("backend", ["numpy", "reference"])
def test_a_run_writes_what_the_program_gives(rlx, x, tmp_path, backend):
    done = rlx("run", MLP, "--input", x, "--backend", backend, "--output-dir", "out", "--json")
    assert done.code == 0
    assert done.json["route"]["backend"] == backend
    np.testing.assert_allclose(np.load(tmp_path / "out" / "y.npy"), by_hand(X), rtol=1e-6)


def test_a_request_is_a_promise_and_nothing_runs_elsewhere(rlx, x, monkeypatch, tmp_path):
    monkeypatch.setenv("RLX_DEVICE", "metal")
    done = rlx("run", MLP, "--input", x, "--output-dir", "out")
    assert done.code == 3
    assert done.out == ""
    lines = done.err.splitlines()
    assert lines[0].startswith("no backend can run mlp (4 nodes) on metal")
    assert lines[2:4] == [
        "  not-requested (metal was asked for by RLX_DEVICE): onnxruntime-cpu, numpy,",
        "    reference",
    ]
    assert not (tmp_path / "out").exists()


def test_fallback_exists_where_it_is_written(rlx, x, monkeypatch):
    monkeypatch.setenv("RLX_DEVICE", "metal,cpu")
    done = rlx("run", MLP, "--input", x)
    assert done.code == 0
    assert "(cpu:0)" in done.out.splitlines()[0]
    assert "metal" in done.out


def test_precedence_and_disable_change_the_route(rlx, monkeypatch):
    monkeypatch.setenv("RLX_PRECEDENCE", "numpy")
    assert rlx("explain", MLP, "--json").json["backend"] == "numpy"
    monkeypatch.setenv("RLX_DISABLE", "numpy,onnxruntime-cpu")
    done = rlx("explain", MLP)
    assert done.code == 3
    assert "disabled" in done.out


def test_a_projects_file_changes_the_route(rlx, manifest):
    assert rlx("explain", MLP, "--backend", "numpy").code == 0
    manifest("overrides: [{id: numpy, rank: 1}]")
    done = rlx("explain", MLP)
    assert "runs on numpy (cpu:0)\n  rank 1 (backends.yaml:3:31; was 200" in done.out


def test_verbosely_every_reason_has_a_line_with_its_place(rlx, x):
    default, whole = (rlx("explain", MLP, "--device", "cpu", *more).out for more in ((), ("-v",)))
    assert max(map(len, default.splitlines())) <= 80
    assert "not-reached: numpy, reference" in default
    assert [line.split()[:2] for line in whole.splitlines()[1:]] == [
        ["numpy", "not-reached"],
        ["reference", "not-reached"],
    ]
    refused = rlx("run", MLP, "--input", x, "--device", "metal", "-v").err
    assert refused.splitlines()[1].split()[:2] == ["onnxruntime-cpu", "not-requested"]


def test_a_terminal_is_never_too_narrow(rlx, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setattr("rlx.cli.routes.width", lambda _=None: 50)
    for more in ((), ("-v",), ("--all",), ("--nodes",)):
        for line in rlx("explain", MLP, "--device", "cpu", *more).out.splitlines():
            assert len(line) <= 50 or " " not in line.strip()


def test_explain_of_everything_also_judges_what_was_not_reached(rlx):
    verdicts = [one["verdict"] for one in rlx("explain", MLP, "--json").json["candidates"]]
    assert verdicts == ["selected", "not-reached", "not-reached"]
    *_, last = rlx("explain", MLP, "--all", "--json").json["candidates"]
    assert (last["verdict"], last["reasons"][0]["code"]) == ("rejected", "oracle")


def test_random_inputs_say_what_they_assumed(rlx):
    done = rlx("run", MLP, "--random", "--backend", "numpy")
    assert done.code == 0
    assert "note: batch=1 was assumed; --size batch=NUMBER changes it" in done.out
    sized = rlx("run", MLP, "--random", "--size", "batch=3", "--backend", "numpy", "--json")
    assert sized.json["outputs"][0]["shape"] == [3, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--input", "z=x.npy"], "mlp has no input 'z'. Fix: its inputs are: x."),
        (["--input", "x"], "--input 'x' is not NAME=FILE.npy. Fix: write --input x=x.npy."),
        (
            ["--input", "x=absent.npy"],
            "absent.npy can't be read as an array: No such file or directory.",
        ),
        (["--random", "--size", "n=2"], "no input has a size named n. Fix: see the sizes"),
        (["--random", "--size", "batch"], "--size 'batch' is not SYMBOL=N."),
        ([], "no value for input x. Fix: pass --input NAME=FILE.npy for each, or --random."),
    ],
)
def test_what_is_wrong_with_inputs_is_said(rlx, x, arguments, message):
    done = rlx("run", MLP, *arguments)
    assert done.code == 2
    assert message in done.err


def test_a_pickle_is_never_loaded(rlx, tmp_path):
    np.save(tmp_path / "x.npy", np.array([object()]), allow_pickle=True)
    done = rlx("run", MLP, "--input", "x=x.npy")
    assert done.code == 2
    assert "can't be read as an array" in done.err


def test_the_demo_agrees_with_the_stored_output(rlx):
    document = rlx("demo", "squeezenet", "--backend", "numpy", "--json").json
    assert document["agrees"] is True
    assert document["route"]["backend"] == "numpy"


def test_module_and_script_are_the_same_command():
    text = (PROJECT / "pyproject.toml").read_text("utf-8")
    assert 'rlx = "rlx.__main__:main"' in text


def test_inputs_drawn_at_random_are_named_as_a_cause(rlx, tmp_path):
    text = (
        '<ir_version: 8, opset_import: ["" : 17]> '
        "g (float[n] x, int64[k] i) => (float[k] y) { y = Gather(x, i) }"
    )
    (tmp_path / "g.onnxtxt").write_text(text, encoding="utf-8")
    done = rlx("run", "g.onnxtxt", "--random", "--size", "k=40", "--backend", "numpy")
    assert done.code == 1
    assert "Fix: the inputs were drawn at random, so an index among them may be" in done.err


def test_a_size_that_an_array_contradicts_is_refused(rlx, x):
    done = rlx("run", MLP, "--random", "--input", x, "--size", "batch=9")
    assert done.code == 2
    assert done.err == (
        "input 'x' has batch=2, --size says 9. Fix: drop --size, or pass another array.\n"
    )


def test_a_precision_that_the_engine_does_not_compute_in_is_refused_or_told(rlx, x):
    asked = ("run", MLP, "--input", x, "--backend", "numpy", "--precision", "f16")
    done = rlx(*asked)
    assert (done.code, done.out) == (3, "")
    assert "lacks computes_f16, which f16 takes where the program states" in done.err
    request = rlx(*asked, "--precision-policy", "allow", "--json").json["route"]["request"]
    assert (request["precision"], request["precision_policy"]) == ("f16", "allow")
    assert rlx("run", MLP, "--input", x, "--backend", "numpy", "--precision", "f32").code == 0


def test_a_precision_that_there_is_not_is_refused(rlx, x):
    done = rlx("run", MLP, "--input", x, "--precision", "f8")
    assert done.code == 2
    assert "'f8' is not one of 'f32', 'f16', 'bf16'" in done.err
