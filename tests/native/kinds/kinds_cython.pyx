# cython: profile=True
# Each kind of function of Cython, and functions that fire no events.
cimport cython

def function(): return 1
def calls_c(): return c_function()
cdef int c_function(): return 1
cpdef int both(): return 1
def calls_both(): return both()
def calls_without_gil(): return without_gil()
cdef int without_gil() noexcept nogil: return 1

class Plain:
    def plain_method(self): return 1

cdef class Extension:
    def __cinit__(self): pass
    def method(self): return 1
    def calls_c_method(self): return self.c_method()
    cdef int c_method(self): return 1
    cpdef int both_method(self): return 1
    @property
    def value(self): return 1
    def __add__(self, other): return 1
    def __call__(self): return 1
    @staticmethod
    def static_method(): return 1
    @classmethod
    def class_method(cls): return 1

def generator():
    yield 1
def takes_all(): return list(generator())
async def coroutine(): return 1
def makes_closure():
    def closure(): return 1
    return closure
def fails(): raise ValueError
def calls_failing(): return c_fails()
cdef int c_fails() except -1: raise ValueError
def fails_inside():
    try: c_fails()
    except ValueError: pass
    return function()
def calls_back(callback): return callback()

@cython.profile(False)
def silent(): return 1
@cython.profile(False)
@cython.binding(False)
def silent_builtin(): return 1
cdef class Silent:
    @cython.profile(False)
    def silent_method(self): return 1
