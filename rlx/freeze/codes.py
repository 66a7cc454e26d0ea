"""The stable code of every rule that a frozen registry has passed, and what each one means."""

from rlx.errors import Code

CODES: dict[str, Code] = {
    "identity": Code(
        "an id, alias, device, target or payload format is not words joined by '-'",
        "write words of a-z and 0-9 joined by '-', a letter first.",
    ),
    "reserved-name": Code(
        "a device, alias or backend is called 'auto', which means unset", "choose another name."
    ),
    "duplicate-id": Code(
        "two manifests register one id, and the later one does not say replace: true",
        "choose another id, or say `replace: true` where a later layer is meant to win.",
    ),
    "duplicate-target": Code("two backends provide one target", "give each a target of its own."),
    "duplicate-operation": Code("two manifests declare one operation", "delete one of them."),
    "duplicate-override": Code("one layer sets one thing twice", "delete one of them."),
    "duplicate-facet": Code(
        "a compiler claims one operation twice with the same conditions",
        "delete one of the two claims.",
    ),
    "listed-twice": Code("a list names one item twice", "delete one of the two."),
    "alias-clash": Code("an alias is another device's id or alias", "choose another alias."),
    "unknown-device": Code(
        "a device is named that no manifest declares",
        "correct the name, or declare the device under `devices`.",
    ),
    "unknown-backend": Code(
        "a backend is named that no manifest registers",
        "correct the id; `rlx backends` lists them.",
    ),
    "unknown-capability": Code(
        "a capability is named that no manifest declares",
        "correct the name, or declare it under `capabilities`.",
    ),
    "unknown-override": Code(
        "an override names an id that no earlier layer registers",
        "correct the id; `rlx backends` lists them. If a plugin shipped it, install the plugin "
        "again, or delete the override.",
    ),
    "empty-override": Code("an override changes nothing", "set something, or delete the override."),
    "payload-format": Code(
        "a compiler has no payload format, or a payload format no compiler",
        "give both, or neither.",
    ),
    "compiles-without-compiler": Code(
        "`compiles` is given for a backend without a compiler",
        "add `compiler` and `payload_format`, or delete `compiles`.",
    ),
    "dispatches-without-factory": Code(
        "a backend dispatches, but nothing opens it", "add a `factory`, or delete `dispatches`."
    ),
    "entry-point": Code(
        "a factory, compiler, materializer or call is not module:attribute",
        'write it as "package.module:function".',
    ),
    "capability-name": Code(
        "a capability's id is not snake_case, or a plugin's is not vendor/name",
        "write snake_case; in a plugin, vendor/name.",
    ),
    "unknown-operation": Code(
        "coverage names an operation that the vocabulary does not have",
        "correct the name, or declare the operation in an Operations manifest.",
    ),
    "unknown-type-variable": Code(
        "coverage names a type variable that the operation does not have",
        "write a type variable that the message lists.",
    ),
    "missing-type-variable": Code(
        "coverage leaves out a type variable that allows several dtypes",
        "list the dtypes that are claimed for it.",
    ),
    "unknown-dtype": Code(
        "coverage names a dtype that does not exist", "write a dtype as ONNX does, such as float32."
    ),
    "forbidden-dtype": Code(
        "coverage names a dtype that the operation's schema forbids",
        "write a dtype that the operation allows.",
    ),
    "unknown-attribute": Code(
        "coverage names an attribute that the operation does not have",
        "correct the name, or delete it.",
    ),
    "attribute-value": Code(
        "coverage names a value that the attribute can never have",
        "write a value of the attribute's type.",
    ),
    "ndim-order": Code(
        "an ndim bound has a min above its max, or below 0", "write a min from 0 up to max."
    ),
    "rank-range": Code(
        "a rank is not an integer from 0 to 4294967295", "write a number, such as 10."
    ),
    "device-pci": Code(
        "a device's pci pattern is not written as `lspci -d` has it",
        'write [vendor]:[device][:class], such as "10de::03xx".',
    ),
    "probe-kind": Code(
        "a probe has no kind, or several",
        "write exactly one kind a probe, such as `{module: numpy}`.",
    ),
    "probe-key": Code(
        "a probe has a key that belongs to another kind",
        "write `version` with `module` and `timeout` with `call`, or delete it.",
    ),
    "probe-module": Code(
        "a module probe does not name one top-level module",
        "name the top-level module alone, such as torch.",
    ),
    "probe-path": Code(
        "a path probe's path is not absolute", "write an absolute path, such as /dev/kfd."
    ),
    "probe-platform": Code(
        "a platform probe names what is nearly, but not quite, a system",
        "write what `sys.platform` says: linux, darwin or win32.",
    ),
    "probe-timeout": Code(
        "a probe's timeout is not a finite number of seconds above 0", "write seconds, such as 10."
    ),
    "probe-version": Code(
        "a probe's version is not a PEP 440 specifier set",
        'write a specifier set, such as ">=2.4".',
    ),
    "evidence": Code(
        "coverage says inherited without a backend, or names one without it",
        "write `backend` with `kind: inherited`, and only there.",
    ),
    "inherits": Code(
        "coverage inherits rows and does not say so, or leaves out what it does not inherit",
        "write `kind: inherited`, `backend` and `inherits` together; `without` needs `inherits`.",
    ),
    "cyclic-evidence": Code(
        "coverage is inherited in a circle", "measure one of them, or declare it."
    ),
    "field-type": Code(
        "a field of a registration made in code has another type",
        "give a value of the type that the message names.",
    ),
    "mutable-value": Code(
        "a registration made in code holds something that can change",
        "use tuples, scalars and rlx's frozen records.",
    ),
    "operation-name": Code(
        "a declared operation is not domain::Name in a domain of its own",
        "write domain::Name, with a domain of your own.",
    ),
    "operation-type": Code(
        "a declared operation has an unknown operand type, dtype or attribute type",
        "write a type that the message lists.",
    ),
    "attribute-default": Code(
        "a declared attribute's default is not a value of its type",
        "write a value of the attribute's type, or delete the default.",
    ),
    "lowering": Code(
        "a lowering does not parse, or is not a function from the operation's inputs to its "
        "outputs",
        "write a node a line, as `y = MatMul (x, w)`, until every output is made.",
    ),
    "duplicate-lowering": Code("an operation has two lowerings", "keep one of them."),
    "cyclic-lowering": Code(
        "operations are lowered to each other in a circle",
        "write one of the lowerings in operations of ONNX.",
    ),
    "opset": Code(
        "a manifest other than the packaged one sets the canonical opset",
        "delete it: the packaged configuration sets it.",
    ),
    "invalid-device": Code(
        "routing names something that is not a device spec",
        "write a device as name or name:index, or a list of them.",
    ),
    "routing-conflict": Code(
        "two files of one layer set the same routing key", "delete one of the two."
    ),
    "untrusted": Code(
        "a project file that is not trusted sets more than it may",
        "name the file in RLX_CONFIG or with --config, if you trust it.",
    ),
    "equal-ranks": Code(
        "two backends have the same rank (a warning)", "give each a rank of its own."
    ),
}
"""By code; `rlx explain-code` shows each with an example."""
