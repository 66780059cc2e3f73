"""exec, eval, lambdas, comprehensions, class bodies, decorators, finalizers."""

import gc
import sys
import weakref

gc.disable()


def helper():
    return 1


def decorator(function):
    def wrapper(*arguments):
        return function(*arguments)

    return wrapper


def decorator_with(argument):
    def decorate(function):
        return function

    return decorate


@decorator
@decorator_with(1)
def decorated(x):
    return x


class Meta(type):
    def __new__(cls, name, bases, namespace):
        return super().__new__(cls, name, bases, namespace)

    def __call__(cls, *arguments):
        return super().__call__(*arguments)

    @classmethod
    def __prepare__(cls, name, bases):
        return {}


class Base(metaclass=Meta):
    class Nested:
        value = [n for n in range(2)]

        def method(self):
            return lambda: self

    def __init__(self):
        self.cycle = self

    def __init_subclass__(cls):
        helper()

    def __set_name__(self, owner, name):
        helper()

    @staticmethod
    def static():
        return helper()

    @classmethod
    def of_class(cls):
        return helper()

    def __del__(self):
        helper()


class Derived(Base):
    def __init__(self):
        super().__init__()
        self.other = None


def on_death(reference):
    helper()


class Raises:
    def __del__(self):
        raise ValueError("ignored")


def comprehensions(n):
    a = [helper() for _ in range(n)]
    b = {i: helper() for i in range(n)}
    c = {helper() for _ in range(n)}
    d = list(i for i in range(n))
    e = [[helper() for _ in range(2)] for _ in range(n)]
    return len(a) + len(b) + len(c) + len(d) + len(e)


def many_codes(n):
    """Code objects that die, so that their addresses are used again."""
    total = 0
    for i in range(n):
        namespace = {"__name__": "__main__"}
        exec(f"def f{i}():\n    return g{i}()\ndef g{i}():\n    return {i}\nresult = f{i}()", namespace)
        total += namespace["result"]
        del namespace
        if i % 50 == 0:
            gc.collect()
    return total


print(decorated(3), Base.static(), Base.of_class(), Base.Nested().method()() is not None)
print(comprehensions(2), many_codes(200))
print(eval("helper() + (lambda: helper())()"), eval(compile("[helper() for _ in range(2)]", "x", "eval")))
exec("class Made:\n    def method(self):\n        return helper()\nprint(Made().method())")
exec(compile("import sys\ndef nested():\n    exec('helper()')\nnested()", "file.py", "exec"))
b = Base()
r = weakref.ref(b, on_death)
weakref.finalize(b, helper)
b.cycle = None
del b
d = Derived()
del d
gc.collect()
gc.collect()
Made2 = type("Made2", (), {"method": lambda self: helper()})
print(Made2().method())
sys.unraisablehook = lambda arguments: helper()
Raises()
print((lambda f: f(f, 4))(lambda f, n: n if n == 0 else f(f, n - 1)))
