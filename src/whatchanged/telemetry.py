"""Import libraries that send usage reports, with the reports switched off.

Ray also prints messages about its machines on the standard output, between a command's own lines; they are
switched off, too.

No other module imports these libraries directly.

ONNX Runtime, from its version 1.32 on, writes an identifier of the machine and a database of events below the
cache of the home folder and sends both to its maker, unless an environment variable forbids this *before* the
import. ONNX Runtime also has a function that switches the reports off, but the function can only be called
after the import. If another program has already imported ONNX Runtime, the settings of that program apply.
"""

import importlib
import os
from typing import Any, Literal

SWITCHES = {
    "ORT_DISABLE_TELEMETRY": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": "^",  # every message
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
"""A mapping from environment variable to the value that stops the reports of ONNX Runtime, Ray or the Hugging
Face libraries, or the messages of Ray.
"""


def import_silent(name: Literal["onnxruntime", "ray", "transformers"]) -> Any:
    """Import a module with its usage reports and messages switched off.

    If the user has set the environment variables, the user's values stay. The modules are slow to import, so
    call this function only if the module is needed. Raises ModuleNotFoundError if the module is not
    installed.
    """
    for variable, value in SWITCHES.items():
        os.environ.setdefault(variable, value)
    return importlib.import_module(name)
