"""Device specs: what is accepted, and the whole message for each way to be wrong."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.device import Device, DeviceSpec, unknown_device
from rlx.errors import InvalidDevice

SHAPE = "write a device as name or name:index, such as cuda or cuda:1."
NAME = "a name begins with a letter and has only a-z, 0-9 and single hyphens inside."
ANY = "write metal for any, or metal:0 for the first."

ACCEPTED = {
    "metal": ("metal", None),
    "METAL": ("metal", None),
    " metal ": ("metal", None),
    "\tmetal": ("metal", None),
    "metal:0": ("metal", 0),
    "Metal:65535": ("metal", 65535),
    "neural-engine:1": ("neural-engine", 1),
    "cuda0": ("cuda0", None),
}

REFUSED = {
    "metal:00": (
        "the device 'metal:00' has the index '00', which begins with a zero. "
        "Fix: write the index without it: metal:0."
    ),
    "metal:01": (
        "the device 'metal:01' has the index '01', which begins with a zero. "
        "Fix: write the index without it: metal:1."
    ),
    "metal:-1": (
        "the device 'metal:-1' has the index '-1', which is negative. "
        "Fix: write metal for any, or an index from 0."
    ),
    "metal:abc": f"the device 'metal:abc' has the index 'abc', which is not a number. Fix: {ANY}",
    "metal:+1": f"the device 'metal:+1' has the index '+1', which is not a number. Fix: {ANY}",
    "metal:1_0": f"the device 'metal:1_0' has the index '1_0', which is not a number. Fix: {ANY}",
    "metal:": f"the device 'metal:' has no index after ':'. Fix: {ANY}",
    ":0": "the device ':0' has no name before ':'. Fix: write the device's name too: cuda:0.",
    ":": "the device ':' has no name before ':'. Fix: write the device's name too: cuda:0.",
    "7": "the device '7' is only an index. Fix: write the device's name too: cuda:7.",
    "metal:0:0": "the device 'metal:0:0' has more than one ':'. Fix: write name:index: metal:0.",
    "cuda:cuda:0": "the device 'cuda:cuda:0' has more than one ':'. Fix: write name:index: cuda:0.",
    "metal:\u0663": (
        "the device 'metal:\u0663' has the index '\u0663', whose digits are not 0-9. "
        "Fix: write the index in the digits 0-9."
    ),
    "metal:\uff10": (
        "the device 'metal:\uff10' has the index '\uff10', whose digits are not 0-9. "
        "Fix: write the index in the digits 0-9."
    ),
    "metal:10000000000000000000000000000000": (
        "the device 'metal:10000000000000000000000000000000' has an index over 65535. "
        "Fix: write an index from 0 to 65535."
    ),
    "metal:65536": (
        "the device 'metal:65536' has an index over 65535. Fix: write an index from 0 to 65535."
    ),
    "cuda:2 cuda:3": (
        "the device 'cuda:2 cuda:3' holds a blank. "
        "Fix: write a comma between devices: cuda:2,cuda:3."
    ),
    "cuda 0": "the device 'cuda 0' holds a blank. Fix: write name:index: cuda:0.",
    "cuda: 0": "the device 'cuda: 0' holds a blank. Fix: leave it away: cuda:0.",
    '"cuda"': "the device '\"cuda\"' holds a quote. Fix: leave the quotes away: cuda.",
    "'cuda:1'": "the device \"'cuda:1'\" holds a quote. Fix: leave the quotes away: cuda:1.",
    "": f"the device '' is empty. Fix: {SHAPE}",
    "  ": f"the device '  ' is empty. Fix: {SHAPE}",
    "metal,cpu": (
        "the device 'metal,cpu' is a list, and one device is meant here. "
        "Fix: name one; RLX_DEVICE, --device and routing.device take a list."
    ),
    "me\0tal": f"the device 'me\\x00tal' holds a character that cannot be seen. Fix: {SHAPE}",
    "metal\n": f"the device 'metal\\n' holds a character that cannot be seen. Fix: {SHAPE}",
    "cuda\u200b": f"the device 'cuda\\u200b' holds a character that cannot be seen. Fix: {SHAPE}",
    "\u212auda": f"the device '\u212auda' has the name '\u212auda'. Fix: {NAME}",
    "cuda_0": f"the device 'cuda_0' has the name 'cuda_0'. Fix: {NAME}",
    "a--b": f"the device 'a--b' has the name 'a--b'. Fix: {NAME}",
    "-a": f"the device '-a' has the name '-a'. Fix: {NAME}",
    3: f"a device must be text, got 3. Fix: {SHAPE}",
    None: f"a device must be text, got None. Fix: {SHAPE}",
    b"cuda": f"a device must be text, got b'cuda'. Fix: {SHAPE}",
}

REFUSED_LISTS = {
    "metal,,cpu": (
        "the device list 'metal,,cpu' has an empty member. "
        "Fix: write one device between two commas, such as metal,cpu."
    ),
    "metal,": (
        "the device list 'metal,' has an empty member. "
        "Fix: write one device between two commas, such as metal,cpu."
    ),
    "metal, METAL": (
        "the device list 'metal, METAL' names metal twice. Fix: name each device once."
    ),
    "metal,cpu:x": (
        "the device 'cpu:x' has the index 'x', which is not a number. "
        "Fix: write cpu for any, or cpu:0 for the first."
    ),
    7: f"a device must be text, got 7. Fix: {SHAPE}",
}


@pytest.mark.parametrize(("text", "parts"), ACCEPTED.items())
def test_accepted(text, parts):
    assert DeviceSpec.parse(text) == DeviceSpec(*parts)


@pytest.mark.parametrize(("text", "message"), REFUSED.items())
def test_refused_with_what_is_wrong_and_what_to_write(text, message):
    with pytest.raises(InvalidDevice) as caught:
        DeviceSpec.parse(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(("text", "message"), REFUSED_LISTS.items())
def test_a_list_is_refused_as_a_whole(text, message):
    with pytest.raises(InvalidDevice) as caught:
        DeviceSpec.parse_request(text)
    assert str(caught.value) == message


def test_a_list_keeps_its_order_and_trims_its_members():
    specs = DeviceSpec.parse_request(" cuda:1 ,cuda, CPU")
    assert specs == (DeviceSpec("cuda", 1), DeviceSpec("cuda"), DeviceSpec("cpu"))


def test_a_long_text_is_cut_in_the_message():
    with pytest.raises(InvalidDevice) as caught:
        DeviceSpec.parse("-" * 10_000)
    assert len(str(caught.value)) < 400


names = st.from_regex(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", fullmatch=True)


@given(names, st.none() | st.integers(0, 65535))
@settings(deadline=None, max_examples=200)
def test_parsing_what_str_writes_gives_the_same(name, index):
    spec = DeviceSpec(name, index)
    assert DeviceSpec.parse(str(spec)) == spec
    assert DeviceSpec.parse(f" {str(spec).upper()} ") == spec


@given(st.text(alphabet="cuda:0123,-_ \"'\n\u0663CPU", max_size=12) | st.text(max_size=12))
@settings(deadline=None, max_examples=250)
def test_any_text_is_either_a_spec_of_the_grammar_or_refused(text):
    grammar = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*(:(0|[1-9][0-9]{0,4}))?", re.ASCII)
    bare = text.strip(" \t")
    held = bool(bare.isascii() and grammar.fullmatch(bare.lower()))
    held = held and int(bare.partition(":")[2] or 0) <= 65535
    if held:
        assert str(DeviceSpec.parse(text)) == bare.lower()
    else:
        with pytest.raises(InvalidDevice, match="Fix: "):
            DeviceSpec.parse(text)


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("cuda0", "did you mean cuda:0?"),
        ("nvidia12", "did you mean nvidia:12?"),
        ("cuad", "did you mean cuda?"),
        ("metall", "did you mean metal?"),
        ("cuda99999999", "name one of these, or declare the device in a manifest."),
        ("quantum", "name one of these, or declare the device in a manifest."),
    ],
)
def test_an_unknown_name_lists_the_known_ones_and_guesses(name, fix):
    known = [Device("metal", "Metal", ("mtl",)), Device("cuda", "CUDA", ("nvidia",))]
    message = f"no device is named '{name}'; known: cuda (nvidia), metal (mtl). Fix: {fix}"
    assert str(unknown_device(name, known)) == message


def test_a_backend_in_a_devices_place_is_told_apart():
    known = [Device("cpu", "CPU")]
    assert unknown_device("numpy", known, {"numpy"}).fix == (
        "it is a backend: ask for it by RLX_BACKEND, or by the backend argument."
    )
    assert unknown_device("numpy", known).fix == (
        "name one of these, or declare the device in a manifest."
    )
