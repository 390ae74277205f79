"""Reads files of CLIP weights, in all usual formats, as tensors by name. No code in these files is run.

OpenAI's files are TorchScript archives: Zip files with the tensors' bytes, a pickle that names them, and
program text. This module's unpickler can build only tensors, storages and plain containers. A module becomes
an empty object with its attributes, and anything else is refused. The program text is never read.
"""

import pickle
import pickletools
import struct
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import IO, Any, cast

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from whatchanged.errors import RecipeError
from whatchanged.opening import open_regular, regular

_STORAGES = {
    "FloatStorage": torch.float32,
    "HalfStorage": torch.float16,
    "BFloat16Storage": torch.bfloat16,
    "DoubleStorage": torch.float64,
    "LongStorage": torch.int64,
    "IntStorage": torch.int32,
    "BoolStorage": torch.bool,
    "ByteStorage": torch.uint8,
}
_ZIP, _LEGACY = b"PK\x03\x04", b"\x80\x02\x8a\x0a"
"""First bytes of files of torch.save, since and before torch 1.6. Read as the length of a safetensors header,
they are far beyond any that exists."""
_DAMAGE = (
    ArithmeticError,
    AssertionError,  # torch's, of files of before 1.6
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    NotImplementedError,
    OSError,
    RecursionError,
    RuntimeError,
    SafetensorError,
    TypeError,
    ValueError,
    pickle.UnpicklingError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What reading a damaged or hostile file of weights can raise."""
_MOST_NAMES = 5_000_000
"""Bytes of the pickle that names the tensors, at most; CLIP's has about 100,000."""


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file, a state dictionary or a TorchScript archive, floats as
    float32.

    If a checkpoint holds several state dictionaries, the name of each becomes a prefix of its tensors' names.

    Raises RecipeError for a file that is none of these, or is damaged.
    """
    try:
        with open_regular(path) as file:
            start = file.read(4)
        if start not in (_ZIP, _LEGACY):
            results = _read_safetensors(path)
        elif start == _ZIP and _is_script(path):
            results = dict(_read_script(path))
        else:
            with torch.serialization.safe_globals([(OrderedDict, name) for name in _SETTINGS]):
                results = _flat(torch.load(path, map_location="cpu", weights_only=True))
        for name, tensor in results.items():
            _check_storage(tensor, name)
    except _DAMAGE as error:
        reason = str(error).partition("\n")[0]
        raise RecipeError(
            f"{path}: no weights can be read here ({reason}). Give OpenAI's .pt, a safetensors file, or a"
            " state dictionary that torch.load(weights_only=True) reads."
        ) from error
    return {name: t.float() if t.is_floating_point() else t for name, t in results.items()}


def _check_storage(tensor: Tensor, name: str) -> None:
    """Raises ValueError for a tensor with more numbers than its storage holds: a small file could fill the
    memory.
    """
    if tensor.layout != torch.strided or tensor.nbytes > tensor.untyped_storage().nbytes():
        shown = f"{name or 'a tensor'} of shape {tuple(tensor.shape)}"
        raise ValueError(f"{shown} repeats the numbers of its storage")


def _read_safetensors(path: Path) -> dict[str, Tensor]:
    with safe_open(regular(path), framework="pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


_SETTINGS = ("utils.attr_dict.AttrDict", "utils.collections.AttrDict")
"""Classes of the settings that SCORER's code, and what it descends from, keep beside their weights. They are
read as the dictionaries that they are."""


def _flat(loaded: Any) -> dict[str, Tensor]:
    """Return a state dictionary with all names: as it is, under a usual name in a checkpoint, or several with
    prefixes.
    """
    state = loaded.get("state_dict", loaded.get("model_state_dict", loaded))
    results = {str(name).removeprefix("module."): t for name, t in state.items() if isinstance(t, Tensor)}
    for part, inside in state.items():
        if isinstance(part, str) and isinstance(inside, Mapping):
            own = {name: t for name, t in inside.items() if isinstance(name, str) and isinstance(t, Tensor)}
            results |= {f"{part}.{name.removeprefix('module.')}": t for name, t in own.items()}
    return results


def _is_script(path: Path) -> bool:
    with zipfile.ZipFile(path) as archive:
        return any(name.endswith("/constants.pkl") for name in archive.namelist())


def _read_script(path: Path) -> Iterator[tuple[str, Tensor]]:
    with zipfile.ZipFile(path) as archive:
        (named,) = [info for info in archive.infolist() if info.filename.endswith("/data.pkl")]
        if named.file_size > _MOST_NAMES:
            raise ValueError(f"its data.pkl has {named.file_size:,} bytes")
        content = archive.read(named)
        _check_numbering(content)
        module = _Names(BytesIO(content), archive, named.filename.removesuffix("data.pkl")).load()
        yield from _tensors("", module)


def _check_numbering(content: bytes) -> None:
    """Raises ValueError for a pickle that gives an object a number larger than the pickle's size.

    Python would allocate memory for as many objects.
    """
    for opcode, number, _ in pickletools.genops(content):
        if opcode.name in ("PUT", "BINPUT", "LONG_BINPUT") and int(number or 0) > len(content):
            raise ValueError(f"its data.pkl has {len(content):,} bytes and numbers an object {number:,}")


def _tensors(prefix: str, value: Any) -> Iterator[tuple[str, Tensor]]:
    """Tensors of a module and of its parts, by their path."""
    for name, item in vars(value).items():
        if isinstance(item, Tensor):
            yield prefix + name, item
        elif isinstance(item, _Shell):
            yield from _tensors(f"{prefix}{name}.", item)


class _Shell:
    """Stands for any scripted module: it has attributes and no behaviour."""

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)


class _Names(pickle.Unpickler):
    """An unpickler that can build only tensors, containers and ``_Shell``s."""

    def __init__(self, stream: IO[bytes], archive: zipfile.ZipFile, root: str) -> None:
        super().__init__(stream)
        self._archive, self._root = archive, root

    def find_class(self, module: str, name: str) -> Any:
        """One of the few harmless classes that weights need. Raises UnpicklingError for any other."""
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuilt
        if module == "torch" and name in _STORAGES:
            return _STORAGES[name]
        if module == "torch.jit._pickle" and name in ("build_intlist", "build_doublelist", "build_boollist"):
            return cast(Callable[[Any], list[Any]], list)
        if module.startswith("__torch__"):
            return _Shell
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, which weights do not need")

    def persistent_load(self, reference: Any) -> Tensor:
        """Return the bytes of one storage as a flat tensor."""
        kind, dtype, key, _, count = reference
        info = self._archive.getinfo(f"{self._root}data/{key}")
        size = count * torch.empty(0, dtype=dtype).element_size()
        if kind != "storage" or info.compress_type != zipfile.ZIP_STORED or info.file_size != size:
            raise pickle.UnpicklingError(f"storage {key} is not the {size:,} plain bytes that it should be")
        if not count:
            return torch.empty(0, dtype=dtype)
        return torch.frombuffer(bytearray(self._archive.read(info)), dtype=dtype)


def _rebuilt(storage: Tensor, offset: int, size: Any, stride: Any, *_: Any) -> Tensor:
    """Return a tensor on its storage. torch refuses a tensor that reaches beyond the end of the storage."""
    tensor = storage.as_strided(tuple(size), tuple(stride), offset)
    _check_storage(tensor, "")
    return tensor.clone()
