"""onnxruntime itself: imported with its telemetry off, and what a session of it is set to."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

TELEMETRY = "ORT_DISABLE_TELEMETRY"
LEVELS = {
    "disable": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}
ERROR, FATAL = 3, 4
"""Log severities: failures are raised with their text, so the engine need not print them too."""
NO_FALLBACK = "session.disable_cpu_ep_fallback"
RECORD = "session.record_ep_graph_assignment_info"


def import_engine() -> Any:
    """onnxruntime with its telemetry off: since 1.29 it sends events and keeps a device id on disk.

    Only the variable, set before the first import, prevents both. Who sets it to 0 wants them.
    """
    asked = os.environ.setdefault(TELEMETRY, "1")
    import onnxruntime

    if asked != "0":
        onnxruntime.disable_telemetry_events()
    onnxruntime.set_default_logger_severity(ERROR)  # a kernel's own log is the whole process's
    return onnxruntime


def session_options(engine: Any, options: Mapping[str, Any], *, alone: bool, record: bool) -> Any:
    """Options for one session.

    With `alone`, no node may be left to the CPU; with `record`, each one's place can be read back.
    `options["entries"]` are settings of the session by the engine's own names.
    """
    made = engine.SessionOptions()
    made.log_severity_level = FATAL
    made.use_deterministic_compute = True
    made.intra_op_num_threads = options.get("intra_op_threads", 0)
    made.inter_op_num_threads = options.get("inter_op_threads", 0)
    level = LEVELS[options.get("graph_optimization", "all")]
    made.graph_optimization_level = getattr(engine.GraphOptimizationLevel, level)
    if alone:
        made.add_session_config_entry(NO_FALLBACK, "1")  # only "1" counts
    if record:
        made.add_session_config_entry(RECORD, "1")
    for name, value in options.get("entries", {}).items():
        made.add_session_config_entry(name, value)
    return made
