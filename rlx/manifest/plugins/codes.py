"""The codes of what can be wrong with how a plugin is installed."""

from __future__ import annotations

from rlx.errors import Code

CODES = {
    "plugin-entry": Code(
        "A plugin's entry point is not written as `package` or `package:file.yaml`.",
        "correct it in the plugin's pyproject.toml, and install it again.",
    ),
    "plugin-place": Code(
        "A plugin's package lies where rlx can't read it, or is installed twice.",
        "install the plugin again: `pip install --force-reinstall NAME`.",
    ),
    "plugin-file": Code(
        "A plugin's manifest is named by a path, or a link, that leads out of its package.",
        "put the file itself into the package.",
    ),
}
