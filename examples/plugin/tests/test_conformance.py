"""What the backend claims is true: on ONNX's cases and variants of them, against the oracle."""

from rlx.testing import check_backend


def test_acme_does_what_it_claims():
    check_backend("acme").require()
