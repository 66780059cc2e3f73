"""Generators: every way in which a body starts, goes on and ends."""


def plain(n):
    for i in range(n):
        yield i


def delegating():
    result = yield from inner()
    yield result


def inner():
    received = yield 1
    try:
        yield received
    except KeyError:
        yield "caught"
    return helper()


def helper():
    return "done"


def with_cleanup():
    try:
        yield 1
        yield 2
    finally:
        helper()


def stubborn():
    while True:
        try:
            yield 1
        except GeneratorExit:
            helper()
            return


def raising():
    yield 1
    raise ValueError("from a generator")


def ignores_close():
    try:
        yield 1
    except GeneratorExit:
        yield 2


def recursive(n):
    if n:
        yield from recursive(n - 1)
    yield n


def never_started():
    yield 1


def replaced():
    try:
        yield 1
    except ValueError as error:
        raise KeyError("another") from error


def main():
    list(plain(3))
    g = delegating()
    next(g)
    g.send("hello")
    g.throw(KeyError())
    for _ in g:
        pass
    g = with_cleanup()
    next(g)
    g.close()
    g.close()
    g = with_cleanup()
    next(g)
    del g
    g = stubborn()
    next(g)
    g.close()
    try:
        list(raising())
    except ValueError:
        pass
    g = ignores_close()
    next(g)
    try:
        g.close()
    except RuntimeError:
        pass
    next(g, None)
    list(recursive(5))
    g = recursive(4)
    next(g)
    try:
        g.throw(ValueError)
    except ValueError:
        pass
    never_started().close()
    g = never_started()
    try:
        g.throw(ValueError)
    except ValueError:
        pass
    next(g, None)
    del g
    g = replaced()
    next(g)
    try:
        g.throw(ValueError())
    except KeyError:
        pass
    a, b = plain(2), plain(2)
    next(a), next(b), next(a), next(b)
    list(a), list(b)
    print(sum(x for x in plain(4)), [*(helper() for _ in plain(2))])
    next(plain(0), None)
    g = None
    dict(enumerate(map(str, plain(2))))


main()
