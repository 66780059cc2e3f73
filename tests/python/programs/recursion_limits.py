"""How deep a program gets, line by line: in Python code, through C code, in threads."""

import functools
import sys
import threading


def depth(n=0):
    try:
        return depth(n + 1)
    except RecursionError:
        return n


def down(n):
    return down(n - 1) if n else 0


def through_sorted(n):
    return sorted([n], key=lambda x: through_sorted(x - 1) if x else 0)[0]


@functools.lru_cache
def cached(n):
    return cached(n - 1) + 1 if n else 0


def generator(n):
    if n:
        yield from generator(n - 1)
    yield n


class Made:
    def __init__(self, n):
        if n:
            Made(n - 1)


def attempt(name, function, *arguments):
    try:
        print(name, arguments, function(*arguments) is not None)
    except RecursionError:
        print(name, arguments, "RecursionError")


def in_thread():
    thread = threading.Thread(target=lambda: print("thread", depth()))
    thread.start()
    thread.join()


for limit in (1000, 300, 5000, 50_000):
    sys.setrecursionlimit(limit)
    print(limit, depth())
print(down(45_000))
threading.stack_size(1 << 20)
for limit in (1000, 20_000):
    sys.setrecursionlimit(limit)
    in_thread()
    # Deeper through C code plain Python may overflow its stack.
    for n in (100, 2000) if limit == 1000 else (100,):
        attempt("sorted", through_sorted, n)
        attempt("cached", cached, n)
        attempt("generator", lambda n: sum(generator(n)), n)
        attempt("made", Made, n)
