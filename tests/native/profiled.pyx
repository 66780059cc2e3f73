# cython: profile=True
# Functions that fire events of sys.monitoring themselves.
def step(x): return inner(x) + 1
cdef int inner(int x): return x * 2
def generate(n):
    for i in range(n): yield i
def fails(): raise ValueError
async def coroutine(): return 3
cdef class Box:
    def method(self, function): return function(1)
