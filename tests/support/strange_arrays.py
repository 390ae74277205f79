"""Files called .npy that are none, or hold what nobody wants; and what NumPy would do with them."""

import io
import zipfile

import numpy as np


def npy(array):
    """A .npy file as bytes."""
    held = io.BytesIO()
    np.save(held, array)
    return held.getvalue()


def announcing(shape, dtype="<f4"):
    """The header of an array that the file does not hold."""
    held = io.BytesIO()
    header = {"shape": shape, "fortran_order": False, "descr": dtype}
    np.lib.format.write_array_header_1_0(held, header)
    return held.getvalue() + bytes(64)


def archive(name="a.npy", content=b"junk"):
    """A Zip file as bytes."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as opened:
        opened.writestr(name, content)
    return held.getvalue()


STRANGE = {
    "nothing": b"",
    "a zip": archive(),
    "a torn zip": archive()[:30],
    "arrays in a zip": archive(content=npy(np.zeros((2, 3)))),
    "text": b"0.1 0.2 0.3\n",
    "a header that is no header": b"\x93NUMPY\x01\x00\x10\x00{'shape': (2,)   ",
    "a header that calls": b"\x93NUMPY\x01\x00\x14\x00{'descr': print(1)} \n",
    "a header in each other without end": b"\x93NUMPY\x01\x00\x00\x20" + b"(" * 8192,
    "a terabyte": announcing((1_000_000, 1_000_000)),
    "more than there are numbers": announcing((10**12, 10**12)),
    "less than nothing": announcing((-5, 3)),
    "complex numbers": npy(np.zeros((2, 3), np.complex64)),
    "dates": npy(np.zeros((2, 3), "datetime64[s]")),
    "words": npy(np.array([["a", "b", "c"]] * 2)),
    "records": npy(np.zeros((2, 3), [("a", "<f4")])),
    "whole numbers": npy(np.zeros((2, 3), np.int64)),
    "a number": npy(np.float32(3)),
}
"""What a file is called here -> its bytes: none is a matrix (2, 3) of real numbers."""
