"""A MIL program as the files of a package, the same bytes each time, and back into a folder."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import uuid
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlx.backends.coreml.boundary import KEY
from rlx.backends.coreml.library import import_library
from rlx.errors import ContractError, CorruptArtifact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rlx.backends.ports import Ports

DATA = "com.apple.CoreML"
MANIFEST, MODEL, WEIGHTS = "manifest.json", "model.mlmodel", "weight.bin"
LAYOUT = {
    MANIFEST: "Manifest.json",
    MODEL: f"Data/{DATA}/model.mlmodel",
    WEIGHTS: f"Data/{DATA}/weights/weight.bin",
}
"""Where each part of a payload lies in the package; the parts of an artifact have flat names."""
DATED = "com.github.apple.coremltools.conversion_date"
ITEMS = (
    ("model.mlmodel", "CoreML Model Specification", f"{DATA}/model.mlmodel"),
    ("weights", "CoreML Model Weights", f"{DATA}/weights"),
)


def parts_of(mil: Any, ports: Ports, *, half: bool = False) -> dict[str, bytes]:
    """The parts of the package that coremltools' backend makes of a MIL program.

    Its own passes run, which fuse operations; with `half` one of them rounds the floats
    to float16. Names, dates and identifiers that differ from run to run are made the same.
    """
    library = import_library()
    with tempfile.TemporaryDirectory(prefix="rlx-") as folder, _quietly():
        package = Path(folder, "model.mlpackage")
        model = library.convert(
            mil,
            source="milinternal",
            convert_to="mlprogram",
            compute_precision=library.precision.FLOAT16 if half else library.precision.FLOAT32,
            minimum_deployment_target=library.target.iOS17,
            skip_model_load=True,
            package_dir=str(package),
        )
        weights = package / LAYOUT[WEIGHTS]
        parts = {WEIGHTS: weights.read_bytes()} if weights.is_file() else {}
    spec = model.get_spec()
    _check_names(spec.description, ports)
    steady(spec)
    spec.description.metadata.userDefined[KEY] = ports.to_bytes().decode()
    parts[MODEL] = spec.SerializeToString(deterministic=True)
    parts[MANIFEST] = manifest(WEIGHTS in parts)
    return parts


def _check_names(description: Any, ports: Ports) -> None:
    """See that coremltools has every input and output under its name.

    Raises:
        ContractError: it lost one.
    """
    for side, given in (("input", ports.inputs), ("output", ports.outputs)):
        wanted = [f"{side}_{at}" for at in range(len(given))]
        found = sorted((one.name for one in getattr(description, side)), key=_numbered)
        if found != wanted:
            raise ContractError(
                f"coremltools made the {side}s {', '.join(found)} of {', '.join(wanted)}",
                fix="report this to the authors of rlx, with the program.",
            )


def _numbered(name: str) -> tuple[int, str]:
    return len(name), name


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Without progress bars, and without warnings of a folder that is cleaned up late."""
    with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def steady(spec: Any) -> None:
    """Take the date out of a specification, and number its values in their order."""
    spec.description.metadata.userDefined.pop(DATED, None)
    for at in _dates(spec.mlProgram.attributes):
        del spec.mlProgram.attributes["buildInfo"].immediateValue.dictionary.values[at]
    for function in spec.mlProgram.functions.values():
        names = {value.name: value.name for value in function.inputs}
        for block in function.block_specializations.values():
            _number(block, names, set(names) | set(block.outputs))
            block.outputs[:] = [names[name] for name in block.outputs]


def _dates(attributes: Mapping[str, Any]) -> list[int]:
    """The places of dates among the build's facts, the last first."""
    if "buildInfo" not in attributes:
        return []
    values = attributes["buildInfo"].immediateValue.dictionary.values
    keys = [one.key.immediateValue.tensor.strings.values for one in values]
    return [at for at, key in reversed(list(enumerate(keys))) if list(key) == [DATED]]


def _number(block: Any, names: dict[str, str], fixed: Iterable[str]) -> None:
    """Rename what the block makes: `v0`, `v1` …; its inputs and outputs keep their names."""
    for number, operation in enumerate(block.operations):
        if operation.blocks:
            raise NotImplementedError("a MIL operation with blocks, which rlx does not emit")
        for bound in operation.inputs.values():
            for argument in bound.arguments:
                if argument.WhichOneof("binding") == "name":
                    argument.name = names[argument.name]
        for place, made in enumerate(operation.outputs):
            if made.name not in fixed:
                names[made.name] = f"v{number}_{place}" if place else f"v{number}"
            else:
                names[made.name] = made.name
            made.name = names[made.name]
        name = operation.attributes["name"].immediateValue.tensor.strings.values
        name[:] = [operation.outputs[0].name]


def manifest(weighted: bool) -> bytes:
    """The package's list of its items, by identifiers that are made of their paths."""
    items = ITEMS if weighted else ITEMS[:1]
    entries = {
        _identifier(path): {
            "author": DATA,
            "description": description,
            "name": name,
            "path": path,
        }
        for name, description, path in items
    }
    whole = {
        "fileFormatVersion": "1.0.0",
        "itemInfoEntries": entries,
        "rootModelIdentifier": _identifier(ITEMS[0][2]),
    }
    return json.dumps(whole, indent=4, sort_keys=True).encode() + b"\n"


def _identifier(path: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, path))


def unpack(parts: Iterable[tuple[str, bytes]], folder: Path) -> Path:
    """Write the parts of a payload as a package into a folder; its path.

    Raises:
        CorruptArtifact: a part is missing, or is none of a package.
    """
    held = dict(parts)
    if not {MANIFEST, MODEL} <= held.keys() <= LAYOUT.keys():
        raise CorruptArtifact(
            f"an mlpackage has the parts {', '.join(LAYOUT)}, got {', '.join(sorted(held))}"
        )
    package = folder / "model.mlpackage"
    for name, data in held.items():
        path = package / LAYOUT[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return package
