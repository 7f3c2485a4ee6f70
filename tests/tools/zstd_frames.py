"""All that a file holds in zstd frames, found by their magic number, unpacked by libzstd: what a reader of any kind could
get out of a trace, without our reader."""

import ctypes
import ctypes.util

MAGIC = b"\x28\xb5\x2f\xfd"
LIMIT = 64 << 20


def _library():
    lib = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    for name in ("ZSTD_findFrameCompressedSize", "ZSTD_decompress", "ZSTD_decompressBound"):
        getattr(lib, name).restype = ctypes.c_size_t
    lib.ZSTD_decompressBound.restype = ctypes.c_ulonglong
    return lib


def unpacked(data):
    """Yields the contents of each frame."""
    lib, at = _library(), data.find(MAGIC)
    while at >= 0:
        rest = data[at:]
        size = lib.ZSTD_findFrameCompressedSize(rest, ctypes.c_size_t(len(rest)))
        if size < len(rest) + 1 and not lib.ZSTD_isError(ctypes.c_size_t(size)):
            bound = lib.ZSTD_decompressBound(rest[:size], ctypes.c_size_t(size))
            if bound < LIMIT:
                room = ctypes.create_string_buffer(bound or 1)
                got = lib.ZSTD_decompress(room, ctypes.c_size_t(bound), rest[:size], ctypes.c_size_t(size))
                if not lib.ZSTD_isError(ctypes.c_size_t(got)):
                    yield room.raw[:got]
        at = data.find(MAGIC, at + 1)


def holds(path, secret):
    data = path.read_bytes()
    return secret in data or any(secret in piece for piece in unpacked(data))
