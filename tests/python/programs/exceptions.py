"""Exceptions: through many frames, caught on the way, through callers in C."""

import functools


def deep(n):
    if n == 0:
        raise ValueError("bottom")
    deep(n - 1)


def deep_with_finally(n):
    try:
        if n == 0:
            raise ValueError("bottom")
        deep_with_finally(n - 1)
    finally:
        helper()


def helper():
    return 1


def reraises(n):
    try:
        deep(n)
    except ValueError:
        helper()
        raise


def replaces():
    try:
        deep(2)
    except ValueError as error:
        raise KeyError("other") from error


class Manager:
    def __init__(self, swallow):
        self.swallow = swallow

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return self.swallow


def managed(swallow):
    with Manager(swallow):
        deep(3)
    return helper()


class Key:
    def __init__(self, value):
        self.value = value

    def __hash__(self):
        return 1

    def __eq__(self, other):
        if self.value == other.value == "bad":
            raise RuntimeError("eq")
        return self.value == other.value

    def __lt__(self, other):
        if self.value == "bad":
            raise RuntimeError("lt")
        return self.value < other.value

    def __bool__(self):
        raise RuntimeError("bool")

    def __getattr__(self, name):
        if name == "missing":
            return helper()
        raise AttributeError(name)

    def __index__(self):
        return 2

    def __format__(self, spec):
        raise RuntimeError("format")


def failing_key(x):
    if x == 3:
        raise ValueError(x)
    return -x


def calls(function, *arguments):
    try:
        return function(*arguments)
    except (ValueError, RuntimeError, KeyError, AttributeError, TypeError, ZeroDivisionError) as error:
        return type(error).__name__


class Iterator:
    def __init__(self):
        self.n = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.n += 1
        if self.n == 3:
            raise StopIteration
        return self.n


class Weird:
    def __getitem__(self, index):
        if index == 2:
            raise IndexError
        return index

    def __len__(self):
        raise TypeError("no length")

    def __contains__(self, x):
        return helper() == x

    @property
    def value(self):
        return helper() // 0

    @functools.cached_property
    def cached(self):
        return helper()


@functools.lru_cache
def cached(n):
    return n if n < 2 else cached(n - 1) + cached(n - 2)


print(calls(deep, 50), calls(deep_with_finally, 10), calls(reraises, 5), calls(replaces))
print(calls(managed, True), calls(managed, False))
print(calls(lambda: sorted([1, 2], key=failing_key)), calls(lambda: sorted([1, 3, 2], key=failing_key)))
print(calls(lambda: list(map(failing_key, [1, 2, 3, 4]))))
print(calls(lambda: max([5, 4], key=failing_key)), calls(lambda: list(filter(failing_key, [0, 3]))))
print(calls(lambda: {Key("a"): 1, Key("b"): 2}[Key("b")]), calls(lambda: {Key("bad"): 1, Key("bad"): 2}))
print(calls(lambda: sorted([Key("a"), Key("bad")])), calls(bool, Key(1)), calls(lambda: Key(1).missing))
print(calls(lambda: Key(1).other), calls(lambda: [0, 1, 2][Key(1)]), calls(lambda: f"{Key(1):x}"))
print(list(Iterator()), list(Weird()), calls(len, Weird()), 1 in Weird(), calls(lambda: Weird().value))
print(Weird().cached, cached(6), functools.reduce(lambda a, b: a + b, [1, 2, 3]))
print(calls(functools.partial(failing_key, 3)), calls(min, [], [1]), sum(x for x in Iterator()))
