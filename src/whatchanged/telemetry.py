"""Libraries that report home: each is imported here alone, after its reports are switched off.

ONNX Runtime, from its version 1.32 on, writes an identifier of the machine and a database of events below
the cache of the home folder and sends them to its maker, unless a variable says otherwise *before* it is
imported; its function to the same end comes too late. A program that imported it before us has decided for
itself.
"""

import importlib
import os
from typing import Any, Literal

SWITCHES = {
    "ORT_DISABLE_TELEMETRY": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
"""Variable -> the value by which ONNX Runtime, Ray and the Hugging Face libraries report nothing."""


def import_silent(name: Literal["onnxruntime", "ray", "transformers"]) -> Any:
    """The module of this name, its reports switched off; what a person chose stays.

    All are slow to import, so only those who need them ask. Raises ModuleNotFoundError where it is not
    installed.
    """
    for variable, value in SWITCHES.items():
        os.environ.setdefault(variable, value)
    return importlib.import_module(name)
