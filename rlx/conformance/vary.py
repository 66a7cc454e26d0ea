"""New cases from old ones: the same node at other dtypes and other attribute values."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, defs, helper, shape_inference

from rlx.operations.generate import dtype_name
from rlx.program import CANONICAL_OPSET

Array = Any
DTYPE_ATTRIBUTES = ("to", "dtype", "output_dtype", "output_datatype")
"""Attributes that name the dtype of an output."""
COUNTS = frozenset({"group", "num_groups", "num_outputs", "hidden_size"})
"""Whole numbers that 0 or 1 would make senseless, unlike flags."""
MAX_TYPES = 700
"""At most this many combinations of dtypes are tried on one case; beyond, one variable moves."""


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """A single-node model at the canonical opset, and its inputs."""

    label: str
    model: onnx.ModelProto
    inputs: tuple[Array, ...]


def element_name(element: int) -> str:
    """The dtype that ONNX numbers so."""
    return dtype_name(f"tensor({TensorProto.DataType.Name(element).lower()})")


def _element(dtype: str) -> int:
    name = {"float32": "FLOAT", "float64": "DOUBLE"}.get(dtype, dtype.upper())
    return int(TensorProto.DataType.Value(name))


def allowed_dtypes(operation: str, operand: int) -> list[str]:
    """The dtypes of plain tensors that the newest schema allows for an operand."""
    schema = defs.get_schema(operation, CANONICAL_OPSET, "")
    formal = schema.inputs[min(operand, len(schema.inputs) - 1)]
    return [name for name in _allowed(formal.types) if not name.startswith("seq(")]


def dtype_of(name: str) -> np.dtype[Any]:
    """NumPy's dtype of ONNX's name; `object` for text."""
    return np.dtype(object if name == "string" else helper.tensor_dtype_to_np_dtype(_element(name)))


def type_variants(model: onnx.ModelProto, inputs: tuple[Array, ...]) -> Iterator[Variant]:
    """The node at each combination of dtypes that its schema allows, other than its own."""
    node = model.graph.node[0]
    schema = schema_of(model, node)
    bound = {
        variable: dtype
        for value, variable in _formals(model, node, schema)
        if (dtype := _tensor_dtype(value)) is not None
    }
    choices = {
        constraint.type_param_str: _allowed(constraint.allowed_type_strs)
        for constraint in schema.type_constraints
        if constraint.type_param_str in bound
    }
    own = tuple(bound[variable] for variable in choices)
    for types in _combinations(own, tuple(choices.values())):
        chosen = dict(zip(choices, types, strict=True))
        variant = _retyped(model, inputs, schema, chosen)
        if variant is not None:
            yield variant


def _combinations(
    own: tuple[str, ...], allowed: tuple[list[str], ...]
) -> Iterable[tuple[str, ...]]:
    total = int(np.prod([len(dtypes) for dtypes in allowed] or [0]))
    if total <= MAX_TYPES:
        found: Iterable[tuple[str, ...]] = itertools.product(*allowed)
    else:
        found = (
            (*own[:place], dtype, *own[place + 1 :])
            for place, dtypes in enumerate(allowed)
            for dtype in dtypes
        )
    return (types for types in found if types != own)


def attribute_variants(
    model: onnx.ModelProto, inputs: tuple[Array, ...], values: Mapping[str, tuple[Any, ...]]
) -> Iterator[Variant]:
    """The node with one or two of its attributes at other of the given values."""
    node = model.graph.node[0]
    now = {a.name: _plain(helper.get_attribute_value(a)) for a in node.attribute}
    changes: list[dict[str, Any]] = [
        {name: value}
        for name, choices in values.items()
        for value in choices
        if value != now.get(name)
    ]
    texts = [name for name, choices in values.items() if isinstance(choices[0], str)]
    for first, second in itertools.combinations(texts, 2):
        changes += [
            {first: a, second: b}
            for a in values[first]
            for b in values[second]
            if a != now.get(first) and b != now.get(second)
        ]
    for change in changes:
        copy = _copy(model)
        _set_attributes(copy.graph.node[0], change)
        label = ",".join(f"{name}={value}" for name, value in change.items())
        yield Variant(label, _reshaped(copy), inputs)


def attribute_values(models: Iterable[onnx.ModelProto]) -> dict[str, tuple[Any, ...]]:
    """For each attribute that picks a behaviour: the texts seen in `models`, or 0 and 1."""
    seen: dict[str, set[Any]] = {}
    for model in models:
        node = model.graph.node[0]
        for name, formal in schema_of(model, node).attributes.items():
            default = formal.default_value
            if formal.type == defs.OpSchema.AttrType.STRING and name not in FREE_TEXT:
                seen.setdefault(name, set(CHOICES.get(name, ())))
                if default.HasField("name") and default.name:
                    seen[name].add(default.s.decode())
            flag = (
                formal.type == defs.OpSchema.AttrType.INT and default.name and default.i in (0, 1)
            )
            if flag and name not in COUNTS and name not in DTYPE_ATTRIBUTES:
                seen[name] = {0, 1}
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.STRING and attribute.name in seen:
                seen[attribute.name].add(attribute.s.decode())
    return {name: tuple(sorted(values)) for name, values in seen.items() if values}


CHOICES: dict[str, tuple[str, ...]] = {
    "auto_pad": ("NOTSET", "SAME_LOWER", "SAME_UPPER", "VALID"),
}
"""Texts that the definition allows, of which the suite shows only some."""
FREE_TEXT = frozenset({"equation", "delimiter", "pattern", "locale", "stopwords", "body"})
"""Attributes whose texts are not a choice among a few."""


def schema_of(model: onnx.ModelProto, node: onnx.NodeProto) -> Any:
    """The schema that the model's node has."""
    domain = "" if node.domain == "ai.onnx" else node.domain
    versions = {"" if o.domain == "ai.onnx" else o.domain: o.version for o in model.opset_import}
    return defs.get_schema(node.op_type, versions[domain], domain)


def _formals(
    model: onnx.ModelProto, node: onnx.NodeProto, schema: Any
) -> Iterator[tuple[Any, str]]:
    """Each graph value that the node reads or writes, with the type variable of its formal."""
    named = {value.name: value for value in (*model.graph.input, *model.graph.output)}
    for names, formals in ((node.input, schema.inputs), (node.output, schema.outputs)):
        for place, name in enumerate(names):
            if name in named:
                yield named[name], formals[min(place, len(formals) - 1)].type_str


def _tensor_dtype(value: Any) -> str | None:
    kind = value.type
    if kind.HasField("tensor_type"):
        return element_name(kind.tensor_type.elem_type)
    if kind.HasField("sequence_type") and kind.sequence_type.elem_type.HasField("tensor_type"):
        return f"seq({element_name(kind.sequence_type.elem_type.tensor_type.elem_type)})"
    return None


def _allowed(types: Iterable[str]) -> list[str]:
    """The dtypes of tensors and sequences of tensors among a schema's type texts."""
    names = sorted(map(dtype_name, types))
    return [name for name in names if "(" not in name.removeprefix("seq(")]


def _retyped(
    model: onnx.ModelProto, inputs: tuple[Array, ...], schema: Any, chosen: Mapping[str, str]
) -> Variant | None:
    """The model with its values at the chosen dtypes; None where it can't be told how."""
    copy = _copy(model)
    node = copy.graph.node[0]
    arrays = list(inputs)
    places = {value.name: place for place, value in enumerate(copy.graph.input)}
    for value, variable in _formals(copy, node, schema):
        old, new = _tensor_dtype(value), chosen.get(variable)
        if new is None or old is None or old == new:
            continue
        if old.startswith("seq(") != new.startswith("seq("):
            return None
        _set_dtype(value, new)
        if value.name in places:
            arrays[places[value.name]] = recast(arrays[places[value.name]], new)
        else:
            _set_dtype_attribute(node, variable, schema, new)
    for value in copy.graph.output:  # its sizes may follow from values, and those change
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
    label = ",".join(f"{variable}={dtype}" for variable, dtype in chosen.items())
    return Variant(label, copy, tuple(arrays))


def _set_dtype_attribute(node: Any, variable: str, schema: Any, dtype: str) -> None:
    """Where the node names its output's dtype in an attribute, name the new one."""
    if any(formal.type_str == variable for formal in schema.inputs):
        return
    element = _element(dtype.removeprefix("seq(").removesuffix(")"))
    named = {name: element for name in DTYPE_ATTRIBUTES if name in schema.attributes}
    _set_attributes(node, named)


def _set_dtype(value: Any, dtype: str) -> None:
    if dtype.startswith("seq("):
        value.type.sequence_type.elem_type.tensor_type.elem_type = _element(dtype[4:-1])
    else:
        value.type.tensor_type.elem_type = _element(dtype)


def _set_attributes(node: Any, change: Mapping[str, Any]) -> None:
    kept = [a for a in node.attribute if a.name not in change]
    del node.attribute[:]
    node.attribute.extend(kept)
    node.attribute.extend(helper.make_attribute(name, value) for name, value in change.items())


def _copy(model: onnx.ModelProto) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy


def _reshaped(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy whose outputs have the shapes that ONNX infers, where it can tell them."""
    copy = _copy(model)
    for value in copy.graph.output:
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
    found = shape_inference.infer_shapes(copy)
    for value, old in zip(found.graph.output, model.graph.output, strict=True):
        if value.type.HasField("tensor_type") and not value.type.tensor_type.HasField("shape"):
            value.type.CopyFrom(old.type)
    return found


def _plain(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def recast(array: Array, dtype: str) -> Array:
    """The array at another dtype, with values that the dtype holds exactly.

    Where whole numbers take the place of fractions they are small and not 0, so that nothing
    divides by 0; text takes the numbers' digits.
    """
    if isinstance(array, list):
        return [recast(item, dtype[4:-1]) for item in array]
    return np.asarray(_recast(array, dtype))  # arithmetic makes scalars of arrays without axes


def _recast(array: Array, dtype: str) -> Array:
    if dtype == "string":
        texts = [str(number) for number in array.ravel()]
        return np.asarray(texts, dtype=object).reshape(array.shape)
    target = np.dtype(helper.tensor_dtype_to_np_dtype(_element(dtype)))
    if array.dtype == object:
        digits = [len(str(text)) % 3 + 1 for text in array.ravel()]
        return np.asarray(digits, dtype=np.float32).reshape(array.shape).astype(target)
    if array.dtype.kind == "c" and target.kind != "c":
        array = array.real
    if array.dtype.kind not in "biuc" and array.dtype != np.float64:
        array = array.astype(np.float32)  # narrow dtypes don't all cast to each other
    if target == np.bool_:
        return np.asarray(array).astype(np.float64) > 0 if array.dtype != np.bool_ else array
    unsigned = target.name.startswith("u")
    with np.errstate(all="ignore"):
        if not (target.kind in "iu" or target.name in ("int2", "int4", "uint2", "uint4")):
            return array.astype(target)
        if array.dtype.kind in "biu":
            return (np.abs(array) if unsigned and array.dtype.kind == "i" else array).astype(target)
        wide = np.nan_to_num(array.astype(np.float64), posinf=5.0, neginf=-5.0)
        most = 1 if target.name in ("int2", "uint2") else 5
        small = np.where(wide < 0, -1, 1) * (1 + np.floor(np.abs(wide) * 3) % most)
        return (np.abs(small) if unsigned else small).astype(target)
