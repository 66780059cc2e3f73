"""Functions that are called often, in recursions, threads and generators, with others in between.

Nothing here depends on the time: every run makes the same calls.
"""

import threading


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def numbers(count):
    for value in range(count):
        yield leaf(value)


def leaf(value):
    return value


def chained(count):
    yield from numbers(count)


def fails(depth):
    if depth == 0:
        raise ValueError
    fails(depth - 1)


def attempt():
    try:
        fails(20)
    except ValueError:
        pass


def walk(level):
    """Open many times over, with rarer functions above it, when it is given up."""
    leaf(level)
    if level == 0:
        return innermost()
    return pause(level) if level % 50 == 0 else walk(level - 1)


def pause(level):
    return walk(level - 1)


def innermost():
    return fib(12)


def work():
    for _ in range(60):
        even(300)
        walk(200)
        sum(chained(300))
        attempt()
    suspended = numbers(3)
    next(suspended)
    fib(22)
    return list(suspended)


def main():
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    work()
    fib(24)
    for thread in threads:
        thread.join()


main()
