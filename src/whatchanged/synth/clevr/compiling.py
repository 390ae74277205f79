"""Numba, which compiles functions of numbers and arrays: imported here alone.

Numba reads ``.numba_config.yaml`` in the working directory, which may name the folder that compiled functions
are loaded from. Whoever planted both would have their code run, so that the file is not read here.
"""

import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import config as _config

config: Any = _config  # its settings are made as it is imported
F = TypeVar("F", bound=Callable[..., Any])


def _leave_out_planted_settings() -> None:
    """Settings come from the environment alone. Raises RuntimeError where Numba does not obey."""
    config._config_fname = os.devnull
    config.reload_config()
    if os.environ.get("NUMBA_CACHE_DIR", "") != config.CACHE_DIR:
        raise RuntimeError(f"Numba {numba.__version__} still reads the settings of the working directory.")


_leave_out_planted_settings()


def machine_code(function: F) -> F:
    """Compile a function of numbers and arrays; what was compiled is kept on disk."""
    return cast(F, numba.njit(cache=True, fastmath=True)(function))
