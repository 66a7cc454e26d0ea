"""`rlx build --size`: an artifact of fixed sizes, of a program that leaves them open."""

OPEN = (
    '<ir_version: 10, opset_import: ["" : 21]> '
    "p (float[batch, 3] x) => (float[batch, 3] y) { y = Relu(x) }"
)
TARGET = ("--target", "onnxruntime-cpu")


def test_sizes_are_fixed(rlx, tmp_path):
    (tmp_path / "p.onnxtxt").write_text(OPEN, encoding="utf-8")
    done = rlx("build", "p.onnxtxt", *TARGET, "--size", "batch=8", "--json")
    assert done.code == 0
    assert [one["shape"] for side in ("inputs", "outputs") for one in done.json[side]] == [
        [8, 3],
        [8, 3],
    ]
    assert done.json["program"]["name"] == "p"


def test_a_size_that_no_input_has(rlx, tmp_path):
    (tmp_path / "p.onnxtxt").write_text(OPEN, encoding="utf-8")
    done = rlx("build", "p.onnxtxt", *TARGET, "--size", "n=8")
    assert (done.code, done.out) == (2, "")
    assert done.err == "no input has a size named n. Fix: the sizes left open are: batch.\n"


def test_what_is_no_size(rlx, tmp_path):
    (tmp_path / "p.onnxtxt").write_text(OPEN, encoding="utf-8")
    done = rlx("build", "p.onnxtxt", *TARGET, "--size", "batch=many")
    assert done.code == 2
    assert "--size 'batch=many' is not SYMBOL=N. Fix: write --size batch=8." in done.err
