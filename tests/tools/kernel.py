"""What this kernel offers to the recorder, asked without the recorder, so that a test skips only for a real lack."""

import ctypes
import errno
import fcntl
import functools
import os
import platform
import struct

_CALLS = {"x86_64": {"perf_event_open": 298, "userfaultfd": 323}, "aarch64": {"perf_event_open": 241, "userfaultfd": 282}}
_libc = ctypes.CDLL(None, use_errno=True)


def _descriptor(call, *arguments):
    """None if the call gives a descriptor (which is closed again), else the name of the error."""
    value = _libc.syscall(_CALLS[platform.machine()][call], *arguments)
    if value < 0:
        return errno.errorcode.get(ctypes.get_errno(), "error")
    os.close(value)
    return None


@functools.cache
def lacks_fault_records():
    attributes = bytearray(120)
    sample_type = 1 | 2 | 4 | 8  # IP, TID, TIME, ADDR
    struct.pack_into("<IIQQQ", attributes, 0, 1, len(attributes), 2, 1, sample_type)  # software, page faults, each one
    buffer = (ctypes.c_char * len(attributes)).from_buffer(attributes)
    failure = _descriptor("perf_event_open", buffer, ctypes.c_long(0), ctypes.c_long(-1), ctypes.c_long(-1),
                          ctypes.c_ulong(0))
    return failure and f"perf_event_open of page faults: {failure}"


@functools.cache
def lacks_pagemap_scan():
    request = (3 << 30) | (96 << 16) | (ord("f") << 8) | 16
    argument = bytearray(96)
    regions = (ctypes.c_uint64 * 3)()
    struct.pack_into("<12Q", argument, 0, 96, 0, 0x1000, 0x2000, 0, ctypes.addressof(regions), 1, 0, 0, 0, 8, 8)
    with open("/proc/self/pagemap", "rb") as pagemap:
        try:
            fcntl.ioctl(pagemap, request, argument)
        except OSError as error:
            return f"PAGEMAP_SCAN: {errno.errorcode.get(error.errno, error.errno)}"
    return None


@functools.cache
def lacks_userfaultfd():
    failure = _descriptor("userfaultfd", ctypes.c_long(os.O_CLOEXEC | os.O_NONBLOCK))
    return failure and f"userfaultfd: {failure}"


def missing_for(mode):
    """Why --faults=MODE cannot work here, or None."""
    if mode == "records":
        return lacks_fault_records() or lacks_pagemap_scan()
    if mode == "uffd":
        return lacks_userfaultfd()
    return None
