"""Holds many small blocks of the C library, each owned by the function that has allocated it, and prints what it knows
about them: for each function bytes and blocks, at the peak and at the end.
"""

import ctypes
import json
import mmap
import os
import sys
import threading

MB = 1 << 20
LIBRARY = ctypes.CDLL(None)
malloc, free, realloc, usable_size = LIBRARY.malloc, LIBRARY.free, LIBRARY.realloc, LIBRARY.malloc_usable_size
malloc.restype, malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
realloc.restype, realloc.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t]
free.restype, free.argtypes = None, [ctypes.c_void_p]
usable_size.restype, usable_size.argtypes = ctypes.c_size_t, [ctypes.c_void_p]

BLOCKS = (ctypes.c_void_p * 40_000)  # their addresses take no blocks themselves
owned = {name: BLOCKS() for name in ("first", "second", "in_the_middle", "in_thread", "again", "in_child")}
pages = []
usable_size(realloc(malloc(1), 2))  # blocks that the library makes for its first calls, and one more


def first(count):
    to = owned["first"]
    for i in range(count):
        to[i] = malloc(i % 500 + 1)


def second(count):
    to = owned["second"]
    for i in range(count):
        to[i] = malloc(64)


def in_the_middle():
    to = owned["in_the_middle"]
    for i in range(10):
        to[i] = malloc(9 * MB + i)


def free_the_middle():
    to = owned["in_the_middle"]
    for i in range(10):
        free(to[i])
        to[i] = None


def in_thread(count):
    to = owned["in_thread"]
    for i in range(count):
        to[i] = malloc(100)


def free_half_of_first(count):
    to = owned["first"]
    for i in range(0, count, 2):
        free(to[i])
        to[i] = None


def again(count):
    """Takes blocks of `second` over."""
    to, of = owned["again"], owned["second"]
    for i in range(count):
        to[i] = realloc(of[i], 200)
        of[i] = None


def map_pages():
    pages.append(mmap.mmap(-1, 4 * MB))


def in_child(count):
    to = owned["in_child"]
    for i in range(count):
        to[i] = malloc(i + 1)


def sizes(name):
    blocks = [usable_size(block) for block in owned[name] if block]
    return [sum(blocks), len(blocks)]


def known():
    found = {name: sizes(name) for name in owned}
    if pages:
        found["map_pages"] = [4 * MB, 1]
    return {name: size for name, size in found.items() if size[1]}


def main():
    first(20_000)
    second(5_000)
    thread = threading.Thread(target=in_thread, args=(3_000,))
    thread.start()
    thread.join()
    map_pages()
    in_the_middle()
    at_peak = known()
    free_the_middle()
    free_half_of_first(20_000)
    again(2_000)
    if "fork" in sys.argv:
        child = os.fork()
        if child == 0:
            in_child(1_000)
            print(json.dumps({"end": {"in_child": sizes("in_child")}}), flush=True)
            return
        os.waitpid(child, 0)
    print(json.dumps({"peak": at_peak, "end": known()}), flush=True)


main()
