"""No character of a manifest reaches a message, or a listing, unseen."""

import pytest

from rlx.cli.backends import provenance
from rlx.errors import ConfigError
from rlx.registries import freeze

UNSEEN = "\u202e\u200b\u2800"
SEEN = r"\u202e\u200b\u2800"
ROW = "backends: [{{id: a, device: cpu, coverage: {{rows: [{{operations: [Pad], {}}}]}}}}]"


@pytest.mark.parametrize(
    "body",
    [
        ROW.format(f'types: {{"{UNSEEN}": [a, a], T: ["{UNSEEN}", "{UNSEEN}"]}}'),
        ROW.format(f'types: {{T: [float32]}}, attributes: {{"{UNSEEN}": ["{UNSEEN}", 1]}}'),
        f'backends: [{{id: "{UNSEEN}", device: "{UNSEEN}", target: "{UNSEEN}"}}]',
        f'backends: [{{id: a, device: cpu, factory: "{UNSEEN}", capabilities: ["{UNSEEN}"]}}]',
        f'backends: [{{id: a, device: cpu, probes: [{{module: "{UNSEEN}"}}]}}]',
        f'routing: {{device: "{UNSEEN}", backend: "{UNSEEN}"}}',
        f'overrides: [{{id: "{UNSEEN}", options: {{"{UNSEEN}": 1}}}}]',
        f'devices: [{{id: "{UNSEEN}", name: q, aliases: ["{UNSEEN}"]}}]',
        f'capabilities: [{{id: "{UNSEEN}", description: q}}]',
    ],
)
@pytest.mark.parametrize("trusted", [True, False])
def test_every_fault_shows_what_it_names(base, manifest, body, trusted):
    with pytest.raises(ConfigError) as caught:
        freeze([manifest(body, trusted=trusted)], base=base)
    text = str(caught.value)
    assert not set(UNSEEN) & set(text)
    assert len(text.splitlines()) == len(caught.value.faults)


def test_a_key_in_a_fault_is_shown_by_its_escapes(faults, manifest):
    body = ROW.format(f'types: {{"{UNSEEN}": [float32, float32]}}')
    assert (
        f"backends.yaml:3:96: types.{SEEN} lists 'float32' twice, first at backends.yaml:3:87."
        " Fix: delete one of them."
    ) in faults(manifest(body))


def test_provenance_shows_the_names_of_options(base, manifest):
    body = f'overrides: [{{id: numpy, options: {{"{UNSEEN}": "{UNSEEN}"}}}}]'
    lines = provenance(freeze([manifest(body)], base=base).get("numpy"))
    (line,) = (line.split() for line in lines if SEEN in line)
    assert line == [f"options.{SEEN}", SEEN, "(backends.yaml:3:42)"]
