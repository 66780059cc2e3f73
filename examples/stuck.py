"""Two threads that wait for each other for good: `timeloom attach --dump PID` shows where."""

import threading


def transfer(first: threading.Lock, second: threading.Lock) -> None:
    with first:
        both.wait()
        with second:
            pass


savings, account = threading.Lock(), threading.Lock()
both = threading.Barrier(2)
threading.Thread(target=transfer, args=(savings, account), name="back").start()
transfer(account, savings)
