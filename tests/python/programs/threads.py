"""Threads of `threading` and `_thread`, one hundred at once, one that dies of an exception."""

import _thread
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

sys.setswitchinterval(1e-5)


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def work(n):
    if n % 10 == 0:
        list(numbers(n))
    return fib(n % 7)


def numbers(n):
    for i in range(n):
        yield fib(3)


class Worker(threading.Thread):
    def run(self):
        work(5)


def fails():
    work(3)
    raise ValueError("in a thread")


def finish(lock):
    work(4)
    lock.release()


resumed = []


def marked():
    yield 1
    fib(1)
    resumed.append(1)
    yield 2


threading.excepthook = lambda arguments: work(2)

threads = [threading.Thread(target=work, args=(n,), name=f"worker-{n}") for n in range(100)]
for t in threads:
    t.start()
for t in threads:
    t.join()
worker = Worker(name="own class")
worker.start()
worker.join()
failing = threading.Thread(target=fails, name="fails")
failing.start()
failing.join()

lock = _thread.allocate_lock()
lock.acquire()
_thread.start_new_thread(finish, (lock,))
lock.acquire()

# A generator that goes on in a thread where no Python function was called before.
generator = marked()
next(generator)
_thread.start_new_thread(generator.__next__, ())
while not resumed:
    time.sleep(0.001)
time.sleep(0.05)  # until it has yielded, too

with ThreadPoolExecutor(1, thread_name_prefix="pool") as pool:
    print(sum(pool.map(work, range(20))))
print(fib(10))
