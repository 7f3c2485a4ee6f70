"""Maps files with difficult names. Prints, for each mapping, its address, the name the file really has, and whether it
is deleted."""

import ctypes
import json
import mmap
import os
import sys
import time

folder = sys.argv[1]
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


def map_file(name, unlink=False):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(b"x" * 4096)
    fd = os.open(path, os.O_RDONLY)
    address = libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE, fd, 0)
    os.close(fd)
    if unlink:
        os.unlink(path)
    print(json.dumps({"what": "named", "addr": hex(address), "name": path, "deleted": unlink}))


for name in ("a b", "x\ny", "tab\there", "z (deleted)", "back\\slash", "\\012 literal", "umlaut-\u00e4", "[heap]"):
    map_file(name)
map_file("gone", unlink=True)
map_file("gone (deleted)", unlink=True)
deep = folder
while len(deep) < 3300:
    deep = os.path.join(deep, "d" * 200)
os.makedirs(deep)
folder = deep
map_file("n" * 200)
fd = os.memfd_create("a memfd")
os.ftruncate(fd, 4096)
address = libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
print(json.dumps({"what": "named", "addr": hex(address), "name": "/memfd:a memfd", "deleted": True}))
address = libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
if libc.prctl(0x53564d41, 0, ctypes.c_void_p(address), ctypes.c_size_t(4096), b"my name") == 0:
    print(json.dumps({"what": "named", "addr": hex(address), "name": "[anon:my name]", "deleted": False}))
address = libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
sys.stdout.flush()
time.sleep(0.05)
