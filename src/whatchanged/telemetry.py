"""Import libraries that send usage reports, with the reports switched off; they are imported here only.

ONNX Runtime, from its version 1.32 on, writes an identifier of the machine and a database of events below the
cache of the home folder and sends them to its maker, unless a variable forbids it *before* the import. Its
function for the same purpose comes too late. If another program imported it first, that program's choice
holds.
"""

import importlib
import os
from typing import Any, Literal

SWITCHES = {
    "ORT_DISABLE_TELEMETRY": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
"""Variable -> the value that stops the reports of ONNX Runtime, Ray and the Hugging Face libraries."""


def import_silent(name: Literal["onnxruntime", "ray", "transformers"]) -> Any:
    """Import the module of this name with its reports switched off; the user's own setting of the variables
    is kept.

    All of these modules are slow to import, so import them only where they are needed. Raises
    ModuleNotFoundError where the module is not installed.
    """
    for variable, value in SWITCHES.items():
        os.environ.setdefault(variable, value)
    return importlib.import_module(name)
