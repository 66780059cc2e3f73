"""Allocates blocks of known sizes by the C library, each by a function of its own, and prints their usable sizes."""

import ctypes
import json
import mmap
import os
import sys
import threading

MB = 1 << 20
LIBRARY = ctypes.CDLL(None)
malloc, free, usable_size = LIBRARY.malloc, LIBRARY.free, LIBRARY.malloc_usable_size
malloc.restype, malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
free.restype, free.argtypes = None, [ctypes.c_void_p]
usable_size.restype, usable_size.argtypes = ctypes.c_size_t, [ctypes.c_void_p]

kept = [None] * 8


def leak():
    kept[0] = malloc(32 * MB)


def hold_for_a_while():
    kept[1] = malloc(64 * MB)


def release():
    free(kept[1])


def allocate_small_blocks():
    for _ in range(1000):
        free(malloc(100))


def allocate_in_thread():
    kept[2] = malloc(48 * MB)


def map_pages():
    kept[3] = mmap.mmap(-1, 16 * MB)


def unmap_pages():
    kept[3].close()


def allocate_in_child():
    kept[4] = malloc(24 * MB)


def main():
    leak()
    hold_for_a_while()
    sizes = {"leak": usable_size(kept[0]), "hold_for_a_while": usable_size(kept[1])}
    release()
    allocate_small_blocks()
    one = malloc(100)
    sizes["small"] = usable_size(one)
    free(one)
    thread = threading.Thread(target=allocate_in_thread)
    thread.start()
    thread.join()
    sizes["allocate_in_thread"] = usable_size(kept[2])
    free(kept[2])
    map_pages()
    unmap_pages()
    if "fork" in sys.argv:
        child = os.fork()
        if child == 0:
            allocate_in_child()
            print(json.dumps({"allocate_in_child": usable_size(kept[4])}), flush=True)
            return
        os.waitpid(child, 0)
    print(json.dumps(sizes), flush=True)


main()
