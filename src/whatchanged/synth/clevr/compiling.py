"""Compile functions of numbers and arrays with Numba, which only this module imports.

Numba reads ``.numba_config.yaml`` in the working directory, and this file may name the folder from which
compiled functions are loaded. A stranger who planted both could run code, so this module keeps Numba from
reading the file.
"""

import os
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import config as _config

config: Any = _config  # its settings are made as it is imported
F = TypeVar("F", bound=Callable[..., Any])


def _leave_out_planted_settings() -> None:
    """Make Numba take its settings from the environment only. Raises RuntimeError where Numba still reads the
    file.
    """
    config._config_fname = os.devnull
    config.reload_config()
    if os.environ.get("NUMBA_CACHE_DIR", "") != config.CACHE_DIR:
        raise RuntimeError(f"Numba {numba.__version__} still reads the settings of the working directory.")


_leave_out_planted_settings()


def machine_code(function: F) -> F:
    """Compile a function of numbers and arrays; the compiled code is cached on disk."""
    return cast(F, numba.njit(cache=True, fastmath=True)(function))
