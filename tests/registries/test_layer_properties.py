"""Layers of overrides, against a model of a few lines: the last layer that sets a value wins."""

from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.registries import freeze

IDS = ("numpy", "onnxruntime-cpu", "reference")
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "rank": st.integers(0, 4294967295),
        "enabled": st.booleans(),
        "options": st.dictionaries(
            st.sampled_from(["threads", "fast"]), st.integers(0, 9), min_size=1
        ),
    },
).filter(bool)
LAYERS = st.lists(st.dictionaries(st.sampled_from(IDS), CHANGES, min_size=1), max_size=4)


def text(layer):
    """The layer as YAML."""
    rows = []
    for backend, changes in layer.items():
        fields = [f"id: {backend}"]
        for key, value in changes.items():
            shown = str(value).lower().replace("'", "") if key != "rank" else str(value)
            fields.append(f"{key}: {shown}")
        rows.append(f"  - {{{', '.join(fields)}}}\n")
    return "overrides:\n" + "".join(rows)


@settings(deadline=None, max_examples=60)
@given(LAYERS)
def test_the_last_layer_that_sets_a_value_wins(base, manifest, layers):
    files = [manifest(text(layer), f"{i}.yaml", "argument") for i, layer in enumerate(layers)]
    registry = freeze(files, base=base)
    for backend in IDS:
        one, before = registry.get(backend), base.get(backend)
        set_here = [layer[backend] for layer in layers if backend in layer]
        ranks = [changes["rank"] for changes in set_here if "rank" in changes]
        assert [s.value for s in one.settings("rank")] == [before.rank, *ranks]
        assert one.rank == [before.rank, *ranks][-1]
        enabled = [changes["enabled"] for changes in set_here if "enabled" in changes]
        assert one.enabled == [True, *enabled][-1]
        options = dict(before.options)
        for changes in set_here:
            options |= changes.get("options", {})
        assert one.options == tuple(sorted(options.items()))


@settings(deadline=None, max_examples=30)
@given(LAYERS)
def test_freezing_at_once_or_layer_by_layer_is_the_same(base, manifest, layers):
    files = [manifest(text(layer), f"{i}.yaml", "argument") for i, layer in enumerate(layers)]
    at_once = freeze(files, base=base)
    stepwise = base
    for file in files:
        stepwise = freeze([file], base=stepwise)
    assert at_once.registrations == stepwise.registrations
    assert at_once.digest == stepwise.digest
    histories = [[one.history for one in made.registrations] for made in (at_once, stepwise)]
    assert histories[0] == histories[1]
